"""What a report is made of: sections of prose, tables and figures. Every number in it comes with its n."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from annot.report.figures import Drawing
from annot.report.text import without_minus_zero


@dataclass(frozen=True, slots=True)
class Table:
    """A table: `rows` of text cells under `headings`; `command` is the command that prints the same numbers."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    command: str
    notes: tuple[str, ...] = ()
    numeric_from: int = 1
    """The first column that holds numbers; the ones before it hold names."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing, and the sentence that says the same for those who cannot see it."""

    caption: str
    svg: Drawing
    description: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report under its heading."""

    anchor: str
    title: str
    paragraphs: tuple[str, ...] = ()
    blocks: tuple[Table | Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of the summary at the top."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """The whole report. `notice` is what a reader must know before believing any number in it."""

    title: str
    subtitle: str
    notice: str | None
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    chain: tuple[tuple[str, str], ...] = field(default=())
    """(file, SHA-256) of what the report was made from, corpus first."""


def number(value: float | None, digits: int = 2) -> str:
    """A number as the report prints it; an en dash where there is none."""
    return "–" if value is None else f"{value:z.{digits}f}"


def share(part: int, whole: int) -> str:
    """`part` of `whole` as a percentage; an en dash where the whole is nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "–"


def rows_of(rows: Iterable[Sequence[object]]) -> tuple[tuple[str, ...], ...]:
    """Rows as text cells."""
    return tuple(tuple("–" if cell is None else without_minus_zero(str(cell)) for cell in row) for row in rows)
