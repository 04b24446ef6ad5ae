"""Every table as it is declared, compared with the tables that the migrations make."""

from pathlib import Path
from typing import Any

import pytest
from annot.store import models, shown
from annot.store.database import Store, connect_store
from postgres import PostgresServer
from sqlalchemy import Connection, inspect


def structure(connection: Connection) -> dict[str, Any]:
    """All that a database enforces of its tables, but for the order of columns and their defaults."""
    inspector = inspect(connection)
    tables = {}
    for name in set(inspector.get_table_names()) - {"annot_schema"}:
        columns = inspector.get_columns(name)
        tables[name] = {
            "columns": {c["name"]: (str(c["type"]), c["nullable"], bool(c.get("identity"))) for c in columns},
            "key": inspector.get_pk_constraint(name)["constrained_columns"],
            "foreign": sorted(map(repr, inspector.get_foreign_keys(name))),
            "unique": sorted((one["name"], *one["column_names"]) for one in inspector.get_unique_constraints(name)),
            "checks": sorted((one["name"], one["sqltext"]) for one in inspector.get_check_constraints(name)),
            "indexes": sorted((one["name"], *one["column_names"]) for one in inspector.get_indexes(name)),
        }
    return tables


@pytest.fixture
def declared(url: str, tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Tables that a database of the same kind makes from the declarations."""
    place = f"sqlite:///{tmp_path / 'declared.db'}"
    if "postgresql" in url:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        place = server.new_database()
    with connect_store(place, create=True) as store, store.begin() as session:
        models.TABLES.create_all(session.connection())
        return structure(session.connection())


def test_the_migrations_make_the_tables_that_are_declared(store: Store, declared: dict[str, Any]) -> None:
    """A change to a table needs a migration: studies of earlier releases have the table without the change."""
    with store.read() as session:
        migrated = structure(session.connection())
    assert migrated == declared, "a table was changed without a migration: add one to MIGRATIONS in store/schema.py"


def test_a_changed_table_is_noticed(store: Store) -> None:
    with store.begin() as session:
        before = structure(session.connection())
        for statement in ("ALTER TABLE query ADD COLUMN note TEXT", "DROP INDEX judgement_query_doc"):
            session.connection().exec_driver_sql(statement)
            after = structure(session.connection())
            assert after != before
            before = after


def test_the_tables_of_the_judging_are_among_them() -> None:
    ours = {models.JUDGEMENT_TABLE, models.TASK_TABLE, shown.SHOWN_VERSION_TABLE}
    assert ours <= set(models.TABLES.sorted_tables)
