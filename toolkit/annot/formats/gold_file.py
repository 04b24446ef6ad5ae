"""Gold pairs as a table: `query_id`, `doc_id`, `grade`, and `why` it is that grade."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from annot.base.names import near
from annot.formats.faults import Faults
from annot.formats.spreadsheet import guarded, read_columns

COLUMNS = ("query_id", "doc_id", "grade", "why")


class GoldLine(NamedTuple):
    """A row: a pair with its grade, and why it has it; `why` may be empty."""

    query_id: str
    doc_id: str
    grade: int
    why: str


def write_gold(rows: Iterable[GoldLine]) -> str:
    """The table, with tabs between cells."""
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(guarded(" ".join(str(cell).split())) for cell in row) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def read_gold(data: bytes, *, name: str, grades: Sequence[int], queries: Collection[str]) -> tuple[GoldLine, ...]:
    """The rows, in order. grades: the scale. queries: those of the study.

    Tabs, commas or semicolons between cells. Raises InputError with the line of every grade off the scale, unknown
    query, empty id and pair that is there twice.
    """
    faults = Faults(name)
    found: dict[tuple[str, str], GoldLine] = {}
    for line, cells in read_columns(data, faults, columns=COLUMNS):
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
    if not found and not faults.found:
        faults.add("no gold pair in it")
    faults.raise_if_any(hint="columns query_id, doc_id, grade and why; `annot train gold` without a file draws some")
    return tuple(found.values())
