"""Files that people give: their bytes and encodings, JSON Lines, and CSV as spreadsheet programs save it."""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import json
import lzma
import re
import tomllib
import zlib
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from itertools import compress, islice
from json.encoder import encode_basestring, encode_basestring_ascii
from pathlib import Path
from types import NoneType
from typing import IO, Any, NamedTuple, TextIO, TypeVar, overload

from pydantic import BaseModel, ConfigDict, ValidationError

from annot.base.errors import Faults, InputError, json_problem, numbered
from annot.base.names import near, shown
from annot.base.records import Gold

# ----------------------------------------------------------------------------------------------------------------------
# The one door for files that people give: their bytes, unpacked under a limit, and the encoding that these tell.
#
# A reader of a format opens no file itself. So a compressed file is read wherever a plain one is, and no reader
# unpacks more than text can be.
#
# Exports of libraries are not always UTF-8. The whole file decides their encoding, once, by this rule:
#
# 1. A byte order mark, or the zeros of a text that has none: UTF-8, UTF-16 (as Excel's "Unicode text" is) or UTF-32.
# 2. Valid UTF-8 from beginning to end: UTF-8, ASCII among it.
# 3. More bytes that continue a valid UTF-8 character than broken ones: UTF-8 with broken places. A record with one is
#    left out and reported (`corpora.pieces.encoding_fault`).
# 4. Otherwise Windows-1252, with the five bytes that it does not define as in Latin-1, as browsers read both
#    (https://encoding.spec.whatwg.org/#windows-1252).
#
# Other encodings of one byte a character (Mac Roman, Windows-1250) are valid Windows-1252, too: they cannot be
# distinguished from it, and their accents come out wrong. Such a file has to be saved as UTF-8 first.
# ----------------------------------------------------------------------------------------------------------------------


LONGEST_LINE = 1 << 25
"""32 MiB: the longest full texts have a tenth of that."""
UNPACKED = 100
"""A compressed file holds at most this many times its size, and `LONGEST_LINE`: text has about ten times."""
NOT_WHOLE = "the file may be incomplete; download it again"
_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
_XZ_MEMORY = 1 << 28
"""Bytes that unpacking xz may take besides its result; its highest level of compression takes a quarter of them."""


def is_gzip(path: Path) -> bool:
    """True if the content of the file is compressed."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP


class _Unpacking(io.RawIOBase):
    """The content of a compressed file, up to `UNPACKED` times its size."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._left = most_unpacked_bytes(path.stat().st_size)
        self._file = gzip.open(path)  # noqa: SIM115 - closed with this one

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._file.readinto(buffer)
        self._left -= n
        if self._left < 0:
            raise too_large_error(self.name)
        return n

    def close(self) -> None:
        self._file.close()
        super().close()


def most_unpacked_bytes(packed: int) -> int:
    """The most bytes that this many compressed bytes are unpacked to."""
    return UNPACKED * packed + LONGEST_LINE


