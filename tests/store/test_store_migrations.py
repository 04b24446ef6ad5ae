"""A migration: one transaction, and the append-only tables stay so for everyone else."""

import subprocess
import sys

import pytest
from annot.base.errors import StoreError
from annot.base.records import Judgement
from annot.store import schema
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import Store, open_store
from later_release import plant
from sqlalchemy import Connection, text


def test_a_migration_can_fill_a_column_of_the_judgements(
    url: str, monkeypatch: pytest.MonkeyPatch, study: Store
) -> None:
    judge(study)

    def fills(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE judgement ADD COLUMN batch INTEGER"))
        connection.execute(text("UPDATE judgement SET batch = 7"))
        connection.execute(text("ALTER TABLE adjudication ADD COLUMN batch INTEGER"))

    plant(monkeypatch, fills)
    with open_store(url) as store:
        assert store.version() == len(schema.MIGRATIONS)
        with store.read() as session:
            assert session.connection().execute(text("SELECT grade, batch FROM judgement")).fetchall() == [(2, 7)]
        for statement in ("UPDATE judgement SET batch = 8", "DELETE FROM judgement"):
            refused(store, statement)


def test_a_migration_that_fails_leaves_the_judgements_append_only(
    url: str, monkeypatch: pytest.MonkeyPatch, study: Store
) -> None:
    judge(study)

    def fails(connection: Connection) -> None:
        connection.execute(text("UPDATE judgement SET grade = 0"))
        connection.execute(text("SELECT * FROM no_such_table"))

    with monkeypatch.context() as patch:
        plant(patch, fails)
        with pytest.raises(StoreError, match="no_such_table"):
            open_store(url)
    refused(study, "UPDATE judgement SET grade = 1")
    with study.read() as session:
        assert session.connection().execute(text("SELECT grade FROM judgement")).scalar_one() == 2


KILLED_HALF_WAY = """
import os, signal, sys
from annot.store import schema
from annot.store.database import open_store
from sqlalchemy import text

def change(connection):
    connection.execute(text("ALTER TABLE judgement ADD COLUMN batch INTEGER"))
    connection.execute(text("UPDATE judgement SET grade = 0"))
    os.kill(os.getpid(), signal.SIGKILL)

schema.MIGRATIONS.append(schema.Migration("9.1.0", change))
open_store(sys.argv[1])
"""


def test_a_migration_that_is_killed_leaves_the_database_as_it_was(
    url: str, monkeypatch: pytest.MonkeyPatch, study: Store
) -> None:
    judge(study)
    killed = subprocess.run([sys.executable, "-c", KILLED_HALF_WAY, url], check=False, capture_output=True)
    assert killed.returncode == -9, killed.stderr
    with open_store(url) as store:
        assert store.version() == len(schema.MIGRATIONS)
        with store.read() as session:
            assert session.connection().execute(text("SELECT grade FROM judgement")).scalar_one() == 2
        refused(store, "UPDATE judgement SET grade = 1")
    plant(monkeypatch, lambda connection: connection.execute(text("ALTER TABLE judgement ADD COLUMN batch INTEGER")))
    with open_store(url) as store:
        assert store.version() == len(schema.MIGRATIONS)


def judge(store: Store) -> None:
    record = Judgement("p1-method", "d1", "a1", 2)
    with store.begin() as session:
        sourced = SourcedJudgement(record, "label-studio", "1", {"id": 1})
        JUDGEMENTS.record(session, [sourced], recorded_at="2026-03-01T10:00:00+00:00")


def refused(store: Store, statement: str) -> None:
    with pytest.raises(StoreError, match="append-only"), store.begin() as session:
        session.connection().execute(text(statement))
