"""Vectors from elsewhere: every format gives the same set, its rows are counted, two spaces never mix."""

from __future__ import annotations

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
from annot.store.papers import paper_ids
from command_line import annot, annot_done

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


@pytest.mark.parametrize(
    "form",
    ["npy of float64", "parquet of fixed size", "semantic-scholar"],
)
def test_every_format_gives_the_same_set(folder: Path, matrix: np.ndarray, form: str) -> None:
    typed = written(folder, matrix, form)
    promised = annot_done("vectors", "add", "mine", *typed, "--dry-run", "--json", folder=folder).data
    assert not (folder / "corpus" / "vectors").exists()
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


def test_rows_that_cannot_be_kept_are_counted_by_reason(folder: Path) -> None:
    good = [1.0, 2.0]
    lines = [
        s2_line(100, good),
        s2_line(101, [0.0, 0.0]),
        s2_line(100, good),
        s2_line(100, [2.0, 2.0]),
        s2_line(102, [float("nan"), 1.0]),
        s2_line(103, [1e39, 1.0]),
        s2_line(777, good),
        "\n",
        '{"corpusid": 104, "vector": "[1.0, 2.0"}\n',
        '{"corpusid": 105}\n',
        '{"vector": "[1.0, 2.0]"}\n',
        "no JSON\n",
        '{"corpusid": 106, "vector": [3.0, 4.0]}\n',
    ]
    (folder / "s2.jsonl").write_text("".join(lines))
    done = annot_done("vectors", "add", "mine", "s2.jsonl", "--space", "s", "--json", folder=folder)
    figures = done.data
    assert figures["kept"] == 3
    assert (figures["zero"], figures["missing"], figures["foreign"]) == (1, 57, 1)
    assert (figures["duplicate"], figures["differing"], figures["not_finite"], figures["broken"]) == (2, 1, 2, 4)
    for place in ("s2.jsonl:9: ", "s2.jsonl:10: ", "s2.jsonl:11: ", "s2.jsonl:12: "):
        assert place in done.stderr
    loaded = vectors.load(folder / "corpus/vectors/mine", hint="")
    assert loaded.ids.to_pylist() == ["100", "101", "106"]
    assert loaded.matrix.tolist() == [[1, 2], [0, 0], [3, 4]]


def test_a_space_is_asked_for_only_where_two_could_be_confused(folder: Path, matrix: np.ndarray) -> None:
    typed = written(folder, matrix, "npy")[:3]
    for _ in range(2):
        assert annot_done("vectors", "add", "mine", *typed, "--json", folder=folder).data["space"] == "mine"
    annot_done("vectors", "add", "theirs", *typed, "--space", "a-model", folder=folder)
    for name in ("specter", "theirs"):
        refused = annot("vectors", "add", name, *typed, folder=folder)
        assert refused.exit_code == 2
        assert f"the space of the vectors is not known: {name} can be one of several" in refused.message()
    annot_done("vectors", "add", "theirs", *typed, "--space", "a-model", folder=folder)


V1, V2 = {"model": "specter@v0.1.1"}, {"model": "specter_v2"}


@pytest.mark.parametrize(
    ("lines", "typed", "says"),
    [
        ([V1, V2], [], ("two spaces", "s2.jsonl:1: semantic-scholar/specter_v1", "s2.jsonl:2: allenai/specter2")),
        ([V2, V2], ["--space", "allenai/specter"], ("vectors of allenai/specter2, expected allenai/specter",)),
        ([{}, {}], [], ("s2.jsonl:1: the space of the vectors is not known", "--space")),
    ],
)
def test_two_spaces_never_mix(
    folder: Path, lines: list[dict[str, str]], typed: list[str], says: tuple[str, ...]
) -> None:
    (folder / "s2.jsonl").write_text("".join(s2_line(100 + at, [1.0, at], **more) for at, more in enumerate(lines)))
    refused = annot("vectors", "add", "mine", "s2.jsonl", *typed, folder=folder)
    assert refused.exit_code == 2
    for words in says:
        assert words in refused.message()
    assert not (folder / "corpus/vectors").exists()
    assert "no vectors yet; add some with `annot vectors add`" in annot_done("vectors", "list", folder=folder).stdout


