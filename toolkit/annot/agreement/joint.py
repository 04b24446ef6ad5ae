"""What the assessors of a pair say together, counted by query: for studies that are drawn, not judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.agreement.contingency import Counts, count
from annot.agreement.groups import of_pooled, pooled, resample
from annot.agreement.ratings import POLICIES, QueryRatings
from annot.errors import UndefinedStatistic
from annot.stats.bootstrap import Bootstrap
from annot.stats.seeding import generator
from annot.stats.values import Undefined

Array = npt.NDArray[np.float64]
Tables = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class JointGrades:
    """How often the `k` assessors of a pair gave which grades together."""

    query_ids: tuple[str, ...]
    patterns: Array
    """Shape (C, k): each row grades that were given to one pair, by the order of pseudonyms; nan is no grade."""
    tables: Tables
    """Shape (Q, C): how often each query's pairs had each pattern; each query has at least one."""
    chosen: int
    """Pairs with more than k answers, of which k were drawn."""
    most: int
    """Answers of the pair that has most, in the whole study."""

    @property
    def disputed(self) -> Mask:
        """Shape (C,): the patterns that an adjudicator must settle: grades differ, or one is missing."""
        return np.asarray(~(self.patterns == self.patterns[:, :1]).all(axis=1))


def joint_grades(queries: Iterable[QueryRatings], *, per_pair: int, seed: int) -> JointGrades:
    """Count the pairs that `per_pair` assessors or more have answered; of more, as many are drawn for each pair."""
    seen: list[tuple[str, list[tuple[float, ...]]]] = []
    chosen = most = 0
    for query in queries:
        rng = generator(seed, "joint", query.query_id)
        patterns = []
        for asked, given in zip(query.asked.T, query.ratings.T, strict=True):
            rows = np.flatnonzero(asked)
            most = max(most, len(rows))
            if len(rows) < per_pair:
                continue
            if len(rows) > per_pair:
                chosen += 1
                rows = np.sort(rng.choice(rows, size=per_pair, replace=False))
            # -1, as nan is not equal to itself and would be a pattern of its own each time.
            patterns.append(tuple(-1.0 if np.isnan(grade) else float(grade) for grade in given[rows]))
        if patterns:
            seen.append((query.query_id, patterns))
    known = sorted({pattern for _, patterns in seen for pattern in patterns})
    at = {pattern: column for column, pattern in enumerate(known)}
    tables = np.zeros((len(seen), len(known)), dtype=np.int64)
    for row, (_, patterns) in enumerate(seen):
        np.add.at(tables[row], [at[pattern] for pattern in patterns], 1)
    grades = np.array(known, dtype=np.float64).reshape(len(known), per_pair)
    grades[grades < 0] = np.nan
    return JointGrades(tuple(query_id for query_id, _ in seen), grades, tables, chosen, most)


def units_of(patterns: Array, grades: Sequence[int], *, missing: str) -> Counts:
    """The counts of one pair of each pattern: first axis C, second axis 1. missing: the policy for grades missing."""
    asked = np.ones((patterns.shape[1], 1), dtype=np.bool_)
    policy = POLICIES[missing]
    stacked = Counts.stack([count(policy(pattern[:, None], asked), grades) for pattern in patterns])
    return Counts(
        stacked.between[:, None], stacked.coincidences[:, None], stacked.agreement[:, None], stacked.shares[:, None]
    )


def coefficient(tables: Array | Tables, units: Counts, grades: Sequence[int], *, name: str) -> float:
    """The coefficient of all pairs together, from tables of shape (Q, C). Raises UndefinedStatistic without a value."""
    whole = units.weighted(tables.sum(axis=0, dtype=np.float64)[None])
    value = float(pooled(whole, grades, name=name)[0])
    if np.isnan(value):
        raise UndefinedStatistic(f"{name} has no value on these grades")
    return value


def interval(
    tables: Tables, units: Counts, grades: Sequence[int], *, name: str, plan: Bootstrap
) -> tuple[float, float]:
    """Both ends of its percentile interval, by resampling queries. Raises UndefinedStatistic where it has none."""
    counts = units.weighted(tables.astype(np.float64))
    percentile = of_pooled(resample(counts, plan=plan, key="joint"), grades, name=name, plan=plan).percentile
    if isinstance(percentile, Undefined):
        raise UndefinedStatistic(percentile.reason)
    return percentile.low, percentile.high
