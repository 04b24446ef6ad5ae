"""Figures with their intervals, and which method makes the interval of which kind of figure.

One method for each kind. None leaves the range of values that its figure can take.

bootstrap
    of coefficients, medians and means over queries, measures of runs, Kendall's tau: BCa over whole queries (of runs,
    over whole query papers), as it needs no formula for any of them; percentile where BCa does not exist.
    `annot.stats.bootstrap`
Wilson
    of shares of pairs or judgements, clustered by query: it has an interval where nothing or everything was hit, and
    keeps its coverage with few queries. `annot.stats.clustered.share`
jackknife
    of kappa between two assessors, over whole queries, on the scale of Fisher's z, with Student's t: two assessors
    often share only a few queries, for which a bootstrap is far too narrow. `annot.stats.clustered.jackknife_interval`
clustered
    of mean differences in grades, by query, with Student's t. `annot.stats.clustered.clustered_interval`
Wald, delta method
    of what the ordinal model of the assessors estimates. `annot.diagnosis`
order statistics
    of a median time: it assumes nothing about how times are distributed. `annot.diagnosis.pace`
prediction
    of hours, cost and agreement to come: simulated studies. `annot.forecast`

`benchmarks/interval_coverage.py` counts how often the first three hold what they should.
"""

from __future__ import annotations

from dataclasses import dataclass

from annot.stats.undefined import Undefined, Value


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval at confidence `level` (0..1), or where a figure to come falls with that probability.

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


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval."""

    value: Value
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `of`, as a fraction 0..1."""

    count: int
    of: int
    value: Value
    interval: Interval | Undefined
