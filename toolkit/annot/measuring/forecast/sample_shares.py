"""Shares of the pools side by side: what each takes and what it does to certainty, seen or assumed.

What is assumed before anything is judged comes from simulated studies on a grid (`sample-grid.tsv`, made by
`benchmarks/sample_shares.py`): pairs and relevant documents of a query, topics, grades, measure and share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from annot.base.records import grouped
from annot.base.stats.values import Estimate, Interval, Undefined, Value
from annot.measuring.forecast.effort import Effort, drawn_range
from annot.measuring.forecast.sample_certainty import Certainty, half_width, unknown
from annot.pools.pair_sample import ExpectedPairs

SHARES = (0.15, 0.25, 0.33, 0.5, 0.75, 1.0)
GRID_FILE = "sample-grid.tsv"
ON_GRID = Undefined("it is read off a grid of simulated studies")


@dataclass(frozen=True, slots=True)
class ShareForecast:
    """What one share of the pools takes, and what it does to certainty."""

    share: float
    pairs: Estimate
    hours: Estimate
    cost: Estimate
    level: Estimate
    """By how much the interval of a run's mean is wider, as a fraction."""
    difference: Estimate
    """The same of the difference between two runs."""
    bias: float | None
    """How far a run's mean is expected to be off; None if that is not known."""
    half_width: Value
    """Of the interval of a run's mean."""
    advised: bool
    """Whether nothing speaks against the share."""
    why_not: str
    """`too small` for the bias, `too wide` for a difference's interval, `too empty` if too often nothing relevant is
    drawn, `not known`; else empty."""


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
    relevant: float | None
    """The relevant documents of a query that are expected; None if they are not known."""
    rows: tuple[ShareForecast, ...]
    notes: tuple[str, ...]
    """How to read it, and what it rests on."""


def row_of(share: float, pairs: ExpectedPairs, effort: Effort, certain: Certainty) -> ShareForecast:
    """The row of a share."""
    faults = {
        "not known": isinstance(certain.level.value, Undefined),
        "too empty": certain.too_empty,
        "too small": certain.too_small,
        "too wide": certain.too_wide,
    }
    why_not = next((fault for fault, found in faults.items() if found), "")
    return ShareForecast(
        share=share,
        pairs=Estimate(pairs.mean, drawn_range(pairs, effort.rules.level)),
        hours=effort.hours(pairs),
        cost=effort.cost(pairs),
        level=certain.level,
        difference=certain.difference,
        bias=certain.bias,
        half_width=certain.half_width,
        advised=not why_not,
        why_not=why_not,
    )


class GridRow(NamedTuple):
    """What simulated studies of one design show at one share."""

    measure: str
    highest: int
    """The highest grade."""
    topics: int
    pairs: int
    """Of a query."""
    relevant: float
    """Of a query, the mean."""
    share: float
    level: float
    """By how much an interval of a run's mean is wider, as a fraction."""
    difference: float
    bias: float
    deviation: float
    """Of a run's values over topics."""
    empty: float
    """The share of queries in which nothing relevant is drawn."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The study to be whose certainty is assumed."""

    measure: str
    highest: int
    topics: int
    pairs: float
    """Of a query."""
    relevant: float | None
    """Of a query; None if they are not known."""
    level: float
    """Of its intervals."""


@cache
def grid() -> tuple[GridRow, ...]:
    """The designs that were simulated."""
    header, *lines = files("annot.measuring.forecast").joinpath(GRID_FILE).read_text(encoding="utf-8").splitlines()
    kinds = (str, int, int, int, *[float] * 7)
    assert header.split("\t") == [*GridRow._fields]
    return tuple(GridRow(*(kind(cell) for kind, cell in zip(kinds, line.split("\t"), strict=True))) for line in lines)


def assumed(share: float, study: Expected) -> Certainty:
    """The effects of a share on a study of which nothing is judged, from the grid by straight lines between designs.

    Pairs, relevant documents and topics are on scales of logarithms. If the relevant documents are not known, the
    figures are those of the number on the grid with the widest intervals, and the range is over all numbers.
    Nothing is known of smaller pools than those of the grid.
    """
    rows = [row for row in grid() if row.measure == study.measure]
    highest = min((row.highest for row in rows), key=lambda grade: abs(grade - study.highest), default=0)
    rows = [row for row in rows if row.highest == highest]
    if not rows:
        return unknown(Undefined(f"no study with {study.measure} was simulated"))
    smallest = min(row.pairs for row in rows)
    if study.pairs < smallest and share < 1:
        return unknown(Undefined(f"pools of fewer than {smallest} pairs were not simulated"))
    if study.relevant is not None:
        return _certainty_of(_figures(rows, share, study, study.relevant), study)
    known = sorted({row.relevant for row in rows if row.pairs <= study.pairs})
    each = [_certainty_of(_figures(rows, share, study, relevant), study) for relevant in known]
    worst = max(each, key=lambda certain: float(certain.difference.value))  # type: ignore[arg-type]
    return worst._replace(
        empty=max(certain.empty or 0.0 for certain in each),
        level=_over(worst.level, (certain.level for certain in each)),
        difference=_over(worst.difference, (certain.difference for certain in each)),
    )


def _over(worst: Estimate, others: Iterable[Estimate]) -> Estimate:
    values = [other.value for other in others if not isinstance(other.value, Undefined)]
    return Estimate(worst.value, Interval(min(values), max(values), 1.0, "of designs"))


def _certainty_of(figures: Sequence[float], study: Expected) -> Certainty:
    level, difference, bias, deviation, empty = figures
    half = half_width(deviation, study.topics, study.level)
    return Certainty(
        Estimate(level, ON_GRID),
        Estimate(difference, ON_GRID),
        bias,
        half if isinstance(half, Undefined) else half * (1 + level),
        empty,
    )


def _figures(rows: Sequence[GridRow], share: float, study: Expected, relevant: float) -> list[float]:
    """Level, difference, bias, deviation and empty: axis after axis is read off, the share last."""
    axes = (("topics", math.log(study.topics)), ("pairs", math.log(study.pairs)), ("relevant", math.log(relevant)))

    def along(part: Sequence[GridRow], depth: int) -> list[float]:
        if depth == len(axes):
            ends = [(1.0, 0.0, 0.0, 0.0, part[0].deviation, 0.0)]
            points = sorted([(row.share, *row[6:]) for row in part] + ends)
            shares = [point[0] for point in points]
            return [float(np.interp(share, shares, [point[at] for point in points])) for at in range(1, 6)]
        name, place = axes[depth]
        steps = sorted(grouped((getattr(row, name), row) for row in part).items())
        each = [along(own, depth + 1) for _, own in steps]
        places = [math.log(step) for step, _ in steps]
        return [float(np.interp(place, places, figures)) for figures in zip(*each, strict=True)]

    return along(rows, 0)
