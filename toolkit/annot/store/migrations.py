"""The migrations of the database: an append-only list of functions, one transaction each, never edited."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, TextClause, inspect, text

from annot.errors import StoreError
from annot.store import schema

VERSION_TABLE = "annot_schema"


def _first_tables(connection: Connection) -> None:
    dialect = connection.dialect.name
    for statement in schema.TABLES:
        connection.execute(_verbatim(statement.replace("{serial}", schema.SERIAL[dialect])))
    for statement in schema.TRIGGERS[dialect]:
        connection.execute(_verbatim(statement))


MIGRATIONS: list[Callable[[Connection], None]] = [_first_tables]
"""Migration n brings a database from version n - 1 to n. New ones go to the end."""


def version_of(connection: Connection) -> int:
    """The version of the database: how many migrations it has been through; 0 when it is empty.

    Raises StoreError when the tables in it are another program's, or a newer program's.
    """
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise StoreError(
                f"the database holds tables of another program ({', '.join(sorted(tables)[:3])}, ...)",
                hint="give annot a database of its own: `store.database` in annot.toml, or ANNOT_DATABASE",
            )
        return 0
    version = int(connection.execute(text(f"SELECT COALESCE(MAX(version), 0) FROM {VERSION_TABLE}")).scalar_one())
    if version > len(MIGRATIONS):
        raise StoreError(
            f"the database is of version {version}; this program knows versions up to {len(MIGRATIONS)}",
            hint="a newer annot has been here: update annot on this machine",
        )
    return version


def migrate(connection: Connection, number: int) -> None:
    """Run migration `number` in the caller's transaction, unless another process has done so by now.

    The caller holds the one write lock, so two processes that open a new database do not meet here.
    """
    if version_of(connection) >= number:
        return
    connection.execute(text(f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version INTEGER PRIMARY KEY NOT NULL)"))
    MIGRATIONS[number - 1](connection)
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} (version) VALUES (:version)"), {"version": number})


def _verbatim(statement: str) -> TextClause:
    """The statement as it stands: a colon in it begins no parameter."""
    return text(statement.replace(":", r"\:"))
