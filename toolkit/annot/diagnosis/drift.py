"""Whether an assessor changes while judging: agreement, severity and speed over position and over days.

Whoever is compared with somebody who changes seems to change too. So as soon as anybody seems to, it is asked whose
change explains the most of all differences between two assessors; that one is taken out, and the others are measured by
those who are left. A change of theirs counts only if it shows then too.

Orders are permuted by whole queries (`change_tests`). The price: with few queries few orders differ, and a change
between them has to be large to be told from chance; `detectable` says how large.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from annot.diagnosis.change_tests import ALIKE, SeriesTested, detectable, tests_of
from annot.diagnosis.matrices import severity_fit
from annot.diagnosis.panel import NO_GRADE, Panel
from annot.diagnosis.sequences import JudgedSequence
from annot.stats.durations import winsorised
from annot.stats.seeding import generator
from annot.stats.significance import holm
from annot.stats.values import Undefined, Value

Array = npt.NDArray[np.float64]
Measure = Literal["agreement", "severity", "speed"]
Axis = Literal["position", "day"]
AXES: tuple[Axis, ...] = ("position", "day")
FEWEST, FEWEST_DAYS = 20, 3


@dataclass(frozen=True, slots=True)
class Level:
    """The mean of a measure over some judgements."""

    label: str
    n: int
    mean: float


@dataclass(frozen=True, slots=True)
class Drift:
    """One assessor, one measure, one axis."""

    assessor: str
    measure: Measure
    """agreement: share of partners who gave the same grade; severity: in grades, above 0 for the strict, the partners'
    own severity taken out; speed: seconds a pair, as a geometric mean."""
    axis: Axis
    against: tuple[str, ...]
    """The partners measured by. One only: it may as well be the partner who changes, the other way round."""
    n: int
    p_value: Value
    """Corrected over all assessors, measures and axes."""
    changed: bool
    at: int | None
    """For position where a change was found: the place, from 1, of the last judgement before it."""
    levels: tuple[Level, ...]
    """Before and after the most likely change for position; each day for days."""
    detectable: Value
    """For position: about the least change half-way that would be found with the chance asked for. In the measure's
    unit; for speed, so many times as long."""


@dataclass(frozen=True, slots=True)
class _Series:
    """What one assessor is to be tested on: measures of the same judgements."""

    sequence: JudgedSequence
    against: tuple[str, ...]
    known: npt.NDArray[np.int64]
    values: dict[Measure, Array]
    day: npt.NDArray[np.int64] | None

    @property
    def n_tests(self) -> int:
        return len(self.values) * (1 if self.day is None else 2) if len(self.known) >= FEWEST else 0


@dataclass(frozen=True, slots=True)
class _Result:
    drift: Drift
    p: float | None
    """Not yet corrected; None where it was not tested."""
    split: int
    """The place of the last judgement before the most likely change."""
    values: Array
    stretch: npt.NDArray[np.int64]
    tested: SeriesTested | None
    """Of positions only."""

    @property
    def key(self) -> tuple[str, Measure, Axis]:
        return self.drift.assessor, self.drift.measure, self.drift.axis


def drifts(
    panel: Panel,
    sequences: Iterable[JudgedSequence],
    *,
    fence: float,
    alpha: float,
    power: float | None,
    permutations: int,
    seed: int,
) -> tuple[Drift, ...]:
    """Test every assessor, measure and axis for a change, at family-wise level `alpha` (Holm).

    Speed is the logarithm of the seconds, those beyond the fences (`durations.fences`) pulled in to them. permutations:
    at least so many; more where so many tests need smaller p-values. Days are tested where there are three or more.
    power: the chance of being found at which a change counts as detectable; None does not compute it, which takes most
    of the time.
    """
    sequences = list(sequences)
    out: list[str] = []
    settled: dict[str, list[_Result]] = {}
    suspected: set[tuple[str, Measure, Axis]] | None = None
    n_tests = sum(series.n_tests for sequence in sequences for series in _series(panel, sequence, (), fence))
    permutations = max(permutations, math.ceil(2 * n_tests / alpha))
    cache: dict[tuple[str, tuple[str, ...], bytes], list[_Result]] = {}

    def tested(sequence: JudgedSequence) -> list[_Result]:
        results = []
        for at, series in enumerate(_series(panel, sequence, out, fence)):
            key = (sequence.assessor, series.against, series.known.tobytes())
            if key not in cache:
                rng = generator(seed, "drift", sequence.assessor, str(at), *series.against)
                cache[key] = _tested(series, out, permutations, rng)
            results += cache[key]
        return results

    while True:
        results = [result for sequence in sequences for result in settled.get(sequence.assessor) or tested(sequence)]
        corrected = iter(holm([result.p for result in results if result.p is not None]))
        told = []
        for result in results:
            p_value = None if result.p is None else next(corrected)
            fixed = result.drift.assessor in settled
            told.append(result if p_value is None or fixed else _corrected(result, p_value, alpha, suspected))
        suspected = {result.key for result in told if result.drift.changed}
        clear = {result.drift.assessor for result in told if result.drift.changed and result.drift.measure != "speed"}
        if not clear - set(out):
            break
        asked = [result for result in told if result.drift.assessor not in out]
        clearest = _clearest(panel, sequences, asked, clear, out)
        if clearest in clear:
            settled[clearest] = [result for result in told if result.drift.assessor == clearest]
        out.append(clearest)
    if power is None or not n_tests:
        return tuple(result.drift for result in told)
    return tuple(_with_detectable(result, alpha / n_tests, power, seed) for result in told)


def _with_detectable(result: _Result, p_value: float, power: float, seed: int) -> Drift:
    if result.tested is None:
        return result.drift
    rng = generator(seed, "detectable", result.drift.assessor, result.drift.measure)
    size = detectable(result.values, result.stretch, result.tested, p_value=p_value, power=power, rng=rng)
    if result.drift.measure == "speed" and not isinstance(size, Undefined):
        size = math.exp(size)
    return replace(result.drift, detectable=size)


def _clearest(
    panel: Panel, sequences: Sequence[JudgedSequence], asked: Sequence[_Result], clear: set[str], out: Sequence[str]
) -> str:
    """The assessor whose change explains most; also one whose change is not clear, where others could bear it out."""
    gains: dict[str, float] = {}
    for result in asked:
        drift = result.drift
        if drift.measure == "speed" or drift.axis != "position" or result.p is None:
            continue
        if drift.assessor in clear or len(drift.against) > 1:
            sequence = next(two for two in sequences if two.assessor == drift.assessor)
            gain = _explained(panel, sequence, drift, result.split, out)
            gains[drift.assessor] = max(gain, gains.get(drift.assessor, 0.0))
    return max(sorted(gains), key=lambda name: round(gains[name], ALIKE))


def _explained(panel: Panel, sequence: JudgedSequence, drift: Drift, split: int, out: Sequence[str]) -> float:
    """How much of the sum of squares of the differences to each partner a change there explains, in variances.

    In the differences to all partners who changed shows whole, and in those of a partner only where the two met.
    """
    a = panel.assessors.index(drift.assessor)
    late = set(zip(sequence.query_ids[split:], sequence.doc_ids[split:], strict=True))
    after = np.array([pair in late for pair in zip(panel.query_ids, panel.doc_ids, strict=True)], dtype=np.float64)
    scale = np.array(panel.scale, dtype=np.float64)
    product = square = 0.0
    variances = []
    left = [b for b, name in enumerate(panel.assessors) if name not in out]
    for first, second in itertools.combinations(left, 2):
        at = np.flatnonzero(panel.judged[:, [first, second]].all(axis=1))
        if len(at) < 2:
            continue
        if a == second:
            first, second = second, first
        grades = panel.grades[at]
        if drift.measure == "agreement":
            y = (grades[:, first] == grades[:, second]).astype(np.float64)
        else:
            y = scale[grades[:, first]] - scale[grades[:, second]]
        y -= y.mean()
        variances.append((float(y @ y), len(at)))
        if first == a:
            x = after[at] - after[at].mean()
            product += float(x @ y)
            square += float(x @ x)
    variance = sum(total for total, _ in variances) / max(1, sum(n for _, n in variances))
    return product**2 / square / variance if square > 0 and variance > 0 else 0.0


def _corrected(
    result: _Result, p_value: float, alpha: float, suspected: set[tuple[str, Measure, Axis]] | None
) -> _Result:
    changed = p_value <= alpha and (suspected is None or result.key in suspected)
    at = result.split if changed and result.drift.axis == "position" else None
    return replace(result, drift=replace(result.drift, p_value=p_value, changed=changed, at=at))


def _series(panel: Panel, sequence: JudgedSequence, out: Sequence[str], fence: float) -> list[_Series]:
    """Agreement and severity together, on the judgements that a partner shares; and speed, where there are times."""
    a = panel.assessors.index(sequence.assessor)
    grades = panel.grades.copy()
    grades[:, [panel.assessors.index(name) for name in out if name != sequence.assessor]] = NO_GRADE
    lenience = severity_fit(replace(panel, grades=grades))[0]
    row_of = {pair: at for at, pair in enumerate(zip(panel.query_ids, panel.doc_ids, strict=True))}
    rows = np.array([row_of[pair] for pair in zip(sequence.query_ids, sequence.doc_ids, strict=True)], dtype=np.int64)
    grades = grades[rows]
    others = grades != NO_GRADE
    others[:, a] = False
    shared = np.flatnonzero(others.any(axis=1))
    grades, others = grades[shared], others[shared]
    scale = np.array([*panel.scale, 0], dtype=np.float64)  # the last place is where NO_GRADE, -1, points
    fair = np.where(others, scale[grades] - lenience, 0.0).sum(axis=1)
    own = grades[:, [a]]
    against = tuple(panel.assessors[other] for other in np.flatnonzero(others.any(axis=0)))
    compared: dict[Measure, Array] = {
        "agreement": (others & (grades == own)).sum(axis=1) / others.sum(axis=1),
        "severity": fair / others.sum(axis=1) - scale[own[:, 0]],
    }
    timed = np.flatnonzero(sequence.timed)
    seconds = sequence.seconds[timed]
    speed: Array = np.log(winsorised(seconds, fence=fence)) if len(timed) else seconds
    return [
        _Series(sequence, against, shared, compared, _days(sequence, shared)),
        _Series(sequence, (), timed, {"speed": speed}, _days(sequence, timed)),
    ]


def _days(sequence: JudgedSequence, known: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
    if sequence.days is None:
        return None
    names, day = np.unique(np.array(sequence.days)[known], return_inverse=True)
    return None if len(names) < FEWEST_DAYS else np.asarray(day, dtype=np.int64)


def _tested(series: _Series, out: Sequence[str], permutations: int, rng: np.random.Generator) -> list[_Result]:
    n = len(series.known)
    stretch = series.sequence.stretches[series.known]
    if n < FEWEST:
        left_out = ""
        if out and "speed" not in series.values:
            left_out = f" (those shared with {', '.join(sorted(out))} are left out, as they may change themselves)"
        few = Undefined(f"only {n} judgements to measure it by; {FEWEST} are needed{left_out}")
        return [
            _Result(_untested(series, measure, axis, few, few), None, 0, np.zeros(0), stretch, None)
            for measure in series.values
            for axis in AXES
        ]
    tests = tests_of(list(series.values.values()), stretch, series.day, permutations=permutations, rng=rng)
    results = []
    for (measure, values), tested in zip(series.values.items(), tests, strict=True):
        split = tested.split
        drift = replace(
            _untested(series, measure, "position", Undefined("not computed"), Undefined("not computed")),
            p_value=tested.position,
            levels=(_level("before", measure, values[:split]), _level("after", measure, values[split:])),
        )
        last = int(series.known[split - 1]) + 1
        results.append(_Result(drift, tested.position, last, values, stretch, tested))
        drift = _over_days(series, measure, values, tested)
        results.append(_Result(drift, tested.day, 0, values, stretch, None))
    return results


def _untested(series: _Series, measure: Measure, axis: Axis, why: Undefined, detectable: Undefined) -> Drift:
    name, n = series.sequence.assessor, len(series.known)
    return Drift(name, measure, axis, series.against, n, why, False, None, (), detectable)


def _over_days(series: _Series, measure: Measure, values: Array, tested: SeriesTested) -> Drift:
    days = series.sequence.days
    # How many days there are is not said: a study of one evening must read the same when it runs past midnight.
    why = Undefined("not every judgement has a day" if days is None else f"fewer than {FEWEST_DAYS} days")
    drift = _untested(series, measure, "day", why, Undefined("for positions only"))
    if tested.day is None or series.day is None or days is None:
        return drift
    names = np.unique(np.array(days)[series.known])
    levels = tuple(_level(str(label), measure, values[series.day == at]) for at, label in enumerate(names))
    return replace(drift, p_value=tested.day, levels=levels)


def _level(label: str, measure: Measure, values: Array) -> Level:
    mean = float(values.mean())
    return Level(label, len(values), float(np.exp(mean)) if measure == "speed" else mean)
