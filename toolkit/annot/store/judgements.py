"""What the assessors said, revision by revision, with the payload as it was pulled."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from sqlalchemy import Row, select
from sqlmodel import Session

from annot.records import Judgement
from annot.store.models import JudgementRow, table
from annot.store.revisions import DELETED, Pair, Recorded, append, latest, vanished

_RECORD = (
    "query_id",
    "doc_id",
    "assessor",
    "grade",
    "revision",
    "cannot_judge",
    "comment",
    "judged_at",
    "lead_time",
    "flags",
)
_ORIGIN = ("source", "annotation", "payload", "recorded_at")


class SourcedJudgement(NamedTuple):
    """A judgement and where it comes from."""

    judgement: Judgement
    source: str
    """`label-studio`, `import` or another name of where it was read."""
    annotation: str
    """The server's id of the annotation; empty where the source has none."""
    payload: Any
    """What was read, as JSON, unchanged."""
    recorded_at: str | None = None
    """ISO 8601, UTC; set by the store."""


def record_judgements(session: Session, judgements: Iterable[SourcedJudgement], *, recorded_at: str) -> Recorded:
    """Append what is new: a revision for each judgement whose content or payload differs from what stands.

    The revision number in the record is not looked at; the store counts. Raises InputError for an unknown query or
    assessor and for a grade outside 0..9, and then writes nothing.
    """
    contents = [
        {
            "source": one.source,
            "query_id": one.judgement.query_id,
            "doc_id": one.judgement.doc_id,
            "assessor": one.judgement.assessor,
            "annotation": one.annotation,
            "grade": one.judgement.grade,
            "cannot_judge": one.judgement.cannot_judge,
            "comment": one.judgement.comment,
            "judged_at": one.judgement.judged_at,
            "lead_time": one.judgement.lead_time,
            "flags": list(one.judgement.flags),
            "payload": one.payload,
        }
        for one in judgements
    ]
    return append(session, JudgementRow, contents, recorded_at=recorded_at)


def record_vanished(
    session: Session,
    *,
    source: str,
    assessor: str,
    seen: Collection[str],
    recorded_at: str,
    pairs: Collection[Pair] | None = None,
) -> int:
    """Append a tombstone for each annotation of this assessor that stands but was not `seen` (ids as text).

    The tombstone has no grade and the flag `deleted on the server`. pairs: where was looked; None for everywhere.
    Returns how many there were. An annotation that is seen again later becomes a further revision.
    """
    gone = vanished(session, JudgementRow, source=source, person=assessor, seen=set(seen), pairs=pairs)
    tombstones = [
        SourcedJudgement(
            Judgement(row["query_id"], row["doc_id"], assessor, None, flags=(DELETED,)), source, row["annotation"], None
        )
        for row in gone
    ]
    return record_judgements(session, tombstones, recorded_at=recorded_at).revised


def read_judgements(session: Session, *, source: str | None = None) -> tuple[Judgement, ...]:
    """The latest revision of each judgement, of one source or of all, flagged ones included.

    By query, document and assessor; an assessor's several annotations of a pair in the order of their ids.
    """
    return tuple(one.judgement for one in _read(session, source=source, with_payload=False))


def read_sourced(session: Session, *, source: str | None = None) -> tuple[SourcedJudgement, ...]:
    """As `read_judgements`, with source, annotation and payload."""
    return tuple(_read(session, source=source, with_payload=True))


def read_history(session: Session, query_id: str, doc_id: str) -> tuple[SourcedJudgement, ...]:
    """Every revision of every judgement of one pair, in the order recorded."""
    rows = table(JudgementRow)
    statement = select(*(rows.c[name] for name in (*_RECORD, *_ORIGIN)))
    statement = statement.where(rows.c.query_id == query_id, rows.c.doc_id == doc_id).order_by(rows.c.id)
    return tuple(_sourced(row) for row in session.connection().execute(statement))


def _read(session: Session, *, source: str | None, with_payload: bool) -> list[SourcedJudgement]:
    rows = table(JudgementRow)
    columns = (*_RECORD, *_ORIGIN) if with_payload else (*_RECORD, "source", "annotation")
    statement = latest(rows, *columns)
    if source is not None:
        statement = statement.where(rows.c.source == source)
    found = (_sourced(row) for row in session.connection().execute(statement))
    return sorted(found, key=_place)


def _sourced(row: Row[Any]) -> SourcedJudgement:
    values = row._mapping
    judgement = Judgement(**{name: values[name] for name in _RECORD if name != "flags"}, flags=tuple(values["flags"]))
    return SourcedJudgement(
        judgement, values["source"], values["annotation"], values.get("payload"), values.get("recorded_at")
    )


def _place(one: SourcedJudgement) -> tuple[str, str, str, str, int, str]:
    judgement = one.judgement
    # The server's ids are numbers written as text: the ninth comes before the tenth.
    return judgement.query_id, judgement.doc_id, judgement.assessor, one.source, len(one.annotation), one.annotation
