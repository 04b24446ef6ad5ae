"""Training assessors on gold pairs: which pairs, in which batches, and who has passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import Literal

from annot.base.records import Decision, Query
from annot.base.stats.seeding import generator
from annot.base.stats.values import Estimate, Undefined
from annot.judging.trials.sequence import Pair, query_by_query, shuffled

Verdict = Literal["passed", "not passed", "not finished", "undecided"]


def draw_gold(
    queries: Iterable[Query], decisions: Iterable[Decision], standing: AbstractSet[Pair], *, per_facet: int, seed: int
) -> tuple[Decision, ...]:
    """Settled pairs for training, up to `per_facet` of each facet with those that stand already.

    The grades come in turn; within a grade adjudicated and agreed pairs alternate as far as they go, and the queries
    are spread evenly. Pairs in dispute alone would be too hard to pass on, pairs agreed on alone too easy to learn
    from. By facet in the order of its draw.
    """
    known = {query.query_id: query for query in queries}
    settled = [one for one in decisions if one.query_id in known and one.doc_id != known[one.query_id].paper_id]
    drawn: list[Decision] = []
    for facet in sorted({query.facet for query in known.values()}):
        stands = sum(known[query_id].facet == facet for query_id, _ in standing if query_id in known)
        free = [
            one
            for one in sorted(settled, key=lambda one: one.pair)
            if known[one.query_id].facet == facet and one.pair not in standing
        ]
        drawn += evenly(shuffled(free, generator(seed, "gold", facet)), per_facet - stands)
    return tuple(drawn)


def evenly(free: Sequence[Decision], count: int) -> list[Decision]:
    """At most `count` of them, one grade after the other, in each as evenly over origins and queries as can be."""
    # In the order of the draw, so that no grade always comes first.
    grades = list(dict.fromkeys(one.grade for one in free))
    left = {grade: [one for one in free if one.grade == grade] for grade in grades}
    used: Counter[tuple[str, object]] = Counter()
    drawn: list[Decision] = []
    while len(drawn) < count and any(left.values()):
        for grade in grades:
            if not left[grade] or len(drawn) >= count:
                continue
            best = min(left[grade], key=lambda one: (used["origin", one.origin], used["query", one.query_id]))
            left[grade].remove(best)
            used.update([("origin", best.origin), ("query", best.query_id)])
            drawn.append(best)
    return drawn


def sequence_of(
    assessor: str,
    gold: Sequence[Pair],
    facet_of: Mapping[str, str],
    standing: Sequence[Pair],
    *,
    facets: Sequence[str],
    seed: int,
) -> tuple[Pair, ...]:
    """The gold pairs in this assessor's order: those that stand keep their places, new ones follow, facet by facet."""
    new = set(gold) - set(standing)
    added = (
        pair
        for facet in facets
        for pair in query_by_query(
            (pair for pair in new if facet_of[pair[0]] == facet), "training", assessor, facet, seed=seed
        )
    )
    return (*standing, *added)


def batches_of(sequence: Iterable[Pair], facet_of: Mapping[str, str]) -> tuple[tuple[Pair, ...], ...]:
    """The sequence in its batches: pairs of one facet that stand together are one."""
    return tuple(tuple(batch) for _, batch in groupby(sequence, key=lambda pair: facet_of[pair[0]]))


def verdict(figure: Estimate, *, n_answered: int, n_gold: int, threshold: float, gate: str) -> Verdict:
    """Whether an assessor may judge. gate: what must reach the threshold, the `estimate` or the lower end of its
    `interval`."""
    if n_answered < n_gold:
        return "not finished"
    if isinstance(figure.value, Undefined):
        return "undecided"
    if gate == "interval":
        if isinstance(figure.interval, Undefined):
            return "undecided"
        return "passed" if figure.interval.low >= threshold else "not passed"
    return "passed" if figure.value >= threshold else "not passed"
