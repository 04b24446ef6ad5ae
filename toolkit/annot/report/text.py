"""Tables as plain text, for the terminal, and what words need before they are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MINUS_ZERO = re.compile(r"(?<![\w.])[-−](0\.0+)(?![\w.])")


def text_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A plain text table: words to the left, numbers to the right."""
    if not rows:
        return ""
    cells = [[("" if cell is None else without_minus_zero(str(cell))) for cell in row] for row in rows]
    widths = [max(len(heading), *(len(row[at]) for row in cells)) for at, heading in enumerate(headings)]
    right = [all(_is_number(row[at]) for row in cells) for at in range(len(headings))]

    def line(row: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(headings), line(["-" * width for width in widths]), *(line(row) for row in cells)])


def share_done(part: int, whole: int) -> str:
    """Whole percent, rounded down: only what is finished is at 100%."""
    return f"{100 * part // whole}%" if whole else "-"


def without_minus_zero(text: str) -> str:
    """`text` with every figure that was rounded to minus nothing as plain nothing.

    >>> without_minus_zero("-0.00 [-0.04, 0.03]")
    '0.00 [-0.04, 0.03]'
    """
    return _MINUS_ZERO.sub(r"\1", text)


def sentence(text: str) -> str:
    """`text` with a capital and a full stop; a pseudonym keeps its small letter.

    >>> sentence("nobody changes"), sentence("a1 changes")
    ('Nobody changes.', 'a1 changes.')
    """
    return f"{text if re.match('[a-z][0-9]', text) else text[:1].upper() + text[1:]}."


def _is_number(cell: str) -> bool:
    try:
        float(cell.rstrip("%").replace(",", "") or "0")
    except ValueError:
        return cell in ("-", "") or (cell.startswith("[") and cell.endswith(("]", "]†")))
    return True
