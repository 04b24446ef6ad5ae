"""Tests of the differences between runs, correction of many p-values, and rank correlations.

The tests are of the same queries under both runs: paired by query, they need no assumption on how measures are
distributed, and follow from their seed alone: the same call gives the same p on every machine. A p from drawn
permutations is (hits + 1) / (drawn + 1), never 0 (Phipson and Smyth 2010, Permutation P-values Should Never Be Zero).
What has no value raises UndefinedStatistic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from annot.base.errors import UndefinedStatistic
from annot.base.stats.arrays import Array
from annot.base.stats.seeding import generator

TIE = 1e-12
"""Share of their size up to which two sums are equal: sums of the same numbers in another order differ by rounding."""
_AT_ONCE = 4_000_000
"""Numbers in memory at once while permutations are counted; does not change results."""


def randomisation_tests(differences: Array, *, exact_up_to: int, permutations: int, seed: int) -> Array:
    """Two-sided p of each row by Fisher's paired randomisation test: the share of sign flips with a mean as far from 0.

    differences: shape (K, n), of each query the measure under one run less that under another; a row's p does not
    depend on the other rows. exact_up_to: with so many differing queries or fewer all 2^n flips are counted (the work
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
    from scipy.special import stdtr

    n = differences.shape[1]
    spread = differences.std(axis=1, ddof=1) if n > 1 else np.zeros(len(differences))
    varies = spread > TIE * np.abs(differences).sum(axis=1)
    t = np.full(len(differences), np.nan)
    np.divide(differences.mean(axis=1) * math.sqrt(n), spread, out=t, where=varies)
    return np.asarray(2 * stdtr(n - 1, -np.abs(t)))


def tukey_tests(values: Array, pairs: Sequence[tuple[int, int]], *, permutations: int, seed: int) -> Array:
    """p of each pair of runs by the randomised Tukey HSD test, which corrects for their number by itself.

    values: shape (n, K), of each unit of chance its part of every run's mean. Each permutation shuffles the runs within
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
    step = max(1, _AT_ONCE // (n * k))
    for start in range(0, permutations, step):
        shuffled = np.broadcast_to(values, (min(step, permutations - start), n, k))
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
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return tuple(corrected)


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
    signs = 2 * generator(seed, "sign-flip").integers(0, 2, size=(permutations, n), dtype=np.int8) - 1
    observed = np.abs(differences.sum(axis=1)) - TIE * np.abs(differences).sum(axis=1)
    hits = np.zeros(k, dtype=np.int64)
    step = max(1, _AT_ONCE // max(k, n))
    for start in range(0, permutations, step):
        sums = signs[start : start + step].astype(np.float64) @ differences.T
        hits += (np.abs(sums) >= observed).sum(axis=0)
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
    """Least p that so many units and flips allow: 2^(1 - n) if all are counted, whatever the number of pairs."""
    critical: float
    """Value of |t| that a pair must exceed to hold whatever the others do; infinite if none can."""


def max_t_tests(differences: Array, *, alpha: float, permutations: int, seed: int) -> MaxT:
    """Corrected two-sided p of each row of `differences`, shape (K, n): K pairs on the same n units.

    A pair's p is the share of flips in which the largest |t|, over it and all pairs with a smaller observed one, is as
    large as its own; no p is below that of a pair with a larger |t|. Where all 2^(n-1) flips are no more than
    `permutations` they are counted, else so many are drawn from `seed`, and the observed one counts with them. alpha:
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
    for signs in _all_flips(n, k) if exact else _drawn_flips(n, k, permutations, seed):
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
    """Flips of signs, all but those of every sign; the first sign is fixed: shape (n, b) each, 1 or -1."""
    for lot in _lots(2 ** (n - 1), max(n, k)):
        yield 1.0 - 2.0 * (np.array(lot)[None, :] >> np.arange(n)[::-1, None] & 1)


def _drawn_flips(n: int, k: int, permutations: int, seed: int) -> Iterator[Array]:
    bits = generator(seed, "max-t").integers(0, 2, size=(permutations, n), dtype=np.int8)
    for lot in _lots(permutations, max(n, k)):
        yield np.asarray(1.0 - 2.0 * bits[lot.start : lot.stop].T, dtype=np.float64)


def _lots(flips: int, numbers: int) -> Iterator[range]:
    """Ranges of flips that fit into memory. numbers: size of each flip."""
    step = max(1, _FLIPS_AT_ONCE // numbers)
    return (range(start, min(start + step, flips)) for start in range(0, flips, step))
