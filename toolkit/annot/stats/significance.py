"""Whether one run is better than another by more than chance, asked of the same queries under both.

All tests are paired by query, need no assumption on how measures are distributed, and follow from their seed alone:
the same call gives the same p on every machine. A p from drawn permutations is (hits + 1) / (drawn + 1), never 0
(Phipson and Smyth 2010, Permutation P-values Should Never Be Zero). What has no value raises UndefinedStatistic.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from annot.errors import InputError, UndefinedStatistic
from annot.stats.multiplicity import holm
from annot.stats.seeding import generator

Array = npt.NDArray[np.float64]

TIE = 1e-12
"""Two sums of the same numbers in another order differ by rounding; up to this share of their size they are equal."""
_AT_ONCE = 4_000_000
"""Numbers held at once while permutations are counted; changes memory, no result."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A two-sided paired randomisation test of the mean difference."""

    n: int
    """Queries."""
    n_different: int
    """Queries in which the two differ: all that the test rests on."""
    mean_difference: float
    p_value: float
    method: Literal["exact", "drawn"]
    permutations: int
    """All of them where the test is exact, else those drawn."""


@dataclass(frozen=True, slots=True)
class DifferenceInterval:
    """A bootstrap interval of a mean difference, by resampling queries."""

    mean_difference: float
    low: float
    high: float
    level: float
    method: str
    resamples: int
    n: int


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two runs, compared; positive when `first` is better."""

    first: str
    second: str
    test: PairedTest
    p_holm: float
    """Corrected over all pairs of runs by Holm's method."""
    p_max_statistic: float
    """Corrected over all pairs of runs by the randomised Tukey HSD."""


def randomisation_test(
    differences: Sequence[float] | Array, *, exact_up_to: int, permutations: int, seed: int
) -> PairedTest:
    """Fisher's paired randomisation test: how often a mean difference this far from 0 comes up by flipping signs.

    differences: shape (n,), a query's measure under one run less that under the other. exact_up_to: with so many
    differing queries or fewer all 2^n flips are counted (the work is 2^(n/2): 40 take a second), with more,
    `permutations` are drawn from `seed`. When the two never differ, p is 1.
    Raises UndefinedStatistic without a query. Fisher 1935, The Design of Experiments, section 21; for retrieval
    Smucker, Allan and Carterette 2007, A Comparison of Statistical Significance Tests.

    >>> darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]  # 1726 of 2^15 arrangements
    >>> round(randomisation_test(darwin, exact_up_to=20, permutations=1, seed=0).p_value * 2**15)
    1726
    """
    return randomisation_tests(
        np.asarray(differences, dtype=np.float64)[None, :],
        exact_up_to=exact_up_to,
        permutations=permutations,
        seed=seed,
    )[0]


def randomisation_tests(
    differences: Array, *, exact_up_to: int, permutations: int, seed: int
) -> tuple[PairedTest, ...]:
    """`randomisation_test` of each row of `differences`, shape (K, n); a row's p does not depend on the other rows."""
    n = differences.shape[1]
    if n == 0:
        raise UndefinedStatistic("no query has a value under both runs")
    differences = _finite(differences)
    different = np.count_nonzero(differences, axis=1)
    p_values = np.ones(len(differences))
    few = different <= exact_up_to
    for at in np.flatnonzero(few):
        p_values[at] = _exact(differences[at][differences[at] != 0])
    if not few.all():
        p_values[~few] = _drawn(differences[~few], permutations, seed)
    return tuple(
        PairedTest(
            n=n,
            n_different=int(different[at]),
            mean_difference=math.fsum(row) / n,
            p_value=float(p_values[at]),
            method="exact" if few[at] else "drawn",
            permutations=2 ** int(different[at]) if few[at] else permutations,
        )
        for at, row in enumerate(differences)
    )


