"""Blocked search in dense vectors finds exactly what measuring every pair finds."""

import hashlib
import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.base.records import Ranking, ScoredDoc, ranked
from annot.ranking import search as dense
from annot.ranking import search as topk
from annot.ranking import vectors
from annot.ranking.search import ROUNDING_STEP, Metric, Parts, TopK, best, dense_cosines, negated_distances, search
from annot.ranking.vectors import Vectors, VectorsWriter
from hypothesis import given
from hypothesis import strategies as st
from indexed import write_vectors

ROWS = np.array([[3, 4], [0, 0], [0, 2], [6, 8], [0, -1], [-3, -4], [1, 0]], np.float32)
IDS = strings_of("abcdefg")


def test_scores_are_negated_distances_and_cosines() -> None:
    query = np.array([3, 4], np.float32)
    assert negated_distances(query, ROWS[[0, 2, 3]]).tolist() == pytest.approx([0, -math.hypot(3, 2), -5])
    assert str(negated_distances(query, ROWS[:1])[0]) == "0.0"
    assert dense_cosines(query, ROWS[[0, 2, 3, 5, 6]]).tolist() == pytest.approx([1, 0.8, 1, -1, 0.6])


def rows_of(ranking: Any) -> str:
    return "".join(doc.doc_id for doc in ranking)


@pytest.mark.parametrize(
    ("run", "block", "room", "fetched"),
    [
        (1, 1, 1, 1),
        (3, 4, 4, 2),
        (3, 6, 2**19, 1),
        (40_000, 4, 1, 2),
        (40_000, 9, 4, 4_000),
        (40_000, 2**22, 2**19, 4_000),
    ],
)
@pytest.mark.parametrize(
    ("metric", "orders"),
    [
        # From (3, 4): a 0, c 3.6, g 4.5, d 5, e 5.8, f 10; from (0, -1): e 0, g 1.4, c 3, f 4.2, a 5.8, d 10.8.
        ("l2", ["acgdef", "egcfad"]),
        # By the angle a and d are one, and the id decides: 1, 1, 0.8, 0.6, -0.8, -1, and 1, 0.8, 0, -0.8, -0.8, -1.
        ("cosine", ["adcgef", "efgadc"]),
    ],
)
def test_no_cut_of_the_rows_changes_a_ranking(
    metric: Metric, orders: list[str], run: int, block: int, room: int, fetched: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("RUN", run), ("BLOCK", block), ("ROOM", room), ("FETCHED", fetched)):
        monkeypatch.setattr(dense, name, size)
    queries = np.array([[3, 4], [0, -1], [0, 0]], np.float32)
    for depths in ([9, 9, 9], [2, 1, 3]):
        found = search(ROWS, IDS, queries, metric=metric, depths=np.array(depths))
        whole = search(Parts([ROWS[:2], ROWS[2:3], ROWS[3:]]), IDS, queries, metric=metric, depths=np.array(depths))
        assert found == whole
        assert found[2] == ()
        for ranking, order, depth in zip(found, orders, depths, strict=False):
            assert rows_of(ranking) == order[:depth]


def test_rows_that_may_not_rank_and_rows_of_zeros_are_passed_over() -> None:
    usable = np.array([True, True, False, True, True, True, False])
    (found,) = search(ROWS, IDS, ROWS[:1], metric="l2", depths=np.array([9]), usable=usable)
    assert rows_of(found) == "adef"
    assert search(ROWS, IDS, ROWS[:0], metric="l2", depths=np.zeros(0, np.int64)) == []
    assert search(ROWS, IDS, ROWS[1:2], metric="cosine", depths=np.array([3])) == [()]


@pytest.mark.parametrize("row", [0, 3, 6])
def test_a_row_that_is_not_finite_is_named_by_its_place(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "RUN", 4)
    monkeypatch.setattr(dense, "BLOCK", 6)
    rows = ROWS.copy()
    rows[row, 1] = np.inf
    with pytest.raises(InputError, match=f"row {row}: not finite"):
        search(rows, IDS, ROWS[:1], metric="l2", depths=np.array([2]))


@pytest.mark.parametrize(("start", "stop"), [(0, 7), (0, 2), (1, 3), (2, 3), (3, 7), (2, 9), (5, 5), (6, 7)])
def test_parts_are_read_as_one(start: int, stop: int) -> None:
    parts = Parts([ROWS[:2], ROWS[2:3], ROWS[3:]])
    assert parts.shape == (7, 2)
    if start < stop:
        assert parts[start:stop].tolist() == ROWS[start:stop].tolist()
    rows = np.array([6, 0, 2, 2, 3, 1])
    assert parts[rows].tolist() == ROWS[rows].tolist()
    assert parts[rows].dtype == np.float32


def test_runs_do_not_go_beyond_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "RUN", 3)
    assert dense._runs(ROWS) == [range(3), range(3, 6), range(6, 7)]
    assert dense._runs(Parts([ROWS[:4], ROWS[4:6]])) == [range(3), range(3, 4), range(4, 6)]


