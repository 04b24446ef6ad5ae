"""Intervals over queries, with each topic as one unit of chance: shares, means, and pooled figures.

Observations come in clusters, as pairs come in queries: those of one query share its difficulty and its assessors.
Queries come in clusters too if a study asks several facets of a paper: they share its pool, and people carry their
strictness from one to the next. Then the paper is the unit; if each query has a paper of its own, the query is.
`benchmarks/interval_coverage.py` counts how often each of these intervals contains the true value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.stats.arrays import Array, Integers
from annot.base.stats.significance import TIE
from annot.base.stats.values import Estimate, Interval, Share, Undefined

FEWEST_QUERIES = 4
"""Least number of topics, or queries with a paper of their own: with fewer, an interval of kappa or of a mean covers
nearly all possible values.
"""


class Clusters(NamedTuple):
    """Units of chance of some queries or observations."""

    of: Integers
    """Shape (n,): place of the unit of each, from 0."""
    n: int
    """Number of units."""
    unit: str
    """Name of a unit: "query", or "query paper" if several of the queries are of one paper."""

    def summed(self, values: Array) -> Array:
        """Sums by unit of `values`, shape (n, ...)."""
        if values.ndim == 1:
            return np.asarray(np.bincount(self.of, weights=values, minlength=self.n), dtype=np.float64)
        sums = np.zeros((self.n, *values.shape[1:]))
        np.add.at(sums, self.of, values)
        return sums


def clusters_of(queries: npt.ArrayLike, topics: npt.ArrayLike | None) -> Clusters:
    """Units of chance: the papers if several queries are of one, else the queries.

    queries: shape (n,), the query of each observation, or each query once. topics: shape (n,), the topic of each; None
    takes the queries as independent.
    """
    names, unit_of = np.unique(np.asarray(queries), return_inverse=True)
    by_query = Clusters(unit_of, len(names), "query")
    if topics is not None:
        names, unit_of = np.unique(np.asarray(topics), return_inverse=True)
        if len(names) < by_query.n:
            return Clusters(unit_of, len(names), "query paper")
    return by_query


def share(hits: npt.ArrayLike, queries: npt.ArrayLike, *, level: float, topics: npt.ArrayLike | None = None) -> Share:
    """Share of observations that are hits. hits: shape (n,), true or false. queries, topics: of each."""
    clusters = clusters_of(queries, topics)
    hits = np.asarray(hits, dtype=np.float64)
    return _share(clusters.summed(hits), clusters.summed(np.ones(len(hits))), level=level, unit=clusters.unit)


def share_of_counts(
    hits: npt.ArrayLike, sizes: npt.ArrayLike, *, level: float, topics: Sequence[str] | None = None
) -> Share:
    """Share of observations that are hits. hits, sizes: shape (Q,), of each query. topics: of each query."""
    hits, sizes = np.asarray(hits, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    not_empty = sizes > 0
    topics = None if topics is None else list(itertools.compress(topics, not_empty))
    clusters = clusters_of(np.flatnonzero(not_empty), topics)
    return _share(clusters.summed(hits[not_empty]), clusters.summed(sizes[not_empty]), level=level, unit=clusters.unit)


def _share(hits: Array, sizes: Array, *, level: float, unit: str) -> Share:
    """Share, with an interval that takes whole queries, or whole topics, for the units of chance.

    hits, sizes: shape (C,), of each unit. The interval is Wilson's (1927, Journal of the American Statistical
    Association 22, 209-212), which keeps its coverage near 0 and 1, for the effective number of independent
    observations, and with Student's t for the normal quantile (Dean and Pagano 2015, Journal of Survey Statistics and
    Methodology 3, 484-503). If all are hits, or none, the likeness within a unit is unknown: they count as independent.
    """
    from scipy.special import stdtrit

    if not len(sizes):
        return no_share("there is nothing to count")
    count, n, n_units = float(hits.sum()), float(sizes.sum()), len(sizes)
    p = min(1.0, max(0.0, count / n))
    if n_units < 2:
        return Share(round(count), round(n), p, Undefined(f"one {unit}: an interval over {plural(unit)} needs two"))
    effective = n
    variance = _variance((hits - p * sizes) / n)
    if 0 < count < n and variance > 0:
        # Each observation a unit of its own: n. All of a unit alike: as many as there are units.
        effective = min(effective, 1 + p * (1 - p) / variance)
    low, high = wilson(p, effective, float(stdtrit(n_units - 1, 0.5 + level / 2)))
    return Share(
        round(count), round(n), p, Interval(low, high, level, f"Wilson, clustered by {n_units} {plural(unit)}")
    )


def wilson(share: float, worth: float, quantile: float) -> tuple[float, float]:
    """Ends of Wilson's interval of a share of so many independent observations."""
    spread = quantile * quantile / worth
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return 0.0 if share == 0 else middle - half, 1.0 if share == 1 else middle + half


def no_share(reason: str) -> Share:
    """Share that is not defined."""
    return Share(0, 0, Undefined(reason), Undefined(reason))


def clustered_interval(
    value: float,
    influence: Array,
    queries: npt.ArrayLike,
    *,
    level: float,
    most: float,
    topics: npt.ArrayLike | None = None,
) -> Interval | Undefined:
    """Interval of an estimate between -most and most, Student's t with one degree less than there are units.

    influence: shape (n,), contribution of each observation to the estimate's error, summing to about 0. queries,
    topics: of each. The variance is the sum of squares of the units' totals, times C / (C - 1) (Liang and Zeger 1986,
    Biometrika 73, 13-22).
    """
    from scipy.special import stdtrit

    clusters = clusters_of(queries, topics)
    totals: Array = np.bincount(clusters.of, weights=influence).astype(np.float64)
    n = clusters.n
    if n < FEWEST_QUERIES:
        return too_few(n, unit=clusters.unit)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * math.sqrt(_variance(totals))
    method = f"clustered by {n} {plural(clusters.unit)}, Student's t"
    return Interval(max(-most, value - half), min(most, value + half), level, method)


