"""Tables of papers in a workbook of Excel, .xlsx or .xlsm (ECMA-376, https://ecma-international.org/publications-and-standards/standards/ecma-376/).

The first visible sheet with columns of papers (`columns`) is read; there may be other rows before its header. A
formula is text, and nothing is computed; macros and links to other files are not looked at. openpyxl reads what the
workbook says of its sheets and each row; the rows, and the texts that cells share, pass one after another.
"""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from array import array
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from string import digits
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple
from xml.etree import ElementTree

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Broken, Head, Piece, Records, in_one_piece
from annot.formats.corpora.tables import HEADER_WITHIN, meaning, table, unusable
from annot.formats.input_files import LONGEST_LINE, NOT_WHOLE, UNPACKED, is_gzip
from annot.formats.xml_records import XmlRecord, records_in, refuse_entities_in

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
        found = workbook.papers()
        if isinstance(found, Broken):
            yield 1, found
            return
        sheet, header = found
        names = meaning(tuple(header.cells.values()))
        columns = {at: name for at, name in header.cells.items() if name in names}
        years = [name for name, field in names.items() if field == "year"]
        last = header.number
        for row in workbook.rows(sheet, columns):
            if isinstance(row, Broken):
                last += 1
                yield last, row
            elif row.number > header.number:
                last = row.number
                record = {name: row.cells.get(at, "") for at, name in columns.items()}
                record |= {name: _DATE.sub(r"\1", record[name]) for name in years}
                yield last, record if any(record.values()) else None


def sheet_read(path: str) -> str:
    """The name of the sheet that is read, if the workbook has several; "" if it has one, or none is read."""
    with _opened(path) as workbook:
        if len(workbook.sheets) == 1:
            return ""
        found = workbook.papers()
        return "" if isinstance(found, Broken) else found[0]


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

    def papers(self) -> tuple[str, _Row] | Broken:
        """The first sheet with columns of papers, and its header. It comes before the rows of any sheet."""
        self._read_strings()
        faults = []
        for sheet in self.sheets:
            with closing(self.rows(sheet)) as source:
                rows = [row for row in islice(source, HEADER_WITHIN) if isinstance(row, _Row)]
            headers = [row for row in rows if len(meaning(tuple(row.cells.values()))) > 1]
            fault = unusable([*headers[0].cells.values()]) if headers else ""
            if headers and not fault:
                return sheet, headers[0]
            if rows:
                faults.append(f"sheet {sheet!r}: {fault or unusable([*rows[0].cells.values()])}")
        return Broken("the columns cannot be used", tuple(faults) or ("found no row in any sheet",), "")

    def _read_strings(self) -> None:
        try:
            if self._shared:
                with closing(self._part(self._shared.PartName[1:], depth=1)) as parts:
                    self._strings.keep(parts)
        except (*_FAULTS, OSError, SyntaxError) as error:
            raise InputError(f"{self._path}: not a workbook that can be read: {error}", hint=_SAVE_AGAIN) from None

    def rows(self, sheet: str, columns: Collection[int] = ()) -> Generator[_Row | Broken]:
        """The rows of a sheet that are not empty, of these columns; of all where none is given."""
        from openpyxl.utils import get_column_letter
        from openpyxl.worksheet._reader import WorkSheetParser

        letters = {get_column_letter(at): at for at in columns}
        # Without formats of dates: openpyxl warns of numbers that are none.
        parser = WorkSheetParser(None, self._strings, epoch=self._epoch)
        for part in self._part(self.sheets[sheet], depth=2):
            if isinstance(part, Broken):
                yield part
            elif part.element.tag == _ROW:
                if letters and all(cell.get("r") for cell in part.element):
                    part.element[:] = [cell for cell in part.element if cell.get("r", "").rstrip(digits) in letters]
                for cell in part.element:
                    # openpyxl takes many times as long for a text that is in its cell as for one that is shared.
                    if cell.get("t") == "inlineStr" and (inline := cell.find(_INLINE)) is not None:
                        cell.set("t", "str")
                        ElementTree.SubElement(cell, _VALUE).text = _plain(inline)
                try:
                    number, cells = parser.parse_row(part.element)
                except _FAULTS as error:
                    raw = ElementTree.tostring(part.element, "unicode")
                    yield Broken("a row cannot be read", (f"a cell of the row cannot be read: {error}",), raw)
                    continue
                parser.row_dimensions.clear()
                if texts := {cell["column"]: text for cell in cells if (text := self._text(cell))}:
                    yield _Row(number, texts)

    def _part(self, name: str, *, depth: int) -> Generator[XmlRecord | Broken]:
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
                    refuse_entities_in(file, f"{path}: {part}")

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

    def keep(self, parts: Iterator[XmlRecord | Broken]) -> None:
        """Write them down, in order. Raises ValueError if their XML is not well-formed."""
        for part in parts:
            if isinstance(part, Broken):
                raise ValueError(part.faults[0])
            self._ends.append(self._ends[-1] + self._file.write(_plain(part.element).encode("utf-8")))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        start, end = self._ends[number], self._ends[number + 1]
        self._file.seek(start)
        return self._file.read(end - start).decode("utf-8")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _plain(text: ElementTree.Element) -> str:
    """A text, which is whole, or in runs of one style each; what else is there says how to pronounce it."""
    return "".join(run.text or "" for path in (_TEXT, _RUN) for run in text.iterfind(path))


def _is_workbook(head: Head) -> bool:
    """Whether the file is a zip archive of Office's that is not known to be of another of its programs."""
    others = (b"word/", b"ppt/")
    return head.start.startswith(b"PK\3\4") and (
        b"xl/" in head.start
        or (b"[Content_Types].xml" in head.start and not any(other in head.start for other in others))
    )


WORKBOOK = table(
    "xlsx", records=records, cut=in_one_piece, told=_is_workbook, sheet=sheet_read, endings=(".xlsx", ".xlsm")
)
