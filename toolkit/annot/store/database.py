"""Access to the working state: transactions, the lock of the running command, and the whole database as lines."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import sqlite3
import time
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model
from sqlalchemy import (
    JSON,
    URL,
    Connection,
    Engine,
    MetaData,
    Table,
    Text,
    cast,
    create_engine,
    event,
    func,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from annot.base.errors import FREE_SOME_SPACE, BusyError, InputError, MissingInput, StoreError, full_disk, is_full
from annot.formats.input_files import in_words as faults_in_words
from annot.store import schema
from annot.store.models import TABLES, ReadingSession, Session, insert_chunk

# ----------------------------------------------------------------------------------------------------------------------
# Opening the working state, and the transactions in which it is read and written.
#
# A write transaction is the only one at its time, on SQLite (BEGIN IMMEDIATE) and on PostgreSQL (one advisory lock):
# two processes wait for each other and never meet half-way. A read transaction sees one moment of the database.
# ----------------------------------------------------------------------------------------------------------------------


_WRITES = "annot_writes"
_OPENS = "annot_opens"
WRITE_LOCK = 0x616E6E6F74
"""Advisory lock of PostgreSQL for "a process writes": the letters of the program's name."""
CACHE_KB = 16 * 1024
"""Pages of a database that SQLite keeps in memory."""
WAIT_SECONDS = 30
"""Wait for a busy server, and for another process that writes; a server that is down refuses at once."""


class Store:
    """The open working state of a study. Close it, or use it in a `with`."""

    def __init__(self, engine: Engine, place: str, secret: str | None) -> None:
        self.place = place
        """Description of its place, without any password."""
        self._engine = engine
        self._writing = engine.execution_options(**{_WRITES: True})
        self._secret = secret
        self.version_checked = False
        """True once the version was found to be this program's: each change looks at it again."""
        self._written = False
        self.behind = 0
        """The version if it is an earlier one, which can be read and not changed; else 0."""
        self._brought_up: Connection | None = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()
        _keep_for_reopening(self._engine)

    @contextmanager
    def begin(self) -> Iterator[Session]:
        """A transaction that writes: all of it is kept at the end, or nothing when an error or a kill ends it.

        Raises StoreError when another process writes for longer than the wait, or the database refuses the change.
        """
        if self.behind:
            raise StoreError(
                f"{self.place}: made by an earlier annot (version {self.behind})",
                hint="`annot backup FILE`, or any other command that changes the study, brings it to this one",
            )
        # Reading does without sqlmodel, which takes a quarter of a second to import.
        from sqlmodel import Session as WritingSession

        with self._errors_in_words(), WritingSession(self._writing) as session, session.begin():
            if self.version_checked:
                # Another command may have brought the database to a later version meanwhile.
                schema.check_not_newer(session.connection())
            yield session
            self._written = True

    def settle(self) -> None:
        """Move what was written from SQLite's log into the file, as closing the store does, so that the file has its
        last date. While another process reads it, the log stays."""
        if self._written and self._engine.dialect.name == "sqlite":
            with closing(self._engine.raw_connection()) as pooled, suppress(sqlite3.Error):
                connection: Any = pooled.driver_connection
                (wait,) = connection.execute("PRAGMA busy_timeout").fetchone()
                connection.execute("PRAGMA busy_timeout = 0")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.execute(f"PRAGMA busy_timeout = {wait}")

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that can only read, and sees the database at the moment of the first look.

        An earlier version is brought to this one before it is read, and back when the transaction ends; one within it
        reads the same.
        """
        with self._errors_in_words():
            if self._brought_up:
                yield ReadingSession(self._brought_up)
                return
            with (self._writing if self.behind else self._engine).connect() as connection:
                if self.behind:
                    schema.migrate(connection)
                    self._brought_up = connection
                try:
                    yield ReadingSession(connection)
                finally:
                    self._brought_up = None

    def version(self) -> int:
        """The number of migrations the database has been through; 0 when it is empty."""
        with self._errors_in_words(), self._engine.begin() as connection:
            return schema.version_of(connection)

    def migrate(self) -> None:
        """Bring the database to this program's version, in one transaction."""
        if self.version() < len(schema.MIGRATIONS):
            with self._errors_in_words(), self._writing.begin() as connection:
                schema.migrate(connection)

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise in_words(error, self.place, self._secret) from None


