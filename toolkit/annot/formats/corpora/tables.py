"""Tables of papers: CSV, Parquet and Excel, and the meanings of their columns."""

from __future__ import annotations

import csv
import difflib
import re
import warnings
import zipfile
import zlib
from array import array
from collections import deque
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from string import digits
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, TextIO
from xml.etree import ElementTree

from annot.base.errors import InputError
from annot.formats.corpora.pieces import BrokenRecord, Format, Head, Piece, Records, in_one_piece, not_utf8
from annot.formats.corpora.xml_papers import XmlRecord, records_in, refuse_entities
from annot.formats.input_files import LONGEST_LINE, NOT_WHOLE, UNPACKED, is_gzip, parquet_file, text_of
from annot.formats.paper_records import MISSING, year_in

# ----------------------------------------------------------------------------------------------------------------------
# Documents by the names that people give their fields, as JSON Lines or one JSON text; BEIR's, CSFCube's, and the
# documents of datasets that `ir_datasets` knows by name (https://ir-datasets.com).
# ----------------------------------------------------------------------------------------------------------------------


IDS = ("paper_id", "passage_id", "id", "_id", "doc_id", "docid", "document_id", "doc")
"""Names of the field of the id; the first one with a value counts."""
TEXTS = ("text", "contents", "passage")
"""Names of the field of the text, if there is no field `abstract`."""
WHOLES = ("document_id", "msmarco_document_id", "doc")
"""Names of the field of a passage's document, if there is no field `part_of` and none of them is the id."""
_WITH_PASSAGE_ID = (*WHOLES, "doc_id", "docid")
FIELDS = frozenset((*IDS, *TEXTS, *WHOLES, "part_of"))


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
        names = _WITH_PASSAGE_ID if id_name == "passage_id" else WHOLES
        wholes = [record[name] for name in names if name != id_name and _is_id(record.get(name))]
        fields |= {"part_of": wholes[0] if wholes else None} if wholes or "part_of" in fields else {}
    return fields


def _is_id(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and len(value.split()) == 1)


ANNOT = Format("annot", paper=document, fits=lambda _record: True)
CSFCUBE = Format("csfcube", published=True, fits=lambda record: "pred_labels" in record)
JSON = Format("json", paper=document)


def plain_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Record with BEIR's fields only: id, title, text, and the rest of the document as its metadata."""
    names = ["_id", "title", "text", "part_of", *WHOLES, *["metadata"] * isinstance(record.get("metadata"), dict)]
    return document({"title": None, "text": None} | {name: record[name] for name in names if name in record})


BEIR = Format("beir", paper=plain_paper, published=True, fits=lambda record: "_id" in record and "text" in record)


SHOWN = 200
"""Characters that are shown of a message of ir_datasets."""


def irds_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The abstract is the document's `abstract`, or else its `text` or `body`; a document without a title has an empty
    one, and the filters of the corpus count it."""
    texts = [record[name] for name in ("abstract", "text", "body") if record.get(name)]
    fields = {name: record[name] for name in ("doc_id", "title", "year", "part_of", *WHOLES) if name in record}
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
_LONGEST_MISSING = max(map(len, MISSING))
_NO_ABSTRACT = "[No abstract available]"
"""Scopus writes it in place of one."""


@lru_cache(maxsize=64)
def fields_of_columns(header: tuple[str, ...]) -> dict[str, str]:
    """The field of each column that is used.

    >>> fields_of_columns(("Article Title", "Abstract", "DOI", "Language"))
    {'Article Title': 'title', 'Abstract': 'abstract', 'DOI': 'doi'}
    """
    if {"TI", "AB"} <= {*header}:
        return {name: TAGS[name] for name in header if name in TAGS}
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


class _Columns(NamedTuple):
    """Columns under a header, as rows are read by them."""

    fields: tuple[tuple[str, str], ...]
    """Names of the columns that are used, with their fields."""
    own_ids: bool
    retraction: tuple[str, ...]
    """Names of the columns that say whether a paper was retracted."""


@lru_cache(maxsize=64)
def _columns(header: tuple[str, ...]) -> _Columns:
    fields = fields_of_columns(header)
    retraction = tuple(name for name in header if _plain_name(name) in _RETRACTED)
    return _Columns(tuple(fields.items()), has_own_ids(fields), retraction)


def table_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row's fields. An empty cell of a year or of an id of a bibliographic table is none; ids that are cited may be
    a list, or one text, with spaces, semicolons, commas or bars between them; a year may be a number with a point, as
    pandas writes them, or in a date.
    """
    columns = _columns(tuple(record))
    fields = {field: _without_missing(record[name]) for name, field in columns.fields}
    if "year" in fields:
        # What is no year is counted as one that was left out.
        fields["year"] = year_in([fields["year"]]) or fields["year"] or None
    for name in _LISTED:
        if isinstance(cell := fields.get(name), str):
            fields[name] = [cited for cited in _BETWEEN.split(cell) if cited]
    if not columns.own_ids:
        fields |= {kind: _text(fields[kind]) for kind in _ID_NAMES if kind in fields}
        if fields.get("abstract") == _NO_ABSTRACT:
            fields["abstract"] = None
    retraction = [str(record[name]).lower() for name in columns.retraction]
    retracted = any("retract" in text or text == "true" for text in retraction)
    return document(fields) | ({"retracted": True} if retracted else {})


