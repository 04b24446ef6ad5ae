"""Agreement on one query and on many together, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.records import Decision, Judgement, first_judgements, grouped, nested
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.inference import Clusters, clusters_of, generator, jackknife_interval
from annot.base.stats.values import Estimate, Interval, Undefined, Value
from annot.measuring.agreement import coefficients

# ----------------------------------------------------------------------------------------------------------------------
# Records of the agreement tables. A figure is a value, or the reason why there is none.
# ----------------------------------------------------------------------------------------------------------------------


LEAST_EFFECTIVE = 15
"""Effective pairs that a sampled query needs for a figure of its own; with fewer it counts in the pooled one only."""
TOO_THIN = f"the sampled pairs are worth fewer than {LEAST_EFFECTIVE} with equal weights"


@dataclass(frozen=True, slots=True)
class PairShare:
    """Share of pairs: `count` pairs `of` so many; `value` is a fraction, 0..1."""

    count: int
    of: int
    value: Value


@dataclass(frozen=True, slots=True)
class SampledShare(PairShare):
    """Share whose `value` describes the whole pool, `count` and `of` the drawn pairs."""

    hits: float
    """Pairs of the pool that those of `count` represent: the sum of their weights."""
    worth: float
    """Pairs of the pool that those of `of` represent."""
    squares: float
    """Sum of the squares of these weights."""


@dataclass(frozen=True, slots=True)
class ShareSummary:
    """Share over all pairs, and the mean of the queries' shares; fractions, 0..1."""

    pooled: PairShare
    mean: Value
    n_queries: int
    undefined: dict[str, str]
    """Reason by `query_id` of the queries that have no share."""
    intervals: dict[str, Interval | Undefined] | None
    """Interval of `pooled`, Wilson's; of `mean`, the jackknife over topics; None if not requested."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of one coefficient over the queries of a group."""

    median: Value
    mean: Value
    q1: Value
    q3: Value
    pooled: Value
    """Coefficient of all pairs of the group taken together."""
    n_queries: int
    """Queries in which it has a value: those behind median, mean and quartiles."""
    n_undefined: int
    """Other queries of the group; those without a value of their own are in `undefined`."""
    n_pairs: int
    """Pairs judged at least twice in these queries."""
    n_pairs_pooled: int
    """Pairs judged at least twice behind `pooled`."""
    undefined: dict[str, str]
    """Reason by `query_id` of the queries in which it has no value."""
    intervals: dict[str, Interval | Undefined] | None
    """Intervals of `median`, `mean` and `pooled`, over whole topics; None if not requested."""


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """Agreement on one query."""

    query_id: str
    facet: str
    assessors: tuple[str, ...]
    n_pairs: int
    """Pairs with two or more grades, after the policy for missing judgements."""
    n_missing: int
    """Judgements that were asked for and have no grade."""
    prevalence: dict[int, int]
    """Number of times that each grade was given."""
    before: dict[str, Value]
    """Value between the assessors, by coefficient."""
    after: dict[str, Value]
    """Mean of (each assessor, final grade), by coefficient, on the pairs with two or more grades."""
    caveats_before: dict[str, tuple[str, ...]]
    """Caveats by coefficient, if its value says less than it seems to."""
    caveats_after: dict[str, tuple[str, ...]]
    disputed: PairShare
    """Pairs given to two or more assessors that needed adjudication: grades differ, or one is missing."""
    overruled: PairShare
    """Pairs with two or more grades whose final grade is none of them, without unjudgeable pairs."""
    n_open: int
    """Pairs of `disputed` that are not settled yet."""
    n_unjudgeable: int
    """Pairs that not even the adjudicator could judge: they are closed without a final grade, and do not count after
    adjudication."""
    agreed_by_policy: int
    """Pairs given to two or more assessors, not all of whom graded, whose grades are equal under the policy: a person
    settles them, yet they are not `disputed`."""


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Agreement on the queries of one facet, or on all together."""

    name: str
    n_queries: int
    n_pairs: int
    n_missing: int
    prevalence: dict[int, int]
    before: dict[str, Summary]
    after: dict[str, Summary]
    disputed: ShareSummary
    overruled: ShareSummary
    not_settled: Undefined | None
    """Reason why nothing is summarised after adjudication: pairs settled early are easier, so partial figures are too
    high.
    """
    agreed_by_policy: int
    n_unjudgeable: int


@dataclass(frozen=True, slots=True)
class AgreementTable:
    """Agreement figures of a study, with the settings behind them."""

    missing: str
    """Name of the policy for missing judgements."""
    grades: tuple[int, ...]
    """Scale that the coefficients saw; (0, 1) if binarised."""
    binarised_at: int | None
    """Lowest grade that counted as 1; None if the scale was used as it is."""
    titles: dict[str, str]
    level: float | None
    """Level of the intervals, 0..1; None without intervals."""
    queries: tuple[QueryAgreement, ...]
    groups: tuple[GroupAgreement, ...]
    """Facets by name, then `together`."""

    @property
    def binary(self) -> bool:
        """True if the scale has two grades as it is."""
        return self.binarised_at is None and len(self.grades) == 2

    @property
    def distinct(self) -> tuple[str, ...]:
        """Coefficients that are not another one of these by another name."""
        if self.binary and coefficients.TITLES_OF_TWO.keys() <= self.titles.keys():
            return tuple(coefficients.TITLES_OF_TWO)
        twins = coefficients.ON_TWO_GRADES if self.binary else {}
        return tuple(name for name in self.titles if twins.get(name) not in self.titles)

    @property
    def headline(self) -> tuple[str, ...]:
        """Coefficients that are shown first, in order."""
        many = any(len(query.assessors) > 2 for query in self.queries)
        first = (
            coefficients.HEADLINE_OF_TWO
            if self.binary
            else coefficients.HEADLINE_OF_MANY
            if many
            else coefficients.HEADLINE
        )
        return tuple(name for name in first if name in self.titles) or tuple(self.titles)

    @property
    def best(self) -> str:
        """Statistic of a group that is shown first: medians are too low if few pairs of each query were drawn."""
        return "pooled" if any(isinstance(query.disputed, SampledShare) for query in self.queries) else "median"

    @property
    def too_thin(self) -> int:
        """Sampled queries without figures of their own, because too few pairs were drawn; they count when pooled."""
        return sum(
            any(isinstance(value, Undefined) and value.in_general == TOO_THIN for value in query.before.values())
            for query in self.queries
        )


# ----------------------------------------------------------------------------------------------------------------------
# Coefficients of all pairs of many queries together, with an interval: the jackknife over whole topics.
#
# The jackknife leaves out one unit of chance after another: a query, or a paper of which several facets are queries.
# Counts add up, so what is left is the whole without that unit's.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PooledPairs:
    """Pairs of many queries put together: tables of every two, who have one of each query in which they met.

    clusters: the units of chance of the queries. query: shape (T,), the position of the query of each table. two: shape
    (T,), which two; every number from 0 occurs. tables: shape (T, K, K).
    """

    clusters: Clusters
    query: Integers
    two: Integers
    tables: Array
    counts: coefficients.Counts | None = None
    """Counts between all assessors, first axis Q; None if figures are means over every two."""

    def value(self, name: str, grades: Sequence[int]) -> Value:
        """Coefficient of all pairs together, or why there is none."""
        if self.counts is None:
            return coefficients.mean_of_tables(name, self.summed(), grades)
        return coefficients.value_between(name, self.counts.whole(), self.summed(), grades)

    def estimate(self, name: str, grades: Sequence[int], *, level: float) -> Estimate:
        """Coefficient of all pairs together, with its interval."""
        value = self.value(name, grades)
        return Estimate(value, interval_of(self, value, name, grades, level=level))

    def left_out(self, name: str, grades: Sequence[int]) -> Array:
        """Coefficient without each unit of chance, shape (C,), nan if there is none.

        Only two who met in a unit have another table without it.
        """
        if self.counts is not None and name not in coefficients.OF_TABLES:
            return coefficients.OF_COUNTS[name](self.counts.left_out(self.clusters), grades)
        tables = self.summed()
        many = len(tables) > 2
        met, position = np.unique(self.clusters.of[self.query] * len(tables) + self.two, return_inverse=True)
        unit, two = np.divmod(met, max(1, len(tables)))
        table_in_unit = np.zeros((len(met), *self.tables.shape[1:]))
        np.add.at(table_in_unit, position, self.tables)
        values, sizes = coefficients.of_tables(name, tables, grades, many=many)
        values_left, sizes_left = coefficients.of_tables(
            name, np.round(tables[two] - table_in_unit, coefficients.NO_DUST), grades, many=many
        )

        def without(values_of_two: Array, left: Array) -> Array:
            """Sum over every two without each unit. left: of two who met in it."""
            return np.asarray(values_of_two.sum() + np.bincount(unit, left - values_of_two[two], self.clusters.n))

        sums, used = (
            without(values * sizes, values_left * sizes_left),
            np.round(without(sizes, sizes_left), coefficients.NO_DUST),
        )
        shared = np.round(
            tables.sum() - np.bincount(unit, table_in_unit.sum(axis=(-1, -2)), self.clusters.n), coefficients.NO_DUST
        )
        result = np.full(self.clusters.n, np.nan)
        np.divide(sums, used, out=result, where=2 * used > shared)
        return result

    def summed(self) -> Array:
        """Table of each two over all queries, shape (P, K, K)."""
        tables = np.zeros((int(self.two.max(initial=-1)) + 1, *self.tables.shape[1:]))
        np.add.at(tables, self.two, self.tables)
        return tables


def pooled_between(
    counts: Sequence[coefficients.Counts],
    met: Sequence[Integers],
    tables: Sequence[Array],
    *,
    topics: Sequence[str] | None,
) -> PooledPairs:
    """Join queries, all with the same M assessors.

    met: of each query the rows of every two who met, shape (P, 2). tables: theirs, shape (P, K, K). topics: the topic
    of each query; None takes the queries as independent.
    """
    together = coefficients.Counts.stack(counts)
    n_assessors = together.margins.shape[1]
    rows = np.concatenate(met)
    _, two = np.unique(rows[:, 0] * n_assessors + rows[:, 1], return_inverse=True)
    query = np.repeat(np.arange(len(met)), [len(rows_of_query) for rows_of_query in met])
    clusters = clusters_of(range(len(met)), topics)
    return PooledPairs(clusters, query, two, np.concatenate(tables), together)


def interval_of(
    pooled: PooledPairs, value: Value, name: str, grades: Sequence[int], *, level: float
) -> Interval | Undefined:
    """Interval of `value`, the coefficient `name` of all pairs together."""
    if isinstance(value, Undefined):
        return value
    least, most = ends_of(name)
    without, unit = pooled.left_out(name, grades), pooled.clusters.unit
    return jackknife_interval(value, without, level=level, least=least, most=most, unit=unit)


def ends_of(name: str) -> tuple[float, float]:
    """Smallest and largest possible value of a coefficient."""
    return (0.0, 100.0) if name in coefficients.PERCENTAGES else (-1.0, 1.0)


NOTHING = Undefined("no pair has both grades")
Pair = tuple[str, str]
"""A pair as (query_id, doc_id)."""


@dataclass(frozen=True, slots=True)
class AgreementOfGradings:
    """Agreement of two gradings on the pairs that both graded."""

    n_pairs: int
    n_queries: int
    figures: dict[str, Estimate]
    """Figure by coefficient: of all pairs together, with the jackknife's interval over whole topics."""


