"""Agreement per query, then per facet and together: before adjudication, after it, and the work of adjudication.

Each coefficient is summarised over the queries of a group, with intervals over whole topics.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annot.base.errors import InputError
from annot.base.names import check_name, counted, verb
from annot.base.records import Decision, Judgement
from annot.base.stats.arrays import Array, Mask
from annot.base.stats.inference import mean_interval, median_interval, share_of_counts
from annot.base.stats.values import Interval, Undefined, Value, rounding
from annot.measuring.agreement import estimates
from annot.measuring.agreement.coefficients import COEFFICIENTS, rests_on_most, titles_of

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
    coefficients: Sequence[str] = tuple(COEFFICIENTS),
    unjudgeable: Collection[tuple[str, str]] = (),
    weights: Mapping[tuple[str, str], float] | None = None,
) -> estimates.AgreementTable:
    """Compute all agreement figures.

    facets: the facet of each `query_id`. grades: the scale, consecutive integers. missing: a name in `POLICIES`.
    binarised_at: compute the coefficients on "this grade or higher" instead; None uses the scale as it is. level: of
    the intervals, 0..1; None for no intervals. topics: the topic of each `query_id`; intervals take topics for the
    units of chance, and queries if this is None. coefficients: names in `COEFFICIENTS`. unjudgeable: the pairs (query,
    document) that were closed because no one could judge them. weights: of each pair (query, document), 1 / pi if a
    sample was drawn: coefficients then describe the whole pool, and a query whose pairs are worth too few
    (`LEAST_EFFECTIVE`) has none of its own. The best figure then is the pooled one: means and medians over queries are
    off by .01 at a third (`benchmarks/sampled_judging.py`). Shares of disputed and overruled pairs describe the pool,
    too; counts are of judged pairs.

    Per query: before adjudication the coefficient between the assessors, after it the mean of (each assessor, final
    grade), both on the pairs with two or more grades. After adjudication a query, and a group of queries, has values
    only when none of its disputes is open: pairs settled early are easier, so partial figures would be too high.
    Raises InputError for an unknown policy, a grade outside the scale, a query without facet, or a double judgement.
    """
    check_name(missing, tuple(estimates.POLICIES), what="missing")
    if binarised_at is not None and binarised_at not in grades[1:]:
        raise InputError(f"binarised at {binarised_at}: expected one of {', '.join(map(str, grades[1:]))}")
    scale = tuple(grades) if binarised_at is None else (0, 1)
    query_ratings = estimates.ratings_of(
        judgements, decisions, facets, grades=grades, unjudgeable=unjudgeable, weights=weights
    )
    figures = [
        estimates.query_agreement(query, scale, missing=missing, binarised_at=binarised_at, names=coefficients)
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
    return estimates.AgreementTable(
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
    members: Sequence[tuple[estimates.QueryAgreement, estimates.CountedQuery]],
    scale: Sequence[int],
    *,
    coefficients: Sequence[str],
    level: float | None,
    topics: Mapping[str, str] | None,
) -> estimates.GroupAgreement:
    """Summarise the queries of one facet, or all, each with its counts. level: of the intervals; None makes none.

    topics: the topic of each query, by its id; None takes the queries as independent.
    """
    queries, counted_queries = zip(*members, strict=True)
    group = _Group(queries, None if topics is None else [topics[query.query_id] for query in queries], scale, level)
    between, with_final = _pooled(queries, counted_queries, group.topics)
    unsettled = estimates.not_settled(members)
    if unsettled is not None:
        names = [query.query_id for query, counts in members if estimates.not_settled([(query, counts)])]
        unsettled = Undefined(f"{unsettled.reason}, on {_first_names(names)}", unsettled.in_general)
    return estimates.GroupAgreement(
        name=name,
        n_queries=len(queries),
        n_pairs=sum(query.n_pairs for query in queries),
        n_missing=sum(query.n_missing for query in queries),
        prevalence={grade: sum(query.prevalence[grade] for query in queries) for grade in scale},
        before={name: group.summary(name, [query.before[name] for query in queries], between) for name in coefficients},
        after={
            name: group.summary(name, [query.after[name] for query in queries], with_final, blocked=unsettled)
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

    queries: Sequence[estimates.QueryAgreement]
    topics: Sequence[str] | None
    scale: Sequence[int]
    level: float | None

    def summary(
        self,
        coefficient: str,
        values: Sequence[Value],
        pooled: estimates.PooledPairs,
        blocked: Undefined | None = None,
    ) -> estimates.Summary:
        """Summary of one coefficient."""
        numbers = np.full(len(values), np.nan) if blocked else _numbers(values)
        has_value = ~np.isnan(numbers)
        defined, topics = numbers[has_value], self._topics_of(has_value)
        why = blocked or _why_no_summary(len(defined), len(values))
        q1, median, q3 = [why] * 3 if why else map(float, np.quantile(defined, [0.25, 0.5, 0.75]))
        pooled_value = blocked or pooled.value(coefficient, self.scale)
        least, most = estimates.ends_of(coefficient)
        intervals: dict[str, Interval | Undefined] | None = None
        if self.level is not None:
            intervals = {
                "median": why or median_interval(defined, level=self.level, topics=topics),
                "mean": why or mean_interval(defined, level=self.level, least=least, most=most, topics=topics),
                "pooled": estimates.interval_of(pooled, pooled_value, coefficient, self.scale, level=self.level),
            }
        return estimates.Summary(
            median=median,
            mean=why or float(defined.mean()),
            q1=q1,
            q3=q3,
            pooled=pooled_value,
            n_queries=len(defined),
            n_undefined=len(values) - len(defined),
            n_pairs=sum(query.n_pairs for query in itertools.compress(self.queries, has_value)),
            n_pairs_pooled=0 if blocked else sum(query.n_pairs for query in self.queries),
            undefined=self._reasons(values),
            intervals=intervals,
        )

    def shares(self, shares: Sequence[estimates.PairShare], blocked: Undefined | None = None) -> estimates.ShareSummary:
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
        return estimates.ShareSummary(
            pooled=estimates.PairShare(count, of, why or sum(hits) / sum(sizes)),
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
    queries: Sequence[estimates.QueryAgreement],
    counted_queries: Sequence[estimates.CountedQuery],
    topics: Sequence[str] | None,
) -> tuple[estimates.PooledPairs, estimates.PooledPairs]:
    """Counts of all queries, with a row for each of the group's assessors: between them, and with the final grades."""
    assessors = sorted({assessor for query in queries for assessor in query.assessors})
    places = {assessor: place for place, assessor in enumerate(assessors)}
    rows = [np.array([places[assessor] for assessor in query.assessors]) for query in queries]
    counts = []
    for place, counted_query in zip(rows, counted_queries, strict=True):
        margins = np.zeros((len(assessors), counted_query.counts.margins.shape[1]))
        margins[place] = counted_query.counts.margins
        counts.append(replace(counted_query.counts, margins=margins))
    met = [place[counted_query.met] for place, counted_query in zip(rows, counted_queries, strict=True)]
    between = estimates.pooled_between(
        counts, met, [counted_query.between for counted_query in counted_queries], topics=topics
    )
    with_final = estimates.PooledPairs(
        clusters=between.clusters,
        query=np.repeat(np.arange(len(counted_queries)), [len(place) for place in rows]),
        two=np.concatenate(rows),
        tables=np.concatenate([counted_query.with_final for counted_query in counted_queries]),
    )
    return between, with_final


