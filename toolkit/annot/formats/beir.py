"""The files of BEIR, MTEB and ir_datasets: corpus, queries, qrels in all of their forms, pools as `top_ranked`.

Thakur et al.: BEIR, NeurIPS 2021 Datasets and Benchmarks, https://github.com/beir-cellar/beir; Muennighoff et al.:
MTEB, EACL 2023, https://github.com/embeddings-benchmark/mteb, whose re-ranking tasks read `top_ranked`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from annot.base.errors import Faults, InputError
from annot.base.records import Paper, Pool, Qrel, Query
from annot.base.templating import render
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
    pooled = {pool.topic_id: [entry.doc_id for entry in pool.entries] for pool in pools}
    ranked = {query.query_id: pooled[query.topic_id] for query in ordered if query.topic_id in pooled}
    ranked |= {query_id: list(doc_ids) for query_id, doc_ids in judged.items()}
    faults = Faults("BEIR files")
    for query in ordered:
        if query.query_id not in ranked:
            faults.add(f"query {query.query_id}: its paper {query.topic_id} has no pool")
    faults.raise_if_any(hint="draw it with `annot pool`")
    paths = beir_paths(folder, with_text=with_text)
    texts = {
        paths.corpus: json_lines(_paper(paper, with_text) for _, paper in sorted(by_id.items())),
        paths.queries: json_lines(_query(query, by_id.get(query.topic_id), with_text) for query in ordered),
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
    origin = {"paper_id": query.topic_id, "facet": query.facet}
    if query.paper_type is not None:
        origin["paper_type"] = query.paper_type
    if paper is None or not with_text:
        return {"_id": query.query_id, "metadata": {**origin, "sentences": list(query.sentences)}}
    text = " ".join(paper.sentences[position] for position in query.sentences)
    return {"_id": query.query_id, "text": text, "metadata": {**origin, "title": paper.title}}


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
