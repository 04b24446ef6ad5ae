"""RIS, the format of reference managers and databases (the specification of Reference Manager, 2001:
https://web.archive.org/web/20110930172154/http://www.refman.com/support/risformat_intro.asp), read with `rispy`.

    TY  - JOUR
    TI  - A title
    PY  - 1999/03/01/
    ER  -

What programs write differs from it and is read, too: one space after the tag, tags in small letters or indented, texts
that go on in lines without a tag, blank lines, records without `ER`, and lines between records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Broken, Format, Head, Piece, Records, in_one_piece
from annot.formats.corpora.headings import parts_of
from annot.formats.corpora.tagged import tagged_records

_BEGINS = re.compile(r"([\s\ufeff]*)(TY)(\s{1,2})-\s*[\w./ ,:()&-]{0,60}$", re.IGNORECASE)
_BEGINS_IN_BYTES = re.compile(rb"(?:^|[\r\n])[ \t]*TY[ \t]{1,2}-[\w./ ,:()&-]{0,60}(?:[\r\n]|$)", re.IGNORECASE)
_ENDS = re.compile(r"\s*ER\s{0,2}-\s*$", re.IGNORECASE)
_TAG = re.compile(r"\s*(?:([A-Z][A-Z0-9])\s\s-|(PMID) ?-(?=\s*\d))\s*")
_TAG_OF_ONE_SPACE = re.compile(r"\s*([A-Z][A-Z0-9])\s{1,2}-(?:\s+|$)")
_TAG_IN_SMALL_LETTERS = re.compile(r"\s*([a-z][a-z0-9])\s{1,2}-(?:\s+|$)")

_TITLES = ("TI", "T1", "CT", "ST")
_ABSTRACTS = ("AB", "N2")
_DATES = ("PY", "Y1", "DA")
_KEYS = ("ID", "AN", "LB")
_READ = {"TY", "BT", "DO", "M3", "L3", "N1", "UR", "DB", "C2", "PMID", *_TITLES, *_ABSTRACTS, *_DATES, *_KEYS}
_YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20)\d\d(?!\d)|\A(?:1[4-9]|20)\d\d(?=\d{4}\Z)")
_NAME = r"(10\.\d{4,9}(?:\.\d+)*/\S+)"
_DOIS = {
    "M3": re.compile(rf"(?:doi:?\s*)*{_NAME}", re.IGNORECASE),
    "L3": re.compile(rf"(?:(?:https?://)?(?:dx\.)?doi\.org/|doi:?\s*)?{_NAME}", re.IGNORECASE),
    "N1": re.compile(rf"doi:?\s*{_NAME}", re.IGNORECASE),
    "UR": re.compile(r".*?(?:doi\.org|/doi(?:/abs|/full|/pdf)?)/(10\.\d{4,9}[^\s?#]*?/[^\s?#]+?)(?=;\s*http|[\s?#]|$)"),
}
"""Where a DOI is in a record without `DO`: the whole note of other programs, or the address of the paper."""
_PMIDS = {
    "PMID": re.compile(r"(\d+)"),
    "N1": re.compile(r"PMID:?\s*(\d+)", re.IGNORECASE),
    "AN": re.compile(r"(?:PMID|MEDLINE):\s*(\d+)", re.IGNORECASE),
    "UR": re.compile(r".*?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d+)"),
}
_PMID_OF_DATABASE = {"AN": re.compile("pubmed|medline", re.IGNORECASE), "C2": re.compile("scopus", re.IGNORECASE)}
_NO_ABSTRACT = re.compile(r"\[?no abstract (?:is )?available\.?\]?", re.IGNORECASE)
"""What Scopus and others write in place of one."""
_PARAGRAPH = re.compile(r"(?<=[.!?:)\]\"”])\s*\n\s*\n\s*")


def begins(line: str, _block: list[str]) -> bool:
    """Whether a line begins a record: a type, and nothing else."""
    return _BEGINS.match(line) is not None


def records(piece: Piece) -> Records:
    """The values of each tag, at the line that their record begins with; lines of one value have line ends between
    them. Raises InputError where rispy is not installed."""
    try:
        parser = _parser()
    except ModuleNotFoundError:
        raise InputError(
            f"{piece.path}: needs rispy, which is not installed",
            hint="in the folder of annot's source: pip install '.[formats]'",
        ) from None
    for number, block in tagged_records(Path(piece.path), begins, example="TY  - JOUR"):
        yield number, block if isinstance(block, Broken) else parser.record(block)


@cache
def _parser() -> Any:
    """A parser of one record at a time. It knows how the tags of the record are written by its first one."""
    import rispy

    known = _READ | rispy.TAG_KEY_MAPPING.keys()

    class Parser(rispy.RisParser):  # type: ignore[misc]
        def __init__(self) -> None:
            names = {tag: tag for tag in _READ}
            super().__init__(mapping=names, list_tags=_READ, delimiter_tags_mapping={}, skip_unknown_tags=True)

        def record(self, block: list[str]) -> dict[str, list[str]]:
            written = _BEGINS.match(block[0])
            assert written
            self.form = _TAG if len(written[3]) == 2 else _TAG_OF_ONE_SPACE
            self.form = self.form if written[2] == "TY" else _TAG_IN_SMALL_LETTERS
            self.tag = ""
            lines = iter(["TY  - ", *block[1:], "ER  - "])
            (found,) = self.parse_lines(lines)[:1]
            return {tag: list(_whole(values)) for tag, values in found.items() if tag != "TY"} | {
                "TY": [block[0].partition("-")[2].strip()]
            }

        def parse_line(self, line: str) -> tuple[str, str]:
            """The tag and the content; of a line without a tag the last one, and its content after a line end."""
            if found := self.form.match(line):
                tag = found[found.lastindex or 0].upper()
                if self.form is not _TAG_IN_SMALL_LETTERS or tag in known:
                    self.tag = tag
                    return tag, line[found.end() :].strip()
            if _ENDS.match(line):
                return self.END_TAG, ""
            return self.tag, f"\n{line.strip()}"

    return Parser()


def _whole(values: Iterable[str]) -> Iterator[str]:
    """The values, those of lines without a tag put to the value before."""
    return iter("\0".join(values).replace("\0\n", "\n").split("\0"))


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The title of a book is `BT` in old files; a key is the reference's own id, or its number in the database."""
    books = ("BT",) if record["TY"] and record["TY"][0].upper() in ("BOOK", "UNPB") else ()
    texts = [part for text in _first(record, _ABSTRACTS) for part in _paragraphs(text.strip())]
    abstract = "\n\n".join(" ".join(text.split()) for text in dict.fromkeys(texts) if not _NO_ABSTRACT.fullmatch(text))
    parts = parts_of(abstract)
    years = [found[0] for tag in _DATES for date in record.get(tag, ()) if (found := _YEAR.search(date.strip("/ ")))]
    return {
        "title": " ".join(_one(record, (*_TITLES[:3], *books, *_TITLES[3:])).split()) or None,
        **({"sections": parts} if parts else {"abstract": abstract or None}),
        "year": years[0] if years else None,
        "doi": _one(record, ("DO",)).partition("\n")[0] or _matched(record, _DOIS).rstrip(".,;") or None,
        "pmid": _pmid(record) or None,
        "key": _one(record, _KEYS).partition("\n")[0] or None,
    }


