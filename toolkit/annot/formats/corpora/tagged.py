"""Files of tagged lines, the lines of one record after those of another: RIS, PubMed's own format, Web of Science's,
and refer, which EndNote imports.

RIS is the format of reference managers and databases (the specification of Reference Manager, 2001:
https://web.archive.org/web/20110930172154/http://www.refman.com/support/risformat_intro.asp). What programs write
differs from it and is read, too: one space after the tag, tags in lower case or indented, texts that go on in lines
without a tag, blank lines, records without `ER`, tags before `TY`, and lines between records.

    TY  - JOUR
    TI  - A title
    PY  - 1999/03/01/
    ER  -

PubMed's own format is also called MEDLINE or .nbib (https://pubmed.ncbi.nlm.nih.gov/help/#pubmed-format). A tag has
four columns, `- ` follows, and a line that goes on begins with spaces.

    PMID- 1234567
    TI  - A title that is longer than
          one line
    AID - 10.1000/182 [doi]

Web of Science's plain text is `savedrecs.txt` or `.ciw`
(https://images.webofknowledge.com/images/help/WOS/hs_wos_fieldtags.html). A tag has two characters, a space follows,
and a line that goes on begins with three spaces.

    PT J
    TI A title that is longer than
       one line
    ER

EndNote's import format (`.enw`, `.enl`) has the tags of refer (https://man7.org/linux/man-pages/man1/refer.1.html),
with the kind of the work in `%0`, the abstract in `%X` and the DOI in `%R`. A blank line is between two records.

    %0 Journal Article
    %T A title
    %D 1999
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from annot.formats.cleaning import NO_ABSTRACT
from annot.formats.corpora.pieces import BrokenRecord, Format, Piece, Records, encoding_fault, whole_file_piece
from annot.formats.corpora.tables import FIELD_NAMES, TAGS
from annot.formats.input_files import text_of
from annot.formats.paper_records import year_in

LONGEST_RECORD = 1 << 22
"""Four million characters: more than a record with thousands of authors or cited works has."""
_SHOWN = 1_000
_E = "Ee \t"

Values = dict[str, list[str]]
"""The values of each tag that is read."""


def tagged_records(
    piece: Piece,
    *,
    begins: Callable[[str, list[str]], object],
    ends: Callable[[str], object],
    values: Callable[[list[str]], Values],
    example: str,
) -> Records:
    """The values of each record, at the line where it begins; nothing for a record without values.

    begins: whether a line begins a record, given the lines of the record that it would end; `example` is such a line.
    ends: whether a line, which begins with E or a space, is the last one of its record. Lines between records are
    passed over; a file in which no record begins is one fault.
    """
    block: list[str] = []
    first = length = read = 0
    passed = ""
    with text_of(Path(piece.path)) as lines:
        for number, line in enumerate(lines, start=1):
            complete = begins(line, block)
            if (complete and block) or (line[:1] in _E and block and ends(line)):
                if record := _record(block, length, values):
                    read += 1
                    yield first, record
                passed, block = passed or block[0][:_SHOWN].strip(), []
            elif block:
                length += len(line)
                if length <= LONGEST_RECORD:
                    block.append(line)
            elif not complete:
                passed = passed or line[:_SHOWN].strip()
            if complete:
                block, first, length = [line], number, len(line)
    if block and (record := _record(block, length, values)):
        yield first, record
    elif not read and (passed or block):
        fault = f"found no record, expected one to begin with a line such as {example!r}"
        yield 1, BrokenRecord("no record", (fault,), passed or block[0].strip())


def _record(block: list[str], length: int, values: Callable[[list[str]], Values]) -> Values | BrokenRecord:
    raw = "".join(block)
    if length > LONGEST_RECORD:
        fault = f"a record of {length} characters, expected at most {LONGEST_RECORD}"
        return BrokenRecord("too long", (fault,), raw[:_SHOWN])
    return encoding_fault(raw) or values(block)


def _lines_of(
    block: Sequence[str], tag_of: Callable[[str], str | None], *, read: Collection[str], sign: str
) -> dict[str, list[list[str]]]:
    """The values of the tags that are read, each as its lines.

    tag_of: the tag of a line, None for a line that goes on. sign: the character between a tag and its value.
    """
    values: dict[str, list[list[str]]] = {}
    value: list[str] = []
    for line in block:
        if (tag := tag_of(line)) is None:
            value.append(line.strip())
        elif tag in read:
            value = [line.partition(sign)[2].strip()]
            values.setdefault(tag, []).append(value)
        else:
            value = []
    return values


_TYPE = re.compile(r"([\s\ufeff]*)(TY)(\s{1,2})-\s*[\w./ ,:()&-]{0,60}$", re.IGNORECASE)
_TYPE_IN_BYTES = re.compile(rb"(?:^|[\r\n])[ \t]*TY[ \t]{1,2}-[\w./ ,:()&-]{0,60}(?:[\r\n]|$)", re.IGNORECASE)
_ENDS = re.compile(r"\s*ER\s{0,2}-\s*$", re.IGNORECASE)
_TAG = re.compile(r"\s*(?:([A-Z][A-Z0-9])\s\s-|(PMID) ?-(?=\s*\d))\s*")
_TAG_OF_ONE_SPACE = re.compile(r"\s*([A-Z][A-Z0-9])\s{1,2}-(?:\s+|$)")
_TAG_IN_SMALL_LETTERS = re.compile(r"\s*([a-z][a-z0-9])\s{1,2}-(?:\s+|$)")

_TITLES, _ABSTRACTS, _DATES, _KEYS, _OTHERS, _UNREAD = (tags.split() for tags in FIELD_NAMES["ris"].values())
_READ = {*_TITLES, *_ABSTRACTS, *_DATES, *_KEYS, *_OTHERS}
_KNOWN = {*_READ, *_UNREAD}
"""Tags that are read, and others of the specification, EndNote and the Web of Science."""
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
_PARAGRAPH = re.compile(r"(?<=[.!?:)\]\"”])\s*\n\s*\n\s*")


def _ris_begins(line: str, block: list[str]) -> bool:
    """Tell whether a line begins a record: a type, unless the tags of its record began before it, or another tag."""
    first = line[:1]
    if (first in "Tt\ufeff" or first.isspace()) and _TYPE.match(line):
        return any(map(_TYPE.match, block)) or not block
    return not block and line[2:5] == "  -" and line[:2].isupper() and not _ENDS.match(line)


def _ris_values(block: list[str]) -> Values:
    """The values of the tags that are read, with line ends between their lines; none if there is neither a type nor a
    title, as in lines between records.

    The line of the type shows how the tags of the record are written.
    """
    kind = next(filter(None, map(_TYPE.match, block)), None)
    form = _TAG_OF_ONE_SPACE if kind and len(kind[3]) == 1 else _TAG
    form = _TAG_IN_SMALL_LETTERS if kind and kind[2] != "TY" else form

    def tag_of(line: str) -> str | None:
        # Most lines are so, and their tags are found in a third of the time.
        if line[2:6] == "  - " and line[:2] in _KNOWN:
            return line[:2]
        match = form.match(line)
        tag = match[match.lastindex or 0].upper() if match else None
        return None if form is _TAG_IN_SMALL_LETTERS and tag not in _KNOWN else tag

    values = _lines_of(block, tag_of, read=_READ, sign="-")
    if not kind and values.keys().isdisjoint(_TITLES):
        return {}
    written = {tag: ["\n".join(lines) for lines in several] for tag, several in values.items()}
    return {"TY": [kind[0].partition("-")[2].strip() if kind else ""]} | written


def _ris_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The title of a book is `BT` in old files; a key is the reference's own id, or its number in the database."""
    books = ("BT",) if record["TY"][0].upper() in ("BOOK", "UNPB") else ()
    several = [text.strip() for text in _texts(record, _ABSTRACTS)]
    # To look behind each character of a text takes as long as all else that is done to its record.
    texts = [part for text in several for part in (_PARAGRAPH.split(text) if "\n" in text else [text])]
    abstract = "\n\n".join(" ".join(text.split()) for text in dict.fromkeys(texts) if not NO_ABSTRACT.fullmatch(text))
    return {
        "title": " ".join(_text(record, (*_TITLES[:3], *books, *_TITLES[3:])).split()) or None,
        "abstract": abstract or None,
        "year": year_in(date.strip("/ ") for tag in _DATES for date in record.get(tag, ())),
        "doi": _text(record, ("DO",)).partition("\n")[0] or _matched(record, _DOIS).rstrip(".,;") or None,
        "pmid": _pmid(record) or None,
        "key": _text(record, _KEYS).partition("\n")[0] or None,
        "language": _text(record, ("LA",)) or None,
        **({"retracted": True} if "Retracted" in _text(record, ("M3",)) else {}),
        **({"noted": [("several lines of abstract were joined", several[-1])]} if len({*several}) > 1 else {}),
    }


