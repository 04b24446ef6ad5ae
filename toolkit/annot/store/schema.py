"""The tables of a database: their creation, their version, and the migration of earlier versions.

The migrations are a list that only grows, one transaction each. Until the first release there is one version; the hash
of its declarations identifies the structure of a database, so that one made by another state of the program is refused
and not read wrongly.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from sqlalchemy import CheckConstraint, Connection, inspect, text

from annot.base.errors import StoreError
from annot.store import judging_models, shown, text_rulings
from annot.store.models import LINE, TABLES

VERSION_TABLE = "annot_schema"
FUNCTION = """
CREATE OR REPLACE FUNCTION annot_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING
        MESSAGE = TG_TABLE_NAME || ' is append-only: ' || TG_OP || ' refused',
        ERRCODE = 'integrity_constraint_violation';
END
$$
"""
"""Function that the triggers of PostgreSQL call."""


# A table is known once its module was imported: whoever opens a database has to know all of them.
assert judging_models.ASSESSOR_TABLE.metadata is shown.SHOWN_VERSION_TABLE.metadata is TABLES
assert text_rulings.TEXT_RULING_TABLE.metadata is TABLES
APPEND_ONLY = {name: (*line, "revision") for name, line in LINE.items()} | shown.KEYS
"""Unique columns of each table that only grows."""


MIGRATIONS: list[Callable[[Connection], None]] = [TABLES.create_all]
"""Migration n brings a database from version n - 1 to n. New ones go to the end.

The first makes the tables as they are declared now, so that a new database is at the last version at once.
"""


def version_of(connection: Connection) -> int:
    """The version of the database: how many migrations it has been through; 0 when it is empty.

    Raises StoreError when the tables in it are another program's, a newer program's, or those of an unreleased state.
    """
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise StoreError(
                f"the database holds tables of another program ({', '.join(sorted(tables)[:3])}, ...)",
                hint="name another database in ANNOT_DATABASE",
            )
        return 0
    if "schema_sha256" not in {column["name"] for column in inspect(connection).get_columns(VERSION_TABLE)}:
        raise _unreleased(connection)
    last = text(f"SELECT version, schema_sha256 FROM {VERSION_TABLE} ORDER BY version DESC")
    row = connection.execute(last).first()
    version, sha256 = row or (0, "")
    if version > len(MIGRATIONS):
        raise StoreError(f"the database has version {version}, expected {len(MIGRATIONS)} or less", hint="update annot")
    if version == len(MIGRATIONS) and sha256 != schema_sha256():
        raise _unreleased(connection)
    return int(version)


def migrate(connection: Connection, number: int) -> None:
    """Run migration `number` in the caller's transaction, unless another process has done so by now.

    The append-only tables can be changed by the migration, and by nothing else: the triggers that refuse it are made
    again before the transaction ends.
    The caller holds the one write lock, so two processes that open a new database do not meet here.
    """
    version = version_of(connection)
    if version >= number:
        return
    for table in _append_only(connection):
        _make_writable(connection, table)
    MIGRATIONS[number - 1](connection)
    make_triggers(connection)
    note_version(connection, len(MIGRATIONS) if version == 0 else number)


def note_version(connection: Connection, version: int) -> None:
    """Record that the database has this version, and the tables that this program declares."""
    connection.execute(
        text(
            f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} "
            "(version INTEGER PRIMARY KEY NOT NULL, schema_sha256 TEXT NOT NULL)"
        )
    )
    noted = text(f"INSERT INTO {VERSION_TABLE} (version, schema_sha256) VALUES (:version, :sha256)")
    connection.execute(noted, {"version": version, "sha256": schema_sha256()})


@cache
def schema_sha256() -> str:
    """A hash of the tables as they are declared: columns, keys and rules."""
    declared = [
        [
            name,
            [[part.name, type(part.type).__name__, part.nullable, part.primary_key] for part in table.columns],
            sorted(
                [str(rule.name), str(rule.sqltext) if isinstance(rule, CheckConstraint) else ""]
                for rule in table.constraints
                if rule.name
            ),
        ]
        for name, table in sorted(TABLES.tables.items())
    ]
    return hashlib.sha256(json.dumps(declared).encode()).hexdigest()


def make_triggers(connection: Connection) -> None:
    """Make the existing append-only tables append-only for every program."""
    for table in _append_only(connection):
        _make_writable(connection, table)
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(FUNCTION)
        for statement in _triggers(connection.dialect.name, table, APPEND_ONLY[table]):
            # As the driver takes it: a colon begins no parameter.
            connection.exec_driver_sql(statement)


def _unreleased(connection: Connection) -> StoreError:
    return StoreError(
        f"the database was made by an unreleased version of annot: {_first_difference(connection)}",
        hint="continue with the version that made it, or make a new study in another folder with `annot init` and add "
        "the files of this one to it",
    )


def _first_difference(connection: Connection) -> str:
    """First difference between its tables and those declared: found and expected."""
    inspector = inspect(connection)
    for name, table in sorted(TABLES.tables.items()):
        if not inspector.has_table(name):
            return f"found no table {name}"
        columns, expected = [column["name"] for column in inspector.get_columns(name)], list(table.columns.keys())
        if set(columns) != set(expected):
            return f"its table {name} has the columns {', '.join(columns)}, expected {', '.join(expected)}"
    return "found tables with other rules, expected those of this version"


def _make_writable(connection: Connection, table: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_append_only ON {table}")
        return
    for name in ("no_update", "no_delete", "no_replace"):
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_{name}")


def _append_only(connection: Connection) -> tuple[str, ...]:
    existing = inspect(connection).get_table_names()
    return tuple(table for table in APPEND_ONLY if table in existing)


def _triggers(dialect: str, table: str, key: Sequence[str]) -> Iterator[str]:
    if dialect == "postgresql":
        yield f"""
            CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION annot_append_only()
        """
        return
    for verb in ("UPDATE", "DELETE"):
        yield f"""
            CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}
            BEGIN SELECT RAISE(ABORT, '{table} is append-only: {verb} refused'); END
        """
    # INSERT OR REPLACE deletes a row without the trigger above.
    yield f"""
        CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
        WHEN EXISTS (
            SELECT 1 FROM {table} AS old WHERE {"old.id = NEW.id OR" if table in LINE else ""} (
                {" AND ".join(f"old.{column} = NEW.{column}" for column in key)}
            )
        )
        BEGIN SELECT RAISE(ABORT, '{table} is append-only: a row with this key is there'); END
    """
