"""Pairs that are hard to judge, and grades that a facet confuses: what the guidelines may have left open."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from annot.diagnosis.contrasts import higher
from annot.diagnosis.panel import Panel
from annot.stats.rounding import significant
from annot.stats.significance import holm

SHOWN = 2
"""Significant digits of a share on a page: what is equal at these is ordered by what else is known of it."""


@dataclass(frozen=True, slots=True)
class HardPair:
    """A pair on which the assessors differ."""

    query_id: str
    doc_id: str
    facet: str
    grades: dict[str, int]
    """By assessor."""
    spread: int
    """The highest grade's place in the scale less the lowest's."""
    share: float
    """Of the query's pairs with two grades or more, those with a spread so large or larger."""


@dataclass(frozen=True, slots=True)
class GuidelineGap:
    """Two grades that meet on the same pair more often in one facet than in the others."""

    facet: str
    low: int
    high: int
    observed: int
    """Pairs with both grades among their judgements."""
    expected: float
    """The same at the rate of the other facets."""
    of: int
    """Pairs of the facet with two judgements or more, one of the two grades among them."""
    p_value: float
    """One-sided, over whole queries, corrected over all facets and grade pairs."""
    examples: tuple[HardPair, ...]
    """The hardest first."""


def hardest_pairs(panel: Panel, *, per_query: int) -> tuple[HardPair, ...]:
    """The hardest pairs of each query, by query, widest apart first; never a pair on which all agree."""
    pairs = sorted(_hard(panel), key=lambda pair: (pair.query_id, *order_of_hard(pair)))
    by_query = itertools.groupby(pairs, key=lambda pair: pair.query_id)
    return tuple(pair for _, of_query in by_query for pair in itertools.islice(of_query, per_query))


def order_of_hard(pair: HardPair) -> tuple[int, float, str, str]:
    """Widest apart first; then what is rare in its query, as printed; then by id."""
    return (-pair.spread, significant(pair.share, SHOWN), pair.query_id, pair.doc_id)


def guideline_gaps(panel: Panel, *, alpha: float, examples: int) -> tuple[GuidelineGap, ...]:
    """Facet by facet the grades that are confused more than elsewhere, at family-wise level `alpha`, clearest first.

    In each query: of the pairs that someone gave one of two grades, the share that someone else gave the other one. The
    facet's queries are compared with those of the other facets; with one facet alone there is nothing to compare.
    """
    twice = panel.n_judged > 1
    has = np.zeros((len(panel.query_ids), len(panel.scale)), dtype=np.bool_)
    has[panel.pair, panel.grade] = True
    facets = np.array(panel.facets)
    hard = sorted(_hard(panel), key=order_of_hard)
    found = []
    for low, high in itertools.combinations(range(len(panel.scale)), 2):
        both, either = has[:, low] & has[:, high] & twice, (has[:, low] | has[:, high]) & twice
        queries, first = np.unique(panel.query[either], return_index=True)
        if not len(queries):
            continue
        of_query = np.bincount(panel.query[either])[queries]
        shares = np.bincount(panel.query[both], minlength=queries[-1] + 1)[queries] / of_query
        names = facets[either][first]
        for name in sorted(set(names.tolist())):
            inside = names == name
            test = higher(shares[inside], shares[~inside])
            if test is None:
                continue
            here = facets == name
            elsewhere = float((both & ~here).sum() / (either & ~here).sum())
            grades = {panel.scale[low], panel.scale[high]}
            shown = [pair for pair in hard if pair.facet == name and grades <= set(pair.grades.values())]
            found.append(
                GuidelineGap(
                    facet=name,
                    low=panel.scale[low],
                    high=panel.scale[high],
                    observed=int((both & here).sum()),
                    expected=elsewhere * int((either & here).sum()),
                    of=int((either & here).sum()),
                    p_value=max(test.p, test.least),
                    examples=tuple(shown[:examples]),
                )
            )
    corrected = holm([gap.p_value for gap in found])
    clear = [replace(gap, p_value=p) for gap, p in zip(found, corrected, strict=True) if p <= alpha]
    return tuple(
        sorted(clear, key=lambda gap: (significant(gap.p_value, SHOWN), -gap.observed, gap.facet, gap.low, gap.high))
    )


def _hard(panel: Panel) -> list[HardPair]:
    """Every pair on which not all agree."""
    n = len(panel.query_ids)
    highest, lowest = np.full(n, -1), np.full(n, len(panel.scale))
    np.maximum.at(highest, panel.pair, panel.grade)
    np.minimum.at(lowest, panel.pair, panel.grade)
    spread = highest - lowest
    twice = panel.n_judged > 1
    of_query = np.bincount(panel.query[twice], minlength=panel.query[-1] + 1)
    at_least = [
        np.bincount(panel.query[twice & (spread >= so_far)], minlength=len(of_query))
        for so_far in range(len(panel.scale))
    ]
    ends = np.searchsorted(panel.pair, np.arange(n + 1))
    return [
        HardPair(
            query_id=panel.query_ids[row],
            doc_id=panel.doc_ids[row],
            facet=panel.facets[row],
            grades={
                panel.assessors[panel.who[at]]: panel.scale[panel.grade[at]] for at in range(ends[row], ends[row + 1])
            },
            spread=int(spread[row]),
            share=float(at_least[spread[row]][panel.query[row]] / of_query[panel.query[row]]),
        )
        for row in np.flatnonzero(spread)
    ]
