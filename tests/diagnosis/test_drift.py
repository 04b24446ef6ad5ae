"""Change while judging: planted in severity, speed and agreement, and absent."""

import numpy as np
import pytest
from annot.base.records import Assignment, Judgement
from annot.measuring.diagnosis.findings import Drift, drifts, papers_needed_for_drift
from annot.measuring.diagnosis.panel import ALPHA, Panel, panel_of
from scipy import stats
from scipy.special import binom


def panel_in_order(judged: list[Judgement], plan: list[Assignment], queries: int, *, by_clock: bool = False) -> Panel:
    """Nothing is settled yet."""
    facets = {f"q{q:02}": "method" for q in range(queries)}
    return panel_of(judged, [], facets, scale=(0, 1, 2, 3), open_pairs=(), assignments=plan, by_clock=by_clock)


def study(seed: int, *, queries: int = 30, change: str | None = None) -> Panel:
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


def of(panel: Panel) -> dict[tuple[str, str], Drift]:
    return {(one.assessor, one.measure): one for one in drifts(panel, fence=3.0)}


@pytest.mark.parametrize("change", ["severity", "speed", "agreement"])
def test_planted_change_is_found_where_it_is(change: str) -> None:
    by = of(study(1, change=change))
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


def test_p_values_are_those_of_scipy_on_query_means_corrected_by_holm() -> None:
    panel = study(4)
    by = of(panel)
    p_values = []
    for name in panel.assessors:
        places = panel.in_order[panel.assessors.index(name)]
        queries = panel.query[panel.pair[places]]
        order = list(dict.fromkeys(queries.tolist()))
        means = np.array([np.log(panel.seconds[places])[queries == q].mean() for q in order])
        p_values.append(stats.ttest_ind(means[:15], means[15:]).pvalue)
    theirs = np.array(p_values)
    ours = [by[name, "speed"].p_value for name in panel.assessors]
    # Six tests in all; the smallest of these is corrected by at most 6.
    assert all(p <= one <= min(1, 6 * p) + 1e-12 or one >= p for p, one in zip(theirs, ours, strict=True))


def test_what_cannot_be_tested_is_said() -> None:
    by = of(study(3))
    assert len(by) == 6
    assert isinstance(by["a1", "speed"].p_value, float)
    alone = panel_in_order([Judgement("q01", f"d{i}", "a1", 1) for i in range(30)], [], 2)
    reasons = {one.p_value.reason for one in drifts(alone, fence=3.0)}
    assert reasons == {"only 0 judgements on 0 queries to measure a change; 20 on 4 are needed"}


def timed_only(seconds: np.ndarray, queries: int) -> Drift:
    """The test of speed over positions for one assessor of queries of 10 pairs."""
    judged = [
        Judgement(f"q{i // 10:02}", f"d{i:03}", "a1", i % 2, lead_time=float(one)) for i, one in enumerate(seconds)
    ]
    return of(panel_in_order(judged, [], queries))["a1", "speed"]


def test_a_change_as_large_as_is_called_detectable_is_mostly_found() -> None:
    """Steps of that size, half-way, in noise of one level: found in 80 of 100 or somewhat more."""
    times = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        seconds = rng.lognormal(3.4, 0.4, 400)
        plain = timed_only(seconds, 40)
        seconds[200:] *= plain.detectable
        times += timed_only(seconds, 40).changed
    assert stats.binom.ppf(0.01, 40, 0.8) <= times <= 39
    assert 1.05 < plain.detectable < 1.6


def test_so_many_papers_are_needed_that_two_whole_halves_hold_after_correction() -> None:
    """Of n papers, n over n / 2 first halves are as likely; twice that many tests at 2% need a number above."""
    for tests, needed in ((4, 11), (12, 13), (100, 16)):
        assert papers_needed_for_drift(tests) == needed
        assert 2 * tests / binom(needed, needed // 2) <= ALPHA < 2 * tests / binom(needed - 1, (needed - 1) // 2)
