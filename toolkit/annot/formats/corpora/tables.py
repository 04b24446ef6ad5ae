"""Tables of papers: CSV, Parquet and Excel, and the meanings of their columns."""

from __future__ import annotations

import csv
import difflib
import re
import warnings
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from annot.base.errors import InputError
from annot.base.libraries import pyarrow
from annot.base.records import Paper
from annot.formats.cleaning import MISSING, is_plain, without_heading
from annot.formats.corpora.pieces import BrokenRecord, Format, Head, Piece, Records, encoding_fault, whole_file_piece
from annot.formats.corpora.xml_papers import refuse_entities
from annot.formats.input_files import (
    LONGEST_LINE,
    NOT_WHOLE,
    UNPACKED,
    is_gzip,
    most_unpacked_bytes,
    packaged_table,
    parquet_file,
    text_of,
)
from annot.formats.paper_records import YEARS, year_in

# ----------------------------------------------------------------------------------------------------------------------
# Documents by the names that people give their fields, as JSON Lines or one JSON text; BEIR's, CSFCube's, and the
# documents of datasets that `ir_datasets` knows by name (https://ir-datasets.com).
# ----------------------------------------------------------------------------------------------------------------------


IDS = ("paper_id", "passage_id", "id", "_id", "doc_id", "docid", "document_id", "doc")
"""Names of the field of the id; the first one with a value counts."""
TEXTS = ("text", "contents", "passage")
"""Names of the field of the text, if there is no field `abstract`."""
WHOLE_IDS = ("document_id", "msmarco_document_id", "doc")
"""Names of the field of a passage's document, if there is no field `part_of` and none of them is the id."""
_WITH_PASSAGE_ID = (*WHOLE_IDS, "doc_id", "docid")
FIELDS = frozenset((*IDS, *TEXTS, *WHOLE_IDS, "part_of"))


