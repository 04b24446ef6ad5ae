"""Forecast figures as they are printed."""

from __future__ import annotations

from annot.forecast import Estimate, Finish, Unknown
from annot.report.cells import Kind, Number, number


def figure(value: float | Unknown, kind: Kind) -> Number:
    """A number, or a dash: the reason stands elsewhere."""
    return number(None if isinstance(value, Unknown) else value, kind)


def estimate(found: Estimate, kind: Kind) -> str:
    """`12 [10, 15]`, or why there is none."""
    if isinstance(found.value, Unknown):
        return f"unknown: {found.value.undefined}"
    if isinstance(found.interval, Unknown):
        return f"{number(found.value, kind)} (no interval: {found.interval.undefined})"
    return str(number(found.value, kind, found.interval))


def date(found: Finish) -> str:
    """`2031-04-02 [2031-03-30, 2031-04-11]`, or why there is none."""
    if isinstance(found.date, Unknown):
        return f"unknown: {found.date.undefined}"
    if isinstance(found.interval, Unknown):
        return f"{found.date} (no interval: {found.interval.undefined})"
    return f"{found.date} [{found.interval[0]}, {found.interval[1]}]"
