"""The files of BEIR and MTEB: corpus, queries, qrels in both of their forms, and the pools as `top_ranked`.

Thakur et al.: BEIR, NeurIPS 2021 Datasets and Benchmarks, https://github.com/beir-cellar/beir; Muennighoff et al.:
MTEB, EACL 2023, https://github.com/embeddings-benchmark/mteb, whose re-ranking tasks read `top_ranked`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from annot.formats.faults import Faults
from annot.records import Paper, Pool, Qrel, Query

SPLIT = "test"
CORPUS_FILE = "corpus.jsonl"
CORPUS_IDS_FILE = "corpus-ids.jsonl"
QUERIES_FILE = "queries.jsonl"
QUERY_IDS_FILE = "queries-ids.jsonl"
QRELS_FILE = f"qrels/{SPLIT}.tsv"
HUB_QRELS_FILE = f"qrels/{SPLIT}.jsonl"
TOP_RANKED_FILE = f"top_ranked/{SPLIT}.jsonl"
QRELS_COLUMNS = ("query-id", "corpus-id", "score")


class BeirFiles(NamedTuple):
    """The paths of what was written, below the folder given."""

    corpus: str
    queries: str
    qrels: str
    """BEIR's, tab-separated with a header line."""
    hub_qrels: str
    """MTEB's, JSON Lines: the hub's loader reads all files of a repository as one format."""
    top_ranked: str


def beir_paths(folder: str, *, with_text: bool) -> BeirFiles:
    """Where `write_beir` puts its files: `folder` is `""` or ends with `/`."""
    names = (CORPUS_FILE, QUERIES_FILE) if with_text else (CORPUS_IDS_FILE, QUERY_IDS_FILE)
    return BeirFiles(*(folder + name for name in (*names, QRELS_FILE, HUB_QRELS_FILE, TOP_RANKED_FILE)))


def write_beir(
    *,
    papers: Iterable[Paper],
    queries: Iterable[Query],
    qrels: Iterable[Qrel],
    pools: Iterable[Pool],
    judged: Mapping[str, Iterable[str]],
    folder: str,
    with_text: bool,
) -> dict[str, bytes]:
    """The files by path, everything ordered by id.

    A query's text is the sentences that make it. `top_ranked` is its paper's pool, by id: a pool has no order that may
    be learned from. Of a query in `judged`, to whose judgements no pool led, it is the documents named there. A pair
    that has no qrel is unjudged; BEIR's own measures count it as 0.

    with_text: False where the licence of the texts does not allow to pass them on. Then there is no `corpus.jsonl` and
    no `queries.jsonl`, but `corpus-ids.jsonl` and `queries-ids.jsonl` (paper, facet, positions of the sentences), so
    that no program takes empty texts for the real ones.

    Raises InputError with every id that is there twice or that points to nothing: a query without its paper or without
    a pool, a sentence position outside the abstract, a qrel without its query or paper, a pooled paper that is missing.
    """
    by_id = {paper.paper_id: paper for paper in papers}
    ordered = sorted(queries, key=lambda query: query.query_id)
    grades = sorted(qrels)
    pooled = {pool.paper_id: sorted(entry.doc_id for entry in pool.entries) for pool in pools}
    ranked = {query.query_id: pooled[query.paper_id] for query in ordered if query.paper_id in pooled}
    given = {query_id: sorted(set(doc_ids)) for query_id, doc_ids in judged.items()}
    _check(by_id, ordered, grades, pooled, given)
    ranked |= given
    corpus = [_paper(by_id[paper_id], with_text) for paper_id in sorted(by_id)]
    paths = beir_paths(folder, with_text=with_text)
    texts = {
        paths.corpus: _lines(corpus),
        paths.queries: _lines(_query(query, by_id[query.paper_id], with_text) for query in ordered),
        paths.qrels: "".join("\t".join(map(str, row)) + "\n" for row in [QRELS_COLUMNS, *grades]),
        paths.hub_qrels: _lines(dict(zip(QRELS_COLUMNS, qrel, strict=True)) for qrel in grades),
        paths.top_ranked: _lines(
            {"query-id": query.query_id, "corpus-ids": ranked[query.query_id]} for query in ordered
        ),
    }
    return {path: text.encode("utf-8") for path, text in texts.items()}


def _paper(paper: Paper, with_text: bool) -> dict[str, Any]:
    if not with_text:
        return {"_id": paper.paper_id}
    text = " ".join(paper.sentences)
    return {"_id": paper.paper_id, "title": paper.title, "text": text, "metadata": {"year": paper.year}}


def _query(query: Query, paper: Paper, with_text: bool) -> dict[str, Any]:
    origin = {"paper_id": query.paper_id, "facet": query.facet}
    if not with_text:
        return {"_id": query.query_id, "metadata": {**origin, "sentences": list(query.sentences)}}
    text = " ".join(paper.sentences[position] for position in query.sentences)
    return {"_id": query.query_id, "text": text, "metadata": {**origin, "title": paper.title}}


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _check(
    papers: Mapping[str, Paper],
    queries: list[Query],
    qrels: list[Qrel],
    pooled: Mapping[str, list[str]],
    judged: Mapping[str, list[str]],
) -> None:
    faults = Faults("BEIR files")
    known = {query.query_id for query in queries}
    if len(known) != len(queries):
        names = [query.query_id for query in queries]
        for name in sorted({name for name in names if names.count(name) > 1}):
            faults.add(f"query {name} is there twice")
    for query in queries:
        if query.paper_id not in papers:
            faults.add(f"query {query.query_id}: its paper {query.paper_id} is not in the corpus")
        elif outside := [at for at in query.sentences if not 0 <= at < len(papers[query.paper_id].sentences)]:
            faults.add(f"query {query.query_id}: the abstract has no sentence at position {outside[0]}")
        if query.paper_id not in pooled and query.query_id not in judged:
            faults.add(f"query {query.query_id}: its paper {query.paper_id} has no pool")
    for at, qrel in enumerate(qrels):
        if qrel.query_id not in known:
            faults.add(f"qrel of {qrel.query_id} and {qrel.doc_id}: no such query")
        if qrel.doc_id not in papers:
            faults.add(f"qrel of {qrel.query_id} and {qrel.doc_id}: no such paper in the corpus")
        if at and qrels[at - 1][:2] == qrel[:2]:
            faults.add(f"qrel of {qrel.query_id} and {qrel.doc_id} is there twice")
    for paper_id, doc_ids in sorted(pooled.items()):
        for doc_id in doc_ids:
            if doc_id not in papers:
                faults.add(f"pool of {paper_id}: {doc_id} is not in the corpus")
    for query_id, doc_ids in sorted(judged.items()):
        for doc_id in doc_ids:
            if doc_id not in papers:
                faults.add(f"{doc_id}, judged for {query_id}, is not in the corpus")
    faults.raise_if_any()
