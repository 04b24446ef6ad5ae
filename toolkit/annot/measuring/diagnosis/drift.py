"""Whether an assessor changes while judging: agreement, severity and speed, by halves of the queries and by days.

The plan gives each assessor the queries in random order. Without a change, every order of whole queries was equally
likely, so the means of the queries are compared: those judged in the first half with those in the second, and those of
each day. Where several facets of a paper are judged one after the other, whole papers are the units of chance. An
assessor who is compared with one who changes seems to change too; so the clearest change is taken first, and the others
are compared with those who are left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.names import counted
from annot.base.stats.arrays import Array, Integers
from annot.base.stats.clustered import clusters_of
from annot.base.stats.medians import winsorised
from annot.base.stats.significance import holm
from annot.base.stats.values import Undefined, Value
from annot.measuring.diagnosis.contrasts import ALPHA, Test, detectable, variance_between
from annot.measuring.diagnosis.panel import Panel, SharedPairs

Measure = Literal["agreement", "severity", "speed"]
Axis = Literal["position", "day"]
FEWEST, FEWEST_QUERIES, FEWEST_DAYS = 20, 4, 3


@dataclass(frozen=True, slots=True)
class Level:
    """The mean of a measure over some queries."""

    label: str
    n: int
    """Judgements."""
    mean: float


@dataclass(frozen=True, slots=True)
class Drift:
    """One assessor, one measure, one axis."""

    assessor: str
    measure: Measure
    """agreement: share of partners who gave the same grade; severity: in grades, above 0 for the strict; speed: seconds
    a pair, as a geometric mean. All are means over queries."""
    axis: Axis
    against: tuple[str, ...]
    """The partners measured by. One only: it may as well be the partner who changes, the other way round."""
    n: int
    queries: int
    p_value: Value
    """Corrected over all assessors, measures and axes."""
    changed: bool
    levels: tuple[Level, ...]
    """The first and the second half of the queries for position; each day for days."""
    detectable: Value
    """For position: the least change between the halves that would have been found. In the measure's unit; for speed,
    so many times as long."""


class _Tested(NamedTuple):
    drift: Drift
    test: Test | None


def drifts(panel: Panel, *, fence: float) -> tuple[Drift, ...]:
    """Test every assessor, measure and axis for a change, corrected by Holm.

    Speed is the logarithm of the seconds, those beyond the fences (`durations.fences`) pulled in to them. Days are
    tested where there are three or more.
    """
    speed = _speed(panel, fence)
    by_speed = {name: list(_tested(panel, a, "speed", (), speed)) for a, name in enumerate(panel.assessors)}
    settled: dict[str, list[_Tested]] = {}
    while True:
        compared = SharedPairs(panel, without=settled)
        scale = np.array(panel.scale, dtype=np.float64)
        agreement, severity = np.full((2, len(panel.pair)), np.nan)
        agreement[compared.at] = compared.agreement()
        severity[compared.at] = -compared.differences(scale[compared.grade])
        tested: list[_Tested] = []
        for a, name in enumerate(panel.assessors):
            tested += settled.get(name) or [
                *_tested(panel, a, "agreement", compared.partners[a], agreement),
                *_tested(panel, a, "severity", compared.partners[a], severity),
                *by_speed[name],
            ]
        tested = _corrected(tested)
        clear = [
            (one.test.p, one.drift.assessor)
            for one in tested
            if one.test and one.drift.changed and one.drift.measure != "speed" and one.drift.assessor not in settled
        ]
        if not clear:
            break
        _, clearest = min(clear)
        settled[clearest] = [one for one in tested if one.drift.assessor == clearest]
    n_tests = sum(one.test is not None for one in tested)
    return tuple(replace(one.drift, detectable=_detectable(one, n_tests, panel.widest)) for one in tested)


def _speed(panel: Panel, fence: float) -> Array:
    """Shape (J,), nan where no time was taken."""
    speed = np.full(len(panel.pair), np.nan)
    for places in panel.in_order:
        timed = places[panel.seconds[places] > 0]
        if len(timed):
            speed[timed] = np.log(winsorised(panel.seconds[timed], fence=fence))
    return speed


def _tested(
    panel: Panel, assessor: int, measure: Measure, against: tuple[str, ...], values: Array
) -> Iterator[_Tested]:
    """One assessor over positions and over days. values: shape (J,), nan where there is none."""
    places = panel.in_order[assessor]
    dated = bool((panel.days[places] != "").all())
    places = places[~np.isnan(values[places])]
    _, first, query = np.unique(panel.query[panel.pair[places]], return_index=True, return_inverse=True)
    order = np.argsort(first)
    size = np.bincount(query)[order]
    paper = panel.paper[panel.pair[places]][first[order]]
    clusters = clusters_of(order, paper)
    means = np.bincount(query, weights=values[places])[order] / size
    n, enough = len(places), len(places) >= FEWEST and clusters.n >= FEWEST_QUERIES
    why = Undefined(
        f"only {counted(n, 'judgement')} on {counted(clusters.n, clusters.unit)} to measure a change; "
        f"{FEWEST} on {FEWEST_QUERIES} are needed"
    )
    halves = np.where(np.arange(len(size)) < len(size) // 2, "first half", "second half")
    drift = Drift(panel.assessors[assessor], measure, "position", against, n, len(size), why, False, (), why)
    yield _compared(drift, halves, means, size, paper) if enough else _Tested(drift, None)
    # How many days there are is not said: a study of one evening must read the same when it runs past midnight.
    why = Undefined(f"fewer than {FEWEST_DAYS} days" if dated else "some judgements have no date")
    drift = replace(drift, axis="day", p_value=why, detectable=Undefined("for positions only"))
    days = panel.days[places][first[order]]
    many = enough and dated and len(set(days)) >= FEWEST_DAYS
    yield _compared(drift, days, means, size, paper) if many else _Tested(drift, None)


def _compared(drift: Drift, labels: npt.NDArray[np.str_], means: Array, size: Integers, paper: Integers) -> _Tested:
    """The queries compared by their labels. labels, means, size, paper: shape (Q,), size in judgements."""
    names, group = np.unique(labels, return_inverse=True)
    levels = []
    for place, name in enumerate(names):
        inside = group == place
        mean = float(means[inside].mean())
        mean = math.exp(mean) if drift.measure == "speed" else mean
        levels.append(Level(str(name), int(size[inside].sum()), mean))
    alike = Undefined("all compared queries have the same value")
    test = variance_between(means, group, paper)
    return _Tested(replace(drift, levels=tuple(levels), p_value=alike, detectable=alike), test)


def _corrected(tested: Sequence[_Tested]) -> list[_Tested]:
    corrected = iter(holm([max(one.test.p, one.test.least) for one in tested if one.test]))
    found = []
    for one in tested:
        if one.test:
            p_value = next(corrected)
            one = one._replace(drift=replace(one.drift, p_value=p_value, changed=p_value <= ALPHA))
        found.append(one)
    return found


def papers_needed(n_tests: int) -> int:
    """The least query papers of which a first and a second half could hold after correction for so many tests."""
    return next(n for n in itertools.count(2) if 2 * n_tests <= ALPHA * math.comb(n, n // 2))


def _detectable(one: _Tested, n_tests: int, widest: float) -> Value:
    if one.drift.axis == "day" or one.test is None:
        return one.drift.detectable
    if one.test.least * n_tests > ALPHA:
        return Undefined(
            f"too few queries to tell a change from chance; {papers_needed(n_tests)} query papers are needed"
        )
    size = float(detectable(one.test.error, one.test.freedom, ALPHA / n_tests))
    if size > {"agreement": 1.0, "severity": widest, "speed": math.inf}[one.drift.measure]:
        return Undefined("even the largest possible change could not be detected")
    return math.exp(size) if one.drift.measure == "speed" else size
