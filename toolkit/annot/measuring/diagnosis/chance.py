"""What counts as more than chance: levels, and two tests of groups of queries.

The units of chance are the query papers: people carry their strictness from one facet of a paper to the next. Where
each query is of a paper of its own, these are the queries. No p-value is below that of the most telling order of the
units: few of them prove nothing, however equal they are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Integers, Mask
from annot.measuring.diagnosis.panel import sums

ALPHA = 0.02
"""The chance of any false finding, over all that is tested; `benchmarks/diagnosis_power.py` shows what it holds."""
POWER = 0.8
"""The chance at which a difference counts as one that would have been found."""
ZERO = 1e-12


class Test(NamedTuple):
    """A difference between groups of queries."""

    difference: float
    """Of the means of the first and the last group."""
    error: float
    freedom: float
    p: float
    least: float
    """The p-value of the most telling order."""


class _Groups:
    """The values of queries in k groups, as their U units of chance make them up."""

    def __init__(self, values: Array, group: Integers, unit: Integers, k: int) -> None:
        names, unit = np.unique(unit, return_inverse=True)
        shape = len(names), k
        cell = unit * k + group
        self.counts = np.bincount(cell, minlength=len(names) * k).reshape(shape)
        """Shape (U, k), queries of each unit in each group."""
        self.sizes = self.counts.sum(axis=0)
        self.units = (self.counts > 0).sum(axis=0)
        self.means: Array = sums(group, values, k) / np.maximum(1, self.sizes)
        self.rest: Array = values - self.means[group]
        self.sums: Array = sums(cell, self.rest, len(names) * k).reshape(shape)
        """Shape (U, k), what each unit lies above the means of its groups, over all of its queries."""

    @property
    def least(self) -> float:
        """One over the number of ways to order whole units, and the queries of a unit that is in several groups."""
        whole = (self.counts > 0).sum(axis=1) == 1
        ways = _log_ways((self.counts[whole] > 0).sum(axis=0)) + sum(map(_log_ways, self.counts[~whole]))
        return math.exp(-ways)


def _log_ways(sizes: Integers) -> float:
    """The logarithm of the number of ways to fill groups of these sizes."""
    from scipy.special import gammaln

    return float(gammaln(sizes.sum() + 1) - gammaln(sizes + 1).sum())


def higher(values: Array, second: Mask, unit: Integers) -> Test | None:
    """Whether the queries that are not of the second group have higher values than those that are, one-sided.

    values, second, unit: shape (Q,), of each query; unit numbers its unit of chance. It is Welch's t-test (1947,
    Biometrika 34, 28-35), of the units' sums: what the two groups share of a unit moves both alike.
    None where a group has fewer than two units, or all are equal.
    """
    from scipy.special import stdtr

    groups = _Groups(values, second.astype(np.int64), unit, 2)
    if groups.units.min() < 2:
        return None
    n, parts = len(groups.counts), groups.sums / groups.sizes
    variances = groups.units / (groups.units - 1) * (parts**2).sum(axis=0)
    variance = float(variances.sum() - 2 * n / (n - 1) * (parts[:, 0] @ parts[:, 1]))
    if variance < ZERO**2:
        return None
    difference, error = float(groups.means[0] - groups.means[1]), math.sqrt(variance)
    # Of units that are all in both groups there are n differences.
    freedom = min(float(variances.sum() ** 2 / (variances**2 / (groups.units - 1)).sum()), n - 1.0)
    return Test(difference, error, freedom, float(stdtr(freedom, -difference / error)), groups.least)


def variance_between(values: Array, group: Integers, unit: Integers) -> Test | None:
    """Whether any group differs: one-way analysis of variance.

    values, group, unit: shape (Q,), of each query; its group and its unit of chance by number. Units of several queries
    move the means of groups more, or less, than as many single queries: F is divided by the ratio (Rao and Scott 1981,
    Journal of the American Statistical Association 76, 221-230).
    None where there are no more units than groups, or no group has two different values.
    """
    from scipy.special import fdtrc, gammaln

    n, k = len(values), int(group.max()) + 1
    groups = _Groups(values, group, unit, k)
    n_units = len(groups.counts)
    within = float((groups.rest**2).sum()) / (n - k) if n > k else 0.0
    if n_units <= k or within < ZERO:
        return None
    as_queries = (groups.rest**2 * (1 / groups.sizes[group] - 1 / n)).sum() * n / (n - k)
    as_units = (groups.sums**2 / groups.sizes).sum() - (groups.sums.sum(axis=1) ** 2).sum() / n
    effect = 1.0 if n_units == n else float(as_units * n_units / (n_units - k) / as_queries)
    if effect < ZERO:
        return None
    between = float(groups.sizes @ (groups.means - groups.sizes @ groups.means / n) ** 2) / (k - 1)
    error = math.sqrt(effect * within * (1 / groups.sizes[0] + 1 / groups.sizes[-1]))
    least = min(1.0, math.exp(float(gammaln(k + 1))) * groups.least)
    p = float(fdtrc(k - 1, n_units - k, between / within / effect))
    return Test(float(groups.means[0] - groups.means[-1]), error, n_units - k, p, least)


def detectable(error: Array | float, freedom: Array | float, p_value: float) -> Array:
    """The difference that a two-sided t-test at `p_value` finds with the chance `POWER`."""
    from scipy.special import stdtrit

    return np.asarray((stdtrit(freedom, 1 - p_value / 2) + stdtrit(freedom, POWER)) * error)
