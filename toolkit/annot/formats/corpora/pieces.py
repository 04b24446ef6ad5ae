"""Files of papers cut into pieces that can be read one by one, and the marks by which a format is known."""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic_core import from_json

from annot.base.errors import InputError, json_problem
from annot.formats.input_files import LONGEST_LINE, broken_bytes, is_gzip, opened, packaged_table, unicode_of_start

# ----------------------------------------------------------------------------------------------------------------------
# JSON texts of many records (RFC 8259), read record by record: memory holds one of them, however large the file.
#
# One text is a list of records, a page of an API with them in its `results` (OpenAlex), an object with them by their
# ids (SciDocs), or a single record. Several texts after one another are read, too. Python's own decoder reads each
# record: it is three times as fast as one that reports every value on its way.
# ----------------------------------------------------------------------------------------------------------------------


Entry = tuple[Any, str]
"""A value, and its text as it is in the file; bytes that are not UTF-8 are lone surrogates in it."""
DECODER = json.JSONDecoder(parse_constant=lambda _: None)
_BLOCK = 1 << 18
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPACE = re.compile(r"[ \t\n\r]*")
_TOKEN = 16
"""No character, escape or word of JSON is longer. A fault this near to the end may mean that the text goes on."""
_INNER = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:|[]},]')
"""The beginning of a line that is part of an object over several lines."""
_SHOWN_OF_JSON = 2_000
_HELD = 50
"""An object with at least this many objects, and nothing else, has records by their ids."""
_OF_A_RECORD = {"id", "_id", "paper_id", "title", "abstract"}
"""An object with one of these before its `results` is no page."""


