"""Intervals by resampling whole queries: pairs of one query share its difficulty and assessors, so they go together.

Percentile and BCa intervals after Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 13 and 14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from annot.stats.intervals import Interval, Intervals
from annot.stats.rounding import rounding
from annot.stats.seeding import generator
from annot.stats.significance import TIE
from annot.stats.undefined import Undefined

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

MAX_UNDEFINED = 0.05
"""An interval that leaves out more than this share of its resamples would be one of the well-behaved data only."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are drawn: `resamples` times, at confidence `level` (0..1), from `seed`."""

    resamples: int
    level: float
    seed: int


def draw(n_queries: int, *, plan: Bootstrap, key: str) -> Indices:
    """Positions of the queries in each resample, shape (resamples, n_queries). `key` names what is resampled."""
    return generator(plan.seed, "bootstrap", key).integers(0, n_queries, size=(plan.resamples, n_queries))


def of_queries(values: Array, *, statistic: str, plan: Bootstrap, key: str) -> Intervals:
    """Intervals of the `median` or `mean` of `values`, shape (Q,), one a query, nan where it has none.

    Queries without a value take part in the resampling, so that the interval also shows how often there is none.
    """
    if len(values) < 2:
        return too_few(len(values))
    of = QUERY_STATISTICS[statistic]
    others = values[all_but_one(len(values))]
    return intervals(
        estimate=float(of(values[None, :])[0]),
        replicates=of(values[draw(len(values), plan=plan, key=key)]),
        left_out=of(others),
        level=plan.level,
    )


def of_ratio(parts: Array, wholes: Array, *, plan: Bootstrap, key: str) -> Intervals:
    """Intervals of sum(parts) / sum(wholes), both of shape (Q,), one a query: a share of all pairs together."""
    if len(parts) < 2:
        return too_few(len(parts))

    def of(at: Indices) -> Array:
        whole = wholes[at].sum(axis=1)
        result = np.full(len(at), np.nan)
        np.divide(parts[at].sum(axis=1), whole, out=result, where=whole > 0)
        return result

    return intervals(
        estimate=float(of(np.arange(len(parts))[None, :])[0]),
        replicates=of(draw(len(parts), plan=plan, key=key)),
        left_out=of(all_but_one(len(parts))),
        level=plan.level,
    )


@rounding
def intervals(*, estimate: float, replicates: Array, left_out: Array, level: float) -> Intervals:
    """Both intervals of `estimate`.

    replicates: shape (B,), the statistic on each resample. left_out: shape (Q,), the statistic without each query.
    nan marks what has no value.
    """
    if np.isnan(estimate):
        return _both("the figure itself has no value")
    defined = replicates[~np.isnan(replicates)]
    lost = len(replicates) - len(defined)
    if lost > MAX_UNDEFINED * len(replicates):
        return _both(
            f"{lost} of {len(replicates)} resamples have no value",
            in_general=f"more than {100 * MAX_UNDEFINED:g}% of the resamples have no value",
        )

    def interval(method: str, tails: Sequence[float]) -> Interval:
        low, high = np.quantile(defined, tails)
        return Interval(float(low), float(high), level, method, len(replicates), lost)

    tails = ((1 - level) / 2, (1 + level) / 2)
    try:
        bca: Interval | Undefined = interval("bca", _bca_tails(estimate, defined, left_out, tails))
    except _NoBCa as reason:
        bca = Undefined(str(reason))
    return Intervals(percentile=interval("percentile", tails), bca=bca)


class _NoBCa(Exception):
    """Why the BCa interval cannot be had."""


def _bca_tails(estimate: float, defined: Array, left_out: Array, tails: Sequence[float]) -> list[float]:
    """Efron and Tibshirani 1993, equations 14.9-14.15; a resample equal to the estimate counts half below it."""
    if np.isnan(left_out).any():
        raise _NoBCa("without one of the queries the figure has no value")
    # Sums in another order differ by rounding: what is equal up to it counts as equal.
    tie = TIE * max(1.0, abs(estimate))
    equal = np.abs(defined - estimate) <= tie
    below = float(np.mean((defined < estimate) & ~equal) + np.mean(equal) / 2)
    if not 0 < below < 1:
        raise _NoBCa("all resamples lie on one side of the figure")
    gaps = left_out.mean() - left_out
    spread = float((gaps**2).sum())
    if spread <= tie**2:
        raise _NoBCa("the figure is the same whichever query is left out")
    acceleration = float((gaps**3).sum()) / (6 * spread**1.5)
    normal = NormalDist()
    z0 = normal.inv_cdf(below)
    shifted = [z0 + normal.inv_cdf(tail) for tail in tails]
    return [normal.cdf(z0 + z / (1 - acceleration * z)) for z in shifted]


def _median(values: Array) -> Array:
    """The median of the defined values in each row, nan where none is; many times faster than nanmedian."""
    ordered = np.sort(values, axis=1)  # nan sorts last
    n = np.count_nonzero(~np.isnan(values), axis=1)
    rows = np.arange(len(values))
    lower = ordered[rows, np.maximum(n - 1, 0) // 2]
    return np.asarray((lower + ordered[rows, n // 2]) / 2)


def _mean(values: Array) -> Array:
    there = ~np.isnan(values)
    result = np.full(len(values), np.nan)
    np.divide(np.where(there, values, 0.0).sum(axis=1), there.sum(axis=1), out=result, where=there.any(axis=1))
    return result


QUERY_STATISTICS: dict[str, Callable[[Array], Array]] = {"median": _median, "mean": _mean}


def all_but_one(n: int) -> Indices:
    """Positions of the others, shape (n, n - 1)."""
    return np.array([[at for at in range(n) if at != left] for left in range(n)], dtype=np.int64)


def _both(reason: str, *, in_general: str = "") -> Intervals:
    return Intervals(Undefined(reason, in_general), Undefined(reason, in_general))


def too_few(n_queries: int) -> Intervals:
    return _both(f"{n_queries} query: nothing to resample" if n_queries == 1 else "no query to resample")
