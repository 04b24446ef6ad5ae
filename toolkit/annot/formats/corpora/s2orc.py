"""S2ORC and the Open Research Corpus before it, JSON Lines, in each of the forms in which they were released.

Lo et al.: S2ORC, ACL 2020, https://github.com/allenai/s2orc. Open Research Corpus: `paperAbstract`, `outCitations`.
S2ORC of 2019: the paper's fields below `metadata`. S2ORC of 2020: `outbound_citations`. Semantic Scholar's datasets:
the text of the whole paper, and places in it (https://api.semanticscholar.org/api-docs/datasets).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annot.formats.corpora.cutting import Format

_BY_PLACES = ("content", "body")


def paper(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record in annot's fields, whichever release it is of."""
    if "paperAbstract" in record:
        renamed = {"id": "paper_id", "paperAbstract": "abstract", "outCitations": "citations"}
        return {renamed.get(name, name): value for name, value in record.items()}
    metadata = record.get("metadata")
    if isinstance(metadata, dict) and "title" in metadata:
        return metadata | {"paper_id": record.get("paper_id")}
    for name in _BY_PLACES:
        if isinstance(record.get(name), dict):
            return _by_places(record, record[name])
    return record


def _by_places(record: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    text, annotations = whole.get("text") or "", whole.get("annotations") or {}
    entries = _places(annotations, "bib_entry") or _places(annotations, "bibentry")
    cited = [(entry.get("attributes") or {}).get("matched_paper_id") for entry in entries]
    title = record.get("title") or " ".join(_spans(text, annotations, "title"))
    return {
        "paper_id": record.get("corpusid"),
        "title": title,
        "abstract": "\n\n".join(_spans(text, annotations, "abstract")),
        "year": record.get("year"),
        "citations": [paper_id for paper_id in cited if paper_id is not None],
    }


def _spans(text: str, annotations: Mapping[str, Any], kind: str) -> list[str]:
    return [text[int(place["start"]) : int(place["end"])] for place in _places(annotations, kind)]


def _places(annotations: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """The places of one kind: a list, or a JSON text that holds one."""
    found = annotations.get(kind) or []
    return json.loads(found) if isinstance(found, str) else found


def _fits(record: Mapping[str, Any]) -> bool:
    metadata = record.get("metadata")
    return (
        "paperAbstract" in record
        or {"outbound_citations", "mag_id"} <= record.keys()
        or (isinstance(metadata, dict) and "title" in metadata)
        or ("corpusid" in record and any(isinstance(record.get(name), dict) for name in _BY_PLACES))
    )


S2ORC = Format("s2orc", paper=paper, fits=_fits)
