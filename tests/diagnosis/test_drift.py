"""Change while judging: planted in severity, speed and agreement, and absent."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from annot.diagnosis import Drift, JudgedSequence, Panel, Undefined, drifts, panel_of, sequences_of
from annot.diagnosis.change_tests import orders_of
from annot.records import Assignment, Judgement
from scipy import stats

RULES = {"fence": 3.0, "power": None, "alpha": 0.05, "permutations": 999, "seed": 3}


def study(seed: int, *, queries: int = 20, change: str | None = None, days: int = 5):
    """Two assessors judge 20 queries of 15 pairs, each in an order of their own; a1 changes in the last 8 queries.

    Queries differ in relevance, and hard ones take longer: that is no drift.
    """
    rng = np.random.default_rng(seed)
    level = rng.normal(1.0, 0.6, queries)
    judged, plan = [], []
    truth = level[:, None] + rng.normal(0, 0.8, (queries, 15))
    for name in ("a1", "a2"):
        position = 0
        for turn, q in enumerate(rng.permutation(queries)):
            late = name == "a1" and turn >= queries - 8
            for d in rng.permutation(15):
                position += 1
                seen = truth[q, d] + 0.45 * rng.standard_normal() - (0.6 if late and change == "severity" else 0.0)
                seconds = 30 * np.exp(0.4 * rng.standard_normal() + 0.3 * level[q])
                seconds *= 0.5 if late and change == "speed" else 1.0
                query_id, doc_id = f"q{q:02}", f"d{d:02}"
                plan.append(Assignment(query_id, doc_id, name, position))
                day = 1 + turn * days // queries
                moment = f"2026-02-{day:02}T{position // 60 % 24:02}:{position % 60:02}:00Z"
                grade = int(np.clip(round(seen), 0, 3))
                if late and change == "agreement":
                    grade = int(rng.integers(4))
                judged.append(Judgement(query_id, doc_id, name, grade, judged_at=moment, lead_time=float(seconds)))
    panel = panel_of(judged, [], {f"q{q:02}": "method" for q in range(queries)}, scale=(0, 1, 2, 3), open_pairs=())
    return panel, sequences_of(judged, plan, by_clock=True)


def found(seed: int, **options: object) -> set[tuple[str, str, str]]:
    panel, sequences = study(seed, **options)
    return {(one.assessor, one.measure, one.axis) for one in drifts(panel, sequences, **RULES) if one.changed}


@pytest.mark.parametrize("change", ["severity", "speed", "agreement"])
def test_planted_change_is_found_where_it_is(change: str) -> None:
    panel, sequences = study(1, change=change)
    by = {(one.assessor, one.measure, one.axis): one for one in drifts(panel, sequences, **RULES)}
    one = by["a1", change, "position"]
    assert one.changed
    assert one.p_value <= 0.05
    assert 150 <= one.at <= 210  # 180 in truth
    before, after = one.levels
    assert before.n == one.at
    assert before.n + after.n == 300
    if change == "severity":
        assert 0.3 < after.mean - before.mean < 0.9
        assert not by["a1", "speed", "position"].changed
    elif change == "speed":
        assert after.mean < 0.7 * before.mean
        assert not by["a2", "speed", "position"].changed
    else:
        assert after.mean < before.mean


def test_nothing_is_found_where_nothing_changes() -> None:
    alarms = sum(bool(found(seed)) for seed in range(20))
    # At most 5 percent in truth: 5 or more of 20 come up with chance 0.3 percent.
    assert alarms <= 4


def test_change_between_days_is_found() -> None:
    assert ("a1", "speed", "day") in found(2, change="speed")


def test_what_cannot_be_tested_is_said() -> None:
    panel, sequences = study(3, days=2)
    by = {(one.assessor, one.measure, one.axis): one for one in drifts(panel, sequences, **RULES)}
    assert len(by) == 12
    assert by["a1", "speed", "day"].p_value == Undefined("fewer than 3 days")
    assert not by["a1", "speed", "day"].changed
    assert isinstance(by["a1", "speed", "position"].p_value, float)
    judged = [Judgement("q1", f"d{i}", "a1", 1) for i in range(30)]
    alone = panel_of(judged, [], {"q1": "method"}, scale=(0, 1), open_pairs=())
    reasons = {one.measure: one.p_value for one in drifts(alone, sequences_of(judged, [], by_clock=True), **RULES)}
    assert set(reasons.values()) == {Undefined("only 0 judgements to measure it by; 20 are needed")}


def overlapping(seed: int, *, per_pair: bool, one_order: bool) -> tuple[Panel, tuple[JudgedSequence, ...], str]:
    """Four assessors, 16 queries, 400 judgements each; one gives a grade less from the 201st on.

    All judge all, or each pair goes to two in turn; everyone has an order of their own, or all the same order of
    queries, so that the change of one falls together with the same pairs of the others.
    """
    rng = np.random.default_rng(seed)
    names = ("a1", "a2", "a3", "a4")
    n = 800 if per_pair else 400
    truth = np.interp(rng.random(n), np.cumsum([0, 0.4, 0.3, 0.2, 0.1]), [-0.5, 0.5, 1.5, 2.5, 3.5])
    query = np.repeat(np.arange(16), n // 16)
    teams = list(itertools.combinations(range(4), 2))
    guilty = names[rng.integers(4)]
    common = rng.permutation(16)
    judged, plan = [], []
    for a, name in enumerate(names):
        position = 0
        for q in common if one_order else rng.permutation(16):
            for i in rng.permutation(np.flatnonzero(query == q)):
                if per_pair and a not in teams[i % 6]:
                    continue
                position += 1
                grade = int(np.searchsorted([0.5, 1.5, 2.5], truth[i] + 0.35 * rng.standard_normal()))
                grade = max(0, grade - 1) if name == guilty and position > 200 else grade
                judged.append(Judgement(f"q{q:02}", f"d{i:03}", name, grade))
                plan.append(Assignment(f"q{q:02}", f"d{i:03}", name, position))
    facets = {f"q{q:02}": "method" for q in range(16)}
    panel = panel_of(judged, [], facets, scale=(0, 1, 2, 3), open_pairs=())
    return panel, sequences_of(judged, plan, by_clock=False), guilty


def test_only_the_one_who_changes_is_named() -> None:
    """In truth at least 95 of 100 are right; so many of eight are missed in fewer than two of a hundred studies."""
    enough = int(stats.binom.ppf(0.02, 8, 0.95))
    assert stats.binom.cdf(enough - 1, 8, 0.95) <= 0.02
    right = 0
    for seed in range(8):
        panel, sequences, guilty = overlapping(seed, per_pair=bool(seed % 2), one_order=seed % 4 > 1)
        result = drifts(panel, sequences, fence=3.0, alpha=0.02, power=None, permutations=2000, seed=13)
        right += {one.assessor for one in result if one.changed} == {guilty}
    assert right >= enough


def test_of_two_assessors_it_is_told_that_either_may_have_changed() -> None:
    panel, sequences = study(1, change="severity")
    changed = [one for one in drifts(panel, sequences, **RULES) if one.changed and one.measure != "speed"]
    assert changed
    assert len({one.assessor for one in changed}) == 1
    assert all(len(one.against) == 1 for one in changed)


def test_a_change_as_large_as_is_called_detectable_is_mostly_found() -> None:
    """Steps of that size, half-way, in noise of one level: found in 80 of 100 or somewhat more."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        seconds = rng.lognormal(3.4, 0.4, 400)
        plain = timed_only(seconds)
        seconds[200:] *= plain.detectable
        found += timed_only(seconds).changed
    # Of a true 80 of 100, 11 or fewer of 20 come up with chance 1 percent; all 20 with 1 percent.
    assert 12 <= found <= 20
    assert 1.05 < plain.detectable < 1.6


