"""Words and tables of a report, and the document they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from jinja2 import Environment
from markupsafe import Markup, escape

from annot.base.names import called, said
from annot.base.stats.values import Undefined
from annot.base.templating import environment
from annot.publishing.report import cells
from annot.publishing.report.cells import Number, p_value

if TYPE_CHECKING:
    from annot.publishing.report.figures import Drawing


# ----------------------------------------------------------------------------------------------------------------------
# The sentences and tables of the report and of the commands that print its tables, from `templates/report/`.
#
# A template holds named blocks; each is rendered alone, with the values it asks for. A line of `--` parts paragraphs.
# ----------------------------------------------------------------------------------------------------------------------


def sentences(block: str, **values: object) -> tuple[str, ...]:
    """The paragraphs of a block, `file.block`; each on one line."""
    name, _, part = block.partition(".")
    template = _templates().get_template(f"report/{name}.j2")
    text = "".join(template.blocks[part](template.new_context(values)))
    return tuple(" ".join(paragraph.split()) for paragraph in re.split(r"(?m)^\s*--\s*$", text) if paragraph.strip())


def sentence(block: str, **values: object) -> str:
    """The block as one paragraph."""
    return " ".join(sentences(block, **values))


def inline(text: str) -> Markup:
    """A sentence in which what is between backticks is set as what one types."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def listed(names: Sequence[object], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, end = map(str, names)
    return f"{', '.join(others)} {last} {end}" if others else end


def with_p(value: float | Undefined) -> str:
    """`p = 0.012`, `p < 0.001`."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def capitalised(text: str) -> str:
    """`text` with a capital; a pseudonym, a path, or names before a colon keep their small letters.

    >>> capitalised("nobody changes"), capitalised("a1 changes"), capitalised("mine: no pair")
    ('Nobody changes', 'a1 changes', 'mine: no pair')
    """
    return text if re.match(r"[a-z]+[0-9_/]|(\S+, )*\S+: ", text) else text[:1].upper() + text[1:]


@cache
def _templates() -> Environment:
    # Blanks and ends of lines are one blank in the end; none may vanish between two sentences.
    found = environment(overrides=None).overlay(trim_blocks=False, bytecode_cache=None)
    found.filters.update(listed=listed, with_p=with_p, capitalised=capitalised, measured=cells.measured)
    found.globals.update({name: kind for name, kind in vars(cells).items() if isinstance(kind, cells.Quantity)})
    found.globals.update(NONE=cells.NONE, number=cells.Number, coefficient=cells.coefficient, p_value=p_value)
    return found


# ----------------------------------------------------------------------------------------------------------------------
# What a report is made of: answers first, then sections with drawings, then an appendix with every table.
# ----------------------------------------------------------------------------------------------------------------------


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


# ----------------------------------------------------------------------------------------------------------------------
# One declaration a table: its columns, and what each says of a row. Page, notebook, Markdown, LaTeX and terminal,
# CSV, JSON and pandas come from it.
#
# A section declares a table beside what makes its rows. Whatever else a column needs (the coefficients, the other
# rows) it takes from the function around it, so that a type checker reads all of it.
# ----------------------------------------------------------------------------------------------------------------------


Row = TypeVar("Row")
Key = TypeVar("Key")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column: its heading, and what it says of a row: text, a count, yes or no, or a `Number`."""

    heading: str
    """"" of what is in the data alone."""
    cell: Callable[[Row], object]
    name: str | None = None
    """In CSV, JSON and pandas; the heading in small letters where there is none, "" of what is printed alone."""

    @property
    def field(self) -> str:
        """Its name in data."""
        return self.heading.lower().replace(" ", "_") if self.name is None else self.name


@dataclass(frozen=True)
class Columns(Generic[Row]):
    """The columns of a table that stands alone in the terminal."""

    names: Sequence[Column[Row]]
    numbers: Sequence[Column[Row]] = ()

    @property
    def fields(self) -> list[str]:
        """The names of the columns in data."""
        return [column.field for column in (*self.names, *self.numbers) if column.field]

    def of(self, rows: Iterable[Row], name: str = "") -> Table:
        """The table of these rows. name: in CSV, beside other tables."""
        return table(name, rows, self.names, self.numbers)


def each(
    keys: Iterable[Key], cell: Callable[[Row, Key], object], heading: Callable[[Key], str] = str
) -> list[Column[Row]]:
    """A column for each of these, such as a grade or a facet; it is its name in data."""

    def of(key: Key) -> Column[Row]:
        return Column(heading(key), lambda row: cell(row, key), str(key))

    return list(map(of, keys))


def of_facet(cell: Callable[[Row], object]) -> Column[Row]:
    """The facet of a row: only in the data where nothing is judged by facets."""
    return Column("Facet" if called().faceted else "", cell, "facet")


def table(
    name: str,
    rows: Iterable[Row],
    names: Sequence[Column[Row]],
    numbers: Sequence[Column[Row]] = (),
    *,
    caption: str = "",
    command: str | None = None,
    notes: Iterable[str] = (),
    **values: object,
) -> Table:
    """The table with a row for each of `rows`; `names` say what a row is, `numbers` stand to their right.

    caption: the block of a template, which knows `values`, and as `bracketed` whether a figure has an interval.
    command: what prints the table, where it is not the report. Notes say why figures have no value or no interval.
    """
    columns = (*names, *numbers)
    made = [[column.cell(row) for column in columns] for row in rows]
    printed = [at for at, column in enumerate(columns) if column.heading]
    kept = [at for at, column in enumerate(columns) if column.field]
    figures = [cell for row in made for cell in map(row.__getitem__, printed) if isinstance(cell, Number)]
    bracketed = any(figure.bracketed for figure in figures)
    return Table(
        name=name,
        caption=sentence(caption, bracketed=bracketed, name=name, **values) if caption else "",
        headings=tuple(said(columns[at].heading) for at in printed),
        rows=tuple(tuple(row[at] for at in printed) for row in made),
        command=f"annot report --table {name}" if command is None else command,
        notes=(*notes, *without(figures)),
        numeric_from=sum(bool(column.heading) for column in names),
        records=tuple({columns[at].field: row[at] for at in kept} for row in made),
    )


def data_of(found: Table) -> dict[str, object]:
    """The table as JSON carries it: figures not rounded, with their intervals."""
    rows = [
        {
            name: {"value": cell.raw, "interval": cell.interval} if isinstance(cell, Number) else cell
            for name, cell in record.items()
        }
        for record in found.records
    ]
    return {"name": found.name, "caption": found.caption, "notes": found.notes, "rows": rows}


def without(figures: Iterable[Number]) -> tuple[str, ...]:
    """Why figures have no value or no interval, each reason once: with this data's counts where they are the same."""
    exactly: dict[tuple[str, str], list[str]] = {}
    for one in figures:
        what, why = ("value", one.raw) if isinstance(one.raw, Undefined) else ("interval", one.lacking)
        if isinstance(why, Undefined):
            exactly.setdefault((what, why.kind), []).append(why.reason)
    told = [(len(of), what, kind if len({*of}) > 1 else of[0]) for (what, kind), of in exactly.items()]
    return sentences("commands.without", told=told)