def test_a_row_is_zero_if_every_number_of_it_is() -> None:
    assert dense._nonzero_rows(np.array([[0, 0], [0, 1], [1, 0], [-1, 2]])).tolist() == [False, True, True, True]


def test_of_two_queries_each_keeps_its_own() -> None:
    top = TopK(np.array([1, 2]), relative=1e-9)
    top.push(0, np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 2.0]]), error=np.zeros(2))
    top.push(3, np.array([[0.5, 2.0, 0.0], [0.0, 0.0, 2.5]]), error=np.zeros(2))
    found = top.candidates(error=np.zeros(2))
    assert [rows.tolist() for rows, _ in found] == [[1, 4], [0, 5]]
    assert top.least(error=np.array([0.25, 0.5])).tolist() == [1.75, 2.0]


def test_the_first_of_those_found_are_ranked_under_the_tie_rule() -> None:
    rows, scores = np.array([0, 3, 4]), np.array([1.0, 2.0, 1.0])
    assert rows_of(best(IDS, rows, scores, depth=9)) == "dae"
    assert rows_of(best(IDS, rows, scores, depth=2)) == "da"
    # Six digits: two numbers further apart than a hundred-thousandth, and a hundredth of that, are never one.
    assert pytest.approx(1.01e-5) == ROUNDING_STEP == topk.ROUNDING_STEP


@given(
    size=st.sampled_from([1e-9, 0.123456, 9.99999, -9.99999, 1.0, -1.0, 5e7]),
    seed=st.integers(0, 10_000),
    depth=st.integers(1, 30),
    block=st.integers(1, 100),
)
def test_scores_that_round_to_the_same_digits_are_told_apart_by_id(
    size: float, seed: int, depth: int, block: int
) -> None:
    rng = np.random.default_rng(seed)
    # Within three rounding steps of each other, so that many tie with the last place once rounded.
    scores = size * (1 + 3e-6 * rng.random((2, 100)))
    scores[0, rng.random(100) < 0.1] = -np.inf
    ids = [str(number) for number in rng.permutation(100)]
    none = np.zeros(2)
    depths = np.array([depth, 5])
    top, joined, informed = (TopK(depths, relative=ROUNDING_STEP) for _ in range(3))
    for start in range(0, 100, block):
        top.push(start, scores[:, start : start + block], error=none)
        for whole, least in ((joined, None), (informed, informed.least(error=none))):
            part = TopK(depths, relative=ROUNDING_STEP, least=least)
            part.push(start, scores[:, start : start + block], error=none)
            whole.join(part.candidates(error=none), error=none)
    for query, wanted in enumerate((depth, 5)):
        expected = ranked(
            ScoredDoc(doc_id, score)
            for doc_id, score in zip(ids, scores[query].tolist(), strict=True)
            if score > -np.inf
        )
        for kept in (top, joined, informed):
            assert best(strings_of(ids), *kept.candidates(error=none)[query], depth=wanted) == expected[:wanted]


@given(seed=st.integers(0, 10_000), depth=st.integers(1, 30), block=st.integers(1, 60))
def test_scores_with_an_error_keep_whatever_might_be_among_the_best(seed: int, depth: int, block: int) -> None:
    rng = np.random.default_rng(seed)
    true = rng.random(200)
    # The error grows from block to block, as that of longer and longer vectors does.
    largest = np.repeat(0.1 * np.linspace(0.1, 1, -(-200 // block)), block)[:200]
    seen = true + largest * rng.choice([-1, 1], 200)
    top, informed = (TopK(np.array([depth]), relative=ROUNDING_STEP) for _ in range(2))
    before = np.zeros(1)
    for start in range(0, 200, block):
        error = np.array([2 * largest[start]])
        top.push(start, seen[None, start : start + block], error=error)
        # Other rows, whose scores have an error of their own, are searched with what is known by then.
        part = TopK(np.array([depth]), relative=ROUNDING_STEP, least=informed.least(error=before))
        part.push(start, seen[None, start : start + block], error=error)
        informed.join(part.candidates(error=error), error=error)
        before = error
    for whole in (top, informed):
        (kept,) = whole.candidates(error=np.array([2 * largest[-1]]))
        assert set(np.argsort(-true)[:depth]) <= set(kept[0].tolist())


def test_a_score_exactly_as_far_below_as_two_may_be_tied_stays_and_one_further_below_goes() -> None:
    top = TopK(np.array([1]), relative=0.25)
    top.push(0, np.array([[8.0, 6.0, 5.75, 8.0]]), error=np.zeros(1))
    ((rows, scores),) = top.candidates(error=np.zeros(1))
    assert (rows.tolist(), scores.tolist()) == ([0, 1, 3], [8, 6, 8])
    ((rows, _),) = top.candidates(error=np.array([0.25]))
    assert rows.tolist() == [0, 1, 3], "what has gone does not come back"


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
