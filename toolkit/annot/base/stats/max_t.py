"""Which of many paired differences hold: the step-down maximum of the t statistic under common flips of signs.

Westfall and Young 1993, Resampling-Based Multiple Testing, algorithm 2.8. The same flips serve every pair, so p takes
into account how the pairs hang together: two pairs that rise and fall together count for one, and the least p does not
grow with the number of pairs. The statistic is t and not the mean, as means of pairs that differ much would hide the
small difference between two near copies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from annot.base.errors import UndefinedStatistic
from annot.base.stats.arrays import Array
from annot.base.stats.seeding import generator

_TIE = 1e-10
"""Two statistics closer than this are equal; between 0 and 1, they differ by rounding only."""
_AT_ONCE = 400_000
"""Numbers held at once while flips are counted; changes memory, no result."""


class MaxT(NamedTuple):
    """The corrected p of each pair, and what a pair must reach."""

    p_values: Array
    """Shape (K,)."""
    least_p: float
    """The least that so many units and flips allow: 2^(1 - n) where all are counted, whatever the number of pairs."""
    critical: float
    """The |t| that a pair must exceed to hold whatever the others do; infinite where none can."""
    method: Literal["exact", "drawn"]
    flips: int
    """2^(n - 1) where the test is exact, as a flip of every sign changes nothing; else those drawn."""


def max_t_tests(differences: Array, *, alpha: float, permutations: int, seed: int) -> MaxT:
    """The corrected two-sided p of each row of `differences`, shape (K, n): K pairs on the same n units.

    A pair's p is the share of flips in which the largest |t|, over it and all pairs with a smaller observed one, is as
    large as its own; no p is below that of a pair with a larger |t|. Where all 2^(n-1) flips are no more than
    `permutations` they are counted, else so many are drawn from `seed`, and the observed one counts with them. alpha:
    of `critical`. A pair that never differs has p 1. Raises UndefinedStatistic without a unit, or a finite value.

    >>> three = np.array([[2.0, 3, 2, 4, 3, 2], [0, 1, -1, 2, -1, 0], [1, 1, 2, 1, 1, 1]])
    >>> max_t_tests(three, alpha=0.05, permutations=1000, seed=0).p_values.tolist()  # of 32 flips
    [0.03125, 1.0, 0.03125]
    """
    k, n = differences.shape
    if n == 0:
        raise UndefinedStatistic("no query has a value under both runs")
    if not np.isfinite(differences).all():
        raise UndefinedStatistic("a query has no finite value under one of the runs")
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
    unseen = 0 if exact else 1
    flips = 2 ** (n - 1) if exact else permutations
    p_values = np.empty(k)
    p_values[upwards] = np.maximum.accumulate(((hits + unseen) / (flips + unseen))[::-1])[::-1]
    p_values[length[:, 0] == 0] = 1.0
    return MaxT(
        p_values=p_values,
        least_p=1 / (flips + unseen),
        critical=_critical(np.concatenate(highest), n, int(alpha * (flips + unseen) + _TIE) - unseen),
        method="exact" if exact else "drawn",
        flips=flips,
    )


def _critical(highest: Array, n: int, allowed: int) -> float:
    """The |t| whose statistic is reached by more than `allowed` of the flips."""
    if allowed < 1:
        return math.inf
    reached = float(np.partition(highest, len(highest) - 1 - allowed)[len(highest) - 1 - allowed])
    return math.inf if reached >= 1 - _TIE else reached * math.sqrt((n - 1) / (1 - reached**2))


def _all_flips(n: int, k: int) -> Iterator[Array]:
    """All flips but those of every sign, the first of which stays: shape (n, b) each, 1 or -1."""
    step = max(1, _AT_ONCE // max(n, k))
    for start in range(0, 2 ** (n - 1), step):
        numbers = np.arange(start, min(start + step, 2 ** (n - 1)))
        yield 1.0 - 2.0 * (numbers[None, :] >> np.arange(n)[::-1, None] & 1)


def _drawn_flips(n: int, k: int, permutations: int, seed: int) -> Iterator[Array]:
    bits = generator(seed, "max-t").integers(0, 2, size=(permutations, n), dtype=np.int8)
    step = max(1, _AT_ONCE // max(n, k))
    for start in range(0, permutations, step):
        yield np.asarray(1.0 - 2.0 * bits[start : start + step].T, dtype=np.float64)
