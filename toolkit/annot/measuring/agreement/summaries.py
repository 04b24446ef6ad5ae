"""Records of the agreement tables. A figure is a value, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from annot.base.stats.values import Interval, Undefined, Value
from annot.measuring.agreement.coefficients import (
    HEADLINE,
    HEADLINE_OF_MANY,
    HEADLINE_OF_TWO,
    ON_TWO_GRADES,
    TITLES_OF_TWO,
)

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
        if self.binary and TITLES_OF_TWO.keys() <= self.titles.keys():
            return tuple(TITLES_OF_TWO)
        twins = ON_TWO_GRADES if self.binary else {}
        return tuple(name for name in self.titles if twins.get(name) not in self.titles)

    @property
    def headline(self) -> tuple[str, ...]:
        """Coefficients that are shown first, in order."""
        many = any(len(query.assessors) > 2 for query in self.queries)
        first = HEADLINE_OF_TWO if self.binary else HEADLINE_OF_MANY if many else HEADLINE
        return tuple(name for name in first if name in self.titles) or tuple(self.titles)

    @property
    def best(self) -> str:
        """Statistic of a group that is shown first."""
        return "median"

    @property
    def too_thin(self) -> int:
        """Sampled queries without figures of their own, because too few pairs were drawn; they count when pooled."""
        return 0


@dataclass(frozen=True, slots=True)
class SampledAgreement(AgreementTable):
    """Agreement on whole pools of which a sample was judged, by the weights of the drawn pairs."""

    @property
    def best(self) -> str:
        """Statistic shown first: medians over queries are too low if few pairs of each were drawn."""
        return "pooled"

    @property
    def too_thin(self) -> int:
        return sum(
            any(isinstance(value, Undefined) and value.in_general == TOO_THIN for value in query.before.values())
            for query in self.queries
        )
