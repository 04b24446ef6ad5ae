"""A migration: one transaction, and the append-only tables stay so for everyone else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from annot.base.errors import StoreError
from annot.base.records import Judgement
from annot.store import database
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import MIGRATIONS, Store, open_store
from sqlalchemy import Connection, text


def migrated_by(added: Callable[[Connection], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MIGRATIONS", [*MIGRATIONS, added])


def test_a_migration_can_fill_a_column_of_the_judgements(
    url: str, monkeypatch: pytest.MonkeyPatch, study: Store
) -> None:
    judge(study)

    def fills(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE judgement ADD COLUMN batch INTEGER"))
        connection.execute(text("UPDATE judgement SET batch = 7"))
        connection.execute(text("ALTER TABLE adjudication ADD COLUMN batch INTEGER"))

    migrated_by(fills, monkeypatch)
    with open_store(url) as store:
        assert store.version() == len(MIGRATIONS) + 1
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
        migrated_by(fails, patch)
        with pytest.raises(StoreError, match="no_such_table"):
            open_store(url)
    refused(study, "UPDATE judgement SET grade = 1")
    with study.read() as session:
        assert session.connection().execute(text("SELECT grade FROM judgement")).scalar_one() == 2


def judge(store: Store) -> None:
    record = Judgement("p1-method", "d1", "a1", 2)
    with store.begin() as session:
        sourced = SourcedJudgement(record, "label-studio", "1", {"id": 1})
        JUDGEMENTS.record(session, [sourced], recorded_at="2026-03-01T10:00:00+00:00")


def refused(store: Store, statement: str) -> None:
    with pytest.raises(StoreError, match="append-only"), store.begin() as session:
        session.connection().execute(text(statement))
