"""What a CSFCube release holds, its quirks counted: what the import tells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from annot.formats.csfcube.fitting import Folder

CITED = "cited"
_EARLIEST_YEAR = 1900
_FEWEST_POOLS = 5


@dataclass(frozen=True, slots=True)
class CsfcubeFacts:
    """Counts and ids; queries as `<paper_id>-<facet>`."""

    papers_from: str
    """`abstracts-csfcube-preds.jsonl`, or `readable_annotations` where that file is missing."""
    ratings_from: dict[str, str]
    """By facet, the file or folder that the ratings were read from."""
    pairs: dict[str, int]
    """By facet, how many pairs are rated."""
    missing_ratings: int
    """Ratings of -1, imported as missing."""
    disputed: dict[str, int]
    """By facet, pairs whose two ratings are not the same; one that is missing is not the same as any grade."""
    overruled: dict[str, int]
    """By facet, pairs whose grade is neither assessor's."""
    agreed_changed: int
    """Pairs of two equal ratings and another grade."""
    dropped_candidates: dict[str, int]
    """By id, in how many pools a candidate stood that has no rating and no text; it was left out."""
    unrated_candidates: int
    """Candidates of pools with text and without a rating in any facet; they stay, unjudged."""
    self_candidates: tuple[str, ...]
    """Query papers that are candidates of their own pools."""
    hubs: tuple[str, ...]
    """Candidates of at least half of the pools (where there are five), never graded above 0."""
    pools_in_order: bool
    """Whether the order of drawing is known; the readable files do not tell it."""
    pools_not_in_blocks: tuple[str, ...]
    """Query papers in whose pool a method drew at several places, or papers cited are not first."""
    odd_years: dict[str, int]
    """Papers with a year before 1900; the year is kept."""
    corrected_queries: tuple[str, ...]
    """Query papers whose labels in the readable files replaced those of the papers file."""
    text_differences: int
    """Papers whose title, sentences or year are not the same in the readable files and in the papers file."""
    label_differences: int
    """Candidates whose labels are not the same there; those of the papers file stay."""
    left_out: tuple[str, ...]
    """Queries of the list, the splits or the runs whose facet has no ratings in this folder."""
    unranked: tuple[tuple[str, str, str], ...]
    """(tag, query, candidate) where a run leaves out a rated candidate."""


def facts_of(folder: Folder) -> CsfcubeFacts:
    """The facts of a consistent folder."""
    pairs: Counter[str] = Counter()
    disputed: Counter[str] = Counter()
    overruled: Counter[str] = Counter()
    missing = changed = 0
    graded_above_0 = set()
    for (_, facet), rated in folder.ratings.items():
        pairs[facet] += len(rated)
        for pair in rated:
            given = set(pair.ratings.values())
            missing += sum(grade is None for grade in pair.ratings.values())
            disputed[facet] += len(given) > 1
            overruled[facet] += len(given) > 1 and pair.grade not in given
            changed += len(given) == 1 and pair.grade not in given
            if pair.grade > 0:
                graded_above_0.add(pair.doc_id)
    in_pools = Counter(drawn.doc_id for pool in folder.pools.values() for drawn in pool.values())
    often = [doc_id for doc_id, pools in in_pools.items() if 2 * pools >= len(folder.pools) >= _FEWEST_POOLS]
    return CsfcubeFacts(
        papers_from=folder.papers_from,
        ratings_from=dict(folder.ratings_from),
        pairs={facet: pairs[facet] for facet in folder.facets},
        missing_ratings=missing,
        disputed={facet: disputed[facet] for facet in folder.facets},
        overruled={facet: overruled[facet] for facet in folder.facets},
        agreed_changed=changed,
        dropped_candidates=dict(sorted(folder.dropped.items())),
        unrated_candidates=folder.unrated,
        self_candidates=tuple(
            query for query, pool in folder.pools.items() if query in {drawn.doc_id for drawn in pool.values()}
        ),
        hubs=tuple(sorted(set(often) - graded_above_0)),
        pools_in_order=folder.pools_in_order,
        pools_not_in_blocks=tuple(query for query, methods in folder.draw_order.items() if not _in_blocks(methods)),
        odd_years={
            paper.paper_id: paper.year
            for paper in folder.papers.values()
            if paper.year is not None and paper.year < _EARLIEST_YEAR
        },
        corrected_queries=tuple(sorted(folder.corrected)),
        text_differences=len(folder.text_differs),
        label_differences=len(folder.labels_differ),
        left_out=tuple(sorted("-".join(key) for key in folder.left_out)),
        unranked=tuple((tag, "-".join(key), doc_id) for tag, key, doc_id in folder.unranked),
    )


def _in_blocks(methods: tuple[str, ...]) -> bool:
    """Whether each method's draws stand together, those of `cited` first."""
    turns = [method for method, before in zip(methods, (None, *methods), strict=False) if method != before]
    return len(turns) == len(set(turns)) and CITED not in turns[1:]
