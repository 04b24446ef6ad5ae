"""The encoding of a text file, and its text: exports of libraries are not always UTF-8.

The whole file decides, once, by this rule:

1. A byte order mark, or the zeros of a text that has none: UTF-8, UTF-16 (as Excel's "Unicode text" is) or UTF-32.
2. Valid UTF-8 from beginning to end: UTF-8, ASCII among it.
3. More bytes that continue a valid UTF-8 character than broken ones: UTF-8 with broken places. A record with one is
   left out and reported (`not_utf8`).
4. Otherwise Windows-1252, with the five bytes that it does not define as in Latin-1, as browsers read both
   (https://encoding.spec.whatwg.org/#windows-1252).

Other encodings of one byte a character (Mac Roman, Windows-1250) are valid Windows-1252, too: they cannot be told from
it, and their accents come out wrong. Such a file has to be saved as UTF-8 first.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Broken
from annot.formats.input_files import LONGEST_LINE, opened, unicode_of_start

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
                broken += _broken_bytes(text)
            chunk = file.read(_CHUNK)
        cut_off = len(decoder.decode(b"", final=True))
    return UTF_8 if continuing - cut_off > broken + cut_off or not broken + cut_off else WINDOWS_1252


def _broken_bytes(text: str) -> int:
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


class _Text(io.TextIOWrapper):
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
    with opened(path) as file, _Text(file, encoding, errors=errors, newline=newline) as text:
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


def not_utf8(raw: str) -> Broken | None:
    """The fault of a record with bytes that are not UTF-8, if any."""
    if raw.isascii() or not _broken_bytes(raw):
        return None
    return Broken("not UTF-8", ("not UTF-8",), raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
