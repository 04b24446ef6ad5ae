"""The rating sheet as CSV: written for spreadsheet programs, read back as they save it.

The lead enters the type of each paper and a rating, as the rows below the header explain (`rating.txt.j2`): steps 2
and 3 of CSFCube's selection of query papers (annotator guidelines, 1.4).
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from annot.formats.faults import Faults
from annot.formats.spreadsheet import decoded, guarded, plain, read_table, unguarded
from annot.names import near
from annot.records import PaperType

PAPER_TYPES: tuple[PaperType, ...] = get_args(PaperType)
RATINGS = range(1, 6)
COLUMNS = ("paper_id", "title", "year", "period", "type", "rating", "facets", "note", "abstract")
_REQUIRED = ("paper_id", "period", "type", "rating", "facets")
_EXPLAINS = "#"
"""How a row begins that holds no paper."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One paper of the sheet; type and rating are None until the lead has entered both."""

    paper_id: str
    title: str
    year: int | None
    period: str
    type: PaperType | None
    rating: int | None
    facets: tuple[str, ...]
    """The facets it may serve as a query for; the lead strikes out those without substance."""
    note: str = ""
    abstract: str = ""
    """For reading while rating."""


def write_sheet(rows: Iterable[SheetRow], *, explanation: Sequence[str]) -> str:
    """The sheet as text, one paper a row, under the header and the lines of `explanation`.

    It begins with a byte order mark: without one, Excel garbles accents.
    """
    out = io.StringIO(newline="")
    # With "\n" alone, older Python versions leave a cell with a carriage return unquoted.
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for line in explanation:
        writer.writerow([f"{_EXPLAINS} {line}", *("" for _ in COLUMNS[1:])])
    for row in rows:
        cells = (row.paper_id, row.title, row.year, row.period, row.type, row.rating, ", ".join(row.facets))
        writer.writerow([guarded("" if cell is None else str(cell)) for cell in (*cells, row.note, row.abstract)])
    return "\ufeff" + out.getvalue()


def read_sheet(
    data: bytes, *, name: str, facets: Sequence[str], known: Collection[str] | None = None
) -> tuple[SheetRow, ...]:
    """The rows of a filled sheet, in its order, from the bytes of the file as a spreadsheet program saved it.

    Read alike: UTF-8 with or without byte order mark, UTF-16 with one, Windows-1252; comma, semicolon or tab between
    cells; any line ends; a first line `sep=;`; columns in any order, further columns. Rows that are empty or explain
    the sheet are passed over. `facets` are those
    of the study, `known` the ids of the corpus (not checked when None). A row with neither type nor rating is kept.
    Raises InputError with the line of every fault; `name` is the file in the messages.
    """
    faults = Faults(name)
    sheet = read_table(decoded(data), faults, known=COLUMNS)
    headings = [plain(heading) for heading in sheet.headings]
    for column in _REQUIRED:
        if sheet.headings and column not in headings:
            close = difflib.get_close_matches(column, [heading for heading in headings if heading not in COLUMNS], 1)
            faults.add(f"found no column {column!r}" + (f", but {close[0]!r}" if close else ""), line=sheet.line)
    papers = [(line, cells) for line, cells in sheet.rows if not _explains(cells.values())]
    if not papers and not faults.found:
        faults.add("no papers in the sheet")
    faults.raise_if_any(hint="write a sheet with `annot query sample`, and leave its first line as it is")
    rows: list[SheetRow] = []
    lines_by_id: dict[str, int] = {}
    for line, cells in papers:
        reading = _SheetRowReading({plain(heading): cell for heading, cell in cells.items()}, facets)
        row = reading.row()
        if known is not None and row.paper_id and row.paper_id not in known:
            reading.faults.append(_unknown_paper(row.paper_id))
        if row.paper_id in lines_by_id:
            reading.faults.append(f"paper {row.paper_id!r} is on line {lines_by_id[row.paper_id]} already")
        lines_by_id.setdefault(row.paper_id, line)
        rows.append(row)
        for fault in reading.faults:
            faults.add(fault, line=line)
    faults.raise_if_any()
    return tuple(rows)