def agreement_between(
    first: Mapping[Pair, int],
    second: Mapping[Pair, int],
    *,
    grades: Sequence[int],
    level: float,
    coefficients: Iterable[str],
    topics: Mapping[str, str] | None,
    weights: Mapping[Pair, float] | None = None,
) -> AgreementOfGradings:
    """Compute the coefficients of two gradings.

    first, second: the grade of each pair, by query and document. topics: the topic of each query, by its id; None takes
    the queries as independent. weights: of each pair, 1 / pi if a sample was drawn; None is 1 each.
    """
    by_query = grouped((pair[0], pair) for pair in sorted(first.keys() & second.keys()))
    rows = [
        RatedPairs(
            query_id,
            np.array([[grading[pair] for pair in pairs] for grading in (first, second)], dtype=np.float64),
            None if weights is None else np.array([weights[pair] for pair in pairs]),
        )
        for query_id, pairs in by_query.items()
    ]
    return agreement_of_pairs(rows, grades, level=level, coefficients=coefficients, topics=topics)


class RatedPairs(NamedTuple):
    """Grades on pairs of one query."""

    query_id: str
    ratings: Array
    """Shape (M, N), nan if there is none."""
    weights: Array | None
    """Shape (N,); None is 1 each."""


def agreement_of_pairs(
    rows: Sequence[RatedPairs],
    grades: Sequence[int],
    *,
    level: float,
    coefficients: Iterable[str],
    topics: Mapping[str, str] | None,
) -> AgreementOfGradings:
    """Compute the coefficients of the pairs of all queries together. topics: as in `agreement_between`."""
    pooled = pooled_pairs(rows, grades, topics)
    if pooled is None:
        return AgreementOfGradings(0, 0, dict.fromkeys(coefficients, Estimate(NOTHING, NOTHING)))
    figures = {name: pooled.estimate(name, grades, level=level) for name in coefficients}
    return AgreementOfGradings(sum(row.ratings.shape[1] for row in rows), len(rows), figures)


