"""Intervals, tests and power over topics, and the seeds of all that is drawn at random."""

from __future__ import annotations

import hashlib
import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.errors import UndefinedStatistic
from annot.base.libraries import special
from annot.base.names import counted, plural_of
from annot.base.stats.arrays import Array, Integers
from annot.base.stats.values import Estimate, Interval, Share, Undefined

# ----------------------------------------------------------------------------------------------------------------------
# Random generators, one for every key, so that draws for one query never move with another.
# ----------------------------------------------------------------------------------------------------------------------


def generator(seed: int, *key: str) -> np.random.Generator:
    """Local generator that follows from `seed` and `key` alone, on every machine and in every process."""
    digest = hashlib.sha256("\x1f".join([str(seed), *key]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


# ----------------------------------------------------------------------------------------------------------------------
# Tests of the differences between runs, correction of many p-values, and rank correlations.
#
# The tests are of the same queries under both runs: paired by query, they need no assumption on how measures are
# distributed, and follow from their seed alone: the same call gives the same p on every machine. A p from drawn
# permutations is (hits + 1) / (drawn + 1), never 0 (Phipson and Smyth 2010, Permutation P-values Should Never Be
# Zero). What has no value raises UndefinedStatistic.
# ----------------------------------------------------------------------------------------------------------------------


TIE = 1e-12
"""Share of their size up to which two sums are equal: sums of the same numbers in another order differ by rounding."""


def randomisation_tests(differences: Array, *, exact_up_to: int, permutations: int, seed: int) -> Array:
    """Two-sided p of each row by Fisher's paired randomisation test: the share of sign flips with a mean as far from 0.

    differences: shape (K, n), of each query the measure under one run less that under another; a row's p does not
    depend on the other rows. exact_up_to: with at most this many differing queries all 2^n flips are counted (the work
    is 2^(n/2): 40 take a second), with more, `permutations` are drawn from `seed`. When two never differ, p is 1.
    Raises UndefinedStatistic without a query. Fisher 1935, The Design of Experiments, section 21; for retrieval
    Smucker, Allan and Carterette 2007, A Comparison of Statistical Significance Tests.

    >>> darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]  # 1726 of 2^15 arrangements
    >>> (p,) = randomisation_tests(np.array([darwin]), exact_up_to=20, permutations=1, seed=0)
    >>> round(p * 2**15)
    1726
    """
    _check(differences)
    different = np.count_nonzero(differences, axis=1)
    p_values = np.ones(len(differences))
    few = different <= exact_up_to
    for row in np.flatnonzero(few):
        p_values[row] = _exact(differences[row][differences[row] != 0])
    if not few.all():
        p_values[~few] = _drawn(differences[~few], permutations, seed)
    return p_values


def t_tests(differences: Array) -> Array:
    """p of the two-sided paired t test of each row of `differences`, shape (K, n); nan if a row does not vary.

    Student 1908, The Probable Error of a Mean. Given besides the randomisation test, because papers report it.
    """
    n = differences.shape[1]
    spread = differences.std(axis=1, ddof=1) if n > 1 else np.zeros(len(differences))
    varies = spread > TIE * np.abs(differences).sum(axis=1)
    t = np.full(len(differences), np.nan)
    np.divide(differences.mean(axis=1) * math.sqrt(n), spread, out=t, where=varies)
    return np.asarray(2 * special.stdtr(n - 1, -np.abs(t)))


def tukey_tests(values: Array, pairs: Sequence[tuple[int, int]], *, permutations: int, seed: int) -> Array:
    """p of each pair of runs by the randomised Tukey HSD test, which corrects for their number by itself.

    values: shape (n, K), of each sampling unit its part of every run's mean. Each permutation shuffles the runs within
    every unit; p is the share of them in which the largest mean less the smallest is as large as the pair's difference,
    with +1 for the observed one. Carterette 2012, Multiple Testing in Statistical Analysis of Systems-Based Information
    Retrieval Experiments, ACM Transactions on Information Systems 30(1). It keeps its error rate where no run differs;
    where some do, the one distribution of all can name others that do not.
    """
    n, k = values.shape
    differences = np.abs(np.array([values[:, a].sum() - values[:, b].sum() for a, b in pairs]))
    observed = differences - TIE * np.abs(values).sum()
    draw = generator(seed, "tukey")
    hits = np.zeros(len(pairs), dtype=np.int64)
    for lot in _lots(permutations, n * k):
        shuffled = np.broadcast_to(values, (len(lot), n, k))
        ranges = np.ptp(draw.permuted(shuffled, axis=2).sum(axis=1), axis=1)
        hits += (ranges[:, None] >= observed).sum(axis=0)
    return np.asarray((hits + 1) / (permutations + 1))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Correct p-values, in their order, so that the probability of any false finding stays below the level.

    Source: Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6,
    65-70.

    >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    order, corrected = np.argsort(p_values, kind="stable"), np.empty(len(p_values))
    times = np.arange(len(p_values), 0, -1)
    corrected[order] = np.maximum.accumulate(np.minimum(1.0, times * np.asarray(p_values)[order]))
    return tuple(corrected.tolist())


def tau_b_of_rows(first: Array, second: Array) -> Array:
    """Kendall's tau-b between rankings of the same things, as scores; ties count for neither.

    first, second: shapes (B, n) and (B, n) or (1, n), which give (B,); nan with fewer than two things or where one side
    ties them all. Kendall 1945, The Treatment of Ties in Ranking Problems.

    >>> lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]  # Hollander and Wolfe 1973, page 187
    >>> taste = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    >>> round(float(tau_b_of_rows(np.array([lightness]), np.array([taste]))[0]), 4)
    0.4444
    """
    left, right = np.triu_indices(first.shape[1], k=1)
    x = np.sign(first[:, left] - first[:, right])
    y = np.sign(second[:, left] - second[:, right])
    untied = np.sqrt(np.abs(x).sum(axis=1) * np.abs(y).sum(axis=1))
    result = np.full(len(untied), np.nan)
    np.divide((x * y).sum(axis=1), untied, out=result, where=untied > 0)
    return result


def tau_ap(estimate: Sequence[float], reference: Sequence[float]) -> float:
    """Kendall's tau for rankings whose top matters: AP correlation of an estimated ranking with the reference.

    estimate, reference: the score of each thing, higher is better. Pick a thing of the estimated ranking at random, and
    another above it: twice the chance that the reference has them in the same order, less 1. nan with fewer than two
    things or where two tie. Yilmaz, Aslam and Robertson 2008, A New Rank Correlation Coefficient for Information
    Retrieval, SIGIR, equation 1.

    >>> tau_ap([4, 3, 2, 1], [4, 3, 2, 1]), tau_ap([1, 2, 3, 4], [4, 3, 2, 1])
    (1.0, -1.0)
    >>> round(tau_ap([3, 4, 2, 1], [4, 3, 2, 1]), 4)  # the first two change places
    0.3333
    """
    n = len(estimate)
    if n < 2 or len(set(estimate)) < n or len(set(reference)) < n:
        return math.nan
    order = sorted(range(n), key=lambda item: -estimate[item])
    right = (sum(reference[above] > reference[item] for above in order[:i]) / i for i, item in enumerate(order) if i)
    return 2 * math.fsum(right) / (n - 1) - 1


def _exact(d: Array) -> float:
    """Share of all sign flips of d, shape (n,), none 0, whose sum is as far from 0.

    A flip of all signs changes nothing, so the first sign is fixed. The others fall into halves whose sums are counted
    against each other: for each sum of one half, the sums of the other that lift it to the observed one.
    """
    observed, tie = abs(math.fsum(d)), TIE * float(np.abs(d).sum())
    if observed <= tie:
        return 1.0
    half = (len(d) + 1) // 2
    left = _sign_sums(d[1:half]) + d[0]
    right = np.sort(_sign_sums(d[half:]))
    above = len(right) - np.searchsorted(right, observed - tie - left, side="left")
    below = np.searchsorted(right, -observed + tie - left, side="right")
    return int(above.sum() + below.sum()) / (len(left) * len(right))


def _sign_sums(d: Array) -> Array:
    """Sums of d under all flips of signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in d:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _drawn(differences: Array, permutations: int, seed: int) -> Array:
    """p of each row from the same drawn flips: shape (K,)."""
    k, n = differences.shape
    observed = np.abs(differences.sum(axis=1)) - TIE * np.abs(differences).sum(axis=1)
    hits = np.zeros(k, dtype=np.int64)
    for signs in _drawn_flips(n, k, permutations, seed, "sign-flip"):
        hits += (np.abs(differences @ signs) >= observed[:, None]).sum(axis=1)
    return np.asarray((hits + 1) / (permutations + 1))


def _check(differences: Array) -> None:
    if differences.shape[1] == 0:
        raise UndefinedStatistic("no query has a value under both runs")
    if not np.isfinite(differences).all():
        raise UndefinedStatistic("a query has no finite value under one of the runs")


_TIE = 1e-10
"""Largest difference between equal statistics from 0 to 1, which differ by rounding only."""
_FLIPS_AT_ONCE = 400_000
"""Numbers in memory at once while flips are counted; does not change results."""


class MaxT(NamedTuple):
    """Corrected p of each pair, and the critical value."""

    p_values: Array
    """Shape (K,)."""
    least_p: float
    """Least p that this many units and flips allow: 2^(1 - n) if all are counted, whatever the number of pairs."""
    critical: float
    """Value of |t| that a pair must exceed to hold whatever the others do; infinite if none can."""


def max_t_tests(differences: Array, *, alpha: float, permutations: int, seed: int) -> MaxT:
    """Corrected two-sided p of each row of `differences`, shape (K, n): K pairs on the same n units.

    A pair's p is the share of flips in which the largest |t|, over it and all pairs with a smaller observed one, is as
    large as its own; no p is below that of a pair with a larger |t|. Where all 2^(n-1) flips are no more than
    `permutations` they are counted, else that many are drawn from `seed`, and the observed one counts with them. alpha:
    of `critical`. A pair that never differs has p 1. Raises UndefinedStatistic without a unit, or a finite value.

    >>> three = np.array([[2.0, 3, 2, 4, 3, 2], [0, 1, -1, 2, -1, 0], [1, 1, 2, 1, 1, 1]])
    >>> max_t_tests(three, alpha=0.05, permutations=1000, seed=0).p_values.tolist()  # of 32 flips
    [0.03125, 1.0, 0.03125]
    """
    _check(differences)
    k, n = differences.shape
    # |t| rises with the sum over its greatest value under any flips; that lies between 0 and 1 where t may be infinite.
    length = np.sqrt(n * (differences**2).sum(axis=1, keepdims=True))
    scaled = np.divide(differences, length, out=np.zeros((k, n)), where=length > 0)
    observed = np.abs(scaled.sum(axis=1))
    upwards = np.argsort(observed, kind="stable")
    hits, highest = np.zeros(k, dtype=np.int64), []
    exact = 2 ** (n - 1) <= permutations
    for signs in _all_flips(n, k) if exact else _drawn_flips(n, k, permutations, seed, "max-t"):
        # Row by row the largest of this pair and all with a smaller statistic.
        largest = np.maximum.accumulate(np.abs(scaled[upwards] @ signs), axis=0)
        hits += (largest >= observed[upwards, None] - _TIE).sum(axis=1)
        highest.append(largest[-1])
    # A flip of every sign changes nothing.
    flips, unseen = (2 ** (n - 1), 0) if exact else (permutations, 1)
    p_values = np.empty(k)
    p_values[upwards] = np.maximum.accumulate(((hits + unseen) / (flips + unseen))[::-1])[::-1]
    p_values[length[:, 0] == 0] = 1.0
    return MaxT(
        p_values=p_values,
        least_p=1 / (flips + unseen),
        critical=_critical(np.concatenate(highest), n, int(alpha * (flips + unseen) + _TIE) - unseen),
    )


def _critical(highest: Array, n: int, allowed: int) -> float:
    """Value of |t| whose statistic is reached by more than `allowed` of the flips."""
    if allowed < 1:
        return math.inf
    reached = float(np.partition(highest, len(highest) - 1 - allowed)[len(highest) - 1 - allowed])
    return math.inf if reached >= 1 - _TIE else reached * math.sqrt((n - 1) / (1 - reached**2))


def _all_flips(n: int, k: int) -> Iterator[Array]:
    """All flips of signs, with the first sign fixed: shape (n, b) each, 1 or -1."""
    for lot in _lots(2 ** (n - 1), max(n, k)):
        yield 1.0 - 2.0 * (np.array(lot)[None, :] >> np.arange(n)[::-1, None] & 1)


def _drawn_flips(n: int, k: int, permutations: int, seed: int, test: str) -> Iterator[Array]:
    """Flips that are drawn for a test: shape (n, b) each, 1 or -1."""
    bits = generator(seed, test).integers(0, 2, size=(permutations, n), dtype=np.int8)
    for lot in _lots(permutations, max(n, k)):
        yield np.asarray(1.0 - 2.0 * bits[lot.start : lot.stop].T, dtype=np.float64)


def _lots(flips: int, numbers: int) -> Iterator[range]:
    """Ranges of flips that fit into memory. numbers: size of each flip."""
    step = max(1, _FLIPS_AT_ONCE // numbers)
    return (range(start, min(start + step, flips)) for start in range(0, flips, step))


# ----------------------------------------------------------------------------------------------------------------------
# Intervals over queries, with each topic as one sampling unit: shares, means, and pooled figures.
#
# Observations come in clusters, as pairs come in queries: those of one query share its difficulty and its assessors.
# Queries come in clusters too if a study asks several facets of a paper: they share its pool, and people carry their
# strictness from one to the next. Then the paper is the unit; if each query has a paper of its own, the query is.
# `benchmarks/interval_coverage.py` counts how often each of these intervals contains the true value.
# ----------------------------------------------------------------------------------------------------------------------


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
    hits = np.asarray(hits, dtype=np.float64)
    return _share(hits, np.ones(len(hits)), clusters_of(queries, topics), level=level)


def share_of_counts(
    hits: npt.ArrayLike, sizes: npt.ArrayLike, *, level: float, topics: Sequence[str] | None = None
) -> Share:
    """Share of observations that are hits. hits, sizes: shape (Q,), of each query. topics: of each query."""
    hits, sizes = np.asarray(hits, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    not_empty = sizes > 0
    topics = None if topics is None else list(itertools.compress(topics, not_empty))
    clusters = clusters_of(np.flatnonzero(not_empty), topics)
    return _share(hits[not_empty], sizes[not_empty], clusters, level=level)


def _share(hits: Array, sizes: Array, clusters: Clusters, *, level: float) -> Share:
    """Share, with an interval that takes whole queries, or whole topics, for the sampling units.

    hits, sizes: of each member of the clusters. The interval is Wilson's (1927, Journal of the American Statistical
    Association 22, 209-212), which keeps its coverage near 0 and 1, for the effective number of independent
    observations, and with Student's t for the normal quantile (Dean and Pagano 2015, Journal of Survey Statistics and
    Methodology 3, 484-503). If all are hits, or none, the likeness within a unit is unknown: they count as independent.
    """
    if not len(sizes):
        nothing = Undefined("there is nothing to count")
        return Share(0, 0, nothing, nothing)
    count, n, units = float(hits.sum()), float(sizes.sum()), plural_of(clusters.unit)
    p = min(1.0, max(0.0, count / n))
    if clusters.n < 2:
        return Share(round(count), round(n), p, Undefined(f"one {clusters.unit}: an interval over {units} needs two"))
    effective = n
    variance = variance_of(clusters.summed(hits - p * sizes) / n)
    if 0 < count < n and variance > 0:
        # Each observation a unit of its own: n. All of a unit alike: as many as there are units.
        effective = min(effective, 1 + p * (1 - p) / variance)
    low, high = map(float, wilson(p, effective, float(special.stdtrit(clusters.n - 1, 0.5 + level / 2))))
    return Share(round(count), round(n), p, Interval(low, high, level, f"Wilson, clustered by {clusters.n} {units}"))


def wilson(share: npt.ArrayLike, worth: npt.ArrayLike, quantile: float) -> tuple[Array, Array]:
    """Ends of Wilson's intervals of shares of this many independent observations, all of one shape."""
    share, spread = np.asarray(share), quantile * quantile / np.asarray(worth)
    middle = (share + spread / 2) / (1 + spread)
    half = np.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return np.where(share == 0, 0.0, middle - half), np.where(share == 1, 1.0, middle + half)


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


