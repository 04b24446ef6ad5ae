"""Databases that can be opened, those that cannot, and the messages; dumps and fetched files at their limits."""

import json
import os
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput, StoreError
from annot.base.names import sha256_of
from annot.base.records import Judgement
from annot.store import database, schema
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import DumpFacts, Store, connect_store, dump, in_words, load, open_store, parse_url, place_of
from annot.store.models import TABLES
from annot.store.papers import FolderAtUrl, fetch_file, local_copy, put_files
from later_release import RELEASE, plant
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from stored import NOW


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("sqlite:///x.db", "sqlite"),
        ("postgresql://h/x", "postgresql+psycopg"),
        ("postgresql+asyncpg://h/x", "postgresql+psycopg"),
        ("mysql://h/x", None),
        ("no url", None),
    ],
)
def test_a_url_names_sqlite_or_postgresql(url: str, driver: str | None) -> None:
    if driver is None:
        with pytest.raises(StoreError):
            parse_url(url)
    else:
        assert parse_url(url).drivername == driver


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("sqlite:////a/b.db", "/a/b.db"),
        ("postgresql://u:secret@h:5/x", "PostgreSQL database 'x' at h:5"),
        ("postgresql://u@h/x", "PostgreSQL database 'x' at h"),
        ("postgresql:///x?host=/run", "PostgreSQL database 'x' at /run"),
        ("postgresql:///x", "PostgreSQL database 'x' at local"),
    ],
)
def test_a_place_is_named_without_its_password(url: str, place: str) -> None:
    assert place_of(make_url(url)) == place


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_has_a_file(url: str) -> None:
    with pytest.raises(StoreError, match="the database has no file"):
        open_store(url)


def test_nothing_is_made_in_an_empty_file_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "annot.db"
    path.write_bytes(b"")
    with pytest.raises(MissingInput, match="found an empty database"):
        open_store(f"sqlite:///{path}", create=False)
    assert path.stat().st_size == 0
    path.unlink()
    with open_store(f"sqlite:///{path}") as store:
        assert store.version() == len(schema.MIGRATIONS)
    assert path.stat().st_mode & 0o777 == 0o600
    for bad, words in ((tmp_path, "found a folder"), (tmp_path / "none" / "annot.db", "does not exist")):
        with pytest.raises(StoreError, match=words):
            open_store(f"sqlite:///{bad}")
    (tmp_path / "annot.db-wal").symlink_to(tmp_path / "other")
    with pytest.raises(StoreError, match=r"annot\.db-wal: found a link"):
        open_store(f"sqlite:///{path}")


def test_an_older_database_is_opened_only_as_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'annot.db'}"
    with open_store(url), open_store(url, create=False) as same:
        assert same.version() == len(schema.MIGRATIONS)
        assert same._engine.hide_parameters
    plant(monkeypatch, lambda connection: None)
    with (
        open_store(url, create=False) as behind,
        pytest.raises(StoreError, match=rf"made by an earlier annot \(version {len(schema.MIGRATIONS) - 1}\)"),
        behind.begin(),
    ):
        pass
    with open_store(url, create=False, older=True) as older:
        assert older.version() == len(schema.MIGRATIONS) - 1
    with open_store(url) as brought:
        assert brought.version() == len(schema.MIGRATIONS)


def test_a_migration_that_another_process_made_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    with open_store(f"sqlite:///{tmp_path / 'annot.db'}") as store:
        for name in ("first", "second"):
            plant(monkeypatch, lambda _connection, name=name: made.append(name))
            for _ in range(2):
                with store.begin() as session:
                    schema.migrate(session.connection())
        assert made == ["first", "second"]
        with store.read() as session:
            rows = session.connection().execute(text("SELECT version, release FROM annot_schema ORDER BY version"))
            last = len(schema.MIGRATIONS)
            expected = [(last - 2, schema.MIGRATIONS[-3].release), (last - 1, RELEASE), (last, RELEASE)]
            assert list(map(tuple, rows)) == expected
    # A new database goes the whole way at once.
    with open_store(f"sqlite:///{tmp_path / 'new.db'}") as store, store.read() as session:
        versions = session.connection().execute(text("SELECT version FROM annot_schema"))
        assert versions.scalars().all() == [last]
    assert made == ["first", "second"] * 2


