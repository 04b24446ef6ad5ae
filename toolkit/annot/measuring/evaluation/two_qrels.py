"""Two qrels of the same queries: how alike their grades are, and whether they tell the same story of the runs."""

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
    """How the two agree on one query."""

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
    """Of `better_by_b`."""
    holds_by_a: bool
    holds_by_b: bool
    """Whether the lead holds after correction for all pairs of runs, as in `annot evaluate`."""


@dataclass(frozen=True, slots=True)
class TwoQrels:
    """Both, on the queries that both have."""

    grades: tuple[int, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Pairs by grade in the first (rows) and in the second (columns)."""
    together: Between
    """Of all pairs, with intervals over topics."""
    topics: tuple[TopicAgreement, ...]
    convention: str
    measure: str
    facet: str
    means: dict[str, tuple[float, float]]
    """Of each run on this facet by the first and by the second; best by the first on top."""
    above_chance: dict[str, tuple[bool, bool]]
    """Whether each run is shown to be better than a random order by the first and by the second."""
    tau: Value
    tau_ap: Value
    """With the first for the reference: which says more of the top."""
    changed: tuple[ChangedSides, ...]

    @property
    def like_chance(self) -> bool:
        """Whether a run is not shown to be better than a random order, by either."""
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
    """a, b: the grades of the queries that both have. by_a, by_b: the same runs measured on each. facet: on which the
    runs are ordered. level: of the intervals of agreement. topics: the topic of each query, the unit of chance.
    weights: of each pair, 1 / pi where a sample was drawn; coefficients then describe the whole pools."""
    first, second = ({(one.query_id, one.doc_id): one.relevance for one in qrels} for qrels in (a, b))
    given = {*first.values(), *second.values()}
    # A grade between these that no pair has is on their scale all the same.
    grades = tuple(range(min(given), max(*given, min(given) + 1) + 1))
    pairs = Counter((first[pair], second[pair]) for pair in first.keys() & second.keys())
    of_a, of_b = (_lines(found, facet) for found in (by_a, by_b))
    runs = sorted(of_a.keys() & of_b.keys(), key=lambda run: (-of_a[run].values[by_a.measure], run))
    means = {run: (of_a[run].values[by_a.measure], of_b[run].values[by_b.measure]) for run in runs}
    scores = [[round(one[side], _FIGURES) for one in means.values()] for side in (0, 1)]
    tau = tau_b_of_rows(np.array([scores[0]]), np.array([scores[1]]))[0] if len(means) > 1 else np.nan
    top = tau_ap(scores[1], scores[0])
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
        above_chance={run: (of_a[run].above_chance, of_b[run].above_chance) for run in runs},
        tau=TIED if np.isnan(tau) else float(tau),
        tau_ap=TIED if np.isnan(top) else top,
        changed=tuple(_changed(by_a.comparisons, by_b.comparisons, facet)),
    )


def _lines(found: Evaluated, facet: str) -> dict[str, RunMeasures]:
    return {
        line.run: line
        for line in found.lines
        if (line.convention, line.facet) == (found.convention, facet) and line.run != CHANCE
    }


def _topics(
    first: Mapping[tuple[str, str], int],
    second: Mapping[tuple[str, str], int],
    grades: tuple[int, ...],
    weights: Mapping[tuple[str, str], float] | None,
) -> Iterable[TopicAgreement]:
    for query_id in sorted({query_id for query_id, _ in (*first, *second)}):
        of_a, of_b = (
            {doc_id: grade for (one, doc_id), grade in of.items() if one == query_id} for of in (first, second)
        )
        both = sorted(of_a.keys() & of_b.keys())
        ratings = np.array([[of[doc_id] for doc_id in both] for of in (of_a, of_b)], dtype=np.float64)
        worth = None if weights is None else np.array([weights[query_id, doc_id] for doc_id in both], dtype=np.float64)
        thin = None if worth is None else too_thin(worth)
        kappa, alpha = (thin or value_of(name, ratings, grades, worth) for name in AGREEMENT)
        yield TopicAgreement(query_id, len(both), len(of_a) - len(both), len(of_b) - len(both), kappa, alpha)


def _changed(by_a: Iterable[RunComparison], by_b: Iterable[RunComparison], facet: str) -> Iterable[ChangedSides]:
    other = {(one.run_a, one.run_b): one for one in by_b if one.facet == facet}
    for one in by_a:
        turned = other.get((one.run_b, one.run_a))
        if one.facet == facet and turned is not None and one.difference > 0 and turned.difference > 0:
            yield ChangedSides(
                better_by_a=one.run_a,
                better_by_b=one.run_b,
                lead_by_a=one.difference,
                lead_by_b=turned.difference,
                holds_by_a=one.holds,
                holds_by_b=turned.holds,
            )
