"""Where a run goes wrong: irrelevant documents near its top, relevant ones far down (CSFCube, Appendix G)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from annot.base.records import Qrel, ScoredDoc

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
    """From 1; None where the run leaves a relevant document out."""


def error_cases(
    runs: Mapping[str, Mapping[str, Sequence[ScoredDoc]]], qrels: Iterable[Qrel], *, relevant_from: int
) -> tuple[ErrorCase, ...]:
    """The cases of each run on each query that it ranks, worst first: those near the top, then those far down.

    Near the top: grade 0 in the first fifth (rounded down) of the documents it ranks. Far down: grade `relevant_from`
    or higher in the lower half, or left out. An unjudged document is neither.
    """
    graded: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in qrels:
        graded.setdefault(query_id, {})[doc_id] = grade
    return tuple(
        case
        for run, rankings in runs.items()
        for query_id, grades in sorted(graded.items())
        if rankings.get(query_id)
        for case in _cases(run, query_id, rankings[query_id], grades, relevant_from)
    )


def _cases(
    run: str, query_id: str, ranking: Sequence[ScoredDoc], grades: Mapping[str, int], relevant_from: int
) -> list[ErrorCase]:
    n = len(ranking)
    ranks = {doc.doc_id: rank for rank, doc in enumerate(ranking, start=1)}
    near_top = [
        ErrorCase(run, query_id, doc.doc_id, NEAR_TOP, 0, ranks[doc.doc_id])
        for doc in ranking[: n // ONE_IN]
        if grades.get(doc.doc_id) == 0
    ]
    far_down = [
        ErrorCase(run, query_id, doc_id, FAR_DOWN, grade, ranks.get(doc_id))
        for doc_id, grade in grades.items()
        if grade >= relevant_from and 2 * ranks.get(doc_id, n + 1) > n + 1
    ]
    return near_top + sorted(far_down, key=lambda case: (-(case.rank or n + 1), -case.grade, case.doc_id))
