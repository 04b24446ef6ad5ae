"""The pairs that were put before their assessors again. A row stays; taking one back is written into it."""

from __future__ import annotations

from operator import attrgetter

from sqlmodel import Session

from annot.base.records import Returned
from annot.store.base import table
from annot.store.judging_models import AssessorRow, ReturnedRow
from annot.store.models import QueryRow
from annot.store.rows import check_known, insert_records, read_records


def add_returned(session: Session, returned: Returned) -> None:
    """Note down a pair that goes back. Raises InputError for an unknown query or assessor."""
    check_known(session, QueryRow, [returned.query_id], what="returned")
    check_known(session, AssessorRow, [returned.assessor], what="returned")
    insert_records(session, ReturnedRow, [returned])


def withdraw_returned(session: Session, returned: Returned, *, withdrawn_at: str, contested: bool = False) -> None:
    """Note down that this one was taken back. contested: the pair goes to an adjudicator."""
    rows = table(ReturnedRow)
    mine = [rows.c[name] == getattr(returned, name) for name in ("query_id", "doc_id", "assessor", "occasion")]
    session.connection().execute(rows.update().where(*mine).values(withdrawn_at=withdrawn_at, contested=contested))


def read_returned(session: Session) -> tuple[Returned, ...]:
    """Every one, those that were taken back included, by pair, assessor and occasion."""
    found = read_records(session, ReturnedRow, Returned)
    return tuple(sorted(found, key=attrgetter("query_id", "doc_id", "assessor", "occasion")))