def _texts(record: Mapping[str, list[str]], tags: Iterable[str]) -> list[str]:
    """The values of the first of these tags that has a text."""
    values = ([text for text in record.get(tag, ()) if text and not text.isspace()] for tag in tags)
    return next(filter(None, values), [])


def _text(record: Mapping[str, list[str]], tags: Iterable[str]) -> str:
    return next(iter(_texts(record, tags)), "").strip()


def _matched(record: Mapping[str, list[str]], patterns: Mapping[str, re.Pattern[str]]) -> str:
    """The first match in a line of these tags; "" for none."""
    for tag, pattern in patterns.items():
        for line in "\n".join(record.get(tag, ())).split("\n"):
            if match := pattern.match(line):
                return match[1]
    return ""


def _pmid(record: Mapping[str, list[str]]) -> str:
    database = " ".join(record.get("DB", ()))
    for tag, name in _PMID_OF_DATABASE.items() if database else ():
        if name.search(database) and (number := _text(record, (tag,))).isdecimal():
            return number
    return _matched(record, _PMIDS)


tagged = partial(Format, cut=whole_file_piece, bibliographic=True)
"""A format of tagged lines."""
RIS = tagged(
    "ris",
    records=partial(tagged_records, begins=_ris_begins, ends=_ENDS.match, values=_ris_values, example="TY  - JOUR"),
    paper=_ris_paper,
    matches=lambda head: not head.record and _TYPE_IN_BYTES.search(head.start),
)

