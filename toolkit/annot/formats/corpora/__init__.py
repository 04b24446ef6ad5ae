"""The formats in which papers come, by name: how each is cut into pieces, read, and put into the fields of annot's own.

Whatever the format, `paper_records.document_of_record` makes the paper: one set of rules for ids, years, text
and labels.
"""

from __future__ import annotations

from pathlib import Path

from annot.base.names import check_name
from annot.base.plugins import PluginNames, loaded
from annot.formats.corpora.bibtex import BIBTEX
from annot.formats.corpora.datasets import ARXIV, CORD19, JOINED, OPENALEX, S2ORC, SEMANTIC_SCHOLAR
from annot.formats.corpora.pieces import BrokenRecord, Format, Piece, has_json_texts, head_of, refuse_unread, unknown
from annot.formats.corpora.tables import ANNOT, BEIR, CSV, IRDS, JSON, PARQUET, WORKBOOK
from annot.formats.corpora.tagged import MEDLINE, REFER, RIS, WOS
from annot.formats.corpora.xml_papers import ACL, ENDNOTE, PUBMED
from annot.formats.input_files import UTF_8, encoding_of

FORMATS = {
    form.name: form
    for form in (
        *(CORD19, OPENALEX, S2ORC, SEMANTIC_SCHOLAR, ARXIV, BEIR, ANNOT, JSON),
        *(PUBMED, ENDNOTE, ACL, PARQUET, WORKBOOK, WOS, RIS, MEDLINE, REFER, BIBTEX, CSV, IRDS),
    )
}
"""The formats that people name, in the order in which they are listed."""
_ALL = FORMATS | {JOINED.name: JOINED}
_TEXTS = {form.name for form in (WOS, RIS, MEDLINE, REFER, BIBTEX, CSV, CORD19)}
"""The text formats that may be in an encoding other than UTF-8."""


def format_named(name: str) -> Format:
    """The format of this name. A format of a plug-in is called `PLUGIN:FORMAT`. Raises InputError with the nearest
    name."""
    plugin, separator, _ = name.partition(":")
    known: dict[str, Format] = {**_ALL, **loaded("paper_formats", (plugin,) if separator else ())}
    if name not in known:
        check_name(name, tuple(name for name in known if name != JOINED.name), what="format")
    return known[name]


def format_of(name: str, form: str | None, plugins: PluginNames = ()) -> str:
    """The format of a file: the one named, or the one that its beginning shows. Formats of
    plug-ins are tried first.

    A file without anything but white space has the format of JSON Lines; when it is read, it turns out to be empty.
    Raises InputError for a kind that is not read, and for a file whose beginning tells nothing.
    """
    if form is not None:
        return format_named(form).name
    head = head_of(name)
    if not head.start.strip():
        return ANNOT.name
    for added in loaded("paper_formats", plugins).values():
        if added.fits(head.record) or added.matches(head):
            return str(added.name)
    by_record = next(known_form.name for known_form in FORMATS.values() if known_form.fits(head.record))
    if by_record != ANNOT.name:
        return by_record
    refuse_unread(head)
    if by_content := next((known_form for known_form in FORMATS.values() if known_form.matches(head)), None):
        return by_content.name
    if head.record or head.start.lstrip().startswith((b"{", b"[")):
        return JSON.name if has_json_texts(Path(name)) else ANNOT.name
    plain_name = name.removesuffix(".gz")
    if ending := next((form for form in FORMATS.values() if plain_name.endswith(form.endings or ("\0",))), None):
        return ending.name
    raise unknown(head)


def encoding_in(form: str, name: str) -> str:
    """The encoding of the text of a file in this format; "" if it is UTF-8, or no text of its own."""
    encoding = encoding_of(Path(name)) if form in _TEXTS else UTF_8
    return "" if encoding == UTF_8 else encoding


__all__ = ["FORMATS", "BrokenRecord", "Format", "Piece", "encoding_in", "format_named", "format_of"]
