"""The pools of a CSFCube release: from its pools file, else from the readable files, held against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from annot.base.records import Draw, Paper, Pool, PoolEntry
from annot.formats.csfcube.contents import POOLS_FILE, READABLE_FOLDER, Files, paper_and_facet
from annot.formats.csfcube.readable import RatedPair
from annot.formats.faults import Faults

CITED = "cited"

Ratings = Mapping[str, tuple[RatedPair, ...]]
"""By query id: in the query list's order, else by facet and id; the pairs in the file's order, by document id where
they come from a readable file."""


def fitted_pools(
    read: Files, ratings: Ratings, papers: Mapping[str, Paper], faults: Faults
) -> tuple[dict[str, Pool], Counter[str]]:
    """Pools of the rated queries; and how often a candidate without rating and without text was dropped."""
    rated: dict[str, set[str]] = {}
    sources: dict[str, dict[str, tuple[str, ...]]] = {}
    for query_id, pairs in ratings.items():
        paper_id, _ = paper_and_facet(query_id)
        rated.setdefault(paper_id, set()).update(pair.doc_id for pair in pairs)
        if query_id in read.readable:
            sources.setdefault(paper_id, {}).update(read.readable[query_id].sources)
    pools: dict[str, Pool] = {}
    dropped = Counter[str]()
    for paper_id, doc_ids in rated.items():
        readable = sources.get(paper_id, {})
        drawn = dict(sorted(readable.items())) if read.pools is None else read.pools.get(paper_id)
        if drawn is None:
            faults.add(f"no pool of query {paper_id}", place=POOLS_FILE)
            continue
        for doc_id, methods in drawn.items():
            if (told := readable.get(doc_id, methods)) != methods:
                faults.add(
                    f"query {paper_id}, candidate {doc_id}: sources {' - '.join(methods)}, "
                    f"{READABLE_FOLDER} has {' - '.join(told)}",
                    place=POOLS_FILE,
                )
        missing = sorted(doc_ids - drawn.keys())
        if not missing:
            kept = doc_ids | papers.keys()
            dropped.update(drawn.keys() - kept)
            pools[paper_id] = _pool(paper_id, drawn, kept, in_order=read.pools is not None)
        elif read.pools is not None:
            for doc_id in missing:
                faults.add(f"query {paper_id}: candidate {doc_id} is rated and not in the pool", place=POOLS_FILE)
    return pools, dropped


def _pool(paper_id: str, drawn: Mapping[str, tuple[str, ...]], kept: Collection[str], *, in_order: bool) -> Pool:
    entries = tuple(
        PoolEntry(
            doc_id,
            Draw(methods[0], None, None, turn if in_order else None),
            tuple(Draw(method, None, None, None) for method in methods[1:] if methods[0] != CITED),
        )
        for turn, (doc_id, methods) in enumerate(drawn.items(), 1)
        if doc_id in kept
    )
    counts = Counter(methods[0] for methods in drawn.values() if methods[0] != CITED)
    drawing = list(dict.fromkeys(entry.drawn.method for entry in entries))
    if not in_order:
        drawing.sort(key=lambda method: (method != CITED, method))
    return Pool(
        paper_id=paper_id,
        mode="blocks",
        per_method=max(counts.values()) if in_order and len({*counts.values()}) == 1 else None,
        ranking_depth=None,
        seed=None,
        methods=tuple(drawing),
        without=(),
        dry=(),
        cited_outside=None,
        entries=entries,
    )


def with_citations(paper: Paper, pool: Pool | None) -> Paper:
    if pool is None or paper.citations:
        return paper
    cited = (entry.doc_id for entry in pool.entries if entry.drawn.method == CITED)
    return replace(paper, citations=tuple(sorted(doc_id for doc_id in cited if doc_id != paper.paper_id)))
