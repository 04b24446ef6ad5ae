"""The lead's decisions on answered pairs with a corrected text: judged as they were sent, or once more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from sqlmodel import Session

from annot.store.models import check, columns_of, insert_records, made, read_in_order, to

Ruling = Literal["stays", "again"]


class TextRuling(NamedTuple):
    """The lead's decision on an answered pair with a corrected topic or document."""

    query_id: str
    doc_id: str
    text_id: str
    """The topic or the paper."""
    sha256: str
    """SHA-256 of the corrected text."""
    ruling: Ruling
    """`stays`: judged as it was sent; `again`: judged once more on the corrected text."""
    why: str
    ruled_at: str
    """ISO 8601, UTC."""


TEXT_RULING_TABLE = made(
    "text_ruling",
    columns_of(TextRuling, key=["query_id", "doc_id", "text_id", "ruled_at"]),
    to(query_id="query.query_id"),
    check("ruling", "ruling IN ('stays', 'again')"),
    check("why", "why <> ''"),
)


def add_rulings(session: Session, rulings: Iterable[TextRuling]) -> None:
    """Record these decisions; earlier ones stay on record."""
    insert_records(session, TEXT_RULING_TABLE, rulings)


def read_rulings(session: Session) -> tuple[TextRuling, ...]:
    """All decisions, the oldest first."""
    return read_in_order(session, TEXT_RULING_TABLE, TextRuling, ["ruled_at", "query_id", "doc_id", "text_id"])
