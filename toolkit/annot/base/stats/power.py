"""Number of topics that a paired t test needs for a difference, the least difference that so many topics show, and
intervals of effects.

All are in standard deviations of the topics' differences (Cohen's d for pairs) and follow from the noncentral t
distribution, as in Sakai 2016, Topic Set Size Design, Information Retrieval Journal 19(3), 256-283.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from annot.base.stats.clustered import plural
from annot.base.stats.values import Interval

POWER = 0.8
"""Probability with which a difference is to be found (Cohen 1988, Statistical Power Analysis, page 56)."""
MOST_UNITS = 100_000
"""Largest number of units that is considered; a test that needs more counts as impossible."""


def power_of(n: int, effects: npt.ArrayLike, *, critical: float) -> float:
    """Probability that |t| of n units exceeds `critical` if their mean is so many standard deviations from 0; the mean
    over several effects.
    """
    from scipy.special import nctdtr

    shift = np.abs(effects) * math.sqrt(n)
    # Where a tail is empty for all purposes, scipy has no value.
    return float(np.mean(1 - np.nan_to_num(nctdtr(n - 1, shift, critical) - nctdtr(n - 1, shift, -critical))))


def critical_t(n: int, *, alpha: float) -> float:
    """Value of |t| of n units that a two-sided t test at `alpha` must exceed."""
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 1 - alpha / 2))


def least_effect(n: int, *, critical: float) -> float:
    """Mean, in standard deviations, at which t of n units exceeds `critical` with probability `POWER`."""
    from scipy.special import nctdtrinc

    return float(nctdtrinc(n - 1, 1 - POWER, critical)) / math.sqrt(n)


def units_needed(effects: npt.ArrayLike, *, alpha: float, fewest: int = 2) -> int | None:
    """The fewest units, `fewest` or more, with which a two-sided t test at `alpha` finds such effects with the chance
    `POWER`; None if `MOST_UNITS` are not enough.

    >>> [units_needed(effect, alpha=0.05) for effect in (0.2, 0.5, 1.0)]  # Cohen's small, medium, and a larger one
    [199, 34, 10]
    """

    def enough(n: int) -> bool:
        return power_of(n, effects, critical=critical_t(n, alpha=alpha)) >= POWER

    low = high = fewest
    while not enough(high):
        low, high = high + 1, 2 * high
        if high > MOST_UNITS:
            return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def effect_interval(effect: float, n: int, *, level: float, unit: str) -> Interval:
    """Effects whose t, of n units, leaves as much in either tail as the observed one: by the noncentral t, of which
    Student's t is the case of no effect.

    Steiger and Fouladi 1997, Noncentrality Interval Estimation and the Evaluation of Statistical Models.

    >>> found = effect_interval(0.5, 16, level=0.95, unit="query")  # R: pt(2, 15, ncp) is .975 and .025
    >>> round(found.low, 3), round(found.high, 3)
    (-0.028, 1.014)
    """
    from scipy.special import nctdtrinc

    low, high = (
        float(nctdtrinc(n - 1, tail, effect * math.sqrt(n))) / math.sqrt(n)
        for tail in ((1 + level) / 2, (1 - level) / 2)
    )
    return Interval(low, high, level, f"noncentral t over {n} {plural(unit)}")
