"""How an opinion agrees with each assessor, with the final grades and with itself, next to how people agree.

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
from annot.measuring.agreement.pooled import NOTHING, Between, PooledCounts, ends_of, interval_of, pooled_between
from annot.measuring.agreement.tables import TOGETHER

Pair = tuple[str, str]

FINAL, EACH, PEOPLE = "final grades", "each assessor", "people with each other"
"""Names of rows that are not an assessor's pseudonym."""
ON_ALL_GRADES = ("percent", "kappa", "alpha_ordinal", "kappa_linear")
ON_TWO = ("percent", "kappa", "alpha_ordinal")
"""Weighted kappa is kappa on two grades."""
COMPARED_BY = "alpha_ordinal"
"""The opinion is compared with people by this coefficient, which allows for missing grades and for distances."""


@dataclass(frozen=True, slots=True)
class OpinionAgreement:
    """One row: an opinion with a person or the final grades, or people with each other."""

    whom: str
    """An assessor's pseudonym, or one of `FINAL`, `EACH` and `PEOPLE`."""
    facet: str
    binarised_at: int | None
    """The grade from which pairs count as 1, or None for all grades."""
    between: Between


class _Ratings(NamedTuple):
    """The grades on one query, shape (M, N), nan where there is none, and the weights of the pairs, shape (N,)."""

    query_id: str
    ratings: Array
    weights: Array


@dataclass(frozen=True, slots=True)
class Scale:
    """What figures of agreement depend on besides the grades."""

    grades: tuple[int, ...]
    relevant_from: int
    level: float
    topics: Mapping[str, str] | None
    """The topic of each query; None takes the queries as independent."""


def agreements(
    queries: Sequence[QueryRatings], opinion: Mapping[Pair, int], scale: Scale
) -> tuple[OpinionAgreement, ...]:
    """All rows: for every facet and all together, on all grades and on two, with each assessor, with the final grades,
    with each assessor of a pair together, and people with each other."""
    facets = [*sorted({query.facet for query in queries})]
    names = facets if len(facets) == 1 else [*facets, TOGETHER]
    at = [None] if len(scale.grades) == 2 else [None, scale.relevant_from]
    return tuple(
        OpinionAgreement(whom, facet, binarised_at, _between(ratings, scale, binarised_at))
        for facet in names
        for binarised_at in at
        for whom, ratings in _rows([one for one in queries if facet in (one.facet, TOGETHER)], opinion).items()
    )


def behind_people(
    queries: Sequence[QueryRatings], opinion: Mapping[Pair, int], scale: Scale, name: str = COMPARED_BY
) -> Estimate:
    """By how much the opinion agrees better with the assessors of a pair than they do with each other; below 0 worse.

    On the pairs with two assessors and an opinion. The interval is the jackknife's over whole topics.
    """
    rows = _rows(queries, opinion)
    model, people = (_pooled(rows[whom], scale.grades, scale.topics) for whom in (EACH, PEOPLE))
    if model is None or people is None:
        nothing = Undefined(NOT_JUDGED_TWICE)
        return Estimate(nothing, nothing)
    values = [one.value(name, scale.grades) for one in (model, people)]
    for value in values:
        if isinstance(value, Undefined):
            return Estimate(value, value)
    ahead = float(values[0]) - float(values[1])  # type: ignore[arg-type]
    without = model.left_out(name, scale.grades) - people.left_out(name, scale.grades)
    most = 2 * ends_of(name)[1]
    return Estimate(
        ahead, jackknife_interval(ahead, without, level=scale.level, least=-most, most=most, unit=model.clusters.unit)
    )