def test_with_few_queries_it_is_said_that_no_change_could_be_found() -> None:
    """Four queries have 24 orders: none is so rare as to be told from chance at one in a hundred."""
    rng = np.random.default_rng(1)
    judged = [Judgement(f"q{i // 30}", f"d{i:03}", "a1", i % 2, lead_time=rng.lognormal(3.4, 0.1)) for i in range(120)]
    panel = panel_of(judged, [], {f"q{q}": "method" for q in range(4)}, scale=(0, 1), open_pairs=())
    result = drifts(panel, sequences_of(judged, [], by_clock=False), **(RULES | {"alpha": 0.01, "power": 0.8}))
    (speed,) = [one for one in result if (one.measure, one.axis) == ("speed", "position")]
    assert isinstance(speed.detectable, Undefined)
    assert "too few queries" in speed.detectable.reason


def timed_only(seconds: np.ndarray) -> Drift:
    """The test of speed over positions for one assessor of 40 queries of 10 pairs."""
    judged = [
        Judgement(f"q{i // 10:02}", f"d{i:03}", "a1", i % 2, lead_time=float(one)) for i, one in enumerate(seconds)
    ]
    panel = panel_of(judged, [], {f"q{q:02}": "method" for q in range(40)}, scale=(0, 1), open_pairs=())
    result = drifts(panel, sequences_of(judged, [], by_clock=False), **(RULES | {"power": 0.8}))
    return next(one for one in result if (one.measure, one.axis) == ("speed", "position"))


def test_orders_keep_queries_together() -> None:
    stretch = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    orders = orders_of(stretch, 200, np.random.default_rng(1))
    assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(9), (200, 1)))
    for row in stretch[orders]:
        assert (np.diff(row) != 0).sum() == 2
    assert len({tuple(row) for row in orders}) > 150
    assert {tuple(dict.fromkeys(row)) for row in stretch[orders].tolist()} == {
        (0, 1, 2),
        (0, 2, 1),
        (1, 0, 2),
        (1, 2, 0),
        (2, 0, 1),
        (2, 1, 0),
    }