def pooled_pairs(
    rows: Sequence[RatedPairs], grades: Sequence[int], topics: Mapping[str, str] | None
) -> PooledPairs | None:
    """Joint counts of these queries, all with the same M assessors; None if there are no queries."""
    if not rows:
        return None
    met, tables = zip(*(coefficients.tables_between(row.ratings, grades, row.weights) for row in rows), strict=True)
    return pooled_between(
        [coefficients.count(row.ratings, grades, row.weights) for row in rows],
        met,
        tables,
        topics=None if topics is None else [topics[row.query_id] for row in rows],
    )


# ----------------------------------------------------------------------------------------------------------------------
# Judgements of each query as a matrix, and the agreement on one query.
#
# The policy for missing judgements comes first; then the coefficients before and after adjudication, caveats for
# values that say less than they seem to, and the work of adjudication.
# ----------------------------------------------------------------------------------------------------------------------


Ratings = Array
Policy = Callable[[Ratings, Mask], Ratings]


@dataclass(frozen=True, slots=True)
class QueryRatings:
    """Grades of one query: M assessors by pseudonym, N documents by id."""

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
    """Shape (N,), true if the pair is unjudgeable: it gets no final grade."""
    weights: Array | None = None
    """Shape (N,), number of pairs of the pool that each represents; None is 1 each."""