def _without_missing(cell: Any) -> Any:
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
        """The first lines, so many or fewer if they are long. They are not taken."""
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
    import pyarrow

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


CSV = table("csv", records=csv_rows, cut=in_one_piece, matches=_has_known_columns, endings=(".csv", ".tsv"))
PARQUET = table("parquet", records=parquet_rows, cut=row_groups, matches=lambda head: head.start.startswith(b"PAR1"))


# ----------------------------------------------------------------------------------------------------------------------
# Tables of papers in a workbook of Excel, .xlsx or .xlsm (ECMA-376,
# https://ecma-international.org/publications-and-standards/standards/ecma-376/).
#
# The first visible sheet with columns of papers (`columns`) is read; there may be other rows before its header. A
# formula is text, and nothing is computed; macros and links to other files are not looked at. openpyxl reads what the
# workbook says of its sheets and each row; the rows, and the texts that cells share, pass one after another.
# ----------------------------------------------------------------------------------------------------------------------


_WHOLE = 1 << 23
"""Parts that are read whole, such as styles, have at most so many bytes."""
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ROW, _VALUE, _INLINE, _TEXT = (f"{_MAIN}{name}" for name in ("row", "v", "is", "t"))
_RUN = f"{_MAIN}r/{_TEXT}"
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""A character that XML cannot hold (ECMA-376, part 1, 22.9.2.19)."""
_SAVE_AGAIN = "open it in Excel or LibreOffice, and save it as Excel Workbook (.xlsx)"
_DATE = re.compile(r"(\d{4})-\d\d-\d\d.*", re.DOTALL)
_FAULTS = (ValueError, TypeError, AttributeError, LookupError)
"""The errors of openpyxl for XML that is not as it should be."""


class _Row(NamedTuple):
    """A row that is not empty."""

    number: int
    cells: Mapping[int, str]
    """The cells by the number of the column, without empty ones."""


def records(piece: Piece) -> Records:
    """The rows below the header, by those of its names that mean something; places are the numbers of rows in the
    sheet."""
    with _opened(piece.path) as workbook:
        papers_sheet = workbook.papers()
        if isinstance(papers_sheet, BrokenRecord):
            yield 1, papers_sheet
            return
        sheet, header = papers_sheet
        names = fields_of_columns(tuple(header.cells.values()))
        columns = {column: name for column, name in header.cells.items() if name in names}
        years = [name for name, field in names.items() if field == "year"]
        last = header.number
        for row in workbook.rows(sheet, columns):
            if isinstance(row, BrokenRecord):
                last += 1
                yield last, row
            elif row.number > header.number:
                last = row.number
                record = {name: row.cells.get(column, "") for column, name in columns.items()}
                record |= {name: _DATE.sub(r"\1", record[name]) for name in years}
                yield last, record if any(record.values()) else None


def sheet_read(path: str) -> str:
    """The name of the sheet that is read, if the workbook has several; "" if it has one, or none is read."""
    with _opened(path) as workbook:
        if len(workbook.sheets) == 1:
            return ""
        sheet = workbook.papers()
        return "" if isinstance(sheet, BrokenRecord) else sheet[0]


@contextmanager
def _opened(path: str) -> Iterator[_Workbook]:
    try:
        from openpyxl.reader.excel import ExcelReader  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            f"{path}: needs openpyxl, which is not installed",
            hint="pip install 'annot-collections[formats]'",
        ) from None
    if is_gzip(Path(path)):
        raise InputError(f"{path}: a compressed workbook, expected .xlsx", hint="unpack it first")
    try:
        with _Archive(Path(path)) as archive, TemporaryFile() as scratch:
            archive.check(Path(path))
            yield _Workbook(path, archive, scratch)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be unpacked: {error}", hint=NOT_WHOLE) from None


class _Workbook:
    """The sheets of a workbook, and their rows."""

    def __init__(self, path: str, archive: _Archive, scratch: IO[bytes]) -> None:
        from openpyxl.reader.excel import ExcelReader
        from openpyxl.styles.stylesheet import apply_stylesheet
        from openpyxl.xml.constants import SHARED_STRINGS

        self._path, self._archive = path, archive
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with Path(path).open("rb") as file:
                    reader = ExcelReader(file, read_only=True, keep_links=False)
                reader.archive = archive
                reader.read_manifest()
                reader.read_workbook()
                apply_stylesheet(archive, reader.wb)
                sheets = [*reader.parser.find_sheets()]
            self._shared = reader.package.find(SHARED_STRINGS)
            self._strings = _Strings(scratch)
        except (*_FAULTS, OSError, SyntaxError) as error:
            raise InputError(f"{path}: not a workbook that can be read: {error}", hint=_SAVE_AGAIN) from None
        self._dates, self._epoch = reader.wb._date_formats, reader.wb.epoch
        self.sheets: dict[str, str] = {
            sheet.name: part.target
            for sheet, part in sheets
            if sheet.state == "visible" and part.target in reader.valid_files and "chartsheet" not in part.Type
        }
        """Their parts by the names of those that are visible, in order."""
        if not self.sheets:
            raise InputError(f"{path}: found no sheet that can be read", hint=_SAVE_AGAIN)

    def papers(self) -> tuple[str, _Row] | BrokenRecord:
        """The first sheet with columns of papers, and its header. It comes before the rows of any sheet."""
        self._read_strings()
        faults = []
        for sheet in self.sheets:
            with closing(self.rows(sheet)) as source:
                rows = [row for row in islice(source, HEADER_WITHIN) if isinstance(row, _Row)]
            headers = [row for row in rows if len(fields_of_columns(tuple(row.cells.values()))) > 1]
            fault = unusable([*headers[0].cells.values()]) if headers else ""
            if headers and not fault:
                return sheet, headers[0]
            if rows:
                faults.append(f"sheet {sheet!r}: {fault or unusable([*rows[0].cells.values()])}")
        return BrokenRecord("the columns cannot be used", tuple(faults) or ("found no row in any sheet",), "")

    def _read_strings(self) -> None:
        try:
            if self._shared:
                with closing(self._part(self._shared.PartName[1:], depth=1)) as parts:
                    self._strings.keep(parts)
        except (*_FAULTS, OSError, SyntaxError) as error:
            raise InputError(f"{self._path}: not a workbook that can be read: {error}", hint=_SAVE_AGAIN) from None

    def rows(self, sheet: str, columns: Collection[int] = ()) -> Generator[_Row | BrokenRecord]:
        """The rows of a sheet that are not empty, of these columns; of all where none is given."""
        from openpyxl.utils import get_column_letter
        from openpyxl.worksheet._reader import WorkSheetParser

        letters = {get_column_letter(column): column for column in columns}
        # Without formats of dates: openpyxl warns of numbers that are none.
        parser = WorkSheetParser(None, self._strings, epoch=self._epoch)
        for part in self._part(self.sheets[sheet], depth=2):
            if isinstance(part, BrokenRecord):
                yield part
                continue
            element, _ = part
            if element.tag == _ROW:
                if letters and all(cell.get("r") for cell in element):
                    element[:] = [cell for cell in element if cell.get("r", "").rstrip(digits) in letters]
                for cell in element:
                    # openpyxl takes many times as long for a text that is in its cell as for one that is shared.
                    if cell.get("t") == "inlineStr" and (inline := cell.find(_INLINE)) is not None:
                        cell.set("t", "str")
                        ElementTree.SubElement(cell, _VALUE).text = _plain_cell(inline)
                try:
                    number, cells = parser.parse_row(element)
                except _FAULTS as error:
                    raw = ElementTree.tostring(element, "unicode")
                    yield BrokenRecord("a row cannot be read", (f"a cell of the row cannot be read: {error}",), raw)
                    continue
                parser.row_dimensions.clear()
                if texts := {cell["column"]: text for cell in cells if (text := self._text(cell))}:
                    yield _Row(number, texts)

    def _part(self, name: str, *, depth: int) -> Generator[XmlRecord | BrokenRecord]:
        with self._archive.open(name) as source:
            yield from records_in(source, f"{self._path}: {name}", depth=depth)

    def _text(self, cell: Mapping[str, Any]) -> str:
        from openpyxl.utils.datetime import from_excel

        value = cell["value"]
        if isinstance(value, str):
            if cell["data_type"] == "e":
                return ""
            return _unescaped(value)
        if isinstance(value, int | float) and cell["style_id"] in self._dates:
            with suppress(ValueError, OverflowError):
                return str(from_excel(value, self._epoch))
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        # The formula of several cells is an object of openpyxl's.
        return "" if value is None else str(getattr(value, "text", value) or "")


class _Archive(zipfile.ZipFile):
    """A workbook's parts, of sizes that memory can hold, without entities of their own."""

    def check(self, path: Path) -> None:
        """Raise InputError for a workbook that is not to be read."""
        # A part is read up to the size that is stated for it, and no further.
        if sum(part.file_size for part in self.infolist()) > UNPACKED * path.stat().st_size + LONGEST_LINE:
            raise InputError(
                f"{path}: unpacks to more than {UNPACKED} times its size, expected a workbook",
                hint="if the file is genuine, save its sheet as CSV",
            )
        for part in self.namelist():
            if part.endswith((".xml", ".rels")):
                with self.open(part) as file:
                    refuse_entities(file, f"{path}: {part}")

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        part = name if isinstance(name, zipfile.ZipInfo) else self.getinfo(name)
        if part.file_size > _WHOLE:
            raise InputError(
                f"{self.filename}: {part.filename} has more than {_WHOLE} bytes, expected a workbook of papers",
                hint="save its sheet as CSV",
            )
        return super().read(name, pwd)


