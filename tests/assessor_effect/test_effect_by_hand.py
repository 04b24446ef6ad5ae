"""Gradings, differences and orders of a few runs and two people: each ranking, swap and note worked by hand."""

from dataclasses import replace

import numpy as np
import pytest
from annot.base.records import ScoredDoc
from annot.base.stats.values import Undefined
from annot.measuring.assessor_effect import (
    Difference,
    RandomAssessorSwap,
    differences_between,
    gradings_of,
    means_of,
    no_tau,
    random_assessor_rankings,
    seen,
    ways_of,
)
from graded_runs import SETTINGS, assessor_effect_on_runs, cell, comparison, final_of, in_order, judged, means

NAN = np.nan


def test_each_grading_covers_the_queries_of_which_its_assessor_was_given_every_pair() -> None:
    """On q1 all three were given all; on q2 a0 was given the first pair and a1 both; nobody else was there."""
    first = replace(cell([[0, 1], [2, NAN], [3, 3]], "q1"), final=np.array([1.0, 2.0]))
    second = cell([[1, NAN], [2, 3], [NAN, NAN]], "q2")
    second = replace(second, asked=np.array([[1, 0], [1, 1], [0, 0]], dtype=bool))
    found = {one.name: one for one in gradings_of([first, second])}
    assert list(found) == ["final", "A", "B", "a0", "a1", "a2"]
    assert [(name, one.queries.tolist(), one.partly.tolist(), one.n_ungraded) for name, one in found.items()] == [
        ("final", [0, 1], [], 0),
        ("A", [0, 1], [], 0),
        ("B", [0], [1], 1),
        ("a0", [0], [1], 0),
        ("a1", [0, 1], [], 1),
        ("a2", [0], [], 0),
    ]
    grades = {name: [row.tolist() for row in one.grades] for name, one in found.items()}
    assert grades["final"] == [[1, 2], [0, 0]]
    assert grades["A"] == [[0, 1], [1, 3]]
    # An answer without a grade is 0.
    assert grades["B"] == [[2, 0], [2, 0]]
    assert grades["a1"] == [[2, 0], [2, 3]]


def test_a_difference_is_seen_from_the_better_run() -> None:
    found = np.array([0.2, -0.3, 0.0]), np.array([0.01, 0.5, 1.0])
    assert ways_of(found).tolist() == [1, -1, 0]
    assert seen(found, 1, -1) == Difference(0.3, 0.5)
    assert seen(found, 1, 1) == Difference(-0.3, 0.5)


def test_means_are_over_queries_and_ties_are_ties() -> None:
    values = np.array([[[0.1, 0.2, 0.3]], [[0.3, 0.2, 0.1]]])
    found = means_of(values)
    assert found.shape == (2, 1)
    assert found[0] == found[1] == pytest.approx(0.2)


def test_facets_of_a_paper_count_as_one_in_the_test() -> None:
    values = np.array([[0.5] * 12, [0.25] * 12])
    alone = differences_between(values, [f"p{at}" for at in range(12)], [(0, 1)], SETTINGS)
    by_two = differences_between(values, [f"p{at // 2}" for at in range(12)], [(0, 1)], SETTINGS)
    assert (alone[0].tolist(), by_two[0].tolist()) == ([0.25], [0.25])
    assert by_two[1].tolist() == [2 / 64]
    assert alone[1][0] < 0.01
    nothing = differences_between(values[:1], ["p0"] * 12, [], SETTINGS)
    assert [len(part) for part in nothing] == [0, 0]


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        (0, "0 runs; a ranking needs at least two"),
        (1, "1 run; a ranking needs at least two"),
        (2, "all 2 runs tie under one of the gradings"),
    ],
)
def test_why_there_is_no_order(runs: int, why: str) -> None:
    assert no_tau(runs) == Undefined(why)


PAPERS = [f"p{at}" for at in range(6)]
FINAL = np.array([[0.6] * 6, [0.4] * 6, [0.2] * 6])
"""Three runs on six papers, the first best everywhere."""