def ratings_of(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    grades: Sequence[int] | None = None,
    unjudgeable: Collection[tuple[str, str]] = (),
    weights: Mapping[tuple[str, str], float] | None = None,
) -> tuple[QueryRatings, ...]:
    """Build one matrix per query, by `query_id`, of the judgements that count; hidden repeats are not among them.

    facets: the facet of each `query_id`. grades: the scale; None takes any grade. unjudgeable: the pairs (query,
    document) that are unjudgeable. weights: of each pair, 1 / pi if a sample was drawn. Raises InputError for a double
    judgement, a query without facet, or a grade outside the scale.
    """
    decisions = tuple(decisions)
    judged = first_judgements(judgements, decisions, facets, grades=grades)
    by_query = grouped((judgement.query_id, judgement) for judgement in judged)
    final = nested((*decision.pair, decision.grade) for decision in decisions)
    matrices = []
    for query_id, judgements_of_query in sorted(by_query.items()):
        assessors = tuple(sorted({judgement.assessor for judgement in judgements_of_query}))
        doc_ids = tuple(sorted({judgement.doc_id for judgement in judgements_of_query}))
        row, column = ({name: position for position, name in enumerate(names)} for names in (assessors, doc_ids))
        ratings = np.full((len(assessors), len(doc_ids)), np.nan)
        asked = np.zeros(ratings.shape, dtype=np.bool_)
        for judgement in judgements_of_query:
            cell = row[judgement.assessor], column[judgement.doc_id]
            asked[cell] = True
            if judgement.grade is not None:
                ratings[cell] = judgement.grade
        decided = final.get(query_id, {})
        matrices.append(
            QueryRatings(
                query_id=query_id,
                facet=facets[query_id],
                assessors=assessors,
                doc_ids=doc_ids,
                ratings=ratings,
                asked=asked,
                final=np.array([decided.get(doc_id, np.nan) for doc_id in doc_ids], dtype=np.float64),
                ended=np.array([(query_id, doc_id) in unjudgeable for doc_id in doc_ids], dtype=np.bool_),
                weights=None
                if weights is None
                else np.array([weights[query_id, doc_id] for doc_id in doc_ids], dtype=np.float64),
            )
        )
    return tuple(matrices)


