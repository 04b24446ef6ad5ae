"""A PostgreSQL server of the tests' own: in a temporary folder, on a Unix socket, as a user who is not root."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

PASSWORD = "not-to-be-shown"
START_SECONDS = 600
STOP_SECONDS = 20


class PostgresServer:
    """A running server, asked for its password at every connection."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._databases = 0
        self._free: list[str] = []

    def new_database(self) -> str:
        """The URL of an empty database that nobody else has."""
        if self._free:
            return self._free.pop()
        self._databases += 1
        name = f"test_{self._databases}"
        self._execute("postgres", f"CREATE DATABASE {name}")
        return self.url(name)

    def give_back(self, url: str) -> None:
        """Empty a database for the next who asks: ten times as fast as making one."""
        name = url.partition("@/")[2].partition("?")[0]
        others = "pid <> pg_backend_pid() AND datname = current_database()"
        self._execute(name, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
        self._execute(name, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        self._free.append(url)

    def _execute(self, database: str, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url(database).replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(statement)

    def url(self, database: str, *, password: str = PASSWORD) -> str:
        return f"postgresql+psycopg://annot:{password}@/{database}?host={quote(str(self.folder), safe='')}"


def programs() -> Path | None:
    """The folder that holds `initdb` and `postgres`; None where PostgreSQL is not installed."""
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    return next((path for path in found if (path / "initdb").exists() and (path / "postgres").exists()), None)


@contextmanager
def running(binaries: Path) -> Iterator[PostgresServer]:
    """Start a server; stop it and remove its data at the end."""
    # Short, and open to the server's user: pytest's own folders are neither, and a socket's path has a limit.
    folder = Path(tempfile.mkdtemp(prefix="annot-pg-"))
    user = _server_user()
    process: subprocess.Popen[bytes] | None = None
    try:
        if user is not None:
            os.chown(folder, user["user"], user["group"])
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        data = folder / "data"
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder)}
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "annot", "-E", "UTF8", "-N", "-A", "md5", f"--pwfile={secret}"],
            check=True,
            capture_output=True,
            cwd=folder,
            env=environment,
            **(user or {}),
        )
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [binaries / "postgres", "-D", data, "-k", folder, "-h", "", "-F", "-c", "shared_buffers=32MB"],
                stdout=log,
                stderr=log,
                cwd=folder,
                env=environment,
                **(user or {}),
            )
        server = PostgresServer(folder)
        _wait(server, process)
        yield server
    finally:
        if process is not None:
            # At once, without writing out what is removed anyway.
            process.send_signal(signal.SIGQUIT)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _server_user() -> dict[str, object] | None:
    """PostgreSQL refuses to run as root: then as its own user, or as nobody."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _wait(server: PostgresServer, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(server.url("postgres").replace("+psycopg", "")).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {(server.folder / 'log').read_text()}") from None
            time.sleep(0.05)
