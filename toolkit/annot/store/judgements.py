"""What the assessors said, revision by revision, with the payload as it was pulled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from sqlalchemy import Row
from sqlmodel import Session

from annot.records import Judgement
from annot.store.models import JudgementRow
from annot.store.revisions import DELETED, ORIGIN, Recorded, age, append, content, current, history, vanished

_RECORD = tuple(field.name for field in fields(Judgement))


class SourcedJudgement(NamedTuple):
    """A judgement and where it comes from."""

    judgement: Judgement
    source: str
    """`label-studio`, `import` or another name of where it was read."""
    annotation: str
    """The server's id of the annotation; empty where the source has none."""
    payload: Mapping[str, Any] | None
    """The JSON object that was read, unchanged; None where nothing was."""
    recorded_at: str | None = None
    """ISO 8601, UTC; set by the store."""
    server: str = ""
    """What tells the server from others; empty where the source has none."""


def record_judgements(session: Session, judgements: Iterable[SourcedJudgement], *, recorded_at: str) -> Recorded:
    """Append what is new: a revision for each judgement whose content or payload differs from what stands.

    The revision number in the record is not looked at; the store counts. Raises InputError for an unknown query or
    assessor and for a grade outside 0..9, and then writes nothing.
    """
    contents = [content(judgement.judgement, _RECORD, judgement) for judgement in judgements]
    return append(session, JudgementRow, contents, recorded_at=recorded_at)


def record_vanished(
    session: Session,
    *,
    source: str,
    server: str,
    assessor: str,
    seen: Collection[str],
    recorded_at: str,
) -> int:
    """Append a tombstone for each annotation of this assessor on this server that stands but was not `seen`.

    seen: ids as text. The tombstone has no grade and the flag `deleted on the server`. What another server holds is not
    touched. Returns how many there were. An annotation that is seen again later becomes a further revision.
    """
    gone = vanished(session, JudgementRow, source=source, server=server, person=assessor, seen=set(seen))
    tombstones = [
        SourcedJudgement(
            Judgement(row["query_id"], row["doc_id"], assessor, None, flags=(DELETED,), occasion=row["occasion"]),
            source,
            row["annotation"],
            None,
            server=server,
        )
        for row in gone
    ]
    return record_judgements(session, tombstones, recorded_at=recorded_at).revised


def read_judgements(session: Session, *, source: str | None = None) -> tuple[Judgement, ...]:
    """The latest revision of each judgement, of one source or of all, flagged ones included.

    By query, document, assessor and occasion; an assessor's several annotations of a pair from the oldest on.
    """
    return tuple(one.judgement for one in _read(session, source=source, with_payload=False))


def read_sourced(session: Session, *, source: str | None = None) -> tuple[SourcedJudgement, ...]:
    """As `read_judgements`, with source, annotation and payload."""
    return tuple(_read(session, source=source, with_payload=True))


def read_history(session: Session, query_id: str, doc_id: str) -> tuple[SourcedJudgement, ...]:
    """Every revision of every judgement of one pair, in the order recorded."""
    return tuple(map(_sourced, history(session, JudgementRow, (*_RECORD, *ORIGIN), query_id, doc_id)))


def _read(session: Session, *, source: str | None, with_payload: bool) -> list[SourcedJudgement]:
    columns = (*_RECORD, *ORIGIN) if with_payload else (*_RECORD, "source", "server", "annotation")
    return sorted(map(_sourced, current(session, JudgementRow, columns, source=source)), key=_place)


def _sourced(row: Row[Any]) -> SourcedJudgement:
    values = row._mapping
    judgement = Judgement(**{name: values[name] for name in _RECORD if name != "flags"}, flags=tuple(values["flags"]))
    return SourcedJudgement(
        judgement,
        values["source"],
        values["annotation"],
        values.get("payload"),
        values.get("recorded_at"),
        values["server"],
    )


def _place(one: SourcedJudgement) -> tuple[object, ...]:
    judgement = one.judgement
    return (
        judgement.query_id,
        judgement.doc_id,
        judgement.assessor,
        judgement.occasion,
        one.source,
        *age(judgement.judged_at, one.annotation),
    )
