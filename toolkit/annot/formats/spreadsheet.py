"""CSV as spreadsheet programs save it: its encodings, its separators, its line numbers."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator

SEPARATORS = ",;\t"


class NotCsv(Exception):
    """Raised where the text stops being CSV; `line` is the line on which the row begins."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def decoded(data: bytes) -> str:
    """The text of a file: UTF-8 with or without byte order mark, UTF-16 with one, else Windows-1252.

    The last is what Excel's plain "CSV" holds on a western system. Only text for people can be garbled by a wrong
    guess: ids are looked up or compared.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def csv_rows(text: str, *, knows: Callable[[str], bool]) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, the header first: the line each begins on, and its cells.

    Comma, semicolon or tab between the cells, whichever gives the header most columns that the caller `knows`; any
    line ends; a first line `sep=;` is passed over. Raises NotCsv.
    """
    lines = list(io.StringIO(text, newline=""))
    start = 1 if lines and re.fullmatch(r'"?sep=.?"?', lines[0].rstrip("\r\n"), re.IGNORECASE) else 0
    while start < len(lines) and not lines[start].strip(f"{SEPARATORS} \r\n"):
        start += 1
    if start == len(lines):
        return
    reader = csv.reader(lines[start:], delimiter=_separator(lines[start], knows), strict=True)
    line = start + 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = start + reader.line_num + 1
    except csv.Error as error:
        raise NotCsv(line, str(error)) from None


_FORMULA_STARTS = "=+-@\t\r\n＝＋－＠"
_GUARD = "'"


def guarded(cell: str) -> str:
    """The cell as a spreadsheet takes it for text, and not for a formula.

    One that begins like a formula (the last four are the wide forms) gets an apostrophe before it; one that begins with
    an apostrophe gets one more, so that `unguarded` gives back what was written.
    """
    return _GUARD + cell if cell and cell[0] in _FORMULA_STARTS + _GUARD else cell


def unguarded(cell: str) -> str:
    """The cell as it was before `guarded`."""
    return cell[1:] if cell[:1] == _GUARD and cell[1:2] and cell[1] in _FORMULA_STARTS + _GUARD else cell


def _separator(header: str, knows: Callable[[str], bool]) -> str:
    def known_columns(separator: str) -> int:
        return len({cell for cell in next(csv.reader([header], delimiter=separator)) if knows(cell)})

    return max(SEPARATORS, key=known_columns)
