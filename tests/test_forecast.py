"""Forecasts against planted studies whose remainder is known, and against what can be worked by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Judgement
from annot.base.stats.clustered import clusters_of, jackknife_interval
from annot.base.stats.medians import winsorised
from annot.base.stats.values import Estimate, Finish, Interval, Undefined, Value, to_json
from annot.measuring.agreement.contingency import OF_COUNTS, Counts
from annot.measuring.forecast.design import ONCE, Design, DesignForecast, Together, pool_size, simulate_design
from annot.measuring.forecast.hours import PairTime, Rules, speed_of
from annot.measuring.forecast.redrawing import papers_by_number, redrawn
from annot.measuring.forecast.remainder import forecast
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

NOW = datetime(2031, 3, 14, 18, 0, tzinfo=UTC)
RULES = Rules(fence=3.0, window_days=28, hourly_rate=30.0, level=0.95, draws=1000, seed=13)
GRADES = (0, 1, 2, 3)


def judgement(
    at: int, assessor: str = "a1", *, query_id: str = "q1", seconds: float | None = 60.0, days_ago: float | None = 1.0
) -> Judgement:
    when = None if days_ago is None else (NOW - timedelta(days=days_ago)).isoformat()
    return Judgement(query_id, f"d{at:03}", assessor, 1, judged_at=when, lead_time=seconds)


def steady(assessor: str, *, per_day: int, days: int, seconds: float = 60.0) -> list[Judgement]:
    """So many judgements in each of the last days, each day a query."""
    return [
        judgement(day * per_day + at, assessor, query_id=f"q{day}", seconds=seconds, days_ago=day + 0.5)
        for day in range(days)
        for at in range(per_day)
    ]


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


# Intervals


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


# Designs


def alpha(tables: np.ndarray) -> Value:
    """Of tables of two assessors, shape (Q, K, K)."""
    value = float(OF_COUNTS["alpha_ordinal"](Counts.of_tables(tables.sum(axis=0).astype(float)), GRADES))
    return Undefined("one grade only") if np.isnan(value) else value


def alpha_interval(tables: np.ndarray) -> Interval | Undefined:
    value = alpha(tables)
    if isinstance(value, Undefined):
        return value
    left_out = OF_COUNTS["alpha_ordinal"](
        Counts.of_tables(tables.astype(float)).left_out(clusters_of(range(len(tables)), None)), GRADES
    )
    return jackknife_interval(value, left_out, level=0.95)


def drawn_tables(rng: np.random.Generator, *, queries: int, pairs: int) -> np.ndarray:
    """Two assessors who take the grade of a latent normal, with queries that differ in how relevant and how clear."""
    tables = np.zeros((queries, 4, 4), dtype=np.int64)
    for table, level, noise in zip(tables, rng.normal(0, 0.5, queries), rng.uniform(0.3, 1.0, queries), strict=True):
        true = rng.normal(level, 1, pairs)
        first, second = (np.digitize(true + rng.normal(0, noise, pairs), [0.3, 1.0, 1.8]) for _ in range(2))
        np.add.at(table, (first, second), 1)
    return tables


def pilot_judgements(seconds: Sequence[float] = (30.0, 60.0)) -> list[Judgement]:
    rng = np.random.default_rng(0)
    return [
        judgement(at, f"a{person}", query_id=f"q{query}", seconds=float(rng.lognormal(np.log(middle), 0.4)))
        for person, middle in enumerate(seconds)
        for query in range(5)
        for at in range(20)
    ]


def together(tables: np.ndarray) -> Together:
    """Of tables of two assessors, shape (Q, K, K)."""
    shape = tables.shape[1:]
    return Together(
        query_ids=tuple(f"q{at}" for at in range(len(tables))),
        tables=tables.reshape(len(tables), -1),
        disputed=~np.eye(shape[0], dtype=bool).ravel(),
        coefficient=lambda drawn: alpha(drawn.reshape(-1, *shape)),
        interval=lambda drawn, papers: alpha_interval(drawn.reshape(-1, *shape)),
    )


def dispute_times(seconds: Sequence[float]) -> list[Judgement]:
    return [judgement(at, "j1", query_id=f"q{at % 5}", seconds=one) for at, one in enumerate(seconds)]


def designed(design: Design, tables: np.ndarray, **changes: object) -> DesignForecast:
    settings: dict[str, object] = {
        "pilot": pilot_judgements(),
        "together": together(tables),
        "settled": [],
        "dispute_seconds": 40.0,
        "simulations": 40,
        "rules": RULES,
    }
    return simulate_design(design, **{**settings, **changes})  # type: ignore[arg-type]


def test_the_hours_of_a_design_are_pairs_times_assessors_times_seconds() -> None:
    """10 queries x 30 pairs x 2: 600 judgements of a minute, half by either; a quarter of 300 in dispute, 40 s each."""
    tables = np.array([[[3, 1], [0, 0]], [[0, 0], [1, 3]]] * 2)
    pilot = [
        replace(judgement(at, name, query_id=f"q{query}"), lead_time=seconds)
        for name, seconds in (("a1", 40.0), ("a2", 80.0))
        for query in range(4)
        for at in range(5)
    ]
    design = Design(queries=10, pool_size=30, per_pair=2, assessors=4, repeats=0.0)
    found = designed(design, tables, pilot=pilot)
    assert (found.pairs, found.judgements) == (300, 600)
    assert found.hours_judging.value == pytest.approx(10.0)
    assert found.hours_per_assessor == pytest.approx(2.5)
    assert found.disputed.value == pytest.approx(0.25)
    assert found.hours_adjudicating.value == pytest.approx(300 / 4 * 40 / 3600)
    assert found.hours.value == pytest.approx(10 + 300 / 4 * 40 / 3600)
    assert found.cost.value == pytest.approx(30 * (10 + 300 / 4 * 40 / 3600))
    again = designed(replace(design, repeats=0.05), tables, pilot=pilot)
    assert (again.pairs, again.judgements) == (300, 630)
    assert again.hours_judging.value == pytest.approx(10.5)


def test_a_pool_is_every_methods_quota_and_the_cited() -> None:
    """CSFCube's pools: seven methods, 12 or 33 each, 5 to 55 cited: about 100 and about 250."""
    assert pool_size(methods=7, per_method=12, cited=16) == 100
    assert pool_size(methods=7, per_method=33, cited=19) == 250