def open_store(url: str, *, create: bool = True, older: bool = False, wait_seconds: float = WAIT_SECONDS) -> Store:
    """The store at `url`, at this program's version.

    url: `sqlite:///FILE`, or `postgresql://...`. create: make the database when it is not there, and migrate an older
    one; otherwise MissingInput is raised, an older one can only be read, and nothing is touched. older: read an older
    one as it is. wait_seconds: longest wait for another process that writes.

    Raises StoreError, with a remedy and without the password, when the URL is wrong, the server unreachable, the file
    no database, or the database another program's or a newer one's.
    """
    store = connect_store(url, create=create, wait_seconds=wait_seconds)
    try:
        if create:
            store.migrate()
        else:
            version = store.version()
            if version == 0:
                raise MissingInput(f"{store.place}: found an empty database", hint="make the study with `annot init`")
            store.behind = 0 if older or version == len(schema.MIGRATIONS) else version
        store.version_checked = not older
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


def parse_url(url: str) -> URL:
    """The database's URL, with the driver that is used. Raises StoreError, which shows no password."""
    try:
        place = make_url(url)
    except (ArgumentError, ValueError):
        # The text of the error may hold the URL, and the URL a password.
        raise StoreError(
            "the database's URL cannot be read", hint="expected sqlite:///FILE or postgresql://USER@HOST/NAME"
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
            raise StoreError(f"{companion}: found a link, expected a file", hint="remove the link")
    if not create and not path.exists():
        raise MissingInput(f"{path}: no such database", hint="make the study with `annot init`")
    readable_only = path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    engine = _file_engine(url, wait_seconds, _address_for_reading(path) if readable_only else None)
    if create:
        # For its owner alone; SQLite gives its log and index the same rights.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    if not readable_only and (create or path.stat().st_size > 0) and not _has_write_ahead_log(path):
        _use_write_ahead_log(path, wait_seconds)
    return Store(engine, str(path), None)


_CLOSED: dict[Any, Engine] = {}
"""Engines of closed stores by what they open: they have compiled the statements that the next opening runs too."""
_MOST_CLOSED = 8


def _file_engine(url: URL, wait_seconds: float, address: str | None) -> Engine:
    """An engine of the file that no open store has. address: that of a file that can only be read."""
    opens = (url, wait_seconds, address)
    if (kept := _CLOSED.pop(opens, None)) is not None:
        return kept
    if address is not None:
        engine = create_engine(url, creator=lambda: sqlite3.connect(address, uri=True), hide_parameters=True)
    else:
        engine = create_engine(url, connect_args={"timeout": wait_seconds}, hide_parameters=True)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    engine.update_execution_options(**{_OPENS: opens})
    return engine


def _keep_for_reopening(engine: Engine) -> None:
    if (opens := engine.get_execution_options().get(_OPENS)) is not None:
        _CLOSED[opens] = engine
        while len(_CLOSED) > _MOST_CLOSED:
            _CLOSED.pop(next(iter(_CLOSED)), None)


def _address_for_reading(path: Path) -> str:
    """Address of the file for SQLite if its folder cannot be written to.

    A write-ahead log comes with an index file that readers need, while another process writes or after it was killed.
    Without a log, the file is complete and does not change: `immutable` lets SQLite do without the index.
    """
    log, index = path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
    if log.exists() and log.stat().st_size > 0:
        if not index.exists():
            raise StoreError(
                f"{path}: its last changes in {log.name} cannot be read", hint="copy the study and work there"
            )
        return f"{path.absolute().as_uri()}?mode=ro"
    return f"{path.absolute().as_uri()}?immutable=1"


def _open_server(url: URL, *, wait_seconds: float) -> Store:
    engine = _server_engine(url, pool_pre_ping=True)

    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(_WRITES):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(wait_seconds * 1000)}")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITE_LOCK})")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    event.listen(engine, "begin", begin)
    return Store(engine, place_of(url), password_of(url))


