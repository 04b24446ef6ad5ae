"""A statistic and its interval, or why it has none: undefined is not zero and not nan, and JSON says it.

Which method makes the interval of which kind of figure: one method for each kind, and none leaves the range of values
that its figure can take.

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
    of mean differences in grades, by query, with Student's t. `annot.stats.clustered.clustered_interval`; where one
    assessor is compared with all others, of means over queries. `annot.diagnosis.contrasts`
order statistics
    of a median time: it assumes nothing about how times are distributed. `annot.diagnosis.pace`
prediction
    of hours, cost and agreement to come: simulated studies. `annot.forecast`

`benchmarks/interval_coverage.py` counts how often the first three hold what they should.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Undefined:
    """A statistic that has no value on the data, with the reason in words."""

    reason: str
    in_general: str = field(default="", compare=False, repr=False)
    """The reason without this data's own counts, so that many of a kind can be told as one; "" where it has none."""

    @property
    def kind(self) -> str:
        """What it has in common with others."""
        return self.in_general or self.reason


Value = float | Undefined


def to_json(value: Any) -> Any:
    """Plain dicts, lists and numbers. A statistic without a value is `{"undefined": reason}`; nan never appears."""
    if isinstance(value, Undefined):
        return {"undefined": value.reason}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} has no place in a result: it must be Undefined, with a reason")
    return value


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
