"""The judgements of each query as a matrix, with the final grades beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.errors import InputError
from annot.judged import counted
from annot.records import Decision, Judgement


@dataclass(frozen=True, slots=True)
class QueryRatings:
    """The grades of one query: M assessors by pseudonym, N documents by id."""

    query_id: str
    facet: str
    assessors: tuple[str, ...]
    doc_ids: tuple[str, ...]
    ratings: npt.NDArray[np.float64]
    """Shape (M, N), nan where there is no grade."""
    asked: npt.NDArray[np.bool_]
    """Shape (M, N), true where there is a judgement, with a grade or without."""
    final: npt.NDArray[np.float64]
    """Shape (N,), the final grade, nan where there is none yet."""


def ratings_of(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
) -> tuple[QueryRatings, ...]:
    """One matrix a query, by `query_id`.

    judgements: of several revisions of one judgement the latest is taken; then those that carry flags do not count, and
    a pair whose only judgement carries flags is not there. facets: the facet of each `query_id`.
    Raises InputError when a query has no facet, or one assessor has two judgements of a pair in one revision.
    """
    by_query: dict[str, list[Judgement]] = {}
    for judgement in counted(judgements):
        by_query.setdefault(judgement.query_id, []).append(judgement)
    if unknown := sorted(by_query.keys() - facets.keys()):
        faults = [f"{query_id}: judged, but no such query is known" for query_id in unknown]
        raise InputError(f"{len(faults)} fault(s) in the judgements", faults=faults)
    final: dict[str, dict[str, int]] = {}
    for decision in decisions:
        final.setdefault(decision.query_id, {})[decision.doc_id] = decision.grade
    return tuple(
        _matrix(query_id, facets[query_id], counted, final.get(query_id, {}))
        for query_id, counted in sorted(by_query.items())
    )


def _matrix(query_id: str, facet: str, counted: list[Judgement], final: Mapping[str, int]) -> QueryRatings:
    assessors = tuple(sorted({one.assessor for one in counted}))
    doc_ids = tuple(sorted({one.doc_id for one in counted}))
    row = {name: at for at, name in enumerate(assessors)}
    column = {name: at for at, name in enumerate(doc_ids)}
    ratings = np.full((len(assessors), len(doc_ids)), np.nan)
    asked = np.zeros(ratings.shape, dtype=np.bool_)
    for one in counted:
        asked[row[one.assessor], column[one.doc_id]] = True
        if one.grade is not None:
            ratings[row[one.assessor], column[one.doc_id]] = one.grade
    return QueryRatings(
        query_id=query_id,
        facet=facet,
        assessors=assessors,
        doc_ids=doc_ids,
        ratings=ratings,
        asked=asked,
        final=np.array([final.get(doc_id, np.nan) for doc_id in doc_ids], dtype=np.float64),
    )
