"""CSV as spreadsheet programs save it: its encodings, its separators, its line numbers."""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import re
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import NamedTuple

from annot.formats.faults import Faults

SEPARATORS = ",;\t"


class CsvTable(NamedTuple):
    """The rows by column, each with the line on which it begins, under the headings of the line of the header."""

    line: int
    headings: tuple[str, ...]
    rows: list[tuple[int, dict[str, str]]]


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


def read_table(text: str, faults: Faults, *, known: Collection[str]) -> CsvTable:
    """The rows that are not empty, by the headings of the first.

    Comma, semicolon or tab between the cells, whichever gives the header most columns that are `known` (as `plain` has
    them); any line ends; a first line `sep=;` is passed over. What is no CSV, known headings that occur twice, and
    cells beyond the header are faults.
    """
    lines = list(io.StringIO(text, newline=""))
    start = 1 if lines and re.fullmatch(r'"?sep=.?"?', lines[0].rstrip("\r\n"), re.IGNORECASE) else 0
    while start < len(lines) and not lines[start].strip(f"{SEPARATORS} \r\n"):
        start += 1
    if start == len(lines):
        return CsvTable(0, (), [])

    def known_columns(separator: str) -> int:
        return len({cell for cell in next(csv.reader([lines[start]], delimiter=separator)) if plain(cell) in known})

    reader = csv.reader(lines[start:], delimiter=max(SEPARATORS, key=known_columns), strict=True)
    line = start + 1
    headings: list[str] = []
    rows = []
    try:
        headings = [cell.strip() for cell in next(reader)]
        for heading in sorted({cell for cell in headings if headings.count(cell) > 1 and plain(cell) in known}):
            faults.add(f"column {heading!r} occurs {headings.count(heading)} times", line=line)
        line = start + reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells[len(headings) :]):
                faults.add(
                    f"found {len(cells)} cells, expected {len(headings)}; quote a cell with a separator", line=line
                )
            elif any(cell.strip() for cell in cells):
                rows.append((line, dict(zip_longest(headings, cells[: len(headings)], fillvalue=""))))
            line = start + reader.line_num + 1
    except csv.Error as error:
        faults.add(f"not CSV from here on: {error}", line=line)
    return CsvTable(start + 1, tuple(headings), rows)


def read_columns(
    data: bytes, faults: Faults, *, columns: Sequence[str], optional: Sequence[str] = ()
) -> list[tuple[int, dict[str, str]]]:
    """The cells of these columns in every row that is not empty; each row with its line.

    The `columns` must be there; an `optional` one that is not there has empty cells. Where another is nearly called so,
    that is a fault.
    """
    found = read_table(decoded(data), faults, known=(*columns, *optional))
    headings = {plain(heading): heading for heading in found.headings}
    missing = [column for column in columns if column not in headings]
    for column in missing:
        faults.add(f"found no column {column!r}", line=found.line)
    unread = [heading for heading in headings if heading not in (*columns, *optional)]
    for column in optional:
        if column not in headings and (close := difflib.get_close_matches(column, unread, 1)):
            missing.append(column)
            faults.add(f"found column {headings[close[0]]!r}: did you mean {column!r}?", line=found.line)
    if missing:
        return []
    there = [*columns, *(column for column in optional if column in headings)]
    absent = dict.fromkeys((column for column in optional if column not in headings), "")
    return [
        (line, {column: unguarded(cells[headings[column]]).strip() for column in there} | absent)
        for line, cells in found.rows
    ]


def plain(heading: str) -> str:
    """A heading as it is compared: small letters, `_` for white space and hyphens."""
    return re.sub(r"[\s-]+", "_", heading.strip().lower())


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
