"""One command at a time changes a study: a lock next to the database that ends with its holder, even one that is
killed.

On SQLite it is `flock` on a file next to the database, which the operating system releases when the process ends. On
PostgreSQL it is an advisory lock of the session, which the server releases when the connection ends.

The lock is not the write lock of a transaction: a command holds it from its first look to its last word, over network
and computation alike, while transactions stay short. Commands that only read take no lock and never wait.
"""

from __future__ import annotations

import fcntl
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from annot.base.errors import BusyError, StoreError
from annot.store.database import WAIT_SECONDS, WRITE_LOCK, in_words, parse_url, password_of, place_of

STUDY_LOCK = WRITE_LOCK + 1
"""Advisory lock of PostgreSQL for "a command changes the study"."""
LONGEST_NAME = 63
"""Bytes that PostgreSQL keeps of the name of a connection."""
LOOK_EVERY = 0.1
SILENT_SECONDS = 30
"""Seconds without an answer after which PostgreSQL begins to check that the holder's machine is alive."""


class Holder(NamedTuple):
    """Command that changes the study at the moment."""

    command: str
    process: str
    since: str
    """ISO 8601, UTC."""
    host: str

    def written(self) -> str:
        """The holder as one line, which `read_holder` reads."""
        return "|".join(self)


def read_holder(text: str) -> Holder | None:
    """Holder that a line describes; None if it describes none."""
    parts = text.strip().split("|", 3)
    return Holder(*parts) if len(parts) == len(Holder._fields) else None


@contextmanager
def alone(
    url: str, *, command: str, wait_seconds: float, tell: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Hold the lock of the study at `url` for as long as the context lasts.

    command: name of the command, for others that come meanwhile. wait_seconds: longest wait for another command that
    holds the lock. tell: receives a message about the holder.

    A study without a database is not locked. Raises BusyError, naming the holder, when the wait is over, and StoreError
    if the database cannot be reached or the file system cannot lock.
    """
    place = parse_url(url)
    started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    me = Holder(command.replace("|", " "), str(os.getpid()), started, platform.node())
    queue = _Queue(time.monotonic() + wait_seconds, tell)
    if place.get_backend_name() == "sqlite":
        # The file itself: a study may be reached by several names.
        with _file_held(Path(place.database or "").resolve(), me, queue):
            yield
    else:
        with _session_held(place, me, queue):
            yield


def lock_file(database: Path) -> Path:
    """File that is locked for a SQLite database. It stays, empty, after the lock is released."""
    return database.with_name(f"{database.name}-lock")


class _Queue:
    """Wait for a lock that another command holds."""

    def __init__(self, deadline: float, tell: Callable[[str], None]) -> None:
        self._deadline, self._tell = deadline, tell
        self._told = False

    def wait(self, holder: Holder | None) -> None:
        """Wait a moment. Raises BusyError, naming the holder, if there is no time left."""
        if time.monotonic() >= self._deadline:
            raise _busy(holder)
        if not self._told:
            self._tell(f"{_busy(holder).message}; waiting until it ends")
            self._told = True
        time.sleep(LOOK_EVERY)


@contextmanager
def _file_held(database: Path, me: Holder, queue: _Queue) -> Iterator[None]:
    if not database.is_file() or not os.access(database.parent, os.W_OK):
        # There is nothing to change, or no way to: the command says so itself.
        yield
        return
    path = lock_file(database)
    if path.is_symlink():
        raise StoreError(f"{path}: found a link, expected the lock of this study", hint="remove the link")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "r+", encoding="utf-8") as file:
        while not _locked(file.fileno(), path):
            queue.wait(read_holder(path.read_text(encoding="utf-8")))
        file.truncate(0)
        file.write(me.written())
        file.flush()
        try:
            yield
        finally:
            # The file is not removed: another process may be waiting at it.
            file.truncate(0)


def _locked(handle: int, path: Path) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be locked here: {error.strerror}", hint="use a local disk, or PostgreSQL"
        ) from None
    return True


@contextmanager
def _session_held(place: URL, me: Holder, queue: _Queue) -> Iterator[None]:
    connect_args = {"connect_timeout": WAIT_SECONDS}
    try:
        # A connection of its own, outside every transaction: one left open for minutes would hold up the database.
        engine = create_engine(place, poolclass=NullPool, connect_args=connect_args, hide_parameters=True)
    except ModuleNotFoundError:
        # Opening the store tells how to get the driver.
        yield
        return
    with ExitStack() as end:
        try:
            pooled = end.enter_context(closing(engine.raw_connection()))
            connection: Any = pooled.driver_connection
            connection.autocommit = True
            _present(connection, me)
            while not connection.execute("SELECT pg_try_advisory_lock(%s)", (STUDY_LOCK,)).fetchone()[0]:
                queue.wait(_session_holder(connection))
        except engine.dialect.loaded_dbapi.Error as error:
            raise in_words(DBAPIError(None, None, error), place_of(place), password_of(place)) from None
        yield


def _present(connection: Any, me: Holder) -> None:
    """Describe the holder in the connection's name, for everyone to read, and let the server notice a machine that has
    died."""
    room = LONGEST_NAME - len(me._replace(host="").written().encode())
    name = me._replace(host=me.host.encode()[: max(room, 0)].decode(errors="ignore")).written()
    connection.execute("SELECT set_config('application_name', %s, false)", (name,))
    for setting, value in (("idle", SILENT_SECONDS), ("interval", 10), ("count", 3)):
        connection.execute(f"SELECT set_config('tcp_keepalives_{setting}', %s, false)", (str(value),))


def _session_holder(connection: Any) -> Holder | None:
    row = connection.execute(
        """
        SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND classid = %s AND objid = %s
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """,
        (STUDY_LOCK >> 32, STUDY_LOCK & 0xFFFFFFFF),
    ).fetchone()
    return None if row is None else read_holder(row[0])


def _busy(holder: Holder | None) -> BusyError:
    """Error about the holder; None if it came or went at this very moment."""
    hint = "run the command again when that one has finished, or add `--wait SECONDS`"
    if holder is None:
        return BusyError("another command is changing this study at the moment", hint=hint)
    return BusyError(
        f"`annot {holder.command}` is changing this study: process {holder.process} on {holder.host or 'its machine'}, "
        f"since {holder.since}",
        hint=hint,
    )
