"""The lock of a study: one holder at a time, named to those who come meanwhile, and gone when the holder dies."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import BusyError, StoreError
from annot.store import database
from annot.store.database import hold_study, lock_file, open_store

GUARD = 600.0
"""Seconds that nothing takes, however busy the machine is."""
SPAWN = multiprocessing.get_context("spawn")
HOLDS = """
import sys
from annot.store.database import hold_study
with hold_study(sys.argv[1], command="push adjudication", wait_seconds=0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def made(url: str) -> str:
    """URL of an existing database."""
    open_store(url).close()
    return url


@contextmanager
def held_elsewhere(url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process holds the lock of the study; it is killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_the_second_learns_at_once_who_holds_it(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "time", SimpleNamespace(monotonic=time.monotonic, sleep=pytest.fail))
    with (
        held_elsewhere(made) as holder,
        pytest.raises(BusyError) as caught,
        hold_study(made, command="push", wait_seconds=0),
    ):
        pass
    message = caught.value.message
    assert "`annot push adjudication` is changing this study" in message
    assert f"process {holder.pid} on {platform.node()}, since 20" in message
    assert caught.value.exit_code == 1
    assert "--wait" in (caught.value.hint or "")


def test_a_holder_that_is_killed_holds_it_no_more(made: str) -> None:
    with held_elsewhere(made) as holder:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        with hold_study(made, command="push", wait_seconds=GUARD):
            pass


def test_who_waits_gets_it_when_the_holder_ends(made: str) -> None:
    waiting = threading.Event()
    order: list[str] = []

    def waits() -> None:
        waiting.set()
        with hold_study(made, command="pull", wait_seconds=GUARD):
            order.append("second")

    with hold_study(made, command="push", wait_seconds=0):
        thread = threading.Thread(target=waits)
        thread.start()
        waiting.wait()
        with pytest.raises(BusyError), hold_study(made, command="plan", wait_seconds=0.3):
            pass
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def _adds(url: str, folder: str, number: int) -> None:
    """Count on in a file, like a command that reads a server and then writes to it."""
    counter = Path(folder) / "counter"
    for _ in range(number):
        with hold_study(url, command="push", wait_seconds=GUARD):
            counter.write_text(str(int(counter.read_text()) + 1))


def test_two_processes_never_hold_it_together(made: str, tmp_path: Path) -> None:
    (tmp_path / "counter").write_text("0")
    processes = [SPAWN.Process(target=_adds, args=(made, str(tmp_path), 8)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert (tmp_path / "counter").read_text() == "16"


def test_a_file_system_that_cannot_lock_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems cannot lock; none is available in a test."""
    url = f"sqlite:///{tmp_path / 'annot.db'}"
    open_store(url).close()

    def refuses(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuses)
    words = "cannot be locked here: No locks available"
    with pytest.raises(StoreError, match=words) as caught, hold_study(url, command="push", wait_seconds=0):
        pass
    assert "local disk" in (caught.value.hint or "")


@pytest.mark.postgres
def test_a_holder_on_postgres_keeps_no_transaction_open(postgres_url: str) -> None:
    import psycopg

    open_store(postgres_url).close()
    with held_elsewhere(postgres_url), psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        found = connection.execute(
            "SELECT state, xact_start FROM pg_stat_activity WHERE application_name LIKE 'push adjudication|%'"
        ).fetchall()
    assert found == [("idle", None)]


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