def ratio_interval(sums: Array, sizes: Array, *, level: float, unit: str, least: float = 0.0) -> Interval | Undefined:
    """Interval of the mean, over strata, of (sum of `sums`) / (sum of `sizes`): by the jackknife over clusters.

    sums, sizes: shape (C, S), C clusters in S strata; one stratum for a plain share or mean. unit: what a cluster is.
    """
    value, without = leaving_out(sums, sizes)
    return jackknife_interval(value, without, level=level, least=least, unit=unit)


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
    n, middle, width = len(without), (least + most) / 2, (most - least) / 2
    if n < FEWEST_QUERIES:
        return too_few(n, unit=unit)
    if np.isnan(without).any():
        return undefined_without(unit)
    scaled, scaled_without = (value - middle) / width, (without - middle) / width
    if max(abs(scaled), float(np.abs(scaled_without).max())) >= 1:
        return Undefined(f"the value is {most:g} or {least:g}, on all {plural_of(unit)} or without one of them")
    z, left_out = math.atanh(scaled), np.arctanh(scaled_without)
    error = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
    if error <= TIE:
        return the_same(unit)
    half = float(special.stdtrit(n - 1, 0.5 + level / 2)) * error
    method = f"jackknife over {n} {plural_of(unit)}, Fisher's z, Student's t"
    return Interval(middle + width * math.tanh(z - half), middle + width * math.tanh(z + half), level, method)


