"""Answers of people as the study keeps them: every revision of each, and what the lead and the rounds note of them.

A change is a new row, and readers get the current row of each line: source, server, pair, person, for judgements the
occasion, and annotation. The same person's other annotation of the pair is a line of its own. A missing or spoilt
answer never replaces an answer. The current revision is the latest that counts, that a later answer of the same person
superseded, or that the lead withdrew; of a line without any of these, the latest.

Each row is hashed with the one before it, so that a lost one is seen; the last link is in a table of its own. A person
who edits the database by hand can make the whole chain again; omissions by mistake, or by a tool that does not know the
chain, are found.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from itertools import pairwise
from operator import attrgetter, eq
from typing import Any, Generic, Literal, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Connection, Pool, Select, Table, Text, and_, case, cast, func, null, select, true

from annot.base.records import OLDER, SUPERSEDED, Adjudication, Assignment, Judgement, PairKey, PairReturn, grouped
from annot.formats.input_files import ByColumn, json_objects, json_texts
from annot.store import models
from annot.store.before_1 import link_of_guidelines
from annot.store.models import Session, ShownOpinion, ShownOpinions
from annot.store.shown import SHOWN_VERSION_TABLE

# ----------------------------------------------------------------------------------------------------------------------
# Revisions of judgements, adjudications and answers in trials.
# ----------------------------------------------------------------------------------------------------------------------


R = TypeVar("R", Judgement, Adjudication)

WITHDRAWN, RESTORED = "withdrawn", "restored"
"""Rulings of the lead on an answer; such a revision comes from the lead alone."""
GONE = "gone from the server"
"""Beginning of the flag of a revision that records that an annotation was not found; the reason follows."""

ORIGIN = ("source", "server", "annotation", "payload")
"""Columns that are hashed with the fields of the record."""
BESIDE_CONTENT = ("account", "changed_at", "ruling", "shown_sha256", "recorded_at")
"""Columns that make no new revision when they alone differ, and are not hashed with the content."""
LINKED = ("content_sha256", "revision", *BESIDE_CONTENT)
"""Columns of a link in the chain of rows, besides the link before."""


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
        """Add a revision."""
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
        self._columns = tuple(name for name in (*self._fields, *ORIGIN) if name != "revision")
        hashed = [f"record.{name}" if name in self._fields else name for name in self._columns]
        defaults = {field.name: field.default for field in fields_of(record)}
        self._defaults: dict[str, Any] = defaults | dict.fromkeys(SourcedAnswer._fields) | SourcedAnswer._field_defaults
        del self._defaults["record"]
        self._values: Callable[[SourcedAnswer[R]], tuple[Any, ...]] = attrgetter(*hashed)
        """The values of a revision that are hashed."""
        self._appended: WeakKeyDictionary[Pool, tuple[int, str]] = WeakKeyDictionary()
        """End of the chain in each open store in which all rows were appended since it was opened."""

    def record(self, session: Session, revisions: Iterable[SourcedAnswer[R]], *, recorded_at: str) -> RecordedCount:
        """Append new revisions: one for each record whose content or payload differs from the last one read.

        An answer that is not current and comes again is a revision, too. One that was last changed before the current
        answer is flagged as older, and does not replace it. The revision number in the record is ignored; the store
        counts. Raises InputError for an unknown query or person, and then writes nothing.
        """
        everything = list(revisions)
        query_ids = {revision.record.query_id for revision in everything}
        names = {self.person_of(revision.record) for revision in everything}
        lines = self._lines_of(session, query_ids, names)
        added = 0
        beside: Callable[[SourcedAnswer[R]], tuple[Any, ...]] = attrgetter(*BESIDE_CONTENT[:-1])

        def new_rows() -> Iterator[tuple[Any, ...]]:
            nonlocal added
            for incoming, values, sha256 in self._hashed(everything):
                line = lines.get(key := self._key(incoming))
                revision = self._behind_record(incoming, line)
                if revision is not incoming:
                    ((_, values, sha256),) = self._hashed([revision])
                if line is not None and revision.ruling is None and line.read_sha256 == sha256:
                    is_restored = revision.record.counts and not line.counts
                    if not is_restored:
                        continue
                number = 1 if line is None else line.latest.record.revision + 1
                if revision.record.revision != number:
                    revision = revision._replace(record=replace(revision.record, revision=number))
                if line is None:
                    added += 1
                    line = lines[key] = AnnotationHistory(revision, revision)
                line.add(revision, sha256)
                row: tuple[Any, ...] = values + beside(revision) + (recorded_at, number, sha256)
                yield row

        names_of_row = (*self._columns, *BESIDE_CONTENT, "revision", "content_sha256")
        lots = (dict(zip(names_of_row, zip(*lot, strict=True), strict=True)) for lot in models.in_chunks(new_rows()))
        written = self._append(session, lots)
        return RecordedCount(added, written - added, len(everything) - written)

    def record_columns(self, session: Session, answers: ByColumn, *, recorded_at: str) -> RecordedCount:
        """Record answers that are given as columns, as `record` does.

        answers: the columns of the record and of `SourcedAnswer`; those that are left out have the default.
        """
        number = len(answers["query_id"])
        columns: dict[str, Sequence[Any]] = {
            name: answers.get(name) or [value] * number for name, value in self._defaults.items()
        }
        lines = self._lines_of(session, {*columns["query_id"]}, {*columns[self._person]})
        if lines or len({*zip(*(columns[name] for name in self._line), strict=True)}) < number:
            records = map(self._record, *(columns[name] for name in self._fields))
            origins = (columns[name] for name in SourcedAnswer._fields[1:])
            return self.record(session, map(SourcedAnswer, records, *origins), recorded_at=recorded_at)
        # Answers of an imported file, of which nothing is on record, need no history.
        columns["recorded_at"] = [recorded_at] * number

        def lots() -> Iterator[dict[str, Sequence[Any]]]:
            for start in range(0, number, models.AT_ONCE):
                lot = {name: values[start : start + models.AT_ONCE] for name, values in columns.items()}
                lot |= {name: _storable(lot[name]) for name in self._columns if name != "payload"}
                yield lot | {"content_sha256": hashes_of(self._columns, [lot[name] for name in self._columns])}

        return RecordedCount(self._append(session, lots()), 0, 0)

    def _lines_of(
        self, session: Session, query_ids: set[str], names: set[str]
    ) -> dict[tuple[Any, ...], AnnotationHistory[R]]:
        """Histories on record of the answers of these persons to these queries. Raises InputError for unknown ones."""
        table_name = f"{self._rows.name}s"
        models.check_known(session, models.QUERY_TABLE, query_ids, what=table_name)
        models.check_known(session, models.ASSESSOR_TABLE, names, what=table_name)
        lines: dict[tuple[Any, ...], AnnotationHistory[R]] = {}
        for chunk in models.in_chunks(query_ids):
            of_persons = self._rows.c[self._person].in_(names)
            lines |= self._read_lines(session, self._rows.c.query_id.in_(chunk), of_persons)
        return lines

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
        self,
        session: Session,
        *,
        server: str | None = None,
        person: str | None = None,
        payload: bool = False,
        flagged: bool = False,
    ) -> tuple[AnnotationHistory[R], ...]:
        """Histories of all annotations, or of one server or person, in the order of `read`. flagged: only of the
        queries that have a revision with an objection."""
        filters = {"server": server, self._person: person}
        where = [self._rows.c[name] == value for name, value in filters.items() if value is not None]
        if flagged:
            columns = self._rows.c
            where.append(columns.query_id.in_(select(columns.query_id).where(cast(columns.flags, Text) != "[]")))
        lines = self._read_lines(session, *where, payload=payload).values()
        return tuple(sorted(lines, key=lambda line: self._place(line.current, line)))

    def current(self, session: Session, *, payload: bool = False) -> tuple[SourcedAnswer[R], ...]:
        """Current revisions as `read` returns them, without payload: reading that takes most of the time."""
        columns = self._rows.c
        several = select(*(columns[name] for name in self._line)).where(columns.revision > 1).distinct()
        revised = {tuple(row) for row in session.connection().execute(several)}
        lines: dict[tuple[Any, ...], AnnotationHistory[R]] = {}
        answers: list[SourcedAnswer[R]] = []
        for revision, sha256 in self._revisions(session, payload=payload):
            if revised and (key := self._key(revision)) in revised:
                lines.setdefault(key, AnnotationHistory(revision, revision)).add(revision, sha256)
            else:
                # The only revision of its line, which most are, needs no history.
                answers.append(revision)
        answers += [line.current for line in lines.values()]
        questions = list(map(attrgetter(*(f"record.{name}" for name in self._line if name in self._fields)), answers))
        order = sorted(range(len(answers)), key=questions.__getitem__)
        if any(questions[place] == questions[following] for place, following in pairwise(order)):
            places = [self._place(answer, lines.get(self._key(answer))) for answer in answers]
            order.sort(key=places.__getitem__)
        return tuple([answers[place] for place in order])

    def records(self, session: Session) -> tuple[R, ...]:
        """Records of the current revisions, without their origins."""
        question_of = attrgetter(*(name for name in self._line if name in self._fields))
        records = sorted(models.read_records(session, self._rows, self._record), key=question_of)
        questions = list(map(question_of, records))
        if any(record.revision > 1 for record in records) or any(map(eq, questions, questions[1:])):
            return tuple([answer.record for answer in self.current(session)])
        return tuple(records)

    def read(self, session: Session) -> tuple[SourcedAnswer[R], ...]:
        """The current revision of each line, flagged ones included.

        By query, document, person and occasion; a person's several annotations of a pair from the one that was changed
        first to the one that was changed last. Two servers number theirs each for itself, so time comes first, and then
        the ids, which are numbers written as text: the ninth comes before the tenth.
        """
        return self.current(session, payload=True)

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

    def faults(self, session: Session) -> Iterator[str]:
        """Rows whose content does not have its hash, and rows that are missing; rows that were all appended since the
        store was opened are not read again."""
        if self._appended.get(session.connection().engine.pool) == self._end(session.connection()):
            return
        table_name, previous, length = self._rows.name, "", 0
        revisions: dict[tuple[Any, ...], int] = {}
        guidelines = link_of_guidelines(session.connection())
        for columns in self._lots(session):
            hashes = hashes_of(self._columns, [columns[column] for column in self._columns])
            keys: list[tuple[Any, ...]] = list(zip(*(columns[column] for column in self._line), strict=True))
            contents, numbers = list(columns["content_sha256"]), list(columns["revision"])
            links: list[str] = list(columns["chain_sha256"])
            parts, last_numbers = list(_parts_of_links(columns)), dict(zip(keys, numbers, strict=True))
            # Rows without a fault, as nearly all are, are compared as columns.
            is_sound = contents == hashes and len(last_numbers) == len(keys)
            if numbers.count(1) < len(numbers) or not revisions.keys().isdisjoint(last_numbers):
                is_sound &= numbers == [revisions.get(key, 0) + 1 for key in keys]
            if not is_sound or links != list(map(_link, (previous, *links), parts)):
                for at, key in enumerate(keys):
                    problems = []
                    content = {column: columns[column][at] for column in self._columns}
                    if contents[at] not in (hashes[at], _hash_of_whole_seconds(content)):
                        problems.append("its content has changed since it was recorded")
                    if numbers[at] != (number := revisions.get(key, 0) + 1):
                        problems.append(f"expected revision {number}")
                    if links[at] not in _links(links[at - 1] if at else previous, parts[at], guidelines):
                        problems.append("it has changed, or the row before it was changed or removed")
                    for problem in problems:
                        pair = f"{columns['query_id'][at]} {columns['doc_id'][at]}"
                        yield f"{table_name} {columns['id'][at]} ({pair}, revision {numbers[at]}): {problem}"
                    revisions[key] = numbers[at]
            revisions.update(last_numbers)
            previous, length = links[-1], length + len(links)
        length_recorded, last = self._end(session.connection())
        if length != length_recorded:
            yield f"{table_name}: found {length} rows, {length_recorded} were recorded"
        elif previous != last:
            yield f"{table_name}: its last row is not the last one that was recorded"

    def _append(self, session: Session, lots: Iterable[ByColumn]) -> int:
        """Insert the rows after the existing ones, each with its link, as they are made; returns their number."""
        connection, ends, name = session.connection(), models.CHAIN_TABLE, self._rows.name
        length, last = before = self._end(connection)
        is_first = before == (0, "") and connection.execute(select(self._rows.c.id).limit(1)).first() is None
        is_known = is_first or self._appended.get(connection.engine.pool) == before
        for columns in lots:
            links = [last := _link(last, parts) for parts in _parts_of_links(columns)]
            models.insert_columns(connection, self._rows, {**columns, "chain_sha256": links})
            length += len(links)
        if length > before[0]:
            connection.execute(ends.delete().where(ends.c.name == name))
            connection.execute(ends.insert().values(name=name, length=length, last_sha256=last))
            if is_known:
                self._appended[connection.engine.pool] = length, last
        return length - before[0]

    def _end(self, connection: Connection) -> tuple[int, str]:
        """Number of rows recorded, and the last link."""
        ends = models.CHAIN_TABLE
        row = connection.execute(
            select(ends.c.length, ends.c.last_sha256).where(ends.c.name == self._rows.name)
        ).first()
        return (0, "") if row is None else (row[0], row[1])

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
        n, record = len(self._fields), self._record
        in_order = select(*selected).where(*conditions).order_by(self._rows.c.id)
        for row in models.read_rows(session, in_order):
            yield SourcedAnswer(record(*row[:n]), *row[n:-1]), row[-1]

    def _place(self, current: SourcedAnswer[R], line: AnnotationHistory[R] | None) -> tuple[Any, ...]:
        """Place of the current revision of a line among all. line: None if it is the only revision."""
        key: list[Any] = [getattr(current.record, name) for name in self._line if name in self._fields]
        answer = (line and line.answer) or current
        changed_at = answer.changed_at or answer.record.judged_at or ""
        return *key, current.source, changed_at, len(current.annotation), current.annotation

    def _behind_record(self, revision: SourcedAnswer[R], line: AnnotationHistory[R] | None) -> SourcedAnswer[R]:
        """The revision, flagged if the server fell back behind the answer on record."""
        answered_at = None if line is None or not line.counts else line.current.changed_at
        answers = revision.ruling is None and revision.record.counts
        if answers and answered_at is not None and (revision.changed_at or answered_at) < answered_at:
            return revision._replace(record=replace(revision.record, flags=(OLDER,)))
        return revision

    def _hashed(self, revisions: Iterable[SourcedAnswer[R]]) -> Iterator[tuple[SourcedAnswer[R], tuple[Any, ...], str]]:
        """Each revision with the values of its row, without those that the store adds, and the hash of these."""
        for lot in models.in_chunks(revisions):
            columns = list(map(_storable, zip(*map(self._values, lot), strict=True)))
            yield from zip(lot, zip(*columns, strict=True), hashes_of(self._columns, columns), strict=True)

    def _lots(self, session: Session) -> Iterator[dict[str, Sequence[Any]]]:
        """Columns of all rows in the order recorded, some rows at a time."""
        number, last = self._rows.c.id, 0
        while columns := models.read_columns(
            session, select(self._rows).where(number > last).order_by(number).limit(models.AT_ONCE), shared=False
        ):
            lot = dict(zip(self._rows.c.keys(), columns, strict=True))
            last = lot["id"][-1]
            yield lot

    def _silent(self, current: SourcedAnswer[R], flag: str, *, ruling: str | None) -> SourcedAnswer[R]:
        """A revision of the same line without an answer, with a flag that gives the reason."""
        answer_fields = ("grade", "cannot_judge", "reason", "comment", "judged_at", "lead_time")
        nothing: dict[str, Any] = {name: None for name in answer_fields if name in self._fields}
        record = replace(current.record, **nothing, flags=(flag,))
        return SourcedAnswer(record, current.source, current.annotation, None, server=current.server, ruling=ruling)


def _storable(values: Sequence[Any]) -> Sequence[Any]:
    """Text as both databases can hold it: no NUL, no half of a surrogate pair. A payload keeps them, escaped."""
    texts = set(values) if str in map(type, values) else set()
    texts = {value for value in texts if type(value) is str and not (value.isascii() and "\x00" not in value)}
    held = {
        text: text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
        for text in texts
    }
    return [held.get(value, value) if isinstance(value, str) else value for value in values] if held else values


def hashes_of(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> list[str]:
    """SHA-256 of the JSON of contents, which are given as columns."""
    texts = json_objects(names, columns, sort=True)
    return [hashlib.sha256(text.encode("ascii")).hexdigest() for text in texts]


def _hash_of_whole_seconds(content: dict[str, Any]) -> str | None:
    """Hash of the content with whole seconds as they may have been recorded: the database has one kind of number
    there."""
    seconds = content["lead_time"]
    if seconds is None or seconds != int(seconds):
        return None
    whole = {**content, "lead_time": int(seconds)}
    return hashes_of([*whole], [[value] for value in whole.values()])[0]


def _parts_of_links(columns: ByColumn) -> Iterable[tuple[str, ...]]:
    """JSON of the values that a link is made of besides the link before, row by row."""
    return zip(*(json_texts(columns[name]) for name in LINKED), strict=True)


def _links(previous: str, parts: Sequence[str], guidelines: Mapping[str, str]) -> list[str]:
    """Links that the row may have: by the present rule and, if its display is one of guidelines alone, by the rule of
    before 1.0.0, which has the guidelines in place of their display."""
    place = LINKED.index("shown_sha256")
    shown = guidelines.get(json.loads(parts[place])) if guidelines else None
    old = [] if shown is None else [_link(previous, [*parts[:place], json.dumps(shown), *parts[place + 1 :]])]
    return [_link(previous, parts), *old]


def _link(previous: str, parts: Sequence[str]) -> str:
    return hashlib.sha256(f'["{previous}", {", ".join(parts)}]'.encode("ascii")).hexdigest()


SourcedJudgement = SourcedAnswer[Judgement]
SourcedAdjudication = SourcedAnswer[Adjudication]
JUDGEMENTS = Revisions(models.JUDGEMENT_TABLE, Judgement)
ADJUDICATIONS = Revisions(models.ADJUDICATION_TABLE, Adjudication)
TRIALS = Revisions(models.TRIAL_JUDGEMENT_TABLE, Judgement)
"""Answers in training and sub-study, which never count; `source` is their round."""


def unsound_revisions(session: Session) -> Iterator[str]:
    """Faults of the append-only tables: contents without their hash, and rows that are missing."""
    yield from JUDGEMENTS.faults(session)
    yield from ADJUDICATIONS.faults(session)
    yield from TRIALS.faults(session)


def chain_ends(session: Session) -> dict[str, list[Any]]:
    """Number of rows and last link of each append-only table that has any: they change with every row."""
    ends = session.connection().execute(models.CHAIN_TABLE.select())
    return {row.name: [row.length, row.last_sha256] for row in ends}


def grades_off_scale(connection: Connection, grades: Collection[int]) -> Iterator[str]:
    """Rows of any table with grades that the scale does not have."""
    for table in models.TABLES.sorted_tables:
        if "grade" in table.c:
            wrong = select(table).where(table.c.grade.is_not(None), table.c.grade.not_in(grades))
            for row in connection.execute(wrong.order_by(*table.primary_key.columns)).mappings():
                key = " ".join(str(row[column.name]) for column in table.primary_key.columns)
                yield f"{table.name} {key}: grade {row['grade']}, expected one of {', '.join(map(str, grades))}"


def is_judged(session: Session) -> bool:
    """True if any judgement is on record, one that counts or not."""
    return session.connection().execute(select(models.JUDGEMENT_TABLE.c.id).limit(1)).first() is not None


def count_judgements(session: Session) -> int:
    """Number of rows of judgements: every revision of each."""
    return session.connection().execute(select(func.count()).select_from(models.JUDGEMENT_TABLE)).scalar_one()


def _counts() -> ColumnElement[bool]:
    """Condition that a row is an answer that counts (`Judgement.counts`)."""
    judged = models.JUDGEMENT_TABLE.c
    return (cast(judged.flags, Text) == "[]") & (judged.grade.is_not(None) | judged.cannot_judge.is_not(None))


def progress_by_assessor(session: Session) -> dict[str, tuple[int, int]]:
    """Number of assignments of each assessor, and of those with an answer that counts."""
    planned, judged = models.ASSIGNMENT_TABLE.c, models.JUDGEMENT_TABLE.c
    connection = session.connection()
    if connection.execute(select(judged.id).where(judged.revision > 1).limit(1)).first():
        # The revision that counts follows from the history of each answer.
        answered = {(answer.assessor, answer.pair_key) for answer in JUDGEMENTS.records(session) if answer.counts}
        plan = list(models.read_records(session, models.ASSIGNMENT_TABLE, Assignment))
        assigned = Counter(assignment.assessor for assignment in plan)
        done = Counter(entry.assessor for entry in plan if (entry.assessor, entry.pair_key) in answered)
        return {name: (count, done[name]) for name, count in assigned.items()}
    of_assignment = [judged[name] == planned[name] for name in ("query_id", "doc_id", "assessor", "occasion")]
    has_answer = select(judged.id).where(*of_assignment, _counts()).exists()
    counts = select(planned.assessor, func.count(), func.sum(case((has_answer, 1), else_=0))).group_by(planned.assessor)
    return {name: (assigned, done) for name, assigned, done in connection.execute(counts)}


def plain_answers(
    session: Session, names: Sequence[str], appended: ByColumn | None = None
) -> list[Sequence[Any]] | None:
    """Columns of all judgements, by pair, assessor and occasion; None if one has revisions or flags, or was given
    twice. appended: the judgements as they were recorded, if there are no others."""
    judged = models.JUDGEMENT_TABLE.c
    is_special = (judged.revision > 1) | (cast(judged.flags, Text) != "[]")
    if session.connection().execute(select(judged.id).where(is_special).limit(1)).first():
        return None
    if appended is None:
        columns = models.read_columns(session, select(*(judged[name] for name in names)))
    else:
        columns = [_storable(appended[name]) for name in names]
    of_name = dict(zip(names, columns, strict=False))
    keys = list(zip(*(of_name.get(name, ()) for name in ("query_id", "doc_id", "assessor", "occasion")), strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return [list(map(column.__getitem__, order)) for column in columns] if len({*keys}) == len(keys) else None


def _is_plain() -> ColumnElement[bool]:
    """Condition that a row is the first revision of an answer with a grade, and no repeat."""
    judged = models.JUDGEMENT_TABLE.c
    return _counts() & judged.grade.is_not(None) & (judged.revision == 1) & (judged.occasion == 1)


def _by_pair(*columns: ColumnElement[Any]) -> Select[Any]:
    """Judgements with the questions of the plan that they answer, by pair."""
    planned, judged = models.ASSIGNMENT_TABLE.c, models.JUDGEMENT_TABLE.c
    is_assigned = and_(*(judged[name] == planned[name] for name in ("query_id", "doc_id", "assessor", "occasion")))
    rows = models.JUDGEMENT_TABLE.join(models.ASSIGNMENT_TABLE, is_assigned, isouter=True)
    return select(*columns).select_from(rows).group_by(judged.query_id, judged.doc_id)


class PlainCounts(NamedTuple):
    """Counts of the pairs that `plain_pairs` would give."""

    pairs: int
    disputed: int
    """Pairs with more than one grade."""
    fewest: int
    most: int
    """Smallest and largest number of judgements of a pair."""


def count_plain_pairs(session: Session, *, planned: int) -> PlainCounts | None:
    """Counts of all pairs, if they are plain and none has other questions than its judgements; else None. planned:
    number of questions of the plan."""
    judged, connection = models.JUDGEMENT_TABLE.c, session.connection()
    # In rows of one source, no answer is there twice.
    if len(connection.execute(select(judged.source, judged.server, judged.annotation).distinct().limit(2)).all()) != 1:
        return None
    columns = {
        "answers": func.count(),
        "lowest": func.min(judged.grade),
        "highest": func.max(judged.grade),
        "planned": func.count(models.ASSIGNMENT_TABLE.c.assessor),
        "plain": func.sum(case((_is_plain(), 1), else_=0)),
    }
    pairs = _by_pair(*(column.label(name) for name, column in columns.items())).subquery().c
    disputed = func.sum(case((pairs.lowest != pairs.highest, 1), else_=0))
    sums = (func.sum(pairs[name]) for name in ("answers", "planned", "plain"))
    counts = select(func.count(), disputed, func.min(pairs.answers), func.max(pairs.answers), *sums)
    *counted, answers, matched, plain = connection.execute(counts).one()
    return PlainCounts(*counted) if answers == matched == plain == planned else None


PlainPair = tuple[str, str, int, int, int]
"""A query, a document, the number of their judgements, and the lowest and the highest grade."""


def plain_pairs(session: Session, *, all_are: bool = False) -> Iterable[PlainPair]:
    """Pairs that each of their assessors judged once with a grade, if nothing else is on record of them.

    all_are: `count_plain_pairs` has found all pairs to be plain.
    """
    judged, team = models.JUDGEMENT_TABLE.c, models.ASSIGNMENT_TABLE.alias()
    columns = judged.query_id, judged.doc_id, func.count(), func.min(judged.grade), func.max(judged.grade)
    if all_are:
        return models.read_rows(session, select(*columns).group_by(*columns[:2]))
    of_pair = (team.c[name] == judged[name] for name in ("query_id", "doc_id"))
    counts = (
        select(func.count()).select_from(team).where(*of_pair).scalar_subquery(),
        func.count(models.ASSIGNMENT_TABLE.c.assessor),
        func.count(judged.assessor.distinct()),
        func.sum(case((_is_plain(), 1), else_=0)),
    )
    statement = _by_pair(*columns).having(*(func.count() == count for count in counts))
    return models.read_rows(session, statement)


def has_times(session: Session) -> bool:
    """True if the time or the duration of any answer is on record."""
    tables = models.JUDGEMENT_TABLE, models.ADJUDICATION_TABLE, models.TRIAL_JUDGEMENT_TABLE
    timed = (select(rows.c.id).where(rows.c.judged_at.is_not(None) | rows.c.lead_time.is_not(None)) for rows in tables)
    return any(session.connection().execute(statement.limit(1)).first() for statement in timed)


def has_displays(session: Session) -> bool:
    """True if the display of any judgement is on record."""
    judged = models.JUDGEMENT_TABLE.c
    displayed = select(judged.id).where(judged.shown_sha256.is_not(None))
    return session.connection().execute(displayed.limit(1)).first() is not None


def sources_of_judgements(session: Session) -> set[str]:
    """Sources of the judgements on record."""
    return set(session.connection().execute(select(models.JUDGEMENT_TABLE.c.source).distinct()).scalars())


# ----------------------------------------------------------------------------------------------------------------------
# Notes on answers: pairs returned to their assessors, the lead's rulings on corrected texts, pairs that may have fewer
# judgements, and the opinions that adjudicators were shown.
# ----------------------------------------------------------------------------------------------------------------------


def add_returned(session: Session, returned: PairReturn) -> None:
    """Record a pair that is returned. Raises InputError for an unknown query or assessor."""
    models.check_known(session, models.QUERY_TABLE, [returned.query_id], what="returned")
    models.check_known(session, models.ASSESSOR_TABLE, [returned.assessor], what="returned")
    models.insert_records(session, models.RETURNED_TABLE, [returned])


def withdraw_returned(session: Session, returned: PairReturn, *, withdrawn_at: str, contested: bool = False) -> None:
    """Record that this return was taken back. contested: the pair goes to an adjudicator."""
    key = {**returned.pair_key._asdict(), "assessor": returned.assessor}
    models.change_where(session, models.RETURNED_TABLE, {"withdrawn_at": withdrawn_at, "contested": contested}, **key)


def read_returned(session: Session) -> tuple[PairReturn, ...]:
    """Returned pairs, including those that were taken back, by pair, assessor and occasion."""
    return models.read_in_order(
        session, models.RETURNED_TABLE, PairReturn, ["query_id", "doc_id", "assessor", "occasion"]
    )


Ruling = Literal["stays", "again"]


class TextRuling(NamedTuple):
    """The lead's decision on an answered pair with a corrected topic or document."""

    query_id: str
    doc_id: str
    text_id: str
    """The topic or the paper."""
    sha256: str
    """SHA-256 of the corrected text."""
    ruling: Ruling
    """`stays`: judged as it was sent; `again`: judged once more on the corrected text."""
    why: str
    ruled_at: str
    """ISO 8601, UTC."""


