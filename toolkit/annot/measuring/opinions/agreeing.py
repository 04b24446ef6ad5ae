"""Agreement of an opinion with each assessor, with the final grades and with itself, next to the agreement of people.

Every figure is over all pairs together. Its interval is the jackknife over whole topics
(`annot.measuring.agreement.pooled`). A pair that one side did not grade is left out. In a sampled study each pair
counts 1 / pi, so that figures describe the whole pools.

The people's own figure next to it is that between the assessors of a pair, on the pairs that also have an opinion. The
opinion's counterpart is `EACH`: the opinion with every assessor of these same pairs, taken together. The difference of
the two (`behind_people`) has an interval of its own, which is narrower than either, as both share the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array
from annot.base.stats.clustered import jackknife_interval
from annot.base.stats.values import Estimate, Undefined
from annot.measuring.agreement.coefficients import NOT_JUDGED_TWICE
from annot.measuring.agreement.contingency import count, tables_between
from annot.measuring.agreement.per_query import QueryRatings, binarise
from annot.measuring.agreement.pooled import NOTHING, Between, PooledCounts, ends_of, pooled_between
from annot.measuring.agreement.tables import TOGETHER

Pair = tuple[str, str]

FINAL, EACH, PEOPLE = "final grades", "each assessor", "people with each other"
"""Names of rows that are not an assessor's pseudonym."""
ON_ALL_GRADES = ("percent", "kappa", "alpha_ordinal", "kappa_linear")
ON_TWO = ("percent", "kappa", "alpha_ordinal")
"""Coefficients on two grades, where weighted kappa is kappa."""
COMPARED_BY = "alpha_ordinal"
"""Coefficient by which the opinion is compared with people; it allows for missing grades and for distances."""


@dataclass(frozen=True, slots=True)
class OpinionAgreement:
    """Row of the table: an opinion with a person or the final grades, or people with each other."""

    whom: str
    """Pseudonym of an assessor, or one of `FINAL`, `EACH` and `PEOPLE`."""
    facet: str
    binarised_at: int | None
    """Grade from which pairs count as 1, or None for all grades."""
    between: Between


class _Ratings(NamedTuple):
    """Grades on one query, shape (M, N), nan if there is none, and the weights of the pairs, shape (N,)."""

    query_id: str
    ratings: Array
    weights: Array


@dataclass(frozen=True, slots=True)
class Scale:
    """Settings of figures of agreement."""

    grades: tuple[int, ...]
    relevant_from: int
    level: float
    topics: Mapping[str, str] | None
    """Topic of each query; None takes the queries as independent."""


def agreements(
    queries: Sequence[QueryRatings], opinion: Mapping[Pair, int], scale: Scale
) -> tuple[OpinionAgreement, ...]:
    """Compute all rows.

    They are for every facet and all together, on all grades and on two, with each assessor, with the final grades, with
    each assessor of a pair together, and people with each other.
    """
    facets = [*sorted({query.facet for query in queries})]
    names = facets if len(facets) == 1 else [*facets, TOGETHER]
    binarisations = [None] if len(scale.grades) == 2 else [None, scale.relevant_from]
    rows_by_facet = {
        facet: _rows([query for query in queries if facet in (query.facet, TOGETHER)], opinion) for facet in names
    }
    return tuple(
        OpinionAgreement(whom, facet, binarised_at, _between(ratings, scale, binarised_at))
        for facet in names
        for binarised_at in binarisations
        for whom, ratings in rows_by_facet[facet].items()
    )


def behind_people(
    queries: Sequence[QueryRatings], opinion: Mapping[Pair, int], scale: Scale, name: str = COMPARED_BY
) -> Estimate:
    """Lead of the opinion's agreement with the assessors of a pair over theirs with each other; below 0 if it is worse.

    On the pairs with two assessors and an opinion. The interval is the jackknife's over whole topics.
    """
    rows = _rows(queries, opinion)
    model, people = (_pooled(rows[whom], scale.grades, scale.topics) for whom in (EACH, PEOPLE))
    if model is None or people is None:
        nothing = Undefined(NOT_JUDGED_TWICE)
        return Estimate(nothing, nothing)
    values = [pooled.value(name, scale.grades) for pooled in (model, people)]
    for value in values:
        if isinstance(value, Undefined):
            return Estimate(value, value)
    lead = float(values[0]) - float(values[1])  # type: ignore[arg-type]
    without = model.left_out(name, scale.grades) - people.left_out(name, scale.grades)
    most = 2 * ends_of(name)[1]
    return Estimate(
        lead, jackknife_interval(lead, without, level=scale.level, least=-most, most=most, unit=model.clusters.unit)
    )