class _SheetRowReading:
    """One row's cells being read; what is wrong with them gathers in `faults`."""

    def __init__(self, cells: dict[str, str], facets: Sequence[str]) -> None:
        self._cells = cells
        self._facets = facets
        self.faults: list[str] = []

    def row(self) -> SheetRow:
        paper_type, rating = self._type(), self._rating()
        if bool(self._text("type")) != bool(self._text("rating")):
            given, wanted = ("type", "rating") if self._text("type") else ("rating", "type")
            self.faults.append(f"found a {given} and no {wanted}, expected both or neither")
        paper_id = unguarded(self._cells["paper_id"])
        if not paper_id.strip():
            self.faults.append("paper_id is empty")
        year = self._year()
        return SheetRow(
            paper_id=paper_id,
            title=unguarded(self._cells.get("title", "")),
            year=year,
            period=self._period(year),
            type=paper_type,
            rating=rating,
            facets=self._facet_names(),
            note=unguarded(self._cells.get("note", "")),
            abstract=unguarded(self._cells.get("abstract", "")),
        )

    def _text(self, column: str) -> str:
        return unguarded(self._cells.get(column, "")).strip()

    def _number(self, column: str) -> int | None:
        """A whole number, also as `3.0` or `3,0`: spreadsheets show it so when a cell was formatted as a number."""
        text = self._text(column)
        if re.fullmatch(r"[0-9]{1,9}(?:[.,]0+)?", text):
            return int(re.split("[.,]", text)[0])
        return None

    def _rating(self) -> int | None:
        rating = self._number("rating")
        if self._text("rating") and rating not in RATINGS:
            self.faults.append(f"rating: found {self._text('rating')!r}, expected a whole number from 1 to 5")
            return None
        return rating

    def _year(self) -> int | None:
        year = self._number("year")
        if self._text("year") and year is None:
            self.faults.append(f"year: found {self._text('year')!r}, expected a year such as 1999, or nothing")
        return year

    def _period(self, year: int | None) -> str:
        match = re.fullmatch(r"([0-9]{4})\s*[-–]\s*([0-9]{4})", self._text("period"))
        if match is None:
            self.faults.append(f"period: found {self._text('period')!r}, expected two years such as 1994-1999")
            return self._text("period")
        start, end = int(match[1]), int(match[2])
        if year is not None and not start <= year <= end:
            self.faults.append(f"period: found {start}-{end}, expected one that holds the year {year}")
        return f"{start}-{end}"

    def _type(self) -> PaperType | None:
        text = self._text("type").lower()
        found = next((known for known in PAPER_TYPES if known == text), None)
        if text and found is None:
            self.faults.append(f"type: found {self._text('type')!r}, " + near(text, PAPER_TYPES))
        return found

    def _facet_names(self) -> tuple[str, ...]:
        named = [part.strip() for part in re.split("[,;|]", self._text("facets")) if part.strip()]
        for facet in named:
            if facet not in self._facets:
                self.faults.append(f"facets: found {facet!r}, " + near(facet, self._facets))
        return tuple(facet for facet in self._facets if facet in named)


def _explains(cells: Iterable[str]) -> bool:
    """Whether a row explains the sheet: it has one cell only, with the mark."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return len(filled) == 1 and filled[0].startswith(_EXPLAINS)


def _unknown_paper(paper_id: str) -> str:
    fault = f"paper {paper_id!r} is not in the corpus"
    if re.fullmatch(r"[0-9]+([.,][0-9]+)?E\+?[0-9]+", paper_id, re.IGNORECASE):
        fault += "; a spreadsheet turned its id into a number: import the column paper_id as text"
    return fault
