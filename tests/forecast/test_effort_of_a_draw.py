"""What a draw takes, counted by hand, and its range against draws that are made."""

from dataclasses import replace

import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined
from annot.measuring.forecast.hours import DECIDERS, NO_TIMES, Effort, Rules, Speed, drawn_range, set_speed
from annot.pools.pooling import ExpectedPairs, expected_pairs

RULES = Rules(fence=3.0, window_days=28, hourly_rate=20.0, level=0.9, draws=1000, seed=1)
GIVEN = Effort(
    per_pair=2,
    assessors=4,
    repeats=0.1,
    fewest_for_repeats=42,
    names=("a1",),
    speed=set_speed(36.0, "a1"),
    disputed=0.25,
    settling=set_speed(72.0, DECIDERS),
    rules=RULES,
)


def test_judgements_repeats_and_disputes_are_counted() -> None:
    # 100 pairs of two judgements for four people: 50 each, so there are repeats; 25 pairs are settled.
    assert GIVEN.judgements(100) == pytest.approx(220)
    assert GIVEN.value(100) == pytest.approx(220 * 36 / 3600 + 25 * 72 / 3600)
    # 41 for each person are too few for repeats.
    assert GIVEN.judgements(82) == 164
    certain = ExpectedPairs(100.0, 0.0, 100)
    assert GIVEN.cost(certain).value == pytest.approx(20 * 2.7)
    assert GIVEN.cost(certain).interval == Interval(pytest.approx(54), pytest.approx(54), 0.9, "prediction")


def test_without_a_dispute_settled_hours_are_those_of_judging() -> None:
    unknown = replace(GIVEN, settling=Undefined("no settled dispute has a time yet"))
    assert (GIVEN.with_disputes, unknown.with_disputes) == (True, False)
    assert unknown.value(100) == pytest.approx(2.2)
    assert replace(GIVEN, disputed=None).value(100) == pytest.approx(2.2)
    assert replace(GIVEN, speed=NO_TIMES).hours(ExpectedPairs(100.0, 1.0, 200)).value == NO_TIMES


def test_nine_of_ten_draws_are_within_their_range() -> None:
    pi = {"q": {f"d{at}": 1 / (1 + at % 9) for at in range(300)}}
    chances = np.array(list(pi["q"].values()))
    drawn = (np.random.default_rng(5).random((20_000, 300)) < chances).sum(axis=1)
    pairs = expected_pairs(pi)
    told = drawn_range(pairs, 0.9)
    assert np.mean((drawn >= told.low) & (drawn <= told.high)) == pytest.approx(0.9, abs=0.015)
    hours = GIVEN.hours(pairs)
    assert isinstance(hours.interval, Interval)
    assert hours.interval.high / GIVEN.value(pairs.mean) == pytest.approx(told.high / pairs.mean)


def test_a_learnt_time_widens_the_range() -> None:
    speed = Speed({"a1": 30.0, "a2": 42.0}, {"a1": 0.01, "a2": 0.01}, 0.5, 20, 200, "queries")
    learnt = replace(GIVEN, speed=speed, names=("a1", "a2"), disputed=None)
    pairs = ExpectedPairs(100.0, 4.0, 200)
    assert learnt.value(100) == pytest.approx(GIVEN.value(100) - 0.5)
    wide, narrow = learnt.hours(pairs).interval, replace(GIVEN, disputed=None).hours(pairs).interval
    assert isinstance(wide, Interval)
    assert isinstance(narrow, Interval)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_hours_never_fall_with_pairs() -> None:
    values = [GIVEN.value(pairs) for pairs in range(1, 400)]
    assert values == sorted(values)