def mean_by_queries(
    values: Array, queries: npt.ArrayLike, *, level: float, most: float, topics: npt.ArrayLike | None = None
) -> Estimate:
    """Mean of values between -most and most, with an interval by Student's t, one degree less than there are units.

    queries, topics: of each value. The variance is the sum of squares of the units' contributions, times C / (C - 1)
    (Liang and Zeger 1986, Biometrika 73, 13-22).
    """
    if not len(values):
        nothing = Undefined("no judgements")
        return Estimate(nothing, nothing)
    mean, clusters = float(values.mean()), clusters_of(queries, topics)
    if clusters.n < FEWEST_QUERIES:
        return Estimate(mean, too_few(clusters.n, unit=clusters.unit))
    parts = clusters.summed((values - mean) / len(values))
    half = float(special.stdtrit(clusters.n - 1, 0.5 + level / 2)) * math.sqrt(variance_of(parts))
    method = f"clustered by {clusters.n} {plural_of(clusters.unit)}, Student's t"
    return Estimate(mean, Interval(max(-most, mean - half), min(most, mean + half), level, method))


def variance_of(totals: Array) -> float:
    """Variance of an estimate, from the contributions of two units or more to its error."""
    return float((totals**2).sum()) * len(totals) / (len(totals) - 1)


