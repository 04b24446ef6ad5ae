"""Answers of a round that never counts, brought in: every answer and every change of it, none ever taken away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlmodel import Session

from annot.base.records import Advance
from annot.judging.exchange.collecting import Found, Haul
from annot.judging.exchange.recording import Collected, Pulled, Taken, pull_round, sourced_judgement
from annot.judging.trial_answers import current_answers
from annot.store import trials
from annot.store.database import Store
from annot.store.projects import Round, read_hidden
from annot.study.workspace import Workspace

SourceOf = Callable[[Session, Haul], Callable[[Found], str]]
"""Under which source each answer of a project is kept."""


def pull_answers(
    ws: Workspace, store: Store, round: Round, *, hint: str, advance: Advance, source_of: SourceOf | None = None
) -> Pulled:
    """Bring in the answers of a round. An answer that is gone from the server stays on record and still counts."""

    def take(haul: Haul) -> Taken:
        recorded_at = datetime.now(UTC).isoformat(timespec="seconds")
        with store.begin() as session:
            source = (lambda _: round) if source_of is None else source_of(session, haul)
            recorded = trials.record_answers(
                session,
                [sourced_judgement(found, haul.project, source=source(found)) for found in haul.found],
                recorded_at=recorded_at,
            )
            assigned = len(trials.read_assignments(session, round, haul.project.assessor))
            counting = [
                answer
                for answer in current_answers(session, round)
                if answer.counts and answer.assessor == haul.project.assessor
            ]
        flagged = sum(bool(found.reading.flags) for found in haul.found)
        answers = (len(counting), recorded.added, recorded.revised, flagged)
        row = Collected(haul.project.assessor, assigned, *answers, lost=0)
        return Taken(row, [*haul.notes, *haul.flagged("answer")])

    return pull_round(ws, store, take, round=round, hint=hint, advance=advance)


def without_hidden_gold(session: Session, haul: Haul) -> Haul:
    """The judging project without the answers to hidden gold, which are recorded where they do not count."""
    hidden = set(read_hidden(session).get(haul.project.assessor, ()))
    answers = [found for found in haul.found if found.asked.pair in hidden]
    sourced = [sourced_judgement(found, haul.project, source="hidden-gold") for found in answers]
    trials.record_answers(session, sourced, recorded_at=datetime.now(UTC).isoformat(timespec="seconds"))
    return haul._replace(found=tuple(found for found in haul.found if found.asked.pair not in hidden))
