"""Hours, costs and dates of a forecast by their formulas, on times worked by hand."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from annot.base.records import Judgement
from annot.base.stats.values import Estimate, Finish, Interval, Undefined
from annot.measuring.forecast.hours import (
    DECIDERS,
    NO_TIMES,
    NOT_KNOWN,
    SET,
    End,
    Rules,
    Speed,
    cost_of,
    days_left,
    drawn_hours,
    finish_of,
    forecast,
    hours_for,
    kept_times,
    pair_time,
    seconds_of,
    set_speed,
    settling_of,
    speed_of,
    times,
)

NOW = datetime(2031, 3, 14, 18, 0, tzinfo=UTC)
RULES = Rules(fence=3.0, window_days=28, hourly_rate=30.0, level=0.9, draws=4000, seed=5)
UNIT_MEANS = (20.0, 30.0, 40.0, 60.0)
"""Seconds a pair, of four queries."""


def judged(query_id: str, doc: int, seconds: float | None, who: str = "a1", *, ago: float | None = None) -> Judgement:
    when = None if ago is None else (NOW - timedelta(days=ago)).isoformat()
    return Judgement(query_id, f"d{doc}", who, 1, lead_time=seconds, judged_at=when)


def queries(means: tuple[float, ...], pairs: int, who: str = "a1") -> list[Judgement]:
    return [judged(f"{who}-q{at}", doc, mean, who) for at, mean in enumerate(means) for doc in range(pairs)]


def known(found: Speed | Undefined) -> Speed:
    assert isinstance(found, Speed)
    return found


def dated(*ago: float) -> list[Judgement]:
    return [judged("q", at, 10.0, ago=days) for at, days in enumerate(ago)]


def test_queries_of_equal_size_vary_as_the_logarithms_of_their_means() -> None:
    """Of U log-normal units the mean has the squared coefficient of variation (exp(s^2) - 1) / U."""
    found = known(speed_of({"a1": queries(UNIT_MEANS, 5)}, fence=9.0))
    cv = math.expm1(float(np.var(np.log(UNIT_MEANS), ddof=1)))
    assert (found.unit, found.freedom, found.n_times) == ("queries", 3, 20)
    assert found.means == {"a1": pytest.approx(37.5)}
    assert found.known["a1"] == pytest.approx(cv / 4)
    # Five pairs to come are a query to come.
    assert found.per_pair / 5 == pytest.approx(cv)


def test_a_query_of_more_pairs_says_more() -> None:
    """Weights are pairs: squares of the logarithms, each times its pairs, less their weighted mean."""
    given = [judged(f"q{n}", doc, seconds) for n, seconds in ((2, 20.0), (3, 40.0), (4, 80.0)) for doc in range(n)]
    other = queries((30.0, 30.0), 3, "a2")
    found = known(speed_of({"a1": given, "a2": other}, fence=9.0))
    n, logs = np.array([2, 3, 4]), np.log([20.0, 40.0, 80.0])
    middle = (n * logs).sum() / 9
    squares = ((n * (logs - middle)) ** 2).sum()
    usual = 15 / 5
    variance = usual**2 * math.expm1(squares / 3 / usual**2)
    assert found.known == {"a1": pytest.approx(variance * 3 / 9**2), "a2": pytest.approx(variance * 2 / 6**2)}
    assert found.per_pair == pytest.approx(variance / usual)
    assert found.means == {"a1": pytest.approx((40 + 120 + 320) / 9), "a2": pytest.approx(30)}


def test_one_without_times_is_as_fast_as_the_others_and_as_uncertain_as_they_differ() -> None:
    found = known(speed_of({"a1": queries(UNIT_MEANS, 5, "a1"), "a2": queries((80.0, 90.0), 5, "a2")}, fence=9.0))
    assert found.mean_of("a1") == pytest.approx(37.5)
    assert found.mean_of("new") == pytest.approx(math.sqrt(37.5 * 85))
    spread = np.var(np.log([37.5, 85]), ddof=1) * (1 + 1 / 2)
    assert found.variance_of("new") == pytest.approx(spread + sum(found.known.values()) / 2)
    assert found.variance_of("a2") == found.known["a2"]
    alone = known(speed_of({"a1": queries(UNIT_MEANS, 5)}, fence=9.0))
    assert alone.variance_of("new") == alone.known["a1"]


@pytest.mark.parametrize(("n_queries", "unit", "freedom"), [(3, "judgements", 5), (4, "queries", 3)])
def test_judgements_are_the_units_below_three_degrees_of_freedom(n_queries: int, unit: str, freedom: int) -> None:
    found = known(speed_of({"a1": queries(UNIT_MEANS[:n_queries], 2)}, fence=9.0))
    assert (found.unit, found.freedom) == (unit, freedom)


def test_several_queries_of_a_paper_are_one_unit() -> None:
    given = queries((20.0, 30.0, 40.0, 60.0, 20.0, 30.0, 40.0, 60.0), 2)
    papers = {f"a1-q{at}": f"p{at % 4}" for at in range(8)}
    found = known(speed_of({"a1": given}, fence=9.0, topics=papers))
    assert (found.unit, found.freedom) == ("query papers", 3)
    assert found.known["a1"] == pytest.approx(math.expm1(float(np.var(np.log(UNIT_MEANS), ddof=1))) / 4)
    own = known(speed_of({"a1": given}, fence=9.0, topics={name: name for name in papers}))
    assert (own.unit, own.freedom) == ("queries", 7)


def test_one_judgement_has_a_speed_without_a_variance() -> None:
    found = known(speed_of({"a1": [judged("q", 1, 50.0)], "a2": []}, fence=3.0))
    assert (found.means, found.known, found.per_pair, found.freedom) == ({"a1": 50.0}, {"a1": 0.0}, 0.0, 0)
    assert speed_of({"a1": [judged("q", 1, None)]}, fence=3.0) is NO_TIMES


@pytest.mark.parametrize(("lead_time", "seconds"), [(None, None), (0.0, None), (-1.0, None), (0.5, 0.5)])
def test_no_seconds_are_no_time(lead_time: float | None, seconds: float | None) -> None:
    assert seconds_of(judged("q", 1, lead_time)) == seconds


def test_times_beyond_the_fences_are_left_out_and_those_at_them_are_kept() -> None:
    same = [judged("q", at, 30.0) for at in range(5)]
    assert kept_times({"a1": same}, fence=1.0) == {"a1": [("q", 30.0)] * 5}
    idle = [*(judged("q", at, 30.0 + at) for at in range(9)), judged("q", 9, 5000.0), judged("q", 10, 0.01)]
    assert kept_times({"a2": [], "a1": idle}, fence=3.0) == {"a1": [("q", 30.0 + at) for at in range(9)]}
    found = pair_time(idle, 3.0)
    assert (found.n, found.median, found.mean) == (11, 34.0, pytest.approx(34.0))
    assert pair_time(same, 1.0).mean == pytest.approx(30.0)
    assert pair_time([judged("q", 1, 0.0)], 3.0) is NO_TIMES


def test_hours_are_pairs_times_seconds_with_the_spread_of_both() -> None:
    speed = known(speed_of({"a1": queries(UNIT_MEANS, 5)}, fence=9.0))
    found = hours_for(speed, {"a1": 96, "a2": 0}, RULES)
    assert found.value == pytest.approx(1.0)
    assert isinstance(found.interval, Interval)
    # Student's t with 3 degrees of freedom has its 95% quantile at 2.353 (tables), on the scale of logarithms.
    half = 2.353 * math.sqrt(speed.known["a1"] + speed.per_pair / 96)
    assert math.log(found.interval.high) == pytest.approx(half, rel=0.12)
    assert math.log(found.interval.low) == pytest.approx(-half, rel=0.12)
    assert found.interval.level == 0.9


def test_nothing_left_takes_no_hours_and_no_times_give_none() -> None:
    assert hours_for(NO_TIMES, {"a1": 0}, RULES) == Estimate(0.0, Interval(0.0, 0.0, 0.9, "prediction"))
    assert hours_for(NO_TIMES, {}, RULES).value == 0.0
    assert hours_for(NO_TIMES, {"a1": 1}, RULES) == Estimate(NO_TIMES, NO_TIMES)


@pytest.mark.parametrize(
    ("pairs", "words"), [(1, "only 1 judgement with a time"), (3, "only 3 judgements with a time"), (4, None)]
)
def test_a_speed_of_few_times_has_no_interval(pairs: int, words: str | None) -> None:
    speed = known(speed_of({"a1": queries((36.0,), pairs)}, fence=9.0))
    found = hours_for(speed, {"a1": 100}, RULES)
    assert found.value == pytest.approx(1.0)
    assert isinstance(found.interval, Interval) if words is None else found.interval == Undefined(words)


def test_a_deviation_learnt_from_few_may_be_off_as_chi_square_says() -> None:
    """The mean of freedom / chi-square is freedom / (freedom - 2)."""
    speed = Speed({"a1": 3600.0}, {"a1": 0.04}, per_pair=0.0, freedom=10, n_times=99, unit="queries")
    drawn = drawn_hours(speed, {"a1": np.ones(40_000)}, RULES, noun="judgement")
    assert isinstance(drawn, np.ndarray)
    assert np.log(drawn).var() == pytest.approx(0.04 * 10 / 8, rel=0.03)


def test_costs_are_hours_at_their_rate() -> None:
    hours = Estimate(2.0, Interval(1.0, 4.0, 0.9, "prediction"))
    assert cost_of(hours, RULES) == Estimate(60.0, Interval(30.0, 120.0, 0.9, "prediction"))
    assert times(Estimate(NO_TIMES, NO_TIMES), 30.0) == Estimate(NO_TIMES, NO_TIMES)
    no_rate = Rules(**{name: getattr(RULES, name) for name in RULES.__slots__} | {"hourly_rate": None})
    assert cost_of(hours, no_rate).value == Undefined("no hourly rate is set")


def test_disputes_cost_what_is_set_or_what_was_learnt() -> None:
    assert known(settling_of([], seconds=90.0, fence=3.0)).hours({DECIDERS: 80}) == pytest.approx(2.0)
    assert settling_of([judged("q", 1, None)], seconds=None, fence=3.0) is NOT_KNOWN
    learnt = known(settling_of(queries(UNIT_MEANS, 5, "j1"), seconds=None, fence=9.0))
    assert learnt.means == {DECIDERS: pytest.approx(37.5)}
    assert learnt.hours({DECIDERS: 96}) == pytest.approx(1.0)


def settled(rate: Speed | Undefined, n: int) -> Estimate:
    return hours_for(rate, {DECIDERS: n}, RULES, noun="settled dispute")


def test_hours_of_disputes_have_an_interval_where_their_times_were_measured() -> None:
    learnt = known(settling_of(queries(UNIT_MEANS, 5, "j1"), seconds=None, fence=9.0))
    none = settled(NOT_KNOWN, 0)
    assert none == Estimate(0.0, Interval(0.0, 0.0, 0.9, "prediction"))
    assert settled(set_speed(90.0, DECIDERS), 0) == none
    assert settled(set_speed(90.0, DECIDERS), 1) == Estimate(pytest.approx(1 / 40), SET)
    assert settled(set_speed(90.0, DECIDERS), 80) == Estimate(pytest.approx(2.0), SET)
    assert settled(NOT_KNOWN, 2) == Estimate(NOT_KNOWN, NOT_KNOWN)
    found = settled(learnt, 96)
    half = 2.353 * math.sqrt(learnt.known[DECIDERS] + learnt.per_pair / 96)
    assert isinstance(found.interval, Interval)
    assert math.log(found.interval.high) == pytest.approx(half, rel=0.12)
    few = known(settling_of(queries((36.0,), 3, "j1"), seconds=None, fence=9.0))
    assert settled(few, 100).interval == Undefined("only 3 settled disputes with a time")


def test_draws_of_disputes_follow_how_many_there_will_be() -> None:
    def drawn(rate: Speed, numbers: list[float]) -> Any:
        return drawn_hours(rate, {DECIDERS: np.array(numbers)}, RULES, noun="settled dispute")

    assert drawn(set_speed(90.0, DECIDERS), [0.0, 40.0]) == pytest.approx([0, 1])
    learnt = known(settling_of(queries(UNIT_MEANS, 5, "j1"), seconds=None, fence=9.0))
    draws = drawn(learnt, [0.0, 1.0, 96.0] * 9000).reshape(-1, 3)
    assert not draws[:, 0].any()
    spread = np.median(np.abs(np.log(draws[:, 1:] / (np.array([1, 96]) * 37.5 / 3600))), axis=0)
    of_one, of_many = (math.sqrt(learnt.known[DECIDERS] + learnt.per_pair / n) for n in (1, 96))
    assert spread[0] / spread[1] == pytest.approx(of_one / of_many, rel=0.05)


# Days


def test_the_pace_counts_whole_days_back_to_the_first_judgement() -> None:
    end = days_left(dated(0.1, 0.2, 0.9, 1.5, 3.0), 10, NOW, RULES, key="a1")
    # Four days of 3, 1, 0 and 1.
    assert (end.pace, end.days) == (pytest.approx(5 / 4), pytest.approx(8.0))
    assert not isinstance(end.draws, Undefined)
    deviation = float(np.std([3, 1, 0, 1], ddof=1)) / 1.25 * math.sqrt(1 / 4 + 1 / 8)
    # Quantiles of Student's t with 3 degrees of freedom: 0.765 at 75%, 2.353 at 95% (tables).
    drawn = np.quantile(np.log(end.draws / 8), [0.75, 0.95])
    assert drawn.tolist() == pytest.approx([0.765 * deviation, 2.353 * deviation], rel=0.1)


def test_days_to_come_are_one_or_more_where_their_spread_is_taken() -> None:
    end = days_left(dated(0.1, 0.2, 0.9, 1.5, 3.0), 1, NOW, RULES, key="a1")
    deviation = float(np.std([3, 1, 0, 1], ddof=1)) / 1.25 * math.sqrt(1 / 4 + 1)
    assert float(np.quantile(np.log(end.draws / 0.8), 0.75)) == pytest.approx(0.765 * deviation, rel=0.1)


def test_the_pace_is_that_of_the_window() -> None:
    rules = Rules(3.0, 5, None, 0.9, 100, 1)
    given = dated(0.5, 1.5, 4.9, 5.0, 20.0)
    assert days_left(given, 6, NOW, rules, key="a1").pace == pytest.approx(3 / 5)
    idle = Undefined("a1 has judged nothing in the last 5 days")
    assert days_left(dated(5.0), 6, NOW, rules, key="a1") == End(0.0, idle, idle)
    done = days_left(dated(5.0), 0, NOW, rules, key="a1")
    assert (done.pace, done.days) == (0.0, 0.0)


@pytest.mark.parametrize(("oldest", "days"), [(0.5, "1 day"), (1.5, "2 days")])
def test_two_days_are_too_few_to_see_how_days_differ(oldest: float, days: str) -> None:
    end = days_left(dated(oldest), 4, NOW, RULES, key="a1")
    assert end.draws == Undefined(f"a1 began {days} ago, which is too short to see how days differ")
    assert not isinstance(days_left(dated(2.5), 4, NOW, RULES, key="a1").draws, Undefined)


def test_without_a_date_there_is_no_pace() -> None:
    assert days_left([], 3, NOW, RULES, key="a1").days == Undefined("a1 has not begun")
    assert days_left([], 0, NOW, RULES, key="a1").days == 0.0
    assert days_left([judged("q", 1, 5.0)], 3, NOW, RULES, key="a1").pace == Undefined("a1: no judgement has a date")


def end(days: float, draws: list[float] | None = None, why: str = "") -> End:
    return End(1.0, Undefined(why) if why else days, np.array(draws) if draws else Undefined("too short"))


def test_the_last_one_ends_the_study() -> None:
    assert finish_of([end(0.0)], NOW, RULES).date == Undefined("everything is judged")
    assert finish_of([], NOW, RULES).date == Undefined("everything is judged")
    assert finish_of([end(3.0), end(2.0)], NOW, RULES) == Finish("2031-03-17", Undefined("too short; too short"), 0.9)
    assert finish_of([end(0.0), end(1.0)], NOW, RULES).date == "2031-03-15"
    both = finish_of([end(1, why="a1 rests"), end(1, why="a2 rests"), end(2.0)], NOW, RULES)
    assert both.date == Undefined("a1 rests; a2 rests")


def test_of_several_people_the_middle_is_that_of_the_last() -> None:
    one = finish_of([end(2.0, [1.0, 5.0, 5.0])], NOW, RULES)
    assert (one.date, one.interval) == ("2031-03-16", ("2031-03-16", "2031-03-19"))
    # Of each draw the later one: 4, 5 and 6 days.
    two = finish_of([end(2.0, [1.0, 5.0, 2.0]), end(3.0, [4.0, 1.0, 6.0])], NOW, RULES)
    assert two.date == "2031-03-19"


@pytest.mark.parametrize(("days", "known"), [(36_500.0, True), (36_500.1, False)])
def test_more_than_a_century_is_no_date(days: float, known: bool) -> None:
    found = finish_of([end(days, [99_999.0, 99_999.0])], NOW, RULES)
    assert (found.date == "2131-02-18") == known
    assert known or found.date == Undefined("at this pace it would take more than a century")
    if known:
        assert found.interval[1] == "2131-02-18"


def test_people_who_are_done_have_no_date_and_do_not_hold_up_the_others() -> None:
    rules = Rules(3.0, 5, 30.0, 0.9, 100, 1)
    given = [
        *(judged("q", at, 36.0, "a1", ago=20.0) for at in range(4)),
        *(judged("q", at, 36.0, "a2", ago=at) for at in range(4)),
    ]
    found = forecast(given, {"a1": 0, "a2": 8, "a3": 0}, now=NOW, rules=rules)
    first, second, third = found.assessors
    assert first.finish.date == third.finish.date == Undefined("everything is judged")
    assert second.finish.date == found.finish.date == "2031-03-22"
    assert (found.judged, found.remaining, found.hours_spent, found.cost_spent) == (8, 8, 0.08, 2.4)
    assert found.unit == "judgements"
    assert [one.judged for one in found.assessors] == [4, 4, 0]


@pytest.mark.parametrize(
    ("oldest", "window", "short"), [(5.9, 28, True), (6.0, 28, False), (9.0, 6, True), (9.0, 7, False)]
)
def test_a_pace_of_less_than_a_week_comes_with_a_note(oldest: float, window: int, short: bool) -> None:
    rules = Rules(3.0, window, None, 0.9, 100, 1)
    found = forecast(
        [judged("q", 1, 9.0, ago=oldest), judged("q", 2, 9.0, "a2", ago=0.5)], {"a1": 1}, now=NOW, rules=rules
    )
    assert any("less than a week" in note for note in found.notes) == short