def too_few(n: int, fewest: int = FEWEST_QUERIES, unit: str = "query") -> Undefined:
    """Reason why there is no interval over n units."""
    units = plural_of(unit)
    return Undefined(f"{counted(n, unit)}: an interval over {units} needs {fewest}", f"fewer than {fewest} {units}")


def undefined_without(unit: str) -> Undefined:
    """Reason why there is no interval of a figure that needs every unit."""
    return Undefined(f"without one of the {plural_of(unit)}, it has no value")


def the_same(unit: str) -> Undefined:
    """Reason why there is no interval of a figure that no unit changes."""
    return Undefined(f"leaving out any {unit} does not change it, so how it varies over {plural_of(unit)} is not known")


# ----------------------------------------------------------------------------------------------------------------------
# Intervals of medians (the inverted sign test, over queries or topics), and bounds of times that are work.
# ----------------------------------------------------------------------------------------------------------------------


NARROWEST = 0.1
"""Least width of the logarithms of times: if most times are equal, none would be allowed to differ."""


def fences(seconds: Array, fence: float) -> tuple[float, float]:
    """Shortest and longest time that counts as work: `fence` widths (1.4826 MAD) of the logarithms from their median.
    seconds: shape (n,), n >= 1, all above 0.

    Of times that are log-normal, one in 740 is beyond an upper fence of 3 widths.
    """
    logs = np.log(seconds)
    middle = float(np.median(logs))
    width = max(NARROWEST, 1.4826 * float(np.median(np.abs(logs - middle))))
    return math.exp(middle - fence * width), math.exp(middle + fence * width)


