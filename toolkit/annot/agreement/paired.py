"""Agreement of two assessors from their tables of grades, one a query: for studies that are drawn, not judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from annot.agreement.bootstrap import Bootstrap, of_pooled, pooled, resample
from annot.agreement.contingency import Counts
from annot.agreement.ratings import QueryRatings
from annot.agreement.results import Interval
from annot.errors import UndefinedStatistic
from annot.undefined import Undefined

Tables = npt.NDArray[np.int64]


def tables_of(found: Iterable[QueryRatings], grades: Sequence[int]) -> Tables:
    """How often the first assessor of a pair gave grade i and the second j, by query: shape (Q, K, K).

    Of more than two grades of a pair the first two count, by pseudonym. A query without a pair judged twice is left
    out.
    """
    tables = []
    for one in found:
        table = np.zeros((len(grades), len(grades)), dtype=np.int64)
        for column in one.ratings.T:
            given = column[~np.isnan(column)]
            if len(given) >= 2:
                table[list(grades).index(int(given[0])), list(grades).index(int(given[1]))] += 1
        if table.any():
            tables.append(table)
    return np.stack(tables) if tables else np.zeros((0, len(grades), len(grades)), dtype=np.int64)


def coefficient(tables: Tables, grades: Sequence[int], *, name: str) -> float:
    """The coefficient of all pairs together. Raises UndefinedStatistic where it has no value."""
    whole = _counts(tables).weighted(np.ones((1, len(tables))))
    value = float(pooled(whole, grades, name=name)[0])
    if np.isnan(value):
        raise UndefinedStatistic(f"{name} has no value on these grades")
    return value


def interval(tables: Tables, grades: Sequence[int], *, name: str, plan: Bootstrap) -> tuple[float, float]:
    """Both ends of its percentile interval, by resampling queries. Raises UndefinedStatistic where it has none."""
    found = of_pooled(resample(_counts(tables), plan=plan, key="paired"), grades, name=name, plan=plan).percentile
    if isinstance(found, Undefined):
        raise UndefinedStatistic(found.reason)
    assert isinstance(found, Interval)
    return found.low, found.high


def _counts(tables: Tables) -> Counts:
    """The counts of each query, with one comparison as their second axis: that of the two assessors."""
    between = tables.astype(np.float64)
    both = between + between.swapaxes(-1, -2)
    return Counts(between[:, None, None], both[:, None], both[:, None] / 2, both.sum(axis=-1)[:, None] / 2)
