"""What judgements and adjudications share: a changed one is a new row, and readers get the latest row of each.

A revision belongs to a line: source, server, pair, person, for judgements the occasion, and annotation. The same
person's other annotation of the pair is a line of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Select, exists, null, select
from sqlmodel import Session, SQLModel

from annot.errors import InputError
from annot.records import Adjudication, Judgement
from annot.store.models import HIGHEST_GRADE, LINE, AssessorRow, QueryRow, table
from annot.store.rows import check_known, field_names, in_chunks, insert_rows

R = TypeVar("R", Judgement, Adjudication)

DELETED = "deleted on the server"
"""The flag of the revision that says an annotation is no longer on the server."""


class Sourced(NamedTuple, Generic[R]):
    """A judgement or an adjudication, and where it comes from."""

    record: R
    source: str
    """`label-studio`, `import` or another name of where it was read."""
    annotation: str
    """The server's id of the annotation, as text; empty where the source has none."""
    payload: Mapping[str, Any] | None
    """The JSON object that was read, unchanged; None where nothing was."""
    recorded_at: str | None = None
    """ISO 8601, UTC; set by the store."""
    server: str = ""
    """What tells the server from others; empty where the source has none."""


class Recorded(NamedTuple):
    """What a recording did: rows of new annotations, new revisions of known ones, and those that stand already."""

    added: int
    revised: int
    unchanged: int


class Revisions(Generic[R]):
    """One of the append-only tables, whose rows are revisions of records."""

    def __init__(self, model: type[SQLModel], record: type[R]) -> None:
        self._model = model
        self._record: type[R] = record
        self._rows = table(model)
        self._line = LINE[self._rows.name]
        self._person = "assessor" if "assessor" in self._line else "adjudicator"
        self._fields = field_names(record)

    def record(self, session: Session, given: Iterable[Sourced[R]], *, recorded_at: str) -> Recorded:
        """Append what is new: a revision for each record whose content or payload differs from what stands.

        The revision number in the record is not looked at; the store counts. Raises InputError for an unknown query or
        person and for a grade outside 0..9, and then writes nothing.
        """
        contents = [self._content(one) for one in given]
        what = f"{self._rows.name}s"
        query_ids = {content["query_id"] for content in contents}
        check_known(session, QueryRow, query_ids, what=what)
        check_known(session, AssessorRow, {content[self._person] for content in contents}, what=what)
        self._check_grades(contents, what)
        standing = self._standing(session, query_ids)
        new: list[dict[str, Any]] = []
        added = 0
        for content in contents:
            line = tuple(content[name] for name in self._line)
            sha256 = hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
            revision, before = standing.get(line, (0, None))
            if before == sha256:
                continue
            added += revision == 0
            standing[line] = revision + 1, sha256
            new.append({**content, "revision": revision + 1, "content_sha256": sha256, "recorded_at": recorded_at})
        insert_rows(session, self._model, new)
        return Recorded(added, len(new) - added, len(contents) - len(new))

    def record_vanished(
        self, session: Session, *, source: str, server: str, person: str, seen: Collection[str], recorded_at: str
    ) -> int:
        """Append a tombstone for each annotation of this person on this server that stands but was not `seen`.

        seen: ids as text. The tombstone has no answer and the flag `deleted on the server`. What another server holds
        is not touched. Returns how many there were. One that is seen again later becomes a further revision.
        """
        columns = self._rows.c
        mine = columns.source == source, columns.server == server, columns[self._person] == person
        tombstones = [
            one._replace(record=self._tombstone(one.record), payload=None)
            for one in self._latest(session, *mine)
            if one.annotation not in seen and DELETED not in one.record.flags
        ]
        return self.record(session, tombstones, recorded_at=recorded_at).revised

    def read(self, session: Session, *, payload: bool = True) -> tuple[Sourced[R], ...]:
        """The latest revision of each line, flagged ones included.

        By query, document, person and occasion; a person's several annotations of a pair from the oldest on. Two
        servers number theirs each for itself, so time comes first, and then the ids, which are numbers written as text:
        the ninth comes before the tenth. payload: read it too, which takes most of the time.
        """
        key = [name for name in self._line if name in self._fields]

        def place(one: Sourced[R]) -> tuple[Any, ...]:
            own: list[Any] = [getattr(one.record, name) for name in key]
            return *own, one.source, one.record.judged_at or "", len(one.annotation), one.annotation

        return tuple(sorted(self._latest(session, payload=payload), key=place))

    def history(self, session: Session, query_id: str, doc_id: str) -> tuple[Sourced[R], ...]:
        """Every revision of every line of one pair, in the order recorded."""
        columns = self._rows.c
        of_pair = self._select(payload=True).where(columns.query_id == query_id, columns.doc_id == doc_id)
        return tuple(self._sourced(session, of_pair.order_by(columns.id)))

    def _latest(self, session: Session, *wanted: ColumnElement[bool], payload: bool = False) -> Iterator[Sourced[R]]:
        return self._sourced(session, self._select(payload=payload).where(self._is_latest(), *wanted))

    def _select(self, *, payload: bool) -> Select[Any]:
        columns = {column.name: column for column in self._rows.c} | ({} if payload else {"payload": null()})
        return select(*(columns[name] for name in (*self._fields, *Sourced._fields[1:])))

    def _sourced(self, session: Session, statement: Select[Any]) -> Iterator[Sourced[R]]:
        n = len(self._fields)
        for row in session.connection().execute(statement):
            yield Sourced(self._record(*row[:n]), *row[n:])

    def _is_latest(self) -> ColumnElement[bool]:
        newer = self._rows.alias()
        same = [newer.c[name] == self._rows.c[name] for name in self._line]
        return ~exists().where(*same, newer.c.revision > self._rows.c.revision)

    def _standing(self, session: Session, query_ids: Iterable[str]) -> dict[tuple[Any, ...], tuple[int, str]]:
        """By line the number of its latest revision and the hash of what that says."""
        columns = [self._rows.c[name] for name in (*self._line, "revision", "content_sha256")]
        standing: dict[tuple[Any, ...], tuple[int, str]] = {}
        for chunk in in_chunks(query_ids):
            statement = select(*columns).where(self._is_latest(), self._rows.c.query_id.in_(chunk))
            for *line, revision, sha256 in session.connection().execute(statement):
                standing[tuple(line)] = revision, sha256
        return standing

    def _content(self, one: Sourced[R]) -> dict[str, Any]:
        """The row without what the store adds to it."""
        values = {name: getattr(one.record, name) for name in self._fields if name != "revision"}
        values |= {"source": one.source, "server": one.server, "annotation": one.annotation, "payload": one.payload}
        return {name: _storable(value) for name, value in values.items()}

    def _tombstone(self, record: R) -> R:
        said = ("grade", "cannot_judge", "reason", "comment", "judged_at", "lead_time")
        nothing: dict[str, Any] = {name: None for name in said if name in self._fields}
        return replace(record, **nothing, flags=(DELETED,))

    def _check_grades(self, contents: Iterable[Mapping[str, Any]], what: str) -> None:
        faults = [
            f"{content['query_id']} {content['doc_id']} {content[self._person]}: grade {content['grade']!r}, "
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