def winsorised(seconds: Array, *, fence: float) -> Array:
    """Times, shape (n,), n >= 1, all above 0, with those beyond the fences pulled in to them."""
    low, high = fences(seconds, fence)
    return np.clip(seconds, low, high)


def median_interval(values: Array, *, level: float, topics: Sequence[str] | None = None) -> Interval | Undefined:
    """Interval of the median over queries of `values`, shape (Q,): two of them, or points between neighbours.

    topics: the topic of each query; None takes the queries as independent. If several are of one paper, the interval
    contains the values that the sign test over whole topics does not reject: `median_of_clusters`.
    """
    return median_of_clusters(values, clusters_of(range(len(values)), topics), level=level)


def median_of_clusters(values: Array, clusters: Clusters, *, level: float) -> Interval | Undefined:
    """Interval of the median of `values`, shape (n,), with the unit of each: at most `1 - level` of the chance is left
    outside.

    A median is rejected if the units do not balance around it: each unit counts its values above less those below, and
    the sum is compared with those of all changes of sign (the sign test, if each unit has one value).
    """
    fewest = fewest_for_median(level)
    if clusters.n < fewest:
        return too_few(clusters.n, fewest, clusters.unit)
    if clusters.n == len(values):
        low, high = _order_statistics(np.sort(values), level)
        method = f"order statistics of {clusters.n} {plural_of(clusters.unit)}"
    else:
        # Between tied values the ends may be interpolated past a median that is itself one of the tied ones.
        middle = float(np.median(values))
        low, high = min(middle, _lower_end(values, clusters, level)), max(middle, -_lower_end(-values, clusters, level))
        method = f"sign test over {clusters.n} {plural_of(clusters.unit)}"
    return Interval(low, high, level, method) if low < high else the_same(clusters.unit)


