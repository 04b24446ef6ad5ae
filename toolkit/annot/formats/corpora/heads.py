"""The beginning of a file, and the errors for files whose beginning fits no format, or a kind that is not read."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import NamedTuple

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Head, first_object
from annot.formats.input_files import opened, unicode_of_start

HEAD_BYTES = 1 << 16
_SHOWN = 40
PROLOG = rb"(?>\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)*)"
"""A regular expression of the text before the first element of XML; it never backtracks."""
_ROOT = re.compile(PROLOG + rb"<([^\s<>/?!]+)", re.DOTALL)


def head_of(name: str) -> Head:
    """The head of a file: its start without a byte order mark and, of UTF-16 and UTF-32, as UTF-8."""
    with opened(Path(name)) as file:
        start = file.read(HEAD_BYTES)
    if (unicode := unicode_of_start(start)) != "utf-8":
        start = start.decode(unicode, "ignore").encode()
    start = start.removeprefix(codecs.BOM_UTF8)
    text = start.lstrip()
    try:
        return Head(name, start, {} if b"\0" in start or text.startswith(b"<") else first_object(name))
    except InputError:
        # A line without an end is no JSON.
        return Head(name, start, {})


def unknown(head: Head) -> InputError:
    """The error for a file whose beginning fits no format."""
    if b"\0" in head.start:
        what = f"not text; it begins with the bytes {head.start[:8].hex(' ')}"
    elif root := _ROOT.match(head.start):
        what = f"XML of an unknown kind: its root is <{root[1].decode('utf-8', 'replace')}>"
    else:
        lines = filter(None, map(str.strip, head.start.decode("utf-8", "replace").splitlines()))
        line = next(lines, "")
        what = f"begins with {line[:_SHOWN]!r}{' ...' if len(line) > _SHOWN else ''}"
    return InputError(
        f"{head.name}: {what}, expected papers in one of the formats of --format",
        hint="`annot corpus add --help` lists the formats; if the file is in one of them, name it with --format",
    )


_BY_ZOTERO = "import it into Zotero (File > Import...), then choose File > Export Library... with the format RIS"
_BY_ENDNOTE = "in EndNote, choose File > Export... with the output style RefMan (RIS) Export"
_RECORDS = "export the records from the database or the reference manager instead, for example as RIS"
_UNPACK = "unpack it, and add the files in it"


class Unread(NamedTuple):
    """A known kind of file that is not read."""

    name: str
    begins: bytes
    """A regular expression for the beginning of its first 64 KiB; `.` is any byte."""
    remedy: str


def _xml_of(names: bytes, also: bytes = b"") -> bytes:
    """What XML with a root of one of these names, in any namespace, begins with; also: what has to come after it."""
    return PROLOG + rb"<(?:\w+:)?(?:" + names + rb")[\s>](?=.*" + also + rb")"


UNREAD = (
    Unread("EndNote's XML", _xml_of(b"xml", b"<record>"), _BY_ENDNOTE),
    Unread("MARCXML", _xml_of(b"collection|record", rb'\btag="\d\d\d"'), _BY_ZOTERO),
    Unread("MODS", _xml_of(b"mods|modsCollection"), _BY_ZOTERO),
    Unread("Zotero's RDF", _xml_of(b"RDF"), "in Zotero, choose File > Export Library... with the format RIS"),
    Unread("the full text of an article (JATS)", _xml_of(b"article|pmc-articleset"), _RECORDS),
    Unread("a feed", _xml_of(b"feed|rss"), _RECORDS),
    Unread("DBLP's XML, which has no abstracts", _xml_of(b"dblp"), _RECORDS),
    Unread("a web page", _xml_of(b"(?i:html|head|body|script)"), "open it in a browser: it may show an error"),
    Unread(
        "Crossref's JSON",
        rb'\s*\{(?=.*"(?:message-type|reference-count)"\s*:)',
        "look its DOIs up in OpenAlex or PubMed, and add what these export",
    ),
    Unread("CSL JSON", rb'\s*+\[?+\s*+\{(?=.*"(?:issued|accessed)"\s*:\s*\{\s*"date-parts"\s*:)', _BY_ZOTERO),
    Unread(
        "PubMed's CSV, which has no abstracts",
        rb'"?PMID"?,"?Title"?,"?Authors"?,"?Citation"?,',
        "in PubMed, choose Save with the format PubMed",
    ),
    Unread("EndNote's tagged text", rb"\s*%0 [A-Z](?=.*\n%[A-Z] )", _BY_ENDNOTE),
    Unread("MARC 21", rb"\d{5}[acdnp][a-z][a-z ].[a ]22\d{5}", _BY_ZOTERO),
    Unread("a PDF", rb"%PDF-", _RECORDS),
    Unread("a Word document", rb"PK\x03\x04(?=.*\bword/)|\{\\rtf", _RECORDS),
    Unread(
        "a spreadsheet of LibreOffice",
        rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument\.spreadsheet",
        "in LibreOffice, choose File > Save As... with the type Excel 2007-365 (.xlsx)",
    ),
    Unread(
        "a file of Office before 2007",
        rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "if it is a spreadsheet, choose File > Save As in Excel, with the type Excel Workbook (.xlsx)",
    ),
    Unread("a zip archive", rb"PK(?:\x03\x04(?!.*(?:\bxl/|\[Content_Types\]|docProps/))|\x05\x06)", _UNPACK),
    Unread("an archive", rb"7z\xbc\xaf\x27\x1c|Rar!\x1a|BZh\d1AY|\xfd7zXZ\x00|\x28\xb5\x2f\xfd|.{257}ustar", _UNPACK),
    Unread("a database, perhaps Zotero's own", rb"SQLite format 3\x00", _RECORDS),
)


class UnreadError(InputError):
    """Raised for a file of a kind that is known and not read; the hint says what to do with it."""


def refuse_unread(head: Head) -> None:
    """Raise UnreadError for a file that begins as one of these kinds."""
    for kind in UNREAD:
        if re.match(kind.begins, head.start, re.DOTALL):
            raise UnreadError(f"{head.name}: {kind.name}, which is not read", hint=kind.remedy)
