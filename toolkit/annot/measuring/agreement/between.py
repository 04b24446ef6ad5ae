"""Agreement of two gradings of the same pairs, all queries together, each coefficient with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.stats.values import Estimate, Undefined
from annot.measuring.agreement.contingency import count, tables_between
from annot.measuring.agreement.pooled import interval_of, pooled_between

NOTHING = Undefined("no pair has both grades")
Pair = tuple[str, str]
"""(query_id, doc_id)."""


@dataclass(frozen=True, slots=True)
class Between:
    """How two gradings agree on the pairs that both graded."""

    n_pairs: int
    n_queries: int
    figures: dict[str, Estimate]
    """By coefficient: of all pairs together, with the jackknife's interval over whole query papers."""


def agreement_between(
    first: Mapping[Pair, int],
    second: Mapping[Pair, int],
    *,
    grades: Sequence[int],
    level: float,
    coefficients: Iterable[str],
    papers: Mapping[str, str] | None,
) -> Between:
    """The coefficients of two gradings.

    first, second: the grade of each pair, by query and document. papers: the paper of each query, by its id; None takes
    the queries as independent.
    """
    by_query: dict[str, list[tuple[int, int]]] = {}
    for pair in sorted(first.keys() & second.keys()):
        by_query.setdefault(pair[0], []).append((first[pair], second[pair]))
    if not by_query:
        return Between(0, 0, dict.fromkeys(coefficients, Estimate(NOTHING, NOTHING)))
    ratings = [np.array(graded, dtype=np.float64).T for graded in by_query.values()]
    met, tables = zip(*(tables_between(one, grades) for one in ratings), strict=True)
    of_queries = None if papers is None else [papers[query_id] for query_id in by_query]
    pooled = pooled_between([count(one, grades) for one in ratings], met, tables, papers=of_queries)
    figures = {}
    for name in coefficients:
        value = pooled.value(name, grades)
        figures[name] = Estimate(value, interval_of(pooled, value, name, grades, level=level))
    return Between(sum(one.shape[1] for one in ratings), len(ratings), figures)
