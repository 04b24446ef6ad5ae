"""Times robust to idling, judgements too fast, runs of one grade."""

import itertools

import numpy as np
import pytest
from annot.base.records import Assignment, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.diagnosis.findings import paces, streaks
from annot.measuring.diagnosis.panel import Panel, panel_of
from annot.measuring.forecast.hours import pair_time

RULE = {"rushed": {}, "fence": 3.0, "level": 0.95}


def panel(judged: list[Judgement], plan: list[Assignment], *, by_clock: bool) -> Panel:
    facets = {one.query_id: "method" for one in judged}
    return panel_of(judged, [], facets, scale=(0, 1, 2, 3), open_pairs=(), assignments=plan, by_clock=by_clock)


def people(*sequences: tuple[str, list[int], list[str], list[float] | None]) -> Panel:
    """A panel of people, each with a name, and grades, queries and seconds in the order of judging."""
    judged, plan = [], []
    for name, grades, queries, seconds in sequences:
        for i, (grade, query) in enumerate(zip(grades, queries, strict=True)):
            took = None if seconds is None else seconds[i]
            judged.append(Judgement(query, f"d{i:03}", name, int(grade), lead_time=took))
            plan.append(Assignment(query, f"d{i:03}", name, i + 1))
    return panel(judged, plan, by_clock=False)


def pace(seconds: list[float]):
    return paces(people(("a1", [0] * len(seconds), ["q1"] * len(seconds), [float(one) for one in seconds])), **RULE)[0]


@pytest.mark.parametrize("idle", [1, 12])
def test_idle_times_are_those_that_were_planted(idle: int) -> None:
    """Of 400 log-normal times 0.5 lie beyond the fence by themselves; the planted ones are pauses of 1 to 5 hours."""
    rng = np.random.default_rng(2)
    seconds = rng.lognormal(3.4, 0.4, 400)
    plain = pace(list(seconds))
    assert plain.n_slow <= 2
    seconds[:idle] = 3600.0 * rng.integers(1, 6, idle)
    found = pace(list(seconds))
    assert idle <= found.n_slow <= idle + 2
    assert found.median == pytest.approx(plain.median, rel=0.1)
    # Each pulled in to the fence, 3 widths of 0.4 above the median: 3.3 medians in place of 100.
    expected = plain.winsorised * (1 + idle / 400 * 2.2)
    assert found.winsorised == pytest.approx(expected, rel=0.06)


def test_pace_and_forecast_have_one_definition_of_idling() -> None:
    rng = np.random.default_rng(3)
    seconds = [*rng.lognormal(4.2, 0.4, 33), 7200.0, 3600.0, 10800.0]
    judged = [Judgement("q1", f"d{i:02}", "a1", 1, lead_time=float(one)) for i, one in enumerate(seconds)]
    theirs = pair_time(judged, 3.0)
    (ours,) = paces(panel(judged, [], by_clock=True), **RULE)
    low, high = ours.fences
    assert theirs.mean == pytest.approx(np.mean([one for one in seconds if low <= one <= high]))
    assert 3 <= ours.n_slow <= 4
    assert ours.winsorised < 1.3 * np.mean(seconds[:33])


def test_only_a_persons_own_pairs_are_too_fast_for_them() -> None:
    two = [(name, [1] * 6, ["q1"] * 6, [40.0] * 6) for name in ("a1", "a2")]
    rushed = {"a2": [("q1", "d003"), ("q1", "d001"), ("gold", "d9")], "j1": [("q1", "d000")]}
    first, second = paces(people(*two), **RULE | {"rushed": rushed})
    assert (first.too_fast, second.too_fast) == ((), (("q1", "d001"), ("q1", "d003")))


def test_without_times_there_are_words() -> None:
    found = paces(people(("a1", [1, 2], ["q1", "q1"], None)), **RULE)[0]
    assert found.median == Undefined("only 0 judgements have a time; 5 are needed")


def test_streak_p_value_is_that_of_all_orders() -> None:
    """Two queries of four: every order of grades within a query counted, against 2,000 drawn ones."""
    grades, queries = [0, 0, 0, 1, 1, 1, 0, 1], ["q1"] * 4 + ["q2"] * 4
    longest = [
        max(len(list(run)) for _, run in itertools.groupby(one + other))
        for one in itertools.permutations(grades[:4])
        for other in itertools.permutations(grades[4:])
    ]
    exact = float(np.mean(np.array(longest) >= 3))
    (found,) = streaks(people(("a1", grades, queries, None)), seed=5)
    assert (found.longest.length, found.longest.start, found.longest.grade) == (3, 1, 0)
    assert found.p_value == pytest.approx(exact, abs=0.04)
    assert found.expected == pytest.approx(float(np.mean(longest)), abs=0.09)


def test_a_run_in_a_query_of_one_grade_is_no_streak_but_a_planted_one_is() -> None:
    rng = np.random.default_rng(4)
    mixed = list(rng.integers(0, 3, 60))
    empty = ("a1", [0] * 40 + mixed, ["q1"] * 40 + ["q2"] * 60, None)
    lazy = ("a2", [*list(rng.integers(0, 3, 40)), *mixed[:30], *([1] * 14), *mixed[30:]], ["q1"] * 114, None)
    honest, flagged = streaks(people(empty, lazy), seed=5)
    assert honest.longest.length >= 40
    assert honest.flagged == ()
    assert flagged.p_value <= 0.02
    assert [(one.grade, one.length >= 14, one.start <= 71) for one in flagged.flagged] == [(1, True, True)]


def test_order_follows_the_clock_else_the_plan() -> None:
    plan = [Assignment("q1", "d1", "a1", 2), Assignment("q1", "d2", "a1", 1), Assignment("q2", "d1", "a1", 3)]
    judged = [
        Judgement("q1", "d1", "a1", 1, judged_at="2026-01-03T10:00:00Z", lead_time=4.0),
        Judgement("q1", "d2", "a1", 2, judged_at="2026-01-04T09:00:00Z"),
        Judgement("q2", "d1", "a1", 3, judged_at="2026-01-02T09:00:00Z"),
    ]
    timed = panel(judged, plan, by_clock=True)
    assert timed.by_clock.tolist() == [True]
    assert timed.grade[timed.in_order[0]].tolist() == [3, 1, 2]
    unasked = panel(judged, plan, by_clock=False)
    assert (unasked.by_clock.tolist(), unasked.grade[unasked.in_order[0]].tolist()) == ([False], [2, 1, 3])
    planned = panel([*judged[:2], Judgement("q2", "d1", "a1", 3)], plan, by_clock=True)
    assert (planned.by_clock.tolist(), planned.grade[planned.in_order[0]].tolist()) == ([False], [2, 1, 3])


def test_a_hidden_repeat_moves_no_first_judgement() -> None:
    plan = [Assignment("q1", "d1", "a1", 1), Assignment("q1", "d2", "a1", 2), Assignment("q1", "d1", "a1", 3, 2)]
    judged = [
        Judgement("q1", "d1", "a1", 0),
        Judgement("q1", "d2", "a1", 1),
        Judgement("q1", "d1", "a1", 2, occasion=2),
    ]
    one = panel(judged, plan, by_clock=True)
    assert one.grade[one.in_order[0]].tolist() == [0, 1]
