"""What a command prints: its template in `templates/`, with the tables that `tables.toml` declares."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annot.base.stats.values import Estimate, Finish, Undefined
from annot.base.templating import render
from annot.publishing.report import cells
from annot.publishing.report.cells import NONE, Number, parts, text
from annot.publishing.report.document import Table
from annot.publishing.report.words import sentences, table

UNLIMITED = 10_000
"""Columns, where the output goes into a file or another program."""
NARROWEST = 60
"""Columns below which a table of several columns becomes blocks of lines."""
LEAST = 12
"""Columns that a wrapped column of words has at least."""
BAR = 20
"""Columns of a bar that shows how much is done."""
LONGEST_LINE = 100
"""Columns of a sentence, however wide the terminal is."""
_MINUS_ZERO = re.compile(r"(?<![\w.])[-−](0\.0+)(?![\w.])")

_Lines = list[str]


def printed(block: str, rows: Iterable[object], /, **values: Any) -> str:
    """The table `section.key` as text for the terminal; "" where it has no row."""
    return table_text(table(block, rows, **values))


def aligned(rows: Sequence[tuple[str, object]]) -> str:
    """A line for each name and its value, the values below each other; counts by name as `a: 1, b: 2`."""
    width = max(len(name) for name, _ in rows)
    lines = []
    for name, value in rows:
        shown = ", ".join(f"{key}: {n}" for key, n in value.items()) if isinstance(value, Mapping) else value
        lines.append(f"{name.ljust(width)}  {shown}")
    return "\n".join(lines)


def without_interval(named: Iterable[tuple[str, Estimate | Finish]]) -> str:
    """Why figures have no interval: a line a reason, with the names of the figures."""
    why: dict[str, list[str]] = {}
    for name, found in named:
        value = found.date if isinstance(found, Finish) else found.value
        if isinstance(found.interval, Undefined) and not isinstance(value, Undefined):
            why.setdefault(found.interval.reason, []).append(name.strip())
    return "\n".join(sentences("commands.estimates_without", why=list(why.items())))


def told(name: str, **values: Any) -> str:
    """The text of the template `name` of a command; `table` in it is `printed`, and it can write figures."""
    kinds = {name: kind for name, kind in vars(cells).items() if isinstance(kind, cells.Quantity)}
    figures = {"number": cells.number, "estimate": cells.estimate, "date": cells.date, "coefficient": cells.coefficient}
    words: dict[str, Any] = {
        **{"aligned": aligned, "bar": bar, "sentences": sentences, "share_done": share_done, "table": printed},
        **{"without_interval": without_interval, "wrapped": wrapped},
    }
    return render(f"{name}.txt.j2", {**words, **figures, **kinds, **values}, overrides=None).rstrip("\n")


def table_text(table: Table) -> str:
    """A table with its title above, and below it what explains it."""
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

    Where it would be wider than the terminal, intervals go below their figures and words are wrapped; then the numbers
    are parted into several tables, each with the names before them; then each row becomes a block of lines.
    """
    columns = width()
    cells = [[_cell(cell) for cell in row] for row in rows]
    if not cells:
        return ""
    right = [all(_is_number(row[at]) for row in cells) for at in range(len(headings))]
    whole = [[[text(cell, precise=False)] for cell in row] for row in cells]
    if _across(headings, whole) <= columns:
        return _lines([[heading] for heading in headings], whole, right)
    split = [[[part for part in parts(cell, precise=False) if part] or [""] for cell in row] for row in cells]
    heads = [
        _folded(one, max(_widest(split, at), _longest_word(one))) if right[at] else [one]
        for at, one in enumerate(headings)
    ]
    over = _across([max(head, key=len) for head in heads], split) - columns
    for at in sorted(range(len(headings)), key=lambda at: -_widest(split, at)):
        if over > 0 and not right[at]:
            now = max(_widest(split, at), *map(len, heads[at]))
            words = [line for row in split for line in row[at]] + [headings[at]]
            least = max(LEAST, now - over, *(_longest_word(word) for word in words))
            for row in split:
                row[at] = [line for one in row[at] for line in _folded(one, least)]
            heads[at] = _folded(headings[at], max(least, _widest(split, at)))
            over -= now - max(_widest(split, at), *map(len, heads[at]))
    if over <= 0 and columns >= NARROWEST:
        return _lines(heads, split, right)
    return _stacked(heads, split, right, columns) or "\n\n".join(_block(headings, row, columns) for row in whole)


