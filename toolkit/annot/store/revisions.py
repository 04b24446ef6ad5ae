"""Append-only tables: chains of hashes over their rows, and the revisions of one answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, func, null, select
from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import OLDER, SUPERSEDED, Adjudication, Judgement, Source
from annot.store import models
from annot.store.facet_labels import count_by_origin
from annot.store.shown import SHOWN_CONTENT_TABLE, SHOWN_VERSION_TABLE, hash_of_text

# ----------------------------------------------------------------------------------------------------------------------
# Hashes of the record: the chain over each append-only table, its contents, and each part of a study.
#
# Each row of an append-only table is hashed with the one before it, so that a lost one is seen; the last link is in a
# table of its own. A person who edits the database by hand can make the whole chain again; omissions by mistake, or
# by a tool that does not know the chain, are found.
# ----------------------------------------------------------------------------------------------------------------------


RECORDS = {"judgement": Judgement, "adjudication": Adjudication, "trial_judgement": Judgement}
"""Records whose revisions the append-only tables hold."""
BESIDE_RECORD = ("source", "server", "annotation", "payload")
"""Columns that are hashed with the fields of the record."""
LINKED = ("content_sha256", "revision", "account", "changed_at", "ruling", "shown_sha256", "recorded_at")
"""Columns of a link, besides the link before: the hash of the content, and the columns that it leaves out."""


def append_revisions(session: Session, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert the rows after the existing ones."""
    connection, name = session.connection(), table.name
    length, last = _end(connection, name)
    chained = []
    for row in rows:
        last = _link(last, row)
        chained.append({**row, "chain_sha256": last})
    models.insert_rows(session, table, chained)
    if chained:
        connection.execute(models.CHAIN_TABLE.delete().where(models.CHAIN_TABLE.c.name == name))
        connection.execute(
            models.CHAIN_TABLE.insert().values(name=name, length=length + len(chained), last_sha256=last)
        )


def unsound_revisions(connection: Connection) -> Iterator[str]:
    """Faults of the append-only tables: contents without their hash, and rows that are missing."""
    for name, record in RECORDS.items():
        rows, line = models.TABLES.tables[name], models.LINE[name]
        content = [*(field for field in models.field_names(record) if field != "revision"), *BESIDE_RECORD]
        previous, length = "", 0
        revisions: dict[tuple[Any, ...], int] = {}
        in_order = select(rows).order_by(rows.c.id).execution_options(yield_per=1_000)
        for row in map(dict, connection.execute(in_order).mappings()):
            place = f"{name} {row['id']} ({row['query_id']} {row['doc_id']}, revision {row['revision']})"
            if row["content_sha256"] not in _hashes({field: row[field] for field in content}):
                yield f"{place}: its content has changed since it was recorded"
            key = tuple(row[column] for column in line)
            if row["revision"] != (expected := revisions.get(key, 0) + 1):
                yield f"{place}: expected revision {expected}"
            if row["chain_sha256"] != _link(previous, row):
                yield f"{place}: it has changed, or the row before it was changed or removed"
            revisions[key] = row["revision"]
            previous, length = row["chain_sha256"], length + 1
        recorded, last = _end(connection, name)
        if length != recorded:
            yield f"{name}: found {length} rows, {recorded} were recorded"
        elif previous != last:
            yield f"{name}: its last row is not the last one that was recorded"


def grades_off_scale(connection: Connection, grades: Collection[int]) -> Iterator[str]:
    """Rows of any table with grades that the scale does not have."""
    for table in models.TABLES.sorted_tables:
        if "grade" in table.c:
            wrong = select(table).where(table.c.grade.is_not(None), table.c.grade.not_in(grades))
            for row in connection.execute(wrong.order_by(*table.primary_key.columns)).mappings():
                key = " ".join(str(row[column.name]) for column in table.primary_key.columns)
                yield f"{table.name} {key}: grade {row['grade']}, expected one of {', '.join(map(str, grades))}"


