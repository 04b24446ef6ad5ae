"""The files of BEIR and MTEB: corpus, queries, qrels in both of their forms, and the pools as `top_ranked`.

Thakur et al.: BEIR, NeurIPS 2021 Datasets and Benchmarks, https://github.com/beir-cellar/beir; Muennighoff et al.:
MTEB, EACL 2023, https://github.com/embeddings-benchmark/mteb, whose re-ranking tasks read `top_ranked`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from annot.base.records import Paper, Pool, Qrel, Query
from annot.formats.faults import Faults
from annot.formats.json_lines import json_lines

SPLIT = "test"
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
    texts = ("corpus.jsonl", "queries.jsonl") if with_text else ("corpus-ids.jsonl", "queries-ids.jsonl")
    grades = (f"qrels/{SPLIT}.tsv", f"qrels/{SPLIT}.jsonl", f"top_ranked/{SPLIT}.jsonl")
    return BeirFiles(*(folder + name for name in (*texts, *grades)))


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

    A query's text is the sentences that make it; its metadata tell the type of its paper where that is on record.
    `top_ranked` is its paper's pool, by id: a pool has no order that may be learned from. Of a query in `judged`, to
    whose judgements no pool led, it is the documents named there. A pair that has no qrel is unjudged; BEIR's own
    measures count it as 0.

    with_text: False where the licence of the texts does not allow to pass them on. Then there is no `corpus.jsonl` and
    no `queries.jsonl`, but `corpus-ids.jsonl` and `queries-ids.jsonl` (paper, facet, positions of the sentences), so
    that no program takes empty texts for the real ones.

    Every paper of a query, a pool or a judgement is among `papers`; without texts, they may lack some. Raises
    InputError with every query without a pool.
    """
    by_id = {paper.paper_id: paper for paper in papers}
    ordered = sorted(queries, key=lambda query: query.query_id)
    grades = sorted(qrels)
    pooled = {pool.paper_id: [entry.doc_id for entry in pool.entries] for pool in pools}
    ranked = {query.query_id: pooled[query.paper_id] for query in ordered if query.paper_id in pooled}
    ranked |= {query_id: list(doc_ids) for query_id, doc_ids in judged.items()}
    faults = Faults("BEIR files")
    for query in ordered:
        if query.query_id not in ranked:
            faults.add(f"query {query.query_id}: its paper {query.paper_id} has no pool")
    faults.raise_if_any(hint="draw it with `annot pool`")
    paths = beir_paths(folder, with_text=with_text)
    texts = {
        paths.corpus: json_lines(_paper(paper, with_text) for _, paper in sorted(by_id.items())),
        paths.queries: json_lines(_query(query, by_id.get(query.paper_id), with_text) for query in ordered),
        paths.qrels: "".join("\t".join(map(str, row)) + "\n" for row in [QRELS_COLUMNS, *grades]),
        paths.hub_qrels: json_lines(dict(zip(QRELS_COLUMNS, qrel, strict=True)) for qrel in grades),
        paths.top_ranked: json_lines(
            {"query-id": query.query_id, "corpus-ids": sorted(set(ranked[query.query_id]))} for query in ordered
        ),
    }
    return {path: text.encode("utf-8") for path, text in texts.items()}


def _paper(paper: Paper, with_text: bool) -> dict[str, Any]:
    if not with_text:
        return {"_id": paper.paper_id}
    text = " ".join(paper.sentences)
    return {"_id": paper.paper_id, "title": paper.title, "text": text, "metadata": {"year": paper.year}}


def _query(query: Query, paper: Paper | None, with_text: bool) -> dict[str, Any]:
    origin = {"paper_id": query.paper_id, "facet": query.facet}
    if query.paper_type is not None:
        origin["paper_type"] = query.paper_type
    if paper is None or not with_text:
        return {"_id": query.query_id, "metadata": {**origin, "sentences": list(query.sentences)}}
    text = " ".join(paper.sentences[position] for position in query.sentences)
    return {"_id": query.query_id, "text": text, "metadata": {**origin, "title": paper.title}}
