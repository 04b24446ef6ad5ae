"""A confidence interval, however it was made."""

from __future__ import annotations

from dataclasses import dataclass

from annot.stats.undefined import Undefined


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made.

    Of one from resamples, `undefined_resamples` of them had no value and were left out.
    """

    low: float
    high: float
    level: float
    method: str
    resamples: int = 0
    undefined_resamples: int = 0


@dataclass(frozen=True, slots=True)
class Intervals:
    """Both bootstrap intervals of one figure."""

    percentile: Interval | Undefined
    bca: Interval | Undefined
