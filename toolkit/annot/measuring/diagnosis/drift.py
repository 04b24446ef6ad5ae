"""Changes of an assessor while judging: agreement, severity and speed, by halves of the queries.

The plan gives each assessor the queries in random order. Without a change, every order of whole queries was equally
likely, so the means of the queries are compared: those judged in the first half with those in the second. If several
facets of a paper are judged one after the other, whole topics are the units of chance. An assessor who is compared with
one who changes seems to change too; so the clearest change is taken first, and the others are compared with those who
are left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from annot.base.names import counted
from annot.base.stats.arrays import Array
from annot.base.stats.clustered import clusters_of
from annot.base.stats.medians import winsorised
from annot.base.stats.significance import holm
from annot.base.stats.values import Undefined, Value
from annot.measuring.diagnosis.contrasts import ALPHA, Test, detectable, variance_between
from annot.measuring.diagnosis.panel import Panel, SharedPairs

Measure = Literal["agreement", "severity", "speed"]
FEWEST, FEWEST_QUERIES = 20, 4


@dataclass(frozen=True, slots=True)
class Level:
    """Mean of a measure over some queries."""

    label: str
    n: int
    """Number of judgements."""
    mean: float


@dataclass(frozen=True, slots=True)
class Drift:
    """Change of one assessor in one measure."""

    assessor: str
    measure: Measure
    """Name of the measure. agreement: share of partners who gave the same grade; severity: in grades, above 0 for the
    strict; speed: seconds a pair, as a geometric mean. All are means over queries.
    """
    against: tuple[str, ...]
    """Partners in the comparison. If there is only one, it may as well be the partner who changes, the other
    way round.
    """
    n: int
    queries: int
    p_value: Value
    """p corrected over all assessors and measures."""
    changed: bool
    levels: tuple[Level, ...]
    """Levels in the first and the second half of the queries."""
    detectable: Value
    """Least change between the halves that would have been found. In the measure's unit; for speed, a factor."""


class _Tested(NamedTuple):
    drift: Drift
    test: Test | None


def drifts(panel: Panel, *, fence: float) -> tuple[Drift, ...]:
    """Test every assessor and measure for a change, corrected by Holm.

    Speed is the logarithm of the seconds, with those beyond the fences pulled in (`annot.base.stats.medians.fences`).
    """
    speed = _speed(panel, fence)
    by_speed = [_tested(panel, assessor, "speed", (), speed) for assessor in range(len(panel.assessors))]
    settled: dict[str, list[_Tested]] = {}
    while True:
        compared = SharedPairs(panel, without=settled)
        scale = np.array(panel.scale, dtype=np.float64)
        agreement, severity = np.full((2, len(panel.pair)), np.nan)
        agreement[compared.at] = compared.agreement()
        severity[compared.at] = -compared.differences(scale[compared.grade])
        tested: list[_Tested] = []
        for assessor, name in enumerate(panel.assessors):
            tested += settled.get(name) or [
                _tested(panel, assessor, "agreement", compared.partners[assessor], agreement),
                _tested(panel, assessor, "severity", compared.partners[assessor], severity),
                by_speed[assessor],
            ]
        tested = _corrected(tested)
        clear = [
            (result.test.p, result.drift.assessor)
            for result in tested
            if result.test
            and result.drift.changed
            and result.drift.measure != "speed"
            and result.drift.assessor not in settled
        ]
        if not clear:
            break
        _, clearest = min(clear)
        settled[clearest] = [result for result in tested if result.drift.assessor == clearest]
    n_tests = sum(result.test is not None for result in tested)
    return tuple(replace(result.drift, detectable=_detectable(result, n_tests, panel.widest)) for result in tested)


def _speed(panel: Panel, fence: float) -> Array:
    """Logarithm of the seconds, shape (J,), nan if no time was taken."""
    speed = np.full(len(panel.pair), np.nan)
    for places in panel.in_order:
        timed = places[panel.seconds[places] > 0]
        if len(timed):
            speed[timed] = np.log(winsorised(panel.seconds[timed], fence=fence))
    return speed


def _tested(panel: Panel, assessor: int, measure: Measure, against: tuple[str, ...], values: Array) -> _Tested:
    """Compare one assessor's queries of the first half with those of the second. values: shape (J,), nan if there is
    none.
    """
    places = panel.in_order[assessor]
    places = places[~np.isnan(values[places])]
    _, first, query = np.unique(panel.query[panel.pair[places]], return_index=True, return_inverse=True)
    order = np.argsort(first)
    size = np.bincount(query)[order]
    paper = panel.paper[panel.pair[places]][first[order]]
    clusters = clusters_of(order, paper)
    means = np.bincount(query, weights=values[places])[order] / size
    n = len(places)
    why = Undefined(
        f"only {counted(n, 'judgement')} on {counted(clusters.n, clusters.unit)} to measure a change; "
        f"{FEWEST} on {FEWEST_QUERIES} are needed"
    )
    drift = Drift(panel.assessors[assessor], measure, against, n, len(size), why, False, (), why)
    if n < FEWEST or clusters.n < FEWEST_QUERIES:
        return _Tested(drift, None)
    second = np.arange(len(size)) >= len(size) // 2
    levels = []
    for label, inside in (("first half", ~second), ("second half", second)):
        mean = float(means[inside].mean())
        levels.append(Level(label, int(size[inside].sum()), math.exp(mean) if measure == "speed" else mean))
    alike = Undefined("all compared queries have the same value")
    test = variance_between(means, second.astype(np.int64), paper)
    return _Tested(replace(drift, levels=tuple(levels), p_value=alike, detectable=alike), test)


def _corrected(tested: Sequence[_Tested]) -> list[_Tested]:
    corrected = iter(holm([max(result.test.p, result.test.least) for result in tested if result.test]))
    results = []
    for result in tested:
        if result.test:
            p_value = next(corrected)
            result = result._replace(drift=replace(result.drift, p_value=p_value, changed=p_value <= ALPHA))
        results.append(result)
    return results


def papers_needed(n_tests: int) -> int:
    """Least number of topics with which a change between halves could hold after correction for so many tests."""
    return next(n for n in itertools.count(2) if 2 * n_tests <= ALPHA * math.comb(n, n // 2))


def _detectable(result: _Tested, n_tests: int, widest: float) -> Value:
    if result.test is None:
        return result.drift.detectable
    if result.test.least * n_tests > ALPHA:
        return Undefined(
            f"too few queries to tell a change from chance; {papers_needed(n_tests)} query papers are needed"
        )
    size = float(detectable(result.test.error, result.test.freedom, ALPHA / n_tests))
    if size > {"agreement": 1.0, "severity": widest, "speed": math.inf}[result.drift.measure]:
        return Undefined("even the largest possible change could not be detected")
    return math.exp(size) if result.drift.measure == "speed" else size
