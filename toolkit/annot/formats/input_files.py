"""The one door for files that people give: their bytes, unpacked under a limit, and the encoding that these tell.

A reader of a format opens no file itself. So a compressed file is read wherever a plain one is, and no reader unpacks
more than text can be.

Exports of libraries are not always UTF-8. The whole file decides their encoding, once, by this rule:

1. A byte order mark, or the zeros of a text that has none: UTF-8, UTF-16 (as Excel's "Unicode text" is) or UTF-32.
2. Valid UTF-8 from beginning to end: UTF-8, ASCII among it.
3. More bytes that continue a valid UTF-8 character than broken ones: UTF-8 with broken places. A record with one is
   left out and reported (`corpora.cutting.not_utf8`).
4. Otherwise Windows-1252, with the five bytes that it does not define as in Latin-1, as browsers read both
   (https://encoding.spec.whatwg.org/#windows-1252).

Other encodings of one byte a character (Mac Roman, Windows-1250) are valid Windows-1252, too: they cannot be told from
it, and their accents come out wrong. Such a file has to be saved as UTF-8 first.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from annot.base.errors import InputError

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


from functools import lru_cache
from typing import TextIO

LONGEST_LINE = 1 << 25
"""32 MiB: the longest full texts have a tenth of that."""
UNPACKED = 100
"""A compressed file holds at most so many times its size, and `LONGEST_LINE`: text has about ten times."""
NOT_WHOLE = "the file may be incomplete; download it again"
_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
_XZ_MEMORY = 1 << 28
"""Bytes that unpacking xz may take besides its result; its highest level of compression takes a quarter of them."""


def is_gzip(path: Path) -> bool:
    """Whether the file is compressed, whatever its name."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP


class _Unpacking(io.RawIOBase):
    """The content of a compressed file, up to `UNPACKED` times its size."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._left = most_of(path.stat().st_size)
        self._file = gzip.open(path)  # noqa: SIM115 - closed with this one

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._file.readinto(buffer)
        self._left -= n
        if self._left < 0:
            raise too_much(self.name)
        return n

    def close(self) -> None:
        self._file.close()
        super().close()


def most_of(packed: int) -> int:
    """The most bytes that so many compressed bytes are unpacked to."""
    return UNPACKED * packed + LONGEST_LINE


def too_much(name: str, *, expected: str = "text") -> InputError:
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


def parquet_file(path: Path) -> ParquetFile:
    """The Parquet file, open. Raises InputError if it is none, or unpacks to too much."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: not a Parquet file: {error}") from None
    groups = range(file.metadata.num_row_groups)
    if sum(file.metadata.row_group(at).total_byte_size for at in groups) > most_of(path.stat().st_size):
        raise too_much(str(path), expected="a table")
    return file


def content_of(path: Path, *, expected: str, most: int | None = None) -> bytes:
    """The bytes of a file that is read whole, decompressed.

    expected: what it was to hold, in words. Raises InputError if there is no file, and for more than `most` bytes.
    """
    if not path.is_file():
        found = "a folder" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {found}, expected {expected}")
    with opened(path) as file:
        data = file.read() if most is None else file.read(most + 1)
    if most is not None and len(data) > most:
        raise InputError(f"{path}: more than {most >> 20} MiB, expected {expected}", hint="is it the right file?")
    return data


def without_xz(data: bytes, *, name: str, expected: str) -> bytes:
    """The bytes, decompressed if they are xz. Raises InputError if they unpack to too much, or not to their end."""
    if not data.startswith(_XZ):
        return data
    unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)
    try:
        content = unpacking.decompress(data, most_of(len(data)) + 1)
    except lzma.LZMAError as error:
        raise InputError(f"{name}: cannot be decompressed: {error}", hint=NOT_WHOLE) from None
    if len(content) > most_of(len(data)):
        raise too_much(name, expected=expected)
    if not unpacking.eof:
        raise InputError(f"{name}: cannot be decompressed: it ends too early", hint=NOT_WHOLE)
    return content


SAVE_AS_UTF_8 = "save the file as UTF-8"


class UnreadEncoding(ValueError):
    """Raised for a declared encoding that is not read; the message names it."""


_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'<>]*)["']""")
_LETTERS = bytes(range(0x20, 0x7E)).replace(b"\\", b"").replace(b"~", b"") + b"\t\n\r"
"""What is in the tags of XML, and is the same in every encoding that a declaration can name. A backslash is not, in
Japan and Korea: Shift_JIS has a yen sign there."""
_NO_TEXT = {"idna", "unicode_escape", "raw_unicode_escape"}
"""What Python has among its encodings, and no file of text is in."""
_WIDER = {"gb2312": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
"""What files hold that declare the first: browsers read the second, too (https://encoding.spec.whatwg.org/#names-and-labels)."""


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
    """The same, or the encoding that an XML declaration names.

    Raises UnreadEncoding if that is not known, or if no declaration can be in it.
    """
    unicode = unicode_of_start(start)
    declared = _DECLARED.match(start) if unicode == "utf-8" else None
    if declared is None:
        return unicode
    label = declared[1].decode("ascii", "replace")
    try:
        known = codecs.lookup(label).name
        # Whoever could read the declaration has read no UTF-16, whatever it says.
        if known.startswith(("utf-16", "utf-32")):
            return "utf-8"
        if known.replace("-", "_") not in _NO_TEXT and _LETTERS.decode(known) == _LETTERS.decode("ascii"):
            return _WIDER.get(known, known)
    except (LookupError, ValueError):
        pass
    raise UnreadEncoding(f"declares the encoding {label!r}, expected UTF-8 or another encoding of text")


UTF_8, WINDOWS_1252 = "utf-8", "windows-1252"
_CHUNK, _AT_ONCE = 1 << 18, 1 << 14


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
    """How many bytes were not UTF-8 in a text decoded with `surrogateescape`."""
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
            raise _endless(self)
        return line


def _endless(text: TextIO) -> InputError:
    return InputError(
        f"{text.name}: a line of more than {LONGEST_LINE} characters, expected text in lines",
        hint="is the file in another format?",
    )


@contextmanager
def text_of(path: Path, newline: str | None = None) -> Iterator[TextIO]:
    """The text of a file in its encoding, decompressed; line ends as `open` has them by `newline`.

    A byte that is not UTF-8 in a file that is comes as a lone surrogate: `not_utf8` finds it.
    """
    encoding = encoding_of(path)
    encoding, errors = _DECODED.get(encoding, (encoding, "replace"))
    with opened(path) as file, _TextInLines(file, encoding, errors=errors, newline=newline) as text:
        yield text


def lines_in(text: TextIO) -> Iterator[str]:
    """The lines of a text of `text_of` with one kind of line end, in half the time that reading each of them takes."""
    rest = ""
    while block := text.read(max(_AT_ONCE, len(rest))):
        lines = (rest + block).split("\n")
        if len(lines[0]) > LONGEST_LINE:
            raise _endless(text)
        # The last line may go on in the next block.
        rest = lines.pop()
        for line in lines:
            yield f"{line}\n"
    if rest:
        yield rest