def test_the_width_that_is_foretold_is_the_width_that_comes() -> None:
    """From a pilot of 40 queries x 50 pairs, the width at 25 queries x 100 pairs, against 40 such studies."""
    rng = np.random.default_rng(9)
    found = designed(
        Design(queries=25, pool_size=100, per_pair=2, assessors=2, repeats=0.0),
        drawn_tables(rng, queries=40, pairs=50),
        simulations=40,
    )
    studies = [drawn_tables(rng, queries=25, pairs=100) for _ in range(40)]
    widths = [one.high - one.low for one in map(alpha_interval, studies) if isinstance(one, Interval)]
    assert found.width.value == pytest.approx(np.mean(widths), rel=0.25)
    assert found.coefficient.value == pytest.approx(np.mean([alpha(study) for study in studies]), abs=0.05)
    assert found.undefined == 0


def test_chance_in_the_pilots_tables_is_not_taken_for_difference_between_queries() -> None:
    """All queries are alike; a pilot of 8 pairs each makes them look unlike. Drawing again must not add that up."""
    rng = np.random.default_rng(10)
    chance = stats.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]]).rvs(200_000, random_state=1)
    p = np.zeros((4, 4))
    np.add.at(p, tuple(np.digitize(chance, [0.3, 1.0, 1.8]).T), 1 / len(chance))
    pilot = rng.multinomial(8, p.ravel() / p.sum(), size=60).reshape(60, 4, 4)
    found = designed(Design(queries=30, pool_size=200, per_pair=2, assessors=2, repeats=0.0), pilot, simulations=25)
    truly = [rng.multinomial(200, p.ravel() / p.sum(), size=30).reshape(30, 4, 4) for _ in range(25)]
    widths = [one.high - one.low for one in map(alpha_interval, truly) if isinstance(one, Interval)]
    assert found.width.value == pytest.approx(np.mean(widths), rel=0.5)
    assert isinstance(found.width.value, float)
    # Taken as they are, the pilot's tables would make the interval about five times too wide.
    assert found.width.value < 2 * np.mean(widths)


