"""How figures of assessors are written in a cell: a minus only where something is left after rounding."""

from __future__ import annotations

from annot.diagnosis import Estimate, Interval, Share, Undefined, Value

NONE = "–"


def fixed(value: float, digits: int = 2) -> str:
    """A number with so many decimals; never `-0.00`."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed(value: float, digits: int = 2) -> str:
    """The same with its sign; 0 has none."""
    text = fixed(value, digits)
    return text if value < 0 or float(text) == 0 else f"+{text}"


def number(value: Value, digits: int = 2) -> str:
    """A number, or a dash: the reason is told elsewhere."""
    return NONE if isinstance(value, Undefined) else fixed(value, digits)


def share(one: Share) -> str:
    """`82.9% [79, 86]`."""
    if isinstance(one.value, Undefined):
        return NONE
    return f"{fixed(100 * one.value, 1)}% {ends(one.interval, scale=100, digits=0)}".strip()


def estimate(one: Estimate) -> str:
    """`+0.12 [0.02, 0.22]`."""
    return NONE if isinstance(one.value, Undefined) else f"{signed(one.value)} {ends(one.interval)}".strip()


def figure(value: Value, interval: Interval | Undefined, digits: int = 2) -> str:
    """`0.40 [0.31, 0.49]`."""
    if isinstance(value, Undefined):
        return NONE
    return f"{fixed(value, digits)} {ends(interval, digits=digits)}".strip()


def ends(interval: Interval | Undefined, *, scale: float = 1.0, digits: int = 2) -> str:
    """`[0.02, 0.22]`; empty where there is none."""
    if isinstance(interval, Undefined):
        return ""
    return f"[{fixed(scale * interval.low, digits)}, {fixed(scale * interval.high, digits)}]"


def percent(value: Value) -> str:
    """`12.3`."""
    return NONE if isinstance(value, Undefined) else fixed(100 * value, 1)


def p_value(value: Value) -> str:
    """`0.012`, two digits that count."""
    return NONE if isinstance(value, Undefined) else f"{value:.2g}"
