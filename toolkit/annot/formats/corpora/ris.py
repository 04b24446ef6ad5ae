"""RIS, the format of reference managers and databases (the specification of Reference Manager, 2001:
https://web.archive.org/web/20110930172154/http://www.refman.com/support/risformat_intro.asp).

    TY  - JOUR
    TI  - A title
    PY  - 1999/03/01/
    ER  -

What programs write differs from it and is read, too: one space after the tag, tags in small letters or indented, texts
that go on in lines without a tag, blank lines, records without `ER`, and lines between records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from annot.formats.corpora.cutting import Broken, Format, Head, Piece, Records, in_one_piece
from annot.formats.corpora.tagged import no_record, tagged_records

_BEGINS = re.compile(r"([\s\ufeff]*)(TY)(\s{1,2})-\s*[\w./ ,:()&-]{0,60}$", re.IGNORECASE)
_BEGINS_IN_BYTES = re.compile(rb"(?:^|[\r\n])[ \t]*TY[ \t]{1,2}-[\w./ ,:()&-]{0,60}(?:[\r\n]|$)", re.IGNORECASE)
_EXAMPLE = "TY  - JOUR"
_ENDS = re.compile(r"\s*ER\s{0,2}-\s*$", re.IGNORECASE)
_TAG = re.compile(r"\s*(?:([A-Z][A-Z0-9])\s\s-|(PMID) ?-(?=\s*\d))\s*")
_TAG_OF_ONE_SPACE = re.compile(r"\s*([A-Z][A-Z0-9])\s{1,2}-(?:\s+|$)")
_TAG_IN_SMALL_LETTERS = re.compile(r"\s*([a-z][a-z0-9])\s{1,2}-(?:\s+|$)")

_TITLES = ("TI", "T1", "CT", "ST")
_ABSTRACTS = ("AB", "N2")
_DATES = ("PY", "Y1", "DA")
_KEYS = ("ID", "AN", "LB")
_READ = {"BT", "DO", "M3", "L3", "N1", "UR", "DB", "C2", "PMID", *_TITLES, *_ABSTRACTS, *_DATES, *_KEYS}
_OTHERS = {
    *("A1", "A2", "A3", "A4", "AD", "AU", "C1", "C3", "C4", "C5", "C6", "C7", "C8", "CA", "CN", "CY", "DP", "EP", "ET"),
    *("IS", "J2", "JA", "JF", "JO", "KW", "L1", "L2", "L4", "LA", "M1", "NV", "OP", "PB", "RI", "RN", "RP", "SE", "SN"),
    *("SP", "T2", "T3", "TA", "TT", "UK", "VL", "Y2"),
}
"""Tags of the specification, EndNote and the Web of Science that are not used here."""
_YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20)\d\d(?!\d)|\A(?:1[4-9]|20)\d\d(?=\d{4}\Z)")
_NAME = r"(10\.\d{4,9}(?:\.\d+)*/\S+)"
_DOIS = {
    "M3": re.compile(rf"(?:doi:?\s*)*{_NAME}", re.IGNORECASE),
    "L3": re.compile(rf"(?:(?:https?://)?(?:dx\.)?doi\.org/|doi:?\s*)?{_NAME}", re.IGNORECASE),
    "N1": re.compile(rf"doi:?\s*{_NAME}", re.IGNORECASE),
    "UR": re.compile(r".*?(?:doi\.org|/doi(?:/abs|/full|/pdf)?)/(10\.\d{4,9}[^\s?#]*?/[^\s?#]+?)(?=;\s*http|[\s?#]|$)"),
}
"""A DOI in a record without `DO`: the whole note of other programs, or the address of the paper."""
_PMIDS = {
    "PMID": re.compile(r"(\d+)"),
    "N1": re.compile(r"PMID:?\s*(\d+)", re.IGNORECASE),
    "AN": re.compile(r"(?:PMID|MEDLINE):\s*(\d+)", re.IGNORECASE),
    "UR": re.compile(r".*?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d+)"),
}
_PMID_OF_DATABASE = {"AN": re.compile("pubmed|medline", re.IGNORECASE), "C2": re.compile("scopus", re.IGNORECASE)}
_NO_ABSTRACT = re.compile(r"\[?no abstract (?:is )?available\.?\]?", re.IGNORECASE)
"""The text that Scopus and others write in place of an abstract."""
_PARAGRAPH = re.compile(r"(?<=[.!?:)\]\"”])\s*\n\s*\n\s*")


def begins(line: str, block: list[str]) -> bool:
    """Whether a line begins a record: a type, unless the tags of its record began before it, or another tag."""
    first = line[:1]
    if (first in "Tt\ufeff" or first.isspace()) and _BEGINS.match(line):
        return any(map(_BEGINS.match, block)) or not block
    return not block and line[2:5] == "  -" and line[:2].isupper() and not ends(line)


def ends(line: str) -> bool:
    """Whether a line ends a record."""
    return _ENDS.match(line) is not None


def records(piece: Piece) -> Records:
    """The values of each tag, at the line that their record begins with; lines of one value have line ends between
    them."""
    stray: str | None = ""
    for number, block in tagged_records(Path(piece.path), begins, ends, example=_EXAMPLE):
        if record := block if isinstance(block, Broken) else _values(block):
            stray = None
            yield number, record
        elif stray == "":
            stray = block[0].strip()
    if stray:
        yield 1, no_record(stray, _EXAMPLE)


def _values(block: list[str]) -> dict[str, list[str]]:
    """The values of the tags that are read; none if there is neither a type nor a title, as in lines between records.

    The line of the type shows how the tags of the record are written.
    """
    kind = next(filter(None, map(_BEGINS.match, block)), None)
    form = _TAG_OF_ONE_SPACE if kind and len(kind[3]) == 1 else _TAG
    form = _TAG_IN_SMALL_LETTERS if kind and kind[2] != "TY" else form
    values: dict[str, list[list[str]]] = {"TY": [[kind[0].partition("-")[2].strip() if kind else ""]]}
    last: list[str] = []
    for line in block:
        # Most lines are so, and are passed over in a third of the time.
        if line[2:6] == "  - " and line[:2] in _OTHERS and form is _TAG:
            last = []
            continue
        found = form.match(line)
        tag = found[found.lastindex or 0].upper() if found else ""
        if found is None or (form is _TAG_IN_SMALL_LETTERS and tag not in _READ and tag not in _OTHERS):
            last.append(line.strip())
        else:
            last = [line[found.end() :].strip()]
            if tag in _READ:
                values.setdefault(tag, []).append(last)
    if not kind and values.keys().isdisjoint(_TITLES):
        return {}
    return {tag: ["\n".join(lines) for lines in several] for tag, several in values.items()}


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The title of a book is `BT` in old files; a key is the reference's own id, or its number in the database."""
    books = ("BT",) if record["TY"][0].upper() in ("BOOK", "UNPB") else ()
    several = [text.strip() for text in _first(record, _ABSTRACTS)]
    texts = [part for text in several for part in _paragraphs(text)]
    abstract = "\n\n".join(" ".join(text.split()) for text in dict.fromkeys(texts) if not _NO_ABSTRACT.fullmatch(text))
    dates = (date for tag in _DATES for date in record.get(tag, ()))
    years = (found[0] for date in dates if (found := _YEAR.search(date.strip("/ "))))
    return {
        "title": " ".join(_one(record, (*_TITLES[:3], *books, *_TITLES[3:])).split()) or None,
        "abstract": abstract or None,
        "year": next(years, None),
        "doi": _one(record, ("DO",)).partition("\n")[0] or _matched(record, _DOIS).rstrip(".,;") or None,
        "pmid": _pmid(record) or None,
        "key": _one(record, _KEYS).partition("\n")[0] or None,
        **({"retracted": True} if "Retracted" in _one(record, ("M3",)) else {}),
        **({"noted": [("several lines of abstract were joined", several[-1])]} if len({*several}) > 1 else {}),
    }


