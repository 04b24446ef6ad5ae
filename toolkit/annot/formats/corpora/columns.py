"""What the columns of a table of papers mean: those named as the fields of JSON Lines, and those of exports.

A table with an id of its own has the fields of JSON Lines (`plain`). Any other is bibliographic: its ids are DOI, PMID,
OpenAlex id, or the database's own number. The names of its columns, case and underscores aside, are those of

- Scopus: Title, Year, Abstract, DOI, PubMed ID, EID
- Web of Science in Excel: Article Title, Abstract, Publication Year, DOI, Pubmed Id, UT (Unique WOS ID)
- Web of Science, tab-delimited: its tags (https://images.webofknowledge.com/images/help/WOS/hs_wos_fieldtags.html)
- IEEE Xplore: Document Title, Abstract, Publication Year, DOI
- CORD-19's `metadata.csv`: cord_uid, title, doi, pubmed_id, abstract, publish_time
- Zotero: Key, Title, Publication Year, Abstract Note, DOI
- Rayyan: key, title, year, abstract, doi, pubmed_id
- Dimensions: Publication ID, DOI, PMID, Title, Abstract, PubYear
- Lens.org: Lens ID, Title, Date Published, Publication Year, Abstract, DOI, PMID

and the German words for a table made by hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from annot.formats.corpora.cutting import Format
from annot.formats.corpora.plain import FIELDS, IDS, TEXTS, document
from annot.formats.paper_lines import MISSING, year_in

HEADER_WITHIN = 10
"""Lines or rows of a table among which its header is."""
_LISTED = ("citations", "outbound_citations")
_OTHERS = ("title", "abstract", "year", "metadata", "labels", "pred_labels", "pred_labels_truncated")
COLUMNS = FIELDS | {*_OTHERS, *_LISTED}
"""Columns of a table with ids of its own; they mean the same as in JSON Lines."""
_NAMES = {
    "title": ("title", "article title", "document title", "paper title", "titel"),
    "abstract": ("abstract", "abstract note", *TEXTS),
    "year": (
        *("year", "publication year", "pubyear", "jahr"),
        *("publication date", "publish time", "date published", "date"),
    ),
}
_ID_NAMES = {
    "doi": ("doi",),
    "pmid": ("pmid", "pubmed id"),
    "openalex": ("openalex id",),
    "key": ("key", "citation key", "ut (unique wos id)", "eid", "cord uid", "publication id", "lens id"),
}
"""The first of these names that the table has counts."""
TAGS = {"TI": "title", "AB": "abstract", "PY": "year", "DI": "doi", "PM": "pmid", "UT": "key"}
"""Web of Science's; its ID are keywords."""
_BETWEEN = re.compile(r"[\s;,|]+")
_RETRACTED = ("is retracted", "document type", "publication type")
"""Columns that say that a paper was retracted: `true`, or a type with that word."""
_NO_ABSTRACT = "[No abstract available]"
"""Scopus writes it in place of one."""


@lru_cache(maxsize=64)
def meaning(header: tuple[str, ...]) -> dict[str, str]:
    """The field of each column that is used.

    >>> meaning(("Article Title", "Abstract", "DOI", "Language"))
    {'Article Title': 'title', 'Abstract': 'abstract', 'DOI': 'doi'}
    """
    if {"TI", "AB"} <= {*header}:
        return {name: TAGS[name] for name in header if name in TAGS}
    found = {name: name for name in header if name in COLUMNS}
    plain = {_plain(name): name for name in reversed(header)}
    if not has_own_ids(found):
        found |= {plain[one]: own for own in IDS if (one := _plain(own)) in plain}
    if not has_own_ids(found):
        # There, `citations` are the number of papers that cite this one.
        found = {name: field for name, field in found.items() if field not in _LISTED}
    for field, names in (_NAMES if has_own_ids(found) else _NAMES | _ID_NAMES).items():
        column = next((plain[name] for name in names if name in plain), None)
        there = {*found.values()}
        if column and field not in there and not (field == "abstract" and there & {*TEXTS}):
            found[column] = field
    return found


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())


def has_own_ids(fields: Mapping[str, str]) -> bool:
    """Whether the dataset has ids of its own."""
    return any(field in IDS for field in fields.values())


def unusable(header: Sequence[str]) -> str:
    """Why a table with this header has no papers; "" where it may have."""
    if any("\0" in name for name in header):
        return "columns: found NUL characters, expected text; save the file as UTF-8"
    if twice := sorted({name for name in header if name in COLUMNS and header.count(name) > 1}):
        return f"columns: found {', '.join(twice)} twice, expected each once"
    found = meaning(tuple(header))
    if header and not found:
        return f"columns: found {', '.join(header):.80}, expected an id and a text among them"
    if header and not has_own_ids(found) and not {"abstract", *TEXTS} & {*found.values()}:
        return f"columns: found {', '.join(header):.80}, expected an abstract among them"
    return ""


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row's fields. An empty cell of a year or of an id of a bibliographic table is none; ids that are cited may be
    a list, or one text, with spaces, semicolons, commas or bars between them; a year may be a number with a point, as
    pandas writes them, or, in a column of dates and in a bibliographic table, in a date.
    """
    names = meaning(tuple(record))
    own = has_own_ids(names)
    fields = {field: _without_missing(record[name]) for name, field in names.items()}
    if "year" in fields:
        fields["year"] = _number(fields["year"]) if own and names.get("year") else year_in([fields["year"]])
    for name in _LISTED:
        if isinstance(cell := fields.get(name), str):
            fields[name] = [one for one in _BETWEEN.split(cell) if one]
    if not own:
        fields |= {kind: _text(fields[kind]) for kind in _ID_NAMES if kind in fields}
        if fields.get("abstract") == _NO_ABSTRACT:
            fields["abstract"] = None
    said = (str(record[name]).lower() for name in record if _plain(name) in _RETRACTED)
    return document(fields) | ({"retracted": True} if any("retract" in text or text == "true" for text in said) else {})


def _without_missing(cell: Any) -> Any:
    """The cell, None for the word by which a program says that it is empty. The ids of a table are never missing."""
    return None if isinstance(cell, str) and cell.strip().lower() in MISSING and cell else cell


def _number(year: Any) -> Any:
    if isinstance(year, float):
        return None if math.isnan(year) else int(year) if year.is_integer() else year
    return year.strip().removesuffix(".0") or None if isinstance(year, str) else year


def _text(cell: Any) -> str | None:
    return None if cell is None or cell != cell else str(cell).strip() or None


table = partial(Format, paper=paper, bibliographic=True)
"""A format of tables with these columns."""
