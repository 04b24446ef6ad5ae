"""Change while judging: planted, and on a handful of queries by hand."""

import math
from typing import Any

import numpy as np
import pytest
from annot.base.records import Assignment, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.diagnosis.findings import Drift, drifts
from annot.measuring.diagnosis.panel import ALPHA, Panel, panel_of
from diagnosed import panel
from scipy import stats


def of(*grades: list[int], per_query: int, seconds: list[float] | None = None, **more: Any) -> dict[Any, Drift]:
    """By assessor and measure; so many pairs of each query, one query after the other."""
    n = len(grades[0])
    queries = [f"q{at // per_query:02}" for at in range(n)]
    made = panel(*grades, queries=queries, seconds=seconds, **more)
    return {(one.assessor, one.measure): one for one in drifts(made, fence=3.0)}


FIRST = [1] * 20
SECOND = [1] * 10 + [1, 1, 1, 1, 0] + [1, 1, 1, 0, 0]
SECONDS = [10.0] * 5 + [20.0] * 5 + [40.0] * 5 + [10.0] * 5


def test_levels_are_those_of_the_first_and_the_second_half_of_the_queries() -> None:
    found = of(FIRST, SECOND, per_query=5, seconds=SECONDS)
    levels = {key: [(one.label, one.n, one.mean) for one in drift.levels] for key, drift in found.items()}
    expected = {
        # All five equal, all, four, three.
        ("a1", "agreement"): (1.0, 0.7),
        ("a2", "agreement"): (1.0, 0.7),
        # Above 0 for the strict.
        ("a1", "severity"): (0.0, -0.3),
        ("a2", "severity"): (0.0, 0.3),
        # Geometric means of seconds.
        ("a1", "speed"): (math.sqrt(10 * 20), math.sqrt(40 * 10)),
        ("a2", "speed"): (math.sqrt(10 * 20), math.sqrt(40 * 10)),
    }
    assert levels == {
        key: [("first half", 10, pytest.approx(one)), ("second half", 10, pytest.approx(other))]
        for key, (one, other) in expected.items()
    }
    assert [list(found[who, "speed"].against) for who in ("a1", "a2")] == [[], []]
    assert found["a1", "severity"].against == ("a2",)


def test_four_queries_show_no_change_however_clear() -> None:
    """One of three ways to halve four queries; of six tests each is corrected to certainty."""
    found = of(FIRST, SECOND, per_query=5, seconds=SECONDS)
    assert {one.p_value for one in found.values()} == {1.0}
    assert not any(one.changed for one in found.values())
    # Six tests: 2 * 6 / 924 is below 0.02, and 924 are the ways to halve twelve.
    why = Undefined("too few queries to tell a change from chance; 12 queries are needed")
    assert {one.detectable for one in found.values()} == {why}


