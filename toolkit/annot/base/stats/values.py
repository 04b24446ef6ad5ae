"""Statistics with an interval, or with the reason why they have none: undefined is not zero and not nan, and JSON says
it.

The last bits of a sum depend on the order in which a processor adds. They are cut off (`rounding`) before figures are
compared, ordered or written, so that a study gives the same files on every machine.

Which method makes the interval of which kind of figure: one method for each kind, and none leaves the range of values
that its figure can take.

order statistics
    of medians over queries, interpolated, from six queries on (at 95%); of a median time. They assume nothing about how
    the values are distributed. Where several queries are of one paper, what the sign test over whole topics does not
    reject. `annot.base.stats.inference.median_interval`
jackknife
    of means over queries, of agreement on all pairs pooled, of kappa between two assessors, and of measures of runs
    where a sample of the pools was judged: over whole topics, as the facets of one share its pool and its assessors. On
    the scale of Fisher's z, with Student's t, from four papers on. `annot.base.stats.inference.jackknife_interval`
pseudo-topics
    of measures of runs (Wilson's interval) and of their differences (Student's t), from four papers on: topics are
    added at the ends of what the measure can reach, because a few topics underestimate the scatter if they have few
    relevant documents. `annot.base.stats.inference`
Wilson
    of shares of pairs or judgements, clustered by paper: it has an interval where nothing or everything was hit, and
    keeps its coverage with few papers. `annot.base.stats.inference.share`
clustered
    of mean differences in grades, by paper, with Student's t. `annot.base.stats.inference.mean_by_queries`; where
    one assessor is compared with all others, of means over queries. `annot.measuring.diagnosis.panel`
none
    of Kendall's tau between two orders of the runs, which moves in steps: the bootstrap's and the jackknife's do not
    hold (`benchmarks/tau_interval_coverage.py`). What it shows instead is the range over random assessors.
    `annot.measuring.assessor_effect`
prediction
    of hours, cost and agreement to come: simulated studies. `annot.measuring.forecast`

How many of 100 intervals at 95% held the truth of simulated studies, the lowest and the highest of five coefficients,
one to three facets of a paper and three designs of judging (`benchmarks/interval_coverage.py`):

    papers           4         6        10        25        50
    median           -     95-99     94-97     94-98     94-99
    mean         93-96     93-96     94-96     94-96     94-96
    pooled       92-96     92-97     93-97     94-97     94-97
    share        94-97     93-96     94-95     94-96     94-96

Those of runs are in `benchmarks/run_interval_coverage.py`, by the design of the collection.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar


@dataclass(frozen=True, slots=True)
class Undefined:
    """Statistic that has no value on the data, with the reason in words."""

    reason: str
    in_general: str = field(default="", compare=False, repr=False)
    """Reason without this data's own counts, so that many of a kind can be reported as one; "" if it has none."""

    @property
    def kind(self) -> str:
        """Part of the reason that it shares with others."""
        return self.in_general or self.reason


Value = float | Undefined


def to_json(value: Any) -> Any:
    """Convert to plain dicts, lists, numbers and text. A statistic without a value is `{"undefined": reason}`; nan
    never appears.

    Records become objects, and paths text.
    """
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, Undefined):
        return {"undefined": value.reason}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) is str else to_json(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a result cannot contain {value}: use Undefined, with a reason")
    return value


@dataclass(frozen=True, slots=True)
class Interval:
    """Interval at confidence `level` (0..1), or the range of a future figure with that probability."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """Figure with its interval."""

    value: Value
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True)
class Share:
    """Share `count` of `of`, as a fraction 0..1."""

    count: int
    of: int
    value: Value
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True)
class Finish:
    """Date, ISO 8601, of the last judgement, with the interval's two dates; in the time zone of the given clock."""

    date: str | Undefined
    interval: tuple[str, str] | Undefined
    level: float


DIGITS = 10
"""Significant digits of every figure in a result."""
DUST = 1e-12
"""Largest distance from 0 that counts as 0: the rest of a sum that cancels out."""
P = ParamSpec("P")
Result = TypeVar("Result")


def significant(value: float, digits: int) -> float:
    """Round `value` to this many significant digits, as `format` with `.{digits}g` prints it.

    >>> significant(0.99996, 2), significant(0.0123456, 2)
    (1.0, 0.012)
    """
    return float(f"{value:.{digits}g}")


def rounding(function: Callable[P, Result]) -> Callable[P, Result]:
    """Wrap the function so that every number in its result is rounded: in records, dicts, lists and tuples."""

    @functools.wraps(function)
    def rounded_function(*args: P.args, **kwargs: P.kwargs) -> Result:
        result: Result = rounded(function(*args, **kwargs))
        return result

    return rounded_function


def rounded(value: Any) -> Any:
    """Copy with every number at `DIGITS` significant digits."""
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, float):
        return 0.0 if abs(value) < DUST else significant(value, DIGITS)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{field.name: rounded(getattr(value, field.name)) for field in dataclasses.fields(value)})
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(rounded, value))
    if isinstance(value, list | tuple):
        return type(value)([item if type(item) is str else rounded(item) for item in value])
    return value
