"""What the assessors said, revision by revision, with the payload as it was pulled."""

from __future__ import annotations

from sqlmodel import Session

from annot.records import Judgement
from annot.store.models import JudgementRow
from annot.store.revisions import Revisions, Sourced

SourcedJudgement = Sourced[Judgement]

_REVISIONS = Revisions(JudgementRow, Judgement)
record_judgements = _REVISIONS.record
record_vanished = _REVISIONS.record_vanished
read_sourced = _REVISIONS.read
read_history = _REVISIONS.history


def read_judgements(session: Session) -> tuple[Judgement, ...]:
    """As `read_sourced`, without where they come from."""
    return tuple(one.record for one in read_sourced(session, payload=False))
