"""Two qrels of the same queries: agreement of their grades, and of the order in which they put the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from annot.base.records import Qrel
from annot.base.stats.significance import tau_ap, tau_b_of_rows
from annot.base.stats.values import Undefined, Value, rounding
from annot.measuring.agreement.coefficients import value_of
from annot.measuring.agreement.per_query import too_thin
from annot.measuring.agreement.pooled import Between, agreement_between
from annot.measuring.evaluation.comparisons import RunComparison
from annot.measuring.evaluation.evaluated import CHANCE, Evaluated, RunMeasures

AGREEMENT = ("kappa", "alpha_ordinal")
TIED = Undefined("two runs tie, or there is only one: an order needs two that differ")
_FIGURES = 10
"""Digits after the point at which two means tie."""


@dataclass(frozen=True, slots=True)
class TopicAgreement:
    """Agreement of the two on one query."""

    query_id: str
    pairs: int
    """Documents that both graded."""
    only_a: int
    only_b: int
    kappa: Value
    alpha: Value


@dataclass(frozen=True, slots=True)
class ChangedSides:
    """Two runs of which one is better by the first qrels and the other by the second."""

    better_by_a: str
    better_by_b: str
    lead_by_a: float
    lead_by_b: float
    """Lead of `better_by_b`."""
    holds_by_a: bool
    holds_by_b: bool
    """True if the lead holds after correction for all pairs of runs, as in `annot evaluate`."""


@dataclass(frozen=True, slots=True)
class TwoQrels:
    """Comparison of two qrels on the queries that both have."""

    grades: tuple[int, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Pairs by grade in the first (rows) and in the second (columns)."""
    together: Between
    """Agreement on all pairs, with intervals over topics."""
    topics: tuple[TopicAgreement, ...]
    convention: str
    measure: str
    facet: str
    means: dict[str, tuple[float, float]]
    """Mean of each run on this facet by the first and by the second, the best by the first on top."""
    above_chance: dict[str, tuple[bool, bool]]
    """Run, and if it is significantly better than a random order by the first and by the second."""
    tau: Value
    tau_ap: Value
    """Tau AP with the first as reference. It gives more weight to the top."""
    changed: tuple[ChangedSides, ...]

    @property
    def like_chance(self) -> bool:
        """True if at least one run is not significantly better than a random order by one of the two."""
        return not all(map(all, self.above_chance.values()))


@rounding
def compare_qrels(
    a: Iterable[Qrel],
    b: Iterable[Qrel],
    by_a: Evaluated,
    by_b: Evaluated,
    *,
    facet: str,
    level: float,
    topics: Mapping[str, str],
    weights: Mapping[tuple[str, str], float] | None = None,
) -> TwoQrels:
    """Compare the grades, and the runs as measured on each of the two.

    a, b: the grades of the queries that both have. by_a, by_b: the same runs measured on each. facet: the facet on
    which the runs are ordered. level: of the intervals of agreement. topics: the topic of each query, the unit of
    chance. weights: of each pair, 1 / pi if a sample was drawn; coefficients then describe the whole pools.
    """
    first, second = ({(qrel.query_id, qrel.doc_id): qrel.relevance for qrel in qrels} for qrels in (a, b))
    grades_in_use = {*first.values(), *second.values()}
    # A grade between these that no pair has is on their scale all the same.
    grades = tuple(range(min(grades_in_use), max(*grades_in_use, min(grades_in_use) + 1) + 1))
    pairs = Counter((first[pair], second[pair]) for pair in first.keys() & second.keys())
    lines_a, lines_b = (_lines(evaluated, facet) for evaluated in (by_a, by_b))
    runs = sorted(lines_a.keys() & lines_b.keys(), key=lambda run: (-lines_a[run].values[by_a.measure], run))
    means = {run: (lines_a[run].values[by_a.measure], lines_b[run].values[by_b.measure]) for run in runs}
    scores = [[round(pair[side], _FIGURES) for pair in means.values()] for side in (0, 1)]
    tau = tau_b_of_rows(np.array([scores[0]]), np.array([scores[1]]))[0] if len(means) > 1 else np.nan
    tau_of_top = tau_ap(scores[1], scores[0])
    return TwoQrels(
        grades=grades,
        confusion=tuple(tuple(pairs[row, column] for column in grades) for row in grades),
        together=agreement_between(
            first, second, grades=grades, level=level, coefficients=AGREEMENT, topics=topics, weights=weights
        ),
        topics=tuple(_topics(first, second, grades, weights)),
        convention=by_a.convention,
        measure=by_a.measure,
        facet=facet,
        means=means,
        above_chance={run: (lines_a[run].above_chance, lines_b[run].above_chance) for run in runs},
        tau=TIED if np.isnan(tau) else float(tau),
        tau_ap=TIED if np.isnan(tau_of_top) else tau_of_top,
        changed=tuple(_changed(by_a.comparisons, by_b.comparisons, facet)),
    )


def _lines(evaluated: Evaluated, facet: str) -> dict[str, RunMeasures]:
    return {
        line.run: line
        for line in evaluated.lines
        if (line.convention, line.facet) == (evaluated.convention, facet) and line.run != CHANCE
    }


def _topics(
    first: Mapping[tuple[str, str], int],
    second: Mapping[tuple[str, str], int],
    grades: tuple[int, ...],
    weights: Mapping[tuple[str, str], float] | None,
) -> Iterable[TopicAgreement]:
    for query_id in sorted({query_id for query_id, _ in (*first, *second)}):
        pairs_a, pairs_b = ({pair for pair in grading if pair[0] == query_id} for grading in (first, second))
        shared = sorted(pairs_a & pairs_b)
        ratings = np.array([[grading[pair] for pair in shared] for grading in (first, second)], dtype=np.float64)
        weighed = None if weights is None else np.array([weights[pair] for pair in shared], dtype=np.float64)
        thin = None if weighed is None else too_thin(weighed)
        kappa, alpha = (thin or value_of(name, ratings, grades, weighed) for name in AGREEMENT)
        yield TopicAgreement(query_id, len(shared), len(pairs_a - pairs_b), len(pairs_b - pairs_a), kappa, alpha)


def _changed(by_a: Iterable[RunComparison], by_b: Iterable[RunComparison], facet: str) -> Iterable[ChangedSides]:
    pairs_by_b = {(pair.run_a, pair.run_b): pair for pair in by_b if pair.facet == facet}
    for pair in by_a:
        turned = pairs_by_b.get((pair.run_b, pair.run_a))
        if pair.facet == facet and turned is not None and pair.difference > 0 and turned.difference > 0:
            yield ChangedSides(
                better_by_a=pair.run_a,
                better_by_b=pair.run_b,
                lead_by_a=pair.difference,
                lead_by_b=turned.difference,
                holds_by_a=pair.holds,
                holds_by_b=turned.holds,
            )
