"""The ACL Anthology's XML, one file a collection (https://github.com/acl-org/acl-anthology, `data/xml`)."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Broken, Format, Piece, Records, in_one_piece, opened
from annot.formats.corpora.heads import PROLOG


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
    number, collection, volume, year = 0, "", "", None
    try:
        refuse_entities(Path(piece.path))
        with opened(Path(piece.path)) as file:
            for event, element in ElementTree.iterparse(file, ("start", "end")):
                if event == "start":
                    collection = element.get("id", "") if element.tag == "collection" else collection
                    volume = element.get("id", "") if element.tag == "volume" else volume
                elif element.tag == "meta":
                    year = element.findtext("year")
                elif element.tag == "paper":
                    number += 1
                    yield number, _paper(element, collection, volume, year)
                    element.clear()
    except ElementTree.ParseError as error:
        yield number + 1, Broken("not valid XML", (f"not valid XML: {error}",), "")


def refuse_entities(path: Path) -> None:
    """Raise InputError where the XML file declares entities of its own: a short file can say a long text with them.

    Only what comes before the first element can declare any.
    """

    class Begun(Exception):
        """The first element."""

    def begun(*_: object) -> None:
        raise Begun

    def declared(name: str, *_: object) -> None:
        raise InputError(
            f"{path}: declares the entity {name!r}, expected XML without entities",
            hint="remove the entity declarations",
        )

    parser = expat.ParserCreate()
    parser.EntityDeclHandler, parser.StartElementHandler = declared, begun
    with opened(path) as file, suppress(Begun, expat.ExpatError):
        parser.ParseFile(file)


def _paper(element: ElementTree.Element, collection: str, volume: str, year: str | None) -> dict[str, Any] | Broken:
    number = element.get("id", "")
    try:
        paper_id = anthology_id(collection, volume, number)
    except ValueError:
        fault = f"collection {collection!r}, volume {volume!r}, paper {number!r}: no id can be made"
        return Broken("no id", (fault,), ElementTree.tostring(element, "unicode"))
    texts = {
        tag: "".join(found.itertext()) for tag in ("title", "abstract") if (found := element.find(tag)) is not None
    }
    return {"paper_id": paper_id, "title": None, "abstract": None, "year": year} | texts


_BEGINS = re.compile(PROLOG + rb"<collection\s(?=[^>]*\bid=)", re.DOTALL)
ACL = Format("acl", records=records, cut=in_one_piece, told=lambda head: _BEGINS.match(head.start) is not None)
