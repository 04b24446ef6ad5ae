"""Vectors from files: which rows are kept, which sets there are, and which weights an encoder's name means."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Topic
from annot.pools.pool_design import unranked_texts
from annot.ranking.given_vectors import Coverage, Form, ImportedVectors, ImportedWordVectors
from annot.ranking.systems.system import digest_of
from annot.steps import vectors
from annot.store.pools import put_topics, remove_topic
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, Small
from study_stages import copied, quietly

PAPERS = len(DOCUMENTS) + 5
"""Of the corpus: also four query papers and d99."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(Small(), "labelled", tmp_path_factory.mktemp("vectors") / "study")


@pytest.fixture
def ws(study: Workspace, tmp_path: Path) -> Workspace:
    """The corpus of the study, without any vectors."""
    place = replace(study, root=tmp_path / "study")
    place.corpus.mkdir(parents=True)
    for path in study.corpus.iterdir():
        if path.is_file():
            (place.corpus / path.name).write_bytes(path.read_bytes())
    (place.root / "annot.db").write_bytes((study.root / "annot.db").read_bytes())
    return place


def npy(folder: Path, rows: dict[str, list[float]]) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "rows.npy", np.array(list(rows.values()), "float32"))
    (folder / "ids.txt").write_text("".join(f"{name}\n" for name in rows), encoding="utf-8")
    return folder / "rows.npy", folder / "ids.txt"


def added(ws: Workspace, files: list[Path], ids: Path | None, *, name: str = "mine", **of: Any) -> ImportedVectors:
    usual: dict[str, Any] = {"space": None, "model": None, "metric": "l2", "half": False, "dry_run": False}
    form = Form(None, ids, None, None)
    return vectors.add_files(ws, name, files, form=form, **(usual | of), advance=quietly)


def test_rows_of_the_corpus_are_kept_and_all_others_counted(ws: Workspace, tmp_path: Path) -> None:
    file, ids = npy(tmp_path / "given", {"d00": [1, 0], "d01": [0, 0], "nowhere": [1, 1], "d02": [2, 1]})
    found = added(ws, [file], ids, metric="cosine")
    assert (found.kept, found.zero, found.missing, found.foreign) == (3, 1, PAPERS - 3, 1)
    with ws.writing() as session:
        put_topics(session, [Topic("nowhere", "Now it is a topic.")])
    found = added(ws, [file], ids, metric="cosine")
    assert (found.kept, found.missing, found.foreign) == (4, PAPERS - 3, 0)
    assert unranked_texts(ws, ["mine"], {"nowhere": Topic("nowhere", "Now it is a topic.")}) == {}
    # A text that takes its place has no vector.
    assert unranked_texts(ws, ["mine"], {"nowhere": Topic("nowhere", "Another.")}) == {"mine": {"nowhere"}}
    with ws.writing() as session:
        remove_topic(session, "nowhere")
    added(ws, [file], ids, metric="cosine")
    assert (found.metric, found.precision, found.dimensions, found.space) == ("cosine", "float32", 2, "mine")
    (one,) = vectors.list_sets(ws)
    assert (one.name, one.dimensions, one.precision, one.papers, one.missing) == ("mine", 2, "float32", 3, PAPERS - 3)
    assert (one.metric, one.model, one.space) == ("cosine", "mine", "mine")


def test_ids_belong_to_one_file(ws: Workspace, tmp_path: Path) -> None:
    file, ids = npy(tmp_path / "given", {"d00": [1, 0]})
    other, _ = npy(tmp_path / "other", {"d01": [1, 0]})
    with pytest.raises(InputError, match="--ids: found 2 files of vectors, expected one"):
        added(ws, [file, other], ids)
    assert added(ws, [file], ids, dry_run=True).kept == 1
    assert vectors.list_sets(ws) == ()


