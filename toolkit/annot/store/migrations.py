"""The migrations of the database: a list of functions that only grows, one transaction each."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, text

from annot.errors import StoreError
from annot.store.models import TaskSecretRow, table
from annot.store.schema import make_tables

VERSION_TABLE = "annot_schema"


def add_paper_type(connection: Connection) -> None:
    """The type of a query's paper; the queries that stand have none on record."""
    connection.execute(text("ALTER TABLE query ADD COLUMN paper_type TEXT"))


def add_task_secret(connection: Connection) -> None:
    """A place for the secret of the task keys; tasks on record were sent under plain keys, and stay so."""
    table(TaskSecretRow).create(connection, checkfirst=True)


MIGRATIONS: list[Callable[[Connection], None]] = [make_tables, add_paper_type, add_task_secret]
"""Migration n brings a database from version n - 1 to n. New ones go to the end.

The first makes the tables as they are declared now, so that a new database is at the last version at once.
"""


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
    version = version_of(connection)
    if version >= number:
        return
    connection.execute(text(f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version INTEGER PRIMARY KEY NOT NULL)"))
    MIGRATIONS[number - 1](connection)
    reached = len(MIGRATIONS) if version == 0 else number
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} (version) VALUES (:version)"), {"version": reached})