def _paragraphs(text: str) -> list[str]:
    return _PARAGRAPH.split(text) if "\n" in text else [text]


def _first(record: Mapping[str, list[str]], tags: Iterable[str]) -> list[str]:
    """The values of the first of these tags that has a text."""
    for tag in tags:
        if tag in record and (found := [text for text in record[tag] if text and not text.isspace()]):
            return found
    return []


def _one(record: Mapping[str, list[str]], tags: Iterable[str]) -> str:
    found = _first(record, tags)
    return found[0].strip() if found else ""


def _matched(record: Mapping[str, list[str]], patterns: Mapping[str, re.Pattern[str]]) -> str:
    """The first match in a line of these tags; "" for none."""
    for tag, pattern in patterns.items():
        for text in record.get(tag, ()):
            for line in text.split("\n"):
                if found := pattern.match(line):
                    return found[1]
    return ""


def _pmid(record: Mapping[str, list[str]]) -> str:
    database = " ".join(record.get("DB", ()))
    for tag, name in _PMID_OF_DATABASE.items() if database else ():
        if name.search(database) and (number := _one(record, (tag,))).isdecimal():
            return number
    return _matched(record, _PMIDS)


def told(head: Head) -> bool:
    """Whether a line has the type of a reference."""
    return _BEGINS_IN_BYTES.search(head.start) is not None and not head.record


RIS = Format("ris", records=records, cut=in_one_piece, paper=paper, told=told, bibliographic=True)
