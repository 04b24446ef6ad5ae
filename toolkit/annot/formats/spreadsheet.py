"""CSV as spreadsheet programs save it: and the tables that people fill in and that are read back."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from annot.base.errors import Faults
from annot.base.names import near, shown
from annot.formats.input_files import unicode_of_start

SEPARATORS = ",;\t"


class CsvTable(NamedTuple):
    """The rows by column, each with the line on which it begins, under the headings of the line of the header."""

    line: int
    headings: tuple[str, ...]
    rows: list[tuple[int, dict[str, str]]]


def decoded(data: bytes) -> str:
    """The text of a file: UTF-8, UTF-16 or UTF-32 as its first bytes tell, else Windows-1252.

    The last is what Excel's plain "CSV" holds on a western system. Only text for people can be garbled by a wrong
    guess: ids are looked up or compared.
    """
    unicode = unicode_of_start(data)
    try:
        return data.decode(unicode, errors="strict" if unicode == "utf-8" else "replace").removeprefix("\ufeff")
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
        if column not in headings and (close := difflib.get_close_matches(column, unread)):
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
    """The cell as text for a spreadsheet, which would compute a formula, and for a terminal, which would obey orders.

    A cell that begins like a formula (the last four are the wide forms) gets an apostrophe before it; one that begins
    with an apostrophe gets one more, so that `unguarded` gives back what was written. Line ends become line feeds, and
    other control characters are replaced by their numbers.
    """
    cell = shown(cell.replace("\r\n", "\n").replace("\r", "\n"))
    return _GUARD + cell if cell and cell[0] in _FORMULA_STARTS + _GUARD else cell


def unguarded(cell: str) -> str:
    """The cell as it was before `guarded`."""
    return cell[1:] if cell[:1] == _GUARD and cell[1:2] and cell[1] in _FORMULA_STARTS + _GUARD else cell


def csv_of(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV, with their texts guarded; numbers stay numbers, and None is an empty cell."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([guarded(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


def written_sheet(rows: Iterable[Iterable[object]]) -> str:
    """Rows as a file for spreadsheet programs. It begins with a byte order mark: without one, Excel garbles accents."""
    return "\ufeff" + csv_of(rows)


GOLD_COLUMNS = ("query_id", "doc_id", "grade", "why")


class GoldLine(NamedTuple):
    """A row: a pair with its grade, and why it has it; `why` may be empty."""

    query_id: str
    doc_id: str
    grade: int
    why: str


def write_gold(rows: Iterable[GoldLine]) -> str:
    """The table, with tabs between cells."""
    return _with_tabs([GOLD_COLUMNS, *rows])


def _with_tabs(rows: Iterable[Iterable[object]]) -> str:
    """Rows with tabs between cells; white space in a cell becomes one space."""
    return "".join("\t".join(guarded(" ".join(str(cell).split())) for cell in row) + "\n" for row in rows)


def read_gold(data: bytes, *, name: str, grades: Sequence[int], queries: Collection[str]) -> tuple[GoldLine, ...]:
    """The rows, in order. grades: the scale. queries: those of the study.

    Tabs, commas or semicolons between cells. Raises InputError with the line of every grade off the scale, unknown
    query, empty id and pair that is listed twice.
    """
    faults = Faults(name)
    found: dict[tuple[str, str], GoldLine] = {}
    for line, cells in read_columns(data, faults, columns=GOLD_COLUMNS):
        query_id, doc_id, grade = cells["query_id"], cells["doc_id"], cells["grade"]
        if query_id not in queries:
            faults.add(f"query {query_id!r}: not in this study; {near(query_id, queries)}", line=line)
        if not doc_id:
            faults.add("doc_id is empty", line=line)
        if grade not in map(str, grades):
            faults.add(f"grade: found {grade!r}, expected one of {', '.join(map(str, grades))}", line=line)
        elif (query_id, doc_id) in found:
            faults.add(f"{query_id} {doc_id}: given twice", line=line)
        else:
            found[query_id, doc_id] = GoldLine(query_id, doc_id, int(grade), cells["why"])
    hint = "columns query_id, doc_id, grade and why; `annot train gold` without a file draws some"
    faults.raise_if_any(hint=hint, found=found, nothing="found no gold pair")
    return tuple(found.values())


RETURNED_COLUMNS = ("query_id", "doc_id", "to", "why")


class ReturnedLine(NamedTuple):
    """A row: a pair, the assessor it goes back to, and what they read."""

    query_id: str
    doc_id: str
    assessor: str
    why: str
    line: int | None = None
    """Where it stands in the file; None if it comes from no file."""


def read_returned_lines(data: bytes, *, name: str) -> tuple[ReturnedLine, ...]:
    """The rows, in order. Tabs, commas or semicolons between cells.

    Raises InputError for missing columns, for a file without rows, and with the line of every row that gives a pair and
    an assessor again.
    """
    faults = Faults(name)
    found: dict[tuple[str, str, str], ReturnedLine] = {}
    for line, cells in read_columns(data, faults, columns=RETURNED_COLUMNS):
        row = ReturnedLine(cells["query_id"], cells["doc_id"], cells["to"], cells["why"], line)
        if row[:3] in found:
            faults.add(f"{row.query_id} {row.doc_id} to {row.assessor}: given twice", line=line)
        found[row[:3]] = row
    hint = f"expected the columns {', '.join(RETURNED_COLUMNS)}, and a row for each pair"
    faults.raise_if_any(hint=hint, found=found, nothing="found no pair")
    return tuple(found.values())


PLACE_COLUMNS = ("paper_id", "where")


def write_full_texts(titles: Mapping[str, str], where: Mapping[str, str]) -> str:
    """The table to fill in, with the title of each paper beside it; `where` of those that are known stays."""
    rows = ((paper_id, where.get(paper_id, ""), title) for paper_id, title in sorted(titles.items()))
    return _with_tabs([(*PLACE_COLUMNS, "title"), *rows])


def read_full_texts(data: bytes, *, name: str, wanted: Collection[str] | None) -> dict[str, str]:
    """The place of the full text of each `wanted` paper, a link or the name of a file; None: of those that have one.

    Tabs, commas or semicolons between cells. Raises InputError with every paper without a place and every paper with
    two different ones.
    """
    faults = Faults(name)
    found: dict[str, str] = {}
    for line, cells in read_columns(data, faults, columns=PLACE_COLUMNS):
        paper_id, where = cells["paper_id"], cells["where"]
        if where and found.setdefault(paper_id, where) != where:
            faults.add(f"paper {paper_id!r} has two addresses: {found[paper_id]} and {where}", line=line)
    if not faults.found:
        for paper_id in sorted(set(wanted or ()) - set(found)):
            faults.add(f"paper {paper_id!r}: found no address of its full text")
    faults.raise_if_any(hint="write a link (https://...) or the name of a file into the column `where` of each paper")
    return found if wanted is None else {paper_id: found[paper_id] for paper_id in wanted}


SHEET = "errors.csv"
KEPT = ("query_id", "doc_id", "kind", "note")
"""The columns that are read back."""


class ErrorRow(NamedTuple):
    """One pair that systems get wrong, as the lead sees it."""

    query_id: str
    doc_id: str
    kind: str
    note: str
    facet: str
    grade: int | None
    """None if no system gets the pair wrong any more; what the lead said of it stays."""
    irrelevant_near_the_top: str
    """`system (rank), ...`"""
    relevant_far_down: str
    title: str


def write_error_sheet(rows: Iterable[ErrorRow], *, faceted: bool) -> str:
    """The sheet as text. faceted: with the facet of each pair."""
    fields = [name for name in ErrorRow._fields if faceted or name != "facet"]
    return written_sheet([fields, *(tuple(getattr(row, name) for name in fields) for row in rows)])


def read_error_sheet(data: bytes, *, name: str, kinds: Sequence[str]) -> Mapping[tuple[str, str], tuple[str, str]]:
    """What the lead entered, (kind, note) by pair; rows without either are left out.

    Raises InputError with every fault: a missing column, a pair given twice, a kind that is not among `kinds`.
    """
    faults = Faults(name)
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for line, cells in read_columns(data, faults, columns=KEPT):
        query_id, doc_id, given, note = (cells[column] for column in KEPT)
        kind = next((known for known in kinds if known.casefold() == given.casefold()), given)
        if kind and kind not in kinds:
            faults.add(f"kind: found {given!r}, {near(given, kinds)}", line=line)
        if (query_id, doc_id) in found:
            faults.add(f"document {doc_id!r} is listed twice for query {query_id!r}", line=line)
        if kind or note:
            found[query_id, doc_id] = kind, note
    faults.raise_if_any(hint="`evaluation.error_kinds` in annot.toml lists the kinds")
    return found
