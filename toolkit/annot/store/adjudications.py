"""What the adjudicators decided, what their tasks showed them, and the pairs that may have fewer judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import true
from sqlmodel import Session

from annot.base.records import Adjudication, Asked, Judgement
from annot.store.judging_models import ACCEPTED_TABLE, ADJUDICATION_TABLE, SHOWN_OPINIONS_TABLE
from annot.store.judging_models import ShownOpinion as ShownOpinion
from annot.store.judging_models import ShownOpinions as ShownOpinions
from annot.store.models import insert_records, insert_rows, read_records
from annot.store.revisions import Revisions, Sourced

SourcedAdjudication = Sourced[Adjudication]

ADJUDICATIONS = Revisions(ADJUDICATION_TABLE, Adjudication)
"""Their table."""
record_adjudications = ADJUDICATIONS.record
read_sourced = ADJUDICATIONS.read
read_current = ADJUDICATIONS.current
read_history = ADJUDICATIONS.history


def read_adjudications(session: Session) -> tuple[Adjudication, ...]:
    """As `read_current`, without where they come from."""
    return tuple(one.record for one in read_current(session))


def note_opinions(
    session: Session, adjudicator: str, shown: Mapping[Asked, Iterable[Judgement]], *, sent_at: str
) -> None:
    """Note down what these tasks show, where it is not what they showed before."""
    rows = SHOWN_OPINIONS_TABLE
    last = {(one.query_id, one.doc_id): one.opinions for one in _read(session, rows.c.adjudicator == adjudicator)}
    new = []
    for asked, judgements in shown.items():
        opinions = tuple((one.assessor, one.grade, one.cannot_judge, one.comment) for one in judgements)
        if last.get(asked.pair) != opinions:
            new.append(ShownOpinions(*asked.pair, adjudicator, sent_at, opinions))
    insert_records(session, SHOWN_OPINIONS_TABLE, new)


def read_opinions(session: Session, query_id: str, doc_id: str) -> tuple[ShownOpinions, ...]:
    """What was shown of one pair, the oldest first."""
    rows = SHOWN_OPINIONS_TABLE
    return _read(session, (rows.c.query_id == query_id) & (rows.c.doc_id == doc_id))


def last_opinions(session: Session) -> dict[tuple[str, tuple[str, str]], tuple[ShownOpinion, ...]]:
    """What each task shows, by adjudicator and pair."""
    return {(one.adjudicator, (one.query_id, one.doc_id)): one.opinions for one in _read(session, true())}


def shown_at(shown: Iterable[ShownOpinions], adjudicator: str, moment: str | None) -> ShownOpinions | None:
    """What an adjudicator's task showed at a moment; before all of them, and without a moment, the first."""
    mine = [one for one in shown if one.adjudicator == adjudicator]
    if moment is not None:
        at = datetime.fromisoformat(moment)
        mine = [one for one in mine if datetime.fromisoformat(one.sent_at) <= at][-1:] or mine
    return next(iter(mine), None)


def _read(session: Session, wanted: object) -> tuple[ShownOpinions, ...]:
    found = read_records(session, SHOWN_OPINIONS_TABLE, ShownOpinions, wanted)  # type: ignore[arg-type]
    plain = (one._replace(opinions=tuple((*opinion,) for opinion in one.opinions)) for one in found)
    return tuple(sorted(plain, key=lambda one: one.sent_at))


def accept(session: Session, pairs: Iterable[tuple[str, str]], *, why: str, accepted_at: str) -> None:
    """Note down these pairs, which are not on record yet, with the reason."""
    insert_rows(
        session,
        ACCEPTED_TABLE,
        (
            {"query_id": query_id, "doc_id": doc_id, "why": why, "accepted_at": accepted_at}
            for query_id, doc_id in pairs
        ),
    )


def read_accepted(session: Session) -> dict[tuple[str, str], str]:
    """The reason for each such pair."""
    rows = ACCEPTED_TABLE
    found = session.connection().execute(rows.select().order_by(rows.c.query_id, rows.c.doc_id))
    return {(row.query_id, row.doc_id): row.why for row in found}
