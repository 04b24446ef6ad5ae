"""Answers that the server no longer has as they were, still counting or withdrawn, and tasks to withdraw."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from annot.base.names import without_ids
from annot.base.records import SUPERSEDED, PairKey, grouped
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, AnnotationHistory, Revisions
from annot.store.models import Session
from annot.study.outcome import Outcome

Role = Literal["assessor", "adjudicator"]
TABLES: dict[Role, Revisions[Any]] = {"assessor": JUDGEMENTS, "adjudicator": ADJUDICATIONS}


@dataclass(frozen=True, slots=True)
class WithdrawnAnswer:
    """One person's last answer to a question, and the reason against it."""

    query_id: str
    doc_id: str
    assessor: str
    role: Role
    occasion: int
    grade: int | None
    cannot_judge: str | None
    counts: bool
    """True if it still counts although the server no longer has it; False if it was withdrawn."""
    why: str
    since: str | None
    """Moment of that record: ISO 8601, UTC."""

    @property
    def pair_key(self) -> PairKey:
        """Question of the answer."""
        return PairKey(self.query_id, self.doc_id, self.occasion)


def withdrawn_of(session: Session) -> tuple[WithdrawnAnswer, ...]:
    """Every such answer of assessors, then of adjudicators, unless the same person gave the answer again."""
    return tuple(
        WithdrawnAnswer(
            line.record.query_id,
            line.record.doc_id,
            TABLES[role].person_of(line.record),
            role,
            line.record.pair_key.occasion,
            answer.record.grade,
            answer.record.cannot_judge,
            line.counts,
            without_ids(line.why),
            line.latest.recorded_at,
        )
        for role in TABLES
        for line in lines_withdrawn(session, role)
        if (answer := line.answer) is not None
    )


def lines_withdrawn(
    session: Session, role: Role, *, person: str | None = None, payload: bool = False
) -> Iterator[AnnotationHistory[Any]]:
    """Histories of these answers; of several by one person to a question, the one that counts, else the last."""
    revisions = TABLES[role]
    # Nothing is withdrawn without an objection on record, and most queries have none.
    lines = revisions.lines(session, person=person, payload=payload, flagged=True)
    answers = (line for line in lines if line.answer is not None)
    by_question = grouped(((line.record.pair_key, revisions.person_of(line.record)), line) for line in answers)
    for several in by_question.values():
        counting = [line for line in several if line.counts]
        given_up = [line for line in several if not line.why.startswith(SUPERSEDED)]
        last = next(reversed(counting or given_up), None)
        if last is not None and last.why and not last.kept:
            yield last


def tasks_to_withdraw(sent: Mapping[str, Collection[PairKey]], outcome: Outcome) -> int:
    """Number of unanswered tasks on the server for people who no longer have the pairs.

    sent: the questions that each person was sent, without hidden gold.
    """
    if not any(sent.values()):
        return 0
    held = {(planned.assessor, planned.pair_key) for planned in outcome.assignments} | outcome.answered
    held |= {(returned.assessor, returned.pair_key) for returned in outcome.returned}
    if outcome.withdrawn:
        held = {row for row in held if row[1].doc_id not in outcome.withdrawn or row in outcome.answered}
    return sum((name, question) not in held for name, tasks in sent.items() for question in tasks)
