"""Documents by the names that people give their fields, as JSON Lines or one JSON text; BEIR's and CSFCube's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annot.formats.corpora.cutting import Format

IDS = ("paper_id", "passage_id", "id", "_id", "doc_id", "docid", "document_id", "doc")
"""Names of the field of the id; the first one with a value counts."""
TEXTS = ("text", "contents", "passage")
"""Names of the field of the text, if there is no field `abstract`."""
WHOLES = ("document_id", "msmarco_document_id", "doc")
"""Names of the field of a passage's document, if there is no field `part_of` and none of them is the id."""
_WITH_PASSAGE_ID = (*WHOLES, "doc_id", "docid")
FIELDS = frozenset((*IDS, *TEXTS, *WHOLES, "part_of"))


def document(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record in the fields that `paper_lines.read_papers` knows, as far as it has them."""
    found = dict(record)
    own = next((name for name in IDS if record.get(name) is not None), None)
    if own is not None:
        found["paper_id"] = found.pop(own)
    texts = [name for name in TEXTS if name in record]
    if texts and "abstract" not in record:
        found["abstract"] = found.pop([*filter(record.get, texts), *texts][0])
    if not record.get("part_of"):
        names = _WITH_PASSAGE_ID if own == "passage_id" else WHOLES
        wholes = [record[name] for name in names if name != own and _is_id(record.get(name))]
        found |= {"part_of": wholes[0] if wholes else None} if wholes or "part_of" in found else {}
    return found


def _is_id(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and len(value.split()) == 1)


ANNOT = Format("annot", paper=document, fits=lambda _record: True)
CSFCUBE = Format("csfcube", published=True, fits=lambda record: "pred_labels" in record)
JSON = Format("json", paper=document)


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Only what BEIR has: id, title, text, and what else is known of the document as its metadata."""
    names = ["_id", "title", "text", "part_of", *WHOLES, *["metadata"] * isinstance(record.get("metadata"), dict)]
    return document({"title": None, "text": None} | {name: record[name] for name in names if name in record})


BEIR = Format("beir", paper=paper, published=True, fits=lambda record: "_id" in record and "text" in record)