def test_several_files_of_semantic_scholar_need_no_ids_but_a_space(ws: Workspace, tmp_path: Path) -> None:
    files = []
    for name in ("d00", "d01"):
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text(json.dumps({"corpusid": name, "vector": "[1.0, 2.0]"}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="the space of the vectors is not known"):
        added(ws, files, None, dry_run=True)
    assert added(ws, files, None, space="s", dry_run=True).kept == 2


def test_files_without_a_paper_of_the_corpus_are_refused(ws: Workspace, tmp_path: Path) -> None:
    file, ids = npy(tmp_path / "given", {"nowhere": [1, 0]})
    with pytest.raises(InputError, match=r"mine: 1 file without vectors for papers in the corpus \(1 for other papers"):
        added(ws, [file], ids)


# -- weights -----------------------------------------------------------------------------------------------------------


def weights(folder: Path, *, own_pooling: bool = False) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    if own_pooling:
        (folder / "modules.json").write_text("[]", encoding="utf-8")
    return folder


def test_an_encoder_is_known_by_name_or_is_a_folder(ws: Workspace, tmp_path: Path) -> None:
    place = weights(ws.root / "weights" / "specter")
    found = vectors._model(ws, "mine", "specter")
    hub = vectors.KNOWN["specter"].hub
    assert (found.folder, found.reading, found.name, found.space) == (place, "document", hub, hub)
    own = weights(tmp_path / "some" / "model", own_pooling=True)
    found = vectors._model(ws, "mine", str(own))
    assert (found.folder, found.reading, found.name) == (own, "own", "model")
    assert found.space == f"weights {digest_of(own)[:12]}"
    assert len(found.space) == len("weights ") + 12


def test_the_name_of_a_known_encoder_is_not_given_to_another_model(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    hub = str(vectors.KNOWN["specter"].hub)
    with pytest.raises(InputError, match=f"specter is {hub}"):
        vectors._model(ws, "specter", "someone/some-model")
    place = weights(ws.root / "weights" / "specter")
    assert vectors._model(ws, "specter", hub).folder == place
    assert vectors._model(ws, "specter", "specter").folder == place


# -- words -------------------------------------------------------------------------------------------------------------


def words(running: float) -> ImportedWordVectors:
    coverage = Coverage(running, 0.5, (("seldom", 3),))
    return ImportedWordVectors("text", 2, 10, 0, 0, "abc", coverage)


def test_the_lead_is_warned_if_every_tenth_word_has_no_vector() -> None:
    enough, too_few = vectors.word_notes(words(0.9)), vectors.word_notes(words(0.899))
    assert len(too_few) == len(enough) + 1


def test_ten_frequent_words_without_a_vector_are_named(ws: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("2 2\nwhy 1 0\nhow 0 1\n", encoding="utf-8")
    found = vectors.add_words(ws, file, dry_run=True, advance=quietly)
    assert (found.kept, found.dimensions) == (2, 2)
    assert found.coverage is not None
    # The others: title, of, what, and a word for each paper.
    assert len(found.coverage.lacking) == 10


@pytest.mark.parametrize(
    ("device", "half", "kind", "computed_in"),
    [
        ("cuda:1", True, "cuda", "float16"),
        ("cuda", False, "cuda", "float32"),
        ("cpu", True, "cpu", "float32"),
        ("cpu", False, "cpu", "float32"),
    ],
)
def test_what_vectors_were_computed_on_is_part_of_their_record(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, half: bool, kind: str, computed_in: str
) -> None:
    """Half precision is computed in on a GPU alone; seven papers of ten have a vector already."""
    told: list[dict[str, Any]] = []

    def encoding(_ws: Workspace, _name: str, *, facts: dict[str, Any], precision: str) -> Any:
        told.append({**facts, "precision": precision})
        return SimpleNamespace(count=lambda: (7, 10))

    monkeypatch.setattr(vectors, "_device", lambda asked, folder: device)
    monkeypatch.setattr(vectors, "_model", lambda ws, name, asked: vectors.Model(tmp_path, "document", "m", "s"))
    monkeypatch.setattr(vectors.system, "digest_of", lambda folder: "abc")
    monkeypatch.setattr(vectors, "CorpusEncoding", encoding)
    found = vectors.encode(
        ws, "mine", model="m", metric="cosine", half=half, device=None, batch=8, dry_run=True, advance=quietly
    )
    (facts,) = told
    assert (facts["device"], facts["computed_in"], facts["batch"]) == (kind, computed_in, 8)
    assert facts["precision"] == found.precision == ("float16" if half else "float32")
    assert (found.papers, found.encoded, found.metric, found.device) == (10, 3, "cosine", device)


def test_a_model_of_the_hub_has_one_slash(ws: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(MissingInput, match=r"no weights in|libraries that it needs are not installed"):
        vectors._model(ws, "mine", "someone/some-model")
    for wrong in ("nothing", "a/b/c"):
        with pytest.raises(InputError, match="no such folder, and no encoder of this name"):
            vectors._model(ws, "mine", wrong)
