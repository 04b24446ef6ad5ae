"""arXiv's metadata snapshot, JSON Lines under CC0: `id`, `title`, `abstract`, `versions`, `update_date`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annot.formats.corpora.cutting import Format
from annot.formats.corpora.tex import unicode_of
from annot.formats.paper_lines import year_in


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The year is that of the first version: `Mon, 2 Apr 2007 19:18:42 GMT`. Texts are TeX."""
    versions = record.get("versions")
    first = versions[0] if isinstance(versions, list) and versions else None
    dates = [first.get("created") if isinstance(first, dict) else None, record.get("update_date")]
    named = {"id": "paper_id", "title": "title", "abstract": "abstract"}
    fields = {ours: record[theirs] for theirs, ours in named.items() if theirs in record}
    for name in ("title", "abstract"):
        if isinstance(text := fields.get(name), str):
            fields[name] = unicode_of(text)
    return fields | {"year": year_in(date for date in dates if isinstance(date, str))}


ARXIV = Format("arxiv", paper=paper, fits=lambda record: {"id", "abstract", "categories"} <= record.keys())
