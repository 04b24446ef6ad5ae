"""A module for `ir_datasets` that registers a released collection from the folder it lies in.

MacAvaney et al.: Simplified Data Wrangling with ir_datasets, SIGIR 2021, https://ir-datasets.com. What follows is its
road for extensions: a module that calls `ir_datasets.registry.register` when it is imported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from annot.base.errors import InputError
from annot.base.templating import render
from annot.formats.beir import BeirFiles


def dataset_id(name: str) -> str:
    """The collection's name as `ir_datasets` ids are: small letters, digits and hyphens.

    >>> dataset_id("Demo Collection, 2nd")
    'demo-collection-2nd'
    """
    found = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
    if not found:
        raise InputError(f"collection name {name!r}: no letter or digit (a-z, 0-9) in it", hint="set collection.name")
    return found


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
    files: BeirFiles,
    docs_sha256: str,
    with_text: bool,
    facets: Sequence[str],
    grades: Sequence[str],
) -> str:
    """The source of the module. It needs Python 3.8, `ir_datasets` and the files named, nothing else.

    It registers `<id>` with all queries and `<id>/<facet>` for each facet: documents, queries, qrels, and the pools as
    scored documents with score 0, since a pool has no order.

    language: BCP 47; its first part is what `ir_datasets` shows. files: relative to the module. docs_sha256: of the
    corpus file; the document store that `ir_datasets` builds is kept under it, so that another version of the
    collection never reads this one's. with_text: as in `beir.write_beir`; without it there are no documents.
    grades: the names of the grades from 0 upward.
    """
    constants = {
        "TITLE": title,
        "ID": dataset_id(name),
        "LANGUAGE": re.split("[-_]", language)[0].lower(),
        "FACETS": tuple(facets),
        "GRADES": dict(enumerate(grades)),
        "DOCS": files.corpus if with_text else None,
        "DOCS_SHA256": docs_sha256,
        "QUERIES": files.queries,
        "QRELS": files.qrels,
        "POOLS": files.top_ranked,
    }
    values = {"module": module_name(name), "id": dataset_id(name), "with_text": with_text}
    values["constants"] = {constant: repr(value) for constant, value in constants.items()}
    return render("irds.py.j2", values, overrides=None)
