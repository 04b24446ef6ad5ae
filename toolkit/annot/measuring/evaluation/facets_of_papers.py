"""One run on the facets of the same paper (CSFCube, Figure 3): who does well on one may do badly on another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class OnFacets(NamedTuple):
    """What a run reaches on the facets of one paper."""

    paper_id: str
    values: dict[str, float]
    """By facet."""

    @property
    def spread(self) -> float:
        """The best facet less the worst."""
        return max(self.values.values()) - min(self.values.values())


def on_facets(
    values: Mapping[str, float], *, facets: Mapping[str, str], papers: Mapping[str, str]
) -> tuple[OnFacets, ...]:
    """The papers that are queries of several facets, the widest spread first. values, facets, papers: by query id."""
    found: dict[str, dict[str, float]] = {}
    for query_id, value in values.items():
        found.setdefault(papers[query_id], {})[facets[query_id]] = value
    several = (OnFacets(paper_id, of_facets) for paper_id, of_facets in found.items() if len(of_facets) > 1)
    return tuple(sorted(several, key=lambda one: (-one.spread, one.paper_id)))
