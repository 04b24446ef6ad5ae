"""Single pairs: those that are hard to judge, and grades that a facet confuses."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from annot.base.stats.arrays import Mask
from annot.base.stats.significance import holm
from annot.base.stats.values import significant
from annot.measuring.diagnosis.contrasts import ALPHA, higher
from annot.measuring.diagnosis.panel import Panel, SharedPairs

PER_QUERY, EXAMPLES = 3, 5
"""So many hard pairs of each query, and of each gap."""
SHOWN = 2
"""Significant digits of a figure on a page: what is equal at these is ordered by what else is known of it."""


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
    """Pairs of the facet with one of the two grades among their judgements, of two or more."""
    p_value: float
    """One-sided, over whole topics, corrected over all facets and grade pairs."""
    examples: tuple[HardPair, ...]
    """The hardest first."""


def hardest_pairs(panel: Panel) -> tuple[HardPair, ...]:
    """The hardest pairs of each query, by query, widest apart first; never a pair on which all agree."""
    everywhere = np.ones(len(panel.query_ids), dtype=np.bool_)
    by_query = itertools.groupby(_hard(panel, everywhere), key=lambda pair: pair.query_id)
    return tuple(pair for _, of_query in by_query for pair in itertools.islice(of_query, PER_QUERY))


def order_of_hard(pair: HardPair) -> tuple[int, float, str, str]:
    """Widest apart first; then what is rare in its query, as printed; then by id."""
    return -pair.spread, significant(pair.share, SHOWN), pair.query_id, pair.doc_id


def guideline_gaps(compared: SharedPairs) -> tuple[GuidelineGap, ...]:
    """Facet by facet the grades that are confused more than elsewhere, corrected by Holm, the clearest first.

    In each query: of the pairs that someone gave one of two grades, the share that someone else gave the other one. The
    facet's queries are compared with those of the other facets, which may be of the same papers; with one facet alone
    there is nothing to compare.
    compared: without those who differ from the others, so that the facet that they judged most is not blamed.
    """
    panel = compared.panel
    has = np.zeros((len(panel.query_ids), len(panel.scale)), dtype=np.bool_)
    has[compared.pair, compared.grade] = True
    facets, n_queries = np.array(panel.facets), compared.n_queries
    found = []
    for low, high in itertools.combinations(range(len(panel.scale)), 2):
        both, either = has[:, low] & has[:, high], has[:, low] | has[:, high]
        hits, times = (np.bincount(panel.query[part], minlength=n_queries) for part in (both, either))
        asked = np.flatnonzero(times)
        for facet in sorted(set(panel.facets)):
            here = facets == facet
            inside = np.isin(asked, panel.query[here])
            shares = hits[asked] / times[asked]
            test = higher(shares, ~inside, compared.paper_of[asked])
            if test is None:
                continue
            of = int((either & here).sum())
            expected = of * float(hits[asked[~inside]].sum() / times[asked[~inside]].sum())
            gap = GuidelineGap(
                facet, panel.scale[low], panel.scale[high], int((both & here).sum()), expected, of, test.p, ()
            )
            found.append((gap, max(test.p, test.least), both & here))
    corrected = holm([p for _, p, _ in found])
    clear = [
        replace(gap, p_value=p, examples=tuple(sorted(_hard(panel, among), key=order_of_hard)[:EXAMPLES]))
        for (gap, _, among), p in zip(found, corrected, strict=True)
        if p <= ALPHA
    ]
    return tuple(
        sorted(clear, key=lambda gap: (significant(gap.p_value, SHOWN), -gap.observed, gap.facet, gap.low, gap.high))
    )


def _hard(panel: Panel, among: Mask) -> list[HardPair]:
    """Every pair of these on which not all agree, by query, the hardest first. among: shape (N,)."""
    starts = np.searchsorted(panel.pair, np.arange(len(panel.query_ids) + 1))
    spread = np.maximum.reduceat(panel.grade, starts[:-1]) - np.minimum.reduceat(panel.grade, starts[:-1])
    twice = panel.n_judged > 1
    of_query = np.bincount(panel.query[twice])
    as_wide = [np.bincount(panel.query[twice & (spread >= s)]) for s in range(len(panel.scale))]
    found = []
    for row in np.flatnonzero((spread > 0) & among):
        at = slice(starts[row], starts[row + 1])
        grades = zip(panel.who[at].tolist(), panel.grade[at].tolist(), strict=True)
        query, distance = panel.query[row], int(spread[row])
        found.append(
            HardPair(
                query_id=panel.query_ids[row],
                doc_id=panel.doc_ids[row],
                facet=panel.facets[row],
                grades={panel.assessors[who]: panel.scale[grade] for who, grade in grades},
                spread=distance,
                share=float(as_wide[distance][query] / of_query[query]),
            )
        )
    return sorted(found, key=lambda pair: (pair.query_id, order_of_hard(pair)))