_FIRST = ("PMID-", "PMC -", "UI  -")
"""The beginning of a record: in PubMed, in PubMed Central, and before 2003."""
_MEDLINE_TAG = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}-(?: |$)")
_PMID_IN_BYTES = re.compile(rb"(?:^|[\r\n])PMID- *\d+ *(?:[\r\n]|$)")
_MEDLINE_TITLES = ("TI", "BTI", "TT", "CTI")
_OF_OTHERS = re.compile(r"\A(?:AAMC|AIDS|KIE|NASA|PIP|Publisher|plain-language-summary):\s*", re.IGNORECASE)
"""The kind of text in an `OAB`: whose abstract it is."""
_AT_THE_PUBLISHER = re.compile(r"abstract available from the publisher\.?", re.IGNORECASE)
_MEDLINE_DATES = ("DP", "DEP", "EDAT")
_MARKED_DOI = re.compile(r"(\S+)\s*\[doi\]", re.IGNORECASE)
_MEDLINE_READ = {"PMID", "LID", "AID", "AB", "OAB", "OABL", "LA", "PT", *_MEDLINE_TITLES, *_MEDLINE_DATES}


def _medline_begins(line: str, block: list[str]) -> bool:
    """Tell whether a line begins a record: after a blank line, or with a second PMID if there is no blank line."""
    if not line.startswith(_FIRST):
        return False
    if not block or block[-1].isspace():
        return True
    return line.startswith("PMID-") and any(earlier.startswith("PMID-") for earlier in block)


@lru_cache(maxsize=1_000)
def _medline_tag_of(begin: str) -> str | None:
    """The tag of a line that begins so; "" for a line without one that does not go on."""
    match = _MEDLINE_TAG.match(begin) if begin[4:5] == "-" else None
    return match[1] if match else None if begin[:1].isspace() else ""


def _medline_values(block: list[str]) -> Values:
    values = _lines_of(block, lambda line: _medline_tag_of(line[:6]), read=_MEDLINE_READ, sign="-")
    return {tag: [" ".join(lines).strip() for lines in several] for tag, several in values.items()}


def _medline_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """A book's title is that of its chapter, or else its own; an English title comes before the original one, and so
    does an English abstract."""
    titles, dates, places = (
        [text for tag in tags for text in record.get(tag, ()) if text]
        for tags in (_MEDLINE_TITLES, _MEDLINE_DATES, ("LID", "AID"))
    )
    other_abstracts = (_OF_OTHERS.sub("", text, count=1) for text in record.get("OAB", ()))
    abstracts = (
        text for text in (*record.get("AB", ()), *other_abstracts) if text and not _AT_THE_PUBLISHER.fullmatch(text)
    )
    return {
        "title": next(iter(titles), None),
        "abstract": next(abstracts, None),
        "year": year_in(dates),
        "doi": next((match[1] for text in places if (match := _MARKED_DOI.fullmatch(text))), None),
        "pmid": next(iter(record.get("PMID", ())), None),
        "language": next(iter(record.get("LA" if record.get("AB") else "OABL", ())), None),
        **({"retracted": True} if "Retracted Publication" in record.get("PT", ()) else {}),
    }


