"""What adjudicators' tasks showed of the assessors' answers, from which moment on. Only added to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import true
from sqlmodel import Session

from annot.base.records import Asked, Judgement
from annot.store.base import table
from annot.store.judging_models import ShownOpinionsRow
from annot.store.rows import insert_records, read_records

Opinion = tuple[str, int | None, str | None, str | None]
"""Assessor, grade, why they could not judge, comment."""


class ShownOpinions(NamedTuple):
    """What one adjudicator's task showed from `sent_at` (ISO 8601, UTC) on, in the order shown."""

    query_id: str
    doc_id: str
    adjudicator: str
    sent_at: str
    opinions: tuple[Opinion, ...]


def note_opinions(
    session: Session, adjudicator: str, shown: Mapping[Asked, Iterable[Judgement]], *, sent_at: str
) -> None:
    """Note down what these tasks show, where it is not what they showed before."""
    rows = table(ShownOpinionsRow)
    last = {(one.query_id, one.doc_id): one.opinions for one in _read(session, rows.c.adjudicator == adjudicator)}
    new = []
    for asked, judgements in shown.items():
        opinions = tuple((one.assessor, one.grade, one.cannot_judge, one.comment) for one in judgements)
        if last.get(asked.pair) != opinions:
            new.append(ShownOpinions(*asked.pair, adjudicator, sent_at, opinions))
    insert_records(session, ShownOpinionsRow, new)


def read_opinions(session: Session, query_id: str, doc_id: str) -> tuple[ShownOpinions, ...]:
    """What was shown of one pair, the oldest first."""
    rows = table(ShownOpinionsRow)
    return _read(session, (rows.c.query_id == query_id) & (rows.c.doc_id == doc_id))


def last_opinions(session: Session) -> dict[tuple[str, tuple[str, str]], tuple[Opinion, ...]]:
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
    found = read_records(session, ShownOpinionsRow, ShownOpinions, wanted)  # type: ignore[arg-type]
    plain = (one._replace(opinions=tuple((*opinion,) for opinion in one.opinions)) for one in found)
    return tuple(sorted(plain, key=lambda one: one.sent_at))
