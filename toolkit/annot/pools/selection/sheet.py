"""The rating sheet as CSV: written for spreadsheet programs, read back as they save it.

The lead enters the type of each paper and a rating, as the rows below the header explain (`rating.txt.j2`): steps 2
and 3 of CSFCube's selection of query papers (annotator guidelines, 1.4).
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from annot.base.errors import Faults
from annot.base.names import near
from annot.formats.spreadsheet import decoded, plain, read_table, unguarded, written_sheet

LOGGER = logging.getLogger("annot")
RATINGS = range(1, 6)
COLUMNS = ("paper_id", "title", "year", "period", "type", "rating", "facets", "cited", "note", "abstract")
_REQUIRED = ("paper_id", "period", "type", "rating", "facets")
_FILLED_IN = ("type", "rating", "facets", "note")
"""The columns that are the lead's."""
_EXPLAINS = "#"
"""Mark at the start of a row that has no paper."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One paper of the sheet; type and rating are None until the lead has entered both."""

    paper_id: str
    title: str
    year: int | None
    period: str
    type: str | None
    rating: int | None
    facets: tuple[str, ...]
    """The facets it may serve as a query for; the lead strikes out those without substance."""
    note: str = ""
    abstract: str = ""
    """Abstract to read while rating."""
    cited: int | None = None
    """Papers of the corpus that it cites: its pool begins with them."""


def write_sheet(rows: Iterable[SheetRow], *, explanation: Sequence[str]) -> str:
    """The sheet as text, one paper a row, under the header and the lines of `explanation`."""
    explanation_rows = ([f"{_EXPLAINS} {line}", *("" for _ in COLUMNS[1:])] for line in explanation)
    papers = ({**asdict(row), "facets": ", ".join(row.facets)} for row in rows)
    return written_sheet([COLUMNS, *explanation_rows, *([cells[column] for column in COLUMNS] for cells in papers)])


def read_sheet(
    data: bytes, *, name: str, facets: Sequence[str], types: Sequence[str], known: Collection[str] | None = None
) -> tuple[SheetRow, ...]:
    """The rows of a filled sheet, in its order, from the bytes of the file as a spreadsheet program saved it.

    Read alike: UTF-8 with or without byte order mark, UTF-16 with one, Windows-1252; comma, semicolon or tab between
    cells; any line ends; a first line `sep=;`; columns in any order, further columns. Rows that are empty or explain
    the sheet are passed over. `facets` and `types` are those of the study, in types capitals do not matter; `known` are
    the ids of the corpus (not checked when None). A row with neither type nor rating is kept.
    Raises InputError with the line of every fault; `name` is the file in the messages.
    """
    faults = Faults(name)
    sheet = read_table(decoded(data), faults, known=COLUMNS)
    headings = [plain(heading) for heading in sheet.headings]
    for column in _REQUIRED:
        if sheet.headings and column not in headings:
            close = difflib.get_close_matches(column, [heading for heading in headings if heading not in COLUMNS], 1)
            faults.add(f"found no column {column!r}" + (f", but {close[0]!r}" if close else ""), line=sheet.line)
    papers = [(line, cells) for line, cells in sheet.rows if not _explains(cells)]
    filled = [line for line, cells in sheet.rows if _explains(cells) and sum(map(bool, cells.values())) > 1]
    if filled:
        warning = "lines %d to %d are the instructions, not papers; what was filled in there is left out"
        LOGGER.warning(f"%s: {warning}", name, filled[0], filled[-1])
    hint = "write a sheet with `annot query sample`, and leave its first line as it is"
    faults.raise_if_any(hint=hint, found=papers, nothing="no papers in the sheet")
    rows: list[SheetRow] = []
    lines_by_id: dict[str, int] = {}
    for line, cells in papers:
        of_row: list[str] = []
        row = _row({plain(heading): cell for heading, cell in cells.items()}, facets, types, of_row)
        if known is not None and row.paper_id and row.paper_id not in known:
            of_row.append(_unknown_paper(row.paper_id))
        if row.paper_id in lines_by_id:
            of_row.append(f"paper {row.paper_id!r} is on line {lines_by_id[row.paper_id]} already")
        lines_by_id.setdefault(row.paper_id, line)
        rows.append(row)
        for fault in of_row:
            faults.add(fault, line=line)
    faults.raise_if_any()
    return tuple(rows)


def _row(cells: dict[str, str], facets: Sequence[str], types: Sequence[str], faults: list[str]) -> SheetRow:
    """Row in these cells; its faults are added to `faults`."""
    full = {column: unguarded(cells.get(column, "")) for column in COLUMNS}
    text = {column: cell.strip() for column, cell in full.items()}
    paper_type = next((name for name in types if name.lower() == text["type"].lower()), None)
    if text["type"] and paper_type is None:
        faults.append(f"type: found {text['type']!r}, " + near(text["type"].lower(), types))
    rating = _number(text["rating"])
    if text["rating"] and rating not in RATINGS:
        faults.append(f"rating: found {text['rating']!r}, expected a whole number from 1 to 5")
    if bool(text["type"]) != bool(text["rating"]):
        filled, missing = ("type", "rating") if text["type"] else ("rating", "type")
        faults.append(f"found a {filled} and no {missing}, expected both or neither")
    if not text["paper_id"]:
        faults.append("paper_id is empty")
    year = _number(text["year"])
    if text["year"] and year is None:
        faults.append(f"year: found {text['year']!r}, expected a year such as 1999, or nothing")
    period = re.fullmatch(r"([0-9]{4})\s*[-–]\s*([0-9]{4})", text["period"])
    if period is None:
        faults.append(f"period: found {text['period']!r}, expected two years such as 1994-1999")
    elif year is not None and not int(period[1]) <= year <= int(period[2]):
        faults.append(f"period: found {period[1]}-{period[2]}, expected one that contains {year}")
    named = [part.strip() for part in re.split("[,;|]", text["facets"]) if part.strip()]
    faults += [f"facets: found {facet!r}, " + near(facet, facets) for facet in named if facet not in facets]
    return SheetRow(
        paper_id=full["paper_id"],
        title=full["title"],
        year=year,
        period=text["period"] if period is None else f"{period[1]}-{period[2]}",
        type=paper_type,
        rating=rating,
        facets=tuple(facet for facet in facets if facet in named),
        note=full["note"],
        abstract=full["abstract"],
    )


def _number(text: str) -> int | None:
    """A whole number, also as `3.0` or `3,0`: spreadsheets show it so when a cell was formatted as a number."""
    if re.fullmatch(r"[0-9]{1,9}(?:[.,]0+)?", text):
        return int(re.split("[.,]", text)[0])
    return None


def _explains(cells: Mapping[str, str]) -> bool:
    """True if a row explains the sheet: it has one cell with the mark, and others only in the lead's columns."""
    filled = [cell.strip() for heading, cell in cells.items() if cell.strip() and plain(heading) not in _FILLED_IN]
    return len(filled) == 1 and filled[0].startswith(_EXPLAINS)


def _unknown_paper(paper_id: str) -> str:
    fault = f"paper {paper_id!r} is not in the corpus"
    if re.fullmatch(r"[0-9]+([.,][0-9]+)?E\+?[0-9]+", paper_id, re.IGNORECASE):
        fault += "; a spreadsheet turned its id into a number: import the column paper_id as text"
    return fault
