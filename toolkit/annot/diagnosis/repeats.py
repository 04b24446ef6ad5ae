"""Self-consistency: the same assessor, the same pair, judged again without knowing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annot.stats.clustered import mean_by_queries, share
from annot.stats.intervals import Estimate, Share


class Repeat(NamedTuple):
    """A pair that one assessor judged twice, without knowing that it was a repeat."""

    assessor: str
    query_id: str
    doc_id: str
    first: int
    second: int
    """The grade given later."""


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """How far one assessor, or all together, repeat themselves."""

    assessor: str | None
    """None for all together."""
    same: Share
    within_one: Share
    change: Estimate
    """Mean of the later grade less the earlier one: below 0 for those who become stricter."""
    changed: tuple[Repeat, ...]
    """The repeats with another grade, largest change first."""


def self_consistency(repeats: Iterable[Repeat], *, widest: float, level: float) -> tuple[SelfConsistency, ...]:
    """Each assessor by name, then all together. Empty when there are no repeats.

    Two grades of one person that agree by this share bound what two people can reach (Scholer, Turpin and Sanderson
    2011, SIGIR, 1063-1072). widest: the largest difference between two grades.
    """
    repeats = sorted(repeats)
    found = []
    for name in [*sorted({repeat.assessor for repeat in repeats}), *([None] if repeats else [])]:
        given = [repeat for repeat in repeats if name in (repeat.assessor, None)]
        change = np.array([repeat.second - repeat.first for repeat in given], dtype=np.float64)
        queries = [repeat.query_id for repeat in given]
        changed = [repeat for repeat in given if repeat.first != repeat.second]
        found.append(
            SelfConsistency(
                assessor=name,
                same=share(change == 0, queries, level=level),
                within_one=share(np.abs(change) <= 1, queries, level=level),
                change=mean_by_queries(change, queries, level=level, most=widest),
                changed=tuple(sorted(changed, key=lambda repeat: (-abs(repeat.second - repeat.first), repeat))),
            )
        )
    return tuple(found)