def document(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record in the fields that `paper_records.read_papers` knows, as far as it has them."""
    fields = dict(record)
    id_name = next((name for name in IDS if record.get(name) is not None), None)
    if id_name is not None:
        fields["paper_id"] = fields.pop(id_name)
    texts = [name for name in TEXTS if name in record]
    if texts and "abstract" not in record:
        fields["abstract"] = fields.pop([*filter(record.get, texts), *texts][0])
    if not record.get("part_of"):
        names = _WITH_PASSAGE_ID if id_name == "passage_id" else WHOLE_IDS
        wholes = [record[name] for name in names if name != id_name and _is_id(record.get(name))]
        fields |= {"part_of": wholes[0] if wholes else None} if wholes or "part_of" in fields else {}
    return fields


_UNUSUAL = (FIELDS - {"paper_id"}) | {
    *("labels", "pred_labels", "paragraph_labels", "citations", "outbound_citations"),
    *("language", "lang", "metadata", "sections", "noted", "retracted"),
}


def usual_paper(record: Mapping[str, Any]) -> Paper | None:
    """The paper of a record with an id, a title, a list of sentences and perhaps a year, if nothing in them has to be
    changed; None for any other record.

    Such records are most of a large file, and are read in a third of the time.
    """
    paper_id, title, sentences = record.get("paper_id"), record.get("title"), record.get("abstract")
    if type(paper_id) is not str or type(title) is not str or type(sentences) is not list:
        return None
    year = record.get("year")
    if not (year is None or (type(year) is int and abs(year) < YEARS)) or not record.keys().isdisjoint(_UNUSUAL):
        return None
    try:
        text = " ".join((paper_id, title, *sentences))
    except TypeError:
        return None
    whole = paper_id and title and sentences and " " not in paper_id and is_plain(text)
    return Paper(paper_id, title, tuple(sentences), year) if whole and not without_heading(sentences[0])[0] else None


def _is_id(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and len(value.split()) == 1)


ANNOT = Format("annot", paper=document, fits=lambda _record: True)
JSON = Format("json", paper=document)


def plain_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Record with BEIR's fields only: id, title, text, and the rest of the document as its metadata."""
    names = ["_id", "title", "text", "part_of", *WHOLE_IDS, *["metadata"] * isinstance(record.get("metadata"), dict)]
    return document({"title": None, "text": None} | {name: record[name] for name in names if name in record})


BEIR = Format("beir", paper=plain_paper, published=True, fits=lambda record: "_id" in record and "text" in record)


SHOWN = 200
"""Characters that are shown of a message of ir_datasets."""


def irds_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The abstract is the document's `abstract`, or else its `text` or `body`; a document without a title has an empty
    one, and the filters of the corpus count it."""
    texts = [record[name] for name in ("abstract", "text", "body") if record.get(name)]
    fields = {name: record[name] for name in ("doc_id", "title", "year", "part_of", *WHOLE_IDS) if name in record}
    return document({"title": None} | fields | {"abstract": texts[0] if texts else None})


def irds_cut(name: str) -> list[tuple[int, int | None]]:
    """One piece: a dataset is read from its beginning. Raises InputError if it is not known or has no documents."""
    if not dataset_named(name).has_docs():
        raise InputError(f"{name}: this dataset of ir_datasets has no documents")
    return [(0, None)]


def irds_records(piece: Piece) -> Records:
    """The documents, in the dataset's order."""
    with downloading(piece.path):
        for number, row in enumerate(dataset_named(piece.path).docs_iter(), start=1):
            yield number, row._asdict()


def dataset_named(name: str) -> Any:
    """The dataset. Raises InputError, with the near name, if ir_datasets is not there or does not know it."""
    try:
        import ir_datasets
    except ModuleNotFoundError:
        raise InputError(f"{name}: needs ir_datasets, which is not installed", hint="pip install ir-datasets") from None
    try:
        return ir_datasets.load(name)
    except KeyError:
        close = difflib.get_close_matches(name, list(ir_datasets.registry))
        hint = f"did you mean {close[0]!r}?" if close else "https://ir-datasets.com lists them"
        raise InputError(f"{name}: not a dataset of ir_datasets", hint=hint) from None


@contextmanager
def downloading(name: str) -> Iterator[None]:
    """Raise InputError if ir_datasets cannot fetch the files of the dataset: it does so when they are first read."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        problem = error.args[0] if isinstance(error, RuntimeError) and error.args else error
        raise InputError(
            f"{name}: ir_datasets cannot read this dataset: {str(problem)[:SHOWN]}",
            hint=f"check the connection; https://ir-datasets.com/{name.partition('/')[0]} has its sources",
        ) from None


IRDS = Format("irds", paper=irds_paper, records=irds_records, cut=irds_cut, published=True, by_name=True)


# ----------------------------------------------------------------------------------------------------------------------
# Tables of papers, one a row: CSV with a header, Parquet, and the meaning of their columns.
#
# A table with an id of its own has the fields of JSON Lines (`plain`). Any other is bibliographic: its ids are DOI,
# PMID, OpenAlex id, or the database's own number. The names of its columns, case and underscores aside, are those of
#
# - Scopus: Title, Year, Abstract, DOI, PubMed ID, EID
# - Web of Science in Excel: Article Title, Abstract, Publication Year, DOI, Pubmed Id, UT (Unique WOS ID)
# - Web of Science, tab-delimited: its tags (https://images.webofknowledge.com/images/help/WOS/hs_wos_fieldtags.html)
# - IEEE Xplore: Document Title, Abstract, Publication Year, DOI
# - CORD-19's `metadata.csv`: cord_uid, title, doi, pubmed_id, abstract, publish_time
# - Zotero: Key, Title, Publication Year, Abstract Note, DOI
# - Rayyan: key, title, year, abstract, doi, pubmed_id
# - Dimensions: Publication ID, DOI, PMID, Title, Abstract, PubYear
# - Lens.org: Lens ID, Title, Date Published, Publication Year, Abstract, DOI, PMID
#
# and the German words for a table made by hand.
#
# CSV is what RFC 4180 says (https://www.rfc-editor.org/rfc/rfc4180), and what programs make of it: a semicolon, a tab
# or a bar between cells, found by the header; a first line `sep=;` of Excel; lines before the header; any line ends;
# any encoding that `input_files` finds. A quote that is never closed costs its own line, not those that follow.
# ----------------------------------------------------------------------------------------------------------------------


HEADER_WITHIN = 10
"""Lines or rows of a table among which its header is."""
_LISTED = ("citations", "outbound_citations")
_OTHERS = ("title", "abstract", "language", "year", "metadata", "labels", "pred_labels", "pred_labels_truncated")
COLUMNS = FIELDS | {*_OTHERS, *_LISTED}
"""Columns of a table with ids of its own; they mean the same as in JSON Lines."""
FIELD_NAMES = packaged_table("fields.toml")
"""Names that people and programs give to fields, by kind of file."""
_NAMES, _ID_NAMES, TAGS = (FIELD_NAMES[kind] for kind in ("columns", "columns_of_ids", "wos"))
_BETWEEN = re.compile(r"[\s;,|]+")
_RETRACTED = ("is retracted", "document type", "publication type")
"""Columns that say that a paper was retracted: `true`, or a type with that word."""
_LONGEST_MISSING = max(map(len, MISSING))


@lru_cache(maxsize=64)
def fields_of_columns(header: tuple[str, ...]) -> dict[str, str]:
    """The field of each column that is used.

    >>> fields_of_columns(("Article Title", "Abstract", "DOI", "Language"))
    {'Article Title': 'title', 'Abstract': 'abstract', 'Language': 'language', 'DOI': 'doi'}
    """
    if known := _fields_of_program(header):
        return known
    plain = {_plain_name(name): name for name in reversed(header)}
    fields = {name: name for name in header if name in COLUMNS}
    if not has_own_ids(fields):
        fields |= {plain[name]: kind for kind in IDS if (name := _plain_name(kind)) in plain}
    names_by_field = _NAMES
    if not has_own_ids(fields):
        names_by_field = _NAMES | _ID_NAMES
        # In a table without ids of its own, `citations` are the number of papers that cite this one.
        fields = {name: field for name, field in fields.items() if field not in _LISTED}
    for field, names in names_by_field.items():
        column = next((plain[name] for name in names if name in plain), None)
        present = {*fields.values()}
        if column and field not in present and not (field == "abstract" and present & {*TEXTS}):
            fields[column] = field
    return fields


def _fields_of_program(header: tuple[str, ...]) -> dict[str, str]:
    """Fields of the tables of the Web of Science and of OpenAlex's website; none of any other."""
    if {"TI", "AB"} <= {*header}:
        return {name: TAGS[name] for name in header if name in TAGS}
    if {"id", "display_name", "publication_year"} <= {*header} and "title" not in header:
        # Its ids are those of works, and other sources may have the same papers.
        return {**fields_of_columns(tuple(name for name in header if name != "id")), "id": "openalex"}
    return {}


def _plain_name(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())


def has_own_ids(fields: Mapping[str, str]) -> bool:
    """True if the dataset has ids of its own."""
    return any(field in IDS for field in fields.values())


def unusable(header: Sequence[str]) -> str:
    """Reason why a table with this header has no papers; "" if it may have some."""
    if any("\0" in name for name in header):
        return "columns: found NUL characters, expected text; save the file as UTF-8"
    if twice := sorted({name for name in header if name in COLUMNS and header.count(name) > 1}):
        return f"columns: found {', '.join(twice)} twice, expected each once"
    fields = fields_of_columns(tuple(header))
    if header and not fields:
        return f"columns: found {', '.join(header):.80}, expected an id and a text among them"
    if header and not has_own_ids(fields) and not {"abstract", *TEXTS} & {*fields.values()}:
        return f"columns: found {', '.join(header):.80}, expected an abstract among them"
    return ""


@lru_cache(maxsize=64)
def _columns_of_retraction(header: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in header if _plain_name(name) in _RETRACTED)


def table_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row's fields. An empty cell of a year or of an id is none. Ids that are cited may be a list, or one text with
    spaces, semicolons, commas or bars between them. A year may be a number with a point, as pandas writes them, or in a
    date.
    """
    fields = {field: _cell_or_none(record[name]) for name, field in _fields_of_row(record).items()}
    if "year" in fields:
        # A value that is no year is counted as left out.
        fields["year"] = year_in([fields["year"]]) or fields["year"] or None
    for name in _LISTED:
        if isinstance(cell := fields.get(name), str):
            fields[name] = [cited for cited in _BETWEEN.split(cell) if cited]
    if fields.keys().isdisjoint(IDS):
        fields |= {kind: _text(fields[kind]) for kind in _ID_NAMES if kind in fields}
    retraction = [str(record[name]).lower() for name in _columns_of_retraction(tuple(record))]
    retracted = any("retract" in text or text == "true" for text in retraction)
    return document(fields) | ({"retracted": True} if retracted else {})


def _fields_of_row(record: Mapping[str, Any]) -> dict[str, str]:
    """The field of each column. A row without the table's own id has its DOI or another id, as rows of other tables."""
    header = tuple(record)
    fields = fields_of_columns(header)
    own_ids = {name for name, field in fields.items() if field in IDS}
    if own_ids and not any(_text(_cell_or_none(record[name])) for name in own_ids):
        return fields_of_columns(tuple(name for name in header if name not in own_ids))
    return fields


def _cell_or_none(cell: Any) -> Any:
    """The cell, None for the word by which a program says that it is empty. The ids of a table are never missing."""
    if isinstance(cell, str):
        text = cell.strip()
        return None if cell and len(text) <= _LONGEST_MISSING and text.lower() in MISSING else cell
    return None if cell != cell else cell


def _text(cell: Any) -> str | None:
    return None if cell is None else str(cell).strip() or None


table = partial(Format, paper=table_paper, bibliographic=True)
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
        delimiter, lines_before = _dialect(lines.ahead(HEADER_WITHIN), piece.path)
        for _ in range(lines_before):
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
                    yield lines.number, BrokenRecord("not valid CSV", (fault,), alone.rstrip("\r\n"))
                    continue
            if header is None:
                if not row:
                    continue
                header = row
                if fault := unusable(header):
                    yield lines.number, BrokenRecord("the columns cannot be used", (fault,), delimiter.join(row))
                    return
                continue
            if len(row) > len(header) and not any(row[len(header) :]):
                del row[len(header) :]
            raw = delimiter.join(row)
            if not any(row):
                yield lines.number, None
            elif len(row) != len(header):
                fault = f"{len(row)} columns, expected {len(header)}"
                yield lines.number, BrokenRecord("another number of columns", (fault,), raw)
            elif broken := encoding_fault(raw):
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
        """Number of the line taken last."""

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
        """The first lines, this many or fewer if they are long. They stay to be read."""
        while len(self._back) < count and sum(map(len, self._back)) < LONGEST_LINE:
            if not (line := self._text.readline()):
                break
            self._back.append(line)
        return [*self._back]

    def forget(self) -> None:
        """Keep all lines from here on: those taken so far cannot be given back."""
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
    if lines and (match := _SEP.fullmatch(lines[0])):
        return match[1], 1
    delimiters = "\t,;|" if name.removesuffix(".gz").endswith((".tsv", ".tab")) else DELIMITERS
    counts = [
        max((_known(line, delimiter), -index, delimiter) for index, delimiter in enumerate(delimiters))
        for line in lines
    ]
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if counts and not counts[first][0]:
        first = next((index for index, (count, _, _) in enumerate(counts) if count > 1), first)
    return counts[first][2] if counts else delimiters[0], first


def _known(line: str, delimiter: str) -> int:
    try:
        return len(fields_of_columns(tuple(next(csv.reader([line], delimiter=delimiter), ()))))
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
    """True if one of the first lines has the names of two known columns."""
    lines = head.start.decode("utf-8", "replace").splitlines(keepends=True)[:HEADER_WITHIN]
    delimiter, lines_before = _dialect(lines, head.name)
    return lines_before < len(lines) and _known(lines[lines_before], delimiter) > 1


def row_groups(name: str) -> list[tuple[int, int | None]]:
    """One piece for each group of rows. Raises InputError if the file is not Parquet."""
    return [(group, group + 1) for group in range(parquet_file(Path(name)).metadata.num_row_groups)] or [(0, 0)]


def parquet_rows(piece: Piece) -> Records:
    """The rows of a group; only the columns that mean something are read."""
    file = parquet_file(Path(piece.path))
    columns = [*fields_of_columns(tuple(file.schema_arrow.names))]
    stop = file.metadata.num_row_groups if piece.stop is None else piece.stop
    number = 0
    try:
        for batch in file.iter_batches(_ROWS, row_groups=list(range(piece.start, stop)), columns=columns):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{piece.path}: not readable: {error}", hint=NOT_WHOLE) from None


CSV = table("csv", records=csv_rows, cut=whole_file_piece, matches=_has_known_columns, endings=(".csv", ".tsv"))
PARQUET = table("parquet", records=parquet_rows, cut=row_groups, matches=lambda head: head.start.startswith(b"PAR1"))


# ----------------------------------------------------------------------------------------------------------------------
# Tables of papers in a workbook of Excel, .xlsx or .xlsm (ECMA-376,
# https://ecma-international.org/publications-and-standards/standards/ecma-376/).
#
# The first visible sheet with columns of papers (`fields_of_columns`) is read; there may be other rows before its
# header. A formula is text, and nothing is computed; macros and links to other files are not looked at. openpyxl reads
# one row after another; the texts that cells share are in memory.
# ----------------------------------------------------------------------------------------------------------------------


_WHOLE = 1 << 23
"""Parts other than sheets and shared texts, such as styles, have at most this many bytes."""
_LONG_PARTS = ("xl/worksheets/", "xl/sharedStrings")
_MOST_ROWS = 1 << 20
"""A sheet of Excel has no more."""
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""A character that XML cannot hold (ECMA-376, part 1, 22.9.2.19)."""
_SAVE_AGAIN = "open it in Excel or LibreOffice, and save it as Excel Workbook (.xlsx)"
_DATE = re.compile(r"(\d{4})-\d\d-\d\d.*", re.DOTALL)
_ERRORS = frozenset(("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"))
"""The texts of cells whose formula failed."""
_FAULTS = (ValueError, TypeError, AttributeError, LookupError, SyntaxError, OSError)
"""The errors of openpyxl for XML that is not as it should be."""


def records(piece: Piece) -> Records:
    """The rows below the header, by those of its names that mean something; places are the numbers of rows in the
    sheet."""
    with _sheets(piece.path) as sheets:
        sheet, faults = _sheet_of_papers(sheets, piece.path)
        if sheet is None:
            yield 1, BrokenRecord("the columns cannot be used", faults or ("found no row in any sheet",), "")
            return
        rows = _rows(sheet, piece.path)
        header = next(cells for _, cells in rows if _is_header(cells))
        fields = fields_of_columns(tuple(header.values()))
        for number, cells in rows:
            record = {name: cells.get(column, "") for column, name in header.items() if name in fields}
            record |= {name: _DATE.sub(r"\1", cell) for name, cell in record.items() if fields[name] == "year"}
            if any(record.values()):
                yield number, record


def sheet_read(path: str) -> str:
    """The name of the sheet that is read, if the workbook has several; "" if it has one, or none is read."""
    with _sheets(path) as sheets:
        sheet = _sheet_of_papers(sheets, path)[0] if len(sheets) > 1 else None
        return "" if sheet is None else str(sheet.title)


@contextmanager
def _sheets(path: str) -> Iterator[list[Any]]:
    """The sheets of a workbook that are visible, in order."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise InputError(
            f"{path}: needs openpyxl, which is not installed",
            hint="pip install 'annot-collections[formats]'",
        ) from None
    if is_gzip(Path(path)):
        raise InputError(f"{path}: a compressed workbook, expected .xlsx", hint="unpack it first")
    # It warns of dates outside of its limits, and of what else a workbook has.
    warnings.filterwarnings("ignore", module="openpyxl")
    try:
        with Path(path).open("rb") as file:
            _check_parts(path)
            try:
                workbook = openpyxl.load_workbook(file, read_only=True, keep_links=False)
            except _FAULTS as error:
                raise InputError(f"{path}: not a workbook that can be read: {error}", hint=_SAVE_AGAIN) from None
            with closing(workbook):
                sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
                if not sheets:
                    raise InputError(f"{path}: found no sheet that can be read", hint=_SAVE_AGAIN)
                yield sheets
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be unpacked: {error}", hint=NOT_WHOLE) from None