def changed_contents(session: Session) -> Iterator[str]:
    """Faults of the contents on record, in words: those without their hash, and those that are missing."""
    connection, rows = session.connection(), SHOWN_VERSION_TABLE.c
    versions = {row.sha256: row for row in connection.execute(select(rows.sha256, rows.part, rows.subject, rows.since))}
    bodies = select(SHOWN_CONTENT_TABLE.c.sha256, SHOWN_CONTENT_TABLE.c.body).execution_options(yield_per=1_000)
    hashes_found = set()
    for sha256, body in connection.execute(bodies):
        hashes_found.add(sha256)
        if hash_of_text(body) != sha256:
            yield f"{_named(versions.get(sha256), sha256)}: the stored content has changed"
    shown_by = (
        models.JUDGEMENT_TABLE,
        models.ADJUDICATION_TABLE,
        models.TRIAL_JUDGEMENT_TABLE,
        models.OPINION_CALL_TABLE,
    )
    displays = [table.c.shown_sha256 for table in shown_by]
    shown = {sha256 for column in displays for sha256 in connection.execute(select(column).distinct()).scalars()}
    for sha256 in sorted((versions.keys() | shown) - hashes_found - {None}):
        yield f"{_named(versions.get(sha256), sha256)}: the stored content is missing"


def _named(version_row: Any, sha256: str) -> str:
    """Description of a content by its version."""
    if version_row is None:
        return f"what a task or a prompt showed ({sha256[:12]})"
    part, subject = version_row.part, version_row.subject
    named = {"scale": "the names of the grades", "guidelines": f"the guidelines of {subject}"}
    return f"{named.get(part, f'{part} {subject}')} sent on {version_row.since[:10]}"


def _link(previous: str, row: Mapping[str, Any]) -> str:
    linked = json.dumps([previous, *(row[name] for name in LINKED)])
    return hashlib.sha256(linked.encode("ascii")).hexdigest()


def _end(connection: Connection, name: str) -> tuple[int, str]:
    """Number of rows recorded, and the last link."""
    ends = models.CHAIN_TABLE
    row = connection.execute(select(ends.c.length, ends.c.last_sha256).where(ends.c.name == name)).first()
    return (0, "") if row is None else (row[0], row[1])


def _hashes(content: dict[str, Any]) -> Iterator[str]:
    """The hash of the content in every way in which it may have been recorded."""
    yield hash_of(content)
    seconds = content["lead_time"]
    if seconds is not None and seconds == int(seconds):
        # Whole seconds may have been recorded as such; the database has one kind of number there.
        yield hash_of({**content, "lead_time": int(seconds)})


PARTS = {
    "queries": ("query", "topic"),
    "pools": ("pool", "pool_addition"),
    "people": ("assessor",),
    "planned": ("plan", "returned", "sample"),
    "judged": ("accepted",),
    "hidden": ("trial_assignment",),
    "trials": ("trial", "gold"),
    "shown": ("shown_version",),
    "runs": ("run",),
    "splits": ("split",),
    "imports": ("imported",),
}
"""The tables of each part of a study."""
CHAINS = {"judged": ("judgement", "adjudication"), "trials": ("trial_judgement",)}
"""Append-only tables; the last link of each represents all rows."""


