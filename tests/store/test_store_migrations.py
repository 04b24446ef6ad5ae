"""Databases of earlier versions: each is migrated whole, no judgement is lost, and who only reads migrates nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from annot.base.errors import StoreError
from annot.store import facet_labels, judgements, people, pools, projects, queries, runs
from annot.store import migrations as known
from annot.store.adjudications import read_adjudications
from annot.store.chained import broken_chains
from annot.store.database import Store, open_store
from annot.store.migrations import MIGRATIONS
from annot.store.schema import drop_triggers
from sqlalchemy import Connection, inspect, text


def columns_of(store: Store, name: str) -> set[str]:
    with store.read() as session:
        return {column["name"] for column in inspect(session.connection()).get_columns(name)}


def rows_of(store: Store, name: str) -> list[tuple[object, ...]]:
    with store.read() as session:
        found = session.connection().execute(text(f"SELECT * FROM {name} ORDER BY 1, 2"))
        return [tuple(json.dumps(value, sort_keys=True) for value in row) for row in found]


def migrated_by(added: Callable[[Connection], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MIGRATIONS", [*MIGRATIONS, added])


def test_a_frozen_study_of_the_first_version_is_migrated_with_every_judgement(first_version: str) -> None:
    with open_store(first_version, create=False, older=True) as store:
        assert store.version() == 1
        assert "paper_type" not in columns_of(store, "query")
        before = rows_of(store, "judgement"), rows_of(store, "adjudication")
    with open_store(first_version) as store:
        assert store.version() == len(MIGRATIONS)
        with store.read() as session:
            found = judgements.read_judgements(session)
            (decision,) = read_adjudications(session)
            history = judgements.read_history(session, "p1-method", "d2")
            assert len(facet_labels.count_by_origin(session)) == 1
            assert [one.paper_type for one in queries.read_queries(session)] == [None, None]
            assert len(pools.read_pool(session, "p1").entries) == 3
            assert len(people.read_assignments(session)) == 7
            drawn = people.read_plan(session)
            assert drawn is not None
            assert (drawn.per_pair, drawn.vacant) == (2, ())
            sent = {one.assessor: projects.read_tasks(session, one.project) for one in projects.read_projects(session)}
            assert runs.read_splits(session) == {"folds": {"test": ("p1-method",)}}
        # Newer columns come after those that were there.
        after = rows_of(store, "judgement"), rows_of(store, "adjudication")
        for old, new in zip(before, after, strict=True):
            assert [row[: len(was)] for was, row in zip(old, new, strict=True)] == old
    given = {(one.doc_id, one.assessor, one.occasion): one for one in found}
    grades = {key: one.grade for key, one in given.items()}
    assert grades == {
        ("d1", "a1", 1): 3,
        ("d1", "a1", 2): 2,
        ("d2", "a1", 1): 0,
        ("d3", "a1", 1): None,
        ("d1", "a2", 1): 1,
        ("d2", "a2", 1): 1,
        ("d3", "a2", 1): 1,
    }
    assert given["d3", "a1", 1].cannot_judge == "outside my field"
    assert given["d3", "a2", 1].flags == ("the account 9 answered, expected 2",)
    assert [one.record.grade for one in history if one.record.assessor == "a2"] == [0, 1]
    assert history[0].payload is not None
    assert history[0].payload["said"] == "naïve 𝛼 \u2028"
    assert (decision.grade, decision.reason) == (2, "the same model")
    assert sorted(sent["a1"].values()) == [10, 11, 12, 13]


def test_the_rows_of_an_older_database_are_chained_as_they_are(first_version: str) -> None:
    with open_store(first_version) as store:
        with store.read() as session:
            assert list(broken_chains(session.connection())) == []
            links = [link for _, link in session.connection().execute(text("SELECT id, chain_sha256 FROM judgement"))]
            assert len({*links}) == len(links) > 0
        with store.begin() as session:
            drop_triggers(session.connection())
            session.connection().execute(text("DELETE FROM judgement WHERE id = (SELECT MIN(id) FROM judgement)"))
        with store.read() as session:
            gap, counted = broken_chains(session.connection())
    assert "the row before it is not the one that it was recorded behind" in gap
    assert counted == f"judgement: found {len(links) - 1} rows, {len(links)} were recorded"


def test_what_is_recorded_again_after_a_migration_is_nothing_new(first_version: str) -> None:
    """The hash of a judgement is that of its content then, whatever columns came later."""
    with open_store(first_version) as store:
        with store.read() as session:
            standing = [
                one._replace(recorded_at=None)
                for doc_id in ("d1", "d3")
                for one in judgements.read_history(session, "p1-method", doc_id)
            ]
        with store.begin() as session:
            again = judgements.record_judgements(session, standing, recorded_at="2026-04-01T00:00:00+00:00")
    assert (again.added, again.revised, again.unchanged) == (0, 0, 5)


def test_a_new_database_and_a_migrated_one_have_the_same_columns(first_version: str, tmp_path: Path) -> None:
    with open_store(first_version) as old, open_store(f"sqlite:///{tmp_path / 'new.db'}") as new:
        with new.read() as session:
            tables = inspect(session.connection()).get_table_names()
        assert {name: columns_of(old, name) for name in tables} == {name: columns_of(new, name) for name in tables}


def test_who_does_not_make_a_study_does_not_migrate_one(first_version: str) -> None:
    with pytest.raises(StoreError, match=r"version 1 of an earlier annot") as caught:
        open_store(first_version, create=False)
    assert "annot migrate" in (caught.value.hint or "")
    with open_store(first_version, create=False, older=True) as store:
        assert store.version() == 1


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
    record = judgements.Judgement("p1-method", "d1", "a1", 2)
    with store.begin() as session:
        sourced = judgements.SourcedJudgement(record, "label-studio", "1", {"id": 1})
        judgements.record_judgements(session, [sourced], recorded_at="2026-03-01T10:00:00+00:00")


def refused(store: Store, statement: str) -> None:
    with pytest.raises(StoreError, match="append-only"), store.begin() as session:
        session.connection().execute(text(statement))
