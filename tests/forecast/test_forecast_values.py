"""Forecasts of the work left: values by hand, what is unknown, and intervals against simulated studies."""

import json
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from annot.base.records import Judgement
from annot.base.stats.values import Estimate, Finish, Interval, Undefined, to_json
from annot.measuring.forecast.hours import PairTime, forecast
from forecasts import NOW, RULES, judgement, steady
from hypothesis import given
from hypothesis import strategies as st

# Worked by hand


def test_hours_cost_and_date_of_a_steady_pace() -> None:
    """50 a day, a minute each: 100 left take 2 days and 100 minutes, at 30 an hour 50."""
    found = forecast(steady("a1", per_day=50, days=6), {"a1": 100}, now=NOW, rules=RULES)
    assert found.hours_left.value == pytest.approx(100 / 60)
    assert found.hours_spent == pytest.approx(5.0)
    assert found.cost_spent == pytest.approx(150.0)
    assert found.cost_left.value == pytest.approx(50.0)
    assert found.finish == Finish("2031-03-16", ("2031-03-16", "2031-03-16"), 0.95)
    (one,) = found.assessors
    assert (one.judged, one.remaining, one.pairs_per_day) == (300, 100, 50.0)
    assert one.time == PairTime(n=300, median=60.0, mean=pytest.approx(60.0))
    # Nothing has ever varied, so nothing is expected to.
    assert found.hours_left.interval == Interval(pytest.approx(100 / 60), pytest.approx(100 / 60), 0.95, "prediction")


def test_the_last_assessor_decides_the_date_and_the_hours_add_up() -> None:
    given = [*steady("a1", per_day=60, days=5), *steady("a2", per_day=20, days=5, seconds=90.0)]
    found = forecast(given, {"a1": 60, "a2": 100}, now=NOW, rules=RULES)
    assert [one.finish.date for one in found.assessors] == ["2031-03-15", "2031-03-19"]
    assert found.finish.date == "2031-03-19"
    assert found.hours_left.value == pytest.approx((60 * 60 + 100 * 90) / 3600)


def test_days_without_work_slow_the_pace_and_old_ones_fall_out_of_the_window() -> None:
    """40 judgements on one day 7.5 days ago, none since: 8 days with 5 a day on average."""
    given = [judgement(at, days_ago=7.5) for at in range(40)]
    found = forecast(given, {"a1": 10}, now=NOW, rules=RULES)
    assert found.assessors[0].pairs_per_day == 5.0
    assert found.finish.date == "2031-03-16"
    short = forecast(given, {"a1": 10}, now=NOW, rules=replace(RULES, window_days=7))
    assert short.finish.date == Undefined("a1 has judged nothing in the last 7 days")
    assert short.hours_left.value == found.hours_left.value == pytest.approx(10 / 60)


def test_the_clock_is_an_argument_and_dates_are_those_of_its_time_zone() -> None:
    """At 18:00 UTC it is the next day in Tokyo; everything else is the same moment."""
    given = steady("a1", per_day=50, days=6)
    here = forecast(given, {"a1": 100}, now=NOW, rules=RULES)
    there = forecast(given, {"a1": 100}, now=NOW.astimezone(timezone(timedelta(hours=9))), rules=RULES)
    assert (here.hours_left, here.remaining) == (there.hours_left, there.remaining)
    assert isinstance(here.finish.date, str)
    assert there.finish.date == (date.fromisoformat(here.finish.date) + timedelta(days=1)).isoformat()


def test_a_judgement_whose_servers_clock_is_ahead_belongs_to_today() -> None:
    ahead = [*steady("a1", per_day=50, days=6), judgement(999, days_ago=-0.01)]
    assert forecast(ahead, {"a1": 100}, now=NOW, rules=RULES).assessors[0].pairs_per_day == pytest.approx(301 / 6)


def test_flagged_judgements_do_not_count_and_of_revisions_the_latest_does() -> None:
    given = steady("a1", per_day=10, days=4)
    flagged = [replace(one, doc_id=f"x{one.doc_id}", flags=("foreign",), lead_time=999.0) for one in given]
    older = [replace(one, revision=1, lead_time=999.0) for one in given]
    newer = [replace(one, revision=2) for one in given]
    expected = forecast(given, {"a1": 5}, now=NOW, rules=RULES)
    assert forecast([*newer, *flagged, *older], {"a1": 5}, now=NOW, rules=RULES) == expected


def test_the_answer_to_a_hidden_repeat_is_work_too() -> None:
    """Ten pairs of a minute, each asked twice: twenty minutes so far."""
    once = [judgement(at) for at in range(10)]
    again = [replace(one, occasion=2) for one in once]
    found = forecast([*once, *again], {"a1": 5}, now=NOW, rules=RULES)
    assert (found.judged, found.hours_spent) == (20, pytest.approx(20 / 60))


