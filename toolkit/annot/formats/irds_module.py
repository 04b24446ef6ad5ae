"""The module with which ir_datasets reads a release; it is written into it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from annot.base.templating import render
from annot.formats.beir import BeirFiles, Fields, dataset_id

TYPES = {
    **dict.fromkeys(("paper_id", "topic_id", "kind", "facet"), "str"),
    **dict.fromkeys(("title", "description", "narrative", "paper_type", "part_of"), "Optional[str]"),
    "sentences": "Tuple[int, ...]",
    "year": "Optional[int]",
}
"""Of the fields that records have in their metadata."""


def module_name(name: str) -> str:
    """The name of the module's file without `.py`: one that can be imported.

    >>> module_name("2nd collection")
    'irds_2nd_collection'
    """
    return "irds_" + dataset_id(name).replace("-", "_")


def write_irds(
    *,
    name: str,
    title: str,
    language: str,
    topic_language: str,
    files: BeirFiles,
    docs_sha256: str,
    with_text: bool,
    fields: Fields,
    facets: Sequence[str],
    grades: Sequence[str],
    warning: str = "",
) -> str:
    """The source of the module. It needs Python 3.8, `ir_datasets` and the files named, nothing else.

    It registers `<id>` with all queries and `<id>/<facet>` for each facet: documents, queries, qrels, and the pools as
    scored documents with score 0, since a pool has no order. A query has a text, and each field that its record in
    the queries' file has; with a text alone, it is ir_datasets' own `GenericQuery`.

    language, topic_language: of the documents and of topics that are texts, BCP 47; the first part is what
    `ir_datasets` shows, and nothing for queries in two languages. files: relative to the module. docs_sha256: of the
    corpus file; the document store that `ir_datasets` builds is kept under it, so that another version of the
    collection never reads this one's. with_text: as in `beir.write_beir`; without it there are no documents. fields:
    of the records in the files.
    grades: the names of the grades from 0 upward. warning: what the qrels must not be used for, in its first lines.
    """
    documents, asked = language_code(language), language_code(topic_language or language)
    spoken = {"papers": {documents}, "texts": {asked}, "both": {documents, asked}}[fields.kinds]
    constants = {
        "TITLE": title,
        "ID": dataset_id(name),
        "LANGUAGE": documents,
        "FACETS": tuple(facets),
        "GRADES": dict(enumerate(grades)),
        "DOCS": files.corpus if with_text else None,
        "DOCS_SHA256": docs_sha256,
        "QUERIES": files.queries,
        "QRELS": files.qrels,
        "POOLS": files.top_ranked,
    }
    values = {
        "module": module_name(name),
        "id": dataset_id(name),
        "with_text": with_text,
        "fields": fields,
        "types": TYPES,
        "warning": textwrap.fill(warning, 118),
        "constants": {constant: repr(value) for constant, value in constants.items()},
        "queries_language": "LANGUAGE" if spoken == {documents} else repr(asked) if len(spoken) == 1 else "None",
    }
    return render("irds.py.j2", values, overrides=None)


def language_code(language: str) -> str:
    """The language of a BCP 47 tag, as ir_datasets and the hub name it.

    >>> language_code("pt-BR")
    'pt'
    """
    return re.split("[-_]", language)[0].lower()