def test_the_order_of_each_choice_is_compared_with_the_final_one() -> None:
    """Four choices: as it is; the last two turned; all turned; all runs alike."""
    same, turned, reversed_, tied = FINAL, FINAL[[0, 2, 1]], FINAL[::-1], np.full((3, 6), 0.3)
    values = np.stack([same, turned, reversed_, tied], axis=1)
    settings = replace(SETTINGS, n_random=4, level=0.5)
    found = random_assessor_rankings(values, FINAL, PAPERS, ["x", "y", "z"], settings)
    # Kendall's tau of three: 1, 1/3 and -1; of the tie there is none.
    assert found.tau == pytest.approx((1 + 1 / 3 - 1) / 3)
    assert found.tau_min == pytest.approx(-1)
    assert found.tau_range == pytest.approx(tuple(np.quantile([1, 1 / 3, -1], [0.25, 0.75])))
    assert (found.n, found.same_order, found.undefined) == (4, 1, 1)
    assert found.means["x"] == pytest.approx(tuple(np.quantile([0.6, 0.6, 0.2, 0.3], [0.25, 0.75])))
    # On six papers 2 of 64 arrangements are as far out: each turn is significant under the final grades.
    assert found.with_swap == 2
    assert found.swaps == (
        RandomAssessorSwap("y", "z", Difference(pytest.approx(0.2), 2 / 64), 2, 2),
        RandomAssessorSwap("x", "y", Difference(pytest.approx(0.2), 2 / 64), 1, 1),
        RandomAssessorSwap("x", "z", Difference(pytest.approx(0.4), 2 / 64), 1, 1),
    )


def test_a_turn_that_is_significant_under_the_choice_alone_is_a_swap() -> None:
    """Under the final grades the two hardly differ; in the first choice the other is ahead on every paper, in the
    second on most."""
    noise = np.array([0.02, -0.01, 0.02, -0.01, 0.02, -0.01])
    final = np.stack([0.5 + noise, np.full(6, 0.5)])
    clear = np.stack([np.full(6, 0.4), np.full(6, 0.6)])
    vague = np.stack([np.full(6, 0.5), 0.5 + noise])
    values = np.stack([clear, vague], axis=1)
    found = random_assessor_rankings(values, final, PAPERS, ["b", "a"], replace(SETTINGS, n_random=2))
    (swap,) = found.swaps
    assert (swap.better, swap.worse, swap.n_reversed, swap.n_significant) == ("b", "a", 2, 1)
    assert swap.final.mean == pytest.approx(0.005)
    assert swap.final.p_corrected > 0.3
    assert found.with_swap == 1
    assert (found.tau, found.tau_min, found.same_order) == (-1.0, -1.0, 0)


def test_the_better_run_of_a_swap_is_that_by_the_final_grades() -> None:
    found = random_assessor_rankings(
        FINAL[:2, None, :], FINAL[1::-1], PAPERS, ["x", "y"], replace(SETTINGS, n_random=1)
    )
    assert [(one.better, one.worse) for one in found.swaps] == [("y", "x")]


PRECISION = replace(SETTINGS, convention="trec", measure="P@1", n_random=3)
QUERIES = [f"q{at}" for at in range(6)]
RUNS = {
    "x": {query: in_order(["d00", "d01"]) for query in QUERIES},
    "y": {query: in_order(["d01", "d00"]) for query in QUERIES},
}


def effect(first: tuple[int | None, int | None], second: tuple[int | None, int | None], final: tuple[int, int]):
    """Two documents on six queries, graded by two people and at last."""
    given = judged({query: {"a1": first, "a2": second} for query in QUERIES})
    return assessor_effect_on_runs(RUNS, given, final_of(dict.fromkeys(QUERIES, final)), PRECISION)


