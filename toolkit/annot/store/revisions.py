"""Revisions of judgements and adjudications: a change is a new row, and readers get the current row of each line.

A revision belongs to a line: source, server, pair, person, for judgements the occasion, and annotation. The same
person's other annotation of the pair is a line of its own.

A missing or spoilt answer never replaces an answer. The current revision is the latest that counts, that a later answer
of the same person superseded, or that the lead withdrew; of a line without any of these, the latest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Table, null, select
from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import OLDER, SUPERSEDED, Adjudication, Judgement, Source
from annot.store.hashes import BESIDE_RECORD, append_revisions, hash_of
from annot.store.judging_models import ASSESSOR_TABLE
from annot.store.models import HIGHEST_GRADE, LINE, QUERY_TABLE, check_known, field_names, in_chunks

R = TypeVar("R", Judgement, Adjudication)

WITHDRAWN, RESTORED = "withdrawn", "restored"
"""Rulings of the lead on an answer; such a revision comes from the lead alone."""
GONE = "gone from the server"
"""Beginning of the flag of a revision that records that an annotation was not found; the reason follows."""

BESIDE_CONTENT = ("account", "changed_at", "ruling", "shown_sha256", "recorded_at")
"""Columns that make no new revision when they alone differ, and are not hashed."""


class Sourced(NamedTuple, Generic[R]):
    """A judgement or an adjudication with its origin."""

    record: R
    source: str
    """Name of the source: `label-studio`, `import` or another."""
    annotation: str
    """The server's id of the annotation, as text; empty if the source has none."""
    payload: Mapping[str, Any] | None
    """The JSON object that was read, unchanged; None if nothing was."""
    recorded_at: str | None = None
    """ISO 8601, UTC; set by the store."""
    server: str = ""
    """Identity of the server; empty if the source has none."""
    account: int | None = None
    """The server's id of the account that it came from; None if the source has none, and in older records."""
    changed_at: str | None = None
    """Time of the last change, as the server writes it; None as above."""
    ruling: str | None = None
    """Ruling of the lead, `withdrawn` or `restored`; None if the revision was read."""
    shown_sha256: str | None = None
    """Hash of the display that its task had when it was last changed; None if that is not known."""


@dataclass(slots=True)
class Line(Generic[R]):
    """Result of the revisions of one annotation, which come the oldest first."""

    current: Sourced[R]
    """Revision that readers get."""
    latest: Sourced[R]
    answer: Sourced[R] | None = None
    """The last revision that was an answer, current or not."""
    kept: bool = False
    """True if the lead ruled that the answer counts although it is missing from the server."""
    read_sha256: str | None = None
    """Hash of the latest revision that was read, not ruled by the lead."""

    @property
    def record(self) -> R:
        """The record that readers get."""
        return self.current.record

    @property
    def counts(self) -> bool:
        """True if the current revision is an answer."""
        return self.record.counts

    @property
    def why(self) -> str:
        """Objections of the latest revision to the answer; empty if that is the answer itself."""
        return "; ".join(self.latest.record.flags)

    def add(self, revision: Sourced[R], sha256: str) -> None:
        """One revision more."""
        flags = revision.record.flags
        if _decides(revision) or not _decides(self.current):
            self.current = revision
        if revision.record.counts:
            self.answer = revision
        if revision.ruling is not None or not flags:
            self.kept = revision.ruling == RESTORED
        if revision.ruling is None:
            self.read_sha256 = sha256
        self.latest = revision


def _decides(revision: Sourced[R]) -> bool:
    """True if it may replace an answer."""
    flags = revision.record.flags
    return not flags or revision.ruling == WITHDRAWN or flags[0].startswith(SUPERSEDED)


class RecordedCount(NamedTuple):
    """Result of a recording: rows of new annotations, new revisions of known ones, and unchanged ones."""

    added: int
    revised: int
    unchanged: int