def _server_engine(url: URL, **options: Any) -> Engine:
    try:
        return create_engine(url, connect_args={"connect_timeout": WAIT_SECONDS}, hide_parameters=True, **options)
    except ModuleNotFoundError:
        raise StoreError(
            "the driver psycopg is not installed", hint="pip install 'annot-collections[postgres]'"
        ) from None


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
    # The driver's own 2 MB are too few for the indexes of a large study: they would be written many times.
    connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
    # Each row of a table with triggers has a journal of its own: in a file, it takes a third of the time of an import.
    connection.execute("PRAGMA temp_store = MEMORY")
    # The file may come from someone else: what its tables do by themselves calls nothing that reaches outside.
    connection.execute("PRAGMA trusted_schema = OFF")


def _begin_sqlite(connection: Connection) -> None:
    writes = bool(connection.get_execution_options().get(_WRITES))
    connection.exec_driver_sql(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _has_write_ahead_log(path: Path) -> bool:
    """True if the file's header names the mode (SQLite, Database File Format, 1.3.3)."""
    with path.open("rb") as file:
        return file.read(20)[18:] == b"\2\2"


def _use_write_ahead_log(path: Path, wait_seconds: float) -> None:
    """Set the mode in which readers and the writer do not wait for each other. The file remembers it."""
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
        raise StoreError(f"{path}: cannot be shared on this file system", hint="use a local disk, or PostgreSQL")


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
    known = tomllib.loads(Path(__file__).with_name("database_errors.toml").read_text("utf-8"))
    for known_error in known["errors"]:
        if any(word in low for word in known_error["words"]):
            return StoreError(f"{place}: {known_error['message']}: {first_line}", hint=known_error["hint"])
    return StoreError(f"{place}: {first_line}")


# ----------------------------------------------------------------------------------------------------------------------
# One command at a time changes a study: a lock next to the database that ends with its holder, even one that is
# killed.
#
# On SQLite it is `flock` on a file next to the database, which the operating system releases when the process ends.
# On PostgreSQL it is an advisory lock of the session, which the server releases when the connection ends.
#
# The lock is not the write lock of a transaction: a command holds it from its first look to its last word, over
# network and computation alike, while transactions stay short. Commands that only read take no lock and never wait.
# ----------------------------------------------------------------------------------------------------------------------


STUDY_LOCK = WRITE_LOCK + 1
"""Advisory lock of PostgreSQL for "a command changes the study"."""
LONGEST_NAME = 63
"""Bytes that PostgreSQL keeps of the name of a connection."""
LOOK_EVERY = 0.1
SILENT_SECONDS = 30
"""Seconds without an answer after which PostgreSQL begins to check that the holder's machine is alive."""


@contextmanager
def hold_study(
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
    me = "|".join((command.replace("|", " "), str(os.getpid()), started, platform.node()))
    deadline = time.monotonic() + wait_seconds
    reported = False

    def wait(holder: str) -> None:
        nonlocal reported
        busy = _busy(holder)
        if time.monotonic() >= deadline:
            raise busy
        if not reported:
            tell(f"{busy.message}; waiting until it ends")
            reported = True
        time.sleep(LOOK_EVERY)

    if place.get_backend_name() == "sqlite":
        # The file itself: a study may be reached by several names.
        with _file_held(Path(place.database or "").resolve(), me, wait):
            yield
    else:
        with _session_held(place, me, wait):
            yield


def lock_file(database: Path) -> Path:
    """File that is locked for a SQLite database. It stays, empty, after the lock is released."""
    return database.with_name(f"{database.name}-lock")


@contextmanager
def _file_held(database: Path, me: str, wait: Callable[[str], None]) -> Iterator[None]:
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
            wait(path.read_text(encoding="utf-8"))
        file.truncate(0)
        file.write(me)
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
def _session_held(place: URL, me: str, wait: Callable[[str], None]) -> Iterator[None]:
    # A connection of its own, outside every transaction: one left open for minutes would hold up the database.
    engine = _server_engine(place, poolclass=NullPool)
    with ExitStack() as end:
        try:
            pooled = end.enter_context(closing(engine.raw_connection()))
            connection: Any = pooled.driver_connection
            connection.autocommit = True
            _present(connection, me)
            while not connection.execute("SELECT pg_try_advisory_lock(%s)", (STUDY_LOCK,)).fetchone()[0]:
                wait(_session_holder(connection))
        except engine.dialect.loaded_dbapi.Error as error:
            raise in_words(DBAPIError(None, None, error), place_of(place), password_of(place)) from None
        yield


def _present(connection: Any, me: str) -> None:
    """Describe the holder in the connection's name, for everyone to read, and let the server notice a machine that has
    died."""
    name = me.encode()[:LONGEST_NAME].decode(errors="ignore")
    connection.execute("SELECT set_config('application_name', %s, false)", (name,))
    for setting, value in (("idle", SILENT_SECONDS), ("interval", 10), ("count", 3)):
        connection.execute(f"SELECT set_config('tcp_keepalives_{setting}', %s, false)", (str(value),))


def _session_holder(connection: Any) -> str:
    row = connection.execute(
        """
        SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND classid = %s AND objid = %s
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """,
        (STUDY_LOCK >> 32, STUDY_LOCK & 0xFFFFFFFF),
    ).fetchone()
    return "" if row is None else str(row[0])


def _busy(holder: str) -> BusyError:
    """Error that names the holder from its line, which is empty if the holder came or went just now."""
    hint = "run the command again when that one has finished, or add `--wait SECONDS`"
    parts = holder.strip().split("|", 3)
    if len(parts) < 4:
        return BusyError("another command is changing this study at the moment", hint=hint)
    command, process, since, host = parts
    return BusyError(
        f"`annot {command}` is changing this study: process {process} on {host or 'its machine'}, since {since}",
        hint=hint,
    )


# ----------------------------------------------------------------------------------------------------------------------
# The whole database as lines of JSON, and back: the same on SQLite and PostgreSQL, row for row and text for text.
#
# A dump holds rows and nothing that makes or changes tables: those are made here, as they were at the version of the
# dump, and only rows that fit them are taken; then the later migrations follow. A dump holds identities, as the
# database does.
# ----------------------------------------------------------------------------------------------------------------------


ROWS_AT_ONCE = 1_000


def _text(text: str) -> str:
    text.encode()  # an error for half a letter, which no database takes
    return text


def _json_text(text: str) -> str:
    json.loads(text)
    return _text(text)


_TEXT = Annotated[str, AfterValidator(_text)]
_JSON_TEXT = Annotated[str, AfterValidator(_json_text)]
_INTEGER = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]
_HEXADECIMAL = Annotated[str, AfterValidator(lambda text: bytes.fromhex(text).hex())]
OTHER_VERSION = "restore it with the version of the program that made it"


@dataclass(frozen=True, slots=True)
class DumpFacts:
    """Facts about a dump: all but its rows."""

    version: int
    """Migrations that the database had been through."""
    rows: Mapping[str, int]
    """Rows of each table, in an order in which they can be put back."""


def dump(connection: Connection, folder: Path) -> DumpFacts:
    """Write a file `TABLE.jsonl` for each table of the database into `folder`, which must exist."""
    counts = {}
    for table in _own_tables(connection, schema.version_of(connection)):
        counts[table.name] = 0
        with (folder / f"{table.name}.jsonl").open("w", encoding="utf-8") as file:
            for row in _dumped_rows(connection, table):
                file.write(json.dumps(row) + "\n")
                counts[table.name] += 1
    return DumpFacts(schema.version_of(connection), counts)


def load(connection: Connection, dumped: DumpFacts, folder: Path) -> None:
    """Put a dump back into an empty database, in the caller's transaction, and bring it to this program's version.

    Raises InputError for tables, columns and values that the version of the dump does not have, and for other rows than
    the dump counted.
    """
    schema.change_tables(connection, schema.MIGRATIONS[: dumped.version])
    for table in _own_tables(connection, dumped.version):
        expected, count = dumped.rows.get(table.name, 0), 0
        for chunk in _chunks(folder / f"{table.name}.jsonl", table) if table.name in dumped.rows else ():
            count += len(chunk)
            insert_chunk(connection, table, chunk, as_text=True)
        if count != expected:
            raise InputError(f"{table.name}: {count} rows in the backup, expected {expected}")
    schema.change_tables(connection, schema.MIGRATIONS[dumped.version :])
    if connection.dialect.name == "postgresql":
        _count_on(connection)
    schema.finish(connection)


def row_counts(connection: Connection) -> dict[str, int]:
    """Rows of each table of the database."""
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in _own_tables(connection, schema.version_of(connection))
    }


