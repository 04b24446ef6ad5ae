"""The pairs that go back to their assessors, as a table: `query_id`, `doc_id`, `to` whom, and `why`."""

from __future__ import annotations

from typing import NamedTuple

from annot.formats.faults import Faults
from annot.formats.spreadsheet import read_columns

COLUMNS = ("query_id", "doc_id", "to", "why")


class ReturnedLine(NamedTuple):
    """A row: a pair, the assessor it goes back to, and what they read."""

    query_id: str
    doc_id: str
    assessor: str
    why: str
    line: int | None = None
    """Where it stands in the file; None where it comes from no file."""


def read_returned_lines(data: bytes, *, name: str) -> tuple[ReturnedLine, ...]:
    """The rows, in order. Tabs, commas or semicolons between cells.

    Raises InputError for missing columns, for a file without rows, and with the line of every row that gives a pair and
    an assessor again.
    """
    faults = Faults(name)
    found: dict[tuple[str, str, str], ReturnedLine] = {}
    for line, cells in read_columns(data, faults, columns=COLUMNS):
        row = ReturnedLine(cells["query_id"], cells["doc_id"], cells["to"], cells["why"], line)
        if row[:3] in found:
            faults.add(f"{row.query_id} {row.doc_id} to {row.assessor}: given twice", line=line)
        found[row[:3]] = row
    if not found and not faults.found:
        faults.add("no pair in it")
    faults.raise_if_any(hint=f"expected the columns {', '.join(COLUMNS)}, and a row for each pair")
    return tuple(found.values())
