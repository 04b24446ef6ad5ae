"""CORD-19: the table of a release with the full texts beside it, or full texts alone, one a JSON file or one a line.

Wang et al.: CORD-19, NLP-COVID at ACL 2020, https://github.com/allenai/cord19 (`json_schema.txt`). The table,
`metadata.csv`, has ids, year and abstract of each paper. It names the paper's full texts in the folder
`document_parses`: they have what the paper cites, and often an abstract if the table has none. A full text alone is
known by the SHA-1 of its PDF or by its PMC id. It has no year, and only that of a PDF has an abstract.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annot.formats.corpora.cutting import Broken, Format, Piece, Records, cut_lines, in_one_piece, json_records
from annot.formats.corpora.tables import csv_rows
from annot.formats.corpora.tables import paper as paper_of_row
from annot.formats.input_files import opened

FULL_TEXTS = "document_parses"
_FILES = ("pdf_json_files", "pmc_json_files")
"""Columns of the table with the names of full texts; semicolons are between them."""
_FILE = re.compile(rf"{FULL_TEXTS}/(?:pdf|pmc)_json/[\w-][\w.-]*\.json")
_TABLE = re.compile(rb'"?cord_uid"?,')
_CITED = {"DOI": "doi", "PMID": "pmid"}


def records(piece: Piece) -> Records:
    """The rows of the table, each with its full texts as papers; of other files the full texts."""
    if not _is_table(piece.path):
        yield from json_records(piece)
        return
    folder = Path(piece.path).parent
    for place, row in csv_rows(piece):
        if not isinstance(row, dict):
            yield place, row
            continue
        texts = []
        for path in _full_texts(row, folder):
            for _, text in json_records(Piece(str(path), piece.format, 0, None)):
                if isinstance(text, dict):
                    texts.append(_of_full_text(text))
                elif isinstance(text, Broken):
                    faults = tuple(f"{path}: {fault}" for fault in text.faults)
                    yield place, text._replace(faults=faults)
        yield place, {**row, FULL_TEXTS: texts}


def _full_texts(row: Mapping[str, str], folder: Path) -> list[Path]:
    """Those that are there; a release can be downloaded without them."""
    names = [name.strip() for column in _FILES for name in row.get(column, "").split(";")]
    return [path for name in names if _FILE.fullmatch(name) and (path := folder / name).is_file()]


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The paper of a row, with what its full texts add, or of a full text."""
    if FULL_TEXTS not in record:
        return _of_full_text(record)
    row = paper_of_row({name: value for name, value in record.items() if name != FULL_TEXTS})
    texts = record[FULL_TEXTS]
    abstracts = (one["abstract"] for one in texts if one["abstract"])
    return {
        **row,
        "abstract": row.get("abstract") or next(abstracts, None),
        "cited": [cited for one in texts for cited in one["cited"]],
    }


def _of_full_text(record: Mapping[str, Any]) -> dict[str, Any]:
    """The paragraphs of its abstract are those that say something."""
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


def _is_table(name: str) -> bool:
    with opened(Path(name)) as file:
        return _TABLE.match(file.read(1 << 6).removeprefix(codecs.BOM_UTF8)) is not None


CORD19 = Format(
    "cord19",
    paper=paper,
    fits=_fits,
    told=lambda head: _TABLE.match(head.start),
    records=records,
    cut=lambda name: in_one_piece(name) if _is_table(name) else cut_lines(name),
    brings=lambda name: Path(name).parent / FULL_TEXTS if _is_table(name) else None,
    bibliographic=True,
)