def parts_of_mean(values: Array, clusters: Sequence[str]) -> Array:
    """Contribution of each cluster to the mean of each row: shape (K, n) gives (K, C), clusters in order.

    The parts are scaled so that their own mean is that of the row, whatever the clusters' sizes.
    """
    _, cluster_of = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.stack([np.bincount(cluster_of, weights=row) for row in values])
    return np.asarray(sums * (sums.shape[1] / len(cluster_of)))


def mean_interval(
    values: Array, *, level: float, least: float, most: float, topics: Sequence[str] | None = None
) -> Interval | Undefined:
    """Interval of the mean over queries of `values`, shape (Q,), each from least to most: by the jackknife.

    topics: the topic of each query; whole topics are left out if several queries are of one.
    """
    clusters = clusters_of(range(len(values)), topics)
    sizes = np.bincount(clusters.of, minlength=clusters.n)
    others = (values.sum() - clusters.summed(values)) / np.maximum(1, len(values) - sizes)
    return jackknife_interval(float(values.mean()), others, level=level, least=least, most=most, unit=clusters.unit)


def ratio_interval(
    sums: Array, sizes: Array, *, level: float, unit: str, least: float = 0.0, most: float = 1.0
) -> Interval | Undefined:
    """Interval of the mean, over strata, of (sum of `sums`) / (sum of `sizes`): by the jackknife over clusters.

    sums, sizes: shape (C, S), C clusters in S strata; one stratum for a plain share or mean. unit: what a cluster is.
    """
    value, without = leaving_out(sums, sizes)
    return jackknife_interval(value, without, level=level, least=least, most=most, unit=unit)


def pseudo_values(sums: Array, sizes: Array, unit: str) -> Array | Undefined:
    """Pseudo-values, shape (C,), around the figure of `ratio_interval`: their scatter is the jackknife's (Tukey 1958).

    Where each cluster has one observation, they are the observations.
    """
    value, without = leaving_out(sums, sizes)
    if np.isnan(without).any():
        return no_value_without(unit)
    return np.asarray(value + (len(sums) - 1) * (without.mean() - without))


def leaving_out(sums: Array, sizes: Array) -> tuple[float, Array]:
    """Mean over strata of (sum of `sums`) / (sum of `sizes`), and the same without each cluster, shape (C,)."""
    with np.errstate(invalid="ignore"):  # A stratum of one cluster is empty without it: nan.
        without = ((sums.sum(axis=0) - sums) / (sizes.sum(axis=0) - sizes)).mean(axis=1)
    return float((sums.sum(axis=0) / sizes.sum(axis=0)).mean()), without


def jackknife_interval(
    value: float, without: Array, *, level: float, least: float = -1.0, most: float = 1.0, unit: str = "query"
) -> Interval | Undefined:
    """Interval of a figure between least and most over whole units: the delete-one jackknife with Student's t.

    without: shape (C,), the figure with each unit left out (Efron and Tibshirani 1993, An Introduction to the
    Bootstrap, chapter 11), nan if it has no value. It is taken on the scale of Fisher's z, artanh of values between -1
    and 1, which has no ends (Fisher 1921, Metron 1, 3-32).
    """
    from scipy.special import stdtrit

    n, middle, width = len(without), (least + most) / 2, (most - least) / 2
    if n < FEWEST_QUERIES:
        return too_few(n, unit=unit)
    if np.isnan(without).any():
        return no_value_without(unit)
    scaled, scaled_without = (value - middle) / width, (without - middle) / width
    if max(abs(scaled), float(np.abs(scaled_without).max())) >= 1:
        return Undefined(f"the value is {most:g} or {least:g}, on all {plural(unit)} or without one of them")
    z, left_out = math.atanh(scaled), np.arctanh(scaled_without)
    error = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
    if error <= TIE:
        return the_same(unit)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    method = f"jackknife over {n} {plural(unit)}, Fisher's z, Student's t"
    return Interval(middle + width * math.tanh(z - half), middle + width * math.tanh(z + half), level, method)


def mean_by_queries(
    values: Array, queries: npt.ArrayLike, *, level: float, most: float, topics: npt.ArrayLike | None = None
) -> Estimate:
    """Mean of values between -most and most, with its interval clustered by query, or by paper."""
    if not len(values):
        nothing = Undefined("no judgements")
        return Estimate(nothing, nothing)
    mean = float(values.mean())
    influence = (values - mean) / len(values)
    return Estimate(mean, clustered_interval(mean, influence, queries, level=level, most=most, topics=topics))


def _variance(totals: Array) -> float:
    """Variance of an estimate, from the contributions of two units or more to its error."""
    return float((totals**2).sum()) * len(totals) / (len(totals) - 1)


def too_few(n: int, fewest: int = FEWEST_QUERIES, unit: str = "query") -> Undefined:
    """Reason why there is no interval over n units."""
    units = plural(unit)
    return Undefined(
        f"{n} {unit if n == 1 else units}: an interval over {units} needs {fewest}", f"fewer than {fewest} {units}"
    )


def no_value_without(unit: str) -> Undefined:
    """Reason why there is no interval of a figure that needs every unit."""
    return Undefined(f"without one of the {plural(unit)}, it has no value")


def the_same(unit: str) -> Undefined:
    """Reason why there is no interval of a figure that no unit changes."""
    return Undefined(f"leaving out any {unit} does not change it, so how it varies over {plural(unit)} is not known")


def plural(unit: str) -> str:
    return "queries" if unit == "query" else f"{unit}s"