def test_four_times_the_queries_halve_the_width() -> None:
    tables = drawn_tables(np.random.default_rng(11), queries=30, pairs=60)
    few, many = (
        designed(Design(queries=n, pool_size=60, per_pair=2, assessors=2, repeats=0.0), tables, simulations=30)
        for n in (12, 48)
    )
    assert isinstance(few.width.value, float)
    assert few.width.value / 2 == pytest.approx(many.width.value, rel=0.25)
    assert few.width == designed(Design(12, 60, 2, 2, 0.0), tables, simulations=30).width


def test_what_a_design_cannot_tell_is_said() -> None:
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    once = designed(Design(5, 20, 1, 1, 0.0), tables, together=replace(together(tables), disputed=np.zeros(16, bool)))
    assert once.width.value == once.coefficient.value == ONCE
    assert (once.disputed.value, once.hours_adjudicating.value) == (0.0, 0.0)
    none = Undefined("no pair of the pilot was judged by 3, the most are 2")
    thrice = designed(Design(5, 20, 3, 3, 0.0), tables, together=none)
    assert thrice.width.value == thrice.disputed.value == thrice.hours_adjudicating.value == none
    assert thrice.judgements == 300
    assert (thrice.hours, thrice.priced) == (thrice.hours_judging, "judging only, adjudication not included")
    one_grade = np.zeros((4, 4, 4), dtype=np.int64)
    one_grade[:, 0, 0] = 9
    unanimous = designed(Design(5, 20, 2, 2, 0.0), one_grade, dispute_seconds=None)
    assert unanimous.width.value == Undefined("the coefficient has no value in any of 40 simulated studies")
    assert (unanimous.undefined, unanimous.simulated) == (40, 40)
    assert (unanimous.hours_adjudicating.value, unanimous.priced) == (0.0, "judging and adjudication")
    unknown = designed(Design(5, 20, 2, 2, 0.0), tables, pilot=[], dispute_seconds=None)
    assert unknown.hours.value == unknown.hours_judging.value == Undefined("no judgement has a time yet")
    for found in (once, thrice, unanimous, unknown):
        json.dumps(to_json(found), allow_nan=False)


def test_without_the_seconds_of_a_dispute_judging_alone_is_priced_and_that_is_said() -> None:
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    found = designed(Design(5, 20, 2, 2, 0.0), tables, dispute_seconds=None)
    assert isinstance(found.hours_adjudicating.value, Undefined)
    assert found.hours == found.hours_judging
    assert found.cost.value == pytest.approx(30 * found.hours_judging.value)
    assert found.priced == "judging only, adjudication not included"


def test_the_hours_in_all_carry_how_many_disputes_there_will_be_and_how_long_they_take() -> None:
    """Each tenth of the pairs more or less in dispute is 50 hours at an hour a dispute, and moves the sum so."""
    design = Design(10, 50, 2, 2, 0.0)
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    given = designed(design, tables, dispute_seconds=3600.0)
    share, hours = given.disputed.interval, given.hours.interval
    assert isinstance(share, Interval)
    assert isinstance(hours, Interval)
    assert hours.high - hours.low == pytest.approx(500 * (share.high - share.low), rel=0.1)
    assert given.hours_adjudicating.value == pytest.approx(500 * given.disputed.value)
    # Learnt from times that differ it is less sure than the same time given.
    rng = np.random.default_rng(2)
    settled = dispute_times(rng.lognormal(np.log(3600), 0.8, 20))
    learnt = designed(design, tables, dispute_seconds=None, settled=settled).hours_adjudicating
    assert isinstance(learnt.value, float)
    exact = designed(design, tables, dispute_seconds=3600 * learnt.value / given.hours_adjudicating.value)
    assert exact.hours_adjudicating.value == pytest.approx(learnt.value)
    widths = [one.interval.high - one.interval.low for one in (learnt, exact.hours_adjudicating)]
    assert widths[0] > 1.1 * widths[1]
    two = designed(design, tables, dispute_seconds=None, settled=dispute_times([60.0, 90.0]))
    assert two.hours_adjudicating.interval == two.hours.interval
    assert two.hours.interval == Undefined("only 2 settled disputes with a time")
    assert two.hours_adjudicating.value == pytest.approx(500 * two.disputed.value * 75 / 3600)


