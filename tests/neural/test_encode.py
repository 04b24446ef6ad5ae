"""`annot vectors add --encoder`: the vectors are the encoder's; a killed run ends in the bytes of one undisturbed."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import tiny_models
import torch
from annot.base.records import Paper
from annot.ranking import encoding, vectors
from annot.ranking.systems import encoders
from annot.store.papers import read_papers
from command_line import annot, annot_done, difference, snapshot
from local_cluster import local_cluster
from sentence_transformers import SentenceTransformer
from threadpoolctl import threadpool_limits
from transformers import AutoModel, AutoTokenizer

PAPERS = 45
SMALL = 16
"""Papers in a part in these tests."""


def papers_text(first: int, count: int) -> str:
    rng = np.random.default_rng(first)
    papers = [
        {
            "paper_id": f"p{at:02}",
            "title": " ".join([*rng.choice(tiny_models.WORDS, rng.integers(1, 4)), str(at)]),
            "abstract": [" ".join([*rng.choice(tiny_models.WORDS, rng.integers(4, 12)), "."]) for _ in range(4)],
            "labels": ["method"] * 4,
        }
        for at in range(first, first + count)
    ]
    return "".join(json.dumps(paper) + "\n" for paper in papers)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of papers without vectors, and weights."""
    folder = tmp_path_factory.mktemp("encode") / "study"
    annot_done("init", folder, folder=folder.parent)
    (folder / "papers.jsonl").write_text(papers_text(0, PAPERS))
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    tiny_models.bert(folder / "weights" / "specter", positions=120)
    tiny_models.sentence_transformer(folder / "mine-st", seed=3)
    return folder


@pytest.fixture
def folder(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(encoding, "PART", SMALL)
    return shutil.copytree(fresh, tmp_path / "study")


def bytes_of(folder: Path, name: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "corpus/vectors" / name).iterdir()}


