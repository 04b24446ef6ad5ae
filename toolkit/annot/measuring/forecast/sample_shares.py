"""Shares of the pools side by side: what each takes and what it does to certainty, seen or assumed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annot.base.stats.values import Estimate, Undefined, Value
from annot.measuring.forecast.effort import Effort, drawn_range
from annot.measuring.forecast.sample_certainty import Certainty, half_width
from annot.pools.pair_sample import ExpectedPairs

SHARES = (0.15, 0.25, 0.33, 0.5, 0.75, 1.0)
ASSUMED_LEVEL = (1.25, 0.24, 0.11, 0.026, 0.0043, 0.0)
ASSUMED_DIFFERENCE = (2.3, 0.65, 0.34, 0.092, 0.0095, 0.0)
ASSUMED_BIAS = (0.041, 0.018, 0.012, 0.0083, 0.0033, 0.0)
ASSUMED_DEVIATION = 0.16
"""The results on two collections that were judged whole, by `benchmarks/sample_shares.py`: NDCG of 17 systems on
CSFCube's two shared facets (33 queries) and on Cranfield (217). Each is the larger of both figures; of the standard
deviation over topics the smaller, which makes intervals narrow and the bias beside them large."""


@dataclass(frozen=True, slots=True)
class ShareForecast:
    """What one share of the pools takes, and what it does to certainty."""

    share: float
    pairs: Estimate
    hours: Estimate
    cost: Estimate
    level: Value
    """By how much the interval of a run's mean is wider, as a fraction."""
    difference: Value
    """The same of the difference between two runs."""
    bias: float
    """How far a run's mean is expected to be off."""
    half_width: Value
    """Of the interval of a run's mean."""
    advised: bool
    """Whether the bias is at most a quarter of it, and no interval widens by more than half."""
    why_not: str
    """`too small` for the bias, `too wide` for the interval of a difference; else empty."""


@dataclass(frozen=True, slots=True)
class SeenOn:
    """The pilot on which certainty was seen."""

    queries: int
    topics: int
    runs: int
    own_runs: bool
    """Whether the runs are those of the study; else they are the rankings that made the pools."""
    redraws: int
    filled_in: bool
    """Whether grades of pairs that were not drawn are filled in."""


@dataclass(frozen=True, slots=True)
class SharesForecast:
    """The shares side by side."""

    queries: int
    topics: int
    pairs: int
    """Of the pools."""
    convention: str
    measure: str
    level: float
    """Of the ranges."""
    interval_level: float
    """Of the intervals that widen."""
    currency: str
    seen_on: SeenOn | None
    """None if certainty is assumed."""
    why_assumed: str
    rows: tuple[ShareForecast, ...]
    notes: tuple[str, ...]
    """How to read it, and what it rests on."""


def row_of(share: float, pairs: ExpectedPairs, effort: Effort, found: Certainty) -> ShareForecast:
    """The row of a share."""
    return ShareForecast(
        share=share,
        pairs=Estimate(pairs.mean, drawn_range(pairs, effort.rules.level)),
        hours=effort.hours(pairs),
        cost=effort.cost(pairs),
        level=found.level,
        difference=found.difference,
        bias=found.bias,
        half_width=found.half_width,
        advised=not (found.too_small or found.too_wide),
        why_not="too small" if found.too_small else "too wide" if found.too_wide else "",
    )


def assumed(share: float, *, topics: int, level: float) -> Certainty:
    """The assumed effects of a share if nothing is judged yet, by straight lines between the shares that were tried.

    topics, level: of the study, and of its intervals.
    """
    wider, between, bias = (
        float(np.interp(share, SHARES, of)) for of in (ASSUMED_LEVEL, ASSUMED_DIFFERENCE, ASSUMED_BIAS)
    )
    half = half_width(ASSUMED_DEVIATION, topics, level)
    return Certainty(wider, between, bias, half if isinstance(half, Undefined) else half * (1 + wider))