def share_done(part: int, whole: int) -> str:
    """Whole percent, rounded down: only what is finished is at 100%."""
    return f"{100 * part // whole}%" if whole else "-"


def bar(part: int, whole: int) -> str:
    """A bar of `BAR` columns, full only when all is done.

    >>> bar(5, 8)
    '████████████░░░░░░░░'
    """
    full = BAR * part // whole if whole else 0
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
    return "" if cell is None else without_minus_zero(str(cell))


def _folded(text: str, width: int) -> _Lines:
    return textwrap.wrap(text, max(1, width), break_on_hyphens=False) or [""]


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _widest(rows: Sequence[Sequence[_Lines]], at: int) -> int:
    return max(len(line) for row in rows for line in row[at])


def _across(headings: Sequence[str], rows: Sequence[Sequence[_Lines]]) -> int:
    return sum(max(len(one), _widest(rows, at)) + 2 for at, one in enumerate(headings)) - 2


def _stacked(heads: Sequence[_Lines], rows: Sequence[Sequence[_Lines]], right: Sequence[bool], columns: int) -> str:
    """As many columns of numbers as fit, then the next below them; "" where names leave no room."""
    widths = [max(_widest(rows, at), *map(len, one)) + 2 for at, one in enumerate(heads)]
    lead = right.index(True) if True in right else len(right)
    room = columns + 2 - sum(widths[:lead])
    if not lead or lead == len(right) or columns < NARROWEST or max(widths[lead:]) > room:
        return ""
    stacks: list[list[int]] = []
    left = 0
    for at in range(lead, len(widths)):
        if widths[at] > left:
            stacks.append(list(range(lead)))
            left = room
        stacks[-1].append(at)
        left -= widths[at]
    return "\n\n".join(
        _lines([heads[at] for at in part], [[row[at] for at in part] for row in rows], [right[at] for at in part])
        for part in stacks
    )


def _lines(heads: Sequence[_Lines], rows: Sequence[Sequence[_Lines]], right: Sequence[bool]) -> str:
    widths = [max(_widest(rows, at), *map(len, one)) for at, one in enumerate(heads)]
    taller = any(len(cell) > 1 for row in rows for cell in row)

    def lines(row: Sequence[_Lines]) -> Iterable[str]:
        for line in range(max(map(len, row))):
            parts = [cell[line] if line < len(cell) else "" for cell in row]
            padded = (
                part.rjust(width) if to_right else part.ljust(width)
                for part, width, to_right in zip(parts, widths, right, strict=True)
            )
            yield "  ".join(padded).rstrip()

    found = [*lines(heads), "  ".join("-" * width for width in widths)]
    for at, row in enumerate(rows):
        found += [""] if taller and at else []
        found += lines(row)
    return "\n".join(found)


def _block(headings: Sequence[str], row: Sequence[_Lines], columns: int) -> str:
    """A row as lines of `heading  value`."""
    name = min(max(map(len, headings)), columns // 2)
    found = []
    for heading, (cell,) in zip(headings, row, strict=True):
        heads, values = _folded(heading, name), _folded(cell, columns - name - 2)
        for at in range(max(len(heads), len(values))):
            parts = heads[at] if at < len(heads) else "", values[at] if at < len(values) else ""
            found.append(f"{parts[0].ljust(name)}  {parts[1]}".rstrip())
    return "\n".join(found)


def _is_number(cell: object) -> bool:
    if not isinstance(cell, str):
        return True
    try:
        float(cell.rstrip("%").replace(",", "") or "0")
    except ValueError:
        return cell in ("-", NONE) or bool(re.fullmatch(r"< 0\.\d+|\[.*\]", cell))
    return True
