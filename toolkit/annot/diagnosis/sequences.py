"""Each assessor's judgements in the order in which they were made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.judged import counted
from annot.records import Assignment, Judgement

Array = npt.NDArray[np.float64]
FIRST = 1
"""The occasion of everything but the hidden repeats."""


@dataclass(frozen=True, slots=True)
class JudgedSequence:
    """One assessor's judgements with a grade, n of them, first to last."""

    assessor: str
    query_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    grades: npt.NDArray[np.int64]
    """Shape (n,), as given."""
    seconds: Array
    """Shape (n,), nan where no time was taken; 0 is no time either."""
    days: tuple[str, ...] | None
    """The day of each judgement (ISO 8601, UTC); None where a moment is missing."""
    order: str
    """What the order follows: `judged_at` or the plan's `position`."""

    @property
    def timed(self) -> npt.NDArray[np.bool_]:
        """Shape (n,), true where there is a time."""
        return np.greater(self.seconds, 0)

    @property
    def stretches(self) -> npt.NDArray[np.int64]:
        """Shape (n,): the number of the unbroken run of one query that each judgement belongs to."""
        changes = [a != b for a, b in zip(self.query_ids, self.query_ids[1:], strict=False)]
        return np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)[: len(self.query_ids)]


def sequences_of(
    judgements: Iterable[Judgement], assignments: Iterable[Assignment], *, by_clock: bool
) -> tuple[JudgedSequence, ...]:
    """The sequences by assessor, of the judgements that count and have a grade; hidden repeats are not among them.

    by_clock: the order is that of `judged_at` where all of an assessor's judgements have one. Else it is that of the
    plan, and what was not planned comes last, by query and document.
    """
    position = {(one.query_id, one.doc_id, one.assessor): one.position for one in assignments if one.occasion == FIRST}
    of: dict[str, list[Judgement]] = {}
    for one in counted(one for one in judgements if one.occasion == FIRST):
        if one.grade is not None:
            of.setdefault(one.assessor, []).append(one)
    return tuple(_sequence(name, of[name], position, by_clock) for name in sorted(of))


def _sequence(
    name: str, judgements: list[Judgement], position: dict[tuple[str, str, str], int], by_clock: bool
) -> JudgedSequence:
    dated = all(one.judged_at is not None for one in judgements)
    timed = by_clock and dated
    beyond = max(position.values(), default=0) + 1

    def place(one: Judgement) -> tuple[str, int, str, str]:
        planned = position.get((one.query_id, one.doc_id, name), beyond)
        return (one.judged_at or "" if timed else "", planned, one.query_id, one.doc_id)

    ordered = sorted(judgements, key=place)
    return JudgedSequence(
        assessor=name,
        query_ids=tuple(one.query_id for one in ordered),
        doc_ids=tuple(one.doc_id for one in ordered),
        grades=np.array([one.grade for one in ordered], dtype=np.int64),
        seconds=np.array([np.nan if one.lead_time is None else one.lead_time for one in ordered], dtype=np.float64),
        days=tuple(str(one.judged_at)[:10] for one in ordered) if dated else None,
        order="judged_at" if timed else "position",
    )
