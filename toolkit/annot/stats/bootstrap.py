"""Intervals by resampling whole queries: pairs of one query share its difficulty and assessors, so they go together.

What is resampled may also be larger than a query, such as the papers that queries were made of. Percentile and BCa
intervals after Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 13 and 14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.stats.rounding import rounding
from annot.stats.seeding import generator
from annot.stats.significance import TIE
from annot.stats.values import Interval, Intervals, Undefined

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


class Weights(NamedTuple):
    """How often each of n queries counts: as they are, shape (1, n); in each resample, (B, n); without each, (n, n)."""

    whole: Array
    drawn: Array
    left_out: Array


def draw(n_queries: int, *, plan: Bootstrap, key: str) -> Indices:
    """Positions of the queries in each resample, shape (resamples, n_queries). `key` names what is resampled."""
    return generator(plan.seed, "bootstrap", key).integers(0, n_queries, size=(plan.resamples, n_queries))


def weights_of(n_queries: int, *, plan: Bootstrap, key: str) -> Weights:
    """The same as weights. Figures of one key see the same resamples and can be compared."""
    drawn = draw(n_queries, plan=plan, key=key)
    times = np.stack([np.bincount(row, minlength=n_queries) for row in drawn]).astype(np.float64)
    return Weights(np.ones((1, n_queries)), times, 1 - np.eye(n_queries))


def of_clusters(sums: Array, sizes: Array, *, cluster: str, plan: Bootstrap, key: str) -> Intervals:
    """Intervals of the mean, over strata, of (sum of `sums`) / (sum of `sizes`), by resampling the clusters.

    sums, sizes: shape (C, S), C clusters in S strata; one stratum for a plain share or mean. In a resample that leaves
    a stratum without any observation the figure has no value. cluster: what one is called.
    """
    if len(sizes) < 2:
        return too_few(len(sizes), cluster)
    weightings = weights_of(len(sizes), plan=plan, key=key)
    whole, replicates, left_out = (_mean_ratio(sums, sizes, weights) for weights in weightings)
    return intervals(estimate=float(whole[0]), replicates=replicates, left_out=left_out, level=plan.level)


@rounding
def intervals(*, estimate: float, replicates: Array, left_out: Array, level: float) -> Intervals:
    """Both intervals of `estimate`.

    replicates: shape (B,), the statistic on each resample. left_out: shape (Q,), the statistic without each query.
    nan marks what has no value.
    """
    if np.isnan(estimate):
        return none("the figure itself has no value")
    defined = replicates[~np.isnan(replicates)]
    lost = len(replicates) - len(defined)
    if lost > MAX_UNDEFINED * len(replicates):
        return none(
            f"{lost} of {len(replicates)} resamples have no value",
            in_general=f"more than {100 * MAX_UNDEFINED:g}% of the resamples have no value",
        )

    def interval(method: str, tails: Sequence[float]) -> Interval:
        low, high = np.quantile(defined, tails)
        return Interval(float(low), float(high), level, method, len(replicates), lost)

    tails = ((1 - level) / 2, (1 + level) / 2)
    corrected = _bca_tails(estimate, defined, left_out, tails)
    bca = corrected if isinstance(corrected, Undefined) else interval("bca", corrected)
    return Intervals(percentile=interval("percentile", tails), bca=bca)


def too_few(n: int, unit: str) -> Intervals:
    """No interval of fewer than two."""
    return none(f"{n or 'no'} {unit}: nothing to resample")


def none(reason: str, *, in_general: str = "") -> Intervals:
    """Neither interval, for one reason."""
    return Intervals(Undefined(reason, in_general), Undefined(reason, in_general))


def _bca_tails(estimate: float, defined: Array, left_out: Array, tails: Sequence[float]) -> list[float] | Undefined:
    """Efron and Tibshirani 1993, equations 14.9-14.15; a resample equal to the estimate counts half below it."""
    if np.isnan(left_out).any():
        return Undefined("without one of the queries the figure has no value")
    # Sums in another order differ by rounding: what is equal up to it counts as equal.
    tie = TIE * max(1.0, abs(estimate))
    equal = np.abs(defined - estimate) <= tie
    below = float(np.mean((defined < estimate) & ~equal) + np.mean(equal) / 2)
    if not 0 < below < 1:
        return Undefined("all resamples lie on one side of the figure")
    gaps = left_out.mean() - left_out
    spread = float((gaps**2).sum())
    if spread <= tie**2:
        return Undefined("the figure is the same whichever query is left out")
    acceleration = float((gaps**3).sum()) / (6 * spread**1.5)
    normal = NormalDist()
    z0 = normal.inv_cdf(below)
    shifted = [z0 + normal.inv_cdf(tail) for tail in tails]
    return [normal.cdf(z0 + z / (1 - acceleration * z)) for z in shifted]


def mean_of_rows(values: Array) -> Array:
    """The mean of the defined values in each row, nan where none is."""
    there = ~np.isnan(values)
    result = np.full(len(values), np.nan)
    np.divide(np.where(there, values, 0.0).sum(axis=1), there.sum(axis=1), out=result, where=there.any(axis=1))
    return result


def _mean_ratio(sums: Array, sizes: Array, weights: Array) -> Array:
    """The figure under each weighting of the clusters, shape (B,); nan where a stratum is empty."""
    total, of = weights @ sums, weights @ sizes
    ratios = np.full(total.shape, np.nan)
    np.divide(total, of, out=ratios, where=of > 0)
    return np.asarray(ratios.mean(axis=1))
