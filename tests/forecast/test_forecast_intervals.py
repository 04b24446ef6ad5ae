"""Intervals of the forecast against simulated studies whose remainder is known."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
from annot.base.records import Judgement
from annot.base.stats.values import Interval, Undefined
from annot.measuring.forecast.hours import forecast
from forecasts import NOW, RULES, judgement, steady
from hypothesis import given
from hypothesis import strategies as st


def planted(rng: np.random.Generator, *, queries: int, docs: int, days: int) -> tuple[list[Judgement], np.ndarray]:
    """Three assessors at their own speeds, queries at their own difficulty, 3% of times idle. The first half is judged.

    Returns the judgements, and the seconds still to come without the idling: shape (3, pairs).
    """
    given, future = [], []
    for person, middle in enumerate((30.0, 45.0, 80.0)):
        difficulty = rng.normal(0, 0.25, 2 * queries)
        times = rng.lognormal(np.log(middle) + difficulty[:, None], 0.5, (2 * queries, docs))
        shown = np.where(rng.random((queries, docs)) < 0.03, rng.uniform(600, 3600, (queries, docs)), times[:queries])
        future.append(times[queries:].ravel())
        for query, row in enumerate(shown):
            for at, seconds in enumerate(row):
                age = days * (1 - (query * docs + at) / (queries * docs))
                given.append(judgement(at, f"a{person}", query_id=f"q{query}", seconds=float(seconds), days_ago=age))
    return given, np.array(future)


def test_the_interval_of_hours_covers_what_then_happens() -> None:
    """95% intervals in 200 planted studies of 3 x 6 queries: 90% or more cover, and they are no wider than half."""
    rng = np.random.default_rng(3)
    covered, widths = 0, []
    for seed in range(200):
        given, future = planted(rng, queries=6, docs=15, days=6)
        remaining = {f"a{person}": len(row) for person, row in enumerate(future)}
        found = forecast(given, remaining, now=NOW, rules=replace(RULES, seed=seed, draws=400))
        assert found.unit == "queries"
        interval, value = found.hours_left.interval, found.hours_left.value
        assert isinstance(interval, Interval)
        assert isinstance(value, float)
        covered += interval.low <= future.sum() / 3600 <= interval.high
        widths.append((interval.high - interval.low) / value)
    assert covered >= 180
    assert np.mean(widths) < 0.5


def test_the_interval_of_the_date_covers_what_then_happens() -> None:
    """Each day an assessor works or not and, if so, judges a varying number: 200 studies, 90% or more cover."""
    rng = np.random.default_rng(4)
    covered, widths = 0, []
    for seed in range(200):
        given: list[Judgement] = []
        last = 0
        for person in ("a1", "a2"):
            counts = rng.poisson(rng.gamma(4, 5, 80)) * (rng.random(80) < 0.7)
            counts[14] = max(counts[14], 1)
            for day, n in enumerate(counts[:15]):
                given += [judgement(100 * day + at, person, seconds=None, days_ago=14 - day + 0.5) for at in range(n)]
            last = max(last, int(np.argmax(np.cumsum(counts[15:]) >= 250)) + 1)
        given.append(judgement(9999, "a1", seconds=None, days_ago=14.5))
        given.append(judgement(9999, "a2", seconds=None, days_ago=14.5))
        found = forecast(given, {"a1": 250, "a2": 250}, now=NOW, rules=replace(RULES, seed=seed, draws=400))
        assert isinstance(found.finish.interval, tuple)
        low, high = found.finish.interval
        # The last day's work is done at some time of that day.
        covered += (
            low <= (NOW + timedelta(days=last)).date().isoformat()
            and high >= (NOW + timedelta(days=last - 1)).date().isoformat()
        )
        widths.append((datetime.fromisoformat(high) - datetime.fromisoformat(low)).days)
    assert covered >= 180
    assert np.mean(widths) < 40


def test_more_judgements_narrow_the_interval() -> None:
    rng = np.random.default_rng(6)
    few, _ = planted(rng, queries=3, docs=10, days=6)
    many, _ = planted(rng, queries=24, docs=10, days=6)
    width = {}
    for name, so_far in (("few", few), ("many", many)):
        interval = forecast(so_far, dict.fromkeys(("a0", "a1", "a2"), 400), now=NOW, rules=RULES).hours_left.interval
        assert isinstance(interval, Interval)
        width[name] = interval.high - interval.low
    assert width["many"] < width["few"] / 1.5


def test_a_forecast_follows_from_its_seed_whatever_the_order() -> None:
    given, _ = planted(np.random.default_rng(7), queries=4, docs=10, days=6)
    remaining = {"a0": 50, "a1": 60, "a2": 70}
    found = forecast(given, remaining, now=NOW, rules=RULES)
    assert forecast(given[::-1], dict(reversed(remaining.items())), now=NOW, rules=RULES) == found
    assert forecast(given, remaining, now=NOW, rules=replace(RULES, seed=14)).hours_left != found.hours_left
    assert forecast(given, remaining, now=NOW, rules=replace(RULES, seed=14)).hours_left.value == found.hours_left.value


@given(st.integers(0, 500), st.integers(1, 500))
def test_more_left_is_never_less_work_nor_an_earlier_date(left: int, more: int) -> None:
    given_so_far = [
        *steady("a1", per_day=8, days=4),
        *[judgement(900 + at, seconds=30.0 + 10 * at, query_id="q9") for at in range(9)],
    ]
    found, later = (forecast(given_so_far, {"a1": n}, now=NOW, rules=RULES) for n in (left, left + more))
    assert isinstance(found.hours_left.value, float)
    assert isinstance(later.hours_left.value, float)
    assert found.hours_left.value < later.hours_left.value
    assert isinstance(later.finish.date, str)
    assert isinstance(found.finish.date, Undefined) == (left == 0)
    if left:
        assert found.finish.date <= later.finish.date
