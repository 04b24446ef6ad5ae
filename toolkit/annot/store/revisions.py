"""What judgements and adjudications share: a changed one is a new row, and readers get the latest row of each.

A revision belongs to a line: source, server, pair, person, for judgements the occasion, and annotation. The same
person's other annotation of the pair is a line of its own. `annotation` is the server's id of it as text; that and
`server` are empty where the source has none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Result, Select, Table, exists, select
from sqlmodel import Session, SQLModel

from annot.errors import InputError
from annot.store.models import HIGHEST_GRADE, LINE, table
from annot.store.people import check_assessors_known
from annot.store.rows import check_queries_known, in_chunks, insert_rows

ORIGIN = ("source", "server", "annotation", "payload", "recorded_at")
DELETED = "deleted on the server"
"""The flag of the revision that says an annotation is no longer on the server."""


class Recorded(NamedTuple):
    """What a recording did: rows of new annotations, new revisions of known ones, and those that stand already."""

    added: int
    revised: int
    unchanged: int


def key_columns(rows: Table) -> tuple[str, ...]:
    """The columns that a line of revisions belongs to, in the order of the constraint."""
    return LINE[rows.name]


def person_column(rows: Table) -> str:
    """The column that says whose it is."""
    return "assessor" if "assessor" in rows.c else "adjudicator"


def latest(rows: Table, *columns: str) -> Select[Any]:
    """Select the columns of the latest revision of each line."""
    newer = rows.alias()
    same = [newer.c[name] == rows.c[name] for name in key_columns(rows)]
    return select(*(rows.c[name] for name in columns)).where(~exists().where(*same, newer.c.revision > rows.c.revision))


def content(record: Any, fields: Sequence[str], origin: Any) -> dict[str, Any]:
    """The row of a record and of where it comes from; its revision is the store's to count."""
    values = {name: getattr(record, name) for name in fields if name != "revision"}
    values |= {name: getattr(origin, name) for name in ORIGIN if name != "recorded_at"}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def current(session: Session, model: type[SQLModel], columns: Sequence[str], *, source: str | None) -> Result[Any]:
    """The latest revision of each line, of one source or of all; in no order."""
    rows = table(model)
    statement = latest(rows, *columns)
    return session.connection().execute(statement if source is None else statement.where(rows.c.source == source))


def history(session: Session, model: type[SQLModel], columns: Sequence[str], query_id: str, doc_id: str) -> Result[Any]:
    """Every revision of one pair, in the order recorded."""
    rows = table(model)
    statement = select(*(rows.c[name] for name in columns)).order_by(rows.c.id)
    return session.connection().execute(statement.where(rows.c.query_id == query_id, rows.c.doc_id == doc_id))


def age(judged_at: str | None, annotation: str) -> tuple[str, int, str]:
    """In the order of this an annotation is older than another.

    Two servers number theirs each for itself, so time comes first. The ids are numbers written as text: the ninth comes
    before the tenth.
    """
    return judged_at or "", len(annotation), annotation


def append(
    session: Session, model: type[SQLModel], contents: Sequence[Mapping[str, Any]], *, recorded_at: str
) -> Recorded:
    """Append a revision for each content that differs from what stands.

    contents: rows without `id`, `revision`, `content_sha256` and `recorded_at`.

    Raises InputError, and writes nothing, for an unknown query or person and for a grade outside 0..9.
    """
    rows = table(model)
    key = key_columns(rows)
    what = f"{rows.name}s"
    check_queries_known(session, {content["query_id"] for content in contents}, what=what)
    check_assessors_known(session, {content[person_column(rows)] for content in contents}, what=what)
    _check_grades(contents, person_column(rows), what)
    standing = _standing(session, rows, {content["query_id"] for content in contents})
    new: list[dict[str, Any]] = []
    added = unchanged = 0
    for content in contents:
        line = tuple(content[name] for name in key)
        stored = {name: _storable(value) for name, value in content.items()}
        sha256 = _sha256(stored)
        revision, before = standing.get(line, (0, None))
        if before == sha256:
            unchanged += 1
            continue
        added += revision == 0
        standing[line] = revision + 1, sha256
        new.append({**stored, "revision": revision + 1, "content_sha256": sha256, "recorded_at": recorded_at})
    insert_rows(session, model, new)
    return Recorded(added, len(new) - added, unchanged)


def vanished(
    session: Session,
    model: type[SQLModel],
    *,
    source: str,
    server: str,
    person: str,
    seen: Collection[str],
) -> list[dict[str, Any]]:
    """One server's annotations that stand, are not `seen` (ids as text), and are not known as deleted yet."""
    rows = table(model)
    statement = latest(rows, *(column.name for column in rows.c))
    statement = statement.where(rows.c.source == source, rows.c.server == server, rows.c[person_column(rows)] == person)
    found = session.connection().execute(statement).mappings()
    return [dict(row) for row in found if row["annotation"] not in seen and DELETED not in row["flags"]]


def _standing(session: Session, rows: Table, query_ids: Iterable[str]) -> dict[tuple[Any, ...], tuple[int, str | None]]:
    key = key_columns(rows)
    statement = latest(rows, *key, "revision", "content_sha256")
    standing: dict[tuple[Any, ...], tuple[int, str | None]] = {}
    for chunk in in_chunks(query_ids):
        for row in session.connection().execute(statement.where(rows.c.query_id.in_(chunk))):
            standing[tuple(row[:-2])] = row[-2], row[-1]
    return standing


def _check_grades(contents: Sequence[Mapping[str, Any]], person: str, what: str) -> None:
    faults = [
        f"{content['query_id']} {content['doc_id']} {content[person]}: grade {content['grade']!r}, "
        f"expected 0 to {HIGHEST_GRADE}"
        for content in contents
        if content["grade"] is not None and not 0 <= content["grade"] <= HIGHEST_GRADE
    ]
    if faults:
        raise InputError(f"{what}: {len(faults)} grade(s) outside every scale", faults=faults)


def _storable(value: Any) -> Any:
    """Text as both databases can hold it: no NUL, no half of a surrogate pair. The payload keeps them, escaped."""
    if isinstance(value, str):
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
    return value


def _sha256(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
