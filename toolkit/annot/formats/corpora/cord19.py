"""CORD-19's full texts: one paper a JSON file, `pdf_json` and `pmc_json`, or many as JSON Lines.

Wang et al.: CORD-19, NLP-COVID at ACL 2020, https://github.com/allenai/cord19 (`json_schema.txt`). A paper is known by
the SHA-1 of its PDF or by its PMC id; only a parse of a PDF has an abstract. Years, DOIs and PubMed's ids are in
`metadata.csv`, which the CSV reader reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annot.formats.corpora.cutting import Format

_CITED = {"DOI": "doi", "PMID": "pmid"}


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The paper of a parse: the paragraphs of its abstract are those that say something."""
    metadata, abstract = record.get("metadata"), record.get("abstract")
    paragraphs = [str(one.get("text") or "") for one in _objects(abstract)]
    return {
        "key": record.get("paper_id"),
        "title": (metadata.get("title") if isinstance(metadata, dict) else None) or None,
        "abstract": "\n\n".join(text for text in paragraphs if text.strip()) or None,
        "cited": list(_cited(record)),
    }


def _cited(record: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], ...]]:
    """The ids of each work in the bibliography, with their kinds: `"other_ids": {"DOI": ["10.1000/1"]}`."""
    entries = record.get("bib_entries")
    for entry in _objects(list(entries.values()) if isinstance(entries, dict) else entries):
        ids = entry.get("other_ids")
        given = [(ours, ids.get(theirs)) for theirs, ours in _CITED.items()] if isinstance(ids, dict) else []
        each = [(kind, one) for kind, ids in given for one in (ids if isinstance(ids, list) else [ids])]
        if known := tuple((kind, one) for kind, one in each if isinstance(one, str)):
            yield known


def _objects(several: object) -> list[dict[str, Any]]:
    return [one for one in several if isinstance(one, dict)] if isinstance(several, list) else []


def _fits(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("metadata"), dict) and isinstance(record.get("body_text"), list)


CORD19 = Format("cord19", paper=paper, fits=_fits, bibliographic=True)
