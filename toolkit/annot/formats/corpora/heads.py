"""How a file begins, and the error for a file whose beginning fits no format."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Head, first_object
from annot.formats.input_files import opened, unicode_of_start

HEAD_BYTES = 1 << 16
_SHOWN = 40
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
    return Head(name, start, {} if b"\0" in start or text.startswith(b"<") else _first_object(name))


def unknown(head: Head) -> InputError:
    """The error for a file whose beginning fits no format."""
    if b"\0" in head.start:
        what = f"not text; it begins with the bytes {head.start[:8].hex(' ')}"
    elif root := _ROOT.match(head.start):
        what = f"XML of an unknown kind: its root is <{root[1].decode('utf-8', 'replace')}>"
    else:
        lines = filter(None, map(str.strip, head.start.decode("utf-8", "replace").splitlines()))
        line = next(lines, "")
        what = f"begins with {line[:_SHOWN]!r}{' ...' if len(line) > _SHOWN else ''}"
    return InputError(
        f"{head.name}: {what}, expected papers in one of the formats of --format",
        hint="`annot corpus add --help` lists the formats; if the file is in one of them, name it with --format",
    )


def _first_object(name: str) -> Mapping[str, Any]:
    try:
        return first_object(name)
    except InputError:
        # A line without an end is no JSON.
        return {}
