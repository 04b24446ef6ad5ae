"""Single pairs that are hard to judge, and grades that a facet confuses."""

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
"""Numbers of hard pairs shown of each query, and of each gap."""
SHOWN = 2
"""Significant digits of a figure on a page; pairs that are equal at these are ordered by their other figures."""


@dataclass(frozen=True, slots=True)
class HardPair:
    """Pair on which the assessors differ."""

    query_id: str
    doc_id: str
    facet: str
    grades: dict[str, int]
    """Grade by assessor."""
    spread: int
    """Place of the highest grade in the scale less that of the lowest."""
    share: float
    """Share of the query's pairs with two grades or more that have a spread so large or larger."""


@dataclass(frozen=True, slots=True)
class GuidelineGap:
    """Two grades that meet on the same pair more often in one facet than in the others."""

    facet: str
    low: int
    high: int
    observed: int
    """Pairs with both grades among their judgements."""
    expected: float
    """Number expected at the rate of the other facets."""
    of: int
    """Pairs of the facet with one of the two grades among their judgements, of two or more."""
    p_value: float
    """One-sided p over whole topics, corrected over all facets and grade pairs."""
    examples: tuple[HardPair, ...]
    """Hard pairs, the hardest first."""


def hardest_pairs(panel: Panel) -> tuple[HardPair, ...]:
    """Hardest pairs of each query, by query, widest apart first; never a pair on which all agree."""
    everywhere = np.ones(len(panel.query_ids), dtype=np.bool_)
    by_query = itertools.groupby(_hard(panel, everywhere), key=lambda pair: pair.query_id)
    return tuple(pair for _, of_query in by_query for pair in itertools.islice(of_query, PER_QUERY))


def order_of_hard(pair: HardPair) -> tuple[int, float, str, str]:
    """Sort key: widest apart first; then rarest in its query, as printed; then by id."""
    return -pair.spread, significant(pair.share, SHOWN), pair.query_id, pair.doc_id


def guideline_gaps(compared: SharedPairs) -> tuple[GuidelineGap, ...]:
    """Grades that a facet confuses more than the others, corrected by Holm, the clearest first.

    In each query: of the pairs that someone gave one of two grades, the share that someone else gave the other one. The
    facet's queries are compared with those of the other facets, which may be of the same papers; with one facet alone
    there is nothing to compare. compared: without those who differ from the others, so that the facet that they judged
    most is not blamed.
    """
    panel = compared.panel
    has = np.zeros((len(panel.query_ids), len(panel.scale)), dtype=np.bool_)
    has[compared.pair, compared.grade] = True
    facets, n_queries = np.array(panel.facets), compared.n_queries
    candidates = []
    for low, high in itertools.combinations(range(len(panel.scale)), 2):
        has_both, has_either = has[:, low] & has[:, high], has[:, low] | has[:, high]
        hits, times = (np.bincount(panel.query[part], minlength=n_queries) for part in (has_both, has_either))
        queries = np.flatnonzero(times)
        for facet in sorted(set(panel.facets)):
            in_facet = facets == facet
            inside = np.isin(queries, panel.query[in_facet])
            shares = hits[queries] / times[queries]
            test = higher(shares, ~inside, compared.paper_of[queries])
            if test is None:
                continue
            n_either = int((has_either & in_facet).sum())
            expected = n_either * float(hits[queries[~inside]].sum() / times[queries[~inside]].sum())
            among = has_both & in_facet
            grades = panel.scale[low], panel.scale[high]
            gap = GuidelineGap(facet, *grades, int(among.sum()), expected, n_either, test.p, ())
            candidates.append((gap, max(test.p, test.least), among))
    corrected = holm([p for _, p, _ in candidates])
    clear = [
        replace(gap, p_value=p, examples=tuple(sorted(_hard(panel, among), key=order_of_hard)[:EXAMPLES]))
        for (gap, _, among), p in zip(candidates, corrected, strict=True)
        if p <= ALPHA
    ]
    return tuple(
        sorted(clear, key=lambda gap: (significant(gap.p_value, SHOWN), -gap.observed, gap.facet, gap.low, gap.high))
    )


def _hard(panel: Panel, among: Mask) -> list[HardPair]:
    """Pairs among these on which not all agree, by query, the hardest first. among: shape (N,)."""
    starts = np.searchsorted(panel.pair, np.arange(len(panel.query_ids) + 1))
    spread = np.maximum.reduceat(panel.grade, starts[:-1]) - np.minimum.reduceat(panel.grade, starts[:-1])
    twice = panel.n_judged > 1
    of_query = np.bincount(panel.query[twice])
    as_wide = [np.bincount(panel.query[twice & (spread >= s)]) for s in range(len(panel.scale))]
    pairs = []
    for row in np.flatnonzero((spread > 0) & among):
        judgements = slice(starts[row], starts[row + 1])
        grades = zip(panel.who[judgements].tolist(), panel.grade[judgements].tolist(), strict=True)
        query, distance = panel.query[row], int(spread[row])
        pairs.append(
            HardPair(
                query_id=panel.query_ids[row],
                doc_id=panel.doc_ids[row],
                facet=panel.facets[row],
                grades={panel.assessors[who]: panel.scale[grade] for who, grade in grades},
                spread=distance,
                share=float(as_wide[distance][query] / of_query[query]),
            )
        )
    return sorted(pairs, key=lambda pair: (pair.query_id, order_of_hard(pair)))
