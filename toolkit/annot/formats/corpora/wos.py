"""Web of Science's plain text, `savedrecs.txt` or `.ciw`
(https://images.webofknowledge.com/images/help/WOS/hs_wos_fieldtags.html).

    PT J
    TI A title that is longer than
       one line
    PY 2020
    ER

A tag has two characters, a blank follows, and a line that goes on begins with three blanks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annot.formats.corpora.columns import TAGS
from annot.formats.corpora.cutting import Broken, Format, Head, Piece, Records, in_one_piece
from annot.formats.corpora.tagged import tagged_records

_BEGINS = re.compile(rb"\s*FN (?:Clarivate|Thomson|ISI)|\s*PT [A-Z]\s*\n(?:AU|CA|BA|BE|GP) ")
_READ = {*TAGS, "EA", "DT", "CR"}
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_DOI = re.compile(r"\bDOI \[?(10\.\d[^\s,\]]*)")


def records(piece: Piece) -> Records:
    """The values of each tag, at the line that their record begins with; each cited work has its own line."""
    for number, block in tagged_records(Path(piece.path), _begins, _ends, example="PT J"):
        yield number, block if isinstance(block, Broken) else _values(block)


def _begins(line: str, block: list[str]) -> bool:
    return line.startswith("PT ") and (not block or not block[-1].startswith("   "))


def _ends(line: str) -> bool:
    return line.startswith("ER") and not line[2:].strip()


def _values(block: list[str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in block:
        if line.startswith("   "):
            if last is not None:
                last.append(line.strip())
        elif line[2:3].isspace():
            last = values.setdefault(line[:2], []) if line[:2] in _READ else None
            if last is not None:
                last.append(line[3:].strip())
    return values


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The year is that of the issue, or else of early access; a cited work is known by its DOI, if it has one."""
    texts = {tag: " ".join(lines) or None for tag, lines in record.items()}
    years = (found[0] for tag in ("PY", "EA") if (found := _YEAR.search(texts.get(tag) or "")))
    return {field: texts.get(tag) for tag, field in TAGS.items()} | {
        "year": next(years, None),
        "cited": [("doi", found[1]) for line in record.get("CR", ()) if (found := _DOI.search(line))],
        **({"retracted": True} if "Retracted" in (texts.get("DT") or "") else {}),
    }


def _told(head: Head) -> bool:
    return _BEGINS.match(head.start) is not None


WOS = Format("wos", records=records, cut=in_one_piece, paper=paper, told=_told, bibliographic=True)
