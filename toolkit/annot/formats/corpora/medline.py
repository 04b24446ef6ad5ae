"""PubMed's own format, also called MEDLINE or .nbib (https://pubmed.ncbi.nlm.nih.gov/help/#pubmed-format).

    PMID- 1234567
    DP  - 1999 Mar-Apr
    TI  - A title that is longer than
          one line
    AID - 10.1000/182 [doi]

No library is needed: a tag has four columns, `- ` follows, and a line that goes on begins with six spaces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from annot.formats.corpora.cutting import Broken, Format, Head, Piece, Records, in_one_piece
from annot.formats.corpora.tagged import tagged_records

_FIRST = ("PMID-", "PMC -", "UI  -")
"""What a record begins with: in PubMed, in PubMed Central, and before 2003."""
_TAG = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}-(?: |$)")
_BEGINS = re.compile(rb"(?:^|[\r\n])PMID- *\d+ *(?:[\r\n]|$)")
_TITLES = ("TI", "BTI", "TT", "CTI")
_ABSTRACTS = ("AB", "OAB")
_OF_OTHERS = re.compile(r"\A(?:AAMC|AIDS|KIE|NASA|PIP|Publisher|plain-language-summary):\s*", re.IGNORECASE)
"""The kind of text in an `OAB`: whose abstract it is."""
_NO_ABSTRACT = re.compile(r"abstract available from the publisher\.?", re.IGNORECASE)
_DATES = ("DP", "DEP", "EDAT")
_YEAR = re.compile(r"(?:1[4-9]|20)\d\d")
_DOI = re.compile(r"(\S+)\s*\[doi\]", re.IGNORECASE)
_READ = {"PMID", "LID", "AID", "AB", "OAB", "PT", *_TITLES, *_DATES}


def begins(line: str, block: list[str]) -> bool:
    """Whether a line begins a record: after a blank line, or with a second PMID if there is no blank line."""
    if not line.startswith(_FIRST):
        return False
    return not block or block[-1].isspace() or (line.startswith("PMID-") and any(map(_is_pmid, block)))


def _is_pmid(line: str) -> bool:
    return line.startswith("PMID-")


def records(piece: Piece) -> Records:
    """The values of each tag, at the line that their record begins with."""
    for number, block in tagged_records(Path(piece.path), begins, example="PMID- 12345678"):
        yield number, block if isinstance(block, Broken) else _values(block)


@lru_cache(maxsize=1_000)
def _tag(begin: str) -> str:
    """The tag of a line that begins so; "" for none."""
    found = _TAG.match(begin)
    return found[1] if found else ""


def _values(block: list[str]) -> dict[str, list[str]]:
    values: dict[str, list[list[str]]] = {}
    last: list[str] | None = None
    for line in block:
        if line[4:5] == "-" and (tag := _tag(line[:6])):
            last = [line[5:].strip()] if tag in _READ else None
            if last is not None:
                values.setdefault(tag, []).append(last)
        elif last is not None and line[:1].isspace():
            last.append(line.strip())
    return {tag: [" ".join(lines).strip() for lines in several] for tag, several in values.items()}


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """A book's title is that of its chapter, or else its own; an English title comes before the original one, and so
    does an English abstract."""
    titles, dates = ([text for tag in tags for text in record.get(tag, ()) if text] for tags in (_TITLES, _DATES))
    others = [_OF_OTHERS.sub("", text, count=1) for text in record.get("OAB", ())]
    abstracts = [text for text in (*record.get("AB", ()), *others) if text and not _NO_ABSTRACT.fullmatch(text)]
    years = [found[0] for date in dates if (found := _YEAR.search(date))]
    dois = [found[1] for text in (*record.get("LID", ()), *record.get("AID", ())) if (found := _DOI.fullmatch(text))]
    return {
        "title": titles[0] if titles else None,
        "abstract": abstracts[0] if abstracts else None,
        "year": years[0] if years else None,
        "doi": dois[0] if dois else None,
        "pmid": next(iter(record.get("PMID", ())), None),
        **({"retracted": True} if "Retracted Publication" in record.get("PT", ()) else {}),
    }


def told(head: Head) -> bool:
    """Whether a line has a PMID as PubMed prints it."""
    return _BEGINS.search(head.start) is not None and not head.record


MEDLINE = Format("medline", records=records, cut=in_one_piece, paper=paper, told=told, bibliographic=True)
