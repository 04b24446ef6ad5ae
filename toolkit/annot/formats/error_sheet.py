"""The sheet of error cases as CSV: a pair a row, in which the lead enters what kind of error it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from annot.base.names import near
from annot.formats.faults import Faults
from annot.formats.spreadsheet import guarded, read_columns

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
    """None where no system gets the pair wrong any more; what the lead said of it stays."""
    irrelevant_near_the_top: str
    """`system (rank), ...`"""
    relevant_far_down: str
    title: str


def write_error_sheet(rows: Iterable[ErrorRow]) -> str:
    """The sheet as text. It begins with a byte order mark: without one, Excel garbles accents."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(ErrorRow._fields)
    for row in rows:
        writer.writerow([guarded("" if cell is None else str(cell)) for cell in row])
    return "\ufeff" + out.getvalue()


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
            faults.add(f"document {doc_id!r} is there twice for query {query_id!r}", line=line)
        if kind or note:
            found[query_id, doc_id] = kind, note
    faults.raise_if_any(hint="`evaluation.error_kinds` in annot.toml lists the kinds")
    return found
