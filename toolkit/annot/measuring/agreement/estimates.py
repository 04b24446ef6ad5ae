"""Agreement on one query, on two gradings, and in the tables of a study, with intervals."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from annot.base.errors import InputError
from annot.base.names import check_name, counted, few, verb
from annot.base.records import Decision, Judgement, first_judgements, grouped, nested
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.inference import mean_interval, median_interval, share_of_counts
from annot.base.stats.values import Estimate, Interval, Undefined, Value, rounding
from annot.measuring.agreement import coefficients
from annot.measuring.agreement.coefficients import titles_of

# ----------------------------------------------------------------------------------------------------------------------
# Records of the agreement tables. A figure is a value, or the reason why there is none.
# ----------------------------------------------------------------------------------------------------------------------


LEAST_EFFECTIVE = 15
"""Effective pairs that a sampled query needs for a figure of its own; with fewer it counts in the pooled one only."""
TOO_THIN = f"the sampled pairs are worth fewer than {LEAST_EFFECTIVE} with equal weights"


@dataclass(frozen=True, slots=True)
class PairShare:
    """Share of pairs: `count` of `of` pairs; `value` is a fraction, 0..1."""

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
    """Pairs judged at least twice in these queries; after adjudication without the unjudgeable ones."""
    n_pairs_pooled: int
    """The same behind `pooled`."""
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

    @property
    def n_pairs_after(self) -> int:
        """Pairs behind the figures after adjudication: those of `n_pairs` that are not unjudgeable."""
        return self.overruled.of


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

    @property
    def n_pairs_after(self) -> int:
        """Pairs behind the figures after adjudication: those of `n_pairs` that are not unjudgeable."""
        return self.overruled.pooled.of


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
        """True if the scale itself has two grades."""
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
# Agreement of two gradings, and of the repeats of one.
# ----------------------------------------------------------------------------------------------------------------------


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
    the queries as independent. weights: 1 / pi of each pair that was drawn; any other pair counts 1.
    """
    weights = weights or {}
    by_query = grouped((pair[0], pair) for pair in sorted(first.keys() & second.keys()))
    rows = [
        RatedPairs(
            query_id,
            np.array([[grading[pair] for pair in pairs] for grading in (first, second)], dtype=np.float64),
            np.array([weights.get(pair, 1.0) for pair in pairs]),
        )
        for query_id, pairs in by_query.items()
    ]
    return agreement_of_pairs(rows, grades, level=level, coefficients=coefficients, topics=topics)


