"""The quirks of a CSFCube release, counted: what the import tells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from annot.formats.csfcube.fitting import Folder

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
