"""Intervals of what a simulated study shows, or why there is none."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from annot.forecast.hours import tails
from annot.forecast.redrawing import MIN_QUERIES
from annot.forecast.results import Range, Unknown

Array = npt.NDArray[np.float64]


def too_few(n: int, what: str) -> Unknown | None:
    if n >= MIN_QUERIES:
        return None
    queries = " ".join(word for word in (str(n), "query" if n == 1 else "queries", what) if word)
    return Unknown(f"a pilot of {queries} does not tell how queries differ, {MIN_QUERIES} would")


def interval_of(value: float | Unknown, few: Unknown | None, draws: Array | Unknown, level: float) -> Range | Unknown:
    if isinstance(value, Unknown):
        return value
    return few or (draws if isinstance(draws, Unknown) else held(draws, level))


def held(draws: Array, level: float) -> Range | Unknown:
    """Where one more draw falls with probability `level`: by ranks, as few draws do not reach the tails."""
    defined = draws[~np.isnan(draws)]
    fewest = math.ceil(2 / (1 - level) - 1 - 1e-9)
    if len(defined) < fewest:
        return Unknown(f"{len(defined)} simulated studies are too few for a {100 * level:g}% interval, {fewest} needed")
    low, high = np.quantile(defined, tails(level), method="weibull")
    return Range(float(low), float(high), level)
