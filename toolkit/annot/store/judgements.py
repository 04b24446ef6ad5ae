"""What the assessors said, revision by revision, with the payload as it was pulled."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import Session

from annot.base.records import Judgement
from annot.store.base import table
from annot.store.judging_models import JudgementRow
from annot.store.revisions import Revisions, Sourced

SourcedJudgement = Sourced[Judgement]

JUDGEMENTS = Revisions(JudgementRow, Judgement)
"""Their table."""
record_judgements = JUDGEMENTS.record
read_sourced = JUDGEMENTS.read
read_history = JUDGEMENTS.history


def read_judgements(session: Session) -> tuple[Judgement, ...]:
    """As `read_sourced`, without where they come from."""
    return tuple(one.record for one in read_sourced(session, payload=False))


def is_judged(session: Session) -> bool:
    """Whether any judgement is on record, one that counts or not."""
    return session.connection().execute(select(table(JudgementRow).c.id).limit(1)).first() is not None
