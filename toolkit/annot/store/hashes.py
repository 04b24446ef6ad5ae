"""Hashes of the record: the chain over each append-only table, its contents, and each part of a study.

Each row of an append-only table is hashed with the one before it, so that a lost one is seen; the last link is in a
table of its own. A person who edits the database by hand can make the whole chain again; omissions by mistake, or by a
tool that does not know the chain, are found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Table, func, select
from sqlmodel import Session

from annot.base.records import Adjudication, Judgement, Source
from annot.store.facet_labels import count_by_origin
from annot.store.judging_models import (
    ADJUDICATION_TABLE,
    CHAIN_TABLE,
    JUDGEMENT_TABLE,
    OPINION_CALL_TABLE,
    TRIAL_JUDGEMENT_TABLE,
)
from annot.store.models import FACET_LABELS_TABLE, LINE, TABLES, field_names, insert_rows
from annot.store.shown import SHOWN_CONTENT_TABLE, SHOWN_VERSION_TABLE, hash_of_text

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
    insert_rows(session, table, chained)
    if chained:
        connection.execute(CHAIN_TABLE.delete().where(CHAIN_TABLE.c.name == name))
        connection.execute(CHAIN_TABLE.insert().values(name=name, length=length + len(chained), last_sha256=last))


def unsound_revisions(connection: Connection) -> Iterator[str]:
    """Faults of the append-only tables: contents without their hash, and rows that are missing."""
    for name, record in RECORDS.items():
        rows, line = TABLES.tables[name], LINE[name]
        content = [*(field for field in field_names(record) if field != "revision"), *BESIDE_RECORD]
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
    for table in TABLES.sorted_tables:
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
    shown_by = (JUDGEMENT_TABLE, ADJUDICATION_TABLE, TRIAL_JUDGEMENT_TABLE, OPINION_CALL_TABLE)
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
    ends = CHAIN_TABLE
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
"""Append-only tables, whose last link stands for all rows."""


def read_states(session: Session) -> dict[str, str]:
    """A hash of each part; accounts are in none."""
    ends = {row.name: [row.length, row.last_sha256] for row in session.connection().execute(CHAIN_TABLE.select())}
    hashes = {
        part: state([*(_rows(session, name) for name in names), [ends.get(name) for name in CHAINS.get(part, ())]])
        for part, names in PARTS.items()
    }
    corrected = FACET_LABELS_TABLE.c
    statement = select(corrected.paper_id, corrected.labels).where(corrected.origin == Source.CORRECTED)
    rows = sorted(map(tuple, session.connection().execute(statement)))
    answers = OPINION_CALL_TABLE.c
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
        for table in TABLES.sorted_tables
    )
    return state([[str(value) for value in row] for row in connection.exec_driver_sql(" UNION ALL ".join(rows))])


def state(value: Any) -> str:
    """The hash of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _rows(session: Session, name: str) -> list[list[Any]]:
    rows = TABLES.tables[name]
    columns = [column for column in rows.c if column.name != "account"]
    rows_found = session.connection().execute(select(*columns).order_by(*rows.primary_key.columns))
    return [list(row) for row in rows_found]


def hash_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of a content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
