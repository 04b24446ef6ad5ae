"""What a section of `annot.toml` is, and what of a file no person writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

MOST = 1_000_000_000
"""No number of a study is larger, and work that grows with one still ends."""
MOST_LETTERS = 100_000
"""Of one text."""
CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line ends, and those that turn the direction of a line."""


class Section(BaseModel):
    """A table of annot.toml; an unknown key is refused, and so is what no person writes into one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _as_people_write(cls, value: Any) -> Any:
        for found in _within(value):
            if isinstance(found, str) and (control := CONTROL.search(found)):
                raise ValueError(f"found the control character U+{ord(control[0]):04X}, expected text")
            if isinstance(found, str) and len(found) > MOST_LETTERS:
                raise ValueError(f"found {len(found)} characters, expected at most {MOST_LETTERS}")
            if isinstance(found, int | float) and not abs(found) <= MOST:
                raise ValueError(f"found {found:.3g}, expected at most {MOST}")
        return value


def _within(value: Any) -> Iterator[Any]:
    """The value, or what is in a list of it; of a table the keys, since what they hold is looked at by itself."""
    if isinstance(value, list | tuple | dict):
        yield from chain.from_iterable(map(_within, value))
    else:
        yield value
