"""Vectors of papers from files, block by block: what a block is, and what is counted beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

ROWS = 2_000
"""The most rows of a block."""
EXAMPLES = 5


class Block(NamedTuple):
    """Rows of wanted papers, all of one width."""

    ids: Sequence[str]
    matrix: NDArray[Any]
    """Floating-point numbers, shape (ids, dimensions)."""
    where: str
    """The place of its first row."""


@dataclass
class Tally:
    """What a reading met beside the rows that it gave."""

    foreign: int = 0
    """Rows of papers that nobody asked for."""
    broken: int = 0
    """Rows that are none."""
    examples: list[str] = field(default_factory=list)
    """The first broken rows, with their places."""
    space: str | None = None
    """The space that the files name."""

    def note(self, fault: str) -> None:
        """Count a broken row."""
        self.broken += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(fault)