def fewest_for_median(level: float) -> int:
    """Least number of units with an interval of the median at this level: two observations are the widest."""
    return math.ceil(1 - math.log2(1 - level))


def _order_statistics(ordered: Array, level: float) -> tuple[float, float]:
    """Interval between the k-th values from both ends, which contains the median with a binomial probability, whatever
    the distribution.

    Between the k that contains it more often than `level` and the next, the ends are interpolated as Hettmansperger and
    Sheather 1986, Statistics and Probability Letters 4, 75-79.
    """
    n = len(ordered)
    # How often the k-th values from both ends hold the median, from k = 1.
    coverage = (1 - 2 * special.bdtr(np.arange(n), n, 0.5)).tolist()
    k = sum(chance >= level for chance in coverage)
    inwards = _step_to_next((coverage[k - 1] - level) / (coverage[k - 1] - coverage[k]), k, n)
    low = (1 - inwards) * ordered[k - 1] + inwards * ordered[k]
    high = (1 - inwards) * ordered[n - k] + inwards * ordered[n - k - 1]
    return float(low), float(high)


def _step_to_next(part: float, k: int, n: int) -> float:
    """Way to go from the k-th of n values to the next for a `part` of the chance between them."""
    return (n - k) * part / (k + (n - 2 * k) * part)


def _lower_end(values: Array, clusters: Clusters, level: float) -> float:
    """Lower end: below it, too many units have more values above than below. Interpolated as order statistics."""
    distinct, counts = np.unique(values, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)])
    missed = (1 - level) / 2

    def chance(gap: int) -> float:
        """Probability of this many values above, or more, with the median in the gap below the distinct value at this
        place.
        """
        above = clusters.summed(np.where(values >= distinct[gap], 1.0, -1.0))
        return _chance_of_sum(np.rint(above).astype(np.int64))

    # The chance rises from gap to gap. Below all values it is rejected, as there are enough units.
    gaps = range(1, int(np.searchsorted(below, len(values) / 2)))
    rejected = bisect_right(gaps, missed, key=chance)
    not_rejected = rejected + 1
    if not_rejected == len(distinct) or counts[rejected] > 1:
        # Several have this value, and it is not rejected itself: further in, what may be the median would be left out.
        return float(distinct[rejected])
    at_rejected = chance(rejected)
    part = (missed - at_rejected) / (chance(not_rejected) - at_rejected)
    inwards = _step_to_next(part, int(below[not_rejected]), len(values))
    return float((1 - inwards) * distinct[rejected] + inwards * distinct[not_rejected])


def _chance_of_sum(totals: Integers) -> float:
    """Probability that the sum of `totals`, each with its sign drawn, is as large as it is, or larger."""
    sizes, times = np.unique(np.abs(totals), return_counts=True)
    largest = int(np.abs(totals).sum())
    # The sum's characteristic function is a product of cosines; it lies on 2 * whole + 1 numbers.
    n = 2 * largest + 1
    angles = 2 * math.pi / n * np.arange(largest + 1)
    waves = np.ones(largest + 1)
    for size, count in zip(sizes, times, strict=True):
        waves *= np.cos(size * angles) ** count
    chances = np.fft.irfft(waves, n)
    # Below 0 the sums follow those from 0 up, as negative places do.
    return float(chances[np.arange(int(totals.sum()), largest + 1)].sum())


# ----------------------------------------------------------------------------------------------------------------------
# Intervals of measures of runs over a few topics: means, and differences between two runs.
#
# Most topics of a collection have few relevant documents. A measure such as average precision is then near 0 on most
# topics and high on a few, and a small sample that has none of the few underestimates how much the values scatter.
# Adding pseudo-observations before an interval is computed is the remedy that is common for proportions: Agresti and
# Coull 1998, The American Statistician 52, 119-126; for paired data Agresti and Min 2005, Statistics in Medicine 24,
# 729-740. Here the pseudo-observations are topics at the ends of what the measure can reach. Together they weigh as
# much as a fifth of a relevant document at each end: a topic with one relevant document is a single observation of
# how well a run finds it, a topic with twenty is an average of twenty.
#
# `benchmarks/run_interval_coverage.py` counts how often these intervals contain the true value, by the design of the
# collection; its note has the table.
# ----------------------------------------------------------------------------------------------------------------------


