"""What a pilot shows of times and agreement, and from how many papers and simulated studies on."""

from __future__ import annotations

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
    _shares,
    _too_few,
    labour_of,
    pool_size,
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


def test_pools_and_shares() -> None:
    assert pool_size(methods=7, per_method=13, cited=20) == 111
    assert _shares(np.array([[1, 3], [2, 0]])).tolist() == [[0.25, 0.75], [1.0, 0.0]]
