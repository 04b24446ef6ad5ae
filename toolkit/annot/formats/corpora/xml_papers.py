"""The one reader of XML, and papers in the XML of PubMed, of EndNote and of the ACL Anthology."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from annot.base.errors import InputError
from annot.formats.cleaning import math_text
from annot.formats.corpora.pieces import PROLOG, BrokenRecord, Format, Piece, Records, whole_file_piece
from annot.formats.input_files import LONGEST_LINE, SAVE_AS_UTF_8, UnreadEncoding, encoding_of_start, opened
from annot.formats.paper_records import year_in

# ----------------------------------------------------------------------------------------------------------------------
# The one reader of XML: its text in the encoding that it declares, and the records of a large file one after another.
#
# The parser meets text that is decoded. No entity is expanded, and nothing outside the file is read.
# ----------------------------------------------------------------------------------------------------------------------


_AT_ONCE = 1 << 16
_START = 1 << 10
"""Bytes in which an XML declaration ends."""


class NotXml(ValueError):
    """Raised for a file that is not in its own encoding."""


XmlRecord = tuple[Element, tuple[Element, ...]]
"""An element that is a record, and the elements that it is in, the root first."""


def xml_records(path: Path, *, depth: int) -> Iterator[XmlRecord | BrokenRecord]:
    """The elements at this depth, in order; each is removed from the tree after it was read.

    A file that is not well-formed ends where the fault is, with one broken record. Raises InputError if it declares
    entities, or has a record larger than `LONGEST_LINE`.
    """
    name = str(path)
    with opened(path) as source:
        refuse_entities(source, name)
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    around: list[Element] = []
    since_last = 0
    try:
        with opened(path) as source:
            for text in _texts(source, name):
                parser.feed(text)
                since_last += len(text)
                for event, element in parser.read_events():
                    if event == "start":
                        around.append(element)
                        continue
                    around.pop()
                    if len(around) == depth:
                        since_last = 0
                        yield element, tuple(around)
                    if around and len(around) <= depth:
                        around[-1].remove(element)
                if since_last > LONGEST_LINE:
                    fault = f"{name}: a record of more than {LONGEST_LINE} bytes"
                    raise InputError(fault, hint="is it the right file?")
        parser.close()
    except (ElementTree.ParseError, NotXml) as error:
        yield BrokenRecord("not valid XML", (f"not valid XML: {error}; reading ended there",), "")


def _texts(source: IO[bytes], name: str) -> Iterator[str]:
    """The text of XML, part by part. Raises InputError if it declares an encoding that is not read, and NotXml at a
    byte that is not in the encoding, after the text before it."""
    start = source.read(_START)
    try:
        encoding = encoding_of_start(start)
    except UnreadEncoding as error:
        raise InputError(f"{name}: {error}", hint=SAVE_AS_UTF_8) from None
    decoder, place = codecs.getincrementaldecoder(encoding)(), 0
    for piece in chain([start], iter(lambda: source.read(_AT_ONCE), b""), [b""]):
        try:
            yield decoder.decode(piece, not piece)
        except UnicodeDecodeError as error:
            # The decoder holds back the beginning of a character that goes on in the next piece.
            offset = error.start - len(error.object) + len(piece)
            with suppress(UnicodeError):
                yield decoder.decode(piece[: max(offset, 0)])
            byte = error.object[error.start]
            raise NotXml(f"not {error.encoding.upper()}: byte 0x{byte:02X} at position {place + offset}") from None
        place += len(piece)


def marked_text(element: Element) -> str:
    """Text of an element with all its parts. Superscripts and subscripts keep their tags, and formulas are marked, for
    `cleaning.clean`; an element nested too deeply has its text alone."""
    try:
        return _marked(element)
    except RecursionError:
        return "".join(element.itertext())


def _marked(element: Element) -> str:
    if not len(element):
        return element.text or ""
    parts = [element.text or ""]
    for child in element:
        name = child.tag.rpartition("}")[2]
        text = math_text(child) if name == "math" else _marked(child)
        text = f"${text}$" if name == "tex-math" else f"<{name}>{text}</{name}>" if name in ("sup", "sub") else text
        parts += (text, child.tail or "")
    return "".join(parts)


def refuse_entities(file: IO[bytes], name: str) -> None:
    """Raise InputError if the XML declares entities of its own: a short text can expand to a long one by them.

    Only what comes before the first element can declare any.
    """
    elements: list[str] = []

    def refuse(entity: str, *_: object) -> None:
        raise InputError(
            f"{name}: declares the entity {entity!r}, expected XML without entities",
            hint="remove the entity declarations",
        )

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = lambda element, _: elements.append(element)
    with suppress(NotXml, expat.ExpatError):
        for text in _texts(file, name):
            parser.Parse(text)
            if elements:
                return


# ----------------------------------------------------------------------------------------------------------------------
# Papers in XML: PubMed's, EndNote's and the ACL Anthology's.
#
# PubMed's is read as its search, E-utilities' `efetch` and the yearly baseline give it: articles and books
# (https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/190101/).
#
# Its abstracts keep their sections, with the heading and NLM's category of each. The Anthology has one file a
# collection (https://github.com/acl-org/acl-anthology, `data/xml`). EndNote's XML has no page of its own; it is read as
# EndNote, Zotero and Mendeley write it. EndNote puts the text of each field into elements `style`.
# ----------------------------------------------------------------------------------------------------------------------


_SETS = ("PubmedArticleSet", "PubmedBookArticleSet")
_ROOT = re.compile(rf"<(?:{'|'.join(_SETS)})[\s>]".encode())
_RECORDS = ("PubmedArticle", "PubmedBookArticle")
_NO_TITLE = ("", "[Not Available].", "[In Process Citation]")
"""Marks of a title that has not been translated, or not entered yet."""
_NO_HEADING = ("UNLABELLED", "UNASSIGNED")
_RETRACTED = "Retracted Publication"
_KINDS = {"pubmed": "pmid", "doi": "doi"}


def records(piece: Piece) -> Records:
    """Articles and books of the file; its list of deleted ones is left out."""
    for number, record in enumerate(xml_records(Path(piece.path), depth=1), start=1):
        if isinstance(record, BrokenRecord):
            yield number, record
            return
        element, (root,) = record
        if root.tag not in _SETS:
            fault = f"found the XML of {root.tag!r}, expected {' or '.join(_SETS)}"
            yield number, BrokenRecord("not the XML of PubMed", (fault,), "")
            return
        yield number, _paper(element) if element.tag in _RECORDS else None


def _paper(record: Element) -> dict[str, Any]:
    """The fields of an article or a book."""

    def part(path: str) -> Element:
        found = record.find(path)
        return Element("none") if found is None else found

    if record.find("BookDocument") is not None:
        numbered = article = part("BookDocument")
        data = part("PubmedBookData")
    else:
        numbered, article, data = part("MedlineCitation"), part("MedlineCitation/Article"), part("PubmedData")
    parts = article.findall("Abstract/AbstractText")
    has_text = any(text.strip() for part in parts for text in part.itertext())
    abstracts = [] if has_text else numbered.findall("OtherAbstract")
    abstracts.sort(key=lambda other: other.get("Language", "eng") != "eng")
    kinds = article if (listed := article.find("PublicationTypeList")) is None else listed
    return {
        "title": _title(article),
        **_abstract(abstracts[0].findall("AbstractText") if abstracts else parts),
        "year": year_in(" ".join(date.itertext()) for date in _dates(article, data) if date is not None),
        "pmid": numbered.findtext("PMID"),
        "language": abstracts[0].get("Language") if abstracts else article.findtext("Language"),
        "doi": _doi(numbered, article, data),
        "cited": list(_cited(numbered, data)),
        **({"retracted": True} if _RETRACTED in map(_text, kinds.iterfind("PublicationType")) else {}),
    }


def _text(element: Element | None) -> str:
    """The text of an element and of all tags in it."""
    return "" if element is None else marked_text(element).strip()


def _title(article: Element) -> str | None:
    """The title, of a chapter before that of its book; the one in the language of the article for want of English."""
    named = (_text(article.find(path)) for path in ("ArticleTitle", "VernacularTitle", "Book/BookTitle"))
    return next((title for title in named if title not in _NO_TITLE), None)


def _abstract(parts: Any) -> dict[str, Any]:
    """`sections` if a part has a heading or a category, else `abstract`."""
    sections = [(*(_heading(part, name) for name in ("Label", "NlmCategory")), _text(part)) for part in parts]
    if any(heading or category for heading, category, _ in sections):
        return {"sections": sections}
    return {"abstract": "\n\n".join(text for _, _, text in sections if text) or None}


def _heading(part: Element, name: str) -> str:
    heading = part.get(name, "").strip()
    return "" if heading.upper() in _NO_HEADING else heading


def _dates(article: Element, data: Element) -> Iterator[Element | None]:
    """The dates of the issue or the book, of the electronic publication, and of the entry in PubMed."""
    yield from map(article.find, ("Journal/JournalIssue/PubDate", "Book/PubDate", "ArticleDate", "ContributionDate"))
    yield data.find("History/PubMedPubDate[@PubStatus='pubmed']")


def _doi(record: Element, article: Element, data: Element) -> str | None:
    """The ids in the record's own list, not in a reference's."""
    for ids in (data.find("ArticleIdList"), record.find("ArticleIdList")):
        for article_id in () if ids is None else ids:
            if article_id.get("IdType") == "doi" and _text(article_id):
                return _text(article_id)
    places = article.findall("ELocationID[@EIdType='doi']")
    return next((_text(place) for place in places if place.get("ValidYN") != "N"), None)


def _cited(record: Element, data: Element) -> Iterator[tuple[tuple[str, str], ...]]:
    """The ids of each work that the lists of references name, which may be in one another."""
    for part in (data, record):
        for references in part.findall("ReferenceList"):
            for reference in references.iter("Reference"):
                ids = [(_KINDS.get(element.get("IdType", "")), element.text) for element in reference.iter("ArticleId")]
                if typed_ids := tuple((kind, text.strip()) for kind, text in ids if kind and text):
                    yield typed_ids


PUBMED = Format(
    "pubmed", records=records, cut=whole_file_piece, matches=lambda head: _ROOT.search(head.start), bibliographic=True
)


_ENDNOTE_FIELDS = {
    "title": "titles/title",
    "abstract": "abstract",
    "doi": "electronic-resource-num",
    "language": "language",
    "key": "rec-number",
}
_RAISED = {"superscript": "sup", "subscript": "sub"}


def endnote_records(piece: Piece) -> Records:
    """All records of the file, of any kind."""
    for number, record in enumerate(xml_records(Path(piece.path), depth=2), start=1):
        yield number, record if isinstance(record, BrokenRecord) else _endnote_paper(record[0])


def _endnote_paper(record: Element) -> dict[str, Any]:
    """The accession number is that of the database which the record is from."""
    for style in record.iter("style"):
        style.tag = _RAISED.get(style.get("face", ""), "style")
    database = _text(record.find("remote-database-name"))
    number = _text(record.find("accession-num"))
    dates = (_text(record.find(path)) for path in ("dates/year", "dates/pub-dates/date"))
    return {field: _text(record.find(path)) or None for field, path in _ENDNOTE_FIELDS.items()} | {
        "year": year_in(dates),
        "pmid": number if number.isdecimal() and _MEDLINE_NAMES.search(database) else None,
    }


_MEDLINE_NAMES = re.compile("pubmed|medline", re.IGNORECASE)
_ENDNOTE_ROOT = re.compile(PROLOG + rb"<xml>\s*<records>\s*<record>", re.DOTALL)
ENDNOTE = Format(
    "endnote",
    records=endnote_records,
    cut=whole_file_piece,
    matches=lambda head: _ENDNOTE_ROOT.match(head.start),
    bibliographic=True,
)


def anthology_id(collection: str, volume: str, number: str) -> str:
    """The id of a paper: `2020.acl-main.12` since 2020, before that eight characters.

    Collections W, C69, and D19 from volume 5 on, have two digits for the volume, the others one
    (https://aclanthology.org/info/ids).

    >>> anthology_id("2020.acl", "main", "12"), anthology_id("P18", "1", "7"), anthology_id("W18", "5", "7")
    ('2020.acl-main.12', 'P18-1007', 'W18-0507')
    """
    if collection[:1].isdigit():
        return f"{collection}-{volume}.{number}"
    two = collection.startswith("W") or collection == "C69" or (collection == "D19" and int(volume) >= 5)
    return f"{collection}-{int(volume):02}{int(number):02}" if two else f"{collection}-{int(volume)}{int(number):03}"


def acl_records(piece: Piece) -> Records:
    """The papers of the file, without front matter; the year is that of their volume."""
    number, year = 0, None
    for record in xml_records(Path(piece.path), depth=2):
        if isinstance(record, BrokenRecord):
            yield number + 1, record
            continue
        element, around = record
        if element.tag == "meta":
            year = element.findtext("year")
        elif element.tag == "paper":
            number += 1
            collection, volume = (parent.get("id", "") for parent in around)
            yield number, _acl_paper(element, collection, volume, year)


def _acl_paper(element: Element, collection: str, volume: str, year: str | None) -> dict[str, Any] | BrokenRecord:
    number = element.get("id", "")
    try:
        paper_id = anthology_id(collection, volume, number)
    except ValueError:
        fault = f"collection {collection!r}, volume {volume!r}, paper {number!r}: no id can be made"
        return BrokenRecord("no id", (fault,), ElementTree.tostring(element, "unicode"))
    texts = {
        tag: marked_text(child) for tag in ("title", "abstract", "language") if (child := element.find(tag)) is not None
    }
    return {"paper_id": paper_id, "title": None, "abstract": None, "year": year} | texts


_BEGINS = re.compile(PROLOG + rb"<collection\s(?=[^>]*\bid=)", re.DOTALL)
ACL = Format("acl", records=acl_records, cut=whole_file_piece, matches=lambda head: _BEGINS.match(head.start))
