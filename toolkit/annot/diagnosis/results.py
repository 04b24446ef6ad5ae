"""What the diagnosis is made of: values or the reason why there is none, shares, intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annot.undefined import Undefined, Value

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, how many judgements it rests on, and its interval."""

    value: Value
    n: int
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `of`, as a fraction 0..1 with Wilson's interval."""

    count: int
    of: int
    value: Value
    interval: Interval | Undefined


def share(count: int, of: int, *, level: float) -> Share:
    """A share with the score interval of Wilson 1927, Journal of the American Statistical Association 22, 209-212.

    It keeps its coverage near 0 and 1 and for few observations, and takes them as independent.
    """
    if of == 0:
        nothing = Undefined("nothing was observed")
        return Share(0, 0, nothing, nothing)
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2))
    p = count / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    low = 0.0 if count == 0 else middle - half
    high = 1.0 if count == of else middle + half
    return Share(count, of, p, Interval(low, high, level, "Wilson"))


def clustered_interval(
    value: float, influence: Array, clusters: Sequence[Any], *, level: float
) -> Interval | Undefined:
    """An interval of an estimate whose observations come in clusters (queries), Student's t with one degree less.

    influence: shape (n,), what each observation adds to the estimate's error, summing to about 0. The variance is the
    sum of squares of the clusters' totals, times C / (C - 1) (Liang and Zeger 1986, Biometrika 73, 13-22).
    """
    from scipy.special import stdtrit

    _, of = np.unique(np.asarray(clusters), return_inverse=True)
    n_clusters = int(of.max()) + 1 if len(of) else 0
    if n_clusters < 2:
        return Undefined(f"{n_clusters} query: an interval over queries needs two")
    totals = np.bincount(of, weights=influence)
    error = math.sqrt(float((totals**2).sum()) * n_clusters / (n_clusters - 1))
    half = float(stdtrit(n_clusters - 1, 0.5 + level / 2)) * error
    return Interval(value - half, value + half, level, f"clustered by {n_clusters} queries, Student's t")


def mean_by_queries(values: Array, queries: Sequence[Any], *, level: float) -> Estimate:
    """A mean with its interval clustered by query."""
    if not len(values):
        nothing = Undefined("no judgements")
        return Estimate(nothing, 0, nothing)
    mean = float(values.mean())
    interval = clustered_interval(mean, (values - mean) / len(values), queries, level=level)
    return Estimate(mean, len(values), interval)
