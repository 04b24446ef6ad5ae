"""Words and tables of a report, and the document they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from jinja2 import Environment
from markupsafe import Markup, escape

from annot.base.names import OF_PAPERS, StudyVocabulary, whole
from annot.base.stats.values import Undefined
from annot.base.templating import environment
from annot.base.words import ENGLISH_CODE
from annot.publishing.report import cells
from annot.publishing.report.cells import Number, TextCell, p_value

if TYPE_CHECKING:
    from annot.publishing.report.figures import Drawing


# ----------------------------------------------------------------------------------------------------------------------
# The sentences and tables of the report and of the commands that print its tables, from `templates/report/`.
#
# A template holds named blocks; each is rendered alone, with the values it asks for. A line of `--` parts paragraphs.
# ----------------------------------------------------------------------------------------------------------------------


def sentences(block: str, **values: object) -> tuple[str, ...]:
    """The paragraphs of a block, `file.block`, each on one line; in the vocabulary `words` if the values have one."""
    name, _, part = block.partition(".")
    template = _templates().get_template(f"report/{name}.j2")
    text = "".join(template.blocks[part](template.new_context(values)))
    words = values.get("words")
    text = words.said(text) if isinstance(words, StudyVocabulary) else text
    return tuple(" ".join(paragraph.split()) for paragraph in re.split(r"(?m)^\s*--\s*$", text) if paragraph.strip())


def sentence(block: str, **values: object) -> str:
    """The block as one paragraph."""
    return " ".join(sentences(block, **values))


def inline(text: str) -> Markup:
    """A sentence in which text between backticks is set as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def listed(names: Sequence[object], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *leading, end = map(str, names)
    return f"{', '.join(leading)} {last} {end}" if leading else end


def with_p(value: float | Undefined) -> str:
    """`p = 0.012`, `p < 0.001`."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def capitalised(text: str) -> str:
    """`text` with a capital; a pseudonym, a path, or names before a colon stay in lower case.

    >>> capitalised("nobody changes"), capitalised("a1 changes"), capitalised("mine: no pair")
    ('Nobody changes', 'a1 changes', 'mine: no pair')
    """
    return text if re.match(r"[a-z]+[0-9_/]|(\S+, )*\S+: ", text) else text[:1].upper() + text[1:]


@cache
def _templates() -> Environment:
    # Spaces and line ends become one space in the end; none may vanish between two sentences.
    templates = environment(overrides=None).overlay(trim_blocks=False, finalize=whole)
    templates.filters.update(listed=listed, with_p=with_p, capitalised=capitalised, measured=cells.measured)
    templates.globals.update({name: kind for name, kind in vars(cells).items() if isinstance(kind, cells.Quantity)})
    templates.globals.update(NONE=cells.NONE, number=cells.Number, coefficient=cells.coefficient, p_value=p_value)
    return templates


# ----------------------------------------------------------------------------------------------------------------------
# Parts of a report: answers first, then sections with drawings, then an appendix with every table.
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
    """Rows as data: by name of the column, with figures that are not rounded and columns that are not printed."""
    words: StudyVocabulary = OF_PAPERS

    @property
    def bracketed(self) -> bool:
        """True if a figure has an interval."""
        return any(isinstance(cell, Number) and cell.bracketed for row in self.rows for cell in row)

    @property
    def title(self) -> str:
        """The first sentence of the caption, above the table."""
        return _first(self.caption)

    @property
    def below(self) -> tuple[str, ...]:
        """Explanations of the table: the rest of the caption, and the notes."""
        rest = self.caption.partition(". ")[2]
        return (rest, *self.notes) if rest else self.notes


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing under its name, and its description in words."""

    name: str
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
    title: TextCell
    sentences: tuple[str, ...]
    marked: frozenset[int]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A pair to read again, folded: both abstracts, and the guidelines on the grades in question."""

    summary: str
    sides: tuple[Abstract, ...]
    criteria: tuple[tuple[str, str], ...]
    """(grade with its name, the guideline's words)."""
    introduction: str = ""
    """A sentence above both."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter of the report under its heading."""

    anchor: str
    title: str
    paragraphs: tuple[str, ...] = ()
    blocks: tuple[Table | Figure | SideBySide, ...] = ()
    method: tuple[str, ...] = ()
    """Method of its figures, below them."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables of the chapter, without its figures."""
        return tuple(block for block in self.blocks if isinstance(block, Table))


@dataclass(frozen=True, slots=True)
class Reply:
    """One question of the first screen: the verdict, and its reasons."""

    question: str
    verdict: str
    sentences: tuple[str, ...]


class Tile(NamedTuple):
    """One figure at the head of the page: its name, the figure, and a note below it."""

    name: str
    figure: str
    note: str = ""


class Fact(NamedTuple):
    """Entry of the head for readers: its name, the words, and an address on the web for these."""

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
    """Warnings that a reader must know before believing any number in it."""
    tiles: tuple[Tile, ...] = ()
    """Figures at the head of the page. With them, only the verdicts are there, and their reasons are a chapter."""
    picture: Figure | None = None
    """Drawing at the head of the page, beside the verdicts."""
    answers: tuple[Reply, ...] = ()
    body: tuple[Chapter, ...] = ()
    appendix: tuple[Chapter, ...] = ()
    chain: tuple[tuple[str, str], ...] = ()
    """Input files of the report as (file, SHA-256), corpus first."""
    about: tuple[Fact, ...] = ()
    """Makers, version, licence and the like, as far as they are known."""
    language: str = ENGLISH_CODE
    """Language of its words (BCP 47)."""


WRITTEN: dict[type, tuple[str, ...]] = {
    Table: ("caption", "headings", "notes"),
    Figure: ("caption", "description"),
    SideBySide: ("sides",),
    Abstract: ("heading",),
    Chapter: ("title", "paragraphs", "blocks", "method"),
    Reply: ("question", "verdict", "sentences"),
    Document: ("notice", "tiles", "picture", "answers", "body", "appendix"),
}
"""Fields of a report that this program writes: titles and abstracts of papers, and names, are not among them."""
Part = TypeVar("Part")


def in_words(part: Part, words: StudyVocabulary) -> Part:
    """A part of a report, such as a table, in the vocabulary of a study."""
    made: Any = part
    if isinstance(part, str):
        made = words.said(part)
    elif isinstance(part, Tile):
        made = Tile(words.said(part.name), part.figure, words.said(part.note))
    elif isinstance(part, tuple):
        made = tuple(in_words(each, words) for each in part)
    elif type(part) in WRITTEN:
        fields: dict[str, Any] = {name: in_words(getattr(part, name), words) for name in WRITTEN[type(part)]}
        made = replace(made, **fields, **({"words": words} if isinstance(part, Table) else {}))
    return cast("Part", made)


# ----------------------------------------------------------------------------------------------------------------------
# One declaration a table: its columns, and what each says of a row. Page, notebook, Markdown, LaTeX and terminal,
# CSV, JSON and pandas come from it.
#
# A section declares a table next to the code for its rows. Everything else that a column needs (coefficients, other
# rows) it takes from the function around it, so that a type checker reads all of it.
# ----------------------------------------------------------------------------------------------------------------------


Row = TypeVar("Row")
Key = TypeVar("Key")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column: its heading, and its cell for a row: text, a count, yes or no, or a `Number`."""

    heading: str
    """Heading; "" for a column that is in the data alone."""
    cell: Callable[[Row], object]
    name: str | None = None
    """Name in CSV, JSON and pandas; the heading in lower case if there is none, "" for a printed column alone."""

    @property
    def field(self) -> str:
        """Name of the column in data."""
        return self.heading.lower().replace(" ", "_") if self.name is None else self.name


@dataclass(frozen=True)
class Columns(Generic[Row]):
    """Columns of a table that is printed by itself in the terminal."""

    names: Sequence[Column[Row]]
    numbers: Sequence[Column[Row]] = ()

    @property
    def fields(self) -> list[str]:
        """The names of the columns in data."""
        return [column.field for column in (*self.names, *self.numbers) if column.field]

    def of(self, rows: Iterable[Row], name: str = "", *, words: StudyVocabulary | None = None) -> Table:
        """The table of these rows. name: in CSV, next to other tables; words: as in `table`."""
        return table(name, rows, self.names, self.numbers, words=words)


def columns_for(
    keys: Iterable[Key], cell: Callable[[Row, Key], object], heading: Callable[[Key], str] = str
) -> list[Column[Row]]:
    """A column for each of these, such as a grade or a facet; it is its name in data."""

    def column(key: Key) -> Column[Row]:
        return Column(heading(key), lambda row: cell(row, key), str(key))

    return list(map(column, keys))


def facet_column(cell: Callable[[Row], object], words: StudyVocabulary) -> Column[Row]:
    """The facet of a row: only in the data where nothing is judged by facets."""
    return Column("Facet" if words.faceted else "", cell, "facet")


def table(
    name: str,
    rows: Iterable[Row],
    names: Sequence[Column[Row]],
    numbers: Sequence[Column[Row]] = (),
    *,
    caption: str = "",
    command: str | None = None,
    notes: Iterable[str] = (),
    words: StudyVocabulary | None = None,
    **values: object,
) -> Table:
    """The table with a row for each of `rows`; `names` say what a row is, `numbers` are to their right.

    caption: a block of a template, which gets `words` and `values`, and `bracketed`: True if a figure has an interval.
    command: the command that prints the table, if one does. words: the vocabulary of the study, into which headings
    and notes are put; None leaves them as they are. Notes say why figures have no value or no interval.
    """
    columns = (*names, *numbers)
    cells = [[column.cell(row) for column in columns] for row in rows]
    counts = range(len(names), len(columns))
    printed = [position for position, column in enumerate(columns) if column.heading]
    with_field = [position for position, column in enumerate(columns) if column.field]
    figures = [cell for row in cells for cell in map(row.__getitem__, printed) if isinstance(cell, Number)]
    bracketed = any(figure.bracketed for figure in figures)
    written = OF_PAPERS if words is None else words
    made = Table(
        name=name,
        caption=sentence(caption, bracketed=bracketed, name=name, words=written, **values) if caption else "",
        headings=tuple(columns[position].heading for position in printed),
        rows=_rows(cells, printed, counts),
        command=f"annot report --table {name}" if command is None else command,
        notes=(*notes, *missing_figures(figures, written)),
        numeric_from=sum(bool(column.heading) for column in names),
        records=tuple({columns[position].field: row[position] for position in with_field} for row in cells),
    )
    return made if words is None else in_words(made, words)


def picture(name: str, drawing: Drawing, block: str, **values: object) -> Figure:
    """The drawing with its caption and its description in words: `{block}figure` and `{block}drawn` of a template."""
    return Figure(name, sentence(f"{block}figure", **values), drawing, sentence(f"{block}drawn", **values))


def _rows(
    cells: Sequence[Sequence[object]], printed: Sequence[int], counts: Container[int]
) -> tuple[tuple[object, ...], ...]:
    """Rows of these columns; `counts` are those of numbers, whose counts are written as in sentences."""
    return tuple(
        tuple(whole(row[position]) if position in counts else row[position] for position in printed) for row in cells
    )


def data_of(table: Table) -> dict[str, object]:
    """The table as JSON carries it: figures not rounded, with their intervals."""
    rows = [
        {
            name: {"value": cell.raw, "interval": cell.interval} if isinstance(cell, Number) else cell
            for name, cell in record.items()
        }
        for record in table.records
    ]
    return {"name": table.name, "caption": table.caption, "notes": table.notes, "rows": rows}


def missing_figures(figures: Iterable[Number], words: StudyVocabulary) -> tuple[str, ...]:
    """Reasons why figures have no value or no interval, each once: with this data's counts if they are the same."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for figure in figures:
        part, reason = ("value", figure.raw) if isinstance(figure.raw, Undefined) else ("interval", figure.lacking)
        if isinstance(reason, Undefined):
            reasons.setdefault((part, reason.kind), []).append(reason.reason)
    counted_reasons = [
        (len(kinds), part, words.said(kind if len({*kinds}) > 1 else kinds[0]))
        for (part, kind), kinds in reasons.items()
    ]
    return sentences("commands.without", told=counted_reasons)
