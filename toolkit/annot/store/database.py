"""Opening the working state, and the transactions in which it is read and written.

A write transaction is the only one at its time, on SQLite (BEGIN IMMEDIATE) and on PostgreSQL (one advisory lock): two
processes wait for each other and never meet half-way. A read transaction sees one moment of the database.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlmodel import Session

from annot.base.errors import FREE_SOME_SPACE, MissingInput, StoreError, full_disk, is_full
from annot.store import schema

_WRITES = "annot_writes"
WRITE_LOCK = 0x616E6E6F74
"""Advisory lock of PostgreSQL for "a process writes": the letters of the program's name."""
WAIT_SECONDS = 30
"""Wait for a busy server, and for another process that writes; a server that is down refuses at once."""
_FAULTS = (
    (
        ("database is locked", "database table is locked", "lock timeout"),
        "another process has been writing for too long",
        "wait until it has finished, then run the command again",
    ),
    (("not a database",), "not a SQLite database", "name another file in `store.database`, or restore a backup"),
    (
        ("disk i/o error",),
        "cannot be read or written: {detail}",
        "the disk may be full or failing, or the network that it is on: `annot doctor` looks at both",
    ),
    (("no space left",), "its server has no disk space left: {first_line}", "free some space on the server"),
    (("malformed",), "damaged, or not a database: {detail}", "restore a backup"),
    (("unable to open", "readonly", "read-only"), "cannot be written: {detail}", "check the permissions of the folder"),
    (
        ("password",),
        "cannot be reached: {detail}",
        "give the right password in ANNOT_DATABASE (postgresql://USER:PASSWORD@HOST/NAME) or in ~/.pgpass",
    ),
    (
        ("fatal:  database",),
        "cannot be reached: {detail}",
        "make the database with `createdb` on its server, or correct its name in ANNOT_DATABASE or annot.toml",
    ),
    (
        ("no such table", "no such column", "does not exist"),
        "incomplete: {first_line}",
        "restore a backup, or make an empty database with `annot init`",
    ),
    (
        ("connection",),
        "cannot be reached: {detail}",
        "is the server running? check ANNOT_DATABASE, or `store.database` in annot.toml",
    ),
)
"""Parts of the database's error, our message, and the remedy; the first match counts."""


class Store:
    """The open working state of a study. Close it, or use it in a `with`."""

    def __init__(self, engine: Engine, place: str, secret: str | None) -> None:
        self.place = place
        """Description of its place, without any password."""
        self._engine = engine
        self._writing = engine.execution_options(**{_WRITES: True})
        self._secret = secret

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def begin(self) -> Iterator[Session]:
        """A transaction that writes: all of it is kept at the end, or nothing when an error or a kill ends it.

        Raises StoreError when another process writes for longer than the wait, or the database refuses the change.
        """
        with self._errors_in_words(), Session(self._writing) as session, session.begin():
            session.connection()
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that can only read, and sees the database at the moment of the first look."""
        with self._errors_in_words(), Session(self._engine) as session, session.begin():
            yield session

    def version(self) -> int:
        """The number of migrations the database has been through; 0 when it is empty."""
        with self._errors_in_words(), self._engine.begin() as connection:
            return schema.version_of(connection)

    def migrate(self) -> None:
        """Bring the database to this program's version, one transaction for each migration."""
        for number in range(self.version() + 1, len(schema.MIGRATIONS) + 1):
            with self._errors_in_words(), self._writing.begin() as connection:
                schema.migrate(connection, number)

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise in_words(error, self.place, self._secret) from None


def open_store(url: str, *, create: bool = True, older: bool = False, wait_seconds: float = WAIT_SECONDS) -> Store:
    """The store at `url`, at this program's version.

    url: `sqlite:///FILE`, or `postgresql://...`. create: make the database when it is not there, and migrate an older
    one; otherwise MissingInput or StoreError is raised and nothing is touched. older: open an older one without
    migrating it. wait_seconds: longest wait for another process that writes.

    Raises StoreError, with a remedy and without the password, when the URL is wrong, the server unreachable, the file
    no database, or the database another program's, a newer one's or an older one's.
    """
    store = connect_store(url, create=create, wait_seconds=wait_seconds)
    try:
        if create:
            store.migrate()
        else:
            _check_version(store, older=older)
    except BaseException:
        store.close()
        raise
    return store


def connect_store(url: str, *, create: bool, wait_seconds: float = WAIT_SECONDS) -> Store:
    """The store at `url` unchanged, empty or of any version. Raises errors as `open_store` does."""
    place = parse_url(url)
    if place.get_backend_name() == "sqlite":
        return _open_file(place, create=create, wait_seconds=wait_seconds)
    return _open_server(place, wait_seconds=wait_seconds)


def _check_version(store: Store, *, older: bool) -> None:
    version, expected = store.version(), len(schema.MIGRATIONS)
    if version == 0:
        raise MissingInput(f"{store.place}: found an empty database", hint="make the study with `annot init`")
    if version < expected and not older:
        raise StoreError(
            f"{store.place}: made by an earlier annot (version {version})",
            hint="`annot backup FILE`, or any other command that changes the study, brings it to this one",
        )


