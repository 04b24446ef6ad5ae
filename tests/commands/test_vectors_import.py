"""Vectors from elsewhere: every format gives the same set, its rows are counted, two spaces never mix."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from annot.base.records import ScoredDoc, ranked
from annot.ranking import vectors
from command_line import annot_done

SENTENCES = [f"We study the {word} of things with care." for word in ("shape", "size", "colour", "weight")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study of 60 papers, called 100 to 159, without a pool."""
    annot_done("init", tmp_path / "study", folder=tmp_path)
    papers = [
        {"paper_id": str(100 + at), "title": f"Title {at}", "abstract": SENTENCES, "labels": ["method"] * 4}
        for at in range(60)
    ]
    (tmp_path / "study" / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    annot_done("corpus", "add", "papers.jsonl", folder=tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def matrix() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(64, 6)).astype(np.float32)


IDS = [str(100 + at) for at in range(58)] + [f"foreign-{at}" for at in range(6)]
"""Of the rows: the last two papers have none, six rows are of other papers."""
COUNTS = {"kept": 58, "missing": 2, "foreign": 6, "duplicate": 0, "not_finite": 0, "broken": 0, "dimensions": 6}


def s2_line(corpus_id: object, vector: Any, **more: object) -> str:
    return json.dumps({"corpusid": corpus_id, **more, "vector": json.dumps(vector)}) + "\n"


def s2_text(matrix: np.ndarray, **more: object) -> str:
    ids = [int(name) if name.isdigit() else 9_000_000 + at for at, name in enumerate(IDS)]
    return "".join(s2_line(one, row.tolist(), **more) for one, row in zip(ids, matrix, strict=True))


def written(folder: Path, matrix: np.ndarray, form: str) -> list[str]:
    """The matrix in files of this format; what is typed after the name of the set."""
    (folder / "ids.txt").write_text("".join(f"{name}\n" for name in IDS))
    match form:
        case "npy" | "npy of float64":
            np.save(folder / "m.npy", matrix.astype(np.float64) if form != "npy" else matrix)
            return ["m.npy", "--ids", "ids.txt", "--space", "theirs"]
        case "parquet" | "parquet of fixed size":
            kind = pyarrow.list_(pyarrow.float32(), 6 if form != "parquet" else -1)
            columns = {"embedding": pyarrow.array(matrix.tolist(), kind), "doc_id": IDS}
            pyarrow.parquet.write_table(pyarrow.table(columns), folder / "m.parquet")
            return ["m.parquet", "--space", "theirs"]
        case "semantic-scholar":
            lines = s2_text(matrix).splitlines(keepends=True)
            (folder / "a.jsonl").write_text("".join(lines[:30]))
            with gzip.open(folder / "b.gz", "wt") as file:
                file.write("".join(lines[30:]))
            return ["a.jsonl", "b.gz", "--space", "theirs"]
    raise AssertionError(form)


@pytest.mark.parametrize("form", ["npy of float64", "parquet of fixed size", "semantic-scholar"])
def test_every_format_gives_the_same_set(folder: Path, matrix: np.ndarray, form: str) -> None:
    typed = written(folder, matrix, form)
    promised = annot_done("vectors", "add", "mine", *typed, "--dry-run", "--json", folder=folder).data
    assert not (folder / "corpus" / "vectors").exists()
    assert "no vectors yet; add some with `annot vectors add`" in annot_done("vectors", "list", folder=folder).stdout
    found = annot_done("vectors", "add", "mine", *typed, "--json", folder=folder).data
    assert promised == found
    assert {name: found[name] for name in COUNTS} == COUNTS
    loaded = vectors.load(folder / "corpus" / "vectors" / "mine", hint="")
    assert loaded.ids.to_pylist() == list(IDS[:58])
    assert np.array_equal(loaded.matrix, matrix[:58])
    assert (loaded.space, loaded.model, loaded.metric) == ("theirs", "theirs", "l2")
    before = {path.name: path.read_bytes() for path in (folder / "corpus/vectors/mine").iterdir()}
    annot_done("vectors", "add", "mine", *typed, folder=folder)
    assert {path.name: path.read_bytes() for path in (folder / "corpus/vectors/mine").iterdir()} == before


def test_what_is_imported_is_at_once_a_pooling_method(folder: Path, matrix: np.ndarray) -> None:
    typed = written(folder, matrix, "npy")
    annot_done("vectors", "add", "mine", *typed, "--metric", "cosine", "--float16", folder=folder)
    settings = folder / "annot.toml"
    lines = settings.read_text().splitlines()
    settings.write_text("\n".join('methods = ["mine"]' if line.startswith("methods") else line for line in lines))
    annot_done("facets", folder=folder)
    annot_done("query", "add", "103", "--facet", "method", folder=folder)
    annot_done("pool", folder=folder)
    half = matrix[:58].astype(np.float16).astype(np.float64)
    unit = half / np.linalg.norm(half, axis=1, keepdims=True)
    by_hand = ranked(ScoredDoc(IDS[row], float(unit[3] @ unit[row])) for row in range(58) if row != 3)
    run = [line.split() for line in (folder / "pools/rankings/mine.run").read_text().splitlines()]
    assert [line[2] for line in run] == [doc.doc_id for doc in by_hand]
    assert [float(line[4]) for line in run] == pytest.approx([doc.score for doc in by_hand], abs=1e-9)
    manifest = json.loads((folder / "pools/rankings/manifest.json").read_text())
    said = manifest["methods"]["mine"]["vectors"]
    assert (said["space"], said["precision"], set(said["files"])) == ("theirs", "float16", {"ids.txt", "vectors.npy"})
    listed = annot_done("vectors", "list", "--json", folder=folder).data
    assert [(one["name"], one["papers"], one["missing"], one["precision"]) for one in listed] == [
        ("mine", 58, 2, "float16")
    ]
