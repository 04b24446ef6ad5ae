"""What the adjudicators decided, revision by revision, with what they were shown and the payload as it was pulled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Row
from sqlmodel import Session

from annot.store.models import AdjudicationRow
from annot.store.revisions import DELETED, ORIGIN, Recorded, age, append, content, current, history, vanished


class Adjudication(NamedTuple):
    """What one adjudicator decided of one pair, in one revision."""

    query_id: str
    doc_id: str
    adjudicator: str
    grade: int | None
    ratings: str
    """The policy in force: were the assessors' grades `shown`, `hidden`, or judged first and revealed then."""
    shown: tuple[str, ...]
    """The assessors in the order in which their grades were shown; empty where none were."""
    revision: int = 1
    """Counted by the store; not looked at when it is recorded."""
    cannot_judge: str | None = None
    reason: str | None = None
    comment: str | None = None
    judged_at: str | None = None
    """ISO 8601, UTC; stays in the database."""
    lead_time: float | None = None
    """Seconds; stays in the database."""
    flags: tuple[str, ...] = ()
    """The reasons for which it does not count; empty means that it counts."""


class SourcedAdjudication(NamedTuple):
    """An adjudication and where it comes from; the fields are those of a sourced judgement."""

    adjudication: Adjudication
    source: str
    annotation: str
    payload: Mapping[str, Any] | None
    recorded_at: str | None = None
    server: str = ""


def record_adjudications(
    session: Session, adjudications: Iterable[SourcedAdjudication], *, recorded_at: str
) -> Recorded:
    """Append what is new: a revision for each adjudication whose content or payload differs from what stands.

    Raises InputError for an unknown query or adjudicator and for a grade outside 0..9, and then writes nothing.
    """
    contents = [
        content(adjudication.adjudication, Adjudication._fields, adjudication) for adjudication in adjudications
    ]
    return append(session, AdjudicationRow, contents, recorded_at=recorded_at)


def record_vanished(
    session: Session,
    *,
    source: str,
    server: str,
    adjudicator: str,
    seen: Collection[str],
    recorded_at: str,
) -> int:
    """Append a tombstone for each annotation of this adjudicator on this server that stands but was not `seen`.

    seen: ids as text. The tombstone keeps what was shown, has no grade, and the flag `deleted on the server`. Returns
    how many there were.
    """
    gone = vanished(session, AdjudicationRow, source=source, server=server, person=adjudicator, seen=set(seen))
    tombstones = [
        SourcedAdjudication(
            Adjudication(
                row["query_id"],
                row["doc_id"],
                adjudicator,
                None,
                row["ratings"],
                tuple(row["shown"]),
                flags=(DELETED,),
            ),
            source,
            row["annotation"],
            None,
            server=server,
        )
        for row in gone
    ]
    return record_adjudications(session, tombstones, recorded_at=recorded_at).revised


def read_adjudications(session: Session, *, source: str | None = None) -> tuple[Adjudication, ...]:
    """The latest revision of each adjudication, of one source or of all, flagged ones included.

    By query, document and adjudicator; several annotations of a pair from the oldest on.
    """
    return tuple(one.adjudication for one in read_sourced(session, source=source))


def read_sourced(session: Session, *, source: str | None = None) -> tuple[SourcedAdjudication, ...]:
    """As `read_adjudications`, with source, annotation and payload."""
    return tuple(sorted(map(_sourced, current(session, AdjudicationRow, _COLUMNS, source=source)), key=_place))


def read_history(session: Session, query_id: str, doc_id: str) -> tuple[SourcedAdjudication, ...]:
    """Every revision of every adjudication of one pair, in the order recorded."""
    return tuple(map(_sourced, history(session, AdjudicationRow, _COLUMNS, query_id, doc_id)))


_COLUMNS = (*Adjudication._fields, *ORIGIN)


def _sourced(row: Row[Any]) -> SourcedAdjudication:
    values = row._mapping
    fields = {name: values[name] for name in Adjudication._fields}
    fields |= {"shown": tuple(values["shown"]), "flags": tuple(values["flags"])}
    return SourcedAdjudication(
        Adjudication(**fields),
        values["source"],
        values["annotation"],
        values["payload"],
        values["recorded_at"],
        values["server"],
    )


def _place(one: SourcedAdjudication) -> tuple[object, ...]:
    settled = one.adjudication
    return settled.query_id, settled.doc_id, settled.adjudicator, one.source, *age(settled.judged_at, one.annotation)