class _Strings:
    """The texts that cells share, by their numbers. They are in a file: they may be as large as the workbook."""

    def __init__(self, scratch: IO[bytes]) -> None:
        self._file = scratch
        self._ends = array("Q", [0])

    def keep(self, parts: Iterator[XmlRecord | BrokenRecord]) -> None:
        """Write them down, in order. Raises ValueError if their XML is not well-formed."""
        for part in parts:
            if isinstance(part, BrokenRecord):
                raise ValueError(part.faults[0])
            self._ends.append(self._ends[-1] + self._file.write(_plain_cell(part[0]).encode("utf-8")))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        start, end = self._ends[number], self._ends[number + 1]
        self._file.seek(start)
        return self._file.read(end - start).decode("utf-8")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _plain_cell(text: ElementTree.Element) -> str:
    """Text of a string, in one part or in runs of one style each; other parts give its pronunciation."""
    return "".join(run.text or "" for path in (_TEXT, _RUN) for run in text.iterfind(path))


def _is_workbook(head: Head) -> bool:
    """True if the file is a zip archive of Office that is not known to belong to another of its programs."""
    other_formats = (b"word/", b"ppt/")
    return head.start.startswith(b"PK\3\4") and (
        b"xl/" in head.start
        or (b"[Content_Types].xml" in head.start and not any(other in head.start for other in other_formats))
    )


WORKBOOK = table(
    "xlsx", records=records, cut=in_one_piece, matches=_is_workbook, sheet=sheet_read, endings=(".xlsx", ".xlsm")
)
