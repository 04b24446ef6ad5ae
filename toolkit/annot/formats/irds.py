"""A module for `ir_datasets` that registers a released collection from the folder it lies in.

MacAvaney et al.: Simplified Data Wrangling with ir_datasets, SIGIR 2021, https://ir-datasets.com. What follows is its
road for extensions: a module that calls `ir_datasets.registry.register` when it is imported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from annot.errors import InputError
from annot.formats.beir import BeirFiles

_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[^a-z0-9]+")


def dataset_id(name: str) -> str:
    """The collection's name as `ir_datasets` ids are: small letters, digits and hyphens.

    >>> dataset_id("Demo Collection, 2nd")
    'demo-collection-2nd'
    """
    found = _NEITHER_LETTER_NOR_DIGIT.sub("-", name.lower()).strip("-")
    if not found:
        raise InputError(
            f"collection name {name!r}: no letter or digit (a to z, 0 to 9) in it",
            hint="set collection.name in annot.toml",
        )
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
    values = {
        "MODULE": module_name(name),
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
    constants = "".join(f"{key} = {value!r}\n" for key, value in values.items() if key != "MODULE")
    head = _HEAD.replace("@MODULE@", module_name(name)).replace("@ID@", dataset_id(name))
    return head + constants + (_DOCS if with_text else _NO_DOCS) + _REST


_HEAD = '''"""The collection as a data set of `ir_datasets` (https://ir-datasets.com).

With this folder on Python's path:

    import ir_datasets, @MODULE@
    dataset = ir_datasets.load("@ID@")

What is to be ranked for a query comes as scored documents with score 0: a pool has no order. A pair without a qrel is
unjudged.
"""

import csv
import json
from pathlib import Path
from typing import NamedTuple, Optional, Tuple

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, BaseScoredDocs, GenericScoredDoc, TrecQrel
from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, PickleLz4FullStore

FOLDER = Path(__file__).resolve().parent
'''

_DOCS = '''

class Doc(NamedTuple):
    doc_id: str
    title: str
    text: str
    year: Optional[int]

    def default_text(self):
        """title text"""
        return f"{self.title} {self.text}"


class Query(NamedTuple):
    query_id: str
    text: str
    paper_id: str
    facet: str

    def default_text(self):
        """text"""
        return self.text


def read_query(row):
    return Query(row["_id"], row["text"], row["metadata"]["paper_id"], row["metadata"]["facet"])


class Docs(BaseDocs):
    def docs_iter(self):
        return iter(self.docs_store())

    def _docs_iter(self):
        for row in read(DOCS):
            yield Doc(row["_id"], row["title"], row["text"], row["metadata"]["year"])

    def docs_cls(self):
        return Doc

    def docs_store(self, field="doc_id", options=DEFAULT_DOCSTORE_OPTIONS):
        return PickleLz4FullStore(
            path=str(ir_datasets.util.home_path() / ID / DOCS_SHA256[:16] / "docs.pklz4"),
            init_iter_fn=self._docs_iter,
            data_cls=Doc,
            lookup_field=field,
            index_fields=["doc_id"],
            options=options,
        )

    def docs_count(self):
        return self.docs_store().count() if self.docs_store().built() else None

    def docs_namespace(self):
        return ID

    def docs_lang(self):
        return LANGUAGE
'''

_NO_DOCS = '''

class Query(NamedTuple):
    """The texts are not part of this release: `sentences` are the positions, from 0, of the query's sentences."""

    query_id: str
    paper_id: str
    facet: str
    sentences: Tuple[int, ...]


def read_query(row):
    meta = row["metadata"]
    return Query(row["_id"], meta["paper_id"], meta["facet"], tuple(meta["sentences"]))


Docs = None
'''

_REST = """

def read(name):
    with (FOLDER / name).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


class Queries(BaseQueries):
    def __init__(self, facet=None):
        self.facet = facet

    def queries_iter(self):
        for row in read(QUERIES):
            query = read_query(row)
            if self.facet in (None, query.facet):
                yield query

    def queries_cls(self):
        return Query

    def queries_namespace(self):
        return ID

    def queries_lang(self):
        return LANGUAGE


class Qrels(BaseQrels):
    def __init__(self, queries):
        self.queries = queries

    def qrels_iter(self):
        known = {query.query_id for query in self.queries.queries_iter()}
        with (FOLDER / QRELS).open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\\t", quoting=csv.QUOTE_NONE):
                if row["query-id"] in known:
                    yield TrecQrel(row["query-id"], row["corpus-id"], int(row["score"]), "0")

    def qrels_cls(self):
        return TrecQrel

    def qrels_defs(self):
        return GRADES


class Pools(BaseScoredDocs):
    def __init__(self, queries):
        self.queries = queries

    def scoreddocs_iter(self):
        known = {query.query_id for query in self.queries.queries_iter()}
        for row in read(POOLS):
            if row["query-id"] in known:
                for doc_id in row["corpus-ids"]:
                    yield GenericScoredDoc(row["query-id"], doc_id, 0.0)


def register():
    docs = Docs() if Docs is not None else None
    for facet in (None, *FACETS):
        name = ID if facet is None else f"{ID}/{facet}"
        if name not in list(ir_datasets.registry):
            queries = Queries(facet)
            ir_datasets.registry.register(name, Dataset(docs, queries, Qrels(queries), Pools(queries)))


register()
"""
