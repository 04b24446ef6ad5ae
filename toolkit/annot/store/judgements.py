"""Judgements by revision, pairs put before their assessors again, and the lead's rulings on corrected texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from sqlalchemy import func, select
from sqlmodel import Session

from annot.base.records import Judgement, PairReturn
from annot.store import models
from annot.store.revisions import Revisions, SourcedAnswer
from annot.store.shown import SHOWN_VERSION_TABLE

# ----------------------------------------------------------------------------------------------------------------------
# The lead's decisions on answered pairs with a corrected text: judged as they were sent, or once more.
# ----------------------------------------------------------------------------------------------------------------------


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


TEXT_RULING_TABLE = models.define_table(
    "text_ruling",
    models.columns_of(TextRuling, key=["query_id", "doc_id", "text_id", "ruled_at"]),
    models.to(query_id="query.query_id"),
    models.check("ruling", "ruling IN ('stays', 'again')"),
    models.check("why", "why <> ''"),
)


def add_rulings(session: Session, rulings: Iterable[TextRuling]) -> None:
    """Record these decisions; earlier ones stay on record."""
    models.insert_records(session, TEXT_RULING_TABLE, rulings)


def read_rulings(session: Session) -> tuple[TextRuling, ...]:
    """All decisions, the oldest first."""
    return models.read_in_order(session, TEXT_RULING_TABLE, TextRuling, ["ruled_at", "query_id", "doc_id", "text_id"])


# ----------------------------------------------------------------------------------------------------------------------
# Judgements of the assessors, revision by revision, and the pairs that were returned to them.
# ----------------------------------------------------------------------------------------------------------------------


SourcedJudgement = SourcedAnswer[Judgement]

JUDGEMENTS = Revisions(models.JUDGEMENT_TABLE, Judgement)
"""Revisions of the judgements."""
record_judgements = JUDGEMENTS.record
read_sourced = JUDGEMENTS.read
read_current = JUDGEMENTS.current
read_history = JUDGEMENTS.history
read_judgements = JUDGEMENTS.records


def is_judged(session: Session) -> bool:
    """True if any judgement is on record, one that counts or not."""
    return session.connection().execute(select(models.JUDGEMENT_TABLE.c.id).limit(1)).first() is not None


def count_corrected_texts(session: Session) -> int:
    """Number of texts that were corrected after the study had them; if 0, all answers are on the current texts."""
    rows = SHOWN_VERSION_TABLE.c
    corrected = select(func.count(rows.subject.distinct())).where(rows.part == "text", rows.why.is_not(None))
    return session.connection().execute(corrected).scalar_one()


def has_texts_on_record(session: Session) -> bool:
    """True if the text of any paper is on record: from the first push on."""
    rows = SHOWN_VERSION_TABLE.c
    return session.connection().execute(select(rows.subject).where(rows.part == "text").limit(1)).first() is not None


def add_returned(session: Session, returned: PairReturn) -> None:
    """Record a pair that is returned. Raises InputError for an unknown query or assessor."""
    models.check_known(session, models.QUERY_TABLE, [returned.query_id], what="returned")
    models.check_known(session, models.ASSESSOR_TABLE, [returned.assessor], what="returned")
    models.insert_records(session, models.RETURNED_TABLE, [returned])


def withdraw_returned(session: Session, returned: PairReturn, *, withdrawn_at: str, contested: bool = False) -> None:
    """Record that this return was taken back. contested: the pair goes to an adjudicator."""
    rows = models.RETURNED_TABLE
    of_pair = [rows.c[name] == getattr(returned, name) for name in ("query_id", "doc_id", "assessor", "occasion")]
    session.connection().execute(rows.update().where(*of_pair).values(withdrawn_at=withdrawn_at, contested=contested))


def read_returned(session: Session) -> tuple[PairReturn, ...]:
    """Returned pairs, including those that were taken back, by pair, assessor and occasion."""
    return models.read_in_order(
        session, models.RETURNED_TABLE, PairReturn, ["query_id", "doc_id", "assessor", "occasion"]
    )


def sources_of_judgements(session: Session) -> set[str]:
    """Sources of the judgements on record."""
    return set(session.connection().execute(select(models.JUDGEMENT_TABLE.c.source).distinct()).scalars())
