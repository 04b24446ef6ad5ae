"""What the adjudicators decided, revision by revision, with what they were shown and the payload as it was pulled."""

from __future__ import annotations

from sqlmodel import Session

from annot.records import Adjudication
from annot.store.models import AdjudicationRow
from annot.store.revisions import Revisions, Sourced

SourcedAdjudication = Sourced[Adjudication]

_REVISIONS = Revisions(AdjudicationRow, Adjudication)
record_adjudications = _REVISIONS.record
record_vanished = _REVISIONS.record_vanished
read_sourced = _REVISIONS.read
read_history = _REVISIONS.history


def read_adjudications(session: Session) -> tuple[Adjudication, ...]:
    """As `read_sourced`, without where they come from."""
    return tuple(one.record for one in read_sourced(session, payload=False))