def max_statistic_p_values(
    values: Array, pairs: Sequence[tuple[int, int]], *, permutations: int, seed: int
) -> tuple[float, ...]:
    """Corrected p of each pair of runs: how often the largest difference of any pair is as large, by chance.

    values: shape (k, n), k runs by n queries. pairs: positions of the runs that are compared. In each permutation the
    runs change names within each query (all the same ways for all pairs, so it is paired), and the largest
    |mean difference| over `pairs` is kept. All permutations are counted where there are no more than `permutations`,
    else so many are drawn from `seed`.
    Raises UndefinedStatistic without a query. Randomised Tukey HSD: Carterette 2012, Multiple Testing in Statistical
    Analysis of Systems-Based Information Retrieval Experiments, algorithm 1. (SciPy's `tukey_hsd` is unpaired.)
    """
    k, n = values.shape
    if n == 0:
        raise UndefinedStatistic("no query has a value under all runs")
    values = _finite(values)
    # What the runs share on a query drops out of every difference.
    by_query = (values - values.mean(axis=0)).T
    first, second = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    observed = np.abs(_gaps(by_query.sum(axis=0)[None, :], first, second)[0])
    tie = TIE * float(np.abs(by_query).sum())
    hits = np.zeros(len(pairs), dtype=np.int64)
    exact = math.factorial(k) ** n <= permutations
    total = 0
    blocks = _all_namings(by_query) if exact else _drawn_namings(by_query, permutations, seed)
    for sums in blocks:
        largest = np.abs(_gaps(sums, first, second)).max(axis=1)
        hits += (largest[:, None] >= observed - tie).sum(axis=0)
        total += len(sums)
    return tuple(float(hit) / total if exact else (float(hit) + 1) / (total + 1) for hit in hits)


def compare_runs(
    values: Mapping[str, Mapping[str, float]], *, exact_up_to: int, permutations: int, seed: int
) -> tuple[RunPair, ...]:
    """Every pair of runs, tested and corrected for the number of pairs.

    values: a measure by run and `query_id`. Raises InputError when the runs do not have the same queries.
    """
    tags = sorted(values)
    queries = sorted(set().union(*(values[tag] for tag in tags)))
    faults = [
        f"{tag}: no value for {query_id}, which another run has"
        for tag in tags
        for query_id in queries
        if query_id not in values[tag]
    ]
    if faults:
        raise InputError("the runs cannot be compared: they do not have the same queries", faults=faults)
    if len(tags) < 2:
        return ()
    matrix = np.array([[values[tag][query_id] for query_id in queries] for tag in tags], dtype=np.float64)
    pairs = list(itertools.combinations(range(len(tags)), 2))
    differences = np.stack([matrix[first] - matrix[second] for first, second in pairs])
    tests = randomisation_tests(differences, exact_up_to=exact_up_to, permutations=permutations, seed=seed)
    corrected = holm([test.p_value for test in tests])
    largest = max_statistic_p_values(matrix, pairs, permutations=permutations, seed=seed)
    return tuple(
        RunPair(tags[first], tags[second], test, p_holm, p_max)
        for (first, second), test, p_holm, p_max in zip(pairs, tests, corrected, largest, strict=True)
    )


def difference_interval(
    differences: Sequence[float] | Array, *, level: float, resamples: int, method: str, seed: int
) -> DifferenceInterval:
    """A bootstrap interval of the mean difference, by resampling queries. method: a name in INTERVALS.

    Raises UndefinedStatistic with fewer than two queries, or when all differences are equal: then resampling cannot
    show how far off the mean may be. Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 13 and 14.
    """
    d = _finite(np.asarray(differences, dtype=np.float64))
    if len(d) < 2:
        raise UndefinedStatistic(f"{len(d)} query: an interval needs at least two")
    if np.ptp(d) <= TIE * np.abs(d).max():
        raise UndefinedStatistic(f"the difference is the same in all {len(d)} queries: nothing to resample")
    drawn = generator(seed, "difference").integers(0, len(d), size=(resamples, len(d)))
    means = d[drawn].mean(axis=1)
    low, high = np.quantile(means, INTERVALS[method](d, means, level))
    return DifferenceInterval(math.fsum(d) / len(d), float(low), float(high), level, method, resamples, len(d))