def too_large_error(name: str, *, expected: str = "text") -> InputError:
    """The error for a file that unpacks to more than that."""
    return InputError(
        f"{name}: unpacks to more than {UNPACKED} times its size, expected {expected}",
        hint="if the file is genuine, unpack it yourself",
    )


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed where it is. Raises InputError if it cannot be decompressed to its end."""
    try:
        with io.BufferedReader(_Unpacking(path), 1 << 20) if is_gzip(path) else path.open("rb") as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: cannot be decompressed: {error}", hint=NOT_WHOLE) from None


def check_unpacked(path: Path) -> None:
    """Raise InputError if a file that another reader will open is compressed, and unpacks to too much."""
    if is_gzip(path):
        with opened(path) as file:
            while file.read(1 << 20):
                pass


def open_parquet(path: Path, *, hint: str | None) -> Any:
    """The Parquet file, open. Raises InputError, with the hint, if it is not a Parquet file."""
    # `annot status` reads no Parquet, and loads as few modules as it can.
    from annot.base.libraries import pq, pyarrow

    try:
        return pq.ParquetFile(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: not a Parquet file: {error}", hint=hint) from None


def parquet_file(path: Path) -> Any:
    """A file of a person, open. Raises InputError also if it unpacks to too much."""
    file = open_parquet(path, hint=None)
    groups = range(file.metadata.num_row_groups)
    if sum(file.metadata.row_group(group).total_byte_size for group in groups) > most_unpacked_bytes(
        path.stat().st_size
    ):
        raise too_large_error(str(path), expected="a table")
    return file


def content_of(path: Path, *, expected: str, most: int | None = None) -> bytes:
    """Bytes of a whole file, decompressed.

    expected: its intended content, in words. Raises InputError if there is no file, and for more than `most` bytes.
    """
    if not path.is_file():
        problem = "a folder" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {problem}, expected {expected}")
    with opened(path) as file:
        data = file.read() if most is None else file.read(most + 1)
    if most is not None and len(data) > most:
        raise InputError(f"{path}: more than {most >> 20} MiB, expected {expected}", hint="is it the right file?")
    return data


def decompressed_xz(data: bytes, *, name: str, expected: str) -> bytes:
    """The bytes, decompressed if they are xz. Raises InputError if they unpack to too much, or not to their end."""
    if not data.startswith(_XZ):
        return data
    unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)
    try:
        content = unpacking.decompress(data, most_unpacked_bytes(len(data)) + 1)
    except lzma.LZMAError as error:
        raise InputError(f"{name}: cannot be decompressed: {error}", hint=NOT_WHOLE) from None
    if len(content) > most_unpacked_bytes(len(data)):
        raise too_large_error(name, expected=expected)
    if not unpacking.eof:
        raise InputError(f"{name}: cannot be decompressed: it ends too early", hint=NOT_WHOLE)
    return content


def packaged_table(name: str) -> dict[str, Any]:
    """The content of a TOML file that comes with this package."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


SAVE_AS_UTF_8 = "save the file as UTF-8"


class UnreadEncoding(ValueError):
    """Raised for a declared encoding that is not read; the message names it."""