class RatedPairs(NamedTuple):
    """Grades on pairs of one query."""

    query_id: str
    ratings: Array
    """Shape (M, N), nan if there is none."""
    weights: Array
    """Shape (N,); 1 each unless a sample was drawn."""


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
) -> coefficients.PooledPairs | None:
    """Joint counts of these queries, all with the same M assessors; None if there are no queries."""
    if not rows:
        return None
    met, tables = zip(*(coefficients.tables_between(row.ratings, grades, row.weights) for row in rows), strict=True)
    return coefficients.pooled_between(
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
    weights: Array
    """Shape (N,), number of pairs of the pool that each represents; 1 each unless a sample was drawn."""


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
    document) that are unjudgeable. weights: 1 / pi of each pair that was drawn; any other pair counts 1. Raises
    InputError for a double judgement, a query without facet, or a grade outside the scale.
    """
    decisions, weights = tuple(decisions), weights or {}
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
                weights=np.array([weights.get((query_id, doc_id), 1.0) for doc_id in doc_ids]),
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
        with_final=coefficients.tables_with(ratings[:, compared], final[compared], scale, weights[compared]),
        n_without_final=int(np.count_nonzero(twice & np.isnan(final) & ~query.ended)),
    )
    thin = too_thin(weights[twice])
    before = {name: thin or coefficients.value_between(name, counted_query.counts, between, scale) for name in names}
    disputed_share, n_pairs = _share(disputed, asked_twice, weights), int(np.count_nonzero(twice))
    n_open = int(np.count_nonzero(disputed & np.isnan(final) & ~query.ended))
    unsettled = _reason_unsettled(n_open, disputed_share.count, counted_query.n_without_final, n_pairs)
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
    return _reason_unsettled(*np.sum(numbers, axis=0).tolist())


def _reason_unsettled(still_open: int, disputed: int, without: int, judged: int) -> Undefined | None:
    if still_open:
        verb = "is" if still_open == 1 else "are"
        return Undefined(f"{still_open} of {disputed} disputed pairs {verb} not settled yet", NOT_SETTLED)
    return Undefined(f"{without} of {judged} pairs have no final grade yet", NOT_SETTLED) if without else None


def _share(hits: Mask, members: Mask, weights: Array) -> PairShare:
    n_hits, n_members = int(np.count_nonzero(hits)), int(np.count_nonzero(members))
    weight_of_hits, weight = float(weights[hits].sum()), float(weights[members].sum())
    value = weight_of_hits / weight if n_members else Undefined(coefficients.NOT_JUDGED_TWICE)
    if (weights == 1).all():
        return PairShare(n_hits, n_members, value)
    return SampledShare(n_hits, n_members, value, weight_of_hits, weight, float((weights[members] ** 2).sum()))


ONE_SIDED = (
    "one of the two assessors gave the same grade to every pair: "
    "kappa is then 0, and alpha about 0 or below, whatever the other gave"
)
ONE_FINAL_GRADE = (
    "every pair has the same final grade: kappa is then 0, and alpha about 0 or below, whatever the assessors gave"
)
TWO_PAIRS = "it rests on two pairs: one other grade would change it completely"
ONE_GRADE = "every judgement is the same grade: it is then 1 by definition, as nothing else is expected by chance"


def caveats(tables: Array, values: Mapping[str, Value], *, averaged: bool) -> dict[str, tuple[str, ...]]:
    """Caveats of each coefficient that has a value and needs one.

    tables: of every two that are compared, shape (P, K, K). values: by coefficient. averaged: they are the mean over
    the tables, each of an assessor and the final grades, and not of all assessors at once; a caveat then holds where
    most pairs lie in tables that it holds for.

    A kappa against a constant is 0 by its definition (Cohen 1960): what is observed is then what is expected.
    """
    sizes = tables.sum(axis=(-1, -2))
    one_sided = two_pairs = False
    if sizes.any() and (averaged or np.count_nonzero(sizes) == 1):
        constant = np.any([np.count_nonzero(tables.sum(axis=axis), axis=-1) == 1 for axis in (-1, -2)], axis=0)
        one_sided = not coefficients.rests_on_most(sizes[~constant].sum(), sizes.sum())
        two_pairs = coefficients.rests_on_most(sizes[sizes == 2].sum(), sizes.sum())
    one_final_grade = averaged and np.count_nonzero(tables.sum(axis=(0, 1))) == 1
    reason = ONE_FINAL_GRADE if one_final_grade else ONE_SIDED
    one_grade = np.count_nonzero(tables.sum(axis=(0, 1)) + tables.sum(axis=(0, 2))) == 1
    caveats_by_name = {}
    for name, value in values.items():
        if isinstance(value, float) and name.startswith(("alpha", "kappa", "ac")):
            of_gwet = name.startswith("ac")
            applicable = {reason: one_sided and not of_gwet, TWO_PAIRS: two_pairs, ONE_GRADE: one_grade and of_gwet}
            if any(applicable.values()):
                caveats_by_name[name] = tuple(text for text, applies in applicable.items() if applies)
    return caveats_by_name


# ----------------------------------------------------------------------------------------------------------------------
# Agreement per query, then per facet and together: before adjudication, after it, and the work of adjudication.
#
# Each coefficient is summarised over the queries of a group, with intervals over whole topics.
# ----------------------------------------------------------------------------------------------------------------------


TOGETHER = "together"


@rounding
def agreement_table(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    grades: Sequence[int],
    missing: str,
    binarised_at: int | None,
    level: float | None,
    topics: Mapping[str, str] | None,
    coefficients: Sequence[str] = tuple(coefficients.COEFFICIENTS),
    unjudgeable: Collection[tuple[str, str]] = (),
    weights: Mapping[tuple[str, str], float] | None = None,
) -> AgreementTable:
    """Compute all agreement figures.

    facets: the facet of each `query_id`. grades: the scale, consecutive integers. missing: a name in `POLICIES`.
    binarised_at: compute the coefficients on "this grade or higher" instead; None uses the scale as it is. level: of
    the intervals, 0..1; None for no intervals. topics: the topic of each `query_id`; intervals take topics for the
    sampling units, and queries if this is None. coefficients: names in `COEFFICIENTS`. unjudgeable: the pairs (query,
    document) that were closed because no one could judge them. weights: 1 / pi of each pair (query, document) that was
    drawn, any other counts 1: coefficients then describe the whole pool, and a query whose pairs are worth too few
    (`LEAST_EFFECTIVE`) has none of its own. The best figure then is the pooled one: means and medians over queries are
    off by .01 at a third (`benchmarks/sampled_judging.py`). Shares of disputed and overruled pairs describe the pool,
    too; counts are of judged pairs.

    Per query: before adjudication the coefficient between the assessors, after it the mean of (each assessor, final
    grade), both on the pairs with two or more grades. After adjudication a query, and a group of queries, has values
    only when none of its disputes is open: pairs settled early are easier, so partial figures would be too high.
    Raises InputError for an unknown policy, a grade outside the scale, a query without facet, or a double judgement.
    """
    check_name(missing, tuple(POLICIES), what="missing")
    if binarised_at is not None and binarised_at not in grades[1:]:
        raise InputError(f"binarised at {binarised_at}: expected one of {', '.join(map(str, grades[1:]))}")
    scale = tuple(grades) if binarised_at is None else (0, 1)
    query_ratings = ratings_of(judgements, decisions, facets, grades=grades, unjudgeable=unjudgeable, weights=weights)
    figures = [
        query_agreement(query, scale, missing=missing, binarised_at=binarised_at, names=coefficients)
        for query in query_ratings
    ]
    names = dict.fromkeys([*sorted({query.facet for query, _ in figures}), TOGETHER]) if figures else ()
    groups = [
        group_agreement(
            *(name, [member for member in figures if name in (member[0].facet, TOGETHER)], scale),
            coefficients=coefficients,
            level=level,
            topics=topics,
        )
        for name in names
    ]
    return AgreementTable(
        missing=missing,
        grades=scale,
        binarised_at=binarised_at,
        titles={name: titles_of(grades)[name] for name in coefficients},
        level=level,
        queries=tuple(query for query, _ in figures),
        groups=tuple(groups),
    )


IN_NONE = Undefined("none of the queries has a value")
SHOWN_NAMES = 3
"""Number of queries named in a reason; the records name all."""


def group_agreement(
    name: str,
    members: Sequence[tuple[QueryAgreement, CountedQuery]],
    scale: Sequence[int],
    *,
    coefficients: Sequence[str],
    level: float | None,
    topics: Mapping[str, str] | None,
) -> GroupAgreement:
    """Summarise the queries of one facet, or all, each with its counts. level: of the intervals; None makes none.

    topics: the topic of each query, by its id; None takes the queries as independent.
    """
    queries, counted_queries = zip(*members, strict=True)
    group = _Group(queries, None if topics is None else [topics[query.query_id] for query in queries], scale, level)
    between, with_final = _pooled(queries, counted_queries, group.topics)
    unsettled = not_settled(members)
    if unsettled is not None:
        names = [query.query_id for query, counts in members if not_settled([(query, counts)])]
        unsettled = Undefined(f"{unsettled.reason}, on {few(names, SHOWN_NAMES)}", unsettled.in_general)
    return GroupAgreement(
        name=name,
        n_queries=len(queries),
        n_pairs=sum(query.n_pairs for query in queries),
        n_missing=sum(query.n_missing for query in queries),
        prevalence={grade: sum(query.prevalence[grade] for query in queries) for grade in scale},
        before={
            name: group.summary(name, [(query.before[name], query.n_pairs) for query in queries], between)
            for name in coefficients
        },
        after={
            name: group.summary(
                name, [(query.after[name], query.n_pairs_after) for query in queries], with_final, blocked=unsettled
            )
            for name in coefficients
        },
        disputed=group.shares([query.disputed for query in queries]),
        overruled=group.shares([query.overruled for query in queries], blocked=unsettled),
        not_settled=unsettled,
        agreed_by_policy=sum(query.agreed_by_policy for query in queries),
        n_unjudgeable=sum(query.n_unjudgeable for query in queries),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """Queries that are summarised together. `blocked` is the reason why they have no figure, whatever each one has."""

    queries: Sequence[QueryAgreement]
    topics: Sequence[str] | None
    scale: Sequence[int]
    level: float | None

    def summary(
        self,
        coefficient: str,
        values_and_pairs: Sequence[tuple[Value, int]],
        pooled: coefficients.PooledPairs,
        blocked: Undefined | None = None,
    ) -> Summary:
        """Summary of one coefficient, from its value on each query and the number of pairs behind it."""
        values, pairs = zip(*values_and_pairs, strict=True)
        numbers = np.full(len(values), np.nan) if blocked else _numbers(values)
        has_value = ~np.isnan(numbers)
        defined, topics = numbers[has_value], self._topics_of(has_value)
        why = blocked or _reason_no_summary(len(defined), len(values))
        q1, median, q3 = [why] * 3 if why else map(float, np.quantile(defined, [0.25, 0.5, 0.75]))
        pooled_value = blocked or pooled.value(coefficient, self.scale)
        least, most = coefficients.ends_of(coefficient)
        intervals: dict[str, Interval | Undefined] | None = None
        if self.level is not None:
            intervals = {
                "median": why or median_interval(defined, level=self.level, topics=topics),
                "mean": why or mean_interval(defined, level=self.level, least=least, most=most, topics=topics),
                "pooled": coefficients.interval_of(pooled, pooled_value, coefficient, self.scale, level=self.level),
            }
        return Summary(
            median=median,
            mean=why or float(defined.mean()),
            q1=q1,
            q3=q3,
            pooled=pooled_value,
            n_queries=len(defined),
            n_undefined=len(values) - len(defined),
            n_pairs=sum(itertools.compress(pairs, has_value)),
            n_pairs_pooled=0 if blocked else sum(pairs),
            undefined=self._reasons(values),
            intervals=intervals,
        )

    def shares(self, shares: Sequence[PairShare], blocked: Undefined | None = None) -> ShareSummary:
        """Summary of a share of each query."""
        values = [share.value for share in shares]
        numbers = _numbers(values)
        has_value = ~np.isnan(numbers)
        defined, topics = numbers[has_value], self._topics_of(has_value)
        count, of = sum(share.count for share in shares), sum(share.of for share in shares)
        hits, sizes = _effective_counts(shares)
        why = blocked or (None if len(defined) else IN_NONE)
        intervals: dict[str, Interval | Undefined] | None = None
        if self.level is not None:
            intervals = {
                "pooled": blocked or share_of_counts(hits, sizes, level=self.level, topics=self.topics).interval,
                "mean": why or mean_interval(defined, level=self.level, least=0, most=1, topics=topics),
            }
        return ShareSummary(
            pooled=PairShare(count, of, why or sum(hits) / sum(sizes)),
            mean=why or float(defined.mean()),
            n_queries=0 if blocked else len(defined),
            undefined=self._reasons(values),
            intervals=intervals,
        )

    def _topics_of(self, chosen: Mask) -> list[str] | None:
        return None if self.topics is None else list(itertools.compress(self.topics, chosen))

    def _reasons(self, values: Sequence[Value]) -> dict[str, str]:
        pairs = zip(self.queries, values, strict=True)
        return {query.query_id: value.reason for query, value in pairs if isinstance(value, Undefined)}


def _pooled(
    queries: Sequence[QueryAgreement], counted_queries: Sequence[CountedQuery], topics: Sequence[str] | None
) -> tuple[coefficients.PooledPairs, coefficients.PooledPairs]:
    """Counts of all queries, with a row for each of the group's assessors: between them, and with the final grades."""
    assessors = sorted({assessor for query in queries for assessor in query.assessors})
    places = {assessor: place for place, assessor in enumerate(assessors)}
    rows = [np.array([places[assessor] for assessor in query.assessors]) for query in queries]
    counts = []
    for place, counted_query in zip(rows, counted_queries, strict=True):
        margins = np.zeros((len(assessors), counted_query.counts.margins.shape[1]))
        margins[place] = counted_query.counts.margins
        counts.append(counted_query.counts._replace(margins=margins))
    met = [place[counted_query.met] for place, counted_query in zip(rows, counted_queries, strict=True)]
    between = coefficients.pooled_between(
        counts, met, [counted_query.between for counted_query in counted_queries], topics=topics
    )
    with_final = coefficients.PooledPairs(
        clusters=between.clusters,
        query=np.repeat(np.arange(len(counted_queries)), [len(place) for place in rows]),
        two=np.concatenate(rows),
        tables=np.concatenate([counted_query.with_final for counted_query in counted_queries]),
    )
    return between, with_final


def _reason_no_summary(defined: int, queries: int) -> Undefined | None:
    """Reason why queries have no summary: those with a value are not like those without."""
    if defined == 0:
        return IN_NONE
    if not coefficients.rests_on_most(defined, queries):
        return Undefined(
            f"only {defined} of {counted(queries, 'query')} {verb(defined, 'has', 'have')} a value; "
            "a summary needs more than half",
            "half of the queries or fewer have a value; a summary needs more",
        )
    return None


def _effective_counts(shares: Sequence[PairShare]) -> tuple[list[float], list[float]]:
    """Hits and pairs of each query; sampled ones are scaled to their effective number (Kish 1965)."""
    sums = [
        (share.hits, share.worth, share.squares)
        if isinstance(share, SampledShare)
        else (share.count, share.of, share.of)
        for share in shares
    ]
    _, worth, squares = np.sum(sums, axis=0).tolist()
    scale = worth / squares if squares else 1.0
    return [hits * scale for hits, *_ in sums], [size * scale for _, size, _ in sums]


def _numbers(values: Sequence[Value]) -> Array:
    return np.array([np.nan if isinstance(value, Undefined) else value for value in values])
