"""Forecast figures as they are printed."""

from __future__ import annotations

from annot.forecast import Finish
from annot.report.cells import Kind, number
from annot.stats.intervals import Estimate
from annot.stats.undefined import Undefined


def estimate(found: Estimate, kind: Kind) -> str:
    """`12 [10, 15]`, or why there is none."""
    if isinstance(found.value, Undefined):
        return f"unknown: {found.value.reason}"
    if isinstance(found.interval, Undefined):
        return f"{number(found.value, kind)} (no interval: {found.interval.reason})"
    return str(number(found.value, kind, found.interval))


def date(found: Finish) -> str:
    """`2031-04-02 [2031-03-30, 2031-04-11]`, or why there is none."""
    if isinstance(found.date, Undefined):
        return f"unknown: {found.date.reason}"
    if isinstance(found.interval, Undefined):
        return f"{found.date} (no interval: {found.interval.reason})"
    return f"{found.date} [{found.interval[0]}, {found.interval[1]}]"
