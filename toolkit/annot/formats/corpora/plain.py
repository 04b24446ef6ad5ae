"""annot's own papers and CSFCube's: any fields that `paper_lines.read_papers` knows, as JSON Lines or one JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annot.formats.corpora.cutting import Broken, Format, Piece, Records, in_one_piece, json_records, opened


def json_entries(piece: Piece) -> Records:
    """The values of the one object of a file (as SciDocs writes its papers by id), or the entries of its one list;
    a file that is not one JSON text has JSON Lines."""
    try:
        with opened(Path(piece.path)) as file:
            content = json.load(file)
    except (ValueError, RecursionError):
        yield from json_records(piece)
        return
    if isinstance(content, dict):
        several = bool(content) and all(isinstance(value, dict) for value in content.values())
        content = list(content.values()) if several else [content]
    for number, record in enumerate(content if isinstance(content, list) else [content], start=1):
        if isinstance(record, dict):
            yield number, record
        else:
            raw = json.dumps(record)
            yield number, Broken("not a JSON object", (f"found {raw[:40]}, expected a JSON object",), raw)


ANNOT = Format("annot", fits=lambda _record: True)
CSFCUBE = Format("csfcube", fits=lambda record: "pred_labels" in record)
JSON = Format("json", records=json_entries, cut=in_one_piece, endings=(".json",))


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """A passage without a title has an empty one, and the filters of the corpus count it."""
    renamed = {"paper_id": record.get("_id"), "title": record.get("title"), "abstract": record.get("text")}
    return renamed | {"metadata": record["metadata"]} if isinstance(record.get("metadata"), dict) else renamed


BEIR = Format("beir", paper=paper, fits=lambda record: "_id" in record and "text" in record)
