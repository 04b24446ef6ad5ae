"""The judgements of each query as a matrix, with the final grades beside it, and what a missing one counts as."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.judged import first_judgements
from annot.base.records import Decision, Judgement
from annot.base.stats.arrays import Array, Mask

Ratings = Array
Policy = Callable[[Ratings, Mask], Ratings]


@dataclass(frozen=True, slots=True)
class QueryRatings:
    """The grades of one query: M assessors by pseudonym, N documents by id."""

    query_id: str
    facet: str
    assessors: tuple[str, ...]
    doc_ids: tuple[str, ...]
    ratings: Array
    """Shape (M, N), nan where there is no grade."""
    asked: Mask
    """Shape (M, N), true where there is a judgement, with a grade or without."""
    final: Array
    """Shape (N,), the final grade, nan where there is none."""
    ended: Mask
    """Shape (N,), true where nobody can judge the pair: it gets no final grade."""


def ratings_of(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    grades: Sequence[int] | None = None,
    unjudgeable: Collection[tuple[str, str]] = (),
) -> tuple[QueryRatings, ...]:
    """One matrix a query, by `query_id`, of the judgements that count; hidden repeats are not among them.

    facets: the facet of each `query_id`. grades: the scale; None takes any grade. unjudgeable: the pairs (query,
    document) that nobody can judge. Raises InputError for a double judgement, a query without facet, or a grade outside
    the scale.
    """
    decisions = tuple(decisions)
    by_query: dict[str, list[Judgement]] = {}
    for judgement in first_judgements(judgements, decisions, facets, grades=grades):
        by_query.setdefault(judgement.query_id, []).append(judgement)
    final: dict[str, dict[str, int]] = {}
    for decision in decisions:
        final.setdefault(decision.query_id, {})[decision.doc_id] = decision.grade
    return tuple(
        _matrix(query_id, facets[query_id], counted, final.get(query_id, {}), unjudgeable)
        for query_id, counted in sorted(by_query.items())
    )


def _matrix(
    query_id: str,
    facet: str,
    counted: list[Judgement],
    final: Mapping[str, int],
    unjudgeable: Collection[tuple[str, str]],
) -> QueryRatings:
    assessors = tuple(sorted({judgement.assessor for judgement in counted}))
    doc_ids = tuple(sorted({judgement.doc_id for judgement in counted}))
    row, column = ({name: at for at, name in enumerate(names)} for names in (assessors, doc_ids))
    ratings = np.full((len(assessors), len(doc_ids)), np.nan)
    asked = np.zeros(ratings.shape, dtype=np.bool_)
    for judgement in counted:
        at = row[judgement.assessor], column[judgement.doc_id]
        asked[at] = True
        if judgement.grade is not None:
            ratings[at] = judgement.grade
    return QueryRatings(
        query_id=query_id,
        facet=facet,
        assessors=assessors,
        doc_ids=doc_ids,
        ratings=ratings,
        asked=asked,
        final=np.array([final.get(doc_id, np.nan) for doc_id in doc_ids], dtype=np.float64),
        ended=np.array([(query_id, doc_id) in unjudgeable for doc_id in doc_ids], dtype=np.bool_),
    )


def drop(ratings: Ratings, asked: Mask) -> Ratings:
    """A missing judgement is missing: coefficients use the judgements there are.

    ratings: shape (M, N), nan where there is no grade. asked: shape (M, N), true where the assessor was given the pair.
    """
    return ratings


def zero(ratings: Ratings, asked: Mask) -> Ratings:
    """A judgement that was asked for and not given counts as grade 0, as in CSFCube's published figures.

    A pair that an assessor was never given stays without a grade.
    """
    return np.where(asked & np.isnan(ratings), 0.0, ratings)


POLICIES: dict[str, Policy] = {"drop": drop, "zero": zero}

IN_WORDS: dict[str, str] = {
    "drop": "A missing judgement is left out; its pair keeps the other grades. Only pairs with at least two grades are "
    "compared. Rho and tau are computed for every two assessors on the pairs that both graded; the other "
    "coefficients use all grades of a pair. The chance term of AC1 and AC2 also counts pairs "
    "with a single grade, as Gwet defines it.",
    "zero": "A judgement that was requested but is missing counts as grade 0. A pair that an assessor was never given "
    "stays without that assessor's grade.",
}
"""What each policy does, in sentences for a reader of the figures."""
