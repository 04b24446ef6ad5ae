"""The one reader of XML: its text in the encoding that it declares, and the records of a large file one after another.

The parser meets UTF-8 alone: any other encoding is decoded before. No entity is expanded, and nothing outside the file
is read.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Broken
from annot.formats.input_files import LONGEST_LINE, SAVE_AS_UTF_8, UnreadEncoding, encoding_of_start, opened
from annot.formats.markup import math_text

_AT_ONCE = 1 << 16
_START = 1 << 10
"""Bytes in which an XML declaration ends."""


class NotXml(ValueError):
    """Raised for a file that is not well-formed, or not in its own encoding; the message says where."""


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
    parser = ElementTree.XMLParser(target=builder, encoding="utf-8")
    # The tree is looked at after each chunk: to be given each element, as `iterparse` does, takes twice as long.
    file = builder.start("file", {})
    since_last = 0
    try:
        for size in fed(parser.feed, source, name):
            since_last += size
            for record in _whole((file,), depth, None):
                since_last = 0
                yield record
            if since_last > LONGEST_LINE:
                raise InputError(f"{name}: a record of more than {LONGEST_LINE} bytes", hint="is it the right file?")
        parser.close()
    except (ElementTree.ParseError, NotXml) as error:
        yield from _whole((file,), depth, _closed(builder, file))
        yield Broken("not valid XML", (f"not valid XML: {error}; reading ended there",), "")
    else:
        yield from _whole((file,), depth, _closed(builder, file))


def fed(feed: Callable[[bytes | str], object], source: IO[bytes], name: str) -> Iterator[int]:
    """Give XML to a parser of UTF-8, piece by piece; the size of each, once it was read.

    Raises InputError if it declares an encoding that is not read, and NotXml where the parser stops.
    """
    start = source.read(_START)
    try:
        encoding = encoding_of_start(start)
    except UnreadEncoding as error:
        raise InputError(f"{name}: {error}", hint=SAVE_AS_UTF_8) from None
    rest = iter(lambda: source.read(_AT_ONCE), b"")
    for text in _decoded(chain([start], rest), encoding):
        try:
            feed(text)
        except (ElementTree.ParseError, expat.ExpatError) as error:
            raise NotXml(str(error)) from None
        yield len(text)


def _decoded(pieces: Iterable[bytes], encoding: str) -> Iterator[str]:
    """The text of the pieces. Raises NotXml at a byte that is not in the encoding; what is before it comes first."""
    decoder, place = codecs.getincrementaldecoder(encoding)(), 0
    for piece in chain(pieces, [b""]):
        try:
            yield decoder.decode(piece, not piece)
        except UnicodeDecodeError as error:
            # The decoder holds back the beginning of a character that goes on in the next piece.
            before = error.start - len(error.object) + len(piece)
            with suppress(UnicodeError):
                yield decoder.decode(piece[: max(before, 0)])
            byte = error.object[error.start]
            fault = f"not {error.encoding.upper()}: byte 0x{byte:02X} at position {place + before}"
            raise NotXml(fault) from None
        place += len(piece)


def marked_text(element: ElementTree.Element) -> str:
    """The text of an element and of all in it. Raised and lowered text keeps its tags, and formulas are told apart, for
    `cleaning.clean`; an element nested too deeply has its text alone."""
    try:
        return _marked(element)
    except RecursionError:
        return "".join(element.itertext())


def _marked(element: ElementTree.Element) -> str:
    parts = [element.text or ""]
    for child in element:
        name = child.tag.rpartition("}")[2]
        text = math_text(child) if name == "math" else _marked(child)
        text = f"${text}$" if name == "tex-math" else f"<{name}>{text}</{name}>" if name in ("sup", "sub") else text
        parts += (text, child.tail or "")
    return "".join(parts)


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

    parser = expat.ParserCreate("utf-8")
    parser.EntityDeclHandler, parser.StartElementHandler = declared, begun
    with suppress(Begun, NotXml):
        for _ in fed(parser.Parse, file, name):
            pass