class NotJson(ValueError):
    """Raised when a text cannot be read any further; its message says where and why."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(reason)
        self.text = text
        """Value that was being read at the end, as far as it was read."""


def entries(file: IO[bytes], longest: int) -> Iterator[Entry]:
    """The records of a file of JSON texts, of any type.

    longest: characters of a record. Raises NotJson if the file cannot be read on.
    """
    text = _JsonText(file, longest)
    while first := text.peek():
        if first == "[":
            yield from text.items()
        elif first == "{":
            yield from _records_of_page(text)
        else:
            yield text.value()


def has_json_texts(path: Path) -> bool:
    """True if a JSON file has texts over several lines, or of several records, not a record a line.

    A broken line at the beginning of JSON Lines makes no text of them: only what text alone can have tells it.
    """
    with opened(path) as file:
        first, second = (*islice(_lines(file), 2), b"", b"")[:2]
    start = first[:4].replace(b"\0", b"")
    if start.startswith((b"[", *_UTF_16)):
        return True
    if not start.startswith(b"{"):
        return False
    if start != first[:4] or first.endswith((b"{", b"[")) or len(first) > LONGEST_LINE or _INNER.match(second):
        return True
    if second and b'"results"' not in first:
        return False
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return not second
    if not isinstance(value, dict):
        return False
    results = value.get("results")
    is_page = (
        isinstance(results, list) and not _OF_A_RECORD & value.keys() and all(isinstance(r, dict) for r in results)
    )
    return is_page or (not second and _is_by_id(value))


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    mark = codecs.BOM_UTF8
    while line := file.readline(LONGEST_LINE + 1):
        if line := line.removeprefix(mark).strip():
            yield line
        mark = b""


def _is_by_id(value: dict[str, Any]) -> bool:
    return bool(value) and all(isinstance(entry, dict) for entry in value.values())


def _records_of_page(text: _JsonText) -> Iterator[Entry]:
    """The records of a page, those that an object has by their ids, or the object."""
    entries: dict[str, Entry] = {}
    by_id = page = False
    for name in text.names():
        if by_id:
            yield text.value()
        elif name == "results" and text.peek() == "[" and not _OF_A_RECORD & entries.keys():
            page = True
            yield from text.items()
        else:
            entries[name] = text.value()
            text.check_length(sum(len(raw) for _, raw in entries.values()))
            by_id = len(entries) == _HELD and not page and _is_by_id(_values(entries))
            if by_id:
                yield from entries.values()
    if by_id or page:
        return
    if _is_by_id(_values(entries)):
        yield from entries.values()
    else:
        yield (
            _values(entries),
            "{" + ", ".join(f"{json.dumps(name)}: {raw}" for name, (_, raw) in entries.items()) + "}",
        )


def _values(entries: Mapping[str, Entry]) -> dict[str, Any]:
    return {name: value for name, (value, _) in entries.items()}


class _JsonText:
    """Text of a file; memory holds only the part that is being read."""

    def __init__(self, file: IO[bytes], longest: int) -> None:
        start = file.read(_BLOCK)
        self._file, self._longest, self._ended = file, longest, not start
        self._decoder = codecs.getincrementaldecoder(json.detect_encoding(start))("surrogateescape")
        self._text, self._at = self._decoder.decode(start), 0
        self._line, self._column = 1, 1
        """The place in the file where the text in memory begins."""

    def _read_more(self) -> bool:
        """Read on; as much again as is held, so that a long value costs no more than its length."""
        if self._ended:
            return False
        read_text = self._text[: self._at]
        if lines := read_text.count("\n"):
            self._line, self._column = self._line + lines, 1
        self._column += len(read_text) - (read_text.rfind("\n") + 1)
        block = self._file.read(max(_BLOCK, len(self._text) - self._at))
        self._ended = not block
        self._text, self._at = self._text[self._at :] + self._decoder.decode(block, not block), 0
        return True

    def peek(self) -> str:
        """The next character that is not white space; none at the end."""
        while True:
            if match := _SPACE.match(self._text, self._at):
                self._at = match.end()
            if self._at < len(self._text) or not self._read_more():
                return self._text[self._at : self._at + 1]

    def _take(self, *expected: str) -> str:
        if (character := self.peek()) not in expected or not character:
            raise self._fault(f"Expecting {' or '.join(map(repr, expected))}", self._at, ends=not character)
        self._at += 1
        return character

    def items(self) -> Iterator[Entry]:
        """Values of the list that begins here."""
        self._take("[")
        if self.peek() == "]":
            self._take("]")
            return
        yield self.value()
        while self._take(",", "]") == ",":
            yield self.value()

    def names(self) -> Iterator[str]:
        """The names in the object that begins here; after each, its value comes next."""
        self._take("{")
        if self.peek() == "}":
            self._take("}")
            return
        while True:
            if (character := self.peek()) != '"':
                raise self._fault("Expecting property name enclosed in double quotes", self._at, ends=not character)
            name = self.value()[0]
            self._take(":")
            yield name
            if self._take(",", "}") == "}":
                return

    def value(self) -> Entry:
        """The value that begins here."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut_off = error.pos > len(self._text) - _TOKEN or error.msg.startswith("Unterminated string")
                if not cut_off or not self._read_more():
                    raise self._fault(error.msg, error.pos, ends=cut_off) from None
                self.check_length(len(self._text))
            except (ValueError, RecursionError) as error:
                raise self._fault(json_problem(error).removeprefix("not valid JSON: "), self._at) from None
            else:
                # A number may go on in what is read next.
                if end < len(self._text) or self._text[end - 1] in '"}]' or not self._read_more():
                    raw, self._at = self._text[self._at : end], end
                    return value, raw

    def check_length(self, characters: int) -> None:
        """Raise NotJson for this many characters of a record if they are too many."""
        if characters > self._longest + 2 * _BLOCK:
            raise self._fault(f"a record of more than {self._longest} characters", self._at)

    def _fault(self, reason: str, position: int, *, ends: bool = False) -> NotJson:
        text_before = self._text[:position]
        line = self._line + text_before.count("\n")
        column = position - text_before.rfind("\n") if "\n" in text_before else self._column + position
        where = f"line {line}, column {column}" + ("; the file ends before this is closed" if ends else "")
        return NotJson(f"not valid JSON: {reason} at {where}", self._text[self._at : self._at + _SHOWN_OF_JSON])


