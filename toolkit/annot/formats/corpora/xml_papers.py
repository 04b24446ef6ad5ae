"""Papers in XML: PubMed's and the ACL Anthology's.

PubMed's is read as its search, E-utilities' `efetch` and the yearly baseline give it: articles, books, and the
`MedlineCitationSet` of before 2017 (https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/190101/).

Its abstracts keep their sections, with the heading and NLM's category of each. The Anthology has one file a collection
(https://github.com/acl-org/acl-anthology, `data/xml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from annot.formats.corpora.cutting import Broken, Format, Piece, Records, in_one_piece
from annot.formats.corpora.heads import PROLOG
from annot.formats.paper_lines import year_in
from annot.formats.xml_records import marked_text, xml_records

_SETS = ("PubmedArticleSet", "PubmedBookArticleSet", "MedlineCitationSet")
_ROOT = re.compile(rf"<(?:{'|'.join(_SETS)})[\s>]".encode())
_RECORDS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation")
_NO_TITLE = ("", "[Not Available].", "[In Process Citation]")
"""In place of a title that has not been translated, or not entered yet."""
_NO_HEADING = ("UNLABELLED", "UNASSIGNED")
_RETRACTED = "Retracted Publication"
_KINDS = {"pubmed": "pmid", "doi": "doi"}


def records(piece: Piece) -> Records:
    """The articles and books of the file; what it says of deleted ones is left out."""
    for number, found in enumerate(xml_records(Path(piece.path), depth=1), start=1):
        if isinstance(found, Broken):
            yield number, found
            return
        root, tag = found.around[0].tag, found.element.tag
        if root not in _SETS:
            fault = f"found the XML of {root!r}, expected {' or '.join(_SETS)}"
            yield number, Broken("not the XML of PubMed", (fault,), "")
            return
        yield number, _paper(found.element) if tag in _RECORDS else None


def _paper(record: Element) -> dict[str, Any]:
    """The fields of a record, whichever of the three it is."""
    book = record.find("BookDocument")
    citation = record if record.tag == "MedlineCitation" else record.find("MedlineCitation")
    own = citation if book is None else book
    article = citation.find("Article") if citation is not None else book
    data = record.find("PubmedData" if book is None else "PubmedBookData")
    none = Element("none")
    own, article, data = (none if part is None else part for part in (own, article, data))
    parts = article.findall("Abstract/AbstractText")
    others = own.findall("OtherAbstract") if not any(map(_text, parts)) else []
    others.sort(key=lambda other: other.get("Language", "eng") != "eng")
    return {
        "title": _title(article),
        **_abstract(others[0].findall("AbstractText") if others else parts),
        "year": _year(article, data),
        "pmid": own.findtext("PMID"),
        "doi": _doi(own, article, data),
        "cited": list(_cited(own, data)),
        **({"retracted": True} if _RETRACTED in map(_text, article.iter("PublicationType")) else {}),
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


def _year(article: Element, data: Element) -> str | None:
    """The year of the issue or the book; else of the electronic publication, or of the entry in PubMed."""
    paths = ("Journal/JournalIssue/PubDate", "Book/PubDate", "ArticleDate", "ContributionDate")
    dates = [*map(article.find, paths), data.find("History/PubMedPubDate[@PubStatus='pubmed']")]
    return year_in(" ".join(date.itertext()) for date in dates if date is not None)


def _doi(own: Element, article: Element, data: Element) -> str | None:
    """The ids in the record's own list, not in a reference's."""
    for ids in (data.find("ArticleIdList"), own.find("ArticleIdList")):
        for one in () if ids is None else ids:
            if one.get("IdType") == "doi" and _text(one):
                return _text(one)
    places = article.findall("ELocationID[@EIdType='doi']")
    return next((_text(place) for place in places if place.get("ValidYN") != "N"), None)


def _cited(own: Element, data: Element) -> Iterator[tuple[tuple[str, str], ...]]:
    """The ids of each work that the lists of references name, which may be in one another; before 2019, citations were
    corrections."""
    for part in (data, own):
        for references in part.findall("ReferenceList"):
            for reference in references.iter("Reference"):
                ids = [(_KINDS.get(one.get("IdType", "")), one.text) for one in reference.iter("ArticleId")]
                if known := tuple((kind, text.strip()) for kind, text in ids if kind and text):
                    yield known
    for one in own.findall("CommentsCorrectionsList/CommentsCorrections"):
        if one.get("RefType") == "Cites":
            yield (("pmid", one.findtext("PMID", "").strip()),)


PUBMED = Format(
    "pubmed", records=records, cut=in_one_piece, told=lambda head: _ROOT.search(head.start), bibliographic=True
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
    for found in xml_records(Path(piece.path), depth=2):
        if isinstance(found, Broken):
            yield number + 1, found
        elif found.element.tag == "meta":
            year = found.element.findtext("year")
        elif found.element.tag == "paper":
            number += 1
            collection, volume = (element.get("id", "") for element in found.around)
            yield number, _acl_paper(found.element, collection, volume, year)


def _acl_paper(element: ElementTree.Element, collection: str, volume: str, year: str | None) -> dict[str, Any] | Broken:
    number = element.get("id", "")
    try:
        paper_id = anthology_id(collection, volume, number)
    except ValueError:
        fault = f"collection {collection!r}, volume {volume!r}, paper {number!r}: no id can be made"
        return Broken("no id", (fault,), ElementTree.tostring(element, "unicode"))
    texts = {tag: marked_text(found) for tag in ("title", "abstract") if (found := element.find(tag)) is not None}
    return {"paper_id": paper_id, "title": None, "abstract": None, "year": year} | texts


_BEGINS = re.compile(PROLOG + rb"<collection\s(?=[^>]*\bid=)", re.DOTALL)
ACL = Format("acl", records=acl_records, cut=in_one_piece, told=lambda head: _BEGINS.match(head.start))
