"""The formats in which papers come, by name: how each is cut into pieces, read, and put into the fields of annot's own.

Whatever the format, `paper_lines.document_of_record` makes the paper: one set of rules for ids, years, text and labels.
"""

from __future__ import annotations

from itertools import islice

from annot.base.names import check_name
from annot.formats.corpora.acl import ACL
from annot.formats.corpora.arxiv import ARXIV
from annot.formats.corpora.bibtex import BIBTEX
from annot.formats.corpora.cord19 import CORD19
from annot.formats.corpora.cutting import Broken, Format, Piece, json_records
from annot.formats.corpora.irds import IRDS
from annot.formats.corpora.medline import MEDLINE
from annot.formats.corpora.openalex import OPENALEX
from annot.formats.corpora.plain import ANNOT, BEIR, CSFCUBE, JSON
from annot.formats.corpora.ris import RIS
from annot.formats.corpora.s2orc import S2ORC
from annot.formats.corpora.semantic_scholar import JOINED, SEMANTIC_SCHOLAR
from annot.formats.corpora.tables import CSV, PARQUET
from annot.formats.corpora.workbook import WORKBOOK

_TOLD_FROM = 100
"""A file is told by its first record that can be read, of so many."""
FORMATS = {
    form.name: form
    for form in (
        ANNOT,
        CSFCUBE,
        JSON,
        CORD19,
        OPENALEX,
        S2ORC,
        SEMANTIC_SCHOLAR,
        ARXIV,
        ACL,
        BEIR,
        IRDS,
        CSV,
        PARQUET,
        WORKBOOK,
        RIS,
        MEDLINE,
        BIBTEX,
    )
}
"""Those that people name, in the order in which they are told."""
_ALL = FORMATS | {JOINED.name: JOINED}


def format_named(name: str) -> Format:
    """The format of this name. Raises InputError with the near one."""
    if name not in _ALL:
        check_name(name, tuple(FORMATS), what="format")
    return _ALL[name]


def format_of(name: str, form: str | None) -> str:
    """The format of a file: the one that is named, or what its name's ending or its first record tells."""
    if form is not None:
        return format_named(form).name
    plain_name = name.removesuffix(".gz")
    by_ending = [known.name for known in FORMATS.values() if plain_name.endswith(known.endings or ("\0",))]
    if by_ending:
        return by_ending[0]
    first = islice(json_records(Piece(name, ANNOT.name, 0, None)), _TOLD_FROM)
    record = next((record for _, record in first if isinstance(record, dict)), {})
    order = (CORD19, OPENALEX, S2ORC, SEMANTIC_SCHOLAR, ARXIV, BEIR, CSFCUBE, ANNOT)
    return next(known.name for known in order if known.fits(record))


__all__ = ["FORMATS", "Broken", "Format", "Piece", "format_named", "format_of"]
