"""What a plan is too small to show, however people judge: said before anybody does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from annot.base.records import Assignment, Query


def papers_shared(plan: Iterable[Assignment], queries: Mapping[str, Query]) -> dict[str, int]:
    """By assessor, the query papers of which they have a pair that somebody else has too."""
    members: dict[tuple[str, str], set[str]] = {}
    for one in plan:
        members.setdefault(one.pair, set()).add(one.assessor)
    shared: dict[str, set[str]] = {name: set() for people in members.values() for name in people}
    for (query_id, _), people in members.items():
        for name in people if len(people) > 1 else ():
            shared[name].add(queries[query_id].paper_id)
    return {name: len(papers) for name, papers in sorted(shared.items())}


def papers_by_facet(plan: Iterable[Assignment], queries: Mapping[str, Query]) -> dict[str, int]:
    """By facet, the query papers that are judged."""
    asked = {queries[one.query_id] for one in plan}
    facets = sorted({query.facet for query in asked})
    return {facet: len({query.paper_id for query in asked if query.facet == facet}) for facet in facets}
