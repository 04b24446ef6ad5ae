"""Rules that the database itself keeps, for every program that writes to it."""

import sqlite3
from pathlib import Path

import pytest
from annot.base.errors import StoreError
from annot.base.records import Adjudication, Judgement
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.database import Store, open_store
from annot.store.models import TABLES
from sqlalchemy import inspect, text

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


@pytest.mark.parametrize(
    ("before", "refused"),
    [
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
        (
            (POOL, ADDITION.format("2, 'late', 13, '[]', NULL")),
            ADDITION.format("2, 'manual', NULL, '[]', 'why'"),
        ),
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
        (
            ("INSERT INTO split VALUES ('all', 'p1-method', 'one')",),
            "INSERT INTO split VALUES ('all', 'p1-method', 'one')",
        ),
        ((), "INSERT INTO split VALUES ('all', 'no-such-query', 'one')"),
        ((POOL, ENTRY), DRAW.replace("'cited', 1", "'cited', 0")),
        (("INSERT INTO assignment VALUES ('p1-method', 'd1', 'a1', 1, 1)",), "DELETE FROM query"),
        ((JUDGEMENT.format("'x', 'p1-method', 'd1', 'a1', '', 1, 1"),), "DELETE FROM assessor"),
    ],
)
def test_the_database_refuses(study: Store, before: tuple[str, ...], refused: str) -> None:
    execute(study, *before)
    with pytest.raises(StoreError, match="the database refused"):
        execute(study, refused)


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


def test_every_declared_table_is_made(store: Store) -> None:
    with store.read() as session:
        assert set(inspect(session.connection()).get_table_names()) == {*TABLES.tables, "annot_schema"}