def with_itself(repeats: Mapping[Pair, Sequence[int]], scale: Scale) -> Between:
    """Agreement of the repeats of an opinion. repeats: the readable grades of each pair; one alone does not count."""
    by_query: dict[str, list[Sequence[int]]] = {}
    for (query_id, _), grades in sorted(repeats.items()):
        if len(grades) > 1:
            by_query.setdefault(query_id, []).append(grades)
    most = max((len(grades) for repeats_of_query in by_query.values() for grades in repeats_of_query), default=0)
    ratings = []
    for query_id, repeats_of_query in by_query.items():
        matrix = np.full((most, len(repeats_of_query)), np.nan)
        for column, grades in enumerate(repeats_of_query):
            matrix[: len(grades), column] = grades
        ratings.append(_Ratings(query_id, matrix, np.ones(len(repeats_of_query))))
    return _between(ratings, scale, None)


def confusion(
    final: Mapping[Pair, int], opinion: Mapping[Pair, int], asked: Sequence[Pair], grades: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Number of pairs by final grade (rows) and by the opinion's (columns), the last column for answers that cannot be
    read.
    """
    place = {grade: position for position, grade in enumerate(grades)}
    counts = np.zeros((len(grades), len(grades) + 1), dtype=np.int64)
    for pair in asked:
        if pair in final:
            counts[place[final[pair]], place[opinion[pair]] if pair in opinion else len(grades)] += 1
    return tuple(tuple(row) for row in counts.tolist())


def _rows(queries: Sequence[QueryRatings], opinion: Mapping[Pair, int]) -> dict[str, list[_Ratings]]:
    """Grades behind each row of the table, by query. The rows of a matrix are the two or more who are compared."""
    assessors = sorted({name for query in queries for name in query.assessors})
    rows: dict[str, list[_Ratings]] = {name: [] for name in (FINAL, *assessors, EACH, PEOPLE)}
    for query in queries:
        opinions = np.array([opinion.get((query.query_id, doc_id), np.nan) for doc_id in query.doc_ids], dtype=float)
        weights = np.ones(len(opinions)) if query.weights is None else query.weights
        has_opinion = ~np.isnan(opinions)
        for whom, grades in [(FINAL, query.final), *zip(query.assessors, query.ratings, strict=True)]:
            both = has_opinion & ~np.isnan(grades)
            rows[whom].append(_Ratings(query.query_id, np.stack([grades, opinions])[:, both], weights[both]))
        shared = has_opinion & ((~np.isnan(query.ratings)).sum(axis=0) >= 2)
        people = np.full((len(assessors), int(shared.sum())), np.nan)
        people[[assessors.index(name) for name in query.assessors]] = query.ratings[:, shared]
        rows[PEOPLE].append(_Ratings(query.query_id, people, weights[shared]))
        twos = np.concatenate([np.stack([grades, opinions])[:, shared] for grades in query.ratings], axis=1)
        both = ~np.isnan(twos[0])
        rows[EACH].append(_Ratings(query.query_id, twos[:, both], np.tile(weights[shared], len(query.ratings))[both]))
    return {whom: [ratings for ratings in by_query if ratings.ratings.shape[1]] for whom, by_query in rows.items()}


def _between(rows: Sequence[_Ratings], scale: Scale, binarised_at: int | None) -> Between:
    names = ON_TWO if binarised_at is not None or len(scale.grades) == 2 else ON_ALL_GRADES
    grades: Sequence[int] = scale.grades
    if binarised_at is not None:
        rows = [row._replace(ratings=binarise(row.ratings, at=binarised_at)) for row in rows]
        grades = (0, 1)
    pooled = _pooled(rows, grades, scale.topics)
    if pooled is None:
        return Between(0, 0, dict.fromkeys(names, Estimate(NOTHING, NOTHING)))
    figures = {name: pooled.estimate(name, grades, level=scale.level) for name in names}
    return Between(sum(row.ratings.shape[1] for row in rows), len(rows), figures)


def _pooled(rows: Sequence[_Ratings], grades: Sequence[int], topics: Mapping[str, str] | None) -> PooledCounts | None:
    """Joint counts of these queries; None if there are no queries."""
    if not rows:
        return None
    met, tables = zip(*(tables_between(row.ratings, grades, row.weights) for row in rows), strict=True)
    return pooled_between(
        [count(row.ratings, grades, row.weights) for row in rows],
        met,
        tables,
        topics=None if topics is None else [topics[row.query_id] for row in rows],
    )


def rank_correlation(queries: Sequence[QueryRatings], opinion: Mapping[Pair, int], scale: Scale) -> Estimate:
    """Spearman's rho of the opinion with the final grades, over all pairs."""
    pooled = _pooled(_rows(queries, opinion)[FINAL], scale.grades, scale.topics)
    if pooled is None:
        return Estimate(NOTHING, NOTHING)
    return pooled.estimate("spearman_rho", scale.grades, level=scale.level)
