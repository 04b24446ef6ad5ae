"""What a report is made of: answers first, then sections with drawings, then an appendix with every table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from annot.publishing.report.cells import Number

if TYPE_CHECKING:
    from annot.publishing.report.figures import Drawing


@dataclass(frozen=True, slots=True)
class Table:
    """A table under its name; `command` prints it in the terminal."""

    name: str
    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    command: str
    notes: tuple[str, ...] = ()
    numeric_from: int = 1
    """The first column that holds numbers; the ones before it hold names."""
    records: tuple[dict[str, object], ...] = ()
    """The rows as data: by name of the column, figures not rounded, and what is in no printed column."""

    @property
    def bracketed(self) -> bool:
        """Whether a figure has an interval."""
        return any(isinstance(cell, Number) and cell.bracketed for row in self.rows for cell in row)

    @property
    def title(self) -> str:
        """The first sentence of the caption, above the table."""
        return _first(self.caption)

    @property
    def below(self) -> tuple[str, ...]:
        """What explains the table: the rest of the caption, and the notes."""
        rest = self.caption.partition(". ")[2]
        return (rest, *self.notes) if rest else self.notes


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing, and in words what it shows."""

    caption: str
    svg: Drawing
    description: str

    @property
    def title(self) -> str:
        """The first sentence of the caption."""
        return _first(self.caption)


def _first(caption: str) -> str:
    first, dot, _ = caption.partition(". ")
    return first + dot.strip()


@dataclass(frozen=True, slots=True)
class Abstract:
    """A paper as people read it; `marked` are the places of its sentences of the facet, from 0."""

    heading: str
    title: str
    sentences: tuple[str, ...]
    marked: frozenset[int]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A pair to read again, folded: both abstracts, and what the guidelines say of the grades in question."""

    summary: str
    sides: tuple[Abstract, ...]
    criteria: tuple[tuple[str, str], ...]
    """(grade with its name, the guideline's words)."""
    told: str = ""
    """A sentence above both."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter of the report under its heading."""

    anchor: str
    title: str
    paragraphs: tuple[str, ...] = ()
    blocks: tuple[Table | Figure | SideBySide, ...] = ()
    method: tuple[str, ...] = ()
    """How its figures were made, below them."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables alone."""
        return tuple(block for block in self.blocks if isinstance(block, Table))


@dataclass(frozen=True, slots=True)
class Reply:
    """One question of the first screen: the verdict, and what it follows from."""

    question: str
    verdict: str
    sentences: tuple[str, ...]


class Fact(NamedTuple):
    """What a reader looks up at the head: its name, the words, and an address on the web that these lead to."""

    name: str
    words: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """The whole report. In the appendix figures keep their published precision, elsewhere their intervals decide.

    In captions and paragraphs `backticks` are what one types.
    """

    title: str
    subtitle: str
    """Empty if the answers say it."""
    notice: str | None = None
    """What a reader must know before believing any number in it."""
    answers: tuple[Reply, ...] = ()
    body: tuple[Chapter, ...] = ()
    appendix: tuple[Chapter, ...] = ()
    chain: tuple[tuple[str, str], ...] = ()
    """(file, SHA-256) of what the report was made from, corpus first."""
    about: tuple[Fact, ...] = ()
    """Makers, version, licence and the like, as far as they are known."""
