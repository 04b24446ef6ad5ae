"""Blocked search in dense vectors finds exactly what measuring every pair finds."""

import hashlib
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError, MissingInput
from annot.base.records import Ranking, ScoredDoc, ranked
from annot.ranking import search as dense
from annot.ranking import vectors
from annot.ranking.search import Metric, search
from annot.ranking.vectors import Vectors, VectorsWriter
from indexed import write_vectors


def brute_force(ids: list[str], matrix: np.ndarray, query: np.ndarray, metric: Metric, depth: int) -> Ranking:
    rows, wanted = matrix.astype(np.float64), query.astype(np.float64)
    scored = []
    for doc_id, row in zip(ids, rows, strict=True):
        if row.any() and wanted.any():
            distance = float(np.linalg.norm(row - wanted))
            cosine = float(row @ wanted / np.linalg.norm(row) / np.linalg.norm(wanted))
            scored.append(ScoredDoc(doc_id, 0.0 - distance if metric == "l2" else cosine))
    return ranked(scored)[:depth]


@pytest.mark.parametrize("metric", get_args(Metric))
@pytest.mark.parametrize("offset", [0.0, 50.0])
def test_near_ties_that_single_precision_cannot_tell_apart(
    metric: Metric, offset: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "BLOCK", 1000)
    monkeypatch.setattr(dense, "ROOM", 500)
    rng = np.random.default_rng(3)
    base = rng.normal(size=64) + offset
    # 3,000 rows whose distances to the query differ by far less than the error of a blocked product.
    directions = rng.normal(size=(3000, 64))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    matrix = (base + directions * (1 + 1e-5 * rng.random((3000, 1)))).astype(np.float32)
    queries = np.stack([base, base + directions[0]]).astype(np.float32)
    ids = [f"d{number}" for number in rng.permutation(3000)]
    found = search(matrix, strings_of(ids), queries, metric=metric, depths=np.array([40, 300]))
    assert found[0] == brute_force(ids, matrix, queries[0], metric, 40)
    assert found[1] == brute_force(ids, matrix, queries[1], metric, 300)


def made(ids: tuple[str, ...] = ("a", "b", "c"), **facts: object) -> Vectors:
    matrix = np.arange(2 * len(ids), dtype=np.float32).reshape(-1, 2) + 1
    return Vectors(strings_of(ids), matrix, model="m", space="s", metric="l2", facts=facts)


@pytest.mark.parametrize("metric", get_args(Metric))
def test_half_precision_ranks_as_the_stored_numbers_do(tmp_path: Path, metric: Metric) -> None:
    rng = np.random.default_rng(4)
    matrix = rng.normal(size=(900, 24)).astype(np.float16)
    matrix[100:140] = matrix[99]
    matrix[200] = 0
    ids = tuple(f"d{number}" for number in rng.permutation(900))
    write_vectors(Vectors(strings_of(ids), matrix, model="m", space="s", metric=metric, facts={}), tmp_path / "v")
    back = vectors.load(tmp_path / "v", hint="")
    assert back.matrix.dtype == np.float16
    assert np.array_equal(back.matrix, matrix)
    asked = [ids[row] for row in (99, 0, 200, 7)]
    found = vectors.nearest(
        back, vectors.vectors_named(back, asked), corpus=strings_of(ids), depths=np.array([60, 900, 5, 20])
    )
    for paper_id, ranking, depth in zip(asked, found, (60, 900, 5, 20), strict=True):
        assert ranking == brute_force(list(ids), matrix, matrix[ids.index(paper_id)], metric, depth)


def test_rows_come_block_by_block_and_a_broken_writing_leaves_what_was_there(tmp_path: Path) -> None:
    write_vectors(made(), tmp_path / "v")
    before = {path.name: path.read_bytes() for path in (tmp_path / "v").iterdir()}
    (tmp_path / ".v.left-by-a-killed-one").mkdir()

    def write(blocks: list[int]) -> None:
        with VectorsWriter(tmp_path / "v", most=10**9, precision="float32") as writer:
            writer.about = {"model": "n", "space": "s", "metric": "cosine"}
            for block in blocks:
                writer.add([f"{block}-{row}" for row in range(2)], np.full((2, 3), 1 / block))

    with pytest.raises(ZeroDivisionError):
        write([1, 0])
    assert {path.name: path.read_bytes() for path in (tmp_path / "v").iterdir()} == before
    write([1, 2, 3])
    back = vectors.load(tmp_path / "v", hint="")
    assert back.ids.to_pylist() == ["1-0", "1-1", "2-0", "2-1", "3-0", "3-1"]
    files = {
        name: hashlib.sha256((tmp_path / "v" / name).read_bytes()).hexdigest() for name in ("ids.txt", "vectors.npy")
    }
    assert back.facts == {"precision": "float32", "files": files}
    assert np.array_equal(back.matrix, np.repeat(np.float32([[1], [1 / 2], [1 / 3]]), [2, 2, 2], axis=0) * np.ones(3))
    assert [path.name for path in tmp_path.iterdir()] == ["v"]


def test_vectors_without_a_folder_name_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match=r"ids\.txt") as caught:
        vectors.load(tmp_path, hint="use --without specter")
    assert caught.value.hint == "use --without specter"


def test_vectors_rank_papers_of_the_corpus_only_and_need_the_query() -> None:
    found = vectors.nearest(
        made(), vectors.vectors_named(made(), ["b"]), corpus=strings_of(["b", "c", "z"]), depths=np.array([5])
    )
    assert [doc.doc_id for doc in found[0]] == ["b", "c"]
    with pytest.raises(InputError) as caught:
        vectors.nearest(
            made(), vectors.vectors_named(made(), ["y", "a", "z"]), corpus=strings_of(["a"]), depths=np.array([5, 5, 5])
        )
    assert caught.value.faults == ("y: no vector", "z: no vector")