def drop_tables(connection: Connection) -> None:
    """Remove every table of this program, and no other, in the caller's transaction."""
    names = schema.table_names(schema.version_of(connection))
    _reflected(connection, names | {schema.VERSION_TABLE}).drop_all(connection)


def _own_tables(connection: Connection, version: int) -> list[Table]:
    """Tables with rows to keep of a database of this version, as they are; those of other programs are left out."""
    return _reflected(connection, schema.table_names(version)).sorted_tables


def _reflected(connection: Connection, names: Collection[str]) -> MetaData:
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: name in names)
    return metadata


def _dumped_rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    """Each row by column; JSON as the text that the database holds, hashes in hexadecimal."""
    columns = [cast(column, Text).label(column.name) if isinstance(column.type, JSON) else column for column in table.c]
    statement = select(*columns).order_by(*table.primary_key.columns).execution_options(yield_per=ROWS_AT_ONCE)
    return (
        {name: value.hex() if isinstance(value, bytes) else value for name, value in row._mapping.items()}
        for row in connection.execute(statement)
    )


def _chunks(path: Path, table: Table) -> Iterator[list[dict[str, Any]]]:
    """The rows in the file, held against the table. Raises InputError for the first that does not fit."""
    row = _row_of(table)
    with path.open("rb") as lines:
        numbered = enumerate(lines, 1)
        while chunk := [_row(line, f"{path.name}:{number}", row) for number, line in islice(numbered, ROWS_AT_ONCE)]:
            yield chunk