# ----------------------------------------------------------------------------------------------------------------------
# An importer (`Form`): the pieces into which the files of a corpus are cut, and the records of one piece.
#
# A piece is small enough to be one shard of work, and says all that another process needs to read it.
# ----------------------------------------------------------------------------------------------------------------------


PIECE_BYTES = 1 << 24
"""16 MiB: some 14,000 abstracts with their sentences."""
_FIRST = 100
"""The first readable record among this many decides the format of a file."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Piece(NamedTuple):
    """A part of a file, in one format.

    `start` and `stop` are bytes of a file of lines, row groups of a Parquet file, documents of a dataset; `stop` None
    is the end.
    """

    path: str
    format: str
    start: int
    stop: int | None


class BrokenRecord(NamedTuple):
    """A record that cannot be read."""

    reason: str
    """The reason, by which such records are counted."""
    faults: tuple[str, ...]
    record: str
    """The text in the file."""


MOST_KEPT_FAULTS = 100
"""Faults of a piece that are kept to be shown. All are counted, and written to its file of rejected records."""
_SHOWN_OF_NOTE = 60


@dataclass(slots=True)
class PieceRead:
    """The result of reading one piece."""

    piece: Piece
    places: int = 0
    """Lines, rows or entries of the piece, including blank ones."""
    read: int = 0
    """Records that could be read: papers, rows or citations."""
    broken: Counter[str] = field(default_factory=Counter)
    """Records that cannot be read, by reason."""
    faults: list[tuple[int, str]] = field(default_factory=list)
    """The faults of the first of them, with their places from 1 in the piece."""
    first: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The fault or part of the first record with each reason, and its place."""
    kept: int = 0
    """Number of papers or citations in the corpus now."""
    without_abstract: int = 0
    without_year: int = 0
    without_id: int = 0
    """Number of records of a library that have no id of any kind."""
    noted: Counter[str] = field(default_factory=Counter)
    """Records of which a part was left out, counted by the kind of part."""

    def note(self, place: int, noun: str, value: str) -> None:
        """Count a record, a part of which was left out. noun: the part in words; value: its text."""
        self.noted[noun] += 1
        self.first.setdefault(noun, (place, " ".join(value.split())[:_SHOWN_OF_NOTE]))

    def reject(self, place: int, broken: BrokenRecord, rejected: Path | None, *, number: int = 0) -> None:
        """Count a record that cannot be read, and add it to the file of rejected records, if there is one. number: of
        the piece among those whose records are in the file."""
        self.broken[broken.reason] += 1
        self.faults += [(place, fault) for fault in broken.faults[: MOST_KEPT_FAULTS - len(self.faults)]]
        for fault in broken.faults[:1]:
            self.first.setdefault(broken.reason, (place, fault))
        if rejected:
            with rejected.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"piece": number, "place": place, **broken._asdict()}) + "\n")


def encoding_fault(raw: str) -> BrokenRecord | None:
    """The fault of a record with bytes that are not UTF-8, if any. raw: as `input_files.text_of` has it."""
    if raw.isascii() or not broken_bytes(raw):
        return None
    return BrokenRecord("not UTF-8", ("not UTF-8",), raw.encode(errors="surrogateescape").decode(errors="replace"))


Records = Iterator[tuple[int, dict[str, Any] | BrokenRecord | None]]
"""Records with their places in the piece, from 1: lines, rows or entries; None is a blank line."""


def cut_lines(name: str) -> list[tuple[int, int | None]]:
    """Pieces of a file of lines; a compressed file is one piece, and so is one of JSON texts."""
    path = Path(name)
    size = path.stat().st_size
    if size <= PIECE_BYTES or is_gzip(path) or has_json_texts(path):
        return [(0, None)]
    starts = range(0, size, PIECE_BYTES)
    return [(start, min(start + PIECE_BYTES, size)) for start in starts]


def json_records(piece: Piece) -> Records:
    """The JSON objects of the piece, one a line or in one text over all lines; NaN and infinity are read as null."""
    is_whole = piece.start == 0 and piece.stop is None
    return _text_records(piece) if is_whole and has_json_texts(Path(piece.path)) else _line_records(piece)


