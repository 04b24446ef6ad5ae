"""The sub-study on abstracts and full texts: which pairs one assessor judges in both views, and in which order.

Mysore et al. 2021 (CSFCube), appendix B: three queries of each facet, of all types of papers, and five candidates of
each, at random from all grades: 45 pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.errors import InputError
from annot.base.records import Query
from annot.base.stats.seeding import generator
from annot.formats.json_lines import json_lines
from annot.judging.trials.training import Pair, shuffled


@dataclass(frozen=True, slots=True)
class DrawnSubstudy:
    """The pairs of a sub-study, and what they are of."""

    pairs: tuple[Pair, ...]
    """By query and document."""
    by_facet: dict[str, int]
    """Queries drawn of each facet."""
    by_type: dict[str, int]
    """Queries drawn of each type of paper that the settled queries have; 0 where none could be."""
    by_grade: dict[int, int]
    """Pairs by their final grade."""


def draw(
    queries: Iterable[Query], final: Mapping[Pair, int], *, per_facet: int, per_query: int, seed: int
) -> DrawnSubstudy:
    """Draw `per_facet` queries of each facet and `per_query` candidates of each query.

    final: the final grade of each settled pair. Only queries with enough settled candidates are drawn; as many types of
    papers as can be are among them, and of two queries of one paper one where others are left. The candidates are
    drawn from the grades in turn, at random within each: so all grades of a query are among them as far as they go.
    Raises InputError where a facet has too few such queries.
    """
    candidates: dict[str, dict[int, list[str]]] = {}
    known = {query.query_id: query for query in sorted(queries, key=lambda query: query.query_id)}
    for (query_id, doc_id), grade in sorted(final.items()):
        if query_id in known and doc_id != known[query_id].paper_id:
            candidates.setdefault(query_id, {}).setdefault(grade, []).append(doc_id)
    settled = [query for name, query in known.items() if sum(map(len, candidates.get(name, {}).values())) >= per_query]
    by_facet = {
        facet: [query for query in settled if query.facet == facet]
        for facet in sorted({query.facet for query in known.values()})
    }
    faults = [
        f"{facet}: queries with {per_query} or more settled pairs: found {len(own)}, expected {per_facet}"
        for facet, own in by_facet.items()
        if len(own) < per_facet
    ]
    if faults or not by_facet:
        raise InputError(
            "the sub-study cannot be drawn",
            faults=faults or ["no query has a settled pair"],
            hint="draw fewer: --queries, --candidates",
        )
    chosen = _queries(by_facet, per_facet, seed)
    pairs = tuple(
        sorted((query.query_id, doc_id) for query in chosen for doc_id in _some(candidates, query, per_query, seed))
    )
    types = sorted({query.paper_type for query in settled if query.paper_type})
    drawn_types = Counter(query.paper_type for query in chosen)
    return DrawnSubstudy(
        pairs=pairs,
        by_facet={facet: sum(query.facet == facet for query in chosen) for facet in by_facet},
        by_type={kind: drawn_types[kind] for kind in types},
        by_grade=dict(sorted(Counter(final[pair] for pair in pairs).items())),
    )


def plan_lines(asked: Mapping[str, Sequence[Pair]]) -> str:
    """The plan as JSON lines: of each view the pairs in their order."""
    return json_lines(
        {"view": view, "position": position, "query_id": query_id, "doc_id": doc_id}
        for view, sequence in asked.items()
        for position, (query_id, doc_id) in enumerate(sequence, start=1)
    )


def _queries(by_facet: Mapping[str, Sequence[Query]], per_facet: int, seed: int) -> list[Query]:
    """First one query for each type that can have one, then others at random, of papers not chosen yet if there are."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rng = generator(seed, "substudy-queries")
    facets = shuffled(list(by_facet), rng)
    types = shuffled(sorted({query.paper_type for own in by_facet.values() for query in own if query.paper_type}), rng)
    chosen: dict[str, list[Query]] = {facet: [] for facet in by_facet}

    def take(facet: str, wanted: Sequence[Query]) -> None:
        papers = {query.paper_id for own in chosen.values() for query in own}
        order = shuffled([query for query in wanted if query not in chosen[facet]], rng)
        chosen[facet].append(min(order, key=lambda query: query.paper_id in papers))

    if types:
        places = [facet for facet in facets for _ in range(per_facet)]
        fits = [[any(query.paper_type == kind for query in by_facet[facet]) for facet in places] for kind in types]
        matched = maximum_bipartite_matching(csr_array(np.array(fits, dtype=np.int8)), perm_type="column")
        for kind, place in zip(types, matched, strict=True):
            if place >= 0:
                take(places[place], [query for query in by_facet[places[place]] if query.paper_type == kind])
    for facet in facets:
        while len(chosen[facet]) < per_facet:
            take(facet, by_facet[facet])
    return [query for facet in by_facet for query in chosen[facet]]


def _some(candidates: Mapping[str, Mapping[int, list[str]]], query: Query, count: int, seed: int) -> list[str]:
    """Candidates of the query, one grade after the other."""
    rng = generator(seed, "substudy-candidates", query.query_id)
    of_grade = [docs for _, docs in sorted(candidates[query.query_id].items())]
    left = [shuffled(docs, rng) for docs in shuffled(of_grade, rng)]
    turns = [docs[turn] for turn in range(max(map(len, left))) for docs in left if turn < len(docs)]
    return turns[:count]
