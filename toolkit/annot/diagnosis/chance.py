"""What counts as more than chance, with whole queries as the units: levels, and two tests of groups of queries.

No p-value is below that of the most telling order of the queries: few queries prove nothing, however equal they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annot.stats.arrays import Array

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


def higher(first: Array, second: Array) -> Test | None:
    """Whether the first group has higher values: Welch's t-test, one-sided (1947, Biometrika 34, 28-35).

    None where a group has fewer than two values, or all are equal.
    """
    from scipy.special import binom, stdtr

    sizes = np.array([len(first), len(second)])
    if sizes.min() < 2 or max(np.ptp(first), np.ptp(second)) < ZERO:
        return None
    variances = np.array([first.var(ddof=1), second.var(ddof=1)]) / sizes
    difference, error = float(first.mean() - second.mean()), math.sqrt(variances.sum())
    freedom = float(variances.sum() ** 2 / (variances**2 / (sizes - 1)).sum())
    least = float(1 / binom(sizes.sum(), sizes[0]))
    return Test(difference, error, freedom, float(stdtr(freedom, -difference / error)), least)


def variance_between(groups: Sequence[Array]) -> Test | None:
    """Whether any group differs: one-way analysis of variance.

    None where a group is empty, each has one value, or none has two different ones.
    """
    from scipy.special import fdtrc, gammaln

    sizes = np.array([len(group) for group in groups])
    n, k = int(sizes.sum()), len(groups)
    if not sizes.all() or n <= k:
        return None
    means = np.array([group.mean() for group in groups])
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / (n - k)
    if within < ZERO:
        return None
    between = float(sizes @ (means - sizes @ means / n) ** 2) / (k - 1)
    error = math.sqrt(within * (1 / sizes[0] + 1 / sizes[-1]))
    least = math.exp(min(0.0, gammaln(k + 1) + gammaln(sizes + 1).sum() - gammaln(n + 1)))
    return Test(float(means[0] - means[-1]), error, n - k, float(fdtrc(k - 1, n - k, between / within)), least)


def detectable(error: Array | float, freedom: Array | float, p_value: float) -> Array:
    """The difference that a two-sided t-test at `p_value` finds with the chance `POWER`."""
    from scipy.special import stdtrit

    return np.asarray((stdtrit(freedom, 1 - p_value / 2) + stdtrit(freedom, POWER)) * error)
