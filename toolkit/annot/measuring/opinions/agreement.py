"""Agreement of a model's opinion with people, and the alternative annotator test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.stats.arrays import Array, Mask
from annot.base.stats.inference import FEWEST_QUERIES, clusters_of, jackknife_interval, plural
from annot.base.stats.values import Estimate, Undefined, Value
from annot.measuring.agreement import estimates
from annot.measuring.agreement.coefficients import NOT_JUDGED_TWICE
from annot.measuring.agreement.tables import TOGETHER

# ----------------------------------------------------------------------------------------------------------------------
# Agreement of an opinion with each assessor, with the final grades and with itself, next to the agreement of people.
#
# Every figure is over all pairs together. Its interval is the jackknife over whole topics
# (`annot.measuring.agreement.estimates`). A pair that one side did not grade is left out. In a sampled study each pair
# counts 1 / pi, so that figures describe the whole pools.
#
# The people's own figure next to it is that between the assessors of a pair, on the pairs that also have an opinion.
# The opinion's counterpart is `EACH`: the opinion with every assessor of these same pairs, taken together. The
# difference of the two (`behind_people`) has an interval of its own, which is narrower than either, as both share the
# pairs.
# ----------------------------------------------------------------------------------------------------------------------


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
    between: estimates.AgreementOfGradings


@dataclass(frozen=True, slots=True)
class Scale:
    """Settings of figures of agreement."""

    grades: tuple[int, ...]
    relevant_from: int
    level: float
    topics: Mapping[str, str] | None
    """Topic of each query; None takes the queries as independent."""


def agreements(
    queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int], scale: Scale
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
    queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int], scale: Scale, name: str = COMPARED_BY
) -> Estimate:
    """Lead of the opinion's agreement with the assessors of a pair over theirs with each other; below 0 if it is worse.

    On the pairs with two assessors and an opinion. The interval is the jackknife's over whole topics.
    """
    rows = _rows(queries, opinion)
    model, people = (estimates.pooled_pairs(rows[whom], scale.grades, scale.topics) for whom in (EACH, PEOPLE))
    if model is None or people is None:
        nothing = Undefined(NOT_JUDGED_TWICE)
        return Estimate(nothing, nothing)
    values = [pooled.value(name, scale.grades) for pooled in (model, people)]
    for value in values:
        if isinstance(value, Undefined):
            return Estimate(value, value)
    lead = float(values[0]) - float(values[1])  # type: ignore[arg-type]
    without = model.left_out(name, scale.grades) - people.left_out(name, scale.grades)
    most = 2 * estimates.ends_of(name)[1]
    return Estimate(
        lead, jackknife_interval(lead, without, level=scale.level, least=-most, most=most, unit=model.clusters.unit)
    )


def with_itself(repeats: Mapping[Pair, Sequence[int]], scale: Scale) -> estimates.AgreementOfGradings:
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
        ratings.append(estimates.RatedPairs(query_id, matrix, np.ones(len(repeats_of_query))))
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


def _rows(
    queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int]
) -> dict[str, list[estimates.RatedPairs]]:
    """Grades behind each row of the table, by query. The rows of a matrix are the two or more who are compared."""
    assessors = sorted({name for query in queries for name in query.assessors})
    rows: dict[str, list[estimates.RatedPairs]] = {name: [] for name in (FINAL, *assessors, EACH, PEOPLE)}
    for query in queries:
        opinions = np.array([opinion.get((query.query_id, doc_id), np.nan) for doc_id in query.doc_ids], dtype=float)
        weights = np.ones(len(opinions)) if query.weights is None else query.weights
        has_opinion = ~np.isnan(opinions)
        for whom, grades in [(FINAL, query.final), *zip(query.assessors, query.ratings, strict=True)]:
            both = has_opinion & ~np.isnan(grades)
            rows[whom].append(
                estimates.RatedPairs(query.query_id, np.stack([grades, opinions])[:, both], weights[both])
            )
        shared = has_opinion & ((~np.isnan(query.ratings)).sum(axis=0) >= 2)
        people = np.full((len(assessors), int(shared.sum())), np.nan)
        people[[assessors.index(name) for name in query.assessors]] = query.ratings[:, shared]
        rows[PEOPLE].append(estimates.RatedPairs(query.query_id, people, weights[shared]))
        twos = np.concatenate([np.stack([grades, opinions])[:, shared] for grades in query.ratings], axis=1)
        both = ~np.isnan(twos[0])
        rows[EACH].append(
            estimates.RatedPairs(query.query_id, twos[:, both], np.tile(weights[shared], len(query.ratings))[both])
        )
    return {whom: [ratings for ratings in by_query if ratings.ratings.shape[1]] for whom, by_query in rows.items()}


def _between(
    rows: Sequence[estimates.RatedPairs], scale: Scale, binarised_at: int | None
) -> estimates.AgreementOfGradings:
    names = ON_TWO if binarised_at is not None or len(scale.grades) == 2 else ON_ALL_GRADES
    grades: Sequence[int] = scale.grades
    if binarised_at is not None:
        rows = [row._replace(ratings=estimates.binarise(row.ratings, at=binarised_at)) for row in rows]
        grades = (0, 1)
    return estimates.agreement_of_pairs(rows, grades, level=scale.level, coefficients=names, topics=scale.topics)


def rank_correlation(queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int], scale: Scale) -> Estimate:
    """Spearman's rho of the opinion with the final grades, over all pairs."""
    pooled = estimates.pooled_pairs(_rows(queries, opinion)[FINAL], scale.grades, scale.topics)
    if pooled is None:
        return Estimate(estimates.NOTHING, estimates.NOTHING)
    return pooled.estimate("spearman_rho", scale.grades, level=scale.level)


