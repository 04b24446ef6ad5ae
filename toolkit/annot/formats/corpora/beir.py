"""BEIR's `corpus.jsonl`: `_id`, `title`, `text` (https://github.com/beir-cellar/beir)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annot.formats.corpora.form import Format


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """A passage without a title has an empty one, and the filters of the corpus count it."""
    renamed = {"paper_id": record.get("_id"), "title": record.get("title"), "abstract": record.get("text")}
    return renamed | {"metadata": record["metadata"]} if isinstance(record.get("metadata"), dict) else renamed


BEIR = Format("beir", paper=paper, fits=lambda record: "_id" in record and "text" in record)