PSEUDO_DOCUMENTS = 0.2
"""Relevant documents that are added at each end of the range."""


class Reach(NamedTuple):
    """Limits of the values of a measure on some topics, for any run."""

    highest: float
    """Highest value of the measure of the best order on any topic: below 1 for P@20 if all topics have few relevant
    documents.
    """
    per_relevant: float
    """Mean over the topics of 1 / number of relevant documents; a topic without one counts as having one."""

    @property
    def weight(self) -> float:
        """Number of topics that are added at each end."""
        return PSEUDO_DOCUMENTS * self.per_relevant


def interval_of_mean(
    sums: Array, sizes: Array, reach: Reach | None, *, level: float, unit: str
) -> Interval | Undefined:
    """Interval of the mean of a measure, between 0 and 1, or `reach.highest` if that is more.

    sums, sizes: shape (C, S), as for `annot.base.stats.inference.ratio_interval`, whose interval it is if `reach` is
    not known. unit: name of a row.
    """
    if reach is None:
        return ratio_interval(sums, sizes, level=level, unit=unit)
    values = _values(sums, sizes, unit)
    if isinstance(values, Undefined):
        return values
    low, high = ends_of_mean(values, np.array(reach.highest), np.array(reach.weight), level=level)
    if not np.isfinite(low):
        return Undefined(f"the mean is not between 0 and {max(1.0, reach.highest):g}")
    method = f"Wilson over {len(values)} {plural_of(unit)}, pseudo-topics, Student's t"
    return Interval(float(low), float(high), level, method)


def interval_of_difference(
    a: Array, b: Array, sizes: Array, reach: Reach | None, *, level: float, unit: str
) -> Interval | Undefined:
    """Interval of the mean of one run less that of another. a, b: the sums of the two, as in `interval_of_mean`."""
    if reach is None:
        return ratio_interval(a - b, sizes, level=level, unit=unit, least=-1.0)
    values = _values(a - b, sizes, unit)
    if isinstance(values, Undefined):
        return values
    share = differing_share(*((of_run / sizes.sum(axis=0)).sum(axis=1) for of_run in (a, b)))
    half = half_of_difference(values, share, np.array(reach.highest), np.array(reach.weight), level=level)
    if half <= TIE:
        return the_same(unit)
    mean, top = float(values.mean()), max(1.0, reach.highest)
    method = f"Student's t over {len(values)} {plural_of(unit)}, pseudo-topics"
    return Interval(max(-top, mean - float(half)), min(top, mean + float(half)), level, method)


