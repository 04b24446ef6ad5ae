"""A CSFCube release folder as one record: papers, queries, pools, double ratings, grades, splits, runs.

Mysore, O'Gorman, McCallum, Zamani: CSFCube, NeurIPS 2021 Datasets and Benchmarks, https://github.com/iesl/CSFCube.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from annot.formats.csfcube.contents import is_release_file, read_files
from annot.formats.csfcube.fitting import CITED, Folder, fit
from annot.formats.csfcube.pieces import QueryKey
from annot.formats.csfcube.readable import RatedPair
from annot.formats.csfcube.written import Material, misfits, write_csfcube
from annot.formats.faults import Faults
from annot.names import near
from annot.ordering import ranked
from annot.records import Decision, Draw, Judgement, Paper, Pool, PoolEntry, Query, Ranking, ScoredDoc

ADJUDICATOR = "adjudicator"
"""Whoever settled the differences: the release names nobody."""

__all__ = [
    "ADJUDICATOR",
    "CsfcubeFacts",
    "Material",
    "Release",
    "ReleasedRun",
    "is_release_file",
    "misfits",
    "read_release",
    "write_csfcube",
]


@dataclass(frozen=True, slots=True)
class ReleasedRun:
    """An engine's rankings of the pools, by query id, with the negated distances as scores."""

    tag: str
    rankings: dict[str, Ranking]


@dataclass(frozen=True, slots=True)
class Release:
    """Everything in a release folder, whole or partial, in our records."""

    facets: tuple[str, ...]
    papers: tuple[Paper, ...]
    """In the papers file's order, else by number. A query paper has the cited papers of its pool as citations where
    the file gives none: those are the ones the release knows of."""
    queries: tuple[Query, ...]
    """In the query list's order, else by facet and id."""
    paper_types: dict[str, str]
    """By query id, the paper type in the release's own words; empty without a query list."""
    pools: tuple[Pool, ...]
    """Without ranks, scores and seeds, which the release does not tell. `turn` is the place in the released pool, from
    1, with gaps where a candidate was dropped; None where the order is not known. `also` is empty for cited papers,
    which share one list per pool."""
    judgements: tuple[Judgement, ...]
    decisions: tuple[Decision, ...]
    splits: dict[str, dict[str, tuple[str, ...]]]
    """By facet (or `all`) and fold: query ids."""
    runs: tuple[ReleasedRun, ...]
    facts: CsfcubeFacts


def read_release(
    files: Mapping[str, bytes], *, name: str, facet_labels: Mapping[str, tuple[str, ...]], clean_text: bool
) -> Release:
    """The release in `files`: contents by path relative to its folder, with `/`. `name` is the folder in messages.

    Whole or partial: the facets are those with ratings, in `test-pid2anns-csfcube-<facet>.json` or, where that is
    missing, in `readable_annotations/`. Papers come from `abstracts-csfcube-preds.jsonl`, else from the readable
    files, and so do pools, then without the order of drawing. What both have is compared: grades, ratings and sources
    that differ are faults; text and labels that differ are counted, and a query's labels are taken from its readable
    file, where they were corrected by hand. Query list, splits and runs may be absent.

    `facet_labels`: the sentence labels that make each facet. `clean_text`: clean titles and sentences, as
    `paper_text.paper_of` does. Assessor `a3` is the one of `relevance_ann3`. A rating of -1 has grade None.
    Raises MissingInput when the folder has no ratings, else InputError with every fault, by file and place.
    """
    folder = fit(read_files(files, name=name, clean_text=clean_text), name=name)
    pools = {query: _pool(query, drawn, folder) for query, drawn in folder.pools.items()}
    return Release(
        facets=folder.facets,
        papers=tuple(_with_citations(paper, pools.get(paper.paper_id)) for paper in folder.papers.values()),
        queries=_queries(folder, facet_labels, name),
        paper_types={query_id(key): kind for key, kind in folder.paper_types.items()},
        pools=tuple(pools.values()),
        judgements=tuple(
            Judgement(query_id(key), pair.doc_id, assessor, grade)
            for key, pairs in folder.ratings.items()
            for pair in pairs
            for assessor, grade in pair.ratings.items()
        ),
        decisions=tuple(_decision(key, pair) for key, pairs in folder.ratings.items() for pair in pairs),
        splits={
            facet: {fold: tuple(query_id(key) for key in keys) for fold, keys in folds.items()}
            for facet, folds in folder.splits.items()
        },
        runs=tuple(_run(tag, rows) for tag, rows in folder.runs.items()),
        facts=facts_of(folder),
    )


def query_id(key: QueryKey) -> str:
    """`<paper_id>-<facet>`."""
    return f"{key[0]}-{key[1]}"


