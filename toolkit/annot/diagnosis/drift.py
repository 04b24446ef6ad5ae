"""Whether an assessor changes while judging: agreement, severity and speed over position and over days.

The plan shuffles an assessor's queries, and the candidates of each query. So, without drift, every order of whole
queries, and of candidates within a query, was as likely as the one that was drawn; the test permutes just these (a
randomisation test: Edgington and Onghena 2007, Randomization Tests) and assumes nothing on how hard the queries are.
The price: with few queries few orders differ, and a change between them has to be large to be told from chance; an
assessor of fewer than ten queries can hardly be convicted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from annot.diagnosis.assessors import severity_fit
from annot.diagnosis.panel import NO_GRADE, Panel
from annot.diagnosis.sequences import JudgedSequence
from annot.multiplicity import holm
from annot.seeding import generator
from annot.undefined import Undefined, Value

Array = npt.NDArray[np.float64]
Measure = Literal["agreement", "severity", "speed"]
Axis = Literal["position", "day"]
FEWEST = 20


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
    n: int
    p_value: Value
    """Corrected over all assessors, measures and axes."""
    changed: bool
    at: int | None
    """For position where a change was found: the place, from 1, of the last judgement before it."""
    levels: tuple[Level, ...]
    """Before and after the most likely change for position; each day for days."""


def drifts(
    panel: Panel, sequences: Iterable[JudgedSequence], *, winsorise: float, alpha: float, permutations: int, seed: int
) -> tuple[Drift, ...]:
    """Test every assessor, measure and axis for a change, at family-wise level `alpha` (Holm).

    Over positions the statistic is the largest absolute cumulative sum of deviations from the mean (Page 1955,
    Biometrika 42, 523-527), over days the variance between the days' means. p = (hits + 1) / (drawn + 1). Speed is the
    logarithm of the seconds, winsorised by `winsorise` at either end.
    """
    asked: list[tuple[Drift, float | None]] = []
    lenience = severity_fit(panel)[0]
    for sequence in sequences:
        measures = _measures(panel, sequence, lenience, winsorise)
        orders: dict[bytes, npt.NDArray[np.int64]] = {}
        for measure, values in measures.items():
            known = np.flatnonzero(~np.isnan(values))
            if len(known) < FEWEST:
                reason = Undefined(f"{len(known)} judgements to measure it by, expected {FEWEST}")
                asked += [
                    (Drift(sequence.assessor, measure, axis, len(known), reason, False, None, ()), None)
                    for axis in ("position", "day")
                ]
                continue
            key = known.tobytes()
            if key not in orders:
                rng = generator(seed, "drift", sequence.assessor, str(len(orders)))
                orders[key] = _orders(sequence.stretches[known], permutations, rng)
            series = values[known]
            permuted = series[orders[key]]
            asked.append(_over_positions(sequence, measure, known, series, permuted))
            asked.append(_over_days(sequence, measure, known, series, permuted))
    corrected = iter(holm([p for _, p in asked if p is not None]))
    return tuple(_settled(one, None if p is None else next(corrected), alpha) for one, p in asked)


def _settled(one: Drift, p_value: float | None, alpha: float) -> Drift:
    if p_value is None:
        return one
    changed = p_value <= alpha
    at = one.at if changed else None
    return Drift(one.assessor, one.measure, one.axis, one.n, p_value, changed, at, one.levels)


def _measures(panel: Panel, sequence: JudgedSequence, lenience: Array, winsorise: float) -> dict[Measure, Array]:
    row_of = {pair: at for at, pair in enumerate(zip(panel.query_ids, panel.doc_ids, strict=True))}
    a = panel.assessors.index(sequence.assessor)
    rows = np.array([row_of[pair] for pair in zip(sequence.query_ids, sequence.doc_ids, strict=True)], dtype=np.int64)
    grades = panel.grades[rows]
    others = grades != NO_GRADE
    others[:, a] = False
    n_others = others.sum(axis=1)
    scale = np.array([*panel.scale, 0], dtype=np.float64)  # the last place is where NO_GRADE, -1, points
    fair = np.where(others, scale[grades] - lenience, 0.0).sum(axis=1)
    same = (others & (grades == grades[:, [a]])).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        agreement = np.where(n_others > 0, same / n_others, np.nan)
        severity = np.where(n_others > 0, fair / n_others - scale[grades[:, a]], np.nan)
        speed = np.where(sequence.seconds > 0, np.log(sequence.seconds), np.nan)
    timed = speed[~np.isnan(speed)]
    if len(timed):
        speed = np.clip(speed, *np.quantile(timed, [winsorise, 1 - winsorise]))
    return {"agreement": agreement, "severity": severity, "speed": speed}


def _orders(stretch: npt.NDArray[np.int64], permutations: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Orders of n judgements, shape (permutations, n): stretches of one query shuffled, and judgements within each."""
    _, stretch = np.unique(stretch, return_inverse=True)
    place = rng.random((permutations, int(stretch.max()) + 1))
    # Two keys in one number: the stretch's rank before the point, chance behind it.
    rank = place.argsort(axis=1).argsort(axis=1)[:, stretch]
    return np.asarray((rank + rng.random((permutations, len(stretch)))).argsort(axis=1), dtype=np.int64)


def _cumulative(series: Array) -> Array:
    """|sum of the first k deviations from the mean| for k = 1..n-1, on the last axis."""
    return np.asarray(np.abs(np.cumsum(series - series.mean(axis=-1, keepdims=True), axis=-1)[..., :-1]))


def _over_positions(
    sequence: JudgedSequence, measure: Measure, known: npt.NDArray[np.int64], series: Array, permuted: Array
) -> tuple[Drift, float]:
    sums = _cumulative(series)
    split = int(sums.argmax()) + 1
    p = _p(float(sums.max()), _cumulative(permuted).max(axis=1))
    levels = (_level("before", measure, series[:split]), _level("after", measure, series[split:]))
    at = int(known[split - 1]) + 1
    return Drift(sequence.assessor, measure, "position", len(series), p, False, at, levels), p


def _over_days(
    sequence: JudgedSequence, measure: Measure, known: npt.NDArray[np.int64], series: Array, permuted: Array
) -> tuple[Drift, float | None]:
    if sequence.days is None:
        reason = Undefined("not every judgement has a day")
        return Drift(sequence.assessor, measure, "day", len(series), reason, False, None, ()), None
    names, day = np.unique([sequence.days[i] for i in known], return_inverse=True)
    levels = tuple(_level(str(name), measure, series[day == at]) for at, name in enumerate(names))
    if len(names) < 2:
        reason = Undefined("all judgements were made on one day")
        return Drift(sequence.assessor, measure, "day", len(series), reason, False, None, levels), None
    member = (day[:, None] == np.arange(len(names))).astype(np.float64)
    size = member.sum(axis=0)

    def between(values: Array) -> Array:
        return np.asarray((((values @ member) / size) ** 2 * size).sum(axis=-1))

    centred, shuffled = series - series.mean(), permuted - series.mean()
    p = _p(float(between(centred)), between(shuffled))
    return Drift(sequence.assessor, measure, "day", len(series), p, False, None, levels), p


def _p(observed: float, drawn: Array) -> float:
    # Sums in another order differ by rounding: what is equal up to it counts as equal.
    return float((1 + (drawn >= observed * (1 - 1e-9)).sum()) / (1 + len(drawn)))


def _level(label: str, measure: Measure, values: Array) -> Level:
    mean = float(values.mean())
    return Level(label, len(values), float(np.exp(mean)) if measure == "speed" else mean)
