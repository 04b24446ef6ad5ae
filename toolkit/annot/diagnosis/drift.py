"""Whether an assessor changes while judging: agreement, severity and speed, by halves of the queries and by days.

The plan gives everybody the queries in an order drawn by chance. So without change any order of whole queries was as
likely, and the means of the queries are compared: those judged in the first half with those in the second, and those of
each day, by analysis of variance. Whoever is compared with somebody who changes seems to change too; so the clearest
change is taken first, and the others are measured by those who are left.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from annot.diagnosis.panel import Array, Compared, Index, Panel
from annot.diagnosis.sequences import JudgedSequence
from annot.stats.durations import winsorised
from annot.stats.significance import holm
from annot.stats.values import Undefined, Value

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
    """For position: the least change between the halves that would be found with the chance asked for. In the measure's
    unit; for speed, so many times as long."""


class Variance(NamedTuple):
    """Groups of values compared by one-way analysis of variance."""

    p: float
    least: float
    """The p-value of the most telling order, below which none is believed."""
    error: float
    """Of the difference between the first and the last group."""
    freedom: int


class _Tested(NamedTuple):
    drift: Drift
    test: Variance | None

    @property
    def p(self) -> float:
        return max(self.test.p, self.test.least) if self.test else math.nan


def drifts(
    panel: Panel, sequences: Iterable[JudgedSequence], *, fence: float, alpha: float, power: float
) -> tuple[Drift, ...]:
    """Test every assessor, measure and axis for a change, at family-wise level `alpha` (Holm).

    Speed is the logarithm of the seconds, those beyond the fences (`durations.fences`) pulled in to them. Days are
    tested where there are three or more. power: the chance of being found at which a change counts as detectable.
    """
    sequences = list(sequences)
    place = {
        (panel.query_ids[pair], panel.doc_ids[pair], panel.assessors[who]): at
        for at, (pair, who) in enumerate(zip(panel.pair, panel.who, strict=True))
    }
    places = {
        one.assessor: np.array(
            [place[*pair, one.assessor] for pair in zip(one.query_ids, one.doc_ids, strict=True)], dtype=np.int64
        )
        for one in sequences
    }
    speed = {one.assessor: _speed(one, fence) for one in sequences}
    settled: dict[str, list[_Tested]] = {}
    while True:
        compared = _Others(panel, settled)
        told = [
            one
            for sequence in sequences
            for one in settled.get(sequence.assessor)
            or [*compared.tested(sequence, places[sequence.assessor]), *speed[sequence.assessor]]
        ]
        told = _corrected(told, alpha)
        clear = [
            one
            for one in told
            if one.drift.changed and one.drift.measure != "speed" and one.drift.assessor not in settled
        ]
        if not clear:
            break
        clearest = min(clear, key=lambda one: (one.test.p if one.test else math.nan, one.drift.assessor)).drift.assessor
        settled[clearest] = [one for one in told if one.drift.assessor == clearest]
    n_tests = sum(one.test is not None for one in told)
    return tuple(replace(one.drift, detectable=_detectable(one, alpha / max(1, n_tests), power)) for one in told)


class _Others:
    """What every judgement is beside those of others, without the assessors who are known to change."""

    def __init__(self, panel: Panel, without: Collection[str]) -> None:
        compared = Compared(panel, np.array([name not in without for name in panel.assessors]))
        self.compared = compared
        scale = np.array(panel.scale, dtype=np.float64)
        self.values: dict[Measure, Array] = {}
        for measure, of_compared in (
            ("agreement", compared.agreement()),
            ("severity", -compared.differences(scale[compared.grade])),
        ):
            self.values[measure] = np.full(len(panel.pair), np.nan)
            self.values[measure][compared.at] = of_compared

    def tested(self, sequence: JudgedSequence, places: Index) -> Iterator[_Tested]:
        """Agreement and severity of one assessor. places: of their judgements in the panel, in their order."""
        against = self.compared.partners[self.compared.panel.assessors.index(sequence.assessor)]
        for measure, values in self.values.items():
            known = np.flatnonzero(~np.isnan(values[places]))
            yield from _tested(sequence, measure, against, known, values[places][known])


def _speed(sequence: JudgedSequence, fence: float) -> list[_Tested]:
    timed = np.flatnonzero(sequence.timed)
    seconds = sequence.seconds[timed]
    return list(
        _tested(sequence, "speed", (), timed, np.log(winsorised(seconds, fence=fence)) if len(timed) else seconds)
    )


def _tested(
    sequence: JudgedSequence, measure: Measure, against: tuple[str, ...], known: Index, values: Array
) -> Iterator[_Tested]:
    """Over positions and over days. values: shape (n,), those of the judgements at `known`, in the order of judging."""
    _, first, query = np.unique(np.array(sequence.query_ids)[known], return_index=True, return_inverse=True)
    size = np.bincount(query)
    means = np.bincount(query, weights=values) / np.maximum(size, 1)
    order = np.argsort(first)
    means, size, first = means[order], size[order], first[order]
    n, middle = len(known), len(means) // 2
    few = (
        Undefined(f"only {n} judgements to measure it by; {FEWEST} are needed")
        if n < FEWEST
        else Undefined(f"only {len(means)} queries to measure it by; {FEWEST_QUERIES} are needed")
    )
    enough = n >= FEWEST and len(means) >= FEWEST_QUERIES
    drift = Drift(sequence.assessor, measure, "position", against, n, len(means), few, False, (), few)
    halves = {"first half": slice(0, middle), "second half": slice(middle, None)}
    yield _compared(drift, {name: (means[part], size[part]) for name, part in halves.items()} if enough else {})
    # How many days there are is not said: a study of one evening must read the same when it runs past midnight.
    few = Undefined("not every judgement has a day" if sequence.days is None else f"fewer than {FEWEST_DAYS} days")
    drift = replace(drift, axis="day", p_value=few, detectable=Undefined("for positions only"))
    day = np.array(sequence.days or [""] * len(sequence.query_ids))[known][first]
    days = {str(name): (means[day == name], size[day == name]) for name in np.unique(day)}
    yield _compared(drift, days if enough and len(days) >= FEWEST_DAYS else {})


def _compared(drift: Drift, groups: Mapping[str, tuple[Array, Index]]) -> _Tested:
    """The test of groups of queries, each given as the queries' means and sizes; none where there are no groups."""
    if not groups:
        return _Tested(drift, None)
    test = variance_between([means for means, _ in groups.values()])
    levels = tuple(
        Level(name, int(size.sum()), math.exp(means.mean()) if drift.measure == "speed" else float(means.mean()))
        for name, (means, size) in groups.items()
    )
    return _Tested(replace(drift, levels=levels, p_value=Undefined("no two queries differ")), test)