def test_runs_that_two_people_order_the_other_way_round_are_a_swap() -> None:
    found = effect((3, 0), (0, 3), (0, 2))
    assert means(found) == {
        "final": {"y": 1.0, "x": 0.0},
        "A": {"x": 1.0, "y": 0.0},
        "B": {"y": 1.0, "x": 0.0},
        "a1": {"x": 1.0, "y": 0.0},
        "a2": {"y": 1.0, "x": 0.0},
    }
    # Two of 64 arrangements of six papers are as far out.
    between = comparison(found, "A", "B")
    (swap,) = between.swaps
    assert (swap.better, swap.worse, swap.significant_in) == ("x", "y", ("A", "B"))
    assert swap.first == Difference(1.0, 2 / 64)
    assert swap.second == Difference(-1.0, 2 / 64)
    assert (between.tau, between.reversed_pairs, between.n_run_pairs) == (-1.0, 1, 1)
    assert between.significant == {"A": 1, "B": 1}
    (other,) = comparison(found, "a1").swaps
    assert (other.better, other.worse) == ("x", "y")
    assert comparison(found, "a2").swaps == ()
    assert {(one.first, one.second) for one in found.comparisons} == {
        ("A", "B"),
        *((name, "final") for name in ("A", "B", "a1", "a2")),
    }


def test_the_better_run_of_a_swap_is_that_of_the_first_grading() -> None:
    (swap,) = comparison(effect((0, 3), (3, 0), (3, 0)), "A", "B").swaps
    assert (swap.better, swap.worse) == ("y", "x")


def test_runs_that_tie_under_one_grading_are_not_reversed() -> None:
    found = comparison(effect((3, 0), (0, 0), (2, 0)), "A", "B")
    assert (found.reversed_pairs, found.swaps) == (0, ())
    # Equal means are in order of name.
    assert list(found.means["B"]) == ["x", "y"]


def test_ties_and_documents_that_are_not_among_the_pairs_follow_the_convention() -> None:
    """trec_eval puts the larger id first; a document that nobody judged is not relevant."""
    runs = {
        "tie": {query: (ScoredDoc("d00", 1.0), ScoredDoc("d01", 1.0)) for query in QUERIES},
        "new": {query: in_order(["d99", "d01"]) for query in QUERIES},
    }
    given = judged({query: {"a1": (0, 3), "a2": (0, 3)} for query in QUERIES})
    final = final_of(dict.fromkeys(QUERIES, (0, 3)))
    values = {
        convention: means(assessor_effect_on_runs(runs, given, final, replace(PRECISION, convention=convention)))[
            "final"
        ]
        for convention in ("trec", "csfcube")
    }
    assert values == {"trec": {"tie": 1.0, "new": 0.0}, "csfcube": {"new": 0.0, "tie": 0.0}}


def test_pairs_that_are_left_out_and_gradings_that_cover_a_part_are_told() -> None:
    given = judged({"q0": {"a1": (3, 0, 1), "a2": (2, 0, 1), "a3": (1, 1, 1)}, "q1": {"a1": (3, 0), "a2": (2, 0)}})
    given = [one for one in given if (one.query_id, one.assessor, one.doc_id) != ("q1", "a2", "d01")]
    final = final_of({"q0": (3, 0), "q1": (2, 1, 0)})
    found = assessor_effect_on_runs(RUNS, given, final, PRECISION)
    assert found.n_pairs == 4
    assert found.notes == (
        "1 pair in the qrels without an assessor's grade: left out",
        "1 pair judged and not in the qrels: left out",
        "2 pairs with more than two assessors: A and B are the first two, random choices are among all",
        "B: q1 left out, because not every pair has as many assessors",
        "a2: q1 left out, because not every pair was given to this assessor",
    )


@pytest.mark.parametrize("n_random", [1, 4])
def test_random_choices_among_people_who_agree_are_the_same_ranking(n_random: int) -> None:
    given = judged({query: {"a1": (3, 0), "a2": (3, 0)} for query in QUERIES})
    # The final grades say the opposite.
    final = final_of(dict.fromkeys(QUERIES, (0, 3)))
    random = assessor_effect_on_runs(RUNS, given, final, replace(PRECISION, n_random=n_random)).random_assessors
    assert (random.n, random.tau, random.same_order) == (n_random, -1.0, 0)
    assert random.means == {"x": (1.0, 1.0), "y": (0.0, 0.0)}
