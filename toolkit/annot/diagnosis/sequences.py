"""Each assessor's judgements in the order in which they were made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.judged import FIRST, counted
from annot.records import Assignment, Judgement

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgedSequence:
    """One assessor's judgements with a grade, n of them, first to last."""

    assessor: str
    query_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    grades: npt.NDArray[np.int64]
    """Shape (n,), as given."""
    seconds: Array
    """Shape (n,), nan where no time was taken."""
    days: tuple[str, ...] | None
    """The day of each judgement (ISO 8601, UTC); None where a moment is missing."""
    order: str
    """What the order follows: `judged_at` or the plan's `position`."""

    @property
    def timed(self) -> npt.NDArray[np.bool_]:
        """Shape (n,), true where there is a time."""
        return np.greater(self.seconds, 0)


def sequences_of(
    judgements: Iterable[Judgement], assignments: Iterable[Assignment], *, by_clock: bool
) -> tuple[JudgedSequence, ...]:
    """The sequences by assessor, of the judgements that count and have a grade; hidden repeats are not among them.

    by_clock: the order is that of `judged_at` where all of an assessor's judgements have one. Else it is that of the
    plan, and what was not planned comes last, by query and document.
    """
    position = {
        (planned.query_id, planned.doc_id, planned.assessor): planned.position
        for planned in assignments
        if planned.occasion == FIRST
    }
    by_assessor: dict[str, list[Judgement]] = {}
    for judgement in counted(judgements):
        if judgement.occasion == FIRST and judgement.grade is not None:
            by_assessor.setdefault(judgement.assessor, []).append(judgement)
    return tuple(_sequence(name, given, position, by_clock) for name, given in sorted(by_assessor.items()))


def _sequence(
    name: str, given: list[Judgement], position: dict[tuple[str, str, str], int], by_clock: bool
) -> JudgedSequence:
    dated = all(judgement.judged_at is not None for judgement in given)
    timed = by_clock and dated
    beyond = max(position.values(), default=0) + 1

    def place(judgement: Judgement) -> tuple[str, int, str, str]:
        pair = judgement.query_id, judgement.doc_id
        return (judgement.judged_at or "" if timed else "", position.get((*pair, name), beyond), *pair)

    ordered = sorted(given, key=place)
    return JudgedSequence(
        assessor=name,
        query_ids=tuple(judgement.query_id for judgement in ordered),
        doc_ids=tuple(judgement.doc_id for judgement in ordered),
        grades=np.array([judgement.grade for judgement in ordered], dtype=np.int64),
        seconds=np.array([judgement.lead_time or np.nan for judgement in ordered], dtype=np.float64),
        days=tuple(str(judgement.judged_at)[:10] for judgement in ordered) if dated else None,
        order="judged_at" if timed else "position",
    )