def _corrected(told: Sequence[_Tested], alpha: float) -> list[_Tested]:
    tests = [one for one in told if one.test]
    by_test = dict(zip(map(id, tests), holm([one.p for one in tests]), strict=True))
    return [
        one._replace(drift=replace(one.drift, p_value=by_test[id(one)], changed=by_test[id(one)] <= alpha))
        if one.test
        else one
        for one in told
    ]


def _detectable(one: _Tested, p_value: float, power: float) -> Value:
    from scipy.special import stdtrit

    if one.drift.axis == "day" or one.test is None:
        return one.drift.detectable
    if one.test.least > p_value:
        return Undefined("too few queries: their orders differ too little for any change to stand out from chance")
    widths = stdtrit(one.test.freedom, 1 - p_value / 2) + stdtrit(one.test.freedom, power)
    size = float(widths) * one.test.error
    return math.exp(size) if one.drift.measure == "speed" else size


def variance_between(groups: Sequence[Array]) -> Variance | None:
    """None where a group is empty, or no group has two different values."""
    from scipy.special import fdtrc, gammaln

    sizes = np.array([len(group) for group in groups])
    n, k = int(sizes.sum()), len(groups)
    if k < 2 or not sizes.all() or n <= k:
        return None
    means = np.array([group.mean() for group in groups])
    within = sum(float(((group - mean) ** 2).sum()) for group, mean in zip(groups, means, strict=True)) / (n - k)
    if within <= 1e-24:
        return None
    between = float(sizes @ (means - sizes @ means / n) ** 2) / (k - 1)
    least = math.exp(min(0.0, gammaln(k + 1) + gammaln(sizes + 1).sum() - gammaln(n + 1)))
    error = math.sqrt(within * (1 / sizes[0] + 1 / sizes[-1]))
    return Variance(float(fdtrc(k - 1, n - k, between / within)), least, error, n - k)
