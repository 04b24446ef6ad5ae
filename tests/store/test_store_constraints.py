"""Rules that the database itself keeps, for every program that writes to it."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import StoreError
from annot.base.records import Adjudication, Judgement
from annot.store import models
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.database import Store, connect_store, open_store
from postgres import PostgresServer
from sqlalchemy import Connection, inspect, text

JUDGEMENT = (
    "INSERT INTO judgement (source, query_id, doc_id, assessor, annotation, revision, grade, server, occasion, flags, "
    "payload, content_sha256, recorded_at, chain_sha256) VALUES ({}, '', 1, '[]', 'null', '', '', '')"
)
POOL = "INSERT INTO pool VALUES ('p1', 'blocks', 3, 500, 1, '[]', '[]', '[]', 0, '', NULL)"
ENTRY = "INSERT INTO pool_entry VALUES ('p1', 'd1', 1)"
DRAW = "INSERT INTO draw VALUES ('p1', 'd1', 'cited', 1, NULL, 1, 0, NULL)"
ADDITION = "INSERT INTO pool_addition VALUES ('p1', {}, NULL, NULL, NULL)"
PROJECT = (
    "INSERT INTO project (round, assessor, server, url, version, remote_id, set_back) "
    "VALUES ('judge', 'a1', 'one', 'http://one', '1', 7, '[]')"
)


def execute(store: Store, *statements: str) -> None:
    with store.begin() as session:
        for statement in statements:
            session.connection().execute(text(statement))


REFUSED: list[tuple[tuple[str, ...], str]] = [
    ((), JUDGEMENT.format("'x', 'p1-method', 'd1', 'a1', '', 1, 10")),
    ((), JUDGEMENT.format("'x', 'p1-method', 'd1', 'a1', '', 1, -1")),
    ((), JUDGEMENT.format("'x', 'p1-method', 'd1', 'a1', '', 0, 1")),
    ((), JUDGEMENT.format("'x', 'no-such-query', 'd1', 'a1', '', 1, 1")),
    ((), JUDGEMENT.format("'x', 'p1-method', 'd1', 'nobody', '', 1, 1")),
    (
        (JUDGEMENT.format("'x', 'p1-method', 'd1', 'a1', '', 1, 1"),),
        JUDGEMENT.format("'x', 'p1-method', 'd1', 'a1', '', 1, 2"),
    ),
    ((), "INSERT INTO facet_labels VALUES ('p1', 'method', 'guessed', NULL)"),
    ((), "INSERT INTO facet_labels VALUES ('p1', 'method', 'predicted:', NULL)"),
    ((), "INSERT INTO query VALUES ('other', 'p1', 'method', '[0]', NULL)"),
    ((), ENTRY),
    ((POOL, ENTRY), "INSERT INTO pool_entry VALUES ('p1', 'd2', 1)"),
    ((POOL, ENTRY), "INSERT INTO pool_entry VALUES ('p1', 'd2', 0)"),
    ((POOL,), DRAW),
    ((POOL, ENTRY, DRAW), "INSERT INTO draw VALUES ('p1', 'd1', 'bm25', 4, 1.5, 2, 0, NULL)"),
    ((POOL, ENTRY, DRAW), "INSERT INTO draw VALUES ('p1', 'd1', 'bm25', 4, 1.5, 2, 1, NULL)"),
    ((POOL, ENTRY, DRAW), "INSERT INTO draw VALUES ('p1', 'd1', 'cited', 4, 1.5, NULL, 1, NULL)"),
    ((), ADDITION.format("2, 'late', 13, '[]', NULL")),
    ((POOL,), ADDITION.format("1, 'late', 13, '[]', NULL")),
    ((POOL,), ADDITION.format("2, 'late', 0, '[]', NULL")),
    ((POOL,), ADDITION.format("2, 'late', NULL, '[]', NULL")),
    ((POOL,), ADDITION.format("2, 'manual', 3, '[]', 'why'")),
    ((POOL,), ADDITION.format("2, 'manual', NULL, '[]', ''")),
    ((POOL,), ADDITION.format("2, 'manual', NULL, '[]', NULL")),
    ((POOL, ADDITION.format("2, 'late', 13, '[]', NULL")), ADDITION.format("2, 'manual', NULL, '[]', 'why'")),
    ((), "INSERT INTO assessor (assessor, account, adjudicator) VALUES ('a3', 'one@example.org', FALSE)"),
    ((), "INSERT INTO assessor (assessor, account, adjudicator) VALUES ('', NULL, FALSE)"),
    ((), "INSERT INTO assignment VALUES ('p1-method', 'd1', 'nobody', 1, 1)"),
    ((), "INSERT INTO assignment VALUES ('no-such-query', 'd1', 'a1', 1, 1)"),
    (
        ("INSERT INTO assignment VALUES ('p1-method', 'd1', 'a1', 1, 1)",),
        "INSERT INTO assignment VALUES ('p1-method', 'd2', 'a1', 1, 1)",
    ),
    ((), "INSERT INTO assignment VALUES ('p1-method', 'd1', 'a1', 1, 0)"),
    ((), JUDGEMENT.format("'x', 'p1-method', 'd1', 'a1', '', 1, 1").replace("'', 1, '[]'", "'', 0, '[]'")),
    ((), "INSERT INTO plan VALUES (2, '', 1, '', 2, '[]')"),
    ((), "INSERT INTO accepted VALUES ('p1-method', 'd1', '', '')"),
    ((PROJECT,), PROJECT),
    ((PROJECT,), "INSERT INTO task VALUES (99, 'p1-method', 'd1', 1, 1, '[]')"),
    (
        (PROJECT, "INSERT INTO task SELECT id, 'p1-method', 'd1', 1, 5, '[]' FROM project"),
        "INSERT INTO task SELECT id, 'p1-method', 'd2', 1, 5, '[]' FROM project",
    ),
    (("INSERT INTO split VALUES ('all', 'p1-method', 'one')",), "INSERT INTO split VALUES ('all', 'p1-method', 'one')"),
    ((), "INSERT INTO split VALUES ('all', 'no-such-query', 'one')"),
    ((POOL, ENTRY), DRAW.replace("'cited', 1", "'cited', 0")),
    (("INSERT INTO assignment VALUES ('p1-method', 'd1', 'a1', 1, 1)",), "DELETE FROM query"),
    ((JUDGEMENT.format("'x', 'p1-method', 'd1', 'a1', '', 1, 1"),), "DELETE FROM assessor"),
]
"""Statements that are allowed, and one that is not after these."""


def test_the_database_refuses(study: Store) -> None:
    for before, refused in REFUSED:
        with study.begin() as session:
            taken_back = session.connection().begin_nested()
            for statement in before:
                session.connection().execute(text(statement))
            taken_back.rollback()
        with pytest.raises(StoreError, match="the database refused"):
            execute(study, *before, refused)


def recorded(store: Store) -> None:
    judgement = SourcedJudgement(Judgement("p1-method", "d1", "a1", 2), "label-studio", "1", {"id": 1})
    settled = Adjudication("p1-method", "d1", "z1", 2, "shown", ("a2", "a1"))
    with store.begin() as session:
        JUDGEMENTS.record(session, [judgement], recorded_at="2024-01-01T00:00:00Z")
        ADJUDICATIONS.record(
            session, [SourcedAdjudication(settled, "label-studio", "2", {})], recorded_at="2024-01-01T00:00:00Z"
        )


@pytest.mark.parametrize("table", ["judgement", "adjudication"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET grade = 0", "DELETE FROM {}"])
def test_judgements_and_adjudications_are_append_only(study: Store, table: str, statement: str) -> None:
    recorded(study)
    with pytest.raises(StoreError, match=f"{table} is append-only"):
        execute(study, statement.format(table))
    with study.read() as session:
        assert session.connection().execute(text(f"SELECT grade FROM {table}")).scalars().all() == [2]


@pytest.mark.postgres
def test_append_only_tables_cannot_be_emptied_on_postgresql(postgres_url: str) -> None:
    with open_store(postgres_url) as store, pytest.raises(StoreError, match="append-only: TRUNCATE"):
        execute(store, "TRUNCATE judgement")


def test_no_other_program_can_change_a_judgement_in_the_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "annot.db"
    with open_store(f"sqlite:///{path}") as store:
        execute(
            store,
            "INSERT INTO query VALUES ('p1-method', 'p1', 'method', '[0]', NULL)",
            "INSERT INTO assessor (assessor, account, adjudicator) VALUES ('a1', NULL, FALSE)",
            "INSERT INTO assessor (assessor, account, adjudicator) VALUES ('z1', NULL, TRUE)",
            "INSERT INTO assessor (assessor, account, adjudicator) VALUES ('a2', NULL, FALSE)",
        )
        recorded(store)
    connection = sqlite3.connect(path)
    columns = (
        "source, server, query_id, doc_id, assessor, occasion, annotation, revision, grade, flags, payload, "
        "content_sha256, recorded_at, chain_sha256"
    )
    worse = columns.replace("grade", "0")
    for statement in (
        "UPDATE judgement SET grade = 0",
        "DELETE FROM judgement",
        "DELETE FROM adjudication",
        f"INSERT OR REPLACE INTO judgement (id, {columns}) SELECT id, {worse.replace('revision', '2')} FROM judgement",
        f"INSERT OR REPLACE INTO judgement ({columns}) SELECT {worse} FROM judgement",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    assert connection.execute("SELECT grade FROM judgement").fetchall() == [(2,)]
    connection.close()


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
