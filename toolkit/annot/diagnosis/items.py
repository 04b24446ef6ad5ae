"""Pairs that are hard to judge, and grade pairs that recur in a facet: what the guidelines may have left open."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annot.diagnosis.findings import Selected
from annot.diagnosis.ordinal import grade_probabilities
from annot.diagnosis.panel import Panel
from annot.stats.rounding import significant
from annot.stats.significance import holm

Array = npt.NDArray[np.float64]
SHOWN = 2
"""Significant digits of a probability on a page: what is equal at these is ordered by what else is known of it."""


@dataclass(frozen=True, slots=True)
class HardPair:
    """A pair on which the assessors differ by more than their known ways explain."""

    query_id: str
    doc_id: str
    facet: str
    grades: dict[str, int]
    """By assessor."""
    spread: int
    """The highest grade's place in the scale less the lowest's."""
    probability: float
    """Of a spread so large or larger, for a pair of this query judged by these assessors, findings included."""


@dataclass(frozen=True, slots=True)
class GuidelineGap:
    """Two grades that are given to the same pair more often in a facet than chance explains."""

    facet: str
    low: int
    high: int
    observed: int
    """Pairs with both grades among their judgements."""
    expected: float
    """The same by the model: the facet's own mix of grades, the study's noise, the findings."""
    of: int
    """Pairs of the facet with two judgements or more."""
    p_value: float
    """One-sided, corrected over all facets and grade pairs."""
    examples: tuple[HardPair, ...]
    """The least probable ones first."""


def hardest_pairs(panel: Panel, selected: Selected, *, per_query: int) -> tuple[HardPair, ...]:
    """The hardest pairs of each query, by query, least probable first; never a pair on which all agree."""
    pairs = sorted(_hard(panel, selected), key=lambda pair: (pair.query_id, *order_of_hard(pair)))
    by_query = itertools.groupby(pairs, key=lambda pair: pair.query_id)
    return tuple(pair for _, of_query in by_query for pair in itertools.islice(of_query, per_query))


def guideline_gaps(panel: Panel, selected: Selected, *, alpha: float, examples: int) -> tuple[GuidelineGap, ...]:
    """Facet by facet the grade pairs that recur, at family-wise level `alpha`, the clearest first.

    The excess of pairs with both grades over what the model expects is tested as a score: the model was fitted to the
    same grades, gap included, and has taken some of it for noise. So each pair's excess is taken less what the model's
    parameters could explain of it (the efficient score: Cox and Hinkley 1974, Theoretical Statistics, 9.3), and its
    variance is that of what is left; or that between the facet's queries, where it is the larger one. The tail is the
    Poisson distribution's with that variance, longer than the normal one. `expected` is still the fitted model's own
    figure, and too high where there is a gap.
    """
    from scipy.special import gammainc

    fitted = selected.fitted
    patterns = fitted.patterns
    chances = _chance_of_both(selected)
    facet = patterns.facet_of_query[patterns.query]
    hard = sorted(_hard(panel, selected), key=order_of_hard)
    gaps = []
    for (at, name), (low, high) in itertools.product(
        enumerate(sorted({panel.facets[i] for i in selected.rows})),
        itertools.combinations(range(patterns.n_grades), 2),
    ):
        inside = facet == at
        has = (patterns.grades == low).any(axis=1) & (patterns.grades == high).any(axis=1) & inside
        observed = float(patterns.count[has].sum())
        expected = float(patterns.count[inside] @ chances[low, high][inside])
        left, excess = fitted.efficient(np.where(inside, has - chances[low, high], 0.0))
        p = 1.0
        if observed > expected > 0 and excess > 0:
            n_queries = len(patterns.facet_of_query)
            by_query = np.bincount(patterns.query, weights=patterns.count * left, minlength=n_queries)
            by_query = by_query[patterns.facet_of_query == at]
            between = float(((by_query - by_query.mean()) ** 2).sum()) * len(by_query) / max(1, len(by_query) - 1)
            variance = max(float(patterns.count @ left**2), between)
            # P(Poisson(variance) >= variance + excess)
            p = float(gammainc(variance + float(excess), variance))
        both = {panel.scale[low], panel.scale[high]}
        shown = [pair for pair in hard if pair.facet == name and both <= set(pair.grades.values())]
        gaps.append(
            GuidelineGap(
                facet=name,
                low=panel.scale[low],
                high=panel.scale[high],
                observed=int(observed),
                expected=expected,
                of=int(patterns.count[inside].sum()),
                p_value=p,
                examples=tuple(shown[:examples]),
            )
        )
    corrected = holm([gap.p_value for gap in gaps])
    clear = [replace(gap, p_value=p) for gap, p in zip(gaps, corrected, strict=True) if p <= alpha]
    return tuple(
        sorted(clear, key=lambda gap: (significant(gap.p_value, SHOWN), -gap.observed, gap.facet, gap.low, gap.high))
    )


def order_of_hard(pair: HardPair) -> tuple[float, int, str, str]:
    """Least probable first, as printed; then the widest apart; then by id."""
    return (significant(pair.probability, SHOWN), -pair.spread, pair.query_id, pair.doc_id)


def _hard(panel: Panel, selected: Selected) -> list[HardPair]:
    """Every pair on which not all agree."""
    patterns = selected.fitted.patterns
    judged = patterns.grades >= 0
    highest = np.where(judged, patterns.grades, -1).max(axis=1)
    spread = highest - np.where(judged, patterns.grades, patterns.n_grades).min(axis=1)
    probability = _chance_of_spread(selected, spread)
    return [
        HardPair(
            query_id=panel.query_ids[row],
            doc_id=panel.doc_ids[row],
            facet=panel.facets[row],
            grades={
                name: panel.scale[grade]
                for name, grade in zip(panel.assessors, panel.grades[row], strict=True)
                if grade >= 0
            },
            spread=int(spread[pattern]),
            probability=float(probability[pattern]),
        )
        for row, pattern in zip(selected.rows, patterns.of_pair, strict=True)
        if spread[pattern]
    ]


def _all_within(selected: Selected, allowed: npt.NDArray[np.bool_]) -> Array:
    """P(all grades of a pair are among the allowed), by pattern: its query and who judged it. allowed: shape (G,)."""
    patterns = selected.fitted.patterns
    tables, weights = grade_probabilities(selected.fitted, selected.fitted.sizes)
    inside = tables[:, :, allowed].sum(axis=2)  # (Q, M, nodes)
    each = np.where((patterns.grades >= 0)[:, :, None], inside[patterns.query], 1.0)
    return np.asarray(each.prod(axis=1) @ weights)


def _chance_of_both(selected: Selected) -> dict[tuple[int, int], Array]:
    """P(both grades are among a pair's), by pattern, for every two grades."""
    g = selected.fitted.patterns.n_grades
    grades = np.arange(g)
    without = [_all_within(selected, grades != grade) for grade in range(g)]
    return {
        (low, high): 1.0 - without[low] - without[high] + _all_within(selected, (grades != low) & (grades != high))
        for low, high in itertools.combinations(range(g), 2)
    }


def _chance_of_spread(selected: Selected, spread: npt.NDArray[np.int64]) -> Array:
    """P(a spread of at least so much), by pattern."""
    g = selected.fitted.patterns.n_grades
    grades = np.arange(g)
    below = np.zeros((g, len(spread)))
    for most in range(g - 1):
        # All grades lie in a window of `most` steps: count windows, take off what two neighbours share.
        for start in range(g - most):
            below[most + 1] += _all_within(selected, (grades >= start) & (grades <= start + most))
            if start:
                below[most + 1] -= _all_within(selected, (grades >= start) & (grades < start + most))
    return np.asarray(np.clip(1.0 - below[spread, np.arange(len(spread))], 0.0, 1.0))
