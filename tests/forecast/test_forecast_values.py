"""Forecasts of the work left against values worked by hand: hours, cost, date, idle times, and what is unknown."""

import json
from dataclasses import replace
from datetime import date, timedelta, timezone

import numpy as np
import pytest
from annot.base.stats.inference import winsorised
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


@given(st.lists(st.floats(0.5, 1e5), min_size=1, max_size=30), st.floats(0.5, 4), st.floats(0.1, 100))
def test_winsorising_keeps_order_and_middle_only_pulls_in_and_follows_the_unit(
    seconds: list[float], fence: float, factor: float
) -> None:
    times = np.array(seconds)
    found = winsorised(times, fence=fence)
    order = np.argsort(times, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert np.ptp(found) <= np.ptp(times)
    if len(times) % 2:
        assert np.median(found) == pytest.approx(np.median(times))
    assert winsorised(times * factor, fence=fence) == pytest.approx(found * factor)


def test_times_beyond_the_fences_are_counted() -> None:
    times = [*[40.0, 50.0, 60.0] * 20, 4000.0, 1.0, 1.0]
    given = [judgement(at, seconds=seconds) for at, seconds in enumerate(times)]
    given += [judgement(900, seconds=None), judgement(901, seconds=0.0)]
    (one,) = forecast(given, {"a1": 5}, now=NOW, rules=RULES).assessors
    assert isinstance(one.time, PairTime)
    assert one.time.n == 63
    assert one.time.median == 50.0


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


def test_without_a_rate_there_is_no_cost_and_a_century_is_no_date() -> None:
    given = [judgement(0, days_ago=20.5)]
    found = forecast(given, {"a1": 10**6}, now=NOW, rules=replace(RULES, hourly_rate=None))
    assert found.cost_left == Estimate(Undefined("no hourly rate is set"), Undefined("no hourly rate is set"))
    assert found.finish.date == Undefined("at this pace it would take more than a century")
