"""Tables of papers, one a row: CSV with a header, Parquet, and the meaning of their columns.

A table with an id of its own has the fields of JSON Lines (`plain`). Any other is bibliographic: its ids are DOI, PMID,
OpenAlex id, or the database's own number. The names of its columns, case and underscores aside, are those of

- Scopus: Title, Year, Abstract, DOI, PubMed ID, EID
- Web of Science in Excel: Article Title, Abstract, Publication Year, DOI, Pubmed Id, UT (Unique WOS ID)
- Web of Science, tab-delimited: its tags (https://images.webofknowledge.com/images/help/WOS/hs_wos_fieldtags.html)
- IEEE Xplore: Document Title, Abstract, Publication Year, DOI
- CORD-19's `metadata.csv`: cord_uid, title, doi, pubmed_id, abstract, publish_time
- Zotero: Key, Title, Publication Year, Abstract Note, DOI
- Rayyan: key, title, year, abstract, doi, pubmed_id
- Dimensions: Publication ID, DOI, PMID, Title, Abstract, PubYear
- Lens.org: Lens ID, Title, Date Published, Publication Year, Abstract, DOI, PMID

and the German words for a table made by hand.

CSV is what RFC 4180 says (https://www.rfc-editor.org/rfc/rfc4180), and what programs make of it: a semicolon, a tab or
a bar between cells, found by the header; a first line `sep=;` of Excel; lines before the header; any line ends; any
encoding that `input_files` finds. A quote that is never closed costs its own line, not those that follow.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TextIO

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Broken, Format, Head, Piece, Records, in_one_piece, not_utf8
from annot.formats.corpora.plain import FIELDS, IDS, TEXTS, document
from annot.formats.input_files import LONGEST_LINE, NOT_WHOLE, parquet_file, text_of
from annot.formats.paper_lines import MISSING, year_in

HEADER_WITHIN = 10
"""Lines or rows of a table among which its header is."""
_LISTED = ("citations", "outbound_citations")
_OTHERS = ("title", "abstract", "year", "metadata", "labels", "pred_labels", "pred_labels_truncated")
COLUMNS = FIELDS | {*_OTHERS, *_LISTED}
"""Columns of a table with ids of its own; they mean the same as in JSON Lines."""
_NAMES = {
    "title": ("title", "article title", "document title", "paper title", "titel"),
    "abstract": ("abstract", "abstract note", *TEXTS),
    "year": (
        *("year", "publication year", "pubyear", "jahr"),
        *("publication date", "publish time", "date published", "date"),
    ),
}
_ID_NAMES = {
    "doi": ("doi",),
    "pmid": ("pmid", "pubmed id"),
    "openalex": ("openalex id",),
    "key": ("key", "citation key", "ut (unique wos id)", "eid", "cord uid", "publication id", "lens id"),
}
"""The first of these names that the table has counts."""
TAGS = {"TI": "title", "AB": "abstract", "PY": "year", "DI": "doi", "PM": "pmid", "UT": "key"}
"""Web of Science's; its ID are keywords."""
_BETWEEN = re.compile(r"[\s;,|]+")
_RETRACTED = ("is retracted", "document type", "publication type")
"""Columns that say that a paper was retracted: `true`, or a type with that word."""
_NO_ABSTRACT = "[No abstract available]"
"""Scopus writes it in place of one."""


@lru_cache(maxsize=64)
def meaning(header: tuple[str, ...]) -> dict[str, str]:
    """The field of each column that is used.

    >>> meaning(("Article Title", "Abstract", "DOI", "Language"))
    {'Article Title': 'title', 'Abstract': 'abstract', 'DOI': 'doi'}
    """
    if {"TI", "AB"} <= {*header}:
        return {name: TAGS[name] for name in header if name in TAGS}
    found = {name: name for name in header if name in COLUMNS}
    plain = {_plain(name): name for name in reversed(header)}
    if not has_own_ids(found):
        found |= {plain[one]: own for own in IDS if (one := _plain(own)) in plain}
    if not has_own_ids(found):
        # There, `citations` are the number of papers that cite this one.
        found = {name: field for name, field in found.items() if field not in _LISTED}
    for field, names in (_NAMES if has_own_ids(found) else _NAMES | _ID_NAMES).items():
        column = next((plain[name] for name in names if name in plain), None)
        there = {*found.values()}
        if column and field not in there and not (field == "abstract" and there & {*TEXTS}):
            found[column] = field
    return found


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())


def has_own_ids(fields: Mapping[str, str]) -> bool:
    """Whether the dataset has ids of its own."""
    return any(field in IDS for field in fields.values())


def unusable(header: Sequence[str]) -> str:
    """Why a table with this header has no papers; "" where it may have."""
    if any("\0" in name for name in header):
        return "columns: found NUL characters, expected text; save the file as UTF-8"
    if twice := sorted({name for name in header if name in COLUMNS and header.count(name) > 1}):
        return f"columns: found {', '.join(twice)} twice, expected each once"
    found = meaning(tuple(header))
    if header and not found:
        return f"columns: found {', '.join(header):.80}, expected an id and a text among them"
    if header and not has_own_ids(found) and not {"abstract", *TEXTS} & {*found.values()}:
        return f"columns: found {', '.join(header):.80}, expected an abstract among them"
    return ""


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row's fields. An empty cell of a year or of an id of a bibliographic table is none; ids that are cited may be
    a list, or one text, with spaces, semicolons, commas or bars between them; a year may be a number with a point, as
    pandas writes them, or in a date.
    """
    names = meaning(tuple(record))
    own = has_own_ids(names)
    fields = {field: _without_missing(record[name]) for name, field in names.items()}
    if "year" in fields:
        # What is no year is counted as one that was left out.
        fields["year"] = year_in([fields["year"]]) or fields["year"] or None
    for name in _LISTED:
        if isinstance(cell := fields.get(name), str):
            fields[name] = [one for one in _BETWEEN.split(cell) if one]
    if not own:
        fields |= {kind: _text(fields[kind]) for kind in _ID_NAMES if kind in fields}
        if fields.get("abstract") == _NO_ABSTRACT:
            fields["abstract"] = None
    said = (str(record[name]).lower() for name in record if _plain(name) in _RETRACTED)
    return document(fields) | ({"retracted": True} if any("retract" in text or text == "true" for text in said) else {})


def _without_missing(cell: Any) -> Any:
    """The cell, None for the word by which a program says that it is empty. The ids of a table are never missing."""
    return None if cell != cell or (isinstance(cell, str) and cell.strip().lower() in MISSING and cell) else cell


def _text(cell: Any) -> str | None:
    return None if cell is None else str(cell).strip() or None


table = partial(Format, paper=paper, bibliographic=True)
"""A format of tables with these columns."""


DELIMITERS = ",;\t|"
_LONGEST_CELL = 1 << 24
_ROWS = 1_000
_SEP = re.compile(r'"?sep=([^"\w\s]|\t)"?\s*', re.IGNORECASE)
_OPEN = "not valid CSV: a quote in the row is not closed, or one within a cell is not doubled"
_CELLS_OPEN = ("expected after", "unexpected end of data")


def csv_rows(piece: Piece) -> Records:
    """The rows of a CSV file; places are lines, as cells may hold line ends."""
    csv.field_size_limit(_LONGEST_CELL)
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
