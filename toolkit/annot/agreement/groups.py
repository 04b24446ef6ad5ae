"""Agreement on the queries of a group: each coefficient summarised, with intervals by resampling whole queries."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from annot.agreement.contingency import COEFFICIENTS_OF_COUNTS, Counts, count, n_judged_twice
from annot.agreement.per_query import against_final, not_settled, value_after, value_between
from annot.agreement.ratings import QueryRatings
from annot.agreement.summaries import GroupAgreement, PairShare, QueryAgreement, ShareSummary, Summary
from annot.stats.bootstrap import Array, Bootstrap, intervals, none, of_queries, too_few, weights_of
from annot.stats.clustered import share_of_counts
from annot.stats.values import Intervals, Undefined, Value

IN_NONE = Undefined("it has no value on any of the queries")
SHOWN_NAMES = 3
"""Queries named in a reason; the records name all."""


def group_agreement(
    name: str,
    queries: Sequence[QueryAgreement],
    seen: Sequence[QueryRatings],
    scale: Sequence[int],
    *,
    coefficients: Sequence[str],
    bootstrap: Bootstrap | None,
) -> GroupAgreement:
    """The queries of one facet, or all. seen: the ratings of each, as the coefficients see them."""
    assessors = sorted({assessor for query in queries for assessor in query.assessors})

    def summaries(
        values: Sequence[dict[str, Value]],
        compared: Sequence[Sequence[Array]],
        value_of: Callable[[str, Sequence[Array]], Value],
        assessor_pairs: Sequence[tuple[int, int]] | None,
    ) -> dict[str, Summary]:
        """compared: of each query the matrices of which the mean is taken: all assessors, or each with the final."""
        together = [np.concatenate(matrices, axis=1) for matrices in zip(*compared, strict=True)]
        drawn = None
        if bootstrap is not None:
            of_query = [
                Counts.stack([count(matrix, scale, assessor_pairs=assessor_pairs) for matrix in matrices])
                for matrices in compared
            ]
            # The group's name is the key: all its figures see the same resamples and can be compared.
            drawn = resample(Counts.stack(of_query), plan=bootstrap, key=name)
        found = {}
        for coefficient in coefficients:
            of_queries_alone = [of_query[coefficient] for of_query in values]
            pooled = value_of(coefficient, together)
            summary = _summary(name, queries, of_queries_alone, pooled, bootstrap)
            if bootstrap is not None and drawn is not None and summary.intervals is not None:
                summary.intervals["pooled"] = (
                    none(pooled.reason, in_general=pooled.in_general)
                    if isinstance(pooled, Undefined)
                    else of_pooled(drawn, scale, name=coefficient, plan=bootstrap)
                )
            found[coefficient] = summary
        return found

    rows = [_rows(query, assessors) for query in seen]
    # Only pairs of assessors that have met: their number, not the square of all, decides the size of the tables.
    met = [
        (first, second)
        for first, second in itertools.combinations(range(len(assessors)), 2)
        if any((~np.isnan(of_query[[first, second]])).all(axis=0).any() for of_query in rows)
    ]
    before = summaries(
        [query.before for query in queries],
        [[of_query] for of_query in rows],
        lambda coefficient, matrices: value_between(coefficient, matrices[0], scale, assessors),
        met,
    )
    unsettled = not_settled(queries, seen)
    if unsettled is not None:
        names = [
            query.query_id for query, of_query in zip(queries, seen, strict=True) if not_settled([query], [of_query])
        ]
        unsettled = Undefined(f"{unsettled.reason}, on {_some_of(names)}", unsettled.in_general)
        after = {
            coefficient: _without_summary(unsettled, queries, [query.after[coefficient] for query in queries])
            for coefficient in coefficients
        }
    else:
        after = summaries(
            [query.after for query in queries],
            [_against_final_by_name(query, assessors) for query in seen],
            lambda coefficient, matrices: value_after(coefficient, matrices, scale, assessors),
            None,
        )
    return GroupAgreement(
        name=name,
        n_queries=len(queries),
        n_pairs=sum(query.n_pairs for query in queries),
        n_missing=sum(query.n_missing for query in queries),
        prevalence={grade: sum(query.prevalence[grade] for query in queries) for grade in scale},
        before=before,
        after=after,
        disputed=_shares(name, queries, [query.disputed for query in queries], None, bootstrap),
        overruled=_shares(name, queries, [query.overruled for query in queries], unsettled, bootstrap),
        not_settled=unsettled,
        agreed_by_policy=sum(query.agreed_by_policy for query in queries),
    )


def _summary(
    name: str, queries: Sequence[QueryAgreement], values: Sequence[Value], pooled: Value, bootstrap: Bootstrap | None
) -> Summary:
    numbers = _numbers(values)
    there = ~np.isnan(numbers)
    q1, median, q3 = map(float, np.quantile(numbers[there], [0.25, 0.5, 0.75])) if there.any() else [IN_NONE] * 3
    return Summary(
        median=median,
        mean=float(numbers[there].mean()) if there.any() else IN_NONE,
        q1=q1,
        q3=q3,
        pooled=pooled,
        n_queries=int(there.sum()),
        n_undefined=int((~there).sum()),
        n_pairs=sum(query.n_pairs for query, counts in zip(queries, there, strict=True) if counts),
        n_pairs_pooled=sum(query.n_pairs for query in queries),
        undefined=_reasons(queries, values),
        intervals=None
        if bootstrap is None
        else {
            statistic: of_queries(numbers, statistic=statistic, plan=bootstrap, key=name)
            for statistic in ("median", "mean")
        },
    )


def _without_summary(why: Undefined, queries: Sequence[QueryAgreement], values: Sequence[Value]) -> Summary:
    """No figure of the group, whatever its queries have."""
    return Summary(
        median=why,
        mean=why,
        q1=why,
        q3=why,
        pooled=why,
        n_queries=0,
        n_undefined=len(queries),
        n_pairs=0,
        n_pairs_pooled=0,
        undefined=_reasons(queries, values),
        intervals=None,
    )


def _shares(
    name: str,
    queries: Sequence[QueryAgreement],
    shares: Sequence[PairShare],
    unsettled: Undefined | None,
    bootstrap: Bootstrap | None,
) -> ShareSummary:
    values = [share.value for share in shares]
    numbers = _numbers(values)
    there = ~np.isnan(numbers)
    hits, sizes = [share.count for share in shares], [share.of for share in shares]
    why = unsettled or (None if there.any() else IN_NONE)
    intervals = None
    if bootstrap is not None:
        intervals = {
            "pooled": unsettled or share_of_counts(hits, sizes, level=bootstrap.level).interval,
            "mean": none(why.reason, in_general=why.in_general)
            if why
            else of_queries(numbers, statistic="mean", plan=bootstrap, key=name),
        }
    return ShareSummary(
        pooled=PairShare(sum(hits), sum(sizes), why or sum(hits) / sum(sizes)),
        mean=why or float(numbers[there].mean()),
        n_queries=0 if unsettled else int(there.sum()),
        undefined=_reasons(queries, values),
        intervals=intervals,
    )


def _numbers(values: Sequence[Value]) -> Array:
    return np.array([np.nan if isinstance(value, Undefined) else value for value in values])


def _reasons(queries: Sequence[QueryAgreement], values: Sequence[Value]) -> dict[str, str]:
    return {
        query.query_id: value.reason
        for query, value in zip(queries, values, strict=True)
        if isinstance(value, Undefined)
    }


def _some_of(names: Sequence[str]) -> str:
    """The first few, and how many more."""
    shown, more = names[:SHOWN_NAMES], len(names) - SHOWN_NAMES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _rows(query: QueryRatings, assessors: Sequence[str]) -> Array:
    """The query's grades with a row for each of the group's assessors, shape (len(assessors), N)."""
    everyone = np.full((len(assessors), query.ratings.shape[1]), np.nan)
    everyone[[assessors.index(name) for name in query.assessors]] = query.ratings
    return everyone


def _against_final_by_name(query: QueryRatings, assessors: Sequence[str]) -> list[Array]:
    of = dict(zip(query.assessors, against_final(query), strict=True))
    return [of.get(name, np.empty((2, 0))) for name in assessors]


@dataclass(frozen=True, slots=True)
class PooledResamples:
    """The counts of all queries (first axis 1), of each resample (B), and without each query (Q); computed once."""

    whole: Counts
    drawn: Counts
    left_out: Counts
    n_queries: int


def resample(counts: Counts, *, plan: Bootstrap, key: str) -> PooledResamples:
    """Sum the queries' counts over each resample of the queries.

    counts: first axis Q queries, second axis the comparisons whose mean is taken: one before adjudication, each
    assessor with the final grade after it.
    """
    n_queries = len(counts.agreement)
    # Those without a query are summed anew, not subtracted: a difference would leave rounding dust.
    weightings = weights_of(n_queries, plan=plan, key=key)
    whole, drawn, left_out = (counts.weighted(weights) for weights in weightings)
    return PooledResamples(whole, drawn, left_out, n_queries)


def of_pooled(resamples: PooledResamples, grades: Sequence[int], *, name: str, plan: Bootstrap) -> Intervals:
    """Intervals of the coefficient `name` of all pairs together."""
    if resamples.n_queries < 2:
        return too_few(resamples.n_queries, "query")
    return intervals(
        estimate=float(pooled(resamples.whole, grades, name=name)[0]),
        replicates=pooled(resamples.drawn, grades, name=name),
        left_out=pooled(resamples.left_out, grades, name=name),
        level=plan.level,
    )


def pooled(counts: Counts, grades: Sequence[int], *, name: str) -> Array:
    """The mean over the second axis of `counts`, shape (B,); comparisons without a pair are left out."""
    there = n_judged_twice(counts) > 0
    values = np.where(there, COEFFICIENTS_OF_COUNTS[name](counts, grades), 0.0)
    result = np.full(len(values), np.nan)
    np.divide(values.sum(axis=1), there.sum(axis=1), out=result, where=there.any(axis=1))
    return result