# Robust times


def test_idling_does_not_carry_the_mean_away() -> None:
    """4% of the times are half an hour of lunch: the plain mean is more than doubled, ours moves by 3% at most."""
    rng = np.random.default_rng(1)
    clean = rng.lognormal(np.log(45), 0.5, 2000)
    idle = np.where(rng.random(2000) < 0.04, 1800.0, clean)
    assert idle.mean() > 2 * clean.mean()
    for times in (clean, idle):
        given_so_far = [judgement(at, seconds=float(seconds)) for at, seconds in enumerate(times)]
        (one,) = forecast(given_so_far, {"a1": 60}, now=NOW, rules=RULES).assessors
        assert isinstance(one.time, PairTime)
        assert one.time.mean == pytest.approx(clean.mean(), rel=0.03)
        assert one.hours_left.value == pytest.approx(one.time.mean / 60)


# What cannot be known, in words


def test_before_anyone_has_judged_nothing_is_known_and_it_is_said() -> None:
    found = forecast([], {"a1": 10}, now=NOW, rules=RULES)
    assert found.hours_left == Estimate(
        Undefined("no judgement has a time yet"), Undefined("no judgement has a time yet")
    )
    assert found.finish.date == Undefined("a1 has not begun")
    assert found.cost_left.value == Undefined("no judgement has a time yet")
    json.dumps(to_json(found), allow_nan=False)
    assert to_json(found)["hours_left"]["value"] == {"undefined": "no judgement has a time yet"}


def test_one_who_has_not_begun_is_taken_to_be_as_fast_as_the_others_and_holds_up_the_date() -> None:
    """The others take 40 and 90 seconds: 60 on (geometric) average."""
    given = [*steady("a1", per_day=20, days=5, seconds=40.0), *steady("a2", per_day=20, days=5, seconds=90.0)]
    found = forecast(given, {"a1": 0, "a2": 0, "a3": 60}, now=NOW, rules=RULES)
    assert found.hours_left.value == pytest.approx(1.0)
    # How people differ from each other is all that varies here; the interval knows it.
    assert isinstance(found.hours_left.interval, Interval)
    assert found.hours_left.interval.low < 40 / 60 < 90 / 60 < found.hours_left.interval.high
    assert found.finish.date == Undefined("a3 has not begun")
    assert found.notes[0] == "a3: no times yet; assumed to be as fast as the others on average"


def test_two_days_give_a_date_without_an_interval_and_a_few_queries_an_interval_from_judgements() -> None:
    given = [judgement(at, seconds=50.0 + at, days_ago=1.5 if at < 10 else 0.5) for at in range(20)]
    found = forecast(given, {"a1": 20}, now=NOW, rules=RULES)
    assert found.finish == Finish(
        "2031-03-16", Undefined("a1 began 2 days ago, which is too short to see how days differ"), 0.95
    )
    assert found.unit == "judgements"
    assert isinstance(found.hours_left.interval, Interval)
    assert "the pace comes from less than a week, so it may not include a weekend" in found.notes
    two = forecast(given[:2], {"a1": 20}, now=NOW, rules=RULES)
    assert two.hours_left.interval == Undefined("only 2 judgements with a time")


def test_a_finished_study_has_no_hours_left_and_no_date() -> None:
    found = forecast(steady("a1", per_day=5, days=40)[100:], {"a1": 0}, now=NOW, rules=replace(RULES, window_days=7))
    assert found.hours_left == Estimate(0.0, Interval(0.0, 0.0, 0.95, "prediction"))
    assert found.cost_left == Estimate(0.0, Interval(0.0, 0.0, 0.95, "prediction"))
    assert found.finish.date == Undefined("everything is judged")


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
    """95% intervals in 100 planted studies of 3 x 6 queries: 90% or more cover, and they are no wider than half."""
    rng = np.random.default_rng(3)
    covered, widths = 0, []
    for seed in range(100):
        given, future = planted(rng, queries=6, docs=15, days=6)
        remaining = {f"a{person}": len(row) for person, row in enumerate(future)}
        found = forecast(given, remaining, now=NOW, rules=replace(RULES, seed=seed, draws=400))
        assert found.unit == "queries"
        interval, value = found.hours_left.interval, found.hours_left.value
        assert isinstance(interval, Interval)
        assert isinstance(value, float)
        covered += interval.low <= future.sum() / 3600 <= interval.high
        widths.append((interval.high - interval.low) / value)
    assert covered >= 90
    assert np.mean(widths) < 0.5


def test_the_interval_of_the_date_covers_what_then_happens() -> None:
    """Each day an assessor works or not and, if so, judges a varying number: 100 studies, 90% or more cover."""
    rng = np.random.default_rng(4)
    covered, widths = 0, []
    for seed in range(100):
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
    assert covered >= 90
    assert np.mean(widths) < 40


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
