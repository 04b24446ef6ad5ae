"""One declaration a table: its columns, and what each says of a row. Page, notebook, Markdown, LaTeX and terminal, CSV,
JSON and pandas come from it.

A section declares a table beside what makes its rows. Whatever else a column needs (the coefficients, the other rows)
it takes from the function around it, so that a type checker reads all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from annot.base.names import called, said
from annot.base.stats.values import Undefined
from annot.publishing.report.cells import Number
from annot.publishing.report.document import Table
from annot.publishing.report.words import sentence, sentences

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
