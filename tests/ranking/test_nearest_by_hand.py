"""Search in dense vectors on few rows: scores by their formulas, every cut of the rows, and the candidates."""

import math
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.ranking import search as dense
from annot.ranking import search as topk
from annot.ranking.search import (
    ROUNDING_STEP,
    Metric,
    Parts,
    TopK,
    best,
    best_of_all,
    dense_cosines,
    negated_distances,
    search,
)

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


NONE = np.zeros(1)


def kept(top: TopK, error: float = 0.0) -> tuple[list[int], list[float]]:
    ((rows, scores),) = top.candidates(error=np.array([error]))
    return rows.tolist(), scores.tolist()


def test_the_best_and_what_ties_with_them_are_kept_block_by_block() -> None:
    top = TopK(np.array([2]), relative=1e-9)
    for start, block in ((0, [1.0, 5.0]), (2, [3.0, 5.0]), (4, [4.0, -np.inf])):
        top.push(start, np.array([block]), error=NONE)
    assert kept(top) == ([1, 3], [5, 5])
    fewer = TopK(np.array([9]), relative=1e-9)
    fewer.push(7, np.array([[2.0, -np.inf, 1.0]]), error=NONE)
    assert kept(fewer) == ([7, 9], [2, 1])
    assert kept(TopK(np.array([1]), relative=1e-9)) == ([], [])


def test_of_two_queries_each_keeps_its_own() -> None:
    top = TopK(np.array([1, 2]), relative=1e-9)
    top.push(0, np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 2.0]]), error=np.zeros(2))
    top.push(3, np.array([[0.5, 2.0, 0.0], [0.0, 0.0, 2.5]]), error=np.zeros(2))
    found = top.candidates(error=np.zeros(2))
    assert [rows.tolist() for rows, _ in found] == [[1, 4], [0, 5]]
    assert top.least(error=np.array([0.25, 0.5])).tolist() == [1.75, 2.0]


def test_as_many_more_stay_as_the_error_allows() -> None:
    for error, rows in ((0.0, [0]), (1.0, [0, 1]), (2.5, [0, 1, 2])):
        top = TopK(np.array([1]), relative=1e-9)
        top.push(0, np.array([[5.0, 4.0, 2.5, 1.0]]), error=np.array([error]))
        assert kept(top, error)[0] == rows


def test_what_is_known_of_the_best_keeps_the_rest_out_at_once() -> None:
    top = TopK(np.array([3]), relative=1e-9, least=np.array([4.0]))
    top.push(0, np.array([[5.0, 4.0, 3.9]]), error=NONE)
    assert kept(top)[0] == [0, 1]


def test_candidates_of_several_runs_are_joined_and_the_least_is_told() -> None:
    least = np.array([-np.inf])
    parts = [
        ([(np.array([0, 2]), np.array([5.0, 3.0]))], np.array([0.5])),
        ([(np.array([4]), np.array([4.0]))], np.array([0.25])),
        ([(np.array([6]), np.array([4.5]))], np.array([0.0])),
    ]
    told: list[float] = []

    def watched() -> Any:
        for part in parts:
            yield part
            told.append(float(least[0]))

    (found,) = best_of_all(watched(), np.array([1]), relative=1e-9, least=least)
    # The largest error so far holds for all.
    assert found[0].tolist() == [0, 6]
    assert told[-1] == 4.5


def test_the_first_of_those_found_are_ranked_under_the_tie_rule() -> None:
    rows, scores = np.array([0, 3, 4]), np.array([1.0, 2.0, 1.0])
    assert rows_of(best(IDS, rows, scores, depth=9)) == "dae"
    assert rows_of(best(IDS, rows, scores, depth=2)) == "da"
    # Six digits: two numbers further apart than a hundred-thousandth, and a hundredth of that, are never one.
    assert pytest.approx(1.01e-5) == ROUNDING_STEP == topk.ROUNDING_STEP
