"""Making the tables of a new database: those of `annot.store.models`, and what makes two of them append-only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, inspect

from annot.store.base import LINE, TABLES

FUNCTION = """
CREATE OR REPLACE FUNCTION annot_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING
        MESSAGE = TG_TABLE_NAME || ' is append-only: ' || TG_OP || ' refused',
        ERRCODE = 'integrity_constraint_violation';
END
$$
"""
"""What the triggers of PostgreSQL call."""


def make_tables(connection: Connection) -> None:
    """Make every table, index and trigger in the caller's transaction."""
    TABLES.create_all(connection)
    make_triggers(connection)


def make_triggers(connection: Connection) -> None:
    """Make the tables of judgements append-only for everyone, whatever program writes; those of them that are there."""
    for table in _append_only(connection):
        make_append_only(connection, table)


def drop_triggers(connection: Connection) -> None:
    """Make the tables of judgements writable, for the rest of the caller's transaction or until `make_triggers`."""
    for table in _append_only(connection):
        _make_writable(connection, table)


def make_append_only(connection: Connection, table: str) -> None:
    """Make one table append-only; one that is so already stays so."""
    _make_writable(connection, table)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(FUNCTION)
    for statement in _triggers(connection.dialect.name, table, LINE[table]):
        # As the driver takes it: a colon begins no parameter.
        connection.exec_driver_sql(statement)


def _make_writable(connection: Connection, table: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_append_only ON {table}")
        return
    for name in ("no_update", "no_delete", "no_replace"):
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_{name}")


def _append_only(connection: Connection) -> tuple[str, ...]:
    there = inspect(connection).get_table_names()
    return tuple(table for table in LINE if table in there)


def _triggers(dialect: str, table: str, line: Sequence[str]) -> Iterator[str]:
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
            SELECT 1 FROM {table} AS old WHERE old.id = NEW.id OR (
                {" AND ".join(f"old.{column} = NEW.{column}" for column in (*line, "revision"))}
            )
        )
        BEGIN SELECT RAISE(ABORT, '{table} is append-only: a row with this key is there'); END
    """
