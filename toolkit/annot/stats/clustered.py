"""Estimates whose observations come in clusters, as pairs come in queries: intervals over whole clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.stats.intervals import Interval
from annot.stats.undefined import Undefined, Value

Array = npt.NDArray[np.float64]

FEWEST_TO_LEAVE_OUT = 4
"""Queries from which on a jackknife tells anything: Student's t of one or two degrees of freedom covers nearly all."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, how many judgements it rests on, and its interval."""

    value: Value
    n: int
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `of`, as a fraction 0..1."""

    count: int
    of: int
    value: Value
    interval: Interval | Undefined


def no_share(reason: str) -> Share:
    """A share that cannot be had."""
    return Share(0, 0, Undefined(reason), Undefined(reason))


def share(hits: npt.ArrayLike, queries: npt.ArrayLike, *, level: float) -> Share:
    """The share of observations that are hits, with an interval that takes whole queries for the units of chance.

    hits: shape (n,), true or false. queries: the query of each. The interval is Wilson's (1927, Journal of the American
    Statistical Association 22, 209-212), which keeps its coverage near 0 and 1, for as many observations as would tell
    so much were they independent, and with Student's t for the normal quantile (Dean and Pagano 2015, Journal of Survey
    Statistics and Methodology 3, 484-503). Where all are hits, or none, nothing shows how alike a query's are: they
    count as independent.
    """
    from scipy.special import stdtrit

    hits = np.asarray(hits, dtype=np.float64)
    n = len(hits)
    if not n:
        return no_share("nothing was observed")
    count, p = int(hits.sum()), float(hits.mean())
    variance, clusters = _variance_by_clusters((hits - p) / n, queries)
    if clusters < 2:
        return Share(count, n, p, Undefined(f"{clusters} query: an interval over queries needs two"))
    worth = float(n)
    if 0 < count < n and variance > 0:
        # Each observation a query of its own: n. All of a query alike: as many as there are queries.
        worth = min(worth, 1 + p * (1 - p) / variance)
    t = float(stdtrit(clusters - 1, 0.5 + level / 2))
    middle = (p + t * t / (2 * worth)) / (1 + t * t / worth)
    half = t / (1 + t * t / worth) * math.sqrt(p * (1 - p) / worth + t * t / (4 * worth * worth))
    low = 0.0 if count == 0 else middle - half
    high = 1.0 if count == n else middle + half
    return Share(count, n, p, Interval(low, high, level, f"Wilson, clustered by {clusters} queries"))


def clustered_interval(
    value: float, influence: Array, clusters: npt.ArrayLike, *, level: float
) -> Interval | Undefined:
    """An interval of an estimate whose observations come in clusters (queries), Student's t with one degree less.

    influence: shape (n,), what each observation adds to the estimate's error, summing to about 0. The variance is the
    sum of squares of the clusters' totals, times C / (C - 1) (Liang and Zeger 1986, Biometrika 73, 13-22).
    """
    from scipy.special import stdtrit

    variance, n_clusters = _variance_by_clusters(influence, clusters)
    if n_clusters < 2:
        return Undefined(f"{n_clusters} query: an interval over queries needs two")
    half = float(stdtrit(n_clusters - 1, 0.5 + level / 2)) * math.sqrt(variance)
    return Interval(value - half, value + half, level, f"clustered by {n_clusters} queries, Student's t")


def jackknife_interval(value: float, without: Array, *, level: float) -> Interval | Undefined:
    """An interval of a coefficient between -1 and 1 over whole queries: the delete-one jackknife with Student's t.

    without: shape (C,), the statistic with each query left out (Efron and Tibshirani 1993, chapter 11). It is taken on
    Fisher's scale, atanh, so that it never leaves the range (Fisher 1921, Metron 1, 3-32).
    """
    from scipy.special import stdtrit

    n = len(without)
    if n < FEWEST_TO_LEAVE_OUT:
        return Undefined(f"{n} quer{'y' if n == 1 else 'ies'}: an interval needs {FEWEST_TO_LEAVE_OUT}")
    if max(abs(value), float(np.abs(without).max())) >= 1:
        return Undefined("it is 1 or -1, on all queries or without one of them")
    scaled = np.arctanh(without)
    error = math.sqrt((n - 1) / n * float(((scaled - scaled.mean()) ** 2).sum()))
    if error <= 1e-12:
        return Undefined("it is the same whichever query is left out")
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    low, high = (math.tanh(math.atanh(value) + end) for end in (-half, half))
    return Interval(low, high, level, f"jackknife over {n} queries on Fisher's scale, Student's t")


def _variance_by_clusters(influence: Array, clusters: npt.ArrayLike) -> tuple[float, int]:
    """The variance of an estimate, and how many clusters there are; nan for fewer than two."""
    _, of = np.unique(np.asarray(clusters), return_inverse=True)
    n_clusters = int(of.max()) + 1 if len(of) else 0
    if n_clusters < 2:
        return math.nan, n_clusters
    totals = np.bincount(of, weights=influence)
    return float((totals**2).sum()) * n_clusters / (n_clusters - 1), n_clusters


def mean_by_queries(values: Array, queries: npt.ArrayLike, *, level: float) -> Estimate:
    """A mean with its interval clustered by query."""
    if not len(values):
        nothing = Undefined("no judgements")
        return Estimate(nothing, 0, nothing)
    mean = float(values.mean())
    interval = clustered_interval(mean, (values - mean) / len(values), queries, level=level)
    return Estimate(mean, len(values), interval)
