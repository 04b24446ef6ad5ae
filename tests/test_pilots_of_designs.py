"""What a pilot shows of times and agreement, from how many papers on, and how it is redrawn, worked by hand."""

import math
from typing import Any

import numpy as np
import pytest
from annot.base.records import Judgement
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.forecast.design import (
    Labour,
    PilotRedraw,
    _estimate,
    _future_interval,
    _too_few,
    labour_of,
    own_share,
    redrawn,
)

PILOT = Labour(("q1", "q2"), np.array([0.5, 1.5]), np.array([30.0, 60.0]))


def judged(query_id: str, who: str, seconds: float, n: int = 3) -> list[Judgement]:
    return [Judgement(query_id, f"d{at}", who, 1, lead_time=seconds) for at in range(n)]


def test_a_query_is_slow_beside_its_own_assessors() -> None:
    given = {"a2": [*judged("q1", "a2", 90.0), *judged("q2", "a2", 30.0)], "a1": judged("q2", "a1", 10.0)}
    found = labour_of(given, fence=9.0)
    assert isinstance(found, Labour)
    assert found.query_ids == ("q1", "q2")
    assert found.by_person.tolist() == pytest.approx([10.0, 60.0])
    # q1: 90 of 60. q2: three times 30 of 60, three times 10 of 10.
    assert found.by_query.tolist() == pytest.approx([1.5, 0.75])
    assert found.expected(360) == pytest.approx(360 * 35 * 1.125 / 3600)
    assert isinstance(labour_of({"a1": []}, fence=9.0), Undefined)


def test_hours_of_a_simulated_study_are_those_of_queries_like_the_pilots() -> None:
    same = PilotRedraw(np.array([0, 1]), np.array([0.5, 0.5]), np.array([0.5, 0.5]), 1.0)
    hours = PILOT.simulated(3600, same, np.array([1, 1, 0]), 2, np.random.default_rng(1))
    assert hours == pytest.approx((1.5 + 1.5 + 0.5) / 3 * 45)


@pytest.mark.parametrize("people", [1, 2])
def test_as_many_people_as_in_the_pilot_are_some_of_these(people: int) -> None:
    drawn = [PILOT._team(people, np.random.default_rng(seed)) for seed in range(20)]
    assert {len(team) for team in drawn} == {people}
    assert {seconds for team in drawn for seconds in team} == {30.0, 60.0}
    assert all(len({*team}) == people for team in drawn)


def test_further_people_differ_as_the_pilots_do_and_have_their_mean() -> None:
    teams = [PILOT._team(4, np.random.default_rng(seed)) for seed in range(4000)]
    assert all(team[:2].tolist() == [30.0, 60.0] for team in teams)
    others = np.concatenate([team[2:] for team in teams])
    spread = float(np.var(np.log([30.0, 60.0]), ddof=1)) * (1 + 1 / 2)
    assert float(np.log(others).var()) == pytest.approx(spread, rel=0.05)
    assert float(np.log(others).mean()) == pytest.approx(math.log(45) - spread / 2, abs=0.03)
    one = Labour(("q1",), np.array([1.0]), np.array([30.0]))
    assert one._team(3, np.random.default_rng(1)).tolist() == [30.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("n", "papers", "reason"),
    [
        (0, None, None),
        (1, None, "a pilot of 1 query with times does not show how queries differ; 4 are needed"),
        (3, None, "a pilot of 3 queries with times does not show how queries differ; 4 are needed"),
        (4, None, None),
        (4, 3, "a pilot of 3 query papers with times does not show how query papers differ; 4 are needed"),
        (8, 4, None),
    ],
)
def test_four_queries_or_papers_show_how_they_differ(n: int, papers: int | None, reason: str | None) -> None:
    names = [f"q{at}" for at in range(n)]
    of = None if papers is None else {name: f"p{at % papers}" for at, name in enumerate(names)}
    found = _too_few(names, of, " with times")
    assert found == (None if reason is None else Undefined(reason))


@pytest.mark.parametrize(("level", "fewest"), [(0.95, 39), (0.9, 19), (0.5, 3)])
def test_an_interval_needs_so_many_draws_that_one_is_beyond_each_end(level: float, fewest: int) -> None:
    """Of n draws the next one is above the k-th with probability k / (n + 1)."""
    draws = np.arange(1.0, fewest + 1)
    found = _future_interval(draws, level)
    assert isinstance(found, Interval)
    assert (found.low, found.high) == (pytest.approx(1.0), pytest.approx(float(fewest)))
    assert _future_interval(np.append(draws, np.nan), level) == found
    assert _future_interval(draws[1:], level) == Undefined(
        f"{fewest - 1} simulated studies are too few for a {100 * level:g}% interval; {fewest} are needed"
    )


def test_why_there_is_no_interval_goes_before_the_draws() -> None:
    few, none = Undefined("few"), Undefined("none")
    draws: Any = np.arange(100.0)
    assert _estimate(none, few, draws, 0.5) == Estimate(none, none)
    assert _estimate(1.0, few, draws, 0.5) == Estimate(1.0, few)
    assert _estimate(1.0, None, none, 0.5) == Estimate(1.0, none)
    assert isinstance(_estimate(1.0, None, draws, 0.5).interval, Interval)


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


@pytest.mark.parametrize(
    ("paper", "scale"), [([0, 0], 1.0), ([0, 1, 1], math.sqrt(2 / 1)), ([0, 1, 2], math.sqrt(3 / 2))]
)
def test_a_pilot_of_fewer_than_four_papers_is_taken_at_its_word(paper: list[int], scale: float) -> None:
    found = redrawn(np.array(paper), np.random.default_rng(1))
    assert found.mean.tolist() == [pytest.approx(1 / len(paper))] * len(paper)
    assert found.papers.tolist() == [pytest.approx(1 / (max(paper) + 1))] * (max(paper) + 1)
    assert found.scale == pytest.approx(scale)


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