def test_a_pilot_of_two_queries_gets_figures_and_no_interval() -> None:
    tables = drawn_tables(np.random.default_rng(13), queries=4, pairs=40)
    design = Design(20, 40, 2, 2, 0.0)
    pilot = [one for one in pilot_judgements() if one.query_id in ("q0", "q1")]
    two = designed(design, tables[:2], pilot=pilot)
    why = Undefined("a pilot of 2 queries does not show how queries differ; 4 are needed")
    timed = Undefined("a pilot of 2 queries with times does not show how queries differ; 4 are needed")
    assert two.coefficient.interval == two.width.interval == two.disputed.interval == why
    assert two.hours_judging.interval == two.hours.interval == two.cost.interval == timed
    assert isinstance(two.width.value, float)
    assert isinstance(two.hours.value, float)
    one = designed(design, tables[:1])
    assert one.width.value == Undefined("a pilot of 1 query does not show how queries differ; 4 are needed")
    assert isinstance(one.coefficient.value, float)
    four = designed(design, tables)
    assert isinstance(four.coefficient.interval, Interval)
    assert isinstance(four.hours.interval, Interval)
    assert (four.queries_judged, four.queries_timed, four.level) == (4, 5, 0.95)


def test_more_certainty_than_the_simulated_studies_can_give_is_refused() -> None:
    """Of S draws the outermost leave 2 / (S + 1) outside: 95% needs 39."""
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    few = designed(Design(5, 20, 2, 2, 0.0), tables, simulations=38).width
    assert few.interval == Undefined("38 simulated studies are too few for a 95% interval; 39 are needed")
    assert isinstance(designed(Design(5, 20, 2, 2, 0.0), tables, simulations=39).width.interval, Interval)


def test_what_a_small_pilot_foretells_holds_what_then_comes() -> None:
    """Pilots of 5 queries x 40 pairs, each with the study of 15 x 60 that follows: 95% intervals hold 33 of 40 or more.

    Where each holds with probability 0.95, fewer than 33 come up 7 times in 10,000 (binomial distribution). A pilot
    that is taken at its word gives intervals that hold 24 or 25.
    """
    rng = np.random.default_rng(21)
    held = {"disputed": 0, "coefficient": 0, "hours": 0}
    for seed in range(40):
        difficulty = rng.normal(0, 0.3, 20)
        times = rng.lognormal(np.log(40) + difficulty[:, None, None], 0.5, (20, 2, 60))
        pilot = [
            judgement(at, f"a{person}", query_id=f"q{query}", seconds=float(times[query, person, at]))
            for query in range(5)
            for person in range(2)
            for at in range(40)
        ]
        study = drawn_tables(rng, queries=15, pairs=60)
        found = designed(
            Design(15, 60, 2, 2, 0.0),
            drawn_tables(rng, queries=5, pairs=40),
            pilot=pilot,
            rules=replace(RULES, seed=seed, draws=200),
        )
        truth = {
            "disputed": 1 - np.trace(study.sum(axis=0)) / study.sum(),
            "coefficient": alpha(study),
            "hours": times[5:].sum() / 3600,
        }
        estimates = {"disputed": found.disputed, "coefficient": found.coefficient, "hours": found.hours_judging}
        for name, one in estimates.items():
            assert isinstance(one.interval, Interval)
            held[name] += one.interval.low <= truth[name] <= one.interval.high
    assert min(held.values()) >= 33, held


def test_others_than_the_pilots_people_make_hours_less_sure() -> None:
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    widths = []
    for assessors in (2, 6):
        interval = designed(Design(5, 20, 2, assessors, 0.0), tables).hours_judging.interval
        assert isinstance(interval, Interval)
        widths.append(interval.high - interval.low)
    assert widths[1] > 1.2 * widths[0]