def test_a_file_that_cannot_be_written_is_read_by_what_is_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "annot.db"
    log, index = tmp_path / "annot.db-wal", tmp_path / "annot.db-shm"
    assert database._address_for_reading(path) == f"{path.as_uri()}?immutable=1"
    log.write_bytes(b"")
    assert database._address_for_reading(path).endswith("?immutable=1")
    log.write_bytes(b"x")
    with pytest.raises(StoreError, match=r"its last changes in annot\.db-wal cannot be read"):
        database._address_for_reading(path)
    index.write_bytes(b"")
    assert database._address_for_reading(path).endswith("?mode=ro")


def test_a_database_that_can_only_be_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'annot.db'}"
    open_store(url).close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with open_store(url, create=False) as store:
        assert store.version() == len(schema.MIGRATIONS)
        assert store._engine.hide_parameters


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        ("database is locked", "another process has been writing for too long", "wait until"),
        ("attempt to write a readonly database", "cannot be written", "check the permissions"),
        ("password authentication failed: s3cret", "cannot be reached: password authentication failed: ***", "is the"),
        ("no such table: x\nDETAIL: a@example.org", "incomplete: no such table: x", "restore a backup"),
        ("connection refused", "cannot be reached", "is the server running?"),
    ],
)
def test_an_error_of_the_database_is_said_with_its_remedy(said: str, message: str, hint: str | None) -> None:
    error = in_words(DBAPIError(None, None, sqlite3.OperationalError(said)), "PLACE", "s3cret")
    assert error.message.startswith(f"PLACE: {message}")
    assert str(error.hint or "").startswith(hint or "")
    assert (error.hint is None) is (hint is None)
    assert "a@example.org" not in error.message


def test_a_refused_change_and_a_lost_connection_are_said_so() -> None:
    refused = in_words(IntegrityError(None, None, sqlite3.IntegrityError("UNIQUE\nvalues")), "PLACE", None)
    assert refused.message == "PLACE: the database refused the change: UNIQUE"
    lost = DBAPIError(None, None, sqlite3.OperationalError("gone"), connection_invalidated=True)
    assert "cannot be reached: gone" in in_words(lost, "PLACE", None).message


def test_the_log_is_waited_for_while_another_process_switches_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, naps, connect = ["database is locked", "database is locked"], list[float](), sqlite3.connect

    def busy(path: Path) -> sqlite3.Connection:
        if said:
            raise sqlite3.OperationalError(said.pop())
        return connect(path)

    monkeypatch.setattr(database.sqlite3, "connect", busy)
    monkeypatch.setattr(database.time, "sleep", naps.append)
    path = tmp_path / "annot.db"
    database._use_write_ahead_log(path, 60)
    assert (len(naps), max(naps) < 1) == (2, True)
    said[:] = ["disk I/O error"] * 2
    with pytest.raises(StoreError, match="disk I/O error"):
        database._use_write_ahead_log(path, 60)
    said[:] = ["database is locked"] * 2
    with pytest.raises(StoreError, match="another process has been writing for too long"):
        database._use_write_ahead_log(path, -1)
    assert (len(naps), len(said)) == (2, 1)


def test_a_file_system_on_which_programs_cannot_share_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(database.sqlite3, "connect", lambda _: connect(":memory:"))
    with pytest.raises(StoreError, match=r"cannot be shared on this file system"):
        database._use_write_ahead_log(tmp_path / "annot.db", 1)


def test_the_first_tables_of_another_program_are_named(tmp_path: Path) -> None:
    with connect_store(f"sqlite:///{tmp_path / 'annot.db'}", create=True) as store:
        with store.begin() as session:
            for name in "dcba":
                session.connection().execute(text(f"CREATE TABLE {name} (x)"))
        with pytest.raises(StoreError, match=r"tables of another program \(a, b, c, \.\.\.\)"):
            store.version()


# -- dumps