def _check_parts(path: str) -> None:
    """Raise InputError for a workbook with parts that memory cannot hold, or with entities of its own."""
    hint = "if the file is genuine, save its sheet as CSV"
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        # A part is read up to the size that is stated for it, and no further.
        if sum(part.file_size for part in parts) > most_unpacked_bytes(Path(path).stat().st_size):
            fault = f"{path}: unpacks to more than {UNPACKED} times its size, expected a workbook"
            raise InputError(fault, hint=hint)
        for part in parts:
            if not part.filename.endswith((".xml", ".rels")):
                continue
            if part.file_size > _WHOLE and not part.filename.startswith(_LONG_PARTS):
                fault = f"{path}: {part.filename} has more than {_WHOLE} bytes, expected a workbook of papers"
                raise InputError(fault, hint=hint)
            with archive.open(part) as file:
                refuse_entities(file, f"{path}: {part.filename}")


def _sheet_of_papers(sheets: Sequence[Any], path: str) -> tuple[Any, tuple[str, ...]]:
    """The first sheet with columns of papers; None with the faults of all sheets if there is none."""
    faults = []
    for sheet in sheets:
        first_rows = [cells for _, cells in islice(_rows(sheet, path), HEADER_WITHIN)]
        header = next(filter(_is_header, first_rows), None)
        if header and not unusable([*header.values()]):
            return sheet, ()
        if first_rows:
            faults.append(f"sheet {sheet.title!r}: {unusable([*(header or first_rows[0]).values()])}")
    return None, tuple(faults)


