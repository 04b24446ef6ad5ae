"""Shares of the pools side by side: their effort and their effect on certainty, seen or assumed.

Before anything is judged, certainty is assumed from simulated studies on a grid (`sample-grid.tsv`, made by
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
    """Effort of one share of the pools, and its effect on certainty."""

    share: float
    pairs: Estimate
    hours: Estimate
    cost: Estimate
    level: Estimate
    """Widening of the interval of a run's mean, as a fraction."""
    difference: Estimate
    """Widening of the interval of the difference between two runs."""
    bias: float | None
    """Expected error of a run's mean; None if that is not known."""
    half_width: Value
    """Half width of the interval of a run's mean."""
    advised: bool
    """True if nothing speaks against the share."""
    why_not: str
    """Reason against the share: `too small` for the bias, `too wide` for a difference's interval, `too empty` if too
    often nothing relevant is drawn, `not known`; else empty.
    """


@dataclass(frozen=True, slots=True)
class SeenOn:
    """Pilot on which certainty was seen."""

    queries: int
    topics: int
    runs: int
    own_runs: bool
    """True if the runs are those of the study; else they are the rankings that made the pools."""
    redraws: int
    filled_in: bool
    """True if grades of pairs that were not drawn are filled in."""


@dataclass(frozen=True, slots=True)
class SharesForecast:
    """Forecasts of the shares side by side."""

    queries: int
    topics: int
    pairs: int
    """Pairs of the pools."""
    convention: str
    measure: str
    level: float
    """Level of the ranges."""
    interval_level: float
    """Level of the intervals that widen."""
    currency: str
    seen_on: SeenOn | None
    """Pilot on which certainty was seen; None if it is assumed."""
    why_assumed: str
    relevant: float | None
    """Relevant documents of a query that are expected; None if they are not known."""
    rows: tuple[ShareForecast, ...]
    notes: tuple[str, ...]
    """Notes on reading the table, and on its assumptions."""


def row_of(share: float, pairs: ExpectedPairs, effort: Effort, certain: Certainty) -> ShareForecast:
    """Row of a share."""
    faults = {
        "not known": isinstance(certain.level.value, Undefined),
        "too empty": certain.too_empty,
        "too small": certain.too_small,
        "too wide": certain.too_wide,
    }
    why_not = next((fault for fault, holds in faults.items() if holds), "")
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
    """Results of simulated studies of one design at one share."""

    measure: str
    highest: int
    """Highest grade."""
    topics: int
    pairs: int
    """Pairs of a query."""
    relevant: float
    """Relevant documents of a query, the mean."""
    share: float
    level: float
    """Widening of an interval of a run's mean, as a fraction."""
    difference: float
    bias: float
    deviation: float
    """Standard deviation of a run's values over topics."""
    empty: float
    """Share of queries in which nothing relevant is drawn."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Study to be whose certainty is assumed."""

    measure: str
    highest: int
    topics: int
    pairs: float
    """Pairs of a query."""
    relevant: float | None
    """Relevant documents of a query; None if they are not known."""
    level: float
    """Level of its intervals."""


@cache
def grid() -> tuple[GridRow, ...]:
    """Designs that were simulated."""
    header, *lines = files("annot.measuring.forecast").joinpath(GRID_FILE).read_text(encoding="utf-8").splitlines()
    kinds = (str, int, int, int, *[float] * 7)
    assert header.split("\t") == [*GridRow._fields]
    return tuple(GridRow(*(kind(cell) for kind, cell in zip(kinds, line.split("\t"), strict=True))) for line in lines)


def assumed(share: float, study: Expected) -> Certainty:
    """Effects of a share on a study of which nothing is judged, from the grid by straight lines between designs.

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
    numbers = sorted({row.relevant for row in rows if row.pairs <= study.pairs})
    certainties = [_certainty_of(_figures(rows, share, study, relevant), study) for relevant in numbers]
    worst = max(certainties, key=lambda certain: float(certain.difference.value))  # type: ignore[arg-type]
    return worst._replace(
        empty=max(certain.empty or 0.0 for certain in certainties),
        level=_over(worst.level, (certain.level for certain in certainties)),
        difference=_over(worst.difference, (certain.difference for certain in certainties)),
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
            return [float(np.interp(share, shares, [point[column] for point in points])) for column in range(1, 6)]
        name, position = axes[depth]
        steps = sorted(grouped((getattr(row, name), row) for row in part).items())
        figures_at_steps = [along(rows_of_step, depth + 1) for _, rows_of_step in steps]
        positions = [math.log(step) for step, _ in steps]
        return [float(np.interp(position, positions, figures)) for figures in zip(*figures_at_steps, strict=True)]

    return along(rows, 0)