def drop(ratings: Ratings, asked: Mask) -> Ratings:
    """Leave a missing judgement out: coefficients use the judgements there are.

    ratings: shape (M, N), nan where there is no grade. asked: shape (M, N), true where the assessor was given the pair.
    """
    return ratings


def zero(ratings: Ratings, asked: Mask) -> Ratings:
    """Count a judgement that was asked for and not given as grade 0, as in CSFCube's published figures.

    A pair that an assessor was never given stays without a grade.
    """
    return np.where(asked & np.isnan(ratings), 0.0, ratings)


def binarise(ratings: Ratings, *, at: int) -> Ratings:
    """Recode grades: 1 if the grade is `at` or higher, 0 if it is lower, nan if there is none."""
    return np.where(np.isnan(ratings), np.nan, (ratings >= at).astype(np.float64))


POLICIES: dict[str, Policy] = {"drop": drop, "zero": zero}

IN_WORDS: dict[str, str] = {
    "drop": "A missing judgement is left out; its pair keeps the other grades. Only pairs with at least two grades are "
    "compared. Rho and tau are computed for every two assessors on the pairs that both graded; the other "
    "coefficients use all grades of a pair. The chance term of AC1 and AC2 also counts pairs "
    "with a single grade, as Gwet defines it.",
    "zero": "A judgement that was requested but is missing counts as grade 0. A pair that an assessor was never given "
    "stays without that assessor's grade.",
}
"""Effect of each policy, in sentences for a reader of the figures."""


def in_words(missing: str, *, binary: bool) -> str:
    """Describe the policy. binary: on two grades, where rank correlations are phi and AC2 is AC1."""
    description = IN_WORDS[missing]
    return description.replace("Rho and tau are", "Phi is").replace("AC1 and AC2", "AC1") if binary else description


NOT_SETTLED = "disputed pairs are not settled yet"


@dataclass(frozen=True, slots=True)
class CountedQuery:
    """Counts of the grades of one query as the coefficients see them. M are the assessors of the query."""

    counts: coefficients.Counts
    """Counts between the assessors."""
    met: Integers
    """Shape (P, 2): every two assessors who met."""
    between: Array
    """Shape (P, K, K): table of each two."""
    with_final: Array
    """Shape (M, K, K): table of each assessor and the final grades, on the pairs with two or more grades."""
    n_without_final: int
    """Pairs with two or more grades and no final one, which may still get one."""


