"""Intervals of measures of runs over a few topics: means, and differences between two runs.

Most topics of a collection have few relevant documents. A measure such as average precision is then near 0 on most
topics and high on a few, and a small sample that has none of the few underestimates how much the values scatter.
Adding pseudo-observations before an interval is computed is the remedy that is common for proportions: Agresti and
Coull 1998, The American Statistician 52, 119-126; for paired data Agresti and Min 2005, Statistics in Medicine 24,
729-740. Here the pseudo-observations are topics at the ends of what the measure can reach. Together they weigh as
much as a fifth of a relevant document at each end: a topic with one relevant document is a single observation of how
well a run finds it, a topic with twenty is an average of twenty.

`benchmarks/run_interval_coverage.py` counts how often these intervals contain the true value, by the design of the
collection; its note has the table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array
from annot.base.stats.clustered import FEWEST_QUERIES, plural, pseudo_values, ratio_interval, the_same, too_few
from annot.base.stats.significance import TIE
from annot.base.stats.values import Interval, Undefined

PSEUDO_DOCUMENTS = 0.2
"""Relevant documents that are added at each end of the range."""


class Reach(NamedTuple):
    """Limits of the values of a measure on some topics, whatever the run."""

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

    sums, sizes: shape (C, S), as for `annot.base.stats.clustered.ratio_interval`, whose interval it is if `reach` is
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
    method = f"Wilson over {len(values)} {plural(unit)}, pseudo-topics, Student's t"
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
    method = f"Student's t over {len(values)} {plural(unit)}, pseudo-topics"
    return Interval(max(-top, mean - float(half)), min(top, mean + float(half)), level, method)


def ends_of_mean(values: Array, highest: Array, weight: Array, *, level: float) -> tuple[Array, Array]:
    """Ends of intervals of means. values: shape (..., C), by topic. highest, weight: of `Reach`, shape (...).

    Wilson's interval (1927, Journal of the American Statistical Association 22, 209-212) for the effective number of
    hits and misses, with Student's t for the normal quantile, as for a share (`annot.base.stats.clustered.share`). It
    encloses the mean itself. nan if a mean is not between 0 and 1, or `highest` if that is more.
    """
    from scipy.special import stdtrit

    n, top = values.shape[-1], np.maximum(1.0, highest)
    n_all = n + 2 * weight
    mean = (values.sum(axis=-1) + weight * highest) / n_all
    squares = ((values - mean[..., None]) ** 2).sum(axis=-1) + weight * (mean**2 + (highest - mean) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where((mean > 0) & (mean < top), mean / top, np.nan)
        effective = p * (1 - p) * top**2 / (squares / (n_all - 1) / n_all)
        t = stdtrit(n - 1, 0.5 + level / 2)
        middle = (p + t * t / (2 * effective)) / (1 + t * t / effective)
        half = t / (1 + t * t / effective) * np.sqrt(p * (1 - p) / effective + t * t / (4 * effective * effective))
    observed = values.mean(axis=-1)
    return np.minimum(observed, top * (middle - half)), np.maximum(observed, top * (middle + half))


def half_of_difference(values: Array, share: Array, highest: Array, weight: Array, *, level: float) -> Array:
    """Half the widths of intervals of differences. values: shape (..., C), the differences by topic. share: part of the
    better value by which the two runs differ (`differing_share`). highest, weight: of `Reach`.

    The pseudo-topics are those on which one run reaches the end of the range and the other falls behind by `share`, so
    two runs that are nearly the same keep a narrow interval.
    """
    from scipy.special import stdtrit

    n = values.shape[-1]
    squares = ((values - values.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1) + 2 * weight * (share * highest) ** 2
    return np.asarray(stdtrit(n - 1, 0.5 + level / 2) * np.sqrt(squares / (n - 1) / n))


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
    """Pseudo-value of the jackknife of each topic, shape (C,), which is its value if each topic has one query."""
    if len(sums) < FEWEST_QUERIES:
        return too_few(len(sums), unit=unit)
    return pseudo_values(sums, sizes, unit)
