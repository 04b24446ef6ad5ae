"""Intervals of medians (the inverted sign test, over queries or topics), and bounds of times that are work."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from annot.base.stats.arrays import Array, Integers
from annot.base.stats.clustered import Clusters, clusters_of, plural, the_same, too_few
from annot.base.stats.values import Interval, Undefined

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
        method = f"order statistics of {clusters.n} {plural(clusters.unit)}"
    else:
        # Between tied values the ends may be interpolated past a median that is itself one of the tied ones.
        middle = float(np.median(values))
        low, high = min(middle, _least(values, clusters, level)), max(middle, -_least(-values, clusters, level))
        method = f"sign test over {clusters.n} {plural(clusters.unit)}"
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
    from scipy.special import bdtr

    n = len(ordered)
    # How often the k-th values from both ends hold the median, from k = 1.
    coverage = [1 - 2 * float(bdtr(outside, n, 0.5)) for outside in range(n)]
    k = sum(chance >= level for chance in coverage)
    inwards = _inwards((coverage[k - 1] - level) / (coverage[k - 1] - coverage[k]), k, n)
    low = (1 - inwards) * ordered[k - 1] + inwards * ordered[k]
    high = (1 - inwards) * ordered[n - k] + inwards * ordered[n - k - 1]
    return float(low), float(high)


def _inwards(part: float, k: int, n: int) -> float:
    """Way to go from the k-th of n values to the next for a `part` of the chance between them."""
    return (n - k) * part / (k + (n - 2 * k) * part)


def _least(values: Array, clusters: Clusters, level: float) -> float:
    """Lower end: below it, too many units have more values above than below. Interpolated as order statistics."""
    distinct, counts = np.unique(values, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)])
    missed = (1 - level) / 2

    def chance(gap: int) -> float:
        """Probability of so many values above, or more, with the median in the gap below the distinct value at this
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
    inwards = _inwards(part, int(below[not_rejected]), len(values))
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
