# SPDX-License-Identifier: 0BSD
"""The collection as a data set of `ir_datasets` (https://ir-datasets.com).

Only a sample of the pools was judged, and plain trec_eval on `qrels.txt` is wrong: it counts what was not drawn as
not relevant. On 2 runs of this study, nDCG is then off by 0.109 on average and by 0.111 at most. `python
evaluate_sample.py RUN` estimates the measures of the whole pools from `sample.tsv`.

With this folder on Python's path:

    import ir_datasets, irds_frozen_questions
    dataset = ir_datasets.load("frozen-questions")

What is to be ranked for a query comes as scored documents with score 0: a pool has no order. A pair without a qrel is
unjudged.

This file may be used, changed and passed on by anyone, for any purpose and without conditions; the collection has a
licence of its own, which README.md names.
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
TITLE = 'DRAFT: A frozen study'
ID = 'frozen-questions'
LANGUAGE = 'en'
FACETS = ()
GRADES = {0: 'Unrelated', 1: 'Related', 2: 'Partial answer', 3: 'Full answer'}
DOCS = None
DOCS_SHA256 = '722b82f60b9a40a2fd2e488889da6394fd553d29b86b3efbd30b399889f122fe'
QUERIES = 'beir/queries.jsonl'
QRELS = 'beir/qrels/test.tsv'
POOLS = 'beir/top_ranked/test.jsonl'


Docs = None


class Query(NamedTuple):
    query_id: str
    text: str
    title: Optional[str]
    description: Optional[str]
    narrative: Optional[str]

    def default_text(self):
        """text"""
        return self.text


def read_query(row):
    meta = row["metadata"]
    return Query(
        row["_id"],
        row["text"],
        meta["title"],
        meta["description"],
        meta["narrative"],
    )


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
            if self.facet is None or query.facet == self.facet:
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
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
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
