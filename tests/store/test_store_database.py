"""Opening the store: new databases, refusals, and transactions that are kept as a whole or not at all."""

import multiprocessing
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from annot.base.errors import StoreError
from annot.base.records import Judgement
from annot.store import schema
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import Store, open_store
from annot.store.facet_labels import FacetLabels, read_labels, replace_labels
from later_release import plant
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

SPAWN = multiprocessing.get_context("spawn")


def labels(count: int, *, start: int = 0) -> list[FacetLabels]:
    return [FacetLabels(f"p{n}", ("method",), "carried") for n in range(start, start + count)]


def paper_ids(store: Store) -> set[str]:
    with store.read() as session:
        return {one.paper_id for one in read_labels(session)}


def tables(store: Store) -> set[str]:
    with store.read() as session:
        return set(inspect(session.connection()).get_table_names())


def test_an_error_in_a_transaction_leaves_nothing(store: Store) -> None:
    def fails() -> None:
        with store.begin() as session:
            replace_labels(session, labels(3))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert paper_ids(store) == set()


def test_a_read_transaction_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError, match="read"), store.read() as session:
        replace_labels(session, labels(1))
    with store.begin() as session:
        replace_labels(session, labels(1))
    assert paper_ids(store) == {"p0"}


def test_a_read_transaction_sees_one_moment(store: Store) -> None:
    with store.read() as reading:
        assert list(read_labels(reading)) == []
        with store.begin() as writing:
            replace_labels(writing, labels(1))
        assert list(read_labels(reading)) == []
    assert paper_ids(store) == {"p0"}