TEXT_RULING_TABLE = models.define_table(
    "text_ruling",
    models.columns_of(TextRuling, key=["query_id", "doc_id", "text_id", "ruled_at"]),
    models.to(query_id="query.query_id"),
    models.check("ruling", "ruling IN ('stays', 'again')"),
    models.check("why", "why <> ''"),
)


def add_rulings(session: Session, rulings: Iterable[TextRuling]) -> None:
    """Record these decisions; earlier ones stay on record."""
    models.insert_records(session, TEXT_RULING_TABLE, rulings)


def read_rulings(session: Session) -> tuple[TextRuling, ...]:
    """All decisions, the oldest first."""
    return models.read_in_order(session, TEXT_RULING_TABLE, TextRuling, ["ruled_at", "query_id", "doc_id", "text_id"])


def count_corrected_texts(session: Session) -> int:
    """Number of texts that were corrected after the study had them; if 0, all answers are on the current texts."""
    rows = SHOWN_VERSION_TABLE.c
    corrected = select(func.count(rows.subject.distinct())).where(rows.part == "text", rows.why.is_not(None))
    return session.connection().execute(corrected).scalar_one()


def has_texts_on_record(session: Session) -> bool:
    """True if the text of any paper is on record: from the first push on."""
    rows = SHOWN_VERSION_TABLE.c
    return session.connection().execute(select(rows.subject).where(rows.part == "text").limit(1)).first() is not None


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


def last_opinions(session: Session) -> dict[tuple[str, tuple[str, str]], tuple[ShownOpinion, ...]]:
    """Opinions shown by each task, by adjudicator and pair."""
    return {(shown.adjudicator, (shown.query_id, shown.doc_id)): shown.opinions for shown in _read(session, true())}


def assessors_shown(session: Session, adjudicator: str) -> dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]]:
    """Assessors whose opinions the adjudicator's tasks showed, in the order shown, by pair: each time with the moment
    (ISO 8601, UTC) from which it showed them, the oldest first."""
    recorded = _read(session, models.SHOWN_OPINIONS_TABLE.c.adjudicator == adjudicator)
    return grouped(
        ((shown.query_id, shown.doc_id), (shown.sent_at, tuple(assessor for assessor, *_ in shown.opinions)))
        for shown in recorded
    )


def _read(session: Session, condition: ColumnElement[bool]) -> tuple[ShownOpinions, ...]:
    return models.read_in_order(session, models.SHOWN_OPINIONS_TABLE, ShownOpinions, ["sent_at"], condition)
