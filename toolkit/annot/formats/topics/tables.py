"""Topics in tables: CSV and TSV with a header, and the lists of ids and texts that MS MARCO and others have."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from annot.base.errors import Faults, numbered
from annot.formats.spreadsheet import SEPARATORS, plain, read_table, unguarded
from annot.formats.topics.fields import DESCRIPTIONS, IDS, NARRATIVES, TITLES, Record

KNOWN = frozenset((*IDS, *TITLES, *DESCRIPTIONS, *NARRATIVES))


def headings_of(text: str) -> set[str]:
    """The cells of the first line that is not empty, as headings are compared."""
    lines = (
        line for line in text.splitlines() if line.strip(f"{SEPARATORS} ") and not line.strip('"').startswith("sep=")
    )
    return {plain(cell.strip(' "')) for cell in re.split(f"[{SEPARATORS}]", next(lines, "").removeprefix("\ufeff"))}


def has_header(text: str) -> bool:
    """Whether the first line names fields of topics."""
    return bool(headings_of(text) & KNOWN)


def table_records(text: str, faults: Faults) -> Iterator[Record]:
    """The rows that are not empty; columns of any name."""
    for line, cells in read_table(text, faults, known=KNOWN).rows:
        yield Record(line, {plain(heading): unguarded(cell) for heading, cell in cells.items() if heading})


def list_records(text: str, faults: Faults) -> Iterator[Record]:
    """An id, a tab and a text on each line; quotation marks are text."""
    for line, row in numbered(io.StringIO(text), faults):
        cells = row.split("\t")
        if len(cells) == 2:
            yield Record(line, {"id": cells[0], "text": cells[1]})
        else:
            faults.add(f"found {len(cells)} cells, expected an id, a tab and a text", line=line)