def query_agreement(
    query: QueryRatings, scale: Sequence[int], *, missing: str, binarised_at: int | None, names: Sequence[str]
) -> tuple[QueryAgreement, CountedQuery]:
    """Compute all figures of one query on `scale`, and the counts that the coefficients see.

    The policy `missing` comes first, then the shares on the full scale, then the binarised scale if there is one.
    """
    ratings, final = POLICIES[missing](query.ratings, query.asked), query.final
    graded = ~np.isnan(ratings)
    twice = graded.sum(axis=0) >= 2
    asked_twice = query.asked.sum(axis=0) >= 2
    lowest = np.where(graded, ratings, np.inf).min(axis=0)
    highest = np.where(graded, ratings, -np.inf).max(axis=0)
    disputed = asked_twice & ((lowest != highest) | (query.asked & ~graded).any(axis=0))
    absent = query.asked & np.isnan(query.ratings)
    weights = query.weights
    overruled = _share(twice & ~np.isnan(final) & ~(ratings == final).any(axis=0), twice & ~query.ended, weights)
    if binarised_at is not None:
        ratings, final = binarise(ratings, at=binarised_at), binarise(final, at=binarised_at)
    # The final grade of a pair with one grade is that grade, and agrees with nobody.
    compared = twice & ~np.isnan(final)
    met, between = coefficients.tables_between(ratings, scale, weights)
    counted_query = CountedQuery(
        counts=coefficients.count(ratings, scale, weights),
        met=met,
        between=between,
        with_final=coefficients.tables_with(
            ratings[:, compared], final[compared], scale, None if weights is None else weights[compared]
        ),
        n_without_final=int(np.count_nonzero(twice & np.isnan(final) & ~query.ended)),
    )
    thin = None if weights is None else too_thin(weights[twice])
    before = {name: thin or coefficients.value_between(name, counted_query.counts, between, scale) for name in names}
    disputed_share, n_pairs = _share(disputed, asked_twice, weights), int(np.count_nonzero(twice))
    n_open = int(np.count_nonzero(disputed & np.isnan(final) & ~query.ended))
    unsettled = _not_settled(n_open, disputed_share.count, counted_query.n_without_final, n_pairs)
    blocked = (unsettled if n_pairs else Undefined(coefficients.NOT_JUDGED_TWICE)) or thin
    after = {name: blocked or coefficients.mean_of_tables(name, counted_query.with_final, scale) for name in names}
    agreement = QueryAgreement(
        query_id=query.query_id,
        facet=query.facet,
        assessors=query.assessors,
        n_pairs=n_pairs,
        n_missing=int(np.count_nonzero(absent)),
        prevalence={grade: int(np.count_nonzero(ratings == grade)) for grade in scale},
        before=before,
        after=after,
        caveats_before=caveats(between, before, averaged=False),
        caveats_after=caveats(counted_query.with_final, after, averaged=True),
        disputed=disputed_share,
        overruled=replace(overruled, value=unsettled) if unsettled else overruled,
        n_open=n_open,
        n_unjudgeable=int(np.count_nonzero(query.ended)),
        agreed_by_policy=int(np.count_nonzero(asked_twice & ~disputed & absent.any(axis=0))),
    )
    return agreement, counted_query


