"""The whole database as lines of JSON, and back: the same on SQLite and PostgreSQL, row for row and text for text.

A dump carries the statements that make its tables, so that it can be restored when the tables have changed since. It
holds identities, as the database does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Connection, MetaData, Table, Text, cast, func, inspect, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from annot.errors import InputError, StoreError
from annot.store.base import TABLES
from annot.store.migrations import MIGRATIONS, VERSION_TABLE, make_version_table, version_of
from annot.store.rows import copy_rows
from annot.store.schema import make_triggers

# Without parameters nothing has to be escaped in the statements.
_DIALECTS = {
    "sqlite": sqlite.dialect(paramstyle="named"),
    "postgresql": postgresql.dialect(paramstyle="named"),  # type: ignore[no-untyped-call]
}
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Dumped:
    """What a dump is of, beside the rows themselves."""

    version: int
    """Migrations that the database had been through."""
    statements: Mapping[str, Sequence[str]]
    """What makes its tables and indexes, by kind of database: both kinds where it was of its program's version."""
    rows: Mapping[str, int]
    """Rows of each table, in an order in which they can be put back."""


def dump(connection: Connection, folder: Path) -> Dumped:
    """Write a file `TABLE.jsonl` for each table of the database into `folder`, which is there."""
    version = version_of(connection)
    tables = _tables(connection)
    counts = {}
    for table in tables:
        counts[table.name] = 0
        with (folder / f"{table.name}.jsonl").open("w", encoding="utf-8") as file:
            for row in _rows(connection, table):
                file.write(json.dumps(row) + "\n")
                counts[table.name] += 1
    if version == len(MIGRATIONS):
        statements = {kind: tuple(_declared(kind)) for kind in _DIALECTS}
    else:
        statements = {connection.dialect.name: tuple(_found(connection, tables))}
    return Dumped(version, statements, counts)


def load(connection: Connection, dumped: Dumped, folder: Path) -> None:
    """Put a dump back into an empty database, in the caller's transaction.

    Raises StoreError where the dump is a newer program's or fits only the other kind of database, InputError where a
    file holds other rows than the dump counted.
    """
    kind = connection.dialect.name
    if dumped.version > len(MIGRATIONS):
        raise StoreError(
            f"the backup has version {dumped.version}, expected {len(MIGRATIONS)} or less", hint="update annot"
        )
    if kind not in dumped.statements:
        raise StoreError(
            f"this backup was made before a migration on {' and '.join(dumped.statements)}, and fits no other database",
            hint=f"restore it there, run `annot migrate`, and make another backup, which fits {kind} too",
        )
    for statement in dumped.statements[kind]:
        # The driver of PostgreSQL takes a % for the begin of a parameter.
        connection.exec_driver_sql(statement.replace("%", "%%") if kind == "postgresql" else statement)
    known = {table.name: table for table in _tables(connection)}
    for name, expected in dumped.rows.items():
        found = 0
        for chunk in _chunks(folder / f"{name}.jsonl"):
            found += len(chunk)
            _insert(connection, known[name], chunk)
        if found != expected:
            raise InputError(f"{name}: {found} rows in the backup, expected {expected}")
    if kind == "postgresql":
        _count_on(connection, known.values())
    make_triggers(connection)


def row_counts(connection: Connection) -> dict[str, int]:
    """Rows of each table of the database."""
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in _tables(connection)
    }


def drop_tables(connection: Connection) -> None:
    """Remove every table of this program, and no other, in the caller's transaction."""
    _reflected(connection).drop_all(connection)


def _tables(connection: Connection) -> list[Table]:
    return _reflected(connection).sorted_tables


def _reflected(connection: Connection) -> MetaData:
    """The tables as they are; those of other programs in the same database are none of ours."""
    own = {*TABLES.tables, VERSION_TABLE}
    found = MetaData()
    found.reflect(connection, only=lambda name, _: name in own)
    return found


def _rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    """Each row by column; JSON as the text that the database holds."""
    columns = [cast(one, Text).label(one.name) if isinstance(one.type, JSON) else one for one in table.c]
    statement = select(*columns).order_by(*table.primary_key.columns).execution_options(yield_per=_AT_ONCE)
    return (dict(row._mapping) for row in connection.execute(statement))


def _declared(kind: str) -> Iterator[str]:
    """The statements that make the tables of this program's version."""
    yield from _statements(TABLES.sorted_tables, kind)
    yield make_version_table()


def _statements(tables: Iterable[Table], kind: str) -> Iterator[str]:
    dialect: Any = _DIALECTS[kind]
    for table in tables:
        indexes = sorted(table.indexes, key=lambda one: str(one.name))
        made: tuple[CreateTable | CreateIndex, ...] = (CreateTable(table), *map(CreateIndex, indexes))
        yield from (str(one.compile(dialect=dialect)).strip() for one in made)


def _found(connection: Connection, tables: Iterable[Table]) -> Iterator[str]:
    """The statements that make the tables as they are."""
    if connection.dialect.name == "sqlite":
        made = "SELECT tbl_name, sql FROM sqlite_master WHERE type <> 'trigger' AND sql IS NOT NULL ORDER BY rowid"
        own = {table.name for table in tables}
        yield from (sql for name, sql in connection.execute(text(made)) if name in own)
        return
    yield from _statements(tables, "postgresql")


def _chunks(path: Path) -> Iterator[list[dict[str, Any]]]:
    with path.open(encoding="utf-8") as lines:
        while chunk := [json.loads(line) for line in islice(lines, _AT_ONCE)]:
            yield chunk


def _insert(connection: Connection, table: Table, chunk: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows as they were read: JSON is text already, and is not to be written as JSON once more."""
    columns = list(chunk[0])
    rows = [tuple(row[name] for name in columns) for row in chunk]
    if connection.dialect.name == "postgresql":
        copy_rows(connection, table.name, columns, rows)
        return
    quoted, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" for _ in columns)
    connection.exec_driver_sql(f'INSERT INTO "{table.name}" ({quoted}) VALUES ({marks})', rows)


def _count_on(connection: Connection, tables: Iterable[Table]) -> None:
    """PostgreSQL numbers new rows from its own counters, which know nothing of rows that brought their number."""
    for table in tables:
        for column in inspect(connection).get_columns(table.name):
            if column.get("identity"):
                name = column["name"]
                counter = f"pg_get_serial_sequence('{table.name}', '{name}')"
                highest = f'(SELECT COALESCE(MAX("{name}"), 0) + 1 FROM "{table.name}")'
                connection.exec_driver_sql(f"SELECT setval({counter}, {highest}, false)")
