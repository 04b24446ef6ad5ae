"""What the adjudicators decided, revision by revision, with what they were shown and the payload as it was pulled."""

from __future__ import annotations

from sqlmodel import Session

from annot.base.records import Adjudication
from annot.store.judging_models import AdjudicationRow
from annot.store.revisions import Revisions, Sourced

SourcedAdjudication = Sourced[Adjudication]

ADJUDICATIONS = Revisions(AdjudicationRow, Adjudication)
"""Their table."""
record_adjudications = ADJUDICATIONS.record
read_sourced = ADJUDICATIONS.read
read_history = ADJUDICATIONS.history


def read_adjudications(session: Session) -> tuple[Adjudication, ...]:
    """As `read_sourced`, without where they come from."""
    return tuple(one.record for one in read_sourced(session, payload=False))