def effective_pairs(weights: Array) -> float:
    """Number of pairs of equal weight with the same information (Kish 1965, Survey Sampling, section 11.7)."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0


def too_thin(weights: Array) -> Undefined | None:
    """Reason why a sampled query has no figure of its own. weights: of its pairs with two or more grades."""
    pairs = effective_pairs(weights)
    if pairs >= LEAST_EFFECTIVE or not len(weights) or (weights == 1).all():
        return None
    return Undefined(
        f"its {len(weights)} sampled pairs are worth {pairs:.0f} with equal weights; a figure of one query needs "
        f"{LEAST_EFFECTIVE}",
        TOO_THIN,
    )


def not_settled(queries: Iterable[tuple[QueryAgreement, CountedQuery]]) -> Undefined | None:
    """Reason why the queries together have no figure after adjudication; None if every pair is settled.

    Undisputed pairs are settled first: alone they would show perfect agreement.
    """
    numbers = [(query.n_open, query.disputed.count, counts.n_without_final, query.n_pairs) for query, counts in queries]
    return _not_settled(*np.sum(numbers, axis=0).tolist())


def _not_settled(still_open: int, disputed: int, without: int, judged: int) -> Undefined | None:
    if still_open:
        verb = "is" if still_open == 1 else "are"
        return Undefined(f"{still_open} of {disputed} disputed pairs {verb} not settled yet", NOT_SETTLED)
    return Undefined(f"{without} of {judged} pairs have no final grade yet", NOT_SETTLED) if without else None


def _share(hits: Mask, members: Mask, weights: Array | None) -> PairShare:
    n_hits, n_members = int(np.count_nonzero(hits)), int(np.count_nonzero(members))
    if weights is None or (weights == 1).all():
        return PairShare(
            n_hits, n_members, n_hits / n_members if n_members else Undefined(coefficients.NOT_JUDGED_TWICE)
        )
    weight_of_hits, weight = float(weights[hits].sum()), float(weights[members].sum())
    value = weight_of_hits / weight if n_members else Undefined(coefficients.NOT_JUDGED_TWICE)
    return SampledShare(n_hits, n_members, value, weight_of_hits, weight, float((weights[members] ** 2).sum()))


ONE_SIDED = (
    "one of the two assessors gave the same grade to every pair: "
    "kappa is then 0, and alpha about 0 or below, whatever the other gave"
)
TWO_PAIRS = "it rests on two pairs: one other grade would change it completely"
ONE_GRADE = "every judgement is the same grade: it is then 1 by definition, as nothing else is expected by chance"


def caveats(tables: Array, values: Mapping[str, Value], *, averaged: bool) -> dict[str, tuple[str, ...]]:
    """Caveats of each coefficient that has a value and needs one.

    tables: of every two that are compared, shape (P, K, K). values: by coefficient. averaged: they are the mean over
    the tables, and not of all assessors at once; a caveat then holds where most pairs lie in tables that it holds for.

    A kappa against a constant is 0 by its definition (Cohen 1960): what is observed is then what is expected.
    """
    sizes = tables.sum(axis=(-1, -2))
    one_sided = two_pairs = False
    if sizes.any() and (averaged or np.count_nonzero(sizes) == 1):
        constant = np.any([np.count_nonzero(tables.sum(axis=axis), axis=-1) == 1 for axis in (-1, -2)], axis=0)
        one_sided = not coefficients.rests_on_most(sizes[~constant].sum(), sizes.sum())
        two_pairs = coefficients.rests_on_most(sizes[sizes == 2].sum(), sizes.sum())
    one_grade = np.count_nonzero(tables.sum(axis=(0, 1)) + tables.sum(axis=(0, 2))) == 1
    caveats_by_name = {}
    for name, value in values.items():
        if isinstance(value, float) and name.startswith(("alpha", "kappa", "ac")):
            of_gwet = name.startswith("ac")
            applicable = {ONE_SIDED: one_sided and not of_gwet, TWO_PAIRS: two_pairs, ONE_GRADE: one_grade and of_gwet}
            if any(applicable.values()):
                caveats_by_name[name] = tuple(text for text, applies in applicable.items() if applies)
    return caveats_by_name


# ----------------------------------------------------------------------------------------------------------------------
# Joint grades of the assessors of a pair, counted by query: for studies that are simulated.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JointGrades:
    """Patterns of grades that the `k` assessors of a pair gave together, and their counts."""

    query_ids: tuple[str, ...]
    patterns: Array
    """Shape (C, k): in each row the grades that one pair got, by the order of pseudonyms; nan is no grade."""
    tables: Integers
    """Shape (Q, C): number of each query's pairs with each pattern; each query has at least one pair."""
    chosen: int
    """Pairs with more than k answers, of which k were drawn."""
    most: int
    """Answers of the pair that has most, in the whole study."""
    grades: Sequence[int]
    missing: str
    """Policy for missing grades."""

    @property
    def disputed(self) -> Mask:
        """Shape (C,): patterns that an adjudicator must settle: grades differ, or one is missing."""
        return np.asarray(~(self.patterns == self.patterns[:, :1]).all(axis=1))

    @cached_property
    def _counts(self) -> coefficients.Counts:
        """Counts of one pair of each pattern, first axis C."""
        return coefficients.Counts.stack([coefficients.count(rating[:, None], self.grades) for rating in self._ratings])

    @cached_property
    def _ratings(self) -> Array:
        """Shape (C, k): grades after the policy."""
        asked = np.ones(self.patterns.shape, dtype=np.bool_)
        return POLICIES[self.missing](self.patterns, asked)

    @cached_property
    def _tables_of_two(self) -> Array:
        """Shape (C, P, K, K): tables of every two on one pair of each pattern."""
        at_grade = coefficients.one_hot(self._ratings, self.grades)
        first, second = np.triu_indices(self.patterns.shape[1], k=1)
        return np.asarray(at_grade[:, first, :, None] * at_grade[:, second, None, :])

    def estimate(
        self, tables: Array | Integers, *, name: str, level: float, topics: npt.ArrayLike | None = None
    ) -> Estimate:
        """Coefficient of all pairs together, with its interval over whole queries. tables: shape (Q, C).

        topics: shape (Q,), the topic of each, the unit if several queries are of one; None takes them as independent.
        """
        times, n_queries, n_twos = tables.astype(np.float64), len(tables), self._tables_of_two.shape[1]
        pooled = PooledPairs(
            clusters_of(np.arange(n_queries), topics),
            np.repeat(np.arange(n_queries), n_twos),
            np.tile(np.arange(n_twos), n_queries),
            np.asarray(np.tensordot(times, self._tables_of_two, axes=1)).reshape(-1, *self._tables_of_two.shape[2:]),
            self._counts.weighted(times),
        )
        return pooled.estimate(name, self.grades, level=level)