MEDLINE = tagged(
    "medline",
    records=partial(
        tagged_records,
        begins=_medline_begins,
        ends=lambda _: False,
        values=_medline_values,
        example="PMID- 12345678",
    ),
    paper=_medline_paper,
    matches=lambda head: not head.record and _PMID_IN_BYTES.search(head.start),
)

_WOS_IN_BYTES = re.compile(rb"\s*FN (?:Clarivate|Thomson|ISI)|\s*PT [A-Z]\s*\n(?:AU|CA|BA|BE|GP) ")
_CITED_DOI = re.compile(r"\bDOI \[?(10\.\d[^\s,\]]*)")


def _wos_tag(line: str) -> str | None:
    return None if line.startswith("   ") else line[:2] if line[2:3].isspace() else ""


def _wos_values(block: list[str]) -> Values:
    """The lines of each tag that is read; each cited work has its own line."""
    values = _lines_of(block, _wos_tag, read={*TAGS, "EA", "DT", "CR"}, sign=" ")
    return {tag: [line for lines in several for line in lines] for tag, several in values.items()}


def _wos_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The year is that of the issue, or else of early access; a cited work is known by its DOI, if it has one."""
    texts = {tag: " ".join(lines) or None for tag, lines in record.items()}
    return {field: texts.get(tag) for tag, field in TAGS.items()} | {
        "year": year_in(texts.get(tag) or "" for tag in ("PY", "EA")),
        "cited": [("doi", match[1]) for line in record.get("CR", ()) if (match := _CITED_DOI.search(line))],
        **({"retracted": True} if "Retracted" in (texts.get("DT") or "") else {}),
    }


WOS = tagged(
    "wos",
    records=partial(
        tagged_records,
        begins=lambda line, block: line.startswith("PT ") and (not block or not block[-1].startswith("   ")),
        ends=lambda line: line.startswith("ER") and not line[2:].strip(),
        values=_wos_values,
        example="PT J",
    ),
    paper=_wos_paper,
    matches=lambda head: _WOS_IN_BYTES.match(head.start),
)

_REFER_IN_BYTES = re.compile(rb"\s*%[0A-Z] \S(?=.*\n%[A-Z] )", re.DOTALL)
_REFER_READ = {f"%{name}" for name in "TXDRUMFGW8~"}


def _refer_values(block: list[str]) -> Values:
    """The values of the tags that are read, each on one line."""
    values = _lines_of(
        block, lambda line: line[:2] if line[:1] == "%" and line[2:3] in " \n" else None, read=_REFER_READ, sign=" "
    )
    return {tag: [" ".join(filter(None, lines)) for lines in several] for tag, several in values.items()}


def _refer_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The accession number is that of the database which the record is from."""
    database, number = (" ".join(record.get(tag, ())) for tag in ("%~", "%M"))
    is_pmid = number.isdecimal() and _PMID_OF_DATABASE["AN"].search(f"{database} {_text(record, ('%W',))}")
    return {
        "title": _text(record, ("%T",)) or None,
        "abstract": " ".join(_texts(record, ("%X",))) or None,
        "year": year_in(date for tag in ("%D", "%8") for date in record.get(tag, ())),
        "doi": _text(record, ("%R",)) or _matched({"UR": record.get("%U", [])}, _DOIS) or None,
        "pmid": number if is_pmid else None,
        "key": _text(record, ("%F", "%M")) or None,
        "language": _text(record, ("%G",)) or None,
    }


REFER = tagged(
    "refer",
    records=partial(
        tagged_records,
        begins=lambda line, block: line[:3] in ("%0 ", "%T ") and not (block and block[-1].strip()),
        ends=lambda _: False,
        values=_refer_values,
        example="%0 Journal Article",
    ),
    paper=_refer_paper,
    matches=lambda head: not head.record and _REFER_IN_BYTES.match(head.start),
)
