"""The effect of the assessor on two runs and two people: each ranking, swap and note worked by hand."""

from dataclasses import replace

import pytest
from annot.base.records import ScoredDoc
from annot.measuring.assessor_effect import Difference
from graded_runs import SETTINGS, assessor_effect_on_runs, comparison, final_of, in_order, judged, means

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
    given = judged(
        {
            "q0": {"a1": (3, 0, 1), "a2": (2, 0, 1), "a3": (1, 1, 1)},
            "q1": {"a1": (3, 0), "a2": (2, 0)},
        }
    )
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