def _why_no_summary(defined: int, queries: int) -> Undefined | None:
    """Reason why queries have no summary: those with a value are not like those without."""
    if defined == 0:
        return IN_NONE
    if not rests_on_most(defined, queries):
        return Undefined(
            f"only {defined} of {counted(queries, 'query')} {verb(defined, 'has', 'have')} a value; "
            "a summary needs more than half",
            "half of the queries or fewer have a value; a summary needs more",
        )
    return None


def _effective_counts(shares: Sequence[estimates.PairShare]) -> tuple[list[float], list[float]]:
    """Hits and pairs of each query; sampled ones are scaled to their effective number (Kish 1965)."""
    sums = [
        (share.hits, share.worth, share.squares)
        if isinstance(share, estimates.SampledShare)
        else (share.count, share.of, share.of)
        for share in shares
    ]
    _, worth, squares = np.sum(sums, axis=0).tolist()
    scale = worth / squares if squares else 1.0
    return [hits * scale for hits, *_ in sums], [size * scale for _, size, _ in sums]


def _numbers(values: Sequence[Value]) -> Array:
    return np.array([np.nan if isinstance(value, Undefined) else value for value in values])


def _first_names(names: Sequence[str]) -> str:
    """First few names, and the number of others."""
    shown, others = names[:SHOWN_NAMES], len(names) - SHOWN_NAMES
    return ", ".join(shown) + (f" and {others} more" if others > 0 else "")
