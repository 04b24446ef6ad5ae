"""How a pilot is redrawn, on pilots so small that each figure is worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from annot.measuring.forecast.design import PilotRedraw, own_share, papers_by_number, redrawn


def of(paper: list[int], mean: list[float], papers: list[float], scale: float) -> PilotRedraw:
    return PilotRedraw(np.array(paper), np.array(mean), np.array(papers), scale)


@pytest.mark.parametrize(
    ("tables", "share"),
    [
        # Queries that differ wholly, and whose pairs are all alike: nothing is chance.
        ([[2, 0], [0, 2]], 1.0),
        # Variance of the shares 1/8 + 1/8; by chance 0 and (1/4 + 1/4) / (2 - 1), on average 1/4.
        ([[2, 0], [1, 1]], 0.0),
        # Shares 1, 0, 1/2, 1: variance 2 x 11/48; by chance 0, 0 and (1/2) / 3, on average 1/18.
        # The query of one pair says nothing about chance.
        ([[4, 0], [0, 4], [2, 2], [1, 0]], 1 - (1 / 18) / (22 / 48)),
        ([[1, 0], [0, 1]], 1.0),
        ([[3, 1]], 1.0),
        ([[3, 1], [3, 1]], 1.0),
        # More by chance than is seen.
        ([[2, 2], [1, 3]], 0.0),
    ],
)
def test_what_queries_differ_by_is_less_the_chance_of_drawing_pairs(tables: list[list[int]], share: float) -> None:
    assert own_share(np.array(tables)) == pytest.approx(share)


def test_papers_have_numbers_in_the_order_of_their_queries() -> None:
    papers = {"q1": "p9", "q2": "p1", "q3": "p9"}
    assert papers_by_number(["q1", "q2", "q3"], papers).tolist() == [0, 1, 0]
    assert papers_by_number(["q1", "q2", "q3"], None).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("paper", "scale"), [([0, 0], 1.0), ([0, 1, 1], math.sqrt(2 / 1)), ([0, 1, 2], math.sqrt(3 / 2))]
)
def test_a_pilot_of_fewer_than_four_papers_is_taken_at_its_word(paper: list[int], scale: float) -> None:
    found = redrawn(np.array(paper), np.random.default_rng(1))
    assert found.mean.tolist() == [pytest.approx(1 / len(paper))] * len(paper)
    assert found.papers.tolist() == [pytest.approx(1 / (max(paper) + 1))] * (max(paper) + 1)
    assert found.scale == pytest.approx(scale)


def test_from_four_papers_on_a_pilot_is_drawn() -> None:
    one, other = (redrawn(np.arange(4), np.random.default_rng(seed)) for seed in (1, 2))
    assert one.papers.tolist() != other.papers.tolist()
    assert one.mean.sum() == pytest.approx(1)
    assert one.scale != other.scale


def test_a_redrawn_pilot_is_as_uncertain_as_students_t() -> None:
    """Of U papers: the spread is off by a chi-square of U - 1 degrees of freedom over these, and given that the mean is
    off by s / sqrt(U), s^2 the variance of the papers. Papers to come have Dirichlet weights, whose squares are
    2 / (U (U + 1)) on average."""
    rng, n, values = np.random.default_rng(1), 4, np.array([1.0, 2.0, 4.0, 9.0])
    drawn = [redrawn(np.arange(n), rng) for _ in range(8000)]
    chi = np.array([(n + 1) / (n - 1) / one.scale**2 for one in drawn])
    assert (chi.mean(), chi.var()) == (pytest.approx(1, abs=0.04), pytest.approx(2 / (n - 1), rel=0.1))
    off = np.array([one.mean @ values for one in drawn]) - values.mean()
    assert float((chi * off**2).mean()) == pytest.approx(values.var(ddof=1) / n, rel=0.06)
    weights = np.array([one.papers for one in drawn])
    assert float((weights**2).mean()) == pytest.approx(2 / (n * (n + 1)), rel=0.05)


def test_queries_to_come_are_like_a_paper_and_those_of_one_paper_come_together() -> None:
    alone = of([0, 1], [0.5, 0.5], [0.0, 1.0], 1.0).picked(3, np.random.default_rng(1))
    assert [one.tolist() for one in alone] == [[1, 1, 1], [0, 1, 2]]
    together = of([0, 1, 0], [1 / 3] * 3, [1.0, 0.0], 1.0).picked(5, np.random.default_rng(1))
    assert [one.tolist() for one in together] == [[0, 2, 0, 2, 0], [0, 0, 1, 1, 2]]


@pytest.mark.parametrize(
    ("share", "scale", "factor"), [(1.0, 1.0, 1.0), (0.25, 1.0, 0.5), (0.25, 3.0, 1.5), (0.0, 9.0, 0.0)]
)
def test_what_is_to_come_keeps_the_mean_and_the_part_of_the_differences_that_is_theirs(
    share: float, scale: float, factor: float
) -> None:
    values = np.array([[1.0, 0.0], [4.0, 2.0], [7.0, 4.0]])
    found = of([0, 1, 2], [1 / 3] * 3, [1 / 3] * 3, scale).future(values, share)
    middle = np.array([4.0, 2.0])
    assert found == pytest.approx(middle + factor * (values - middle))


def test_papers_that_come_more_often_are_the_middle_of_the_differences() -> None:
    # The mean of all queries is the first one's, 1; papers to come are like the second paper, 4.
    found = of([0, 1], [1.0, 0.0], [0.0, 1.0], 1.0).future(np.array([1.0, 4.0]), 1.0)
    assert found == pytest.approx([1 + 1 - 4, 1 + 4 - 4])
