"""Tables of papers, one a row: CSV with a header, and Parquet. `columns` says what their columns mean.

CSV is what RFC 4180 says (https://www.rfc-editor.org/rfc/rfc4180), and what programs make of it: a semicolon, a tab or
a bar between cells, found by the header; a first line `sep=;` of Excel; lines before the header; any line ends; any
encoding that `text_encoding` finds. A quote that is never closed costs its own line, not those that follow.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from annot.base.errors import InputError
from annot.formats.corpora.columns import HEADER_WITHIN, meaning, table, unusable
from annot.formats.corpora.cutting import Broken, Head, Piece, Records, in_one_piece
from annot.formats.corpora.text_encoding import not_utf8, text_of
from annot.formats.input_files import LONGEST_LINE, NOT_WHOLE, parquet_file

DELIMITERS = ",;\t|"
_LONGEST = 1 << 24
_ROWS = 1_000
_SEP = re.compile(r'"?sep=([^"\w\s]|\t)"?\s*', re.IGNORECASE)
_OPEN = "not valid CSV: a quote in the row is not closed, or one within a cell is not doubled"
_CELLS_OPEN = ("expected after", "unexpected end of data")


def csv_rows(piece: Piece) -> Records:
    """The rows of a CSV file; places are lines, as cells may hold line ends."""
    csv.field_size_limit(_LONGEST)
    with text_of(Path(piece.path), newline="") as text:
        lines = _Lines(text)
        delimiter, before = _dialect(lines.ahead(HEADER_WITHIN), piece.path)
        for _ in range(before):
            next(lines)
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        header: list[str] | None = None
        while True:
            lines.forget()
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                alone = lines.give_back()
                row = _alone(alone, delimiter, len(header or ()))
                if not row:
                    fault = _OPEN if any(part in str(error) for part in _CELLS_OPEN) else f"not valid CSV: {error}"
                    yield lines.number, Broken("not valid CSV", (fault,), alone.rstrip("\r\n"))
                    continue
            if header is None:
                if not row:
                    continue
                header = row
                if fault := unusable(header):
                    yield lines.number, Broken("the columns cannot be used", (fault,), delimiter.join(row))
                    return
                continue
            if len(row) > len(header) and not any(row[len(header) :]):
                del row[len(header) :]
            raw = delimiter.join(row)
            if not any(row):
                yield lines.number, None
            elif len(row) != len(header):
                fault = f"{len(row)} columns, expected {len(header)}"
                yield lines.number, Broken("another number of columns", (fault,), raw)
            elif broken := not_utf8(raw):
                yield lines.number, broken
            else:
                yield lines.number, dict(zip(header, row, strict=True))


class _Lines:
    """The lines of a text; the last ones taken can be given back."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._back: deque[str] = deque()
        self._taken: list[str] = []
        self._size = 0
        self.number = 0
        """Of the line taken last."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._back.popleft() if self._back else next(self._text)
        self._taken.append(line)
        self._size += len(line)
        self.number += 1
        if self._size > LONGEST_LINE:
            raise csv.Error(f"a row of more than {LONGEST_LINE} characters")
        return line

    def ahead(self, count: int) -> list[str]:
        """The first lines, so many or fewer if they are long. They are not taken."""
        while len(self._back) < count and sum(map(len, self._back)) < LONGEST_LINE:
            if not (line := self._text.readline()):
                break
            self._back.append(line)
        return [*self._back]

    def forget(self) -> None:
        """From here on, the lines taken so far cannot be given back."""
        self._taken.clear()
        self._size = 0

    def give_back(self) -> str:
        """Give back all but the first line of those taken, and return that."""
        first, *back = self._taken
        self._back.extendleft(reversed(back))
        self.number -= len(back)
        return first


def _dialect(lines: Sequence[str], name: str) -> tuple[str, int]:
    """The delimiter, and how many of these first lines come before the header.

    The header is the first line that is not blank, or, where no cell of that means anything, the first line of which
    two do. The delimiter is the one with most such cells.
    """
    if lines and (told := _SEP.fullmatch(lines[0])):
        return told[1], 1
    delimiters = "\t,;|" if name.removesuffix(".gz").endswith((".tsv", ".tab")) else DELIMITERS
    known = [max((_known(line, one), -at, one) for at, one in enumerate(delimiters)) for line in lines]
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if known and not known[first][0]:
        first = next((at for at, (count, _, _) in enumerate(known) if count > 1), first)
    return known[first][2] if known else delimiters[0], first


def _known(line: str, delimiter: str) -> int:
    try:
        return len(meaning(tuple(next(csv.reader([line], delimiter=delimiter), ()))))
    except csv.Error:
        return 0


def _alone(line: str, delimiter: str, columns: int) -> list[str]:
    """The cells of a line with quotes out of place, if they are closed and as many as the header has; of cells between
    tabs, quotes may be part of the text. Empty if it cannot be read so."""
    line = line.rstrip("\r\n")
    reader = csv.reader([line, ""], delimiter=delimiter)
    try:
        row = next(reader, [])
    except csv.Error:
        return []
    if delimiter == "\t" and (reader.line_num > 1 or len(row) != columns):
        row = line.split("\t")
    elif reader.line_num > 1:
        return []
    return row if len(row) == columns else []


def _has_known_columns(head: Head) -> bool:
    """Whether one of the first lines has the names of two known columns."""
    lines = head.start.decode("utf-8", "replace").splitlines(keepends=True)[:HEADER_WITHIN]
    delimiter, before = _dialect(lines, head.name)
    return before < len(lines) and _known(lines[before], delimiter) > 1


def row_groups(name: str) -> list[tuple[int, int | None]]:
    """One piece for each group of rows. Raises InputError if the file is not Parquet."""
    return [(at, at + 1) for at in range(parquet_file(Path(name)).metadata.num_row_groups)] or [(0, 0)]


def parquet_rows(piece: Piece) -> Records:
    """The rows of a group; only the columns that mean something are read."""
    import pyarrow

    file = parquet_file(Path(piece.path))
    columns = [*meaning(tuple(file.schema_arrow.names))]
    stop = file.metadata.num_row_groups if piece.stop is None else piece.stop
    number = 0
    try:
        for batch in file.iter_batches(_ROWS, row_groups=list(range(piece.start, stop)), columns=columns):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{piece.path}: not readable: {error}", hint=NOT_WHOLE) from None


CSV = table("csv", records=csv_rows, cut=in_one_piece, told=_has_known_columns, endings=(".csv", ".tsv"))
PARQUET = table("parquet", records=parquet_rows, cut=row_groups, told=lambda head: head.start.startswith(b"PAR1"))