def _is_header(cells: Mapping[int, str]) -> bool:
    return len(fields_of_columns(tuple(cells.values()))) > 1


def _rows(sheet: Any, path: str) -> Iterator[tuple[int, dict[int, str]]]:
    """The rows of a sheet that are not empty, with their numbers: the texts by column. Raises InputError at a row that
    cannot be read."""
    number = 0
    sheet.reset_dimensions()
    try:
        for number, row in enumerate(islice(sheet.iter_rows(values_only=True), _MOST_ROWS), start=1):
            if texts := {column: text for column, value in enumerate(row) if (text := _cell_text(value))}:
                yield number, texts
    except _FAULTS as error:
        fault = f"row {number + 1} of sheet {sheet.title!r} cannot be read: {error}"
        raise InputError(f"{path}: {fault}", hint=f"correct or delete the row; or {_SAVE_AGAIN}") from None


def _cell_text(value: Any) -> str:
    if isinstance(value, str):
        text = "" if value in _ERRORS else value
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # The formula of several cells is an object of openpyxl's.
    return "" if value is None else str(getattr(value, "text", value) or "")


def _is_workbook(head: Head) -> bool:
    """True if the file is a zip archive of Office that is not known to belong to another of its programs."""
    other_formats = (b"word/", b"ppt/")
    return head.start.startswith(b"PK\3\4") and (
        b"xl/" in head.start
        or (b"[Content_Types].xml" in head.start and not any(other in head.start for other in other_formats))
    )


WORKBOOK = table(
    "xlsx", records=records, cut=whole_file_piece, matches=_is_workbook, sheet=sheet_read, endings=(".xlsx", ".xlsm")
)
