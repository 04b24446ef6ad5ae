"""Self-consistency: the same assessor, the same pair, judged again without knowing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annot.stats.clustered import Estimate, Share, mean_by_queries, share


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


def self_consistency(repeats: Iterable[Repeat], *, level: float) -> tuple[SelfConsistency, ...]:
    """Each assessor by name, then all together. Empty when there are no repeats.

    Two grades of one person that agree by this share bound what two people can reach (Scholer, Turpin and Sanderson
    2011, SIGIR, 1063-1072).
    """
    repeats = sorted(repeats)
    names = sorted({one.assessor for one in repeats})
    groups = [(name, [one for one in repeats if one.assessor == name]) for name in names]
    return tuple(_of(name, group, level) for name, group in [*groups, *([(None, repeats)] if repeats else [])])


def _of(name: str | None, repeats: list[Repeat], level: float) -> SelfConsistency:
    change = np.array([one.second - one.first for one in repeats], dtype=np.float64)
    queries = [one.query_id for one in repeats]
    return SelfConsistency(
        assessor=name,
        same=share(change == 0, queries, level=level),
        within_one=share(np.abs(change) <= 1, queries, level=level),
        change=mean_by_queries(change, queries, level=level),
        changed=tuple(
            sorted(
                (one for one in repeats if one.first != one.second),
                key=lambda one: (-abs(one.second - one.first), one),
            )
        ),
    )