def dumped_rows(store: Store, folder: Path) -> tuple[DumpFacts, Path]:
    folder.mkdir()
    with store.read() as session:
        return dump(session.connection(), folder), folder


def loaded(folder: Path, dumped: DumpFacts, tmp_path: Path) -> None:
    with connect_store(f"sqlite:///{tmp_path / 'again.db'}", create=True) as store, store.begin() as session:
        load(session.connection(), dumped, folder)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"lead_time": "4"}, "lead_time: found '4'"),
        ({"account": 2**63}, f"account: found {2**63}"),
        ({"account": 1.5}, "account: found 1.5"),
        ({"source": None, "server": 1}, "source: found None"),
        ({"more": 1}, "more: found 1, expected no such field"),
    ],
)
def test_a_row_of_a_dump_fits_its_columns(
    study: Store, tmp_path: Path, change: dict[str, Any], fault: str | None
) -> None:
    said = SourcedJudgement(Judgement("p1-method", "d1", "a1", 1), "x", "1", {})
    with study.begin() as session:
        JUDGEMENTS.record(session, [said], recorded_at=NOW)
    dumped, folder = dumped_rows(study, tmp_path / "dump")
    path = folder / "judgement.jsonl"
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
    if fault is None:
        loaded(folder, dumped, tmp_path)
    else:
        with pytest.raises(InputError) as error:
            loaded(folder, dumped, tmp_path)
        assert error.value.message.startswith(f"judgement.jsonl:1: {fault}")


def test_a_dump_of_an_earlier_commit_is_refused_with_its_remedy(study: Store, tmp_path: Path) -> None:
    dumped, folder = dumped_rows(study, tmp_path / "dump")
    path = folder / "query.jsonl"
    path.write_text(path.read_text().replace('"topic_id"', '"paper_id"'))
    with pytest.raises(InputError) as error:
        loaded(folder, dumped, tmp_path)
    assert error.value.message.startswith("query.jsonl:1: no field 'topic_id'")
    assert error.value.hint == "restore it with the version of the program that made it"


def test_a_dump_has_all_its_rows(study: Store, tmp_path: Path) -> None:
    dumped, folder = dumped_rows(study, tmp_path / "dump")
    assert (dumped.rows["assessor"], dumped.rows["judgement"], dumped.version) == (3, 0, len(schema.MIGRATIONS))
    assert set(dumped.rows) == set(TABLES.tables)
    fewer = DumpFacts(dumped.version, {**dumped.rows, "assessor": 4})
    with pytest.raises(InputError, match="assessor: 3 rows in the backup, expected 4"):
        loaded(folder, fewer, tmp_path)
    without = DumpFacts(dumped.version, {name: n for name, n in dumped.rows.items() if name != "split"})
    (folder / "split.jsonl").unlink()
    loaded(folder, without, tmp_path)


# -- files at a URL


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fetched").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "fetched"))
    return tmp_path / "fetched"


def test_a_folder_is_read_in_place_here_and_at_its_urls_by_who_is_sent_it(tmp_path: Path, fetched: Path) -> None:
    pytest.importorskip("fsspec")
    path = tmp_path / "one.txt"
    path.write_text("1")
    url = (tmp_path / "there").as_uri()
    # A file of the same name below the folder is not the one that is wanted.
    below = tmp_path / "there" / "below"
    below.mkdir(parents=True)
    (below / f"{sha256_of(path)}.txt").write_text("1")
    urls = put_files({path: sha256_of(path)}, url)
    assert (tmp_path / "there" / f"{sha256_of(path)}.txt").read_text() == "1"
    here = FolderAtUrl(tmp_path, {"one.txt": urls[path]})
    assert here / "one.txt" == path
    sent = FolderAtUrl(**here.__getstate__())
    copy = sent / "one.txt"
    assert (copy.read_text(), copy.parent.parent) == ("1", fetched)
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert local_copy(urls[path]) == copy
    (tmp_path / "there" / ("0" * 64 + ".txt")).write_text("1")
    with pytest.raises(InputError, match="its bytes do not have the hash in its name"):
        fetch_file(f"{url}/{'0' * 64}.txt", tmp_path / "x")
