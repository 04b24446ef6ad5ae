"""The lead's decisions on answered pairs of which a text was corrected: judged as they were sent, or once more."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from sqlmodel import Session

from annot.store.models import insert_records, read_records
from annot.store.shown import TEXT_RULING_TABLE
from annot.store.shown import Ruling as Ruling
from annot.store.shown import TextRuling as TextRuling


def add_rulings(session: Session, rulings: Iterable[TextRuling]) -> None:
    """Note down these decisions; earlier ones stay on record."""
    insert_records(session, TEXT_RULING_TABLE, rulings)


def read_rulings(session: Session) -> tuple[TextRuling, ...]:
    """All decisions, the oldest first."""
    order = attrgetter("ruled_at", "query_id", "doc_id", "text_id")
    return tuple(sorted(read_records(session, TEXT_RULING_TABLE, TextRuling), key=order))