class Revisions(Generic[R]):
    """An append-only table, whose rows are revisions of records."""

    def __init__(self, rows: Table, record: type[R]) -> None:
        self._record: type[R] = record
        self._rows = rows
        self._line = LINE[self._rows.name]
        self._person = "assessor" if "assessor" in self._line else "adjudicator"
        self._fields = field_names(record)
        names = [f"record.{name}" if name in self._fields else name for name in self._line]
        self._key: Callable[[Sourced[R]], tuple[Any, ...]] = attrgetter(*names)
        """The values of the columns that make the line of a revision."""

    def record(self, session: Session, revisions: Iterable[Sourced[R]], *, recorded_at: str) -> RecordedCount:
        """Append new revisions: one for each record whose content or payload differs from the last one read.

        An answer that is not current and comes again is a revision, too. One that was last changed before the current
        answer is flagged as older, and does not replace it. The revision number in the record is ignored; the store
        counts. Raises InputError for an unknown query or person and for a grade outside 0..9, and then writes nothing.
        """
        everything = list(revisions)
        table_name = f"{self._rows.name}s"
        query_ids = {revision.record.query_id for revision in everything}
        check_known(session, QUERY_TABLE, query_ids, what=table_name)
        names = {self.person_of(revision.record) for revision in everything}
        check_known(session, ASSESSOR_TABLE, names, what=table_name)
        self._check_grades(everything, table_name)
        lines: dict[tuple[Any, ...], Line[R]] = {}
        for chunk in in_chunks(query_ids):
            of_persons = self._rows.c[self._person].in_(names)
            lines |= self._read_lines(session, self._rows.c.query_id.in_(chunk), of_persons)
        new: list[dict[str, Any]] = []
        added = 0
        for incoming in everything:
            line = lines.get(self._key(incoming))
            revision = self._against(incoming, line)
            content = self._content(revision)
            sha256 = hash_of(content)
            if line is not None and revision.ruling is None and line.read_sha256 == sha256:
                comes_back = revision.record.counts and not line.counts
                # Imports of earlier versions did not record when an answer was changed, by which answers are ordered.
                is_dated = revision.source == Source.FILE and revision.changed_at and not line.latest.changed_at
                if not (comes_back or is_dated):
                    continue
            number = 1 if line is None else line.latest.record.revision + 1
            revision = revision._replace(record=replace(revision.record, revision=number), recorded_at=recorded_at)
            if line is None:
                added += 1
                line = lines[self._key(incoming)] = Line(revision, revision)
            line.add(revision, sha256)
            details = {name: getattr(revision, name) for name in BESIDE_CONTENT}
            new.append({**content, **details, "revision": number, "content_sha256": sha256})
        append_revisions(session, self._rows, new)
        return RecordedCount(added, len(new) - added, len(everything) - len(new))

    def record_gone(
        self, session: Session, missing: Iterable[tuple[Sourced[R], str]], *, recorded_at: str
    ) -> RecordedCount:
        """Append to these lines a revision without an answer, with the reason why it was not found; an answer still
        counts.

        missing: the current revision of the line, and the reason.
        """
        silent = [self._silent(current, f"{GONE}: {why}", ruling=None) for current, why in missing]
        return self.record(session, silent, recorded_at=recorded_at)

    def withdraw(self, session: Session, lost: Iterable[tuple[Sourced[R], str]], *, recorded_at: str) -> int:
        """Append to these lines the lead's ruling that their answer no longer counts; returns their number.

        lost: the current answer, and the reason. A line with another answer by now stays unchanged.
        """
        answers = list(lost)
        lines = self._read_lines(
            session, self._rows.c.query_id.in_({current.record.query_id for current, _ in answers})
        )
        still = [
            self._silent(current, f"{WITHDRAWN}: {why}", ruling=WITHDRAWN)
            for current, why in answers
            if lines[self._key(current)].current.record.revision == current.record.revision
        ]
        return self.record(session, still, recorded_at=recorded_at).revised

    def restore(self, session: Session, answers: Iterable[Sourced[R]], *, recorded_at: str) -> int:
        """Append these answers once more, as the lead's word that they count; returns how many there were."""
        again = [answer._replace(ruling=RESTORED) for answer in answers]
        return self.record(session, again, recorded_at=recorded_at).revised

    def lines(
        self, session: Session, *, server: str | None = None, person: str | None = None, payload: bool = False
    ) -> tuple[Line[R], ...]:
        """Every line, or those of a server or a person, in the order of `read`."""
        filters = {"server": server, self._person: person}
        where = [self._rows.c[name] == value for name, value in filters.items() if value is not None]
        return tuple(sorted(self._read_lines(session, *where, payload=payload).values(), key=self._place))

    def current(self, session: Session) -> tuple[Sourced[R], ...]:
        """Current revisions as `read` returns them, without payload: reading that takes most of the time."""
        return tuple(line.current for line in self.lines(session))

    def read(self, session: Session) -> tuple[Sourced[R], ...]:
        """The current revision of each line, flagged ones included.

        By query, document, person and occasion; a person's several annotations of a pair from the one that was changed
        first to the one that was changed last. Two servers number theirs each for itself, so time comes first, and then
        the ids, which are numbers written as text: the ninth comes before the tenth.
        """
        return tuple(line.current for line in self.lines(session, payload=True))

    def history(self, session: Session, query_id: str, doc_id: str) -> tuple[Sourced[R], ...]:
        """Every revision of every line of one pair, in the order recorded."""
        columns = self._rows.c
        of_pair = columns.query_id == query_id, columns.doc_id == doc_id
        return tuple(revision for revision, _ in self._revisions(session, *of_pair, payload=True))

    def answers(self, session: Session) -> Iterator[Sourced[R]]:
        """Every revision that was an answer, in the order recorded, without payload."""
        return (revision for revision, _ in self._revisions(session, payload=False) if revision.record.counts)

    def person_of(self, record: R) -> str:
        """Name of the person whose record it is."""
        return str(getattr(record, self._person))

    def _read_lines(
        self, session: Session, *conditions: ColumnElement[bool], payload: bool = False
    ) -> dict[tuple[Any, ...], Line[R]]:
        lines: dict[tuple[Any, ...], Line[R]] = {}
        for revision, sha256 in self._revisions(session, *conditions, payload=payload):
            lines.setdefault(self._key(revision), Line(revision, revision)).add(revision, sha256)
        return lines

    def _revisions(
        self, session: Session, *conditions: ColumnElement[bool], payload: bool
    ) -> Iterator[tuple[Sourced[R], str]]:
        """The revisions and the hashes of their contents, in the order recorded."""
        columns = {column.name: column for column in self._rows.c} | ({} if payload else {"payload": null()})
        selected = (columns[name] for name in (*self._fields, *Sourced._fields[1:], "content_sha256"))
        n = len(self._fields)
        for row in session.connection().execute(select(*selected).where(*conditions).order_by(self._rows.c.id)):
            yield Sourced(self._record(*row[:n]), *row[n:-1]), row[-1]

    def _place(self, line: Line[R]) -> tuple[Any, ...]:
        current = line.current
        key: list[Any] = [getattr(current.record, name) for name in self._line if name in self._fields]
        answer = line.answer or current
        changed_at = answer.changed_at or answer.record.judged_at or ""
        return *key, current.source, changed_at, len(current.annotation), current.annotation

    def _against(self, revision: Sourced[R], line: Line[R] | None) -> Sourced[R]:
        """The revision, flagged if the server fell back behind the answer on record."""
        answered_at = None if line is None or not line.counts else line.current.changed_at
        answers = revision.ruling is None and revision.record.counts
        if answers and answered_at is not None and (revision.changed_at or answered_at) < answered_at:
            return revision._replace(record=replace(revision.record, flags=(OLDER,)))
        return revision

    def _content(self, revision: Sourced[R]) -> dict[str, Any]:
        """Values of the row, without those that the store adds."""
        values = {name: getattr(revision.record, name) for name in self._fields if name != "revision"}
        values |= {name: getattr(revision, name) for name in BESIDE_RECORD}
        return {name: _storable(value) for name, value in values.items()}

    def _silent(self, current: Sourced[R], flag: str, *, ruling: str | None) -> Sourced[R]:
        """A revision of the same line without an answer, with a flag that gives the reason."""
        answer_fields = ("grade", "cannot_judge", "reason", "comment", "judged_at", "lead_time")
        nothing: dict[str, Any] = {name: None for name in answer_fields if name in self._fields}
        record = replace(current.record, **nothing, flags=(flag,))
        return Sourced(record, current.source, current.annotation, None, server=current.server, ruling=ruling)

    def _check_grades(self, revisions: Iterable[Sourced[R]], what: str) -> None:
        records = [revision.record for revision in revisions]
        faults = [
            f"{record.query_id} {record.doc_id} {self.person_of(record)}: grade {record.grade!r}, "
            f"expected 0 to {HIGHEST_GRADE}"
            for record in records
            if record.grade is not None and not 0 <= record.grade <= HIGHEST_GRADE
        ]
        if faults:
            raise InputError(f"{what}: {counted(len(faults), 'grade')} outside every scale", faults=faults)


def _storable(value: Any) -> Any:
    """Text as both databases can hold it: no NUL, no half of a surrogate pair. The payload keeps them, escaped."""
    if isinstance(value, str):
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
    return value
