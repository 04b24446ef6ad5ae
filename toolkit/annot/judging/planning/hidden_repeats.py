"""Pairs that one person is asked a second time without a word: which, and where, so that nobody notices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from annot.base.records import Asked

FEWEST_BETWEEN = 20
"""Other pairs between a pair and its repeat: one that came 17 pairs later was recognised."""

FEWEST_FOR_REPEATS = 2 * (FEWEST_BETWEEN + 1)
"""Pairs of a sequence in which the one half holds a repeat, and the other the pairs between."""


def with_repeats(blocks: Sequence[Sequence[Asked]], rate: float, rng: np.random.Generator) -> list[Asked]:
    """One person's queries in their order, with some pairs of the first half asked again in the second.

    A pair alone in the middle of another query would be noticed. So a query with repeats comes back: its repeats are
    mixed with as many of its pairs that were held back for that. Between a pair and its repeat lies at least a third of
    the sequence, and never fewer than `FEWEST_BETWEEN` pairs; a sequence of fewer than `FEWEST_FOR_REPEATS` has none.
    The rate is met on average, whatever its fraction of a pair, as long as no query has more than a third of its pairs
    asked again.
    """
    asked = [one for block in blocks for one in block]
    wanted = math.floor(rate * len(asked) + rng.random())
    far = max(FEWEST_BETWEEN, len(asked) // 3)
    early = min(len(asked) // 2, len(asked) - wanted - far)
    if len(asked) < FEWEST_FOR_REPEATS or wanted == 0 or early <= 0:
        return asked
    first = {one: at for at, one in enumerate(asked)}
    chosen = _choose(blocks, [one for one in asked if first[one] < early], wanted, rng)
    stay, come_back = [], []
    for block, again in zip(blocks, chosen, strict=True):
        others = [one for one in block if one not in again and first[one] < early]
        held = [others[at] for at in sorted(rng.permutation(len(others))[: len(again)].tolist())]
        stay.append([one for one in block if one not in held])
        mixed = [*held, *(one._replace(occasion=2) for one in again)]
        come_back.append([mixed[at] for at in rng.permutation(len(mixed))])
    return _placed(stay, [block for block in come_back if block], far, rng)


def _choose(
    blocks: Sequence[Sequence[Asked]], early: Sequence[Asked], wanted: int, rng: np.random.Generator
) -> list[list[Asked]]:
    """Of each block the pairs to ask again, at most a third of those that are early: another third is held back."""
    block_of = {one: number for number, block in enumerate(blocks) for one in block}
    sizes = np.bincount([block_of[one] for one in early], minlength=len(blocks))
    chosen: list[list[Asked]] = [[] for _ in blocks]
    for at in rng.permutation(len(early)):
        number = block_of[early[at]]
        if wanted and len(chosen[number]) < sizes[number] // 3:
            chosen[number].append(early[at])
            wanted -= 1
    return chosen


def _placed(
    blocks: Sequence[Sequence[Asked]], returning: Sequence[Sequence[Asked]], far: int, rng: np.random.Generator
) -> list[Asked]:
    """The blocks, and each that returns behind one of them, far enough from what it repeats: the end always is."""
    place = {one: at for at, one in enumerate(one for block in blocks for one in block)}
    ends = list(itertools.accumulate(len(block) for block in blocks))
    half = (len(place) + sum(map(len, returning)) + 1) // 2
    behind: dict[int, list[Sequence[Asked]]] = {}
    for block in returning:
        last = max(place[one._replace(occasion=1)] for one in block if one.occasion == 2)
        fitting = [at for at, end in enumerate(ends) if end >= max(last + 1 + far, half)] or [len(ends) - 1]
        behind.setdefault(fitting[int(rng.integers(len(fitting)))], []).append(block)
    return [one for at, own in enumerate(blocks) for block in (own, *behind.get(at, ())) for one in block]