_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'<>]*)["']""")
_LETTERS = bytes(range(0x20, 0x7E)).replace(b"\\", b"").replace(b"~", b"") + b"\t\n\r"
"""Characters in the tags of XML that are the same in every encoding that a declaration can name. A backslash is not, in
Japan and Korea: Shift_JIS has a yen sign there."""
_NO_TEXT = {"idna", "unicode_escape", "raw_unicode_escape"}
"""Encodings of Python that no file of text has."""
_WIDER = {"gb2312": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
"""Encodings that files have in place of those that they declare; browsers read them so, too
(https://encoding.spec.whatwg.org/#names-and-labels)."""


def unicode_of_start(start: bytes) -> str:
    """The encoding of Unicode, as Python names it, that the first bytes of a text tell; UTF-8 if they tell none.

    A byte order mark tells it, which may stay in the decoded text; or the zeros of UTF-16 and UTF-32 among two letters
    of ASCII (RFC 4627, section 3).
    """
    unicode = json.detect_encoding(start)
    letters = start[:4].replace(b"\0", b"").decode("latin-1")
    if unicode.endswith("e") and not re.sub(r"[\t\r\n]", "", letters).isprintable():
        return "utf-8"
    return unicode.removesuffix("-sig")


def encoding_of_start(start: bytes) -> str:
    """Encoding of a text that begins like this; an XML declaration that names another one counts.

    Raises UnreadEncoding if that is not known, or if no declaration can be in it.
    """
    unicode = unicode_of_start(start)
    declared = _DECLARED.match(start) if unicode == "utf-8" else None
    if declared is None:
        return unicode
    label = declared[1].decode("ascii", "replace")
    try:
        codec = codecs.lookup(label).name
        # Whoever could read the declaration has read no UTF-16, whatever it says.
        if codec.startswith(("utf-16", "utf-32")):
            return "utf-8"
        if codec.replace("-", "_") not in _NO_TEXT and _LETTERS.decode(codec) == _LETTERS.decode("ascii"):
            return _WIDER.get(codec, codec)
    except (LookupError, ValueError):
        pass
    raise UnreadEncoding(f"declares the encoding {label!r}, expected UTF-8 or another encoding of text")


UTF_8, WINDOWS_1252 = "utf-8", "windows-1252"
_CHUNK = 1 << 18


def encoding_of(path: Path) -> str:
    """The encoding of the file's text, decompressed if it is compressed, such as `utf-8` or `windows-1252`."""
    state = path.stat()
    return _encoding_of(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=64)
def _encoding_of(path: Path, _changed: int, _size: int) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    continuing, broken = 0, 0
    with opened(path) as file:
        chunk = file.read(_CHUNK)
        if (unicode := unicode_of_start(chunk)) != UTF_8 or chunk.startswith(codecs.BOM_UTF8):
            return unicode
        while chunk:
            if decoder.getstate()[0] or not chunk.isascii():
                text = decoder.decode(chunk)
                continuing += len(chunk) - len(text)
                broken += broken_bytes(text)
            chunk = file.read(_CHUNK)
        cut_off = len(decoder.decode(b"", final=True))
    return UTF_8 if continuing - cut_off > broken + cut_off or not broken + cut_off else WINDOWS_1252


def broken_bytes(text: str) -> int:
    """Number of bytes that were not UTF-8 in a text decoded with `surrogateescape`."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return len(text) - len(text.encode("utf-8", "ignore").decode("utf-8"))
    return 0


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("annot-latin-1", _as_latin_1)
_DECODED = {
    UTF_8: ("utf-8-sig", "surrogateescape"),
    WINDOWS_1252: ("windows-1252", "annot-latin-1"),
}


class _TextInLines(io.TextIOWrapper):
    """A text stream that refuses an endless line."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        line = super().readline(LONGEST_LINE + 1 if size < 0 else size)
        if len(line) > LONGEST_LINE:
            fault = f"{self.name}: a line of more than {LONGEST_LINE} characters, expected text in lines"
            raise InputError(fault, hint="is the file in another format?")
        return line


@contextmanager
def text_of(path: Path, newline: str | None = None) -> Iterator[TextIO]:
    """The text of a file in its encoding, decompressed; line ends as `open` has them by `newline`.

    A broken byte in a UTF-8 file is read as a lone surrogate, which `encoding_fault` finds.
    """
    encoding = encoding_of(path)
    encoding, errors = _DECODED.get(encoding, (encoding, "replace"))
    with opened(path) as file, _TextInLines(file, encoding, errors=errors, newline=newline) as text:
        yield text


# ----------------------------------------------------------------------------------------------------------------------
# JSON Lines: objects with the number of their line, records as lines, and what a model finds wrong, in words.
# ----------------------------------------------------------------------------------------------------------------------


T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
AS_JSON = "backslashreplace"
"""Form in which a lone surrogate, which UTF-8 does not have, is written: that of the JSON it came in."""
AT_ONCE = 5_000
"""Rows of a table that are read or written at a time."""
_TELLING_DECODER = json.JSONDecoder(parse_constant=str)


def read_objects(
    lines: Iterable[str], faults: Faults, *, constants: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object on each line that is not blank, with the line's number.

    NaN and infinity are read as null; with `constants`, as the text that they are.
    """
    decoder = _TELLING_DECODER if constants else _DECODER
    for number, line in numbered(lines, faults):
        try:
            record = decoder.decode(line)
        except (ValueError, RecursionError) as error:
            faults.add(json_problem(error), line=number)
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            faults.add(f"found {json.dumps(record)[:40]}, expected one JSON object per line", line=number)


class Strict(BaseModel):
    """Model that takes no value of another type, though it could be turned into one of its own."""

    model_config = ConfigDict(strict=True)


def read_models(lines: Iterable[str], faults: Faults, model: type[M]) -> Iterator[tuple[int, M]]:
    """The object on each line as its model has it, with the line's number."""
    for number, record in read_objects(lines, faults):
        if (read := checked(model.model_validate, record, faults, line=number)) is not None:
            yield number, read


def checked(
    validate: Callable[[Any], T], value: Any, faults: Faults, *, line: int | None = None, place: str | None = None
) -> T | None:
    """The value as its model has it; None if it has faults, which are added to `faults`."""
    try:
        return validate(value)
    except ValidationError as error:
        for problem in in_words(error):
            faults.add(problem, line=line, place=place)
    return None


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """One record a line."""
    return "".join([f"{text}\n" for text in json_texts(list(records), ascii_only=False)])


def table_lines(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> bytearray:
    """The rows of a table, a record a line, in UTF-8."""
    lines = bytearray()
    for start in range(0, len(columns[0]) if columns else 0, AT_ONCE):
        lot = [values[start : start + AT_ONCE] for values in columns]
        lines += "\n".join([*json_objects(names, lot, ascii_only=False), ""]).encode()
    return lines


def json_texts(values: Sequence[Any], *, sort: bool = False, ascii_only: bool = True) -> list[str]:
    """JSON of each value. sort: with the keys of objects in order. ascii_only: with all other characters escaped.

    Objects with the same keys, as rows of a table are, are written by one template.
    """
    if isinstance(values, ObjectColumn):
        return json_objects([*values.columns], [*values.columns.values()], sort=sort, ascii_only=ascii_only)
    if values and all(type(value) is dict for value in values):
        names, *others = set(map(tuple, values))
        if names and not others and all(isinstance(name, str) for name in names):
            columns = list(zip(*map(dict.values, values), strict=True))
            return json_objects(names, columns, sort=sort, ascii_only=ascii_only)
    write = json.JSONEncoder(sort_keys=sort, ensure_ascii=ascii_only).encode
    # An encoder that is asked for each text and whole number takes ten times as long.
    of_type: dict[type, Callable[[Any], str]] = {
        str: encode_basestring_ascii if ascii_only else encode_basestring,
        int: str,
        NoneType: lambda _: "null",
        tuple: lambda items: write(items) if items else "[]",
    }
    if values and (type(values[0]) in (str, NoneType) or values[0] == ()) and is_constant(values):
        # A number may be equal to one that is written in another way.
        return [of_type[type(values[0])](values[0])] * len(values)
    kinds = set(map(type, values))
    if kinds <= {str, int, NoneType} and 2 * len(distinct := set(values)) < len(values):
        # Most values of a column come many times; none of these is equal to one of another type.
        texts = {value: of_type[type(value)](value) for value in distinct}
        return list(map(texts.__getitem__, values))
    return [of_type.get(type(value), write)(value) for value in values]


ByColumn = Mapping[str, Sequence[Any]]
"""Table as the values of each field, in the order of the rows."""


def chosen_rows(columns: ByColumn, chosen: Sequence[bool]) -> ByColumn:
    """The rows for which `chosen` is true."""
    if all(chosen):
        return columns
    if not any(chosen):
        return {name: values[:0] for name, values in columns.items()}
    return {name: list(compress(values, chosen)) for name, values in columns.items()}


def first_places(values: Sequence[Hashable]) -> list[int]:
    """Place at which each distinct value first comes, in order."""
    return sorted(dict(zip(reversed(values), range(len(values) - 1, -1, -1), strict=True)).values())


class ObjectColumn(Sequence[dict[str, Any]]):
    """Objects with the same keys, kept as columns: one is made when it is asked for."""

    def __init__(self, columns: ByColumn) -> None:
        self.columns = columns
        self._length = len(next(iter(columns.values()), ()))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> ObjectColumn: ...
    def __getitem__(self, place: int | slice) -> dict[str, Any] | ObjectColumn:
        chosen = {name: values[place] for name, values in self.columns.items()}
        return ObjectColumn(chosen) if isinstance(place, slice) else chosen

    def __iter__(self) -> Iterator[dict[str, Any]]:
        rows = zip(*self.columns.values(), strict=True)
        return (dict(zip(self.columns, row, strict=True)) for row in rows)


def is_constant(values: Sequence[Any]) -> bool:
    """True if all values are equal; there is at least one."""
    return values.count(values[0]) == len(values)


def json_objects(
    names: Sequence[str], columns: Sequence[Sequence[Any]], *, sort: bool = False, ascii_only: bool = True
) -> list[str]:
    """JSON of an object for each row of a table, with options as `json_texts` has them."""
    of_name = dict(zip(names, columns, strict=True))
    listed = sorted(of_name) if sort else names
    members, varying = [], []
    for name, head in zip(listed, json_texts(listed, ascii_only=ascii_only), strict=True):
        texts = json_texts(of_name[name], sort=sort, ascii_only=ascii_only)
        # Most columns of answers have one value: it becomes part of the template.
        constant = texts[0] if is_constant(texts) else ""
        members.append(f"{head}: {constant}".replace("%", "%%") + ("" if constant else "%s"))
        varying += [] if constant else [texts]
    template = f"{{{', '.join(members)}}}"
    return [template % row for row in zip(*varying, strict=True)] if varying else [template % ()] * len(columns[0])


def in_words(error: ValidationError) -> list[str]:
    """Faults of a pydantic model: place, found and expected value; entries count from 1."""
    faults = []
    for fault in error.errors(include_url=False):
        parts = [f"entry {part + 1}" if isinstance(part, int) else part for part in fault["loc"]]
        last, place = (fault["loc"] or ("",))[-1], ", ".join(parts)
        if fault["type"] == "missing" and isinstance(last, int):
            problem = f"found {fault['input']!r:.60}, expected more entries"
        elif fault["type"] == "missing":
            close_to_key = near(str(last), [key for key in fault["input"] if key != last], others="found")
            place, problem = ", ".join(parts[:-1]), f"no field {last!r}: {close_to_key}"
        elif fault["type"] == "extra_forbidden":
            problem = f"found {fault['input']!r:.60}, expected no such field"
        elif fault["type"] == "value_error":
            problem = str(fault["ctx"]["error"])
        else:
            problem = f"found {fault['input']!r:.60}, " + re.sub(r"^\w+ should (be|have) ", "expected ", fault["msg"])
        faults.append(f"{place}: {problem}" if place else problem)
    return faults


# ----------------------------------------------------------------------------------------------------------------------
# CSV as spreadsheet programs save it: and the tables that people fill in and that are read back.
# ----------------------------------------------------------------------------------------------------------------------


SEPARATORS = ",;\t"


class CsvTable(NamedTuple):
    """The rows that are not empty, under the headings of the line of the header."""

    line: int
    headings: tuple[str, ...]
    lines: list[int]
    """Line on which each row begins."""
    cells: ObjectColumn
    """The cells of each row by heading; of two headings that are equal, the last counts."""

    @property
    def rows(self) -> list[tuple[int, dict[str, str]]]:
        """Each row with its line."""
        return list(zip(self.lines, self.cells, strict=True))


def decoded(data: bytes) -> str:
    """Text of a file: UTF-8, UTF-16 or UTF-32 as its first bytes show, else Windows-1252.

    The last is what Excel's plain "CSV" holds on a western system. Only text for people can be garbled by a wrong
    guess: ids are looked up or compared.
    """
    unicode = unicode_of_start(data)
    try:
        return data.decode(unicode, errors="strict" if unicode == "utf-8" else "replace").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def read_table(text: str, faults: Faults, *, known_headings: Collection[str]) -> CsvTable:
    """The table in a text.

    Comma, semicolon or tab between the cells, whichever gives the header most of `known_headings` (spelled as by
    `plain`); any line ends; a first line `sep=;` is passed over. What is no CSV, known headings that occur twice, and
    cells beyond the header are faults.
    """
    lines = list(io.StringIO(text, newline=""))
    start = 1 if lines and re.fullmatch(r'"?sep=.?"?', lines[0].rstrip("\r\n"), re.IGNORECASE) else 0
    while start < len(lines) and not lines[start].strip(f"{SEPARATORS} \r\n"):
        start += 1
    if start == len(lines):
        return CsvTable(0, (), [], ObjectColumn({}))

    def known_columns(separator: str) -> int:
        return len(
            {cell for cell in next(csv.reader([lines[start]], delimiter=separator)) if plain(cell) in known_headings}
        )

    reader = csv.reader(lines[start:], delimiter=max(SEPARATORS, key=known_columns), strict=True)
    line = start + 1
    begun: list[int] = []

    def rows_read() -> Iterator[list[str]]:
        try:
            yield from reader
        except csv.Error as error:
            faults.add(f"not CSV from here on: {error}", line=line)

    def filled_rows() -> Iterator[list[str]]:
        nonlocal line
        for cells in source:
            if len(cells) > len(headings) and any(map(str.strip, cells[len(headings) :])):
                faults.add(
                    f"found {len(cells)} cells, expected {len(headings)}; quote a cell with a separator", line=line
                )
            elif any(map(str.strip, cells)):
                begun.append(line)
                yield (cells + [""] * (len(headings) - len(cells)))[: len(headings)]
            line = start + reader.line_num + 1

    source = rows_read()
    headings = [cell.strip() for cell in next(source, ())]
    for heading in sorted({cell for cell in headings if headings.count(cell) > 1 and plain(cell) in known_headings}):
        faults.add(f"column {heading!r} occurs {headings.count(heading)} times", line=line)
    line = start + reader.line_num + 1
    columns: list[list[str]] = [[] for _ in headings]
    rows, texts = filled_rows(), dict[str, str]()
    # Some rows at a time, and equal cells as one text: most cells of a large table come many times.
    while lot := list(islice(rows, AT_ONCE)):
        for column, cells in zip(columns, zip(*lot, strict=True), strict=True):
            column += map(texts.setdefault, cells, cells)
    return CsvTable(start + 1, tuple(headings), begun, ObjectColumn(dict(zip(headings, columns, strict=True))))


def read_columns(
    data: bytes, faults: Faults, *, columns: Sequence[str], optional: Sequence[str] = ()
) -> list[tuple[int, dict[str, str]]]:
    """The cells of these columns in every row that is not empty; each row with its line.

    The `columns` must be there; an `optional` one that is not there has empty cells. Where another is nearly called so,
    that is a fault.
    """
    csv_table = read_table(decoded(data), faults, known_headings=(*columns, *optional))
    if not csv_table.headings:
        faults.add(f"an empty file, expected the columns {', '.join(columns)}")
        return []
    headings = {plain(heading): heading for heading in csv_table.headings}
    missing = [column for column in columns if column not in headings]
    unread = [heading for heading in headings if heading not in (*columns, *optional)]
    for column in missing:
        close = difflib.get_close_matches(column, unread, 1)
        faults.add(
            f"found no column {column!r}" + (f", but {headings[close[0]]!r}" if close else ""), line=csv_table.line
        )
    for column in optional:
        if column not in headings and (close := difflib.get_close_matches(column, unread)):
            missing.append(column)
            faults.add(f"found column {headings[close[0]]!r}: did you mean {column!r}?", line=csv_table.line)
    if missing:
        return []
    wanted_columns = [*columns, *(column for column in optional if column in headings)]
    absent = dict.fromkeys((column for column in optional if column not in headings), "")
    return [
        (line, {column: unguarded(cells[headings[column]]).strip() for column in wanted_columns} | absent)
        for line, cells in csv_table.rows
    ]


def plain(heading: str) -> str:
    """A heading as it is compared: lower case, `_` for white space and hyphens."""
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


def write_gold(rows: Iterable[Gold]) -> str:
    """The table, with tabs between cells."""
    return _tab_separated([GOLD_COLUMNS, *(row[: len(GOLD_COLUMNS)] for row in rows)])


def _tab_separated(rows: Iterable[Iterable[object]]) -> str:
    """Rows with tabs between cells; white space in a cell becomes one space."""
    return "".join("\t".join(guarded(" ".join(str(cell).split())) for cell in row) + "\n" for row in rows)


def read_gold(data: bytes, *, name: str, grades: Sequence[int], queries: Collection[str]) -> tuple[Gold, ...]:
    """The rows, in order. grades: the scale. queries: those of the study.

    Tabs, commas or semicolons between cells. Raises InputError with the line of every grade off the scale, unknown
    query, empty id and pair that is listed twice.
    """
    faults = Faults(name)
    lines_by_pair: dict[tuple[str, str], Gold] = {}
    for line, cells in read_columns(data, faults, columns=GOLD_COLUMNS):
        query_id, doc_id, grade = cells["query_id"], cells["doc_id"], cells["grade"]
        if query_id not in queries:
            faults.add(f"query {query_id!r}: not in this study; {near(query_id, queries)}", line=line)
        if not doc_id:
            faults.add("doc_id is empty", line=line)
        if grade not in map(str, grades):
            faults.add(f"grade: found {grade!r}, expected one of {', '.join(map(str, grades))}", line=line)
        elif (query_id, doc_id) in lines_by_pair:
            faults.add(f"{query_id} {doc_id}: given twice", line=line)
        else:
            lines_by_pair[query_id, doc_id] = Gold(
                *(query_id, doc_id, int(grade), cells["why"]), position=len(lines_by_pair) + 1
            )
    hint = "columns query_id, doc_id, grade and why; `annot train gold` without a file draws some"
    faults.raise_if_any(hint=hint, found=lines_by_pair, nothing="found no gold pair")
    return tuple(lines_by_pair.values())


RETURNED_COLUMNS = ("query_id", "doc_id", "to", "why")


class ReturnedLine(NamedTuple):
    """A row: a pair, the assessor it goes back to, and the note for them."""

    query_id: str
    doc_id: str
    assessor: str
    why: str
    line: int | None = None
    """Line in the file; None if it comes from no file."""


def read_returned_lines(data: bytes, *, name: str) -> tuple[ReturnedLine, ...]:
    """The rows, in order. Tabs, commas or semicolons between cells.

    Raises InputError for missing columns, for a file without rows, and with the line of every row that gives a pair and
    an assessor again.
    """
    faults = Faults(name)
    lines_by_answer: dict[tuple[str, str, str], ReturnedLine] = {}
    for line, cells in read_columns(data, faults, columns=RETURNED_COLUMNS):
        row = ReturnedLine(cells["query_id"], cells["doc_id"], cells["to"], cells["why"], line)
        if row[:3] in lines_by_answer:
            faults.add(f"{row.query_id} {row.doc_id} to {row.assessor}: given twice", line=line)
        lines_by_answer[row[:3]] = row
    hint = f"expected the columns {', '.join(RETURNED_COLUMNS)}, and a row for each pair"
    faults.raise_if_any(hint=hint, found=lines_by_answer, nothing="found no pair")
    return tuple(lines_by_answer.values())


PLACE_COLUMNS = ("paper_id", "where")


def write_full_texts(titles: Mapping[str, str], where: Mapping[str, str]) -> str:
    """Table to fill in, with the title of each paper; known addresses stay in `where`."""
    rows = ((paper_id, where.get(paper_id, ""), title) for paper_id, title in sorted(titles.items()))
    return _tab_separated([(*PLACE_COLUMNS, "title"), *rows])


def read_full_texts(data: bytes, *, name: str, ids: Collection[str] | None) -> dict[str, str]:
    """The link or file name of the full text of each paper in `ids`; of every paper in the file if `ids` is None.

    Tabs, commas or semicolons between cells. Raises InputError with every paper without a place and every paper with
    two different ones.
    """
    faults = Faults(name)
    texts: dict[str, str] = {}
    for line, cells in read_columns(data, faults, columns=PLACE_COLUMNS):
        paper_id, where = cells["paper_id"], cells["where"]
        if where and texts.setdefault(paper_id, where) != where:
            faults.add(f"paper {paper_id!r} has two addresses: {texts[paper_id]} and {where}", line=line)
    if not faults.found:
        for paper_id in sorted(set(ids or ()) - set(texts)):
            faults.add(f"paper {paper_id!r}: found no address of its full text")
    faults.raise_if_any(hint="write a link (https://...) or the name of a file into the column `where` of each paper")
    return texts if ids is None else {paper_id: texts[paper_id] for paper_id in ids}


SHEET = "errors.csv"
KEPT = ("query_id", "doc_id", "kind", "note")
"""The columns that are read back."""


def read_error_sheet(data: bytes, *, name: str, kinds: Sequence[str]) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Kinds and notes that the lead entered, (kind, note) by pair; rows without either are left out.

    Raises InputError with every fault: a missing column, a pair given twice, a kind that is not among `kinds`.
    """
    faults = Faults(name)
    kind_of_pair: dict[tuple[str, str], tuple[str, str]] = {}
    for line, cells in read_columns(data, faults, columns=KEPT):
        query_id, doc_id, kind_cell, note = (cells[column] for column in KEPT)
        kind = next((known_kind for known_kind in kinds if known_kind.casefold() == kind_cell.casefold()), kind_cell)
        if kind and kind not in kinds:
            faults.add(f"kind: found {kind_cell!r}, {near(kind_cell, kinds)}", line=line)
        if (query_id, doc_id) in kind_of_pair:
            faults.add(f"document {doc_id!r} is listed twice for query {query_id!r}", line=line)
        if kind or note:
            kind_of_pair[query_id, doc_id] = kind, note
    faults.raise_if_any(hint="`evaluation.error_kinds` in annot.toml lists the kinds")
    return kind_of_pair