def first_object(name: str) -> Mapping[str, Any]:
    """The first JSON object of a file, of its first hundred lines or entries; empty if there is none."""
    first = itertools.islice(json_records(Piece(name, "", 0, None)), _FIRST)
    return next((record for _, record in first if isinstance(record, dict)), {})


def _text_records(piece: Piece) -> Records:
    number = 0
    with opened(Path(piece.path)) as file:
        try:
            for number, (value, raw) in enumerate(entries(file, LONGEST_LINE), start=1):
                yield number, _object(value, raw, "a JSON object")
        except NotJson as error:
            yield number + 1, BrokenRecord("not valid JSON", (str(error),), error.text)
        except UnicodeDecodeError as error:
            yield number + 1, _not_utf_8(error)


def _line_records(piece: Piece) -> Records:
    for number, line in read_lines(piece):
        if not line or line.isspace():
            yield number, None
            continue
        try:
            # A parser in Rust reads nearly all lines; Python's reads the others, and says why a line cannot be read.
            value = from_json(line, allow_inf_nan=False, cache_strings="none")
        except ValueError:
            value = None
        if isinstance(value, dict):
            yield number, value
            continue
        try:
            text = line.decode("utf-8")
            yield number, _object(DECODER.decode(text.rstrip("\r\n")), text, "one JSON object per line")
        except UnicodeDecodeError as error:
            yield number, _not_utf_8(error)
        except (ValueError, RecursionError) as error:
            yield number, BrokenRecord("not valid JSON", (json_problem(error),), line.decode("utf-8"))


def _object(value: Any, raw: str, expected: str) -> dict[str, Any] | BrokenRecord:
    if broken := encoding_fault(raw):
        return broken
    if isinstance(value, dict):
        return value
    return BrokenRecord("not a JSON object", (f"found {json.dumps(value)[:40]}, expected {expected}",), raw)


def _not_utf_8(error: UnicodeDecodeError) -> BrokenRecord:
    fault = f"not UTF-8: {error.reason} (bytes {error.object[error.start : error.end]!r})"
    return BrokenRecord("not UTF-8", (fault,), error.object.decode("utf-8", "replace"))