def joint_grades(
    queries: Iterable[QueryRatings], *, per_pair: int, seed: int, grades: Sequence[int], missing: str
) -> JointGrades:
    """Count the pairs that `per_pair` assessors or more have answered; of more answers, as many are drawn for each
    pair. missing: the policy for missing grades.
    """
    query_ids: list[str] = []
    rows: list[Array] = []
    chosen = most = 0
    for query in queries:
        rng = generator(seed, "joint", query.query_id)
        for asked, grades_of_pair in zip(query.asked.T, query.ratings.T, strict=True):
            answered = np.flatnonzero(asked)
            most = max(most, len(answered))
            if len(answered) > per_pair:
                chosen += 1
                answered = np.sort(rng.choice(answered, size=per_pair, replace=False))
            if len(answered) == per_pair:
                query_ids.append(query.query_id)
                # -1, as nan is not equal to itself and would be a pattern of its own each time.
                rows.append(np.nan_to_num(grades_of_pair[answered], nan=-1.0))
    patterns, pattern = np.unique(np.reshape(rows, (len(rows), per_pair)), axis=0, return_inverse=True)
    names = tuple(dict.fromkeys(query_ids))
    tables = np.zeros((len(names), len(patterns)), dtype=np.int64)
    np.add.at(tables, (np.array([*map(names.index, query_ids)], dtype=np.int64), pattern.reshape(-1)), 1)
    return JointGrades(names, np.where(patterns < 0, np.nan, patterns), tables, chosen, most, grades, missing)