def _paragraphs(text: str) -> list[str]:
    return _PARAGRAPH.split(text) if "\n" in text else [text]


def _first(record: Mapping[str, list[str]], tags: Iterable[str]) -> list[str]:
    """The values of the first of these tags that has a text."""
    return next((found for tag in tags if (found := [text for text in record.get(tag, ()) if text.strip()])), [])


def _one(record: Mapping[str, list[str]], tags: Iterable[str]) -> str:
    return next(iter(_first(record, tags)), "").strip()


def _matched(record: Mapping[str, list[str]], patterns: Mapping[str, re.Pattern[str]]) -> str:
    """The first match in a line of these tags; "" for none."""
    texts = ((pattern, text) for tag, pattern in patterns.items() for text in record.get(tag, ()))
    found = (pattern.match(line) for pattern, text in texts for line in text.split("\n"))
    return next((one[1] for one in found if one), "")


def _pmid(record: Mapping[str, list[str]]) -> str:
    database = " ".join(record.get("DB", ()))
    for tag, name in _PMID_OF_DATABASE.items():
        if name.search(database) and (number := _one(record, (tag,))).isdecimal():
            return number
    return _matched(record, _PMIDS)


def told(head: Head) -> bool:
    """Whether a line has the type of a reference."""
    return _BEGINS_IN_BYTES.search(head.start) is not None and not head.record


RIS = Format("ris", records=records, cut=in_one_piece, paper=paper, told=told, bibliographic=True)
