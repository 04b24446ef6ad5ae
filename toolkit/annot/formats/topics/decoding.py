"""The text of a file of topics: in the encoding that it says it has, or refused with the byte that is in another."""

from __future__ import annotations

from annot.base.errors import Faults
from annot.formats.input_files import SAVE_AS_UTF_8, UnreadEncoding, encoding_of_start
from annot.formats.topics.fields import SHOWN


def text_of(data: bytes, faults: Faults) -> str:
    """The text, in the encoding that its first bytes tell or that an XML declaration names.

    A byte of another encoding is not guessed at, as people judge what they read. Raises InputError with its place.
    """
    try:
        encoding = encoding_of_start(data)
    except UnreadEncoding as error:
        faults.add(str(error), line=1)
        faults.raise_if_any(hint=SAVE_AS_UTF_8)
        raise AssertionError from None
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before, after = data[: error.start], data[error.start : error.start + SHOWN]
        shown = before.rpartition(b"\n")[2][-SHOWN:] + after.splitlines()[0]
        faults.add(
            f"not {encoding.upper()}: byte 0x{after[0]:02X} at position {error.start}; "
            f"Windows-1252 would read {shown.decode('cp1252', 'replace').strip()!r}",
            line=before.count(b"\n") + 1,
        )
        faults.raise_if_any(hint=SAVE_AS_UTF_8)
        raise AssertionError from None
    if "\0" in text:
        faults.add("found a zero byte, expected text", line=text[: text.index("\0")].count("\n") + 1)
        faults.raise_if_any(hint=SAVE_AS_UTF_8)
    return text
