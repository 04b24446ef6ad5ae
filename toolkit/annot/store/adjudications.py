"""Adjudications, the opinions that their tasks showed, and the pairs that may have fewer judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter

from sqlalchemy import ColumnElement, true
from sqlmodel import Session

from annot.base.records import Adjudication, Judgement, PairKey
from annot.store import models
from annot.store.models import ShownOpinion as ShownOpinion
from annot.store.models import ShownOpinions as ShownOpinions
from annot.store.revisions import Revisions, SourcedAnswer

SourcedAdjudication = SourcedAnswer[Adjudication]

ADJUDICATIONS = Revisions(models.ADJUDICATION_TABLE, Adjudication)
"""Revisions of the adjudications."""
record_adjudications = ADJUDICATIONS.record
read_sourced = ADJUDICATIONS.read
read_current = ADJUDICATIONS.current
read_history = ADJUDICATIONS.history
read_adjudications = ADJUDICATIONS.records


def note_opinions(
    session: Session, adjudicator: str, shown: Mapping[PairKey, Iterable[Judgement]], *, sent_at: str
) -> None:
    """Record the opinions that these tasks show, if they differ from those on record."""
    rows = models.SHOWN_OPINIONS_TABLE
    last = {(row.query_id, row.doc_id): row.opinions for row in _read(session, rows.c.adjudicator == adjudicator)}
    new = []
    for key, judgements in shown.items():
        opinions = tuple(map(attrgetter("assessor", "grade", "cannot_judge", "comment"), judgements))
        if last.get(key.pair) != opinions:
            new.append(ShownOpinions(*key.pair, adjudicator, sent_at, opinions))
    models.insert_records(session, models.SHOWN_OPINIONS_TABLE, new)


def read_opinions(session: Session, query_id: str, doc_id: str) -> tuple[ShownOpinions, ...]:
    """Opinions shown for one pair, the oldest first."""
    rows = models.SHOWN_OPINIONS_TABLE
    return _read(session, (rows.c.query_id == query_id) & (rows.c.doc_id == doc_id))


def last_opinions(session: Session) -> dict[tuple[str, tuple[str, str]], tuple[ShownOpinion, ...]]:
    """Opinions that each task shows, by adjudicator and pair."""
    return {(shown.adjudicator, (shown.query_id, shown.doc_id)): shown.opinions for shown in _read(session, true())}


def shown_at(shown: Iterable[ShownOpinions], adjudicator: str, moment: str | None) -> ShownOpinions | None:
    """Opinions that an adjudicator's task showed at a moment; the first ones before that, or without a moment."""
    versions = [version for version in shown if version.adjudicator == adjudicator]
    if moment is not None:
        time = datetime.fromisoformat(moment)
        versions = [version for version in versions if datetime.fromisoformat(version.sent_at) <= time][-1:] or versions
    return next(iter(versions), None)


def _read(session: Session, condition: ColumnElement[bool]) -> tuple[ShownOpinions, ...]:
    return models.read_in_order(session, models.SHOWN_OPINIONS_TABLE, ShownOpinions, ["sent_at"], condition)


def accept(session: Session, pairs: Iterable[tuple[str, str]], *, why: str, accepted_at: str) -> None:
    """Record these pairs, which are not on record yet, with the reason."""
    models.insert_rows(
        session,
        models.ACCEPTED_TABLE,
        (
            {"query_id": query_id, "doc_id": doc_id, "why": why, "accepted_at": accepted_at}
            for query_id, doc_id in pairs
        ),
    )


def read_accepted(session: Session) -> dict[tuple[str, str], str]:
    """The reason for each such pair."""
    rows = models.ACCEPTED_TABLE
    rows_found = session.connection().execute(rows.select().order_by(rows.c.query_id, rows.c.doc_id))
    return {(row.query_id, row.doc_id): row.why for row in rows_found}