def test_a_set_never_takes_up_another_space_or_width(folder: Path, matrix: np.ndarray) -> None:
    (folder / "v2.jsonl").write_text(s2_text(matrix, **V2))
    (folder / "v1.jsonl").write_text(s2_text(matrix, **V1))
    annot_done("vectors", "add", "specter2", "v2.jsonl", folder=folder)
    refused = annot("vectors", "add", "specter2", "v1.jsonl", folder=folder)
    assert refused.exit_code == 2
    assert "vectors of allenai/specter2, found semantic-scholar/specter_v1" in refused.message()
    (folder / "wide.jsonl").write_text(s2_line(100, [1.0, 2.0], **V2) + s2_line(101, [1.0, 2.0, 3.0], **V2))
    refused = annot("vectors", "add", "specter2", "wide.jsonl", folder=folder)
    assert refused.exit_code == 2
    assert "wide.jsonl:2: found 3 numbers, expected 2 as in wide.jsonl:1" in refused.message()
    assert np.array_equal(vectors.load(folder / "corpus/vectors/specter2", hint="").matrix, matrix[:58])


REFUSED = [
    ("abs_tfidf", ["m.npy", "--ids", "ids.txt"], "the name of a method that has no vectors"),
    ("whole_bm25", ["m.npy", "--ids", "ids.txt"], "the name of a method that has no vectors"),
    ("../x", ["m.npy", "--ids", "ids.txt"], "expected letters, digits"),
    ("mine", ["none.npy", "--ids", "ids.txt"], "none.npy: no such file"),
    ("mine", ["m.npy"], "its rows have no ids"),
    ("mine", ["m.npy", "m.npy", "--ids", "ids.txt"], "found 2 files of vectors, expected one"),
    ("mine", ["m.npy", "--ids", "papers.jsonl"], "64 rows, expected 60"),
    ("mine", ["m.npy", "--ids", "others.txt"], "1 file without vectors for papers in the corpus (64 for other"),
    ("mine", ["large.npy", "--ids", "ids.txt", "--float16"], "6 for other papers, 58 not finite in float16"),
    ("mine", ["papers.jsonl", "--format", "npy", "--ids", "ids.txt"], "not a .npy file"),
    ("mine", ["papers.jsonl", "--format", "parquet"], "not a Parquet file"),
    ("mine", ["whole.npy", "--ids", "ids.txt"], "found int64 in 2 dimensions"),
    ("mine", ["corpus/part-00001.parquet"], "expected 'vector'"),
    ("mine", ["cut.gz"], "cannot be decompressed"),
    ("mine", ["m.npy", "--ids", "ids.txt", "--metric", "l1"], "'l1' is not one of 'l2', 'cosine'"),
    ("mine", ["m.npy", "--ids", "ids.txt", "--format", "parket"], "did you mean 'parquet'?"),
]


def test_what_cannot_be_imported_is_told_and_leaves_nothing(folder: Path, matrix: np.ndarray) -> None:
    written(folder, matrix, "npy")
    np.save(folder / "whole.npy", np.ones((64, 6), dtype=np.int64))
    np.save(folder / "large.npy", np.full((64, 6), 1e6, dtype=np.float32))
    (folder / "others.txt").write_text("".join(f"other-{at}\n" for at in range(64)))
    (folder / "cut.gz").write_bytes(gzip.compress(s2_text(matrix).encode())[:-40])
    for name, typed, says in REFUSED:
        refused = annot("vectors", "add", name, *typed, "--space", "theirs", folder=folder)
        assert refused.exit_code == 2, refused.stderr
        assert says in refused.message()
    assert not (folder / "corpus/vectors").exists()


def test_a_changed_set_is_found_by_verify(folder: Path, matrix: np.ndarray) -> None:
    annot_done("vectors", "add", "mine", *written(folder, matrix, "npy"), folder=folder)
    annot_done("check", "files", folder=folder)
    path = folder / "corpus/vectors/mine/ids.txt"
    first, second, *rest = path.read_text().splitlines()
    path.write_text("\n".join([second, first, *rest]) + "\n")
    found = annot("check", "files", folder=folder)
    assert found.exit_code == 1
    assert "corpus/vectors/mine/ids.txt: changed; corpus/vectors/mine/vectors.json says" in found.stdout


def test_an_imported_set_serves_every_paper_that_came_later(folder: Path, matrix: np.ndarray) -> None:
    typed = written(folder, matrix, "npy")
    annot_done("vectors", "add", "mine", *typed, folder=folder)
    paper = {"paper_id": "foreign-2", "title": "Late", "abstract": SENTENCES, "labels": ["method"] * 4}
    (folder / "late.jsonl").write_text(json.dumps(paper) + "\n")
    annot_done("corpus", "add", "late.jsonl", folder=folder)
    again = annot_done("vectors", "add", "mine", *typed, "--json", folder=folder).data
    assert (again["kept"], again["missing"], again["foreign"]) == (59, 2, 5)
    assert "foreign-2" in paper_ids(folder / "corpus")