def _row_of(table: Table) -> type[BaseModel]:
    """The columns of a row as a dump has them: JSON and hashes are texts."""
    fields: dict[str, Any] = {}
    for column in table.c:
        kind: Any = _JSON_TEXT if isinstance(column.type, JSON) else column.type.python_type
        kind = {str: _TEXT, int: _INTEGER, bytes: _HEXADECIMAL}.get(kind, kind)
        fields[column.name] = (kind | None if column.nullable else kind, ...)
    return create_model(table.name, __config__=ConfigDict(extra="forbid", strict=True), **fields)


def _row(line: bytes, where: str, row: type[BaseModel]) -> dict[str, Any]:
    try:
        return row.model_validate(json.loads(line)).__dict__
    except ValidationError as error:
        raise InputError(f"{where}: {faults_in_words(error)[0]}", hint=OTHER_VERSION) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a row of JSON: {error}") from None


def _count_on(connection: Connection) -> None:
    """Move PostgreSQL's counters past the loaded rows, so that new rows get free numbers."""
    for table in TABLES.sorted_tables:
        for column in inspect(connection).get_columns(table.name):
            if column.get("identity"):
                name = column["name"]
                counter = f"pg_get_serial_sequence('{table.name}', '{name}')"
                highest = f'(SELECT COALESCE(MAX("{name}"), 0) + 1 FROM "{table.name}")'
                connection.exec_driver_sql(f"SELECT setval({counter}, {highest}, false)")