def by_transformers(folder: Path, papers: list[Paper]) -> np.ndarray:
    """The first token's state of title, separator and abstract, each paper alone."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    rows = []
    for paper in papers:
        text = paper.title + tokenizer.sep_token + " ".join(paper.sentences)
        with torch.no_grad():
            rows.append(model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 0].numpy())
    return np.stack(rows)


def test_a_system_known_by_name_encodes_as_transformers_does(folder: Path) -> None:
    promised = annot_done(
        "vectors", "add", "specter", "--encoder", "specter", "--dry-run", "--json", folder=folder
    ).data
    assert not (folder / "corpus/vectors").exists()
    done = annot_done("vectors", "add", "specter", "--encoder", "specter", "--json", folder=folder).data
    assert promised == done
    assert (done["papers"], done["encoded"], done["device"]) == (PAPERS, PAPERS, "cpu")
    loaded = vectors.load(folder / "corpus/vectors/specter", hint="")
    papers = list(read_papers(folder / "corpus"))
    ids = loaded.ids.to_pylist()
    assert ids == [paper.paper_id for paper in papers]
    np.testing.assert_allclose(loaded.matrix, by_transformers(folder / "weights/specter", papers), atol=1e-5)
    assert (loaded.space, loaded.metric, loaded.facts["reading"]) == ("allenai/specter", "l2", "document")
    assert loaded.facts["weights_sha256"]
    # At once a system and a pooling method of its name.
    annot_done("facets", folder=folder)
    annot_done("query", "add", "p03", "--facet", "method", folder=folder)
    settings = folder / "annot.toml"
    lines = [
        'methods = ["specter"]' if line.startswith("methods") else line for line in settings.read_text().splitlines()
    ]
    settings.write_text("\n".join(lines))
    annot_done("pool", folder=folder)
    annot_done("run", "specter", folder=folder)
    run = [line.split() for line in (folder / "pools/rankings/specter.run").read_text().splitlines()]
    distances = np.linalg.norm(loaded.matrix.astype(float) - loaded.matrix[3].astype(float), axis=1)
    nearest = sorted(range(PAPERS), key=lambda row: (distances[row], ids[row]))
    assert [line[2] for line in run] == [ids[row] for row in nearest if row != 3]


def test_a_sentence_transformers_model_encodes_as_it_does_itself(folder: Path) -> None:
    done = annot_done("vectors", "add", "mine", "--encoder", "mine-st", "--json", folder=folder).data
    assert (done["metric"], done["model"]) == ("cosine", "mine-st")
    model = SentenceTransformer(str(folder / "mine-st"), device="cpu")
    for paper, row in zip(
        read_papers(folder / "corpus"), vectors.load(folder / "corpus/vectors/mine", hint="").matrix, strict=True
    ):
        text = paper.title + model.tokenizer.sep_token + " ".join(paper.sentences)
        np.testing.assert_allclose(row, model.encode([text])[0], atol=1e-5)
    assert (
        annot_done("vectors", "add", "mine", "--encoder", "mine-st", "--metric", "l2", "--json", folder=folder).data[
            "encoded"
        ]
        == 0
    )
    assert vectors.load(folder / "corpus/vectors/mine", hint="").metric == "l2"


def test_topics_are_read_as_the_queries_that_the_model_has_a_prompt_for(folder: Path) -> None:
    settings = folder / "mine-st" / "config_sentence_transformers.json"
    known = json.loads(settings.read_text())
    settings.write_text(json.dumps({**known, "prompts": {"query": "b c ", "document": "d "}}))
    annot_done("query", "add", "--text", "a b", "--description", "c a", "--id", "T1", folder=folder)
    done = annot_done("vectors", "add", "asked", "--encoder", "mine-st", "--json", folder=folder).data
    assert done["topics"] == 1
    model = SentenceTransformer(str(folder / "mine-st"), device="cpu")
    made = vectors.load(folder / "corpus/vectors/asked", hint="")
    np.testing.assert_allclose(
        made.matrix[made.rows[vectors.topic_name("T1", "a b c a")]], model.encode_query(["a b c a"])[0], atol=1e-5
    )
    assert not np.allclose(
        made.matrix[made.rows[vectors.topic_name("T1", "a b c a")]], model.encode(["a b c a"])[0], atol=1e-5
    )
    paper = next(iter(read_papers(folder / "corpus")))
    text = paper.title + model.tokenizer.sep_token + " ".join(paper.sentences)
    np.testing.assert_allclose(made.matrix[0], model.encode_document([text])[0], atol=1e-5)
    annot_done("pool", "--query", "T1", "--method", "asked", folder=folder)
    pooled = annot_done("pool", "show", "T1", "--json", folder=folder).data
    assert (pooled["topic_id"], bool(pooled["entries"])) == ("T1", True)


def test_half_precision_is_the_rounding_of_single(folder: Path) -> None:
    annot_done("vectors", "add", "specter", "--encoder", "specter", folder=folder)
    single = vectors.load(folder / "corpus/vectors/specter", hint="").matrix.copy()
    annot_done("vectors", "add", "specter", "--encoder", "specter", "--float16", folder=folder)
    half = vectors.load(folder / "corpus/vectors/specter", hint="").matrix
    assert half.dtype == np.float16
    assert np.array_equal(half, single.astype(np.float16))


def test_computing_in_half_precision_comes_near(folder: Path) -> None:
    """What a GPU does with --float16; a processor can too, but slowly."""
    papers = list(read_papers(folder / "corpus"))
    for name, reading in (("weights/specter", "document"), ("mine-st", "own")):
        made = [
            encoders.open_paper_encoder(folder / name, reading, device="cpu", half=half, batch=8)(
                papers, lambda done, total: None
            )
            for half in (False, True)
        ]
        assert made[1].dtype == np.float32
        assert 0 < np.abs(made[0] - made[1]).max() < 0.05


KILLED = f"""
import os, sys
from annot.base import array_files
from annot.ranking import encoding
from annot.cli.main import run
encoding.PART = {SMALL}
parts, write = [], array_files.save_array
def then_die(path, array):
    write(path, array)
    parts.append(path)
    if len(parts) == int(os.environ["DIE_AT"]):
        os.kill(os.getpid(), 9)