@given(st.integers(3, 12), st.integers(0, 2**32))
def test_a_redrawn_pilot_is_a_distribution(n: int, seed: int) -> None:
    again = redrawn(np.arange(n), np.random.default_rng(seed))
    assert again.mean.sum() == pytest.approx(1)
    assert again.papers.sum() == pytest.approx(1)
    assert (again.papers >= 0).all()
    assert np.isfinite(again.scale)


def test_facets_of_a_paper_are_redrawn_together_and_their_times_are_one_unit() -> None:
    """Five papers of three facets, the last of one: as if each paper were one query, and more uncertain than 13."""
    papers = {f"q{at:02}": f"p{at // 3}" for at in range(13)}
    rng = np.random.default_rng(6)
    pilot = [
        judgement(at, "a1", query_id=query_id, seconds=float(np.exp(0.5 * int(paper[1]) + rng.normal(3, 0.3))))
        for query_id, paper in papers.items()
        for at in range(8)
    ]
    speed = speed_of({"a1": pilot}, fence=3.0, papers=papers)
    merged = speed_of({"a1": [replace(one, query_id=papers[one.query_id]) for one in pilot]}, fence=3.0)
    alone = speed_of({"a1": pilot}, fence=3.0)
    assert (speed.unit, speed.freedom, alone.unit, alone.freedom) == ("query papers", 4, "queries", 12)
    assert (speed.means, speed.known) == (merged.means, merged.known)
    assert speed.known["a1"] > 1.5 * alone.known["a1"]
    paper = papers_by_number(tuple(papers), papers)
    for seed in range(20):
        again = redrawn(paper, np.random.default_rng(seed))
        assert (len(again.papers), again.mean.sum()) == (5, pytest.approx(1))
        assert len({round(weight, 12) for weight in again.mean[:3]}) == 1
        like, of = again.picked(9, np.random.default_rng(seed))
        for one in np.unique(of)[:-1]:
            whole = np.flatnonzero(paper == paper[like[of == one][0]])
            assert like[of == one].tolist() == whole.tolist()


def test_a_pilot_of_few_papers_has_no_interval_however_many_facets_it_has() -> None:
    tables = drawn_tables(np.random.default_rng(12), queries=5, pairs=30)
    papers = {f"q{at}": f"p{at // 2}" for at in range(5)}
    few = designed(Design(5, 20, 2, 2, 0.0), tables, papers=papers)
    assert few.hours_judging.interval == Undefined(
        "a pilot of 3 query papers with times does not show how query papers differ; 4 are needed"
    )
    assert few.disputed.interval == Undefined(
        "a pilot of 3 query papers does not show how query papers differ; 4 are needed"
    )
    assert designed(Design(5, 20, 2, 2, 0.0), tables).hours_judging.value == few.hours_judging.value


def test_the_mean_of_redrawn_pilots_varies_as_students_t_says() -> None:
    """With 10 queries the mean of all has the variance of t with 9 degrees of freedom, 9 / 7 of s^2 / 10."""
    values = np.random.default_rng(4).normal(0, 1, 10)
    rng = np.random.default_rng(5)
    means = [float(redrawn(np.arange(10), rng).mean @ values) for _ in range(20_000)]
    assert np.mean(means) == pytest.approx(values.mean(), abs=0.01)
    assert np.mean(np.abs(means - values.mean()) < stats.t(9).ppf(0.975) * values.std(ddof=1) / np.sqrt(10)) == (
        pytest.approx(0.95, abs=0.006)
    )
    assert np.var(means) == pytest.approx(stats.t(9).var() * values.var(ddof=1) / 10, rel=0.05)


def test_a_design_with_fewer_people_than_a_pair_needs_is_refused() -> None:
    with pytest.raises(InputError, match="1 assessor in the design, and 2 are needed for each pair"):
        designed(Design(5, 20, 2, 1, 0.0), np.ones((3, 4, 4), dtype=np.int64))
