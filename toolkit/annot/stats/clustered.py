"""Intervals over queries, each query one unit of chance: shares, means, medians, and what is pooled over queries.

Observations come in clusters, as pairs come in queries: those of one query share its difficulty and its assessors.
`benchmarks/interval_coverage.py` counts how often each of these intervals holds what it should.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from annot.stats.arrays import Array
from annot.stats.significance import TIE
from annot.stats.values import Estimate, Interval, Share, Undefined

FEWEST_QUERIES = 4
"""Below, an interval of kappa or of a mean covers nearly all that is possible."""
SAME = "it is the same whichever query is left out, which says nothing of other queries"


def share(hits: npt.ArrayLike, queries: npt.ArrayLike, *, level: float) -> Share:
    """The share of observations that are hits. hits: shape (n,), true or false. queries: the query of each."""
    _, place = np.unique(np.asarray(queries), return_inverse=True)
    hits = np.asarray(hits, dtype=np.float64)
    return share_of_counts(np.bincount(place, weights=hits), np.bincount(place), level=level)


def share_of_counts(hits: npt.ArrayLike, sizes: npt.ArrayLike, *, level: float) -> Share:
    """The share of observations that are hits, with an interval that takes whole queries for the units of chance.

    hits, sizes: shape (Q,), of each query. The interval is Wilson's (1927, Journal of the American Statistical
    Association 22, 209-212), which keeps its coverage near 0 and 1, for as many observations as would tell so much were
    they independent, and with Student's t for the normal quantile (Dean and Pagano 2015, Journal of Survey Statistics
    and Methodology 3, 484-503). Where all are hits, or none, nothing shows how alike a query's are: they count as
    independent.
    """
    from scipy.special import stdtrit

    hits, sizes = np.asarray(hits, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    if not len(sizes):
        return no_share("nothing was observed")
    count, n, n_queries = int(hits.sum()), int(sizes.sum()), len(sizes)
    p = count / n
    if n_queries < 2:
        return Share(count, n, p, Undefined("one query: an interval over queries needs two"))
    worth = float(n)
    variance = _variance((hits - p * sizes) / n)
    if 0 < count < n and variance > 0:
        # Each observation a query of its own: n. All of a query alike: as many as there are queries.
        worth = min(worth, 1 + p * (1 - p) / variance)
    t = float(stdtrit(n_queries - 1, 0.5 + level / 2))
    middle = (p + t * t / (2 * worth)) / (1 + t * t / worth)
    half = t / (1 + t * t / worth) * math.sqrt(p * (1 - p) / worth + t * t / (4 * worth * worth))
    low = 0.0 if count == 0 else middle - half
    high = 1.0 if count == n else middle + half
    return Share(count, n, p, Interval(low, high, level, f"Wilson, clustered by {n_queries} queries"))


def no_share(reason: str) -> Share:
    """A share that cannot be had."""
    return Share(0, 0, Undefined(reason), Undefined(reason))


def clustered_interval(
    value: float, influence: Array, queries: npt.ArrayLike, *, level: float, most: float
) -> Interval | Undefined:
    """An interval of an estimate between -most and most, Student's t with one degree less than there are queries.

    influence: shape (n,), what each observation adds to the estimate's error, summing to about 0. The variance is the
    sum of squares of the queries' totals, times Q / (Q - 1) (Liang and Zeger 1986, Biometrika 73, 13-22).
    """
    from scipy.special import stdtrit

    _, place = np.unique(np.asarray(queries), return_inverse=True)
    totals: Array = np.bincount(place, weights=influence).astype(np.float64)
    n = len(totals)
    if n < FEWEST_QUERIES:
        return too_few(n)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * math.sqrt(_variance(totals))
    method = f"clustered by {n} queries, Student's t"
    return Interval(max(-most, value - half), min(most, value + half), level, method)


def parts_of_mean(values: Array, clusters: Sequence[str]) -> Array:
    """What each cluster adds to the mean of each row: shape (K, n) gives (K, C), clusters in order.

    The parts are scaled so that their own mean is that of the row, whatever the clusters' sizes.
    """
    _, of = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.stack([np.bincount(of, weights=row) for row in values])
    return np.asarray(sums * (sums.shape[1] / len(of)))


def mean_interval(values: Array, *, level: float, least: float, most: float) -> Interval | Undefined:
    """An interval of the mean over queries of `values`, shape (Q,), each from least to most: by the jackknife."""
    others = (values.sum() - values) / max(1, len(values) - 1)
    return jackknife_interval(float(values.mean()), others, level=level, least=least, most=most)


def median_interval(values: Array, *, level: float) -> Interval | Undefined:
    """An interval of the median over queries of `values`, shape (Q,): two of them, or points between neighbours.

    The k-th value from either end holds the median between with a chance that is binomial, whatever the distribution
    (the sign test turned round). Between the k that holds it more often than `level` and the next, the ends are
    interpolated as Hettmansperger and Sheather 1986, Statistics and Probability Letters 4, 75-79.
    """
    from scipy.special import bdtr

    n = len(values)
    # How often the k-th values from both ends hold the median, from k = 1.
    held = [1 - 2 * float(bdtr(k - 1, n, 0.5)) for k in range(1, n // 2 + 1)]
    k = sum(chance >= level for chance in held)
    if k == 0:
        fewest = math.ceil(1 - math.log2(1 - level))
        return too_few(n, fewest)
    ordered = np.sort(values)
    next_held = held[k] if k < len(held) else 0.0
    to_next = (held[k - 1] - level) / (held[k - 1] - next_held)
    inwards = (n - k) * to_next / (k + (n - 2 * k) * to_next)
    low = (1 - inwards) * ordered[k - 1] + inwards * ordered[k]
    high = (1 - inwards) * ordered[n - k] + inwards * ordered[n - k - 1]
    if low >= high:
        return Undefined(SAME)
    return Interval(float(low), float(high), level, f"order statistics of {n} queries")


def ratio_interval(
    sums: Array, sizes: Array, *, level: float, unit: str, least: float = 0.0, most: float = 1.0
) -> Interval | Undefined:
    """An interval of the mean, over strata, of (sum of `sums`) / (sum of `sizes`): by the jackknife over clusters.

    sums, sizes: shape (C, S), C clusters in S strata; one stratum for a plain share or mean. unit: what a cluster is.
    """
    with np.errstate(invalid="ignore"):  # A stratum of one cluster is empty without it: nan.
        without = ((sums.sum(axis=0) - sums) / (sizes.sum(axis=0) - sizes)).mean(axis=1)
    value = float((sums.sum(axis=0) / sizes.sum(axis=0)).mean())
    return jackknife_interval(value, without, level=level, least=least, most=most, unit=unit)


def jackknife_interval(
    value: float, without: Array, *, level: float, least: float = -1.0, most: float = 1.0, unit: str = "query"
) -> Interval | Undefined:
    """An interval of a figure between least and most over whole queries: the delete-one jackknife with Student's t.

    without: shape (Q,), the figure with each query left out (Efron and Tibshirani 1993, An Introduction to the
    Bootstrap, chapter 11), nan where it has no value. It is taken on the scale of Fisher's z, artanh of what lies
    between -1 and 1, which has no ends (Fisher 1921, Metron 1, 3-32).
    """
    from scipy.special import stdtrit

    n, middle, width = len(without), (least + most) / 2, (most - least) / 2
    if n < FEWEST_QUERIES:
        return too_few(n, unit=unit)
    if np.isnan(without).any():
        return Undefined(f"it has no value without one of the {_plural(unit)}")
    scaled, of_others = (value - middle) / width, (without - middle) / width
    if max(abs(scaled), float(np.abs(of_others).max())) >= 1:
        return Undefined(f"it is {most:g} or {least:g}, on all {_plural(unit)} or without one of them")
    z, left_out = math.atanh(scaled), np.arctanh(of_others)
    error = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
    if error <= TIE:
        return Undefined(SAME)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    method = f"jackknife over {n} {_plural(unit)}, Fisher's z, Student's t"
    return Interval(middle + width * math.tanh(z - half), middle + width * math.tanh(z + half), level, method)


def mean_by_queries(values: Array, queries: npt.ArrayLike, *, level: float, most: float) -> Estimate:
    """The mean of values between -most and most, with its interval clustered by query."""
    if not len(values):
        nothing = Undefined("no judgements")
        return Estimate(nothing, nothing)
    mean = float(values.mean())
    return Estimate(mean, clustered_interval(mean, (values - mean) / len(values), queries, level=level, most=most))


def _variance(totals: Array) -> float:
    """Of an estimate, from what each of two queries or more adds to its error."""
    return float((totals**2).sum()) * len(totals) / (len(totals) - 1)


def too_few(n: int, fewest: int = FEWEST_QUERIES, unit: str = "query") -> Undefined:
    """Why there is no interval over n queries."""
    units = _plural(unit)
    return Undefined(
        f"{n} {unit if n == 1 else units}: an interval over {units} needs {fewest}", f"fewer than {fewest} {units}"
    )


def _plural(unit: str) -> str:
    return "queries" if unit == "query" else f"{unit}s"
