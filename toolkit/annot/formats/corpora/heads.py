"""How a file begins, and what is said of one whose beginning tells no format."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Head, Piece, json_records, opened

HEAD_BYTES = 1 << 16
_LINES = 100
"""A file of JSON Lines is told by the first of so many lines that is an object."""
_SHOWN = 40
PROLOG = rb"(?>\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)*)"
"""A regular expression of what comes before the first element of XML; it never goes back over it."""
_ROOT = re.compile(PROLOG + rb"<([^\s<>/?!]+)", re.DOTALL)


def head_of(name: str) -> Head:
    """The head of a file: its start without a byte order mark and, of UTF-16, as UTF-8."""
    with opened(Path(name)) as file:
        start = file.read(HEAD_BYTES)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        start = start.decode("utf-16", "ignore").encode()
    start = start.removeprefix(codecs.BOM_UTF8)
    text = start.lstrip()
    return Head(name, start, {} if b"\0" in start or text.startswith((b"<", b"[")) else _object_of_a_line(name))


def has_json_lines(start: bytes) -> bool:
    """Whether what begins so is JSON Lines, if it is JSON: one JSON text has line ends within its objects, or commas
    between them."""
    lines = [line for line in map(bytes.strip, start.split(b"\n")[:_LINES]) if line]
    objects = sum(line.startswith(b"{") and line != b"{" and not line.endswith(b",") for line in lines)
    return not start.lstrip().startswith(b"[") and 2 * objects >= len(lines)


def unknown(head: Head) -> InputError:
    """The error for a file whose beginning tells nothing."""
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


def _object_of_a_line(name: str) -> Mapping[str, Any]:
    try:
        records = islice(json_records(Piece(name, "", 0, None)), _LINES)
        return next((record for _, record in records if isinstance(record, dict)), {})
    except InputError:
        # A line without an end: one JSON text, or no text at all.
        return {}
