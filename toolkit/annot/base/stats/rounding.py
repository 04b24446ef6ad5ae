"""Figures at the digits that they bear.

The last bits of a sum depend on the order in which a processor adds. They are cut off before figures are compared,
ordered or written, so that a study gives the same files on every machine.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

DIGITS = 10
"""Significant digits of every figure in a result."""
DUST = 1e-12
"""What is nearer to 0 is 0: the rest of a sum that cancels out."""
P = ParamSpec("P")
Result = TypeVar("Result")


def significant(value: float, digits: int) -> float:
    """`value` at so many significant digits, as `format` with `.{digits}g` prints it.

    >>> significant(0.99996, 2), significant(0.0123456, 2)
    (1.0, 0.012)
    """
    return float(f"{value:.{digits}g}")


def rounding(function: Callable[P, Result]) -> Callable[P, Result]:
    """The function with every number in its result rounded: in records, dicts, lists and tuples."""

    @functools.wraps(function)
    def rounded_function(*args: P.args, **kwargs: P.kwargs) -> Result:
        result: Result = rounded(function(*args, **kwargs))
        return result

    return rounded_function


def rounded(value: Any) -> Any:
    """The same with every number at `DIGITS` significant digits."""
    if isinstance(value, float):
        return 0.0 if abs(value) < DUST else significant(value, DIGITS)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{field.name: rounded(getattr(value, field.name)) for field in dataclasses.fields(value)})
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(rounded, value))
    if isinstance(value, list | tuple):
        return type(value)(map(rounded, value))
    return value
