"""Coefficients of all pairs of many queries together, with an interval: the jackknife over whole topics.

The jackknife leaves out one unit of chance after another: a query, or a paper of which several facets are queries.
Counts add up, so what is left is the whole without that unit's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.records import grouped
from annot.base.stats.arrays import Array, Integers
from annot.base.stats.clustered import Clusters, clusters_of, jackknife_interval
from annot.base.stats.values import Estimate, Interval, Undefined, Value
from annot.measuring.agreement.coefficients import PERCENTAGES, mean_of_tables, of_tables, value_between
from annot.measuring.agreement.contingency import NO_DUST, OF_COUNTS, OF_TABLES, Counts, count, tables_between


@dataclass(frozen=True, slots=True)
class PooledTables:
    """Tables of two from many queries; only two who met in a query have one there.

    clusters: the units of chance of the queries. query: shape (T,), the position of the query of each. two: shape (T,),
    which two; every number from 0 occurs. tables: shape (T, K, K).
    """

    clusters: Clusters
    query: Integers
    two: Integers
    tables: Array

    def value(self, name: str, grades: Sequence[int]) -> Value:
        """Mean over every two, of all queries together."""
        return mean_of_tables(name, self.summed(), grades)

    def left_out(self, name: str, grades: Sequence[int]) -> Array:
        """Coefficient without each unit of chance, shape (C,), nan if there is none.

        Only two who met in a unit have another table without it.
        """
        tables = self.summed()
        many = len(tables) > 2
        met, position = np.unique(self.clusters.of[self.query] * len(tables) + self.two, return_inverse=True)
        unit, two = np.divmod(met, max(1, len(tables)))
        table_in_unit = np.zeros((len(met), *self.tables.shape[1:]))
        np.add.at(table_in_unit, position, self.tables)
        values, sizes = of_tables(name, tables, grades, many=many)
        values_left, sizes_left = of_tables(name, np.round(tables[two] - table_in_unit, NO_DUST), grades, many=many)

        def without(values_of_two: Array, left: Array) -> Array:
            """Sum over every two without each unit. left: of two who met in it."""
            return np.asarray(values_of_two.sum() + np.bincount(unit, left - values_of_two[two], self.clusters.n))

        sums, used = without(values * sizes, values_left * sizes_left), np.round(without(sizes, sizes_left), NO_DUST)
        shared = np.round(tables.sum() - np.bincount(unit, table_in_unit.sum(axis=(-1, -2)), self.clusters.n), NO_DUST)
        result = np.full(self.clusters.n, np.nan)
        np.divide(sums, used, out=result, where=2 * used > shared)
        return result

    def summed(self) -> Array:
        """Table of each two over all queries, shape (P, K, K)."""
        tables = np.zeros((int(self.two.max(initial=-1)) + 1, *self.tables.shape[1:]))
        np.add.at(tables, self.two, self.tables)
        return tables


@dataclass(frozen=True, slots=True)
class PooledCounts:
    """Counts of many queries between all assessors, first axis Q, and the tables of every two."""

    counts: Counts
    tables: PooledTables

    @property
    def clusters(self) -> Clusters:
        """Units of chance of the queries."""
        return self.tables.clusters

    def value(self, name: str, grades: Sequence[int]) -> Value:
        """Coefficient of all pairs together, or why there is none."""
        return value_between(name, self.counts.whole(), self.tables.summed(), grades)

    def left_out(self, name: str, grades: Sequence[int]) -> Array:
        """Coefficient without each unit of chance, shape (C,), nan if there is none."""
        if name in OF_TABLES:
            return self.tables.left_out(name, grades)
        return OF_COUNTS[name](self.counts.left_out(self.clusters), grades)

    def estimate(self, name: str, grades: Sequence[int], *, level: float) -> Estimate:
        """Coefficient of all pairs together, with its interval."""
        value = self.value(name, grades)
        return Estimate(value, interval_of(self, value, name, grades, level=level))


def pooled_between(
    counts: Sequence[Counts],
    met: Sequence[Integers],
    tables: Sequence[Array],
    *,
    topics: Sequence[str] | None,
) -> PooledCounts:
    """Join queries, all with the same M assessors.

    met: of each query the rows of every two who met, shape (P, 2). tables: theirs, shape (P, K, K). topics: the topic
    of each query; None takes the queries as independent.
    """
    together = Counts.stack(counts)
    n_assessors = together.margins.shape[1]
    rows = np.concatenate(met)
    _, two = np.unique(rows[:, 0] * n_assessors + rows[:, 1], return_inverse=True)
    query = np.repeat(np.arange(len(met)), [len(rows_of_query) for rows_of_query in met])
    clusters = clusters_of(range(len(met)), topics)
    return PooledCounts(together, PooledTables(clusters, query, two, np.concatenate(tables)))


def interval_of(
    pooled: PooledCounts | PooledTables, value: Value, name: str, grades: Sequence[int], *, level: float
) -> Interval | Undefined:
    """Interval of `value`, the coefficient `name` of all pairs together."""
    if isinstance(value, Undefined):
        return value
    least, most = ends_of(name)
    without, unit = pooled.left_out(name, grades), pooled.clusters.unit
    return jackknife_interval(value, without, level=level, least=least, most=most, unit=unit)


def ends_of(name: str) -> tuple[float, float]:
    """Smallest and largest possible value of a coefficient."""
    return (0.0, 100.0) if name in PERCENTAGES else (-1.0, 1.0)


NOTHING = Undefined("no pair has both grades")
Pair = tuple[str, str]
"""A pair as (query_id, doc_id)."""


@dataclass(frozen=True, slots=True)
class Between:
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
) -> Between:
    """Compute the coefficients of two gradings.

    first, second: the grade of each pair, by query and document. topics: the topic of each query, by its id; None takes
    the queries as independent. weights: of each pair, 1 / pi if a sample was drawn; None is 1 each.
    """
    by_query = grouped((pair[0], pair) for pair in sorted(first.keys() & second.keys()))
    if not by_query:
        return Between(0, 0, dict.fromkeys(coefficients, Estimate(NOTHING, NOTHING)))
    counts, met, tables = [], [], []
    for pairs in by_query.values():
        ratings = np.array([[grading[pair] for pair in pairs] for grading in (first, second)], float)
        pair_weights = None if weights is None else np.array([weights[pair] for pair in pairs])
        rows, tables_of_query = tables_between(ratings, grades, pair_weights)
        counts.append(count(ratings, grades, pair_weights))
        met.append(rows)
        tables.append(tables_of_query)
    topics_of_queries = None if topics is None else [topics[query_id] for query_id in by_query]
    pooled = pooled_between(counts, met, tables, topics=topics_of_queries)
    figures = {name: pooled.estimate(name, grades, level=level) for name in coefficients}
    return Between(sum(map(len, by_query.values())), len(by_query), figures)