def kendall_tau_b(first: Sequence[float] | Array, second: Sequence[float] | Array) -> float:
    """Kendall's tau-b between two rankings of the same things, given by their scores; ties count for neither.

    first, second: shape (n,). Raises UndefinedStatistic with fewer than two things or when one side ties them all.
    Kendall 1945, The Treatment of Ties in Ranking Problems.

    >>> lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]  # Hollander and Wolfe 1973, page 187
    >>> taste = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    >>> round(kendall_tau_b(lightness, taste), 4)
    0.4444
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(x) < 2:
        raise UndefinedStatistic(f"{len(x)} run(s): a ranking needs at least two")
    for side, name in ((x, "first"), (y, "second")):
        if np.ptp(side) == 0:
            raise UndefinedStatistic(f"the {name} ranking ties all {len(side)}")
    return float(tau_b_of_rows(x[None, :], y[None, :])[0])


def tau_b_of_rows(first: Array, second: Array) -> Array:
    """`kendall_tau_b` row by row, nan where it is undefined: shapes (B, n) and (B, n) or (1, n) give (B,)."""
    left, right = np.triu_indices(first.shape[1], k=1)
    x = np.sign(first[:, left] - first[:, right])
    y = np.sign(second[:, left] - second[:, right])
    untied = np.sqrt(np.abs(x).sum(axis=1) * np.abs(y).sum(axis=1))
    result = np.full(len(untied), np.nan)
    np.divide((x * y).sum(axis=1), untied, out=result, where=untied > 0)
    return result


def _percentile(d: Array, means: Array, level: float) -> list[float]:
    return [(1 - level) / 2, (1 + level) / 2]


def _bca(d: Array, means: Array, level: float) -> list[float]:
    """Efron and Tibshirani 1993, equations 14.9-14.15; for a mean the jackknife has a closed form."""
    gaps, tie = d - d.mean(), TIE * float(np.abs(d).max())
    below = float(np.mean(means < d.mean() - tie) + np.mean(np.abs(means - d.mean()) <= tie) / 2)
    if not 0 < below < 1:
        raise UndefinedStatistic("all resamples lie on one side of the mean difference")
    acceleration = float((gaps**3).sum()) / (6 * float((gaps**2).sum()) ** 1.5)
    normal = NormalDist()
    z0 = normal.inv_cdf(below)
    shifted = [z0 + normal.inv_cdf(tail) for tail in _percentile(d, means, level)]
    return [normal.cdf(z0 + z / (1 - acceleration * z)) for z in shifted]


INTERVALS: dict[str, Callable[[Array, Array, float], list[float]]] = {"percentile": _percentile, "bca": _bca}
"""How the quantiles of the resampled means are chosen."""


def _exact(d: Array) -> float:
    """The share of all sign flips of d, shape (n,), none 0, whose sum is as far from 0.

    A flip of all signs changes nothing, so the first sign stands. The others fall into halves whose sums are counted
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
    """The sums of d under all flips of signs, shape (2^n,)."""
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


def _all_namings(by_query: Array) -> list[Array]:
    """The runs' sums, shape (permutations, k), under every way to name the runs within each query."""
    n, k = by_query.shape
    ways = [by_query[:, list(order)] for order in itertools.permutations(range(k))]
    sums = np.zeros((1, k))
    for query in range(n):
        sums = np.concatenate([sums + way[query] for way in ways])
    return [sums]


def _drawn_namings(by_query: Array, permutations: int, seed: int) -> list[Array]:
    """As `_all_namings`, for `permutations` drawn ones."""
    n, k = by_query.shape
    rng = generator(seed, "naming")
    step = max(1, _AT_ONCE // (n * k))
    sizes = [min(step, permutations - start) for start in range(0, permutations, step)]
    return [rng.permuted(np.broadcast_to(by_query, (size, n, k)), axis=2).sum(axis=1) for size in sizes]


def _gaps(sums: Array, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> Array:
    return np.asarray(sums[:, first] - sums[:, second])


def _finite(values: Array) -> Array:
    if not np.isfinite(values).all():
        raise UndefinedStatistic("a query has no finite value under one of the runs")
    return values
