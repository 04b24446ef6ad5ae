"""Index of a small corpus: the parts made for each method, those listed as used, and those that are damaged."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import MissingInput
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.ranking import index
from annot.ranking.index import changed_folders, faults_of, lsa_place, open_index, parts_of, places_of, words_place
from annot.ranking.methods import METHODS, RankingInputs
from annot.ranking.vectors import Vectors
from annot.steps.vectors import parsed_memory
from annot.store.database import open_store
from annot.store.papers import PaperWriter
from annot.study.workspace import Workspace
from indexed import write_vectors

TEXTS = ("trees parse words", "words parse trees", "models train words", "models label trees", "we train", "trees")


def write_corpus(ws: Workspace, texts: tuple[str, ...], *, file: str = "a") -> None:
    with PaperWriter(ws.corpus, name=f"{file}.parquet") as writer:
        for at, text in enumerate(texts):
            writer.add(Paper(f"{file}{at}", text.title(), (f"{text}.", f"{text} again.")))


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    found = Workspace(tmp_path, Settings()).replaced("word_vectors", dimensions=4, min_count=1, epochs=1)
    open_store(found.database_url).close()
    write_corpus(found, TEXTS)
    return found


def opened(ws: Workspace, *methods: str, **given: Any) -> RankingInputs:
    inputs, corpus_sha256 = open_index(ws, methods=methods, advance=lambda done, total: None, **given)
    assert corpus_sha256 == places_of(ws, keep=False).corpus_sha256
    return inputs


def damaged(ws: Workspace) -> tuple[Path, ...]:
    return tuple(folder for folder, faults in changed_folders(ws).items() if faults)


def names(ws: Workspace) -> set[str]:
    """Names of the parts of the index for this corpus."""
    (own,) = (ws.cache / "index" / "corpora").iterdir()
    return {path.name.partition("-")[0] for path in own.iterdir()}


def test_only_what_the_methods_need_is_made(ws: Workspace) -> None:
    counted = opened(ws, "abs_tfidf")
    assert names(ws) == {"whole"}
    assert counted.corpus.paper_ids.to_pylist() == [f"a{at}" for at in range(6)]
    assert (counted.word_vectors, counted.vectors, counted.averages) == ({}, {}, {})
    decomposed = opened(ws, "abs_tfidf", "lsa")
    assert set(decomposed.vectors) == {"lsa"}
    assert names(ws) == {"whole", "lsa"}
    averaged = opened(ws, "title_cbow200", "abs_tfidfcbow200")
    assert set(averaged.averages) == {("cbow", "title", False), ("cbow", "abstract", True)}
    assert averaged.word_vectors["cbow"].matrix.shape[1] == 4
    assert averaged.vectors == {}
    assert names(ws) == {"whole", "lsa", "words", "averages"}


def test_latent_semantic_analysis_has_two_hundred_dimensions_seven_iterations_and_one_seed(ws: Workspace) -> None:
    made = opened(ws, "lsa").vectors["lsa"]
    # One dimension for five papers, of which there are six.
    assert (made.space, made.matrix.shape, made.metric) == ("lsa-2-7-1", (6, 2), "cosine")
    assert made.facts["asked_dimensions"] == 200
    assert made.ids.to_pylist() == [f"a{at}" for at in range(6)]


def test_a_set_of_vectors_is_opened_by_its_name_and_must_be_there(ws: Workspace) -> None:
    rows = np.eye(6, dtype=np.float32)
    write_vectors(Vectors(strings_of(f"a{at}" for at in range(6)), rows, "m", "s", "l2", {}), ws.vectors / "mine")
    assert set(opened(ws, "mine", "abs_tfidf", "lsa").vectors) == {"mine", "lsa"}
    with pytest.raises(MissingInput, match="other: no vectors"):
        opened(ws, "mine", "other")


def test_a_dry_run_makes_what_is_missing_in_its_own_folder(ws: Workspace, tmp_path: Path) -> None:
    opened(ws, "abs_tfidf")
    before = sorted(ws.cache.rglob("*"))
    shutil.copytree(ws.cache, tmp_path / "copy")
    (ws.cache / "corpus.json").unlink()
    found = opened(ws, "lsa", "title_cbow200", scratch=tmp_path / "scratch")
    assert {"lsa"} == set(found.vectors)
    assert sorted(ws.cache.rglob("*")) == [path for path in before if path.name != "corpus.json"]
    assert {path.name.partition("-")[0] for path in (tmp_path / "scratch").glob("corpora/*/*")} == {
        "averages",
        "lsa",
        "words",
    }


def test_an_empty_corpus_has_no_index(tmp_path: Path) -> None:
    with pytest.raises(MissingInput):
        opened(Workspace(tmp_path, Settings()), "abs_tfidf")


def test_memory_is_four_gigabytes_unless_the_command_gives_another() -> None:
    assert parsed_memory("4G") == index.MEMORY


@pytest.mark.parametrize(
    ("processes", "memory", "used"),
    [(1, "4G", ("threads", 1)), (2, "4G", ("threads", 2)), (3, "4G", ("processes", 3)), (9, "3.6G", ("processes", 3))],
)
def test_up_to_two_cores_work_as_threads_and_more_as_processes_within_the_memory(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, processes: int, memory: str, used: tuple[str, int]
) -> None:
    told: list[tuple[str, int]] = []
    threads = index.in_threads

    def in_threads(work: Callable[[Any], Any], parts: Any, *, most: int | None = None) -> Any:
        told.append(("threads", most or 0))
        return threads(work, parts)

    def map_shards(work: Callable[[Any], Any], parts: Any, *, engine: Any) -> Any:
        told.append(("processes", engine.processes))
        return threads(work, parts)

    monkeypatch.setattr(index, "in_threads", in_threads)
    monkeypatch.setattr(index, "map_shards", map_shards)
    opened(ws.replaced("machine", processes=processes), "abs_tfidf", memory=parsed_memory(memory))
    assert told == [used]


def test_parts_are_used_as_long_as_corpus_and_settings_are_the_same(ws: Workspace) -> None:
    def used() -> dict[str, bool]:
        """True for each kind of part if all of them are used."""
        found: dict[str, bool] = {}
        for part in parts_of(ws):
            kind = "shards" if part.path.parent.name == "shards" else part.path.name.partition("-")[0]
            found[kind] = part.used and found.get(kind, True)
        return found

    opened(ws, "lsa", "title_cbow200")
    (ws.cache / "corpus.json").unlink()
    everything = {"shards": True, "whole": True, "lsa": True, "words": True, "averages": True}
    assert used() == everything
    assert not (ws.cache / "corpus.json").exists()
    assert [part.path for part in parts_of(ws)] == sorted(part.path for part in parts_of(ws))
    ws = ws.replaced("word_vectors", dimensions=5)
    assert used() == everything | {"words": False, "averages": False}
    # Before another corpus is indexed, any shard may be part of it.
    write_corpus(ws, ("more trees",), file="b")
    assert used() == {kind: kind == "shards" for kind in everything}
    opened(ws, "abs_tfidf")
    kept = {part.path.name: part.used for part in parts_of(ws) if part.path.parent.name == "shards"}
    assert sorted(kept.values()) == [False, True]


def test_a_part_has_the_size_of_its_files_and_the_date_of_its_last(ws: Workspace) -> None:
    opened(ws, "abs_tfidf")
    for name, texts in (("old", {"1": "abc", "below/2": "de"}), ("empty", {})):
        (ws.cache / "index" / name).mkdir()
        for at, (file, text) in enumerate(texts.items(), start=1):
            path = ws.cache / "index" / name / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            os.utime(path, (10 * at, 10 * at))
    (ws.cache / "index" / "file").write_text("1234")
    found = {part.path.name: part for part in parts_of(ws)}
    assert (found["old"].bytes, found["old"].made, found["old"].used) == (5, 20.0, False)
    assert (found["empty"].bytes, found["empty"].made, found["empty"].used) == (0, 0.0, False)
    assert (found["file"].bytes, found["file"].used) == (4, False)


def test_what_a_killed_build_was_writing_is_not_used(ws: Workspace) -> None:
    opened(ws, "abs_tfidf")
    places = places_of(ws, keep=False)
    words = words_place(ws, places, "cbow")
    (words.parent / "unfinished-words").mkdir()
    left = [ws.cache / "index" / "shards" / ".one.9@here.x", places.corpus_part("whole") / ".two.9@here.x"]
    for path in left:
        path.mkdir()
    used = {part.path: part.used for part in parts_of(ws)}
    assert [used[path] for path in left] == [False, False]
    # A training that was killed goes on from what it left, until there are words.
    assert used[words.parent / "unfinished-words"]
    opened(ws, "title_cbow200")
    (words.parent / "unfinished-words").mkdir()
    assert not {part.path: part.used for part in parts_of(ws)}[words.parent / "unfinished-words"]


def test_what_is_left_in_a_part_that_is_not_used_goes_with_it(ws: Workspace) -> None:
    opened(ws, "abs_tfidf", "lsa")
    for name in ("b", "a", "z"):
        (ws.cache / "index" / "shards" / name).mkdir()
    parts = {part.path: part.used for part in parts_of(ws)}
    for path in parts:
        (path / ".left").mkdir()
    left = {part.path.parent for part in parts_of(ws) if part.path.name == ".left"}
    assert left == {path for path, used in parts.items() if used}
    assert len(left) == 3


def test_every_changed_file_and_every_shard_that_is_gone_is_named(ws: Workspace) -> None:
    with pytest.raises(MissingInput, match=r"index: no index$") as caught:
        faults_of(ws)
    assert caught.value.hint == "make it with `annot index`"
    opened(ws, "lsa")
    assert (faults_of(ws), damaged(ws)) == ((), ())
    folder = lsa_place(places_of(ws, keep=False))
    (folder / "basis.npy").write_bytes(b"?")
    (fault,) = faults_of(ws)
    assert fault.startswith(f"{folder / 'basis.npy'}: ")
    assert damaged(ws) == (folder,)
    (shard,) = (ws.cache / "index" / "shards").iterdir()
    shutil.rmtree(shard)
    gone, changed = faults_of(ws)
    assert gone.startswith(f"{shard}: found no folder, expected a shard of ")
    assert changed == fault


def test_word_vectors_that_were_imported_come_first(ws: Workspace) -> None:
    places = places_of(ws, keep=False)
    trained = words_place(ws, places, "cbow")
    assert trained.parent == places.corpus_part("whole").parent
    assert len(trained.name) == len("words-") + 16
    opened(ws, "title_cbow200")
    trained.rename(ws.root / "moved")
    ws.word_vectors.parent.mkdir(parents=True, exist_ok=True)
    (ws.root / "moved").rename(ws.word_vectors)
    assert words_place(ws, places, "cbow") == ws.word_vectors
    opened(ws, "title_cbow200")
    assert not trained.exists()
    assert METHODS["title_cbow200"].averages == (("cbow", "title", False),)
