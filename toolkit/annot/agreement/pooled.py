"""A coefficient of all pairs together, and its intervals by resampling whole queries: from sums of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annot.agreement.contingency import COEFFICIENTS_OF_COUNTS, Counts, n_judged_twice
from annot.stats.bootstrap import Array, Bootstrap, intervals, too_few, weights_of
from annot.stats.intervals import Intervals


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
