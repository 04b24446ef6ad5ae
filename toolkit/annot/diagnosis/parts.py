"""What the disagreement of every two assessors is made of: severity, thresholds, noise, and what is ordinary."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.diagnosis.findings import NAMED, Named, Selected, variance_ratio
from annot.diagnosis.ordinal import grade_probabilities
from annot.diagnosis.panel import NO_GRADE, Panel
from annot.stats.clustered import share
from annot.stats.values import Estimate, Interval, Share, Undefined, Value

Array = npt.NDArray[np.float64]
CAUSES: tuple[Named, ...] = ("severity", "threshold", "noise")


@dataclass(frozen=True, slots=True)
class Crossing:
    """How two assessors stand to one threshold: pairs that one puts at it or above, the other below."""

    grade: int
    first_above: int
    second_above: int


@dataclass(frozen=True, slots=True)
class PairDiagnosis:
    """What the disagreement of two assessors is made of."""

    first: str
    second: str
    differ: Share
    """Of their common pairs, those with two grades."""
    expected: Value
    """The same share as the model with the findings has it."""
    parts: dict[str, Estimate]
    """What severity, thresholds and noise add to `expected`, as a share of all pairs; exactly 0 where nothing was
    found. Each is its mean contribution over all orders of adding them (Shapley 1953)."""
    ordinary: Value
    """The rest of `expected`: what two assessors without findings differ in."""
    crossings: tuple[Crossing, ...]


def pair_diagnoses(panel: Panel, selected: Selected, *, level: float) -> tuple[PairDiagnosis, ...]:
    """Every two assessors with a pair in common, by name."""
    from scipy.special import ndtri

    grades = panel.grades[selected.rows]
    judged = grades != NO_GRADE
    couples = [
        (a, b) for a, b in itertools.combinations(range(len(panel.assessors)), 2) if (judged[:, a] & judged[:, b]).any()
    ]
    weights = np.array([mix_of_queries(selected, couple) for couple in couples])
    parts, ordinary = _parts(selected, couples, weights, selected.fitted.sizes)
    half = float(ndtri(0.5 + level / 2)) * _errors(selected, couples, weights)
    low, high = np.maximum(parts - half, -1.0), np.minimum(parts + half, 1.0)
    found = []
    for at, (a, b) in enumerate(couples):
        rows = np.flatnonzero(judged[:, a] & judged[:, b])
        first, second = grades[rows, a], grades[rows, b]
        involved = {NAMED[effect.kind] for effect in selected.fitted.effects if effect.assessor in (a, b)}
        intervals = [
            Interval(float(low[row, at]), float(high[row, at]), level, "delta method, from the model")
            if cause in involved
            else Undefined("no such finding for either")
            for row, cause in enumerate(CAUSES)
        ]
        found.append(
            PairDiagnosis(
                first=panel.assessors[a],
                second=panel.assessors[b],
                differ=share(first != second, [panel.query_ids[i] for i in selected.rows[rows]], level=level),
                expected=float(parts[:, at].sum() + ordinary[at]),
                parts={
                    cause: Estimate(float(part), interval)
                    for cause, part, interval in zip(CAUSES, parts[:, at], intervals, strict=True)
                },
                ordinary=float(ordinary[at]),
                crossings=tuple(
                    Crossing(
                        panel.scale[k],
                        int(((first >= k) & (second < k)).sum()),
                        int(((first < k) & (second >= k)).sum()),
                    )
                    for k in range(1, len(panel.scale))
                ),
            )
        )
    return tuple(found)


def covariance(selected: Selected) -> Array:
    """Of the effects' numbers; that of noise is widened where queries vary more than pairs."""
    n = len(selected.fitted.effects)
    narrow = np.linalg.pinv(selected.fitted.information, rcond=1e-12)[-n:, -n:] if n else np.zeros((0, 0))
    noisy = [NAMED[effect.kind] == "noise" for effect in selected.fitted.effects]
    wider = np.sqrt([variance_ratio(selected.fitted, at) if noise else 1.0 for at, noise in enumerate(noisy)])
    return np.asarray(narrow * np.outer(wider, wider))


def mix_of_queries(selected: Selected, assessors: Sequence[int]) -> Array:
    """The share of each query in the pairs that all of these assessors judged, shape (Q,)."""
    patterns = selected.fitted.patterns
    both = (patterns.grades[:, list(assessors)] >= 0).all(axis=1)
    counts = np.bincount(patterns.query[both], weights=patterns.count[both], minlength=len(patterns.facet_of_query))
    return np.asarray(counts / counts.sum())


def _parts(selected: Selected, couples: Sequence[tuple[int, int]], weights: Array, sizes: Array) -> tuple[Array, Array]:
    """Shapley parts of severity, thresholds and noise, shape (3, couples), and the rest, shape (couples,)."""
    kinds = [NAMED[effect.kind] for effect in selected.fitted.effects]
    present = [cause for cause in CAUSES if cause in kinds]
    differ: dict[frozenset[Named], Array] = {}
    for taken in itertools.chain.from_iterable(itertools.combinations(present, n) for n in range(len(present) + 1)):
        kept = np.array([size if kind in taken else 0.0 for size, kind in zip(sizes, kinds, strict=True)])
        tables, nodes = grade_probabilities(selected.fitted, kept)
        same = np.array([((tables[:, a] * tables[:, b]).sum(axis=1) @ nodes) for a, b in couples])
        differ[frozenset(taken)] = 1.0 - (weights * same).sum(axis=1)
    parts = np.zeros((len(CAUSES), len(couples)))
    for order in itertools.permutations(present):
        for place, cause in enumerate(order):
            before = frozenset(order[:place])
            parts[CAUSES.index(cause)] += (differ[before | {cause}] - differ[before]) / math.factorial(len(present))
    return parts, differ[frozenset()]


def _errors(selected: Selected, couples: Sequence[tuple[int, int]], weights: Array) -> Array:
    """Standard errors of the parts by the uncertainty of the effects' numbers, shape (3, couples)."""
    sizes = selected.fitted.sizes
    if not len(sizes):
        return np.zeros((len(CAUSES), len(couples)))
    slopes = []
    for at in range(len(sizes)):
        step = np.zeros_like(sizes)
        step[at] = 1e-3
        above, below = (_parts(selected, couples, weights, sizes + sign * step)[0] for sign in (1, -1))
        slopes.append((above - below) / 2e-3)
    slope = np.array(slopes)  # (effects, 3, couples)
    variance = np.einsum("icp,ij,jcp->cp", slope, covariance(selected), slope)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
