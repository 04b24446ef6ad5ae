"""The whole database as lines of JSON, and back: the same on SQLite and PostgreSQL, row for row and text for text.

A dump holds rows and nothing that makes or changes tables: those are made here, as this version declares them, and only
rows that fit them are taken. It holds identities, as the database does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import JSON, Column, Connection, MetaData, Table, Text, cast, func, inspect, select

from annot.base.errors import InputError, StoreError
from annot.store import database
from annot.store.database import VERSION_TABLE, make_triggers, note_version, version_of
from annot.store.models import TABLES, JsonList, copy_rows

_AT_ONCE = 1_000
_HINT = "restore it with the version of the program that made it"


@dataclass(frozen=True, slots=True)
class DumpFacts:
    """Facts about a dump, besides the rows themselves."""

    version: int
    """Migrations that the database had been through."""
    rows: Mapping[str, int]
    """Rows of each table, in an order in which they can be put back."""


def dump(connection: Connection, folder: Path) -> DumpFacts:
    """Write a file `TABLE.jsonl` for each table of the database into `folder`, which must exist."""
    counts = {}
    for table in _tables(connection):
        counts[table.name] = 0
        with (folder / f"{table.name}.jsonl").open("w", encoding="utf-8") as file:
            for row in _rows(connection, table):
                file.write(json.dumps(row) + "\n")
                counts[table.name] += 1
    return DumpFacts(version_of(connection), counts)


def check_version(dumped: DumpFacts) -> None:
    """Raise StoreError unless the dump is of this program's version."""
    if dumped.version != len(database.MIGRATIONS):
        raise StoreError(
            f"the backup contains a database of version {dumped.version}, expected {len(database.MIGRATIONS)}",
            hint=_HINT,
        )


def load(connection: Connection, dumped: DumpFacts, folder: Path) -> None:
    """Put a dump back into an empty database, in the caller's transaction.

    Raises StoreError unless the dump is of this program's version, InputError for tables, columns and values that this
    version does not have, and for other rows than the dump counted.
    """
    check_version(dumped)
    TABLES.create_all(connection)
    for table in TABLES.sorted_tables:
        expected, count = dumped.rows.get(table.name, 0), 0
        for chunk in _chunks(folder / f"{table.name}.jsonl", table) if table.name in dumped.rows else ():
            count += len(chunk)
            _insert(connection, table, chunk)
        if count != expected:
            raise InputError(f"{table.name}: {count} rows in the backup, expected {expected}")
    note_version(connection, dumped.version)
    if connection.dialect.name == "postgresql":
        _count_on(connection)
    make_triggers(connection)


def row_counts(connection: Connection) -> dict[str, int]:
    """Rows of each table of the database."""
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in _tables(connection)
    }


def drop_tables(connection: Connection) -> None:
    """Remove every table of this program, and no other, in the caller's transaction."""
    _reflected(connection, {*TABLES.tables, VERSION_TABLE}).drop_all(connection)


def _tables(connection: Connection) -> list[Table]:
    """Tables with rows to keep; those of other programs in the same database are left out."""
    return _reflected(connection, {*TABLES.tables}).sorted_tables


def _reflected(connection: Connection, names: set[str]) -> MetaData:
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: name in names)
    return metadata


def _rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    """Each row by column; JSON as the text that the database holds."""
    columns = [cast(column, Text).label(column.name) if isinstance(column.type, JSON) else column for column in table.c]
    statement = select(*columns).order_by(*table.primary_key.columns).execution_options(yield_per=_AT_ONCE)
    return (dict(row._mapping) for row in connection.execute(statement))


def _chunks(path: Path, table: Table) -> Iterator[list[dict[str, Any]]]:
    """The rows in the file, held against the table. Raises InputError for the first that does not fit."""
    kinds = {column.name: _kind(column) for column in table.c}
    with path.open("rb") as lines:
        numbered = enumerate(lines, 1)
        while chunk := [_row(line, f"{path.name}:{number}", kinds) for number, line in islice(numbered, _AT_ONCE)]:
            yield chunk


class _Kind(NamedTuple):
    """Values that a dump may have in one column."""

    types: tuple[type, ...]
    json: bool
    """True for text that holds JSON."""

    def fits(self, value: Any) -> bool:
        if isinstance(value, str):
            value.encode()  # an error for half a letter, which no database takes
            if self.json:
                json.loads(value)
        return type(value) in self.types and not (isinstance(value, int) and value.bit_length() > 63)


def _kind(column: Column[Any]) -> _Kind:
    holds_json = isinstance(column.type, JSON | JsonList)
    python = str if holds_json else column.type.python_type
    empty = (type(None),) if column.nullable else ()
    return _Kind((python, int, *empty) if python is float else (python, *empty), holds_json)


def _row(line: bytes, where: str, kinds: Mapping[str, _Kind]) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if not isinstance(row, dict) or row.keys() != kinds.keys():
            raise InputError(f"{where}: expected the columns {', '.join(kinds)}", hint=_HINT)
        wrong = [name for name, value in row.items() if not kinds[name].fits(value)]
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a row of JSON: {error}") from None
    if wrong:
        raise InputError(f"{where}: no value for {', '.join(wrong)}, found {row[wrong[0]]!r:.40}")
    return row


def _insert(connection: Connection, table: Table, chunk: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows as they were read: JSON is text already, and must not be written as JSON once more."""
    columns = list(chunk[0])
    rows = [tuple(row[name] for name in columns) for row in chunk]
    if connection.dialect.name == "postgresql":
        copy_rows(connection, table.name, columns, rows)
        return
    quoted, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" for _ in columns)
    connection.exec_driver_sql(f'INSERT INTO "{table.name}" ({quoted}) VALUES ({marks})', rows)


def _count_on(connection: Connection) -> None:
    """PostgreSQL numbers new rows from its own counters, which know nothing of rows that brought their number."""
    for table in TABLES.sorted_tables:
        for column in inspect(connection).get_columns(table.name):
            if column.get("identity"):
                name = column["name"]
                counter = f"pg_get_serial_sequence('{table.name}', '{name}')"
                highest = f'(SELECT COALESCE(MAX("{name}"), 0) + 1 FROM "{table.name}")'
                connection.exec_driver_sql(f"SELECT setval({counter}, {highest}, false)")