def read_states(session: Session) -> dict[str, str]:
    """A hash of each part; accounts are in none."""
    ends = {
        row.name: [row.length, row.last_sha256] for row in session.connection().execute(models.CHAIN_TABLE.select())
    }
    hashes = {
        part: state([*(_rows(session, name) for name in names), [ends.get(name) for name in CHAINS.get(part, ())]])
        for part, names in PARTS.items()
    }
    corrected = models.FACET_LABELS_TABLE.c
    statement = select(corrected.paper_id, corrected.labels).where(corrected.origin == Source.CORRECTED)
    rows = sorted(map(tuple, session.connection().execute(statement)))
    answers = models.OPINION_CALL_TABLE.c
    keys = answers.name, answers.state
    counts = select(*keys, func.count(), func.max(answers.sent_at)).group_by(*keys).order_by(*keys)
    opinions = [*_rows(session, "opinion"), *map(list, session.connection().execute(counts))]
    # Only corrections: first versions follow from what is sent.
    versions = [row for row in _rows(session, "shown_version") if row[0] == "text" and row[4] is not None]
    texts = [*versions, *_rows(session, "text_ruling")]
    labels = [sorted(count_by_origin(session).items()), rows]
    return hashes | {"texts": state(texts), "labels": state(labels), "opinions": state(opinions)}


def written_mark(session: Session) -> str:
    """A mark that changes with every row that is written or deleted in a PostgreSQL database; empty on SQLite."""
    connection = session.connection()
    if connection.dialect.name != "postgresql":
        return ""
    # xmin is the transaction that wrote the row: no content is read, so this costs a few milliseconds.
    rows = (
        f"SELECT '{table.name}', count(*), coalesce(sum(xmin::text::bigint), 0) FROM \"{table.name}\""
        for table in models.TABLES.sorted_tables
    )
    return state([[str(value) for value in row] for row in connection.exec_driver_sql(" UNION ALL ".join(rows))])


