"""The documents of a dataset that `ir_datasets` knows by its name (https://ir-datasets.com)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Format, Piece, Records
from annot.formats.corpora.plain import WHOLES, document

SHOWN = 200
"""Characters of what ir_datasets says."""


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The abstract is the document's `abstract`, or else its `text` or `body`; a document without a title has an empty
    one, and the filters of the corpus count it."""
    texts = [record[name] for name in ("abstract", "text", "body") if record.get(name)]
    own = {name: record[name] for name in ("doc_id", "title", "year", "part_of", *WHOLES) if name in record}
    return document({"title": None} | own | {"abstract": texts[0] if texts else None})


def cut(name: str) -> list[tuple[int, int | None]]:
    """One piece: a dataset is read from its beginning. Raises InputError if it is not known or has no documents."""
    if not dataset_named(name).has_docs():
        raise InputError(f"{name}: this dataset of ir_datasets has no documents")
    return [(0, None)]


def records(piece: Piece) -> Records:
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


IRDS = Format("irds", paper=paper, records=records, cut=cut, published=True, by_name=True)