def read_lines(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """The lines that begin in the piece, with their numbers in it."""
    with opened(Path(piece.path)) as file:
        place = 0
        if piece.start:
            # The line that the byte before belongs to is the last piece's.
            place = file.seek(piece.start - 1)
            place += len(_line(file, piece.path, place))
        for number in itertools.count(1):
            if piece.stop is not None and place >= piece.stop:
                return
            line = _line(file, piece.path, place)
            if not line:
                return
            yield number, line if place else line.removeprefix(_BYTE_ORDER_MARK)
            place += len(line)


def _line(file: IO[bytes], path: str, place: int) -> bytes:
    line = file.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise InputError(
            f"{path}: a line of more than {LONGEST_LINE} bytes from byte {place} on, expected one record per line",
            hint="is the file in another format?",
        )
    return line


class Head(NamedTuple):
    """Beginning of a file, which decides its format."""

    name: str
    start: bytes
    """The first 64 KiB of the file, decompressed."""
    record: Mapping[str, Any]
    """The first JSON object in it; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of papers, JSON unless it says otherwise: an object a line, or all in one text."""

    name: str
    paper: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda record: record
    """A record in the fields that `paper_records.read_papers` knows."""
    fits: Callable[[Mapping[str, Any]], bool] = lambda _record: False
    """Test on the first JSON record of a file: True if it is of this format."""
    records: Callable[[Piece], Records] = json_records
    cut: Callable[[str], list[tuple[int, int | None]]] = cut_lines
    matches: Callable[[Head], object] = lambda _head: False
    """Test on the beginning of a file that is not JSON: True if it is of this format."""
    endings: tuple[str, ...] = ()
    """Endings of file names, compressed or not, that are of this format if their beginning decides nothing else."""
    bibliographic: bool = False
    """True if its records are those of a library or a database, which have several kinds of ids: `paper` gives `doi`,
    `pmid`, `openalex` and `key` in place of `paper_id`. A record for which it gives `paper_id` (a row of a table with
    ids of its own) is not one of these."""
    published: bool = False
    """True if its texts are those of a published collection, which are never changed."""
    sheet: Callable[[str], str] = lambda _name: ""
    """The name of the sheet that is read of a workbook with several; "" for any other file."""
    brings: Callable[[str], Path | None] = lambda _name: None
    """The folder whose files belong to the records of this one, and are not read by themselves."""
    by_name: bool = False
    """True if it reads datasets by name instead of files."""


def whole_file_piece(_name: str) -> list[tuple[int, int | None]]:
    """Function that cuts a file which has to be read from its beginning."""
    return [(0, None)]


# ----------------------------------------------------------------------------------------------------------------------
# The beginning of a file, and the errors for files whose beginning fits no format, or a kind that is not read.
# ----------------------------------------------------------------------------------------------------------------------


HEAD_BYTES = 1 << 16
_SHOWN_OF_HEAD = 40
PROLOG = rb"(?>\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)*)"
"""A regular expression of the text before the first element of XML; it never backtracks."""
_ROOT = re.compile(PROLOG + rb"<([^\s<>/?!]+)", re.DOTALL)


def head_of(name: str) -> Head:
    """The head of a file: its start without a byte order mark and, of UTF-16 and UTF-32, as UTF-8."""
    with opened(Path(name)) as file:
        start = file.read(HEAD_BYTES)
    if (unicode := unicode_of_start(start)) != "utf-8":
        start = start.decode(unicode, "ignore").encode()
    start = start.removeprefix(codecs.BOM_UTF8)
    text = start.lstrip()
    try:
        return Head(name, start, {} if b"\0" in start or text.startswith(b"<") else first_object(name))
    except InputError:
        # A line without an end is no JSON.
        return Head(name, start, {})


def unknown(head: Head) -> InputError:
    """The error for a file whose beginning fits no format."""
    if b"\0" in head.start:
        content = f"not text; it begins with the bytes {head.start[:8].hex(' ')}"
    elif root := _ROOT.match(head.start):
        content = f"XML of an unknown kind: its root is <{root[1].decode('utf-8', 'replace')}>"
    else:
        lines = filter(None, map(str.strip, head.start.decode("utf-8", "replace").splitlines()))
        line = next(lines, "")
        content = f"begins with {line[:_SHOWN_OF_HEAD]!r}{' ...' if len(line) > _SHOWN_OF_HEAD else ''}"
    return InputError(
        f"{head.name}: {content}, expected papers in one of the formats of --format",
        hint="`annot corpus add --help` lists the formats; if the file is in one of them, name it with --format",
    )


def _beginning(kind: Mapping[str, str]) -> bytes:
    """Regular expression for the first 64 KiB of a kind of `unread.toml`; `.` is any byte. A kind of XML is known by
    its root, in any namespace, and the text after it."""
    if root := kind.get("root", "").encode():
        return PROLOG + rb"<(?:\w+:)?(?:" + root + rb")[\s>](?=.*" + kind.get("contains", "").encode() + rb")"
    return kind.get("begins", "").encode()


_KINDS = packaged_table("unread.toml")
UNREAD = {
    kind["name"]: (_beginning(kind), _KINDS["remedies"].get(kind["remedy"], kind["remedy"])) for kind in _KINDS["kinds"]
}
"""Known kinds of files that are not read: their beginning, and the remedy, by name."""


class UnreadError(InputError):
    """Raised for a file of a known kind that cannot be read; the hint gives the remedy."""


def refuse_unread(head: Head) -> None:
    """Raise UnreadError for a file that begins as one of these kinds."""
    for name, (begins, remedy) in UNREAD.items():
        if re.match(begins, head.start, re.DOTALL):
            raise UnreadError(f"{head.name}: {name}, which is not read", hint=remedy)
