"""Output of a command: its template in `templates/`, with the tables of `commands`."""

from __future__ import annotations

import io
import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annot.base.names import StudyVocabulary
from annot.base.stats.values import Estimate, Finish, Undefined
from annot.base.templating import render
from annot.publishing.report import cells, commands
from annot.publishing.report.cells import NONE, Number, parts, text
from annot.publishing.report.tables import Columns, Row, Table, sentences

if TYPE_CHECKING:
    from rich.table import Table as Grid

UNLIMITED = 10_000
"""Columns, where the output goes into a file or another program."""
NARROWEST = 60
"""Columns below which a table of several columns becomes blocks of lines."""
BAR = 20
"""Columns of a bar that shows how much is done."""
LONGEST_LINE = 100
"""Columns of a sentence, however wide the terminal is."""
_MINUS_ZERO = re.compile(r"(?<![\w.])[-−](0\.0+)(?![\w.])")


def printed(columns: Columns[Row], rows: Iterable[Row]) -> str:
    """The table as text for the terminal; "" where it has no row."""
    return table_text(columns.of(rows))


def aligned(rows: Sequence[tuple[str, object]]) -> str:
    """A line for each name and its value, the values below each other; counts by name as `a: 1, b: 2`."""
    width = max(len(name) for name, _ in rows)
    lines = []
    for name, value in rows:
        shown = ", ".join(f"{key}: {n}" for key, n in value.items()) if isinstance(value, Mapping) else value
        lines.append(f"{name.ljust(width)}  {shown}")
    return "\n".join(lines)


def without_interval(named: Iterable[tuple[str, Estimate | Finish]], words: StudyVocabulary) -> str:
    """Reasons why figures have no interval: a line for each, with the names of the figures."""
    names_by_reason: dict[str, list[str]] = {}
    for name, number in named:
        value = number.date if isinstance(number, Finish) else number.value
        if isinstance(number.interval, Undefined) and not isinstance(value, Undefined):
            names_by_reason.setdefault(words.said(number.interval.reason), []).append(name.strip())
    return "\n".join(sentences("commands.estimates_without", why=list(names_by_reason.items())))


def rendered(name: str, **values: Any) -> str:
    """The text of the template `name` of a command; `table` in it is `printed`, and it can write figures.

    `tables` are the columns of `commands`.
    """
    kinds = {name: kind for name, kind in vars(cells).items() if isinstance(kind, cells.Quantity)}
    functions = [aligned, bar, sentences, share_done, without_interval, wrapped]
    named = {function.__name__: function for function in (*functions, cells.estimate, cells.date, cells.coefficient)}
    variables = {**named, **kinds, "number": cells.Number, "table": printed, "tables": commands, **values}
    return render(f"{name}.txt.j2", variables, overrides=None).rstrip("\n")


def table_text(table: Table) -> str:
    """A table with its title above, and its explanations below."""
    return "\n\n".join(
        part
        for part in (wrapped(table.title), text_table(table.headings, table.rows), *map(wrapped, table.below))
        if part
    )


def wrapped(sentence: str) -> str:
    """A sentence in lines that fit."""
    return textwrap.fill(sentence, min(LONGEST_LINE, width()), subsequent_indent="  ", break_on_hyphens=False)


def width() -> int:
    """Columns of the terminal; no limit without one."""
    return shutil.get_terminal_size(fallback=(UNLIMITED, 24)).columns


def text_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A plain text table, words to the left, numbers to the right.

    If it is wider than the terminal, intervals go below their figures and words are wrapped; if that is still too wide,
    each row becomes a block of lines.
    """
    columns = width()
    cells = [[_cell(cell) for cell in row] for row in rows]
    if not cells:
        return ""
    right = [all(_is_number(row[column]) for row in cells) for column in range(len(headings))]
    lines = [list(headings), *([text(cell, precise=False) for cell in row] for row in cells)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) <= columns:
        lines.insert(1, ["-" * wide for wide in widths])
        return "\n".join("  ".join(map(_padded, line, widths, right)).rstrip() for line in lines)
    below = [["\n".join(filter(None, parts(cell, precise=False))) for cell in row] for row in cells]
    wrapped = _wrapped(headings, below, right, columns)
    return wrapped or "\n\n".join(_block(headings, line, columns) for line in lines[1:])


def share_done(part: int, total: int) -> str:
    """Whole percent, rounded down: only finished work is at 100%."""
    return f"{100 * part // total}%" if total else "-"


def bar(part: int, total: int) -> str:
    """A bar of `BAR` columns, full only when all is done.

    >>> bar(5, 8)
    '████████████░░░░░░░░'
    """
    full = BAR * part // total if total else 0
    return "█" * full + "░" * (BAR - full)


def without_minus_zero(text: str) -> str:
    """`text` with every figure that was rounded to minus nothing as plain nothing.

    >>> without_minus_zero("-0.00 [-0.04, 0.03]")
    '0.00 [-0.04, 0.03]'
    """
    return _MINUS_ZERO.sub(r"\1", text)


def _cell(cell: object) -> object:
    if isinstance(cell, Number):
        return cell
    return "" if cell is None else without_minus_zero(text(cell, precise=False))


def _wrapped(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], columns: int) -> str:
    """The table with its words wrapped by rich; "" if even so it is too wide."""
    from rich.box import Box
    from rich.table import Table as Grid
    from rich.text import Text

    line_below_headings = Box("    \n    \n -  \n    \n    \n    \n    \n    \n", ascii=True)
    grid = Grid(box=line_below_headings, show_edge=False, padding=(0, 1, 0, 0), leading=1)
    free, longest = columns, []
    for heading, is_number, *column in zip(headings, right, *rows, strict=True):
        shown = heading.replace(" ", "\n") if is_number else heading
        wide, word = (max(map(len, "\n".join((shown, *column)).split(part))) for part in ("\n", None))
        stays = is_number or wide == word
        free -= 2 + wide * stays
        longest += [] if stays else [word]
        grid.add_column(Text(shown), justify="right" if is_number else "left", overflow="fold", no_wrap=stays)
    # The columns that are wrapped share what is left.
    if columns < NARROWEST or free < len(longest) * max(longest, default=0):
        return ""
    for row in rows:
        grid.add_row(*map(Text, row))
    return _in_lines(grid, columns)


def _block(headings: Sequence[str], row: Sequence[str], columns: int) -> str:
    """A line for each cell after its heading."""
    from rich.table import Table as Grid
    from rich.text import Text

    name = min(max(map(len, headings)), columns // 2)
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=name, overflow="fold")
    grid.add_column(width=columns - name - 2, overflow="fold")
    for line in zip(headings, row, strict=True):
        grid.add_row(*map(Text, line))
    return _in_lines(grid, columns)


def _in_lines(grid: Grid, columns: int) -> str:
    """The grid as rich prints it on a terminal of so many columns, without spaces at the ends of lines."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=columns, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(grid)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def _padded(cell: str, wide: int, to_right: bool) -> str:
    return cell.rjust(wide) if to_right else cell.ljust(wide)


def _is_number(cell: object) -> bool:
    if not isinstance(cell, str):
        return True
    try:
        float(cell.rstrip("%").replace(",", "") or "0")
    except ValueError:
        return cell in ("-", NONE) or bool(re.fullmatch(r"< 0\.\d+|\[.*\]", cell))
    return True
