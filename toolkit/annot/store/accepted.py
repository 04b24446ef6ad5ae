"""The pairs whose final grade may rest on fewer judgements than were planned, by the lead's word."""

from __future__ import annotations

from collections.abc import Iterable

from sqlmodel import Session

from annot.store.base import table
from annot.store.judging_models import AcceptedRow
from annot.store.rows import insert_rows


def accept(session: Session, pairs: Iterable[tuple[str, str]], *, why: str, accepted_at: str) -> None:
    """Note down these pairs, which are not on record yet, with the reason."""
    insert_rows(
        session,
        AcceptedRow,
        (
            {"query_id": query_id, "doc_id": doc_id, "why": why, "accepted_at": accepted_at}
            for query_id, doc_id in pairs
        ),
    )


def read_accepted(session: Session) -> dict[tuple[str, str], str]:
    """The reason for each such pair."""
    rows = table(AcceptedRow)
    found = session.connection().execute(rows.select().order_by(rows.c.query_id, rows.c.doc_id))
    return {(row.query_id, row.doc_id): row.why for row in found}
