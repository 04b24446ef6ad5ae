"""Holders of a study: their line, the wait of others, and the messages to PostgreSQL."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import StoreError
from annot.store import database
from annot.store.database import hold_study, lock_file

ME = "push|17|2031-01-01T00:00:00Z|host.example"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{ME}\n", "`annot push` is changing this study: process 17 on host.example, since 2031-01-01T00:00:00Z"),
        ("push|17|2031|", "`annot push` is changing this study: process 17 on its machine, since 2031"),
        ("push|17|2031", "another command is changing this study at the moment"),
        ("", "another command is changing this study at the moment"),
    ],
)
def test_a_holder_is_named_by_its_line(line: str, message: str) -> None:
    assert database._busy(line).message == message


def test_the_file_names_its_holder_for_as_long_as_it_is_held(tmp_path: Path) -> None:
    database = tmp_path / "annot.db"
    database.write_bytes(b"")
    path = lock_file(database)
    path.write_text("what a killed process left, which is longer than what comes " * 9)
    path.chmod(0o600)
    with hold_study(f"sqlite:///{database}", command="pull|x", wait_seconds=0):
        assert path.read_text().startswith(f"pull x|{os.getpid()}|")
    assert path.read_text() == ""


def test_a_new_file_of_the_lock_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "annot.db").write_bytes(b"")
    with hold_study(f"sqlite:///{tmp_path / 'annot.db'}", command="x", wait_seconds=0):
        assert lock_file(tmp_path / "annot.db").stat().st_mode & 0o777 == 0o600
    with hold_study(f"sqlite:///{tmp_path / 'none.db'}", command="x", wait_seconds=0):
        assert not lock_file(tmp_path / "none.db").exists()
    lock_file(tmp_path / "annot.db").unlink()
    lock_file(tmp_path / "annot.db").symlink_to(tmp_path / "other")
    with (
        pytest.raises(StoreError, match="found a link, expected the lock of this study"),
        hold_study(f"sqlite:///{tmp_path / 'annot.db'}", command="x", wait_seconds=0),
    ):
        pass


class Connection:
    """Connection that remembers its statements, and answers with one row or none."""

    def __init__(self, row: tuple[Any, ...] | None = None) -> None:
        self.row, self.asked = row, list[tuple[str, tuple[Any, ...]]]()

    def execute(self, statement: str, given: tuple[Any, ...]) -> Connection:
        self.asked.append((statement, given))
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        return self.row


@pytest.mark.parametrize(
    ("command", "host", "name"),
    [
        ("push", "host", "push|17|2031|host"),
        ("push", "h" * 80, "push|17|2031|" + "h" * (63 - 13)),
        ("push", "h" * 49 + "é", "push|17|2031|" + "h" * 49),
        ("p" * 63, "host", "p" * 63),
    ],
)
def test_a_session_says_who_it_is_in_the_63_bytes_that_the_server_keeps(command: str, host: str, name: str) -> None:
    connection = Connection()
    database._present(connection, f"{command}|17|2031|{host}")
    (_, said), *kept_alive = connection.asked
    assert said == (name,)
    # A machine that has gone is noticed after a minute: 30 seconds of silence, then three questions 10 seconds apart.
    settings = ("idle", "interval", "count")
    assert [statement.partition("tcp_keepalives_")[2].partition("'")[0] for statement, _ in kept_alive] == [*settings]
    idle, interval, count = (int(value) for _, (value,) in kept_alive)
    assert (idle + interval * count, interval) == (60, 10)


def test_the_holder_is_looked_up_by_both_halves_of_the_locks_number() -> None:
    """PostgreSQL shows the high 32 bits as `classid` and the low ones as `objid`; the number is "annot" plus 1."""
    connection = Connection((ME,))
    assert database._session_holder(connection) == ME
    ((_, halves),) = connection.asked
    assert halves == (0x61, 0x6E6E6F75)
    assert database._session_holder(Connection()) == ""


class Engine:
    """A server of which the lock is free at the third look."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.autocommit = self.closed = False
        self.looks = [(False,), (True,)]
        self.driver_connection = self
        self.dialect = SimpleNamespace(loaded_dbapi=SimpleNamespace(Error=RuntimeError))

    def raw_connection(self) -> Engine:
        return self

    def execute(self, statement: str, given: tuple[Any, ...]) -> Any:
        assert self.autocommit, "an open transaction would hold up the database"
        row = self.looks.pop(0) if "pg_try_advisory_lock" in statement else (ME,)
        return SimpleNamespace(fetchone=lambda: row)

    def close(self) -> None:
        self.closed = True


def test_on_postgresql_the_lock_is_a_session_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, told = Engine(), list[str]()

    def create(_url: object, **given: Any) -> Engine:
        engine.given = given
        return engine

    monkeypatch.setattr(database, "create_engine", create)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with hold_study("postgresql://u:p@h/x", command="pull", wait_seconds=60, tell=told.append):
        assert (engine.looks, engine.closed) == ([], False)
    assert engine.closed
    assert engine.given["hide_parameters"]
    assert told == [
        "`annot push` is changing this study: process 17 on host.example, since 2031-01-01T00:00:00Z; "
        "waiting until it ends"
    ]
