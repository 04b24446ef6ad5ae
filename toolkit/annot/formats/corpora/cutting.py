"""What an importer is (`Form`): the pieces into which the files of a corpus are cut, and the records of one piece.

A piece is small enough to be one shard of work, and says all that another process needs to read it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic_core import from_json

from annot.base.errors import InputError, json_problem
from annot.formats.corpora.json_texts import DECODER, NotJson, entries, is_json_text
from annot.formats.input_files import LONGEST_LINE, broken_bytes, is_gzip, opened

PIECE_BYTES = 1 << 24
"""16 MiB: some 14,000 abstracts with their sentences."""
_FIRST = 100
"""The first readable record among so many decides the format of a file."""
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


class Broken(NamedTuple):
    """A record that cannot be read."""

    reason: str
    """The reason, by which such records are counted."""
    faults: tuple[str, ...]
    record: str
    """The text in the file."""


def not_utf8(raw: str) -> Broken | None:
    """The fault of a record with bytes that are not UTF-8, if any. raw: as `input_files.text_of` has it."""
    if raw.isascii() or not broken_bytes(raw):
        return None
    return Broken("not UTF-8", ("not UTF-8",), raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


Records = Iterator[tuple[int, dict[str, Any] | Broken | None]]
"""Records with their places in the piece, from 1: lines, rows or entries; None is a blank line."""


def cut_lines(name: str) -> list[tuple[int, int | None]]:
    """Where the pieces of a file of lines begin and end; a compressed file is one piece, and one of JSON texts."""
    path = Path(name)
    size = path.stat().st_size
    if size <= PIECE_BYTES or is_gzip(path) or has_json_texts(path):
        return [(0, None)]
    starts = range(0, size, PIECE_BYTES)
    return [(start, min(start + PIECE_BYTES, size)) for start in starts]


def json_records(piece: Piece) -> Records:
    """The JSON objects of the piece, one a line or in one text over all lines; NaN and infinity are read as null."""
    whole = piece.start == 0 and piece.stop is None
    return _of_text(piece) if whole and has_json_texts(Path(piece.path)) else _of_lines(piece)


def first_object(name: str) -> Mapping[str, Any]:
    """The first JSON object of a file, of its first hundred lines or entries; empty if there is none."""
    first = itertools.islice(json_records(Piece(name, "", 0, None)), _FIRST)
    return next((record for _, record in first if isinstance(record, dict)), {})


def has_json_texts(path: Path) -> bool:
    """Whether the file has JSON texts over several lines, or of several records, if it is JSON."""
    with opened(path) as file:
        return is_json_text(file, LONGEST_LINE)


def _of_text(piece: Piece) -> Records:
    number = 0
    with opened(Path(piece.path)) as file:
        try:
            for number, (value, raw) in enumerate(entries(file, LONGEST_LINE), start=1):
                yield number, _object(value, raw, "a JSON object")
        except NotJson as error:
            yield number + 1, Broken("not valid JSON", (str(error),), error.text)
        except UnicodeDecodeError as error:
            yield number + 1, _not_utf_8(error)


def _of_lines(piece: Piece) -> Records:
    for number, line in read_lines(piece):
        if not line or line.isspace():
            yield number, None
            continue
        try:
            # In half the time that Python's own takes, which reads what this does not, and says what is wrong.
            record = from_json(line, allow_inf_nan=False)
        except ValueError:
            record = None
        yield number, record if isinstance(record, dict) else _of_line(line)


def _of_line(line: bytes) -> dict[str, Any] | Broken:
    try:
        text = line.decode("utf-8")
        return _object(DECODER.decode(text.rstrip("\r\n")), text, "one JSON object per line")
    except UnicodeDecodeError as error:
        return _not_utf_8(error)
    except (ValueError, RecursionError) as error:
        return Broken("not valid JSON", (json_problem(error),), line.decode("utf-8"))


def _object(value: Any, raw: str, expected: str) -> dict[str, Any] | Broken:
    if not raw.isascii():
        try:
            raw.encode()
        except UnicodeEncodeError:
            return Broken("not UTF-8", ("not UTF-8",), raw.encode(errors="surrogateescape").decode(errors="replace"))
    if isinstance(value, dict):
        return value
    return Broken("not a JSON object", (f"found {json.dumps(value)[:40]}, expected {expected}",), raw)


def _not_utf_8(error: UnicodeDecodeError) -> Broken:
    fault = f"not UTF-8: {error.reason} (bytes {error.object[error.start : error.end]!r})"
    return Broken("not UTF-8", (fault,), error.object.decode("utf-8", "replace"))


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
    """How a file begins, which decides its format."""

    name: str
    start: bytes
    """Its first 64 KiB, decompressed."""
    record: Mapping[str, Any]
    """The first JSON object in it; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of papers, JSON unless it says otherwise: an object a line, or all in one text."""

    name: str
    paper: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda record: record
    """A record in the fields that `paper_lines.read_papers` knows."""
    fits: Callable[[Mapping[str, Any]], bool] = lambda _record: False
    """Whether a JSON record, the first of a file, is of this format."""
    records: Callable[[Piece], Records] = json_records
    cut: Callable[[str], list[tuple[int, int | None]]] = cut_lines
    told: Callable[[Head], object] = lambda _head: False
    """Whether a file that begins so is of this format, if it is not JSON."""
    endings: tuple[str, ...] = ()
    """Of the names of files, compressed or not, that are of this format if their beginning tells no other."""
    bibliographic: bool = False
    """Whether its records are those of a library or a database, whose ids there are several of: `paper` gives `doi`,
    `pmid`, `openalex` and `key` in place of `paper_id`. A record for which it gives `paper_id` (a row of a table with
    ids of its own) is none."""
    published: bool = False
    """Whether its texts are those of a published collection, which stay as they are."""
    sheet: Callable[[str], str] = lambda _name: ""
    """The name of the sheet that is read of a workbook with several; "" for any other file."""
    brings: Callable[[str], Path | None] = lambda _name: None
    """The folder whose files belong to the records of this one, and are not read by themselves."""
    by_name: bool = False
    """Whether it reads datasets by name instead of files."""


def in_one_piece(_name: str) -> list[tuple[int, int | None]]:
    """How to cut a file that has to be read from its beginning."""
    return [(0, None)]
