"""The text of a file of topics: in the encoding that it says it has, or refused with the byte that is in another."""

from __future__ import annotations

import codecs
import re

from annot.base.errors import Faults
from annot.formats.topics.fields import SHOWN

_DECLARED = re.compile(rb"""\s*<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_KNOWN = re.compile(r"utf-8|utf-16|ascii|iso8859-\d+|cp125\d")


def text_of(data: bytes, faults: Faults) -> str:
    """The text: UTF-8 with or without byte order mark, UTF-16 with one, or what an XML declaration names.

    A byte of another encoding is not guessed at, as people judge what they read. Raises InputError with its place.
    """
    encoding = _encoding(data, faults)
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
        faults.raise_if_any(hint="save the file as UTF-8")
        raise AssertionError from None
    if "\0" in text:
        faults.add("found a zero byte, expected text", line=text[: text.index("\0")].count("\n") + 1)
        faults.raise_if_any(hint="save the file as UTF-8")
    return text


def _encoding(data: bytes, faults: Faults) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if not (declared := _DECLARED.match(data)):
        return "utf-8"
    name = declared[1].decode()
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = ""
    if not _KNOWN.fullmatch(known):
        faults.add(f"declares the encoding {name!r}, expected UTF-8", line=1)
        faults.raise_if_any(hint="save the file as UTF-8")
    # UTF-16 is told by its mark; without one, what was readable so far is no UTF-16.
    return "utf-8" if known == "utf-16" else known