def _queries(folder: Folder, facet_labels: Mapping[str, tuple[str, ...]], name: str) -> tuple[Query, ...]:
    faults = Faults(name)
    for facet in folder.facets:
        if facet not in facet_labels:
            faults.add(f"facet {facet!r}: {near(facet, facet_labels)}", place=folder.ratings_from[facet])
    queries = []
    for key in folder.ratings:
        paper = folder.papers[key[0]]
        labels = facet_labels.get(key[1], ())
        sentences = tuple(position for position, label in enumerate(paper.labels or ()) if label in labels)
        if labels and not sentences:
            faults.add(f"query {key[0]} has no sentence of its facet {key[1]}", place=folder.papers_from)
        queries.append(Query(query_id(key), key[0], key[1], sentences))
    faults.raise_if_any()
    return tuple(queries)


def _pool(paper_id: str, candidates: Mapping[int, tuple[str, tuple[str, ...]]], folder: Folder) -> Pool:
    entries = tuple(
        PoolEntry(
            doc_id,
            Draw(methods[0], None, None, turn if folder.pools_in_order else None),
            tuple(Draw(method, None, None, None) for method in methods[1:] if methods[0] != CITED),
        )
        for turn, (doc_id, methods) in candidates.items()
    )
    drawing = list(dict.fromkeys(entry.drawn.method for entry in entries))
    if not folder.pools_in_order:
        drawing.sort(key=lambda method: (method != CITED, method))
    return Pool(
        paper_id=paper_id,
        mode="blocks",
        per_method=folder.quotas[paper_id],
        ranking_depth=None,
        seed=None,
        methods=tuple(drawing),
        without=(),
        dry=(),
        cited_outside=None,
        entries=entries,
    )


def _with_citations(paper: Paper, pool: Pool | None) -> Paper:
    if pool is None or paper.citations:
        return paper
    cited = (entry.doc_id for entry in pool.entries if entry.drawn.method == CITED)
    return replace(paper, citations=tuple(sorted(doc_id for doc_id in cited if doc_id != paper.paper_id)))


def _decision(key: QueryKey, pair: RatedPair) -> Decision:
    agreed = set(pair.ratings.values()) == {pair.grade}
    return Decision(query_id(key), pair.doc_id, pair.grade, "agreed" if agreed else "adjudicated")


def _run(tag: str, rows_by_query: Mapping[QueryKey, list[tuple[str, float]]]) -> ReleasedRun:
    return ReleasedRun(
        tag,
        {
            query_id(key): ranked(ScoredDoc(doc_id, -distance) for doc_id, distance in rows)
            for key, rows in rows_by_query.items()
        },
    )


_FEWEST_POOLS = 5


@dataclass(frozen=True, slots=True)
class CsfcubeFacts:
    """Counts and ids; queries as `<paper_id>-<facet>`."""

    papers_from: str
    """`abstracts-csfcube-preds.jsonl`, or `readable_annotations` where that file is missing."""
    missing_ratings: int
    """Ratings of -1, imported as missing."""
    dropped_candidates: dict[str, int]
    """By id, in how many pools a candidate stood that has no rating and no text; it was left out."""
    self_candidates: tuple[str, ...]
    """Query papers that are candidates of their own pools."""
    hubs: tuple[str, ...]
    """Candidates of at least half of the pools (where there are five), never graded above 0."""
    pools_in_order: bool
    """Whether the order of drawing is known; the readable files do not tell it."""
    corrected_queries: tuple[str, ...]
    """Query papers whose labels in the readable files replaced those of the papers file."""
    differing_papers: tuple[str, ...]
    """Papers whose text or (candidates) labels are not the same in both; those of the papers file stay."""
    left_out: tuple[str, ...]
    """Queries of the list, the splits or the runs whose facet has no ratings in this folder."""
    unranked: tuple[tuple[str, str, str], ...]
    """(tag, query, candidate) where a run leaves out a rated candidate."""


def facts_of(folder: Folder) -> CsfcubeFacts:
    """The facts of a consistent folder."""
    pairs = [pair for rated in folder.ratings.values() for pair in rated]
    pools = {query: {doc_id for doc_id, _ in pool.values()} for query, pool in folder.pools.items()}
    in_pools = Counter(doc_id for pool in pools.values() for doc_id in pool)
    often = {doc_id for doc_id, count in in_pools.items() if 2 * count >= len(pools) >= _FEWEST_POOLS}
    return CsfcubeFacts(
        papers_from=folder.papers_from,
        missing_ratings=sum(grade is None for pair in pairs for grade in pair.ratings.values()),
        dropped_candidates=dict(sorted(folder.dropped.items())),
        self_candidates=tuple(query for query, pool in pools.items() if query in pool),
        hubs=tuple(sorted(often - {pair.doc_id for pair in pairs if pair.grade > 0})),
        pools_in_order=folder.pools_in_order,
        corrected_queries=tuple(sorted(folder.corrected)),
        differing_papers=tuple(sorted(folder.differing)),
        left_out=tuple(sorted("-".join(key) for key in folder.left_out)),
        unranked=tuple((tag, "-".join(key), doc_id) for tag, key, doc_id in folder.unranked),
    )
