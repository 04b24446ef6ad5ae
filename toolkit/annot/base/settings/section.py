"""Base of the sections of `annot.toml`, which refuses values that no person writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

MOST = 1_000_000_000
"""Largest number in a study; work that grows with it still ends."""
MOST_LETTERS = 100_000
"""Most letters of one text."""
CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line ends, and those that turn the direction of a line."""


class Section(BaseModel):
    """Table of annot.toml; an unknown key is refused, and so are values that no person writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _as_people_write(cls, value: Any) -> Any:
        for item in _within(value):
            if isinstance(item, str) and (control := CONTROL.search(item)):
                raise ValueError(f"found the control character U+{ord(control[0]):04X}, expected text")
            if isinstance(item, str) and len(item) > MOST_LETTERS:
                raise ValueError(f"found {len(item)} characters, expected at most {MOST_LETTERS}")
            if isinstance(item, int | float) and not abs(item) <= MOST:
                raise ValueError(f"found {item:.3g}, expected at most {MOST}")
        return value


def _within(value: Any) -> Iterator[Any]:
    """Values in a value: itself, or those in a list of it; of a table the keys, since its values are checked by
    themselves.
    """
    if isinstance(value, list | tuple | dict):
        yield from chain.from_iterable(map(_within, value))
    else:
        yield value