def ends_of_mean(values: Array, highest: Array, weight: Array, *, level: float) -> tuple[Array, Array]:
    """Ends of intervals of means. values: shape (..., C), by topic. highest, weight: of `Reach`, shape (...).

    Wilson's interval (1927, Journal of the American Statistical Association 22, 209-212) for the effective number of
    hits and misses, with Student's t for the normal quantile, as for a share (`annot.base.stats.inference.share`). It
    encloses the mean itself. nan if a mean is not between 0 and 1, or `highest` if that is more.
    """
    n, top = values.shape[-1], np.maximum(1.0, highest)
    n_all = n + 2 * weight
    mean = (values.sum(axis=-1) + weight * highest) / n_all
    squares = ((values - mean[..., None]) ** 2).sum(axis=-1) + weight * (mean**2 + (highest - mean) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where((mean > 0) & (mean < top), mean / top, np.nan)
        effective = p * (1 - p) * top**2 / (squares / (n_all - 1) / n_all)
        low, high = wilson(p, effective, float(special.stdtrit(n - 1, 0.5 + level / 2)))
    observed = values.mean(axis=-1)
    return np.minimum(observed, top * low), np.maximum(observed, top * high)


def half_of_difference(values: Array, share: Array, highest: Array, weight: Array, *, level: float) -> Array:
    """Half the widths of intervals of differences. values: shape (..., C), the differences by topic. share: part of the
    better value by which the two runs differ (`differing_share`). highest, weight: of `Reach`.

    The pseudo-topics are those on which one run reaches the end of the range and the other falls behind by `share`, so
    two runs that are nearly the same keep a narrow interval.
    """
    n = values.shape[-1]
    squares = ((values - values.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1) + 2 * weight * (share * highest) ** 2
    return np.asarray(special.stdtrit(n - 1, 0.5 + level / 2) * np.sqrt(squares / (n - 1) / n))


def differing_share(a: Array, b: Array) -> Array:
    """Mean over topics of the difference as a share of the better value. a, b: shape (..., C), by topic.

    Topics on which both are 0 tell nothing and are left out; 0 if there are no others.

    >>> float(differing_share(np.array([0.5, 0.0, 0.2]), np.array([0.25, 0.0, 0.2])))
    0.25
    """
    better = np.maximum(a, b)
    counts = better > 0
    shares = np.divide(np.abs(a - b), better, out=np.zeros_like(better), where=counts)
    return np.asarray(np.minimum(1.0, shares).sum(axis=-1) / np.maximum(1, counts.sum(axis=-1)))


def _values(sums: Array, sizes: Array, unit: str) -> Array | Undefined:
    """Pseudo-value of each topic, shape (C,), around the figure of `ratio_interval`: their scatter is the jackknife's
    (Tukey 1958).

    If each topic has one query, they are its values.
    """
    if len(sums) < FEWEST_QUERIES:
        return too_few(len(sums), unit=unit)
    value, without = leaving_out(sums, sizes)
    if np.isnan(without).any():
        return undefined_without(unit)
    return np.asarray(value + (len(sums) - 1) * (without.mean() - without))


# ----------------------------------------------------------------------------------------------------------------------
# Number of topics that a paired t test needs for a difference, the least difference that this many topics show, and
# intervals of effects.
#
# All are in standard deviations of the topics' differences (Cohen's d for pairs) and follow from the noncentral t
# distribution, as in Sakai 2016, Topic Set Size Design, Information Retrieval Journal 19(3), 256-283.
# ----------------------------------------------------------------------------------------------------------------------


POWER = 0.8
"""Probability with which a difference is to be found (Cohen 1988, Statistical Power Analysis, page 56)."""
MOST_UNITS = 100_000
"""Largest number of units that is considered; a test that needs more counts as impossible."""


def power_of(n: int, effects: npt.ArrayLike, *, critical: float) -> float:
    """Probability that |t| of n units exceeds `critical`, the mean over `effects`: means in standard deviations."""
    shift = np.abs(effects) * math.sqrt(n)
    # Where a tail is empty for all purposes, scipy has no value.
    return float(
        np.mean(1 - np.nan_to_num(special.nctdtr(n - 1, shift, critical) - special.nctdtr(n - 1, shift, -critical)))
    )


def critical_t(n: int, *, alpha: float) -> float:
    """Value of |t| of n units that a two-sided t test at `alpha` must exceed."""
    return float(special.stdtrit(n - 1, 1 - alpha / 2))


def least_effect(n: int, *, critical: float) -> float:
    """Mean, in standard deviations, at which t of n units exceeds `critical` with probability `POWER`."""
    return float(special.nctdtrinc(n - 1, 1 - POWER, critical)) / math.sqrt(n)


def units_needed(effects: npt.ArrayLike, *, alpha: float, fewest: int = 2) -> int | None:
    """The fewest units, `fewest` or more, with which a two-sided t test at `alpha` finds such effects with the chance
    `POWER`; None if `MOST_UNITS` are not enough.

    >>> [units_needed(effect, alpha=0.05) for effect in (0.2, 0.5, 1.0)]  # Cohen's small, medium, and a larger one
    [199, 34, 10]
    """

    def enough(n: int) -> bool:
        return power_of(n, effects, critical=critical_t(n, alpha=alpha)) >= POWER

    considered = range(fewest, MOST_UNITS + 1)
    place = bisect_left(considered, True, key=enough)
    return considered[place] if place < len(considered) else None


def effect_interval(effect: float, n: int, *, level: float, unit: str) -> Interval:
    """Effects whose t, of n units, leaves as much in either tail as the observed one: by the noncentral t, of which
    Student's t is the case of no effect.

    Steiger and Fouladi 1997, Noncentrality Interval Estimation and the Evaluation of Statistical Models.

    >>> found = effect_interval(0.5, 16, level=0.95, unit="query")  # R: pt(2, 15, ncp) is .975 and .025
    >>> round(found.low, 3), round(found.high, 3)
    (-0.028, 1.014)
    """
    low, high = (
        float(special.nctdtrinc(n - 1, tail, effect * math.sqrt(n))) / math.sqrt(n)
        for tail in ((1 + level) / 2, (1 - level) / 2)
    )
    return Interval(low, high, level, f"noncentral t over {n} {plural_of(unit)}")
