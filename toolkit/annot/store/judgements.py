"""Judgements of the assessors, revision by revision, and the pairs that were returned to them."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlmodel import Session

from annot.base.records import Judgement, Returned
from annot.store.judging_models import ASSESSOR_TABLE, JUDGEMENT_TABLE, RETURNED_TABLE
from annot.store.models import QUERY_TABLE, check_known, insert_records, read_in_order
from annot.store.revisions import Revisions, Sourced
from annot.store.shown import SHOWN_VERSION_TABLE

SourcedJudgement = Sourced[Judgement]

JUDGEMENTS = Revisions(JUDGEMENT_TABLE, Judgement)
"""Revisions of the judgements."""
record_judgements = JUDGEMENTS.record
read_sourced = JUDGEMENTS.read
read_current = JUDGEMENTS.current
read_history = JUDGEMENTS.history


def read_judgements(session: Session) -> tuple[Judgement, ...]:
    """Judgements as `read_current` returns them, without their origins."""
    return tuple(sourced.record for sourced in read_current(session))


def is_judged(session: Session) -> bool:
    """True if any judgement is on record, one that counts or not."""
    return session.connection().execute(select(JUDGEMENT_TABLE.c.id).limit(1)).first() is not None


def count_corrected_texts(session: Session) -> int:
    """Number of texts that were corrected after the study had them; if 0, all answers are on the current texts."""
    rows = SHOWN_VERSION_TABLE.c
    corrected = select(func.count(rows.subject.distinct())).where(rows.part == "text", rows.why.is_not(None))
    return session.connection().execute(corrected).scalar_one()


def has_texts_on_record(session: Session) -> bool:
    """True if the text of any paper is on record: from the first push on."""
    rows = SHOWN_VERSION_TABLE.c
    return session.connection().execute(select(rows.subject).where(rows.part == "text").limit(1)).first() is not None


def add_returned(session: Session, returned: Returned) -> None:
    """Record a pair that is returned. Raises InputError for an unknown query or assessor."""
    check_known(session, QUERY_TABLE, [returned.query_id], what="returned")
    check_known(session, ASSESSOR_TABLE, [returned.assessor], what="returned")
    insert_records(session, RETURNED_TABLE, [returned])


def withdraw_returned(session: Session, returned: Returned, *, withdrawn_at: str, contested: bool = False) -> None:
    """Record that this return was taken back. contested: the pair goes to an adjudicator."""
    rows = RETURNED_TABLE
    of_pair = [rows.c[name] == getattr(returned, name) for name in ("query_id", "doc_id", "assessor", "occasion")]
    session.connection().execute(rows.update().where(*of_pair).values(withdrawn_at=withdrawn_at, contested=contested))


def read_returned(session: Session) -> tuple[Returned, ...]:
    """Every one, those that were taken back included, by pair, assessor and occasion."""
    return read_in_order(session, RETURNED_TABLE, Returned, ["query_id", "doc_id", "assessor", "occasion"])


def sources_of_judgements(session: Session) -> set[str]:
    """Sources of the judgements on record."""
    return set(session.connection().execute(select(JUDGEMENT_TABLE.c.source).distinct()).scalars())
