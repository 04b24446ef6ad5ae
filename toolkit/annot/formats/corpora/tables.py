"""Tables of papers, one a row: CSV with a header, and Parquet. The columns are named as the fields of JSON Lines."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.formats.corpora.cutting import NOT_WHOLE, Broken, Format, Head, Piece, Records, in_one_piece, opened
from annot.formats.corpora.plain import FIELDS, document

_LISTED = ("citations", "outbound_citations")
_OTHERS = ("title", "abstract", "year", "metadata", "labels", "pred_labels", "pred_labels_truncated")
COLUMNS = FIELDS | {*_OTHERS, *_LISTED}
_BETWEEN = re.compile(r"[\s;,|]+")
_ROWS = 1_000
_LONGEST = 1 << 24


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row's fields. An empty cell of a year is none; ids that are cited may be a list, or one text, with spaces,
    semicolons, commas or bars between them; a year may be a number with a point, as pandas writes them."""
    fields = {name: value for name, value in record.items() if name in COLUMNS}
    year = fields.get("year")
    if isinstance(year, float):
        fields["year"] = None if math.isnan(year) else int(year) if year.is_integer() else year
    elif isinstance(year, str):
        fields["year"] = year.strip().removesuffix(".0") or None
    for name in _LISTED:
        if isinstance(cell := fields.get(name), str):
            fields[name] = [one for one in _BETWEEN.split(cell) if one]
    return document(fields)


def csv_rows(piece: Piece) -> Records:
    """The rows of a CSV file, comma or tab between cells; places are lines, as cells may hold line ends."""
    csv.field_size_limit(_LONGEST)
    delimiter = "\t" if Path(piece.path).name.removesuffix(".gz").endswith(".tsv") else ","
    with opened(Path(piece.path)) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline="")
        rows = csv.reader(text, delimiter=delimiter)
        header: list[str] | None = None
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield rows.line_num, Broken("not valid CSV", (f"not valid CSV: {error}",), "")
                continue
            raw = delimiter.join(row)
            if header is None:
                header = row
                if fault := _of_header(header):
                    yield 1, Broken("the columns cannot be used", (fault,), raw)
                    return
            elif not row:
                yield rows.line_num, None
            elif len(row) != len(header):
                fault = f"{len(row)} columns, expected {len(header)}"
                yield rows.line_num, Broken("another number of columns", (fault,), raw)
            elif not raw.isascii() and any("\udc80" <= char <= "\udcff" for char in raw):
                shown = raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                yield rows.line_num, Broken("not UTF-8", ("not UTF-8",), shown)
            else:
                yield rows.line_num, dict(zip(header, row, strict=True))


def _of_header(header: list[str]) -> str:
    """Why a file with this header has no papers; "" where it may have."""
    twice = sorted({name for name in header if name in COLUMNS and header.count(name) > 1})
    if twice:
        return f"columns: found {', '.join(twice)} twice, expected each once"
    if header and not COLUMNS & {*header}:
        return f"columns: found {', '.join(header):.80}, expected an id and a text among them"
    return ""


def _has_known_columns(head: Head) -> bool:
    """Whether the first line names columns, one of them known."""
    line = next(filter(str.strip, head.start.decode("utf-8", "replace").splitlines()), "")
    headers = [next(csv.reader([line], delimiter=delimiter)) for delimiter in ",;\t"]
    return any(len(cells) > 1 and COLUMNS & {*cells} for cells in headers)


def row_groups(name: str) -> list[tuple[int, int | None]]:
    """One piece for each group of rows. Raises InputError where the file is not Parquet."""
    import pyarrow
    import pyarrow.parquet

    try:
        return [(at, at + 1) for at in range(pyarrow.parquet.ParquetFile(name).metadata.num_row_groups)] or [(0, 0)]
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{name}: not a Parquet file: {error}") from None


def parquet_rows(piece: Piece) -> Records:
    """The rows of a group; only the columns that mean something are read."""
    import pyarrow
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(piece.path)
    columns = [name for name in file.schema_arrow.names if name in COLUMNS]
    stop = file.metadata.num_row_groups if piece.stop is None else piece.stop
    number = 0
    try:
        for batch in file.iter_batches(_ROWS, row_groups=list(range(piece.start, stop)), columns=columns):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{piece.path}: not readable: {error}", hint=NOT_WHOLE) from None


CSV = Format("csv", paper=paper, records=csv_rows, cut=in_one_piece, told=_has_known_columns, endings=(".csv", ".tsv"))
PARQUET = Format(
    "parquet", paper=paper, records=parquet_rows, cut=row_groups, told=lambda head: head.start.startswith(b"PAR1")
)
