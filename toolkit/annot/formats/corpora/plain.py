"""Documents by the names that people give their fields, as JSON Lines or one JSON text; BEIR's, CSFCube's, and the
documents of datasets that `ir_datasets` knows by name (https://ir-datasets.com)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Format, Piece, Records

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


SHOWN = 200
"""Characters of what ir_datasets says."""


def irds_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The abstract is the document's `abstract`, or else its `text` or `body`; a document without a title has an empty
    one, and the filters of the corpus count it."""
    texts = [record[name] for name in ("abstract", "text", "body") if record.get(name)]
    own = {name: record[name] for name in ("doc_id", "title", "year", "part_of", *WHOLES) if name in record}
    return document({"title": None} | own | {"abstract": texts[0] if texts else None})


def irds_cut(name: str) -> list[tuple[int, int | None]]:
    """One piece: a dataset is read from its beginning. Raises InputError if it is not known or has no documents."""
    if not dataset_named(name).has_docs():
        raise InputError(f"{name}: this dataset of ir_datasets has no documents")
    return [(0, None)]


def irds_records(piece: Piece) -> Records:
    """The documents, in the dataset's order."""
    with downloading(piece.path):
        for number, one in enumerate(dataset_named(piece.path).docs_iter(), start=1):
            yield number, one._asdict()


def dataset_named(name: str) -> Any:
    """The dataset. Raises InputError, with the near name, if ir_datasets is not there or does not know it."""
    try:
        import ir_datasets
    except ModuleNotFoundError:
        raise InputError(f"{name}: needs ir_datasets, which is not installed", hint="pip install ir-datasets") from None
    try:
        return ir_datasets.load(name)
    except KeyError:
        close = difflib.get_close_matches(name, list(ir_datasets.registry))
        hint = f"did you mean {close[0]!r}?" if close else "https://ir-datasets.com lists them"
        raise InputError(f"{name}: not a dataset of ir_datasets", hint=hint) from None


@contextmanager
def downloading(name: str) -> Iterator[None]:
    """Raise InputError if ir_datasets cannot fetch the files of the dataset: it does so when they are first read."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        problem = error.args[0] if isinstance(error, RuntimeError) and error.args else error
        raise InputError(
            f"{name}: ir_datasets cannot read this dataset: {str(problem)[:SHOWN]}",
            hint=f"check the connection; https://ir-datasets.com/{name.partition('/')[0]} has its sources",
        ) from None


IRDS = Format("irds", paper=irds_paper, records=irds_records, cut=irds_cut, published=True, by_name=True)