# ----------------------------------------------------------------------------------------------------------------------
# Alternative annotator test: may a model replace one of the people of a study?
#
# Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically Justify
# Replacing Human Annotators with LLMs, ACL, 16051-16081 (https://aclanthology.org/2025.acl-long.782). Each person is
# left out in turn. On each pair the model and this person are held against the other people who judged it: the score
# is the root of the mean squared distance to their grades; smaller is better. W_model is 1 if the model is at least
# as near as the person, W_person is 1 if the person is at least as near as the model. The model wins against this
# person if the mean of W_person - W_model is shown to be below epsilon: a handicap, because people are slower and
# cost more. The paper advises 0.2 against experts, 0.15 against skilled and 0.1 against crowd workers. The p-values
# are corrected by Benjamini and Yekutieli 2001 (Annals of Statistics 29, 1165-1188). The winning rate omega is the
# share of people it wins against; at 0.5 or more it may replace one.
#
# The paper's t test assumes that pairs are independent. Pairs of one topic are not, so here whole topics are the
# units of chance. In a sampled study each pair counts 1 / pi.
# ----------------------------------------------------------------------------------------------------------------------


ENOUGH = 0.5
"""Winning rate from which a model may replace one person."""
FEWEST_PAIRS = 30
"""Pairs that a person must share with others: the paper's bound for its t test."""
ALONE = Undefined(
    "no pair with an opinion has two assessors, and the test compares the model with the others of a pair"
)


@dataclass(frozen=True, slots=True)
class AgainstOne:
    """Comparison of the model with one person."""

    assessor: str
    n_pairs: int
    n_units: int
    """Topics, the units of chance; in the published test, pairs."""
    behind: float
    """Share of pairs on which the person is nearer, less that on which the model is. Below epsilon it wins."""
    model_as_near: float
    """Share of pairs on which the model is at least as near: the paper's advantage probability rho."""
    p: float
    """p-value of the hypothesis that the model is behind by epsilon or more."""
    wins: bool
    """True if the model wins, after correction for the number of people."""


@dataclass(frozen=True, slots=True)
class StandingIn:
    """Result of the test against all people."""

    epsilon: float
    against: tuple[AgainstOne, ...]
    left_out: dict[str, str]
    """Reason why a person could not be compared, by pseudonym."""
    omega: Value
    """Winning rate, or why the test cannot be run."""
    rho: Value
    """Mean of the advantage probabilities."""

    @property
    def may(self) -> bool | None:
        """True if the model may replace one person; None if that is not known."""
        return None if isinstance(self.omega, Undefined) else self.omega >= ENOUGH


