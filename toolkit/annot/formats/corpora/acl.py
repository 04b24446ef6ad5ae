"""The ACL Anthology's XML, one file a collection (https://github.com/acl-org/acl-anthology, `data/xml`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from annot.formats.corpora.cutting import Broken, Format, Piece, Records, in_one_piece
from annot.formats.corpora.heads import PROLOG
from annot.formats.xml_records import marked_text, xml_records


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


def records(piece: Piece) -> Records:
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
            yield number, _paper(found.element, collection, volume, year)


def _paper(element: ElementTree.Element, collection: str, volume: str, year: str | None) -> dict[str, Any] | Broken:
    number = element.get("id", "")
    try:
        paper_id = anthology_id(collection, volume, number)
    except ValueError:
        fault = f"collection {collection!r}, volume {volume!r}, paper {number!r}: no id can be made"
        return Broken("no id", (fault,), ElementTree.tostring(element, "unicode"))
    texts = {tag: marked_text(found) for tag in ("title", "abstract") if (found := element.find(tag)) is not None}
    return {"paper_id": paper_id, "title": None, "abstract": None, "year": year} | texts


_BEGINS = re.compile(PROLOG + rb"<collection\s(?=[^>]*\bid=)", re.DOTALL)
ACL = Format("acl", records=records, cut=in_one_piece, told=lambda head: _BEGINS.match(head.start) is not None)