def state(value: Any) -> str:
    """The hash of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _rows(session: Session, name: str) -> list[list[Any]]:
    rows = models.TABLES.tables[name]
    columns = [column for column in rows.c if column.name != "account"]
    rows_found = session.connection().execute(select(*columns).order_by(*rows.primary_key.columns))
    return [list(row) for row in rows_found]


def hash_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of a content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()


# ----------------------------------------------------------------------------------------------------------------------
# Revisions of judgements and adjudications: a change is a new row, and readers get the current row of each line.
#
# A revision belongs to a line: source, server, pair, person, for judgements the occasion, and annotation. The same
# person's other annotation of the pair is a line of its own.
#
# A missing or spoilt answer never replaces an answer. The current revision is the latest that counts, that a later
# answer of the same person superseded, or that the lead withdrew; of a line without any of these, the latest.
# ----------------------------------------------------------------------------------------------------------------------


R = TypeVar("R", Judgement, Adjudication)

WITHDRAWN, RESTORED = "withdrawn", "restored"
"""Rulings of the lead on an answer; such a revision comes from the lead alone."""
GONE = "gone from the server"
"""Beginning of the flag of a revision that records that an annotation was not found; the reason follows."""

BESIDE_CONTENT = ("account", "changed_at", "ruling", "shown_sha256", "recorded_at")
"""Columns that make no new revision when they alone differ, and are not hashed."""


class SourcedAnswer(NamedTuple, Generic[R]):
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
class AnnotationHistory(Generic[R]):
    """Result of the revisions of one annotation, which come the oldest first."""

    current: SourcedAnswer[R]
    """Revision that readers get."""
    latest: SourcedAnswer[R]
    answer: SourcedAnswer[R] | None = None
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

    def add(self, revision: SourcedAnswer[R], sha256: str) -> None:
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


def _decides(revision: SourcedAnswer[R]) -> bool:
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
        self._line = models.LINE[self._rows.name]
        self._person = "assessor" if "assessor" in self._line else "adjudicator"
        self._fields = models.field_names(record)
        names = [f"record.{name}" if name in self._fields else name for name in self._line]
        self._key: Callable[[SourcedAnswer[R]], tuple[Any, ...]] = attrgetter(*names)
        """The values of the columns that make the line of a revision."""

    def record(self, session: Session, revisions: Iterable[SourcedAnswer[R]], *, recorded_at: str) -> RecordedCount:
        """Append new revisions: one for each record whose content or payload differs from the last one read.

        An answer that is not current and comes again is a revision, too. One that was last changed before the current
        answer is flagged as older, and does not replace it. The revision number in the record is ignored; the store
        counts. Raises InputError for an unknown query or person and for a grade outside 0..9, and then writes nothing.
        """
        everything = list(revisions)
        table_name = f"{self._rows.name}s"
        query_ids = {revision.record.query_id for revision in everything}
        models.check_known(session, models.QUERY_TABLE, query_ids, what=table_name)
        names = {self.person_of(revision.record) for revision in everything}
        models.check_known(session, models.ASSESSOR_TABLE, names, what=table_name)
        self._check_grades(everything, table_name)
        lines: dict[tuple[Any, ...], AnnotationHistory[R]] = {}
        for chunk in models.in_chunks(query_ids):
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
                if not comes_back:
                    continue
            number = 1 if line is None else line.latest.record.revision + 1
            revision = revision._replace(record=replace(revision.record, revision=number), recorded_at=recorded_at)
            if line is None:
                added += 1
                line = lines[self._key(incoming)] = AnnotationHistory(revision, revision)
            line.add(revision, sha256)
            details = {name: getattr(revision, name) for name in BESIDE_CONTENT}
            new.append({**content, **details, "revision": number, "content_sha256": sha256})
        append_revisions(session, self._rows, new)
        return RecordedCount(added, len(new) - added, len(everything) - len(new))

    def record_gone(
        self, session: Session, missing: Iterable[tuple[SourcedAnswer[R], str]], *, recorded_at: str
    ) -> RecordedCount:
        """Append to these lines a revision without an answer, with the reason why it was not found; an answer still
        counts.

        missing: the current revision of the line, and the reason.
        """
        silent = [self._silent(current, f"{GONE}: {why}", ruling=None) for current, why in missing]
        return self.record(session, silent, recorded_at=recorded_at)

    def withdraw(self, session: Session, lost: Iterable[tuple[SourcedAnswer[R], str]], *, recorded_at: str) -> int:
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

    def restore(self, session: Session, answers: Iterable[SourcedAnswer[R]], *, recorded_at: str) -> int:
        """Append these answers once more, as the lead's word that they count; returns how many there were."""
        again = [answer._replace(ruling=RESTORED) for answer in answers]
        return self.record(session, again, recorded_at=recorded_at).revised

    def lines(
        self, session: Session, *, server: str | None = None, person: str | None = None, payload: bool = False
    ) -> tuple[AnnotationHistory[R], ...]:
        """Histories of all annotations, or of one server or person, in the order of `read`."""
        filters = {"server": server, self._person: person}
        where = [self._rows.c[name] == value for name, value in filters.items() if value is not None]
        return tuple(sorted(self._read_lines(session, *where, payload=payload).values(), key=self._place))

    def current(self, session: Session) -> tuple[SourcedAnswer[R], ...]:
        """Current revisions as `read` returns them, without payload: reading that takes most of the time."""
        return tuple(line.current for line in self.lines(session))

    def records(self, session: Session) -> tuple[R, ...]:
        """Records of the current revisions, without their origins."""
        return tuple(line.record for line in self.lines(session))

    def read(self, session: Session) -> tuple[SourcedAnswer[R], ...]:
        """The current revision of each line, flagged ones included.

        By query, document, person and occasion; a person's several annotations of a pair from the one that was changed
        first to the one that was changed last. Two servers number theirs each for itself, so time comes first, and then
        the ids, which are numbers written as text: the ninth comes before the tenth.
        """
        return tuple(line.current for line in self.lines(session, payload=True))

    def history(self, session: Session, query_id: str, doc_id: str) -> tuple[SourcedAnswer[R], ...]:
        """Every revision of every line of one pair, in the order recorded."""
        columns = self._rows.c
        of_pair = columns.query_id == query_id, columns.doc_id == doc_id
        return tuple(revision for revision, _ in self._revisions(session, *of_pair, payload=True))

    def answers(self, session: Session) -> Iterator[SourcedAnswer[R]]:
        """Every revision that was an answer, in the order recorded, without payload."""
        return (revision for revision, _ in self._revisions(session, payload=False) if revision.record.counts)

    def person_of(self, record: R) -> str:
        """Name of the person whose record it is."""
        return str(getattr(record, self._person))

    def _read_lines(
        self, session: Session, *conditions: ColumnElement[bool], payload: bool = False
    ) -> dict[tuple[Any, ...], AnnotationHistory[R]]:
        lines: dict[tuple[Any, ...], AnnotationHistory[R]] = {}
        for revision, sha256 in self._revisions(session, *conditions, payload=payload):
            lines.setdefault(self._key(revision), AnnotationHistory(revision, revision)).add(revision, sha256)
        return lines

    def _revisions(
        self, session: Session, *conditions: ColumnElement[bool], payload: bool
    ) -> Iterator[tuple[SourcedAnswer[R], str]]:
        """The revisions and the hashes of their contents, in the order recorded."""
        columns = {column.name: column for column in self._rows.c} | ({} if payload else {"payload": null()})
        selected = (columns[name] for name in (*self._fields, *SourcedAnswer._fields[1:], "content_sha256"))
        n = len(self._fields)
        for row in session.connection().execute(select(*selected).where(*conditions).order_by(self._rows.c.id)):
            yield SourcedAnswer(self._record(*row[:n]), *row[n:-1]), row[-1]

    def _place(self, line: AnnotationHistory[R]) -> tuple[Any, ...]:
        current = line.current
        key: list[Any] = [getattr(current.record, name) for name in self._line if name in self._fields]
        answer = line.answer or current
        changed_at = answer.changed_at or answer.record.judged_at or ""
        return *key, current.source, changed_at, len(current.annotation), current.annotation

    def _against(self, revision: SourcedAnswer[R], line: AnnotationHistory[R] | None) -> SourcedAnswer[R]:
        """The revision, flagged if the server fell back behind the answer on record."""
        answered_at = None if line is None or not line.counts else line.current.changed_at
        answers = revision.ruling is None and revision.record.counts
        if answers and answered_at is not None and (revision.changed_at or answered_at) < answered_at:
            return revision._replace(record=replace(revision.record, flags=(OLDER,)))
        return revision

    def _content(self, revision: SourcedAnswer[R]) -> dict[str, Any]:
        """Values of the row, without those that the store adds."""
        values = {name: getattr(revision.record, name) for name in self._fields if name != "revision"}
        values |= {name: getattr(revision, name) for name in BESIDE_RECORD}
        return {name: _storable(value) for name, value in values.items()}

    def _silent(self, current: SourcedAnswer[R], flag: str, *, ruling: str | None) -> SourcedAnswer[R]:
        """A revision of the same line without an answer, with a flag that gives the reason."""
        answer_fields = ("grade", "cannot_judge", "reason", "comment", "judged_at", "lead_time")
        nothing: dict[str, Any] = {name: None for name in answer_fields if name in self._fields}
        record = replace(current.record, **nothing, flags=(flag,))
        return SourcedAnswer(record, current.source, current.annotation, None, server=current.server, ruling=ruling)

    def _check_grades(self, revisions: Iterable[SourcedAnswer[R]], what: str) -> None:
        records = [revision.record for revision in revisions]
        faults = [
            f"{record.query_id} {record.doc_id} {self.person_of(record)}: grade {record.grade!r}, "
            f"expected 0 to {models.HIGHEST_GRADE}"
            for record in records
            if record.grade is not None and not 0 <= record.grade <= models.HIGHEST_GRADE
        ]
        if faults:
            raise InputError(f"{what}: {counted(len(faults), 'grade')} outside every scale", faults=faults)


def _storable(value: Any) -> Any:
    """Text as both databases can hold it: no NUL, no half of a surrogate pair. The payload keeps them, escaped."""
    if isinstance(value, str):
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
    return value
