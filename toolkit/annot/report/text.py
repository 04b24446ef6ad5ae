"""Tables as plain text, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence


def text_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A plain text table: words to the left, numbers to the right."""
    if not rows:
        return ""
    cells = [[("" if cell is None else str(cell)) for cell in row] for row in rows]
    widths = [max(len(heading), *(len(row[at]) for row in cells)) for at, heading in enumerate(headings)]
    right = [all(_is_number(row[at]) for row in cells) for at in range(len(headings))]

    def line(row: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(headings), line(["-" * width for width in widths]), *(line(row) for row in cells)])


def _is_number(cell: str) -> bool:
    try:
        float(cell.rstrip("%").replace(",", "") or "0")
    except ValueError:
        return cell in ("-", "")
    return True