def test_a_failed_migration_leaves_nothing_behind(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(url).close()

    def fails(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE half_done (id INTEGER PRIMARY KEY)"))
        connection.execute(text("INSERT INTO facet_labels VALUES ('p0', 'method', 'carried', NULL)"))
        connection.execute(text("SELECT * FROM no_such_table"))

    with monkeypatch.context() as patch:
        plant(patch, fails)
        with pytest.raises(StoreError, match="no_such_table"):
            open_store(url)
    with open_store(url) as store:
        assert store.version() == len(schema.MIGRATIONS)
        assert "half_done" not in tables(store)
        assert paper_ids(store) == set()


def test_a_damaged_database_is_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "annot.db"
    open_store(f"sqlite:///{path}").close()
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    with pytest.raises(StoreError, match=str(path)) as caught:
        open_store(f"sqlite:///{path}")
    assert "backup" in (caught.value.hint or "")


def test_an_unreachable_server_is_named_without_the_password() -> None:
    with socket.socket() as taken:
        # Bound and not listening: nobody else can answer there.
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        for url in (
            f"postgresql://annot:s3cret@127.0.0.1:{port}/study",
            f"postgres://annot@127.0.0.1:{port}/study?password=s3cret",
        ):
            with pytest.raises(StoreError, match=f"'study' at 127.0.0.1:{port}: cannot be reached") as caught:
                open_store(url)
            assert "s3cret" not in str(caught.value)
            assert caught.value.hint


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://annot@localhost/study")
    assert "pip install 'annot-collections[postgres]'" in (caught.value.hint or "")


def test_a_refusal_by_the_database_shows_no_value(store: Store) -> None:
    insert = text("INSERT INTO assessor (assessor, account, adjudicator) VALUES (:name, 'person@example.org', FALSE)")
    with pytest.raises(StoreError, match="account") as caught, store.begin() as session:
        session.connection().execute(insert, [{"name": "a1"}, {"name": "a2"}])
    assert "person@example.org" not in str(caught.value)


def _opens(url: str, gate: object, outcome: object) -> None:
    gate.wait()  # type: ignore[attr-defined]
    try:
        with open_store(url) as store:
            outcome.put(store.version())  # type: ignore[attr-defined]
    except BaseException as error:
        outcome.put(repr(error))  # type: ignore[attr-defined]


def test_processes_that_open_a_new_database_at_once_all_succeed(url: str) -> None:
    gate, outcome = SPAWN.Barrier(2), SPAWN.Queue()
    processes = [SPAWN.Process(target=_opens, args=(url, gate, outcome)) for _ in range(2)]
    for process in processes:
        process.start()
    results = [outcome.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    assert results == [len(schema.MIGRATIONS)] * 2


def _counts_up(url: str, times: int) -> None:
    with open_store(url) as store:
        for _ in range(times):
            with store.begin() as session:
                # Read, then write what follows from it: lost where two writers overlap.
                standing = list(read_labels(session))
                replace_labels(session, [*standing, *labels(1, start=len(standing))])


def test_two_writers_wait_for_each_other_and_lose_nothing(url: str) -> None:
    open_store(url).close()
    processes = [SPAWN.Process(target=_counts_up, args=(url, 10)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    with open_store(url) as store:
        assert paper_ids(store) == {f"p{n}" for n in range(20)}


def test_a_writer_that_waits_too_long_says_so(store: Store, url: str) -> None:
    # The second store's version is current, so that opening it needs no lock.
    with open_store(url, wait_seconds=0.2) as impatient, store.begin() as session:
        replace_labels(session, labels(1))
        with pytest.raises(StoreError, match="another process has been writing"), impatient.begin():
            pass
        assert paper_ids(impatient) == set()


@pytest.mark.postgres
def test_the_server_is_told_how_long_a_writer_waits(postgres_url: str) -> None:
    with open_store(postgres_url, wait_seconds=0.25) as store, store.begin() as session:
        assert session.connection().execute(text("SHOW lock_timeout")).scalar_one() == "250ms"


KILLED = """
import sys
from annot.store.database import open_store
from annot.store.pools import put_queries, read_queries
from annot.base.records import Query
from annot.store.facet_labels import FacetLabels, replace_labels
from annot.store.pools import put_queries
from annot.base.records import Query
with open_store(sys.argv[1]) as store, store.begin() as session:
    replace_labels(session, (FacetLabels(f"p{n}", ("method",), "carried") for n in range(20_000)))
    put_queries(session, [Query("p1-method", "p1", "method", (0,))])
    print("in the middle", flush=True)
    sys.stdin.read()
"""


def test_a_writer_killed_in_the_middle_leaves_nothing_and_blocks_nobody(url: str) -> None:
    command = [sys.executable, "-c", KILLED, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "in the middle\n"
        os.kill(writer.pid, signal.SIGKILL)
        assert writer.wait() == -signal.SIGKILL
    # Where it were blocked, this would be refused when the wait is over.
    with open_store(url, wait_seconds=600) as store:
        with store.begin() as session:
            assert list(read_labels(session)) == []
            assert session.connection().execute(text("SELECT count(*) FROM query")).scalar_one() == 0
            replace_labels(session, labels(1))
        assert paper_ids(store) == {"p0"}


def test_a_copy_of_the_file_alone_is_whole_after_closing(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'annot.db'}") as store, store.begin() as session:
        replace_labels(session, labels(10))
    assert [path.name for path in tmp_path.iterdir()] == ["annot.db"]
    connection = sqlite3.connect(tmp_path / "annot.db")
    assert connection.execute("SELECT count(*) FROM facet_labels").fetchone() == (10,)
    connection.close()


def test_a_database_without_one_of_its_tables_names_a_remedy(store: Store) -> None:
    with store.begin() as session:
        session.connection().execute(text("DROP TABLE facet_labels"))
    with pytest.raises(StoreError, match="facet_labels") as caught:
        paper_ids(store)
    assert "backup" in str(caught.value.hint)


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


@pytest.mark.parametrize("writable", [True, False], ids=["to write", "to read only"])
def test_an_error_does_not_show_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool) -> None:
    path = tmp_path / "annot.db"
    open_store(f"sqlite:///{path}").close()
    if not writable:
        monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)
    with open_store(f"sqlite:///{path}") as store, store.read() as session, pytest.raises(DBAPIError) as error:
        session.connection().execute(text("SELECT * FROM no_such_table WHERE said = :said"), {"said": "a secret"})
    assert "no_such_table" in str(error.value)
    assert "secret" not in str(error.value)
