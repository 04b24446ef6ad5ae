"""The report as LaTeX to `\\input` in a paper: answers, sections and tables, without the drawings.

Short tables float; a table that a page may not hold is a `longtable`. A caption is one sentence: what else there is to
say stands below the table. Compiles with pdfLaTeX, XeLaTeX and LuaLaTeX; what it needs stands at its head.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from annot.report.cells import Number, text
from annot.report.document import Document, Section, Table
from annot.report.latex_text import HEAD, comment, escape, inline

LONGEST_FLOAT = 30
"""Lines of a table that surely stand on one page; more become a `longtable`."""
LONGEST_NOTES = 1500
"""Characters below a table that still float with it; more would break the page, or not break at all."""
PROSE = 24
"""Characters from which on a column of names or words is set as a paragraph."""


class Size(NamedTuple):
    """A font size: the digits that a line of 16 cm holds, how far apart columns (points) and rows (lines) stand."""

    name: str
    room: float
    apart: float
    stretch: float


SIZES = (
    Size("small", 94, 3, 0.95),
    Size("footnotesize", 102, 3, 0.9),
    Size("scriptsize", 110, 3, 0.8),
    Size("tiny", 130, 2.2, 0.65),
)
NARROW = frozenset(".,:;'|()[]!ijlt ")
"""Letters that take about half the room of a digit."""
REASON = 45
"""The same for a column of numbers, in which a reason may stand where there is none."""
GAP = 1.5
"""Digits between two columns."""
NARROWEST = 0.2
"""Of a line: what a column of words has at least."""


def latex(document: Document) -> str:
    """The document in its order; every table has a label made of section and number."""
    parts = [comment(f"{document.title}. {document.subtitle}."), HEAD]
    if document.notice:
        parts.append(rf"\paragraph{{Note.}} {escape(document.notice)}")
    for answer in document.answers:
        parts.append(rf"\paragraph{{{escape(answer.question)}}} \textbf{{{escape(answer.verdict)}.}}")
        parts += map(inline, answer.sentences)
    for section in document.body:
        parts += _section(section, section.title, precise=False)
    for section in document.appendix:
        parts += _section(section, f"Appendix: {section.title}", precise=True)
    return "\n\n".join(parts) + "\n"


def _section(section: Section, title: str, *, precise: bool) -> list[str]:
    return [
        rf"\section{{{escape(title)}}}",
        *map(inline, section.paragraphs),
        *(
            _table(one, label=f"tab:{section.anchor}-{number}", precise=precise)
            for number, one in enumerate(section.tables, start=1)
        ),
    ]


def _table(one: Table, *, label: str, precise: bool) -> str:
    """One table with a caption of one sentence; below it what the caption left, the notes, and the command."""
    rows = tuple(tuple(text(cell, precise=precise) for cell in row) for row in one.rows)
    if _across(one, rows) > SIZES[-2].room:
        rows = tuple(line for row in one.rows for line in _intervals_below(row, precise=precise))
    size = next((each for each in SIZES if _across(one, rows) <= each.room), SIZES[-1])
    title, rest = _first_sentence(one.caption)
    head = [r"\toprule", _row(one.headings), r"\midrule"]
    below = [inline(note) for note in (*([rest] if rest else []), *one.notes)]
    below.append(rf"Made by \texttt{{{escape(one.command)}}}.")
    parts = (title, label, _columns(one, rows, size), head, [_row(row) for row in rows], size, below)
    floats = len(rows) <= LONGEST_FLOAT and sum(map(len, below)) <= LONGEST_NOTES
    return _float(*parts) if floats else _long(*parts)


def _float(title: str, label: str, columns: str, head: list[str], body: list[str], size: Size, below: list[str]) -> str:
    notes = [rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {' '.join(below)}}}"]
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{escape(title)}}}",
            rf"\label{{{label}}}",
            _distances(size),
            rf"\begin{{tabular}}{{{columns}}}",
            *head,
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
        ]
    )


def _long(title: str, label: str, columns: str, head: list[str], body: list[str], size: Size, below: list[str]) -> str:
    # A group, so that the distances of columns and rows end with the table.
    return "\n".join(
        [
            rf"\begingroup{_distances(size)}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"\caption{{{escape(title)}}}\label{{{label}}}\\",
            *head,
            r"\endfirsthead",
            *head,
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *body,
            r"\end{longtable}",
            r"\endgroup",
            rf"{{\footnotesize\noindent {' '.join(below)}\par}}",
        ]
    )


def _distances(size: Size) -> str:
    return rf"\setlength{{\tabcolsep}}{{{size.apart}pt}}\renewcommand{{\arraystretch}}{{{size.stretch}}}"


def _columns(one: Table, rows: Sequence[Sequence[str]], size: Size) -> str:
    """Names to the left, numbers to the right; columns of many words share the line that the others leave.

    The size is set in each column, not around the table: the caption of a `longtable` would shrink with it.
    """
    widths = _widths(one, rows)
    prose = [at for at, width in enumerate(widths) if width > _widest(one, at)]
    of_prose = sum(widths[at] for at in prose)
    others = sum(width + GAP for at, width in enumerate(widths) if at not in prose)
    free = max(NARROWEST, min(0.94 - others / size.room, (of_prose + GAP) / size.room))
    columns = []
    for at, width in enumerate(widths):
        if at in prose:
            part = rf"{free * width / of_prose:.2f}\linewidth"
            columns.append(rf">{{\{size.name}\raggedright\arraybackslash}}p{{{part}}}")
        else:
            columns.append(rf">{{\{size.name}}}{'l' if at < one.numeric_from else 'r'}")
    return "".join(columns)


def _across(one: Table, rows: Sequence[Sequence[str]]) -> float:
    """How wide the table is, in digits; a column of words can do with `PROSE`."""
    widths = _widths(one, rows)
    return sum(min(_widest(one, at), width) + GAP for at, width in enumerate(widths))


def _widest(one: Table, at: int) -> int:
    """The digits from which on a column is set as a paragraph: numbers only where words stand in their place."""
    return PROSE if at < one.numeric_from else REASON


def _widths(one: Table, rows: Sequence[Sequence[str]]) -> list[float]:
    """The width of each column in digits."""
    lines = (one.headings, *rows)
    return [
        max(sum(0.55 if letter in NARROW else 1.0 for letter in line[at]) for line in lines)
        for at in range(len(one.headings))
    ]


def _intervals_below(row: Sequence[object], *, precise: bool) -> list[tuple[str, ...]]:
    """The row without its intervals, and under it a row of these."""
    parts = [
        cell.parts(precise=precise) if isinstance(cell, Number) else (text(cell, precise=precise), "") for cell in row
    ]
    figures, intervals = tuple(figure for figure, _ in parts), tuple(interval for _, interval in parts)
    return [figures, intervals] if any(intervals) else [figures]


def _first_sentence(text: str) -> tuple[str, str]:
    first, _, rest = re.sub(r"(?<=[.:;]) ", "\0", text, count=1).partition("\0")
    if not rest:
        return first, ""
    return re.sub("[:;]$", ".", first), rest[0].upper() + rest[1:]


def _row(cells: Sequence[str]) -> str:
    line = " & ".join(escape(cell) for cell in cells)
    # After the end of a row LaTeX takes a star or a bracket for a part of its command.
    return f"{'{}' if line.startswith(('[', '*')) else ''}{line} \\\\"