def parse_url(url: str) -> URL:
    """The database's URL, with the driver that is used. Raises StoreError, which shows no password."""
    try:
        place = make_url(url)
    except (ArgumentError, ValueError):
        # The text of the error may hold the URL, and the URL a password.
        raise StoreError(
            "the database's URL cannot be read", hint="expected sqlite:///FILE or postgresql://USER@HOST/DATABASE"
        ) from None
    backend = place.drivername.partition("+")[0]
    if backend in ("postgres", "postgresql"):
        return place.set(drivername="postgresql+psycopg")
    if backend == "sqlite":
        return place.set(drivername="sqlite")
    raise StoreError(f"databases of the kind {backend!r} cannot be used", hint="use SQLite (a file) or PostgreSQL")


def _open_file(url: URL, *, create: bool, wait_seconds: float) -> Store:
    if not url.database or url.database == ":memory:":
        raise StoreError("the database has no file", hint="expected sqlite:///FILE")
    path = Path(url.database)
    if not path.parent.is_dir():
        raise StoreError(f"{path}: the folder {path.parent} does not exist", hint="make the study with `annot init`")
    if path.is_dir():
        raise StoreError(f"{path}: found a folder, expected a database file")
    for end in ("wal", "shm", "journal"):
        if (companion := path.with_name(f"{path.name}-{end}")).is_symlink():
            raise StoreError(
                f"{companion}: found a link, expected a file of the database's own", hint="remove the link"
            )
    if not create and not path.exists():
        raise MissingInput(f"{path}: no such database", hint="make the study with `annot init`")
    readable_only = path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    if readable_only:
        address = _address_for_reading(path)
        engine = create_engine(url, creator=lambda: sqlite3.connect(address, uri=True), hide_parameters=True)
    else:
        engine = create_engine(url, connect_args={"timeout": wait_seconds}, hide_parameters=True)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    if create:
        # For its owner alone; SQLite gives its log and index the same rights.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    if not readable_only and (create or path.stat().st_size > 0):
        _use_write_ahead_log(path, wait_seconds)
    return Store(engine, str(path), None)


def _address_for_reading(path: Path) -> str:
    """Address of the file for SQLite if its folder cannot be written to.

    A write-ahead log comes with an index file that readers need, while another process writes or after it was killed.
    Without a log, the file is complete and does not change: `immutable` lets SQLite do without the index.
    """
    log, index = path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
    if log.exists() and log.stat().st_size > 0:
        if not index.exists():
            raise StoreError(
                f"{path}: its last changes are in {log.name}, which cannot be read here",
                hint="copy the study to another folder and work there",
            )
        return f"{path.absolute().as_uri()}?mode=ro"
    return f"{path.absolute().as_uri()}?immutable=1"


def _open_server(url: URL, *, wait_seconds: float) -> Store:
    try:
        engine = create_engine(
            url, connect_args={"connect_timeout": WAIT_SECONDS}, pool_pre_ping=True, hide_parameters=True
        )
    except ModuleNotFoundError:
        raise StoreError(
            "the driver psycopg is not installed", hint="pip install 'annot-collections[postgres]'"
        ) from None

    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(_WRITES):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(wait_seconds * 1000)}")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITE_LOCK})")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    event.listen(engine, "begin", begin)
    return Store(engine, place_of(url), password_of(url))


def place_of(url: URL) -> str:
    """Description of the place of the database, without any password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    where = f"{url.host or url.query.get('host') or 'local'}{f':{url.port}' if url.port else ''}"
    return f"PostgreSQL database {url.database!r} at {where}"


def password_of(url: URL) -> str | None:
    """The password in the URL, which no message may hold."""
    secret = url.password or url.query.get("password")
    return str(secret) if secret else None


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver would begin and commit by itself around CREATE TABLE; the event `begin` does it instead.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    # The file may come from someone else: what its tables do by themselves calls nothing that reaches outside.
    connection.execute("PRAGMA trusted_schema = OFF")


def _begin_sqlite(connection: Connection) -> None:
    writes = bool(connection.get_execution_options().get(_WRITES))
    connection.exec_driver_sql(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_write_ahead_log(path: Path, wait_seconds: float) -> None:
    """Readers and the writer do not wait for each other. The file remembers the mode."""
    deadline = time.monotonic() + wait_seconds
    mode = None
    while mode is None:
        try:
            with closing(sqlite3.connect(path)) as connection:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.Error as error:
            # The driver's own wait does not cover this statement: another process may be switching too.
            if "locked" not in str(error) or time.monotonic() >= deadline:
                raise in_words(DBAPIError(None, None, error), str(path), None) from None
            time.sleep(0.02)
    if mode != "wal":
        raise StoreError(
            f"{path}: programs cannot share it on this file system ({mode})", hint="use a local disk, or PostgreSQL"
        )


def in_words(error: SQLAlchemyError, place: str, secret: str | None) -> StoreError:
    """The database's error as ours; the message holds no statement, no value and no password."""
    detail = str(error.orig if isinstance(error, DBAPIError) else error).strip()
    if secret:
        detail = detail.replace(secret, "***")
    # PostgreSQL's second line repeats the values, which may be an identity.
    first_line = detail.partition("\n")[0] or "no reason given"
    low = detail.lower()
    if isinstance(error, IntegrityError):
        return StoreError(f"{place}: the database refused the change: {first_line}")
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        low += "connection"
    if "is full" in low or ("disk i/o error" in low and is_full(place)):
        return StoreError(full_disk(place), hint=FREE_SOME_SPACE)
    for words, message, hint in _FAULTS:
        if any(word in low for word in words):
            return StoreError(f"{place}: {message.format(detail=detail, first_line=first_line)}", hint=hint)
    return StoreError(f"{place}: {detail}")
