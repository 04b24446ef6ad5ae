"""The records of a large XML file, one after another: no entity is expanded, and nothing outside the file is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

from annot.base.errors import InputError
from annot.formats.corpora.cutting import LONGEST_LINE, Broken, opened

_AT_ONCE = 1 << 16


class XmlRecord(NamedTuple):
    """An element that is a record."""

    element: ElementTree.Element
    around: tuple[ElementTree.Element, ...]
    """The elements that it is in, the root first."""


def xml_records(path: Path, *, depth: int) -> Iterator[XmlRecord | Broken]:
    """The elements that are in so many others, in order; each leaves the tree once it was read.

    A file that is not well-formed ends where the fault is, with one Broken. Raises InputError if it declares
    entities, or has a record larger than `LONGEST_LINE`.
    """
    refuse_entities(path)
    with opened(path) as source:
        yield from records_in(source, str(path), depth=depth)


def records_in(source: IO[bytes], name: str, *, depth: int) -> Iterator[XmlRecord | Broken]:
    """The same for XML that is not a file of its own and declares no entities."""
    builder = ElementTree.TreeBuilder()
    parser = ElementTree.XMLParser(target=builder)
    # The tree is looked at after each chunk: to be given each element, as `iterparse` does, takes twice as long.
    file = builder.start("file", {})
    since_last = 0
    try:
        while chunk := source.read(_AT_ONCE):
            parser.feed(chunk)
            since_last += len(chunk)
            for record in _whole((file,), depth, None):
                since_last = 0
                yield record
            if since_last > LONGEST_LINE:
                raise InputError(f"{name}: a record of more than {LONGEST_LINE} bytes", hint="is it the right file?")
        parser.close()
    except ElementTree.ParseError as error:
        yield from _whole((file,), depth, _closed(builder, file))
        yield Broken("not valid XML", (f"not valid XML: {error}; reading ended there",), "")
    else:
        yield from _whole((file,), depth, _closed(builder, file))


def _closed(builder: ElementTree.TreeBuilder, file: ElementTree.Element) -> set[int]:
    """Close the open elements, up to the whole file, and return them."""
    still_open = set[int]()
    while id(file) not in still_open:
        still_open.add(id(builder.end("")))
    return still_open


def _whole(around: tuple[ElementTree.Element, ...], depth: int, still_open: set[int] | None) -> Iterator[XmlRecord]:
    """The records below the last element whose end was read; they leave it. still_open: None if the last of several
    elements may be open."""
    parent = around[-1]
    for child in list(parent):
        ended = child is not parent[-1] if still_open is None else id(child) not in still_open
        if depth:
            yield from _whole((*around, child), depth - 1, set() if ended else still_open)
        elif ended:
            yield XmlRecord(child, around[1:])
        if ended:
            del parent[0]


def refuse_entities(path: Path) -> None:
    """Raise InputError if the XML file declares entities of its own: a short file can say a long text with them.

    Only what comes before the first element can declare any.
    """
    with opened(path) as file:
        refuse_entities_in(file, str(path))


def refuse_entities_in(file: IO[bytes], name: str) -> None:
    """The same for XML that is not a file of its own."""

    class Begun(Exception):
        """The first element."""

    def begun(*_: object) -> None:
        raise Begun

    def declared(entity: str, *_: object) -> None:
        raise InputError(
            f"{name}: declares the entity {entity!r}, expected XML without entities",
            hint="remove the entity declarations",
        )

    parser = expat.ParserCreate()
    parser.EntityDeclHandler, parser.StartElementHandler = declared, begun
    with suppress(Begun, expat.ExpatError):
        parser.ParseFile(file)