array_files.save_array = then_die
sys.argv = ["annot", "vectors", "add", "specter", "--encoder", "specter"]
run()
"""


def test_the_workers_of_a_cluster_encode_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    # Papers of a part lie in several groups of rows, and the models are named from the study's folder.
    (path,) = (folder / "corpus").glob("*.parquet")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), path, row_group_size=7)
    here = shutil.copytree(folder, tmp_path / "here")
    with local_cluster() as engine:
        for arguments in (("specter", "--encoder", "specter"), ("mine", "--encoder", "mine-st", "--float16")):
            with threadpool_limits(1):
                annot_done("vectors", "add", *arguments, folder=here)
            done = annot_done("vectors", "add", *arguments, "--cluster", engine.cluster, "--json", folder=folder).data
            assert done["encoded"] == PAPERS
            assert bytes_of(folder, arguments[0]) == bytes_of(here, arguments[0])
            again = annot_done("vectors", "add", *arguments, "--cluster", engine.cluster, "--json", folder=folder).data
            assert again["encoded"] == 0


@pytest.mark.parametrize("die_at", [1, 3])
def test_a_killed_run_goes_on_and_ends_in_the_same_bytes(folder: Path, tmp_path: Path, die_at: int) -> None:
    undisturbed = shutil.copytree(folder, tmp_path / "undisturbed")
    annot_done("vectors", "add", "specter", "--encoder", "specter", folder=undisturbed)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=folder, env=os.environ | {"DIE_AT": str(die_at)}, capture_output=True
    )
    assert killed.returncode == -9, killed.stderr
    assert not (folder / "corpus/vectors").exists()
    # The part that was being written is lost, those before it are not.
    promised = annot_done(
        "vectors", "add", "specter", "--encoder", "specter", "--dry-run", "--json", folder=folder
    ).data
    done = annot_done("vectors", "add", "specter", "--encoder", "specter", "--json", folder=folder).data
    assert done["encoded"] == promised["encoded"] == PAPERS - SMALL * (die_at - 1)
    assert bytes_of(folder, "specter") == bytes_of(undisturbed, "specter")
    assert not list((folder / ".annot/encoding").glob("specter/*"))


def test_papers_that_came_later_are_encoded_alone_and_the_bytes_are_those_of_one_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    annot_done("vectors", "add", "specter", "--encoder", "specter", folder=folder)
    (folder / "more.jsonl").write_text(papers_text(PAPERS, 10))
    annot_done("corpus", "add", "more.jsonl", folder=folder)
    at_once = shutil.copytree(folder, tmp_path / "at-once")
    shutil.rmtree(at_once / "corpus/vectors")
    annot_done("vectors", "add", "specter", "--encoder", "specter", folder=at_once)
    whole_parts = PAPERS // SMALL * SMALL
    assert (
        annot_done("vectors", "add", "specter", "--encoder", "specter", "--json", folder=folder).data["encoded"]
        == PAPERS + 10 - whole_parts
    )
    assert bytes_of(folder, "specter") == bytes_of(at_once, "specter")
    # With all there, nothing is loaded, and nothing is written.
    before = snapshot(folder)
    monkeypatch.setattr("annot.steps.vectors.open_paper_encoder", pytest.fail)
    annot_done("vectors", "add", "specter", "--encoder", "specter", folder=folder)
    assert not difference(before, snapshot(folder))


def test_a_set_that_was_changed_is_encoded_anew(folder: Path) -> None:
    annot_done("vectors", "add", "specter", "--encoder", "specter", folder=folder)
    before = bytes_of(folder, "specter")
    path = folder / "corpus/vectors/specter/vectors.npy"
    spoilt = bytearray(path.read_bytes())
    spoilt[-1] ^= 1
    path.write_bytes(bytes(spoilt))
    assert (
        annot_done("vectors", "add", "specter", "--encoder", "specter", "--json", folder=folder).data["encoded"]
        == PAPERS
    )
    assert bytes_of(folder, "specter") == before


def test_other_texts_other_weights_and_another_metric_are_seen(folder: Path) -> None:
    def encoded(*typed: str) -> int:
        made: int = annot_done(
            "vectors", "add", "specter", "--encoder", "specter", *typed, "--json", folder=folder
        ).data["encoded"]
        return made

    assert encoded() == PAPERS
    papers = [json.loads(line) for line in (folder / "papers.jsonl").read_text().splitlines()]
    papers[0]["abstract"][0] += " again"
    papers[-1]["title"] += " again"
    (folder / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    for path in (folder / "corpus").glob("*.parquet"):
        path.unlink()
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    assert encoded() == SMALL + (PAPERS % SMALL or SMALL)
    assert encoded("--metric", "cosine") == 0
    assert json.loads(bytes_of(folder, "specter")["vectors.json"])["metric"] == "cosine"
    shutil.rmtree(folder / "weights/specter")
    tiny_models.bert(folder / "weights/specter", seed=5, positions=120)
    assert encoded() == PAPERS


def test_two_runs_for_one_set_refuse_each_other_and_others_may_work_meanwhile(folder: Path) -> None:
    lock = folder / ".annot/encoding/specter.lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = annot("vectors", "add", "specter", "--encoder", "specter", folder=folder)
        assert refused.exit_code == 1
        assert "specter: another process is encoding it" in refused.message()
        annot_done("vectors", "add", "mine", "--encoder", "mine-st", folder=folder)
        annot_done("facets", folder=folder)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["specter", "--encoder", "specter", "--device", "cuda:9"], "--device cuda:9: "),
        (["specter", "--encoder", "specter", "--device", "gpu"], "expected cpu"),
        (["spectre", "--encoder", "spectre"], "no encoder of this name; did you mean 'specter'?"),
        (["scincl", "--encoder", "scincl"], "hf download malteos/scincl"),
        (["mine", "--encoder", "nowhere"], "--encoder nowhere: no such folder"),
        (["mine", "--encoder", "annot.toml"], "--encoder annot.toml: no such folder"),
        (["mine", "--encoder", "corpus"], "corpus: not readable as weights"),
        (["mine", "--encoder", "../nowhere"], "../nowhere: no such folder, and not the name of a model on the hub"),
        (["mine", "--encoder", "somebody/model"], "hf download somebody/model --local-dir"),
        (["specter", "--encoder", "somebody/model"], "specter is allenai/specter"),
        (["abs_tfidf", "--encoder", "mine-st"], "the name of a method that has no vectors"),
    ],
)
def test_what_cannot_be_encoded_is_told(folder: Path, typed: list[str], says: str) -> None:
    refused = annot("vectors", "add", *typed, folder=folder)
    assert refused.exit_code == 2, refused.stderr
    assert says in refused.message()
    assert len(refused.stderr.splitlines()) <= 2, "what is wrong, and what to do"
    assert not (folder / "corpus/vectors").exists()


def test_an_encoder_and_an_import_never_write_over_each_other(folder: Path) -> None:
    np.save(folder / "m.npy", np.ones((1, 3), np.float32))
    (folder / "ids.txt").write_text("p00\n")
    typed = ("m.npy", "--ids", "ids.txt", "--space", "semantic-scholar/specter_v1")
    annot_done("vectors", "add", "specter", *typed, folder=folder)
    refused = annot("vectors", "add", "specter", "--encoder", "specter", folder=folder)
    assert refused.exit_code == 2
    assert "vectors of semantic-scholar/specter_v1, found allenai/specter" in refused.message()
    shutil.rmtree(folder / "corpus/vectors/specter")
    typed = (*typed[:-1], "allenai/specter")
    annot_done("vectors", "add", "specter", *typed, folder=folder)
    before = bytes_of(folder, "specter")
    refused = annot("vectors", "add", "specter", "--encoder", "specter", folder=folder)
    assert refused.exit_code == 2
    assert "contains vectors that were not encoded here; they would be lost" in refused.message()
    assert bytes_of(folder, "specter") == before
    shutil.rmtree(folder / "corpus/vectors/specter")
    annot_done("vectors", "add", "specter", "--encoder", "specter", folder=folder)
    refused = annot("vectors", "add", "specter", *typed, folder=folder)
    assert refused.exit_code == 2
    assert "contains vectors that an encoder made; they would be lost" in refused.message()
