"""Hidden gold: settled pairs, unannounced, among the pairs of an assessor who does not know them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby

from annot.base.records import Asked, Decision
from annot.base.stats.seeding import generator
from annot.judging.trials.sequence import Pair, query_by_query, shuffled
from annot.judging.trials.training import evenly

BLOCK = 5
"""Pairs of a query that the assessor does not have otherwise: one alone would be noticed."""


def draw_hidden(
    assessor: str,
    decisions: Iterable[Decision],
    taken: AbstractSet[Pair],
    own: AbstractSet[str],
    *,
    count: int,
    seed: int,
) -> tuple[Pair, ...]:
    """Up to `count` settled pairs for this assessor. taken: pairs that they know. own: the queries of their plan.

    Pairs of their own queries come first, where they are noticed least; then blocks of other queries. In each query the
    grades come in turn.
    """
    free: dict[str, list[Decision]] = {}
    for one in sorted(decisions, key=lambda one: one.pair):
        if one.pair not in taken:
            free.setdefault(one.query_id, []).append(one)
    rng = generator(seed, "hidden-gold", assessor)
    order = shuffled(sorted(free), rng)
    drawn: list[Pair] = []
    for query_id in sorted(order, key=lambda query_id: query_id not in own):
        some = evenly(shuffled(free[query_id], rng), min(BLOCK, count - len(drawn)))
        drawn += [one.pair for one in some]
    return tuple(drawn)


def with_hidden(
    sequence: Sequence[Asked], hidden: Sequence[Pair], answered: AbstractSet[Asked], *, assessor: str, seed: int
) -> list[Asked]:
    """The assessor's sequence with the hidden pairs in it: within their query where it is there, else as a block
    between two queries, never at the very beginning.

    What is `answered` comes first: pairs that were hidden in a study under way are among those still to come.
    """
    if not hidden:
        return list(sequence)
    blocks = [list(block) for _, block in groupby(sequence, key=lambda asked: asked.query_id)]
    by_query: dict[str, list[Asked]] = {}
    for pair in query_by_query(hidden, "hidden-gold", assessor, seed=seed):
        by_query.setdefault(pair[0], []).append(Asked(*pair))
    for query_id, extra in by_query.items():
        rng = generator(seed, "hidden-gold-place", assessor, query_id)
        home = next((block for block in blocks if block[0].query_id == query_id), None)
        if home is None:
            blocks.insert(int(rng.integers(min(1, len(blocks)), len(blocks) + 1)), extra)
            continue
        for asked in extra:
            home.insert(int(rng.integers(1, len(home) + 1)), asked)
    order = [asked for block in blocks for asked in block]
    return sorted(order, key=lambda asked: asked not in answered)