@pytest.mark.parametrize(("n", "per_query", "tested"), [(20, 5, True), (19, 4, False), (21, 7, False), (25, 5, True)])
def test_a_change_needs_twenty_judgements_on_four_queries(n: int, per_query: int, tested: bool) -> None:
    second = [int(at < n // 2 or at % 3 > 0) for at in range(n)]
    one = of([1] * n, second, per_query=per_query)["a1", "agreement"]
    assert bool(one.levels) is tested
    assert (one.n, one.queries) == (n, -(-n // per_query))
    if tested:
        # Of five queries the middle one is in the second half.
        assert [level.n for level in one.levels] == [10, n - 10]
        assert isinstance(one.p_value, float)
    else:
        words = f"only {n} judgements on {one.queries} queries to measure a change; 20 on 4 are needed"
        assert one.p_value == one.detectable == Undefined(words)
        assert not one.changed


def test_people_who_always_agree_have_no_change_to_measure() -> None:
    one = of([1] * 20, [1] * 20, per_query=5)["a1", "severity"]
    assert one.p_value == one.detectable == Undefined("all compared queries have the same value")
    assert [level.mean for level in one.levels] == [0.0, 0.0]


N = 28
TRUTH = [2, 1] * (N // 2)
STEADY = [grade + (at % 5 == 0) for at, grade in enumerate(TRUTH)]
STRICTER = [grade - (at >= N // 2) for at, grade in enumerate(TRUTH)]
PACE = [20.0 + 3 * (at // 2 % 4) for at in range(N)]


def three() -> dict[Any, Drift]:
    return of(STRICTER, TRUTH, STEADY, per_query=2, seconds=PACE)


def test_one_who_becomes_stricter_is_found_and_the_others_are_compared_without_them() -> None:
    found = three()
    assert {key for key, one in found.items() if one.changed} == {("a1", "agreement"), ("a1", "severity")}
    one = found["a1", "severity"]
    assert one.against == ("a2", "a3")
    assert found["a2", "severity"].against == ("a3",)
    assert found["a3", "agreement"].against == ("a2",)
    assert one.levels[1].mean - one.levels[0].mean == pytest.approx(1.0, abs=0.05)
    # Corrected by Holm: the clearest of nine tests.
    means = [np.mean([(t + s) / 2 - mine for t, s, mine in zip(*of_query, strict=True)]) for of_query in by_query()]
    p_value = stats.f_oneway(means[:7], means[7:]).pvalue
    least = 2 / math.comb(14, 7)
    assert one.p_value == pytest.approx(max(p_value, least) * 9)


def by_query() -> list[tuple[list[int], list[int], list[int]]]:
    return [(TRUTH[at : at + 2], STEADY[at : at + 2], STRICTER[at : at + 2]) for at in range(0, N, 2)]


def test_what_could_have_been_found_of_speed_is_so_many_times_as_long() -> None:
    found = three()["a1", "speed"]
    logs = np.log(PACE[::2])
    within = math.sqrt((logs[:7].var(ddof=1) + logs[7:].var(ddof=1)) / 2)
    error = within * math.sqrt(2 / 7)
    size = (stats.t.ppf(1 - 0.02 / 9 / 2, 12) + stats.t.ppf(0.8, 12)) * error
    assert found.detectable == pytest.approx(math.exp(size))


def test_a_change_larger_than_the_scale_could_not_have_been_found() -> None:
    """Agreement of all or none in turn: no change of at most 1 stands out; in severity one of 3 grades may."""
    other = [grade + at // 2 % 2 for at, grade in enumerate(TRUTH)]
    found = of(TRUTH, other, per_query=2)
    assert found["a1", "agreement"].detectable == Undefined("even the largest possible change could not be detected")
    severity = found["a1", "severity"].detectable
    assert isinstance(severity, float)
    assert 1 < severity < 3


def panel_in_order(judged: list[Judgement], plan: list[Assignment], queries: int, *, by_clock: bool = False) -> Panel:
    """Nothing is settled yet."""
    facets = {f"q{q:02}": "method" for q in range(queries)}
    return panel_of(judged, [], facets, scale=(0, 1, 2, 3), open_pairs=(), assignments=plan, by_clock=by_clock)


def changing(seed: int, *, queries: int = 30, change: str | None = None) -> Panel:
    """Two assessors judge 30 queries of 15 pairs, each in an order of their own; a1 changes in the last 13 queries.

    Queries differ in relevance, and hard ones take longer: that is no drift.
    """
    rng = np.random.default_rng(seed)
    level = rng.normal(1.0, 0.6, queries)
    judged, plan = [], []
    truth = level[:, None] + rng.normal(0, 0.8, (queries, 15))
    for name in ("a1", "a2"):
        position = 0
        for turn, q in enumerate(rng.permutation(queries)):
            late = name == "a1" and turn >= queries - 13
            for d in rng.permutation(15):
                position += 1
                seen = truth[q, d] + 0.45 * rng.standard_normal() - (0.6 if late and change == "severity" else 0.0)
                seconds = 30 * np.exp(0.4 * rng.standard_normal() + 0.3 * level[q])
                seconds *= 0.5 if late and change == "speed" else 1.0
                query_id, doc_id = f"q{q:02}", f"d{d:02}"
                plan.append(Assignment(query_id, doc_id, name, position))
                day = 1 + turn * 5 // queries
                moment = f"2026-02-{day:02}T{position // 60 % 24:02}:{position % 60:02}:00Z"
                grade = int(np.clip(round(seen), 0, 3))
                if late and change == "agreement":
                    grade = int(rng.integers(4))
                judged.append(Judgement(query_id, doc_id, name, grade, judged_at=moment, lead_time=float(seconds)))
    return panel_in_order(judged, plan, queries, by_clock=True)


def by_measure(panel: Panel) -> dict[tuple[str, str], Drift]:
    return {(one.assessor, one.measure): one for one in drifts(panel, fence=3.0)}


@pytest.mark.parametrize("change", ["severity", "speed", "agreement"])
def test_planted_change_is_found_where_it_is(change: str) -> None:
    by = by_measure(changing(1, change=change))
    one = by["a1", change]
    assert one.changed
    assert one.p_value <= ALPHA
    before, after = one.levels
    assert (before.label, after.label, before.n, after.n, one.queries) == ("first half", "second half", 225, 225, 30)
    if change == "severity":
        assert 0.3 < after.mean - before.mean < 0.9
        assert not by["a1", "speed"].changed
    elif change == "speed":
        assert after.mean < 0.7 * before.mean
        assert not by["a2", "speed"].changed
    else:
        assert after.mean < before.mean
