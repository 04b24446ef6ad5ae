"""Joint grades of the assessors of a pair, counted by query: for studies that are simulated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.clustered import clusters_of
from annot.base.stats.seeding import generator
from annot.base.stats.values import Interval, Undefined, Value
from annot.measuring.agreement.coefficients import value_between
from annot.measuring.agreement.contingency import Counts, count, one_hot
from annot.measuring.agreement.per_query import POLICIES, QueryRatings
from annot.measuring.agreement.pooled import PooledCounts, PooledTables, interval_of


@dataclass(frozen=True, slots=True)
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

    @property
    def disputed(self) -> Mask:
        """Shape (C,): patterns that an adjudicator must settle: grades differ, or one is missing."""
        return np.asarray(~(self.patterns == self.patterns[:, :1]).all(axis=1))


def joint_grades(queries: Iterable[QueryRatings], *, per_pair: int, seed: int) -> JointGrades:
    """Count the pairs that `per_pair` assessors or more have answered; of more answers, as many are drawn for each
    pair.
    """
    patterns_by_query: list[tuple[str, list[tuple[float, ...]]]] = []
    chosen = most = 0
    for query in queries:
        rng = generator(seed, "joint", query.query_id)
        patterns = []
        for asked, grades_of_pair in zip(query.asked.T, query.ratings.T, strict=True):
            rows = np.flatnonzero(asked)
            most = max(most, len(rows))
            if len(rows) < per_pair:
                continue
            if len(rows) > per_pair:
                chosen += 1
                rows = np.sort(rng.choice(rows, size=per_pair, replace=False))
            # -1, as nan is not equal to itself and would be a pattern of its own each time.
            patterns.append(tuple(-1.0 if np.isnan(grade) else float(grade) for grade in grades_of_pair[rows]))
        if patterns:
            patterns_by_query.append((query.query_id, patterns))
    all_patterns = sorted({pattern for _, patterns in patterns_by_query for pattern in patterns})
    column_of = {pattern: column for column, pattern in enumerate(all_patterns)}
    tables = np.zeros((len(patterns_by_query), len(all_patterns)), dtype=np.int64)
    for row, (_, patterns) in enumerate(patterns_by_query):
        np.add.at(tables[row], [column_of[pattern] for pattern in patterns], 1)
    grades = np.array(all_patterns, dtype=np.float64).reshape(len(all_patterns), per_pair)
    grades[grades < 0] = np.nan
    return JointGrades(tuple(query_id for query_id, _ in patterns_by_query), grades, tables, chosen, most)


class Units(NamedTuple):
    """Counts of one pair of each pattern, first axis C, and the tables of every two, shape (C, P, K, K)."""

    counts: Counts
    tables: Array


def units_of(patterns: Array, grades: Sequence[int], *, missing: str) -> Units:
    """Count one pair of each pattern. missing: the policy for missing grades."""
    asked = np.ones((patterns.shape[1], 1), dtype=np.bool_)
    ratings = [POLICIES[missing](pattern[:, None], asked) for pattern in patterns]
    at_grade = np.stack([one_hot(rating[:, 0], grades) for rating in ratings])
    first, second = np.triu_indices(patterns.shape[1], k=1)
    tables = at_grade[:, first, :, None] * at_grade[:, second, None, :]
    return Units(Counts.stack([count(rating, grades) for rating in ratings]), tables)


def coefficient(tables: Array | Integers, units: Units, grades: Sequence[int], *, name: str) -> Value:
    """Coefficient of all pairs together, from tables of shape (Q, C)."""
    times = tables.sum(axis=0, dtype=np.float64)
    tables_of_two = np.tensordot(times, units.tables, axes=1)
    return value_between(name, units.counts.weighted(times), tables_of_two, grades)


def interval(
    tables: Integers,
    units: Units,
    grades: Sequence[int],
    *,
    name: str,
    level: float,
    topics: npt.ArrayLike | None = None,
) -> Interval | Undefined:
    """Interval of that coefficient over whole queries.

    topics: shape (Q,), the topic of each, the unit if several queries are of one; None takes them as independent.
    """
    n_queries, n_twos = len(tables), units.tables.shape[1]
    times = tables.astype(np.float64)
    pooled = PooledCounts(
        units.counts.weighted(times),
        PooledTables(
            clusters_of(np.arange(n_queries), topics),
            np.repeat(np.arange(n_queries), n_twos),
            np.tile(np.arange(n_twos), n_queries),
            np.asarray(np.tensordot(times, units.tables, axes=1)).reshape(-1, len(grades), len(grades)),
        ),
    )
    return interval_of(pooled, pooled.value(name, grades), name, grades, level=level)