class _Compared(NamedTuple):
    """Comparisons of one person with the model, by pair."""

    behind: Array
    """Difference W_person - W_model: 1, 0 or -1."""
    as_near: Mask
    query: npt.NDArray[np.str_]
    weights: Array

    @classmethod
    def joined(cls, parts: Sequence[_Compared]) -> _Compared:
        """Comparisons on several queries together."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def standing_in(
    queries: Sequence[estimates.QueryRatings],
    opinion: Mapping[Pair, int],
    *,
    epsilon: float,
    level: float,
    topics: Mapping[str, str] | None,
) -> StandingIn:
    """Run the test with whole topics as the units of chance. level: .95 keeps the false discovery rate at .05.

    topics: the topic of each query; None takes the queries as independent. If each pair is a query of its own, and
    there are no weights, this is the published test.
    """
    compared = _compared(queries, opinion)
    if not compared:
        return StandingIn(epsilon, (), {}, ALONE, ALONE)
    left_out: dict[str, str] = {}
    behind_of: dict[str, float] = {}
    units_of: dict[str, int] = {}
    p_values: list[float] = []
    for assessor, person in compared.items():
        clusters = clusters_of(person.query, None if topics is None else [topics[name] for name in person.query])
        if len(person.behind) < FEWEST_PAIRS:
            left_out[assessor] = f"{len(person.behind)} pairs shared with others, expected {FEWEST_PAIRS} or more"
        elif clusters.n < FEWEST_QUERIES:
            left_out[assessor] = f"{clusters.n} {plural(clusters.unit)}, expected {FEWEST_QUERIES} or more"
        else:
            behind_of[assessor], units_of[assessor] = _mean(person.behind, person.weights), clusters.n
            off = person.weights * (person.behind - behind_of[assessor])
            parts = clusters.summed(off) / person.weights.sum()
            variance = float((parts**2).sum()) * clusters.n / (clusters.n - 1)
            p_values.append(_below(behind_of[assessor] - epsilon, variance, clusters.n))
    if not p_values:
        why = Undefined(f"no assessor can be compared: {next(iter(left_out.values()))}")
        return StandingIn(epsilon, (), left_out, why, why)
    against = tuple(
        AgainstOne(
            assessor=assessor,
            n_pairs=len(compared[assessor].behind),
            n_units=units_of[assessor],
            behind=behind,
            model_as_near=_mean(compared[assessor].as_near.astype(np.float64), compared[assessor].weights),
            p=p,
            wins=corrected_p <= 1 - level + 1e-12,
        )
        for (assessor, behind), p, corrected_p in zip(
            behind_of.items(), p_values, benjamini_yekutieli(p_values), strict=True
        )
    )
    omega = float(np.mean([person.wins for person in against]))
    rho = float(np.mean([person.model_as_near for person in against]))
    return StandingIn(epsilon, against, left_out, omega, rho)


def _compared(queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int]) -> dict[str, _Compared]:
    """Pairs by person that another person judged too and on which the model has an opinion."""
    by_assessor: dict[str, list[_Compared]] = {}
    for query in queries:
        opinions = np.array([opinion.get((query.query_id, doc_id), np.nan) for doc_id in query.doc_ids])
        weights = np.ones(len(opinions)) if query.weights is None else query.weights
        graded = ~np.isnan(query.ratings)
        for row, assessor in enumerate(query.assessors):
            others = graded.copy()
            others[row] = False
            comparable = graded[row] & others.any(axis=0) & ~np.isnan(opinions)
            model = _off(opinions, query.ratings, others)[comparable]
            person = _off(query.ratings[row], query.ratings, others)[comparable]
            nearer, as_near = person <= model + _SAME, model <= person + _SAME
            query_ids = np.full(len(nearer), query.query_id)
            on_query = _Compared(nearer.astype(np.float64) - as_near, as_near, query_ids, weights[comparable])
            by_assessor.setdefault(assessor, []).append(on_query)
    compared = {assessor: _Compared.joined(parts) for assessor, parts in sorted(by_assessor.items())}
    return {assessor: person for assessor, person in compared.items() if len(person.behind)}


_SAME = 1e-9


def _off(grades: Array, ratings: Array, others: Mask) -> Array:
    """Root of the mean squared distance of each grade to those of the others, shape (N,)."""
    square = np.where(others, (ratings - grades) ** 2, 0.0).sum(axis=0)
    return np.asarray(np.sqrt(square / np.maximum(1, others.sum(axis=0))))


def _mean(values: Array, weights: Array) -> float:
    return float((values * weights).sum() / weights.sum())


def _below(off: float, variance: float, n: int) -> float:
    """Probability of a mean so far below its bound, by Student's t with n - 1 degrees of freedom; without variation 0
    or 1.
    """
    from scipy.special import stdtr

    if variance <= 0:
        return float(off >= 0)
    return float(stdtr(n - 1, off / math.sqrt(variance)))


def benjamini_yekutieli(p_values: Sequence[float]) -> tuple[float, ...]:
    """Correct p-values, in their order, so that the share of false findings stays below the level, however the tests
    depend on each other.

    Of the i-th smallest of m it is the least of p m (1 + 1/2 + ... + 1/m) / i from i on.
    """
    ranks = np.arange(1, len(p_values) + 1)
    order, corrected = np.argsort(p_values, kind="stable"), np.empty(len(ranks))
    scaled = np.asarray(p_values)[order] * len(ranks) * (1 / ranks).sum() / ranks
    corrected[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return tuple(corrected.tolist())
