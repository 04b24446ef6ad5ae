"""Analyses of runs that go further than their measures.

Errors of a run: irrelevant documents near its top, relevant ones far down (CSFCube, Appendix G). One run on several
facets of the same paper (CSFCube, Figure 3): a run that does well on one may do badly on another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Final, Literal, NamedTuple

from annot.base.records import Qrel, ScoredDoc, nested

Error = Literal["irrelevant near the top", "relevant far down"]
NEAR_TOP: Final = "irrelevant near the top"
FAR_DOWN: Final = "relevant far down"
ONE_IN = 5
"""Near the top is the first fifth of the ranking, where NDCG%20 looks; far down is its lower half."""


class ErrorCase(NamedTuple):
    """One document that a run ranks far from where its grade belongs."""

    run: str
    query_id: str
    doc_id: str
    error: Error
    grade: int
    rank: int | None
    """Rank from 1; None if the run leaves a relevant document out."""


def error_cases(
    runs: Mapping[str, Mapping[str, Sequence[ScoredDoc]]], qrels: Iterable[Qrel], *, relevant_from: int
) -> tuple[ErrorCase, ...]:
    """The cases of each run on each query that it ranks, worst first: those near the top, then those far down.

    Near the top: grade 0 in the first fifth (rounded down) of the documents it ranks. Far down: grade `relevant_from`
    or higher in the lower half, or left out. An unjudged document is neither.
    """
    cases: list[ErrorCase] = []
    for (run, rankings), (query_id, grades) in product(runs.items(), sorted(nested(qrels).items())):
        ranking = rankings.get(query_id, ())
        last = len(ranking) + 1
        ranks = {doc.doc_id: rank for rank, doc in enumerate(ranking, start=1)}
        cases += [
            ErrorCase(run, query_id, doc.doc_id, NEAR_TOP, 0, ranks[doc.doc_id])
            for doc in ranking[: len(ranking) // ONE_IN]
            if grades.get(doc.doc_id) == 0
        ]
        far_down = [
            ErrorCase(run, query_id, doc_id, FAR_DOWN, grade, ranks.get(doc_id))
            for doc_id, grade in grades.items()
            if ranking and grade >= relevant_from and 2 * ranks.get(doc_id, last) > last
        ]
        cases += sorted(far_down, key=lambda case: (-(case.rank or last), -case.grade, case.doc_id))
    return tuple(cases)


class OnFacets(NamedTuple):
    """Values of a run on the facets of one paper."""

    paper_id: str
    values: dict[str, float]
    """Value by facet."""

    @property
    def spread(self) -> float:
        """Difference between the best facet and the worst."""
        return max(self.values.values()) - min(self.values.values())


def on_facets(
    values: Mapping[str, float], *, facets: Mapping[str, str], topics: Mapping[str, str]
) -> tuple[OnFacets, ...]:
    """Papers that are queries of several facets, the widest spread first. values, facets, topics: by query id."""
    values_by_paper = nested((topics[query_id], facets[query_id], value) for query_id, value in values.items())
    several = (OnFacets(paper_id, of_facets) for paper_id, of_facets in values_by_paper.items() if len(of_facets) > 1)
    return tuple(sorted(several, key=lambda paper: (-paper.spread, paper.paper_id)))