def with_itself(repeats: Mapping[Pair, Sequence[int]], scale: Scale) -> Between:
    """How the repeats of an opinion agree. repeats: the readable grades of each pair; one alone does not count."""
    by_query: dict[str, list[Sequence[int]]] = {}
    for (query_id, _), given in sorted(repeats.items()):
        if len(given) > 1:
            by_query.setdefault(query_id, []).append(given)
    most = max((len(given) for of in by_query.values() for given in of), default=0)
    ratings = []
    for query_id, of in by_query.items():
        found = np.full((most, len(of)), np.nan)
        for column, given in enumerate(of):
            found[: len(given), column] = given
        ratings.append(_Ratings(query_id, found, np.ones(len(of))))
    return _between(ratings, scale, None)


def confusion(
    final: Mapping[Pair, int], opinion: Mapping[Pair, int], asked: Sequence[Pair], grades: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Pairs by final grade (rows) and by the opinion's (columns), the last column for answers that cannot be read."""
    place = {grade: at for at, grade in enumerate(grades)}
    found = np.zeros((len(grades), len(grades) + 1), dtype=np.int64)
    for pair in asked:
        if pair in final:
            found[place[final[pair]], place[opinion[pair]] if pair in opinion else len(grades)] += 1
    return tuple(tuple(row) for row in found.tolist())


def _rows(queries: Sequence[QueryRatings], opinion: Mapping[Pair, int]) -> dict[str, list[_Ratings]]:
    """The grades behind each row of the table, by query. The rows of a matrix are the two or more who are compared."""
    assessors = sorted({name for query in queries for name in query.assessors})
    rows: dict[str, list[_Ratings]] = {name: [] for name in (FINAL, *assessors, EACH, PEOPLE)}
    for query in queries:
        of_model = np.array([opinion.get((query.query_id, doc_id), np.nan) for doc_id in query.doc_ids], dtype=float)
        weights = np.ones(len(of_model)) if query.weights is None else query.weights
        there = ~np.isnan(of_model)
        for whom, given in [(FINAL, query.final), *zip(query.assessors, query.ratings, strict=True)]:
            both = there & ~np.isnan(given)
            rows[whom].append(_Ratings(query.query_id, np.stack([given, of_model])[:, both], weights[both]))
        shared = there & ((~np.isnan(query.ratings)).sum(axis=0) >= 2)
        people = np.full((len(assessors), int(shared.sum())), np.nan)
        people[[assessors.index(name) for name in query.assessors]] = query.ratings[:, shared]
        rows[PEOPLE].append(_Ratings(query.query_id, people, weights[shared]))
        twos = np.concatenate([np.stack([given, of_model])[:, shared] for given in query.ratings], axis=1)
        both = ~np.isnan(twos[0])
        rows[EACH].append(_Ratings(query.query_id, twos[:, both], np.tile(weights[shared], len(query.ratings))[both]))
    return {whom: [one for one in of if one.ratings.shape[1]] for whom, of in rows.items()}


def _between(rows: Sequence[_Ratings], scale: Scale, binarised_at: int | None) -> Between:
    names = ON_TWO if binarised_at is not None or len(scale.grades) == 2 else ON_ALL_GRADES
    grades: Sequence[int] = scale.grades
    if binarised_at is not None:
        rows = [row._replace(ratings=binarise(row.ratings, at=binarised_at)) for row in rows]
        grades = (0, 1)
    pooled = _pooled(rows, grades, scale.topics)
    if pooled is None:
        return Between(0, 0, dict.fromkeys(names, Estimate(NOTHING, NOTHING)))
    figures = {}
    for name in names:
        value = pooled.value(name, grades)
        figures[name] = Estimate(value, interval_of(pooled, value, name, grades, level=scale.level))
    return Between(sum(row.ratings.shape[1] for row in rows), len(rows), figures)


def _pooled(rows: Sequence[_Ratings], grades: Sequence[int], topics: Mapping[str, str] | None) -> PooledCounts | None:
    """The counts of these queries together; None if there are no queries."""
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
    value = pooled.value("spearman_rho", scale.grades)
    return Estimate(value, interval_of(pooled, value, "spearman_rho", scale.grades, level=scale.level))
