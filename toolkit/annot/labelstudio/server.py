"""A local Label Studio for one machine: installed, up, down, status."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from annot.base.errors import InputError, StudioError
from annot.base.names import lasting

# ----------------------------------------------------------------------------------------------------------------------
# Label Studio in an environment of its own: its pins must not meet ours.
#
# One installation serves all studies of a person. It counts as there only when its marker is, and the marker is
# written last: an install that was interrupted is thrown away and begun again.
# ----------------------------------------------------------------------------------------------------------------------


VERSION = "1.23.2"
"""The screens' style names classes of this release; another one may move them."""
FIRST_RELEASE = "1.23.2"
"""The release that made data without a note of theirs."""

ENVIRONMENT_VARIABLE = "ANNOT_STUDIO_VENV"
_MARKER = "annot-installed"
_TAIL_LINES = 15
PACKAGES = 155
"""Approximate size of the installation."""
SECONDS_BETWEEN_LINES = 10.0
"""Seconds between two lines of progress."""


def installed(environ: Mapping[str, str]) -> Path | None:
    """The program of the installation that is there, or None.

    Raises StudioError if `ANNOT_STUDIO_VENV` names an environment without Label Studio in it.
    """
    named = environ.get(ENVIRONMENT_VARIABLE)
    if named:
        program = Path(named) / "bin" / "label-studio"
        if not program.is_file():
            raise StudioError(
                f"{ENVIRONMENT_VARIABLE}={named}: no bin/label-studio found in it",
                hint=f"unset it, or create the environment: python -m venv {named} && "
                f"{named}/bin/pip install label-studio=={VERSION}",
            )
        return program
    home = _home(environ)
    return home / "bin" / "label-studio" if (home / _MARKER).is_file() else None


def ensure_installed(environ: Mapping[str, str], *, say: Callable[[str], None]) -> Path:
    """The program of the installation, made if need be (a few minutes, 1 GB). Raises StudioError if that fails."""
    program = installed(environ)
    if program is not None:
        return program
    home = _home(environ)
    with locked(home.with_suffix(".lock")):
        program = installed(environ)  # another process may have made it while we waited
        if program is not None:
            return program
        log = home.with_suffix(".log")
        say(f"installing Label Studio {VERSION} into {home}, once: about {PACKAGES} packages and 1 GB; log: {log}")
        shutil.rmtree(home, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(home)], log, "w")
        pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
        with reported(say, "installing Label Studio"):
            _run([*pip, "--progress-bar", "off", f"label-studio=={VERSION}"], log, "a")
        (home / _MARKER).write_text(f"{VERSION}\n", encoding="utf-8")
    return home / "bin" / "label-studio"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file; it frees itself when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def reported(say: Callable[[str], None], work: str) -> Iterator[None]:
    """Say every few seconds that the work goes on, until the context ends."""
    finished = threading.Event()

    def report() -> None:
        begun = time.monotonic()
        while not finished.wait(SECONDS_BETWEEN_LINES):
            say(f"{work}, for {lasting(time.monotonic() - begun)} now")

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        finished.set()
        reporter.join()


def tail(log: Path) -> str:
    """The last lines of a log, for an error message."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join([line for line in lines if line.strip()][-_TAIL_LINES:])


def _run(command: list[str], log: Path, mode: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    with log.open(mode, encoding="utf-8") as file:
        ended = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment, check=False)
    if ended.returncode:
        raise StudioError(
            f"Label Studio cannot be installed; the end of {log}:\n{tail(log)}",
            hint=f"correct what the log names, or set {ENVIRONMENT_VARIABLE} to an environment that has it",
        )


def _home(environ: Mapping[str, str]) -> Path:
    cache = environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path(environ.get("HOME") or Path.home()) / ".cache"
    return base / "annot" / f"label-studio-{VERSION}"


# ----------------------------------------------------------------------------------------------------------------------
# A local Label Studio for one machine: up, down, status.
#
# Everything it owns is in one folder: the data (`data/`), the administrator's credentials (`admin.json`, readable
# by its owner only), the log and the process file. A process counts as ours only while its command line names that
# data folder; nothing else is ever waited for or stopped.
# ----------------------------------------------------------------------------------------------------------------------


SERVER_BYTES = 420_000_000
"""Memory reckoned for one server. Of its own, release 1.23.2 had 0.2 GB after its start and up to 0.42 GB while people
judged; eight servers with Caddy had 1.6 GB after a push."""
MEMINFO = Path("/proc/meminfo")


def free_bytes() -> int | None:
    """Bytes that programs can still take without swapping; None if the system does not say."""
    if not MEMINFO.is_file():
        return None
    lines = (line.partition(":") for line in MEMINFO.read_text(encoding="ascii").splitlines())
    amount = next((value.split() for name, _, value in lines if name == "MemAvailable"), None)
    return 1024 * int(amount[0]) if amount else None


HOST = "127.0.0.1"
FIRST_PORT = 8090
PORTS_TRIED = 50


def choose_port(port: int | None, folder: Path) -> int:
    """`port`, or the one that the server of `folder` had the last time (people keep links), or the first free one.

    It is noted in `folder`, and from then on no other server of this person takes it: Label Studio binds it only after
    a minute of migrations, and on a port that was taken in between it would move to the next one without a word. The
    port of another server that is down is taken only where no other is left. Raises StudioError if none is free.
    """
    last = kept_port(folder)
    candidates = [port] if port is not None else [last or FIRST_PORT, *range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)]
    claims = f"{tempfile.gettempdir()}/annot-{os.getuid()}-port"

    def is_of_another(candidate: int) -> bool:
        claim = Path(f"{claims}-{candidate}.lock")
        owner = claim.read_text(encoding="utf-8") if claim.is_file() and candidate not in (port, last) else ""
        return owner not in ("", str(folder)) and kept_port(Path(owner)) == candidate

    with locked(Path(f"{claims}s.lock")):
        # A look takes the port for a moment: those of servers that are starting come last.
        chosen = next(filter(is_free_port, sorted(candidates, key=is_of_another)), None)
        if chosen is None:
            ports = f"port {port} is" if port is not None else f"ports {candidates[1]} to {candidates[-1]} are"
            raise StudioError(f"{ports} taken on {HOST}", hint="choose another port with --port")
        Path(f"{claims}-{chosen}.lock").write_text(str(folder), encoding="utf-8")
        (folder / "port").write_text(f"{chosen}\n", encoding="utf-8")
    return chosen


def kept_port(folder: Path) -> int | None:
    """The port that the server of `folder` has, or had the last time."""
    return number_in(folder / "port")


def is_free_port(port: int) -> bool:
    """True if a server could listen on this port."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return False
    return True


def number_in(path: Path) -> int | None:
    """The number that a file begins with."""
    try:
        return int(path.read_text(encoding="utf-8").split()[0])
    except (OSError, ValueError, IndexError):
        return None


START_SECONDS = 600.0
"""The first start migrates an empty database: about a minute on two cores, more when they are busy."""
SILENT_SECONDS = 90.0
"""A server says its first word within seconds. One start in some hundreds hangs before that, for ever."""

STOP_SECONDS = 20.0
"""Seconds that a server has to end by itself."""
GONE_SECONDS = 60.0
"""Seconds that a very busy machine has to clear away a process that was killed, and its port."""
ANSWER_SECONDS = 60.0
"""A busy server answers late; one that is not there is refused at once."""
DATABASE = "database.json"
"""File with the variables of a PostgreSQL database, which only its owner can read."""
ADMINISTRATOR = "lead@annot.example"


class Server(NamedTuple):
    """The local server while it runs."""

    url: str
    port: int
    pid: int
    healthy: bool


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """The administrator of the local server. The token stays out of logs, `annot.toml` and exports."""

    email: str
    password: str
    token: str


def up(
    folder: Path, *, environ: Mapping[str, str], port: int | None, say: Callable[[str], None], address: str = ""
) -> Server:
    """Start the server of `folder`, or find it running; returns when it is healthy. Safe to repeat.

    Label Studio is installed first where it is not. Without `port` the first free one from 8090 is taken. address:
    where people reach it by https, if a proxy is in front of it; one that was started for another address starts again.
    Raises StudioError if the port is taken, or if the server ends or does not get healthy, with the end of its log.
    """
    program = ensure_installed(environ, say=say)
    folder = folder.resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder / "lock"):
        if (running := status(folder)) is not None:
            if address == address_of(folder):
                return _wait_until_healthy(folder)
            _end(folder, running.pid, running.port)
        (folder / "address").write_text(address, encoding="utf-8")
        keep_data_of_earlier(folder, _release_of(program), say=say)
        chosen = choose_port(port, folder)
        place = address or f"http://{HOST}:{chosen}"
        log_size = _log_size(folder)
        say(f"starting Label Studio at {place}{'' if log_size else ' (the first start takes about a minute)'}")
        with reported(say, "starting Label Studio"):
            _spawn(program, folder, chosen, environ)
            if not _speaks(folder, log_size) and (stuck_process := _process(folder)) is not None:
                say("it hangs without any output; starting it again")
                _end(folder, *stuck_process)
                _spawn(program, folder, chosen, environ)
            return _wait_until_healthy(folder)


def keep_data_of_earlier(folder: Path, release: str, *, say: Callable[[str], None]) -> None:
    """Copy the data of the server of `folder` to `data-RELEASE` if another release of Label Studio made them.

    A later release changes its database as it starts, and no way leads back. A database on PostgreSQL is copied to
    `data-RELEASE.dump`. release: the one that is to be started. Raises StudioError if that copy cannot be made.
    """
    noted, data = folder / "release", folder / "data"
    last = noted.read_text(encoding="ascii").strip() if noted.is_file() else FIRST_RELEASE
    copies: list[tuple[Path, Callable[[Path, Path], object]]] = []
    copies += [(folder / f"data-{last}.dump", _dump)] if (folder / DATABASE).is_file() else []
    copies += [(folder / f"data-{last}", shutil.copytree)] if data.is_dir() else []
    for copy, make in copies:
        if last == release or copy.exists():
            continue
        begun = folder / copy.name.replace(last, "begun")
        shutil.rmtree(begun, ignore_errors=True)
        make(data, begun)
        begun.rename(copy)
        say(f"Label Studio {release} takes the place of {last}; a copy of the data from before is {copy}")
    noted.write_text(f"{release}\n", encoding="ascii")


def _dump(data: Path, copy: Path) -> None:
    """Copy the PostgreSQL database of the server with this data folder into a new file."""
    variables = json.loads((data.parent / DATABASE).read_text(encoding="utf-8"))
    words = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGDATABASE": "NAME", "PGPASSWORD": "PASSWORD"}
    environment = os.environ | {word: variables[f"POSTGRE_{name}"] for word, name in words.items()}
    command = ["pg_dump", "--format=custom", "--no-password", f"--file={copy}"]
    try:
        copy.unlink(missing_ok=True)
        copy.touch(mode=0o600)
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        problem = str(getattr(error, "stderr", error)).strip()
        raise StudioError(
            f"Label Studio has another release, and its PostgreSQL database cannot be copied before: {problem}",
            hint="sudo apt install postgresql-client, of the release of that PostgreSQL or later; then run the same "
            "command again",
        ) from None


def _release_of(program: Path) -> str:
    """The release of an installation."""
    packages = program.parent.parent.glob("lib/python*/site-packages/label_studio-*.dist-info")
    return next((path.name.removesuffix(".dist-info").partition("-")[2] for path in packages), VERSION)


def address_of(folder: Path) -> str:
    """Address at which people reach the server of `folder` by https; empty if no proxy is in front of it."""
    path = folder / "address"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def down(folder: Path) -> bool:
    """Stop the server of `folder`; False where none of ours runs. A process that is not ours is left alone."""
    folder = folder.resolve()
    if not folder.is_dir():
        return False
    with locked(folder / "lock"):
        running = _process(folder)
        if running is None:
            return False
        _end(folder, *running)
        return True


def status(folder: Path) -> Server | None:
    """The server of `folder` if its process runs, healthy or not yet; None otherwise."""
    folder = folder.resolve()
    running = _process(folder)
    if running is None:
        return None
    pid, port = running
    url = f"http://{HOST}:{port}"
    return Server(url, port, pid, _is_healthy(url, credentials(folder).token))


def database_variables(url: str) -> str:
    """Variables for a server whose data are in this PostgreSQL database, as JSON.

    The password is that of the environment variable PGPASSWORD. Raises InputError if the address has one: everyone on
    the machine can see the words of a command.
    """
    from annot.store.database import parse_url, password_of

    place = parse_url(url)
    host = place.host or place.query.get("host")
    if not (place.drivername.startswith("postgresql") and host and place.username and place.database):
        raise InputError("--database: expected an address such as postgresql://studio@127.0.0.1/studio")
    if password_of(place) is not None:
        raise InputError(
            "--database: has a password, which other accounts of this machine can see",
            hint="leave it out, and set the environment variable PGPASSWORD",
        )
    variables = {
        "DJANGO_DB": "default",
        "POSTGRE_NAME": place.database,
        "POSTGRE_USER": place.username,
        "POSTGRE_PASSWORD": os.environ.get("PGPASSWORD", ""),
        "POSTGRE_HOST": host,
        "POSTGRE_PORT": str(place.port or 5432),
    }
    return json.dumps(variables)


def is_running(folder: Path) -> bool:
    """True if the process of the server of `folder` runs."""
    return _process(folder.resolve()) is not None


def credentials(folder: Path) -> Credentials:
    """The administrator's credentials, made on the first call and kept in a file that only its owner can read."""
    path = folder / "admin.json"
    if not path.exists():
        administrator = {"email": ADMINISTRATOR, "password": secrets.token_urlsafe(18), "token": secrets.token_hex(20)}
        folder.mkdir(parents=True, exist_ok=True)
        # A temporary file is its owner's alone from the beginning.
        with tempfile.NamedTemporaryFile("w", dir=folder, encoding="utf-8", delete=False) as file:
            json.dump(administrator, file)
        Path(file.name).replace(path)
    try:
        return Credentials(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise StudioError(f"{path}: not a credentials file of `annot studio up`") from None


def _spawn(program: Path, folder: Path, port: int, environ: Mapping[str, str]) -> None:
    admin = credentials(folder)
    data = folder / "data"
    data.mkdir(exist_ok=True)
    environment = {name: value for name, value in environ.items() if not name.startswith(("LABEL_STUDIO", "DJANGO"))}
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "HOST", "PORT", "DEBUG"):
        environment.pop(name, None)
    environment |= {
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "LABEL_STUDIO_USERNAME": admin.email,
        "LABEL_STUDIO_PASSWORD": admin.password,
        "LABEL_STUDIO_USER_TOKEN": admin.token,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
        "LABEL_STUDIO_SENTRY_DSN": "",
        "LABEL_STUDIO_FRONTEND_SENTRY_DSN": "",
        "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        # Label Studio's switch for SQLite's write-ahead log, named after the trouble it was made for: several people
        # at once are answered in half the time.
        "LABEL_STUDIO_AZURE_MOUNT_FIX": "true",
    }
    if (folder / DATABASE).is_file():
        environment |= json.loads((folder / DATABASE).read_text(encoding="utf-8"))
    if address := address_of(folder):
        environment |= {"SESSION_COOKIE_SECURE": "1", "CSRF_TRUSTED_ORIGINS": address}
    command = [str(program), "start", "--no-browser", "--internal-host", HOST, "--port", str(port)]
    command += ["--data-dir", str(data)]
    launch(folder, command, environment, name="server")
    # While a process becomes another one it has no command line.
    comes_true(lambda: _process(folder) is not None, within=STOP_SECONDS)


def launch(folder: Path, command: list[str], environment: Mapping[str, str], *, name: str) -> None:
    """Start a program that outlives this one. Its process number is in `name`.pid of the folder, and its log there."""
    # The process writes down its own number before it becomes the server: were it left to us, a kill in between would
    # leave a server on no record. It runs as a child of no process, so that it outlives this program quietly. It gives
    # up our end of the pipe when it becomes the server, and that is waited for, however long it takes.
    become = f'echo "$$" > "$0" && exec "$@" >> {name}.log 2>&1'
    with (folder / f"{name}.log").open("a", encoding="utf-8") as log:
        subprocess.run(
            ["/bin/sh", "-c", '/bin/sh -c "$0" "$@" &', become, str(folder / f"{name}.pid"), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=folder,
            env=environment,
            start_new_session=True,
            check=True,
        )


def _end(folder: Path, pid: int, port: int) -> None:
    """End this server."""
    end(pid, lambda: _process(folder) is None)
    # An ending process loses its command line a moment before its port: who starts again wants it back.
    comes_true(lambda: is_free_port(port), within=GONE_SECONDS)


def end(pid: int, is_gone: Callable[[], bool]) -> None:
    """End a program that was launched, by force where it does not end by itself."""
    for stop, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, GONE_SECONDS)):
        with suppress(ProcessLookupError):
            os.killpg(os.getpgid(pid), stop)
        if comes_true(is_gone, within=seconds):
            return
    raise StudioError(f"process {pid} does not stop", hint=f"stop it by hand: kill -9 {pid}")


def _speaks(folder: Path, log_size: int) -> bool:
    """True if the server adds to its log of this many bytes, answers, or ends."""
    return comes_true(
        lambda: (server := status(folder)) is None or server.healthy or _log_size(folder) > log_size,
        within=SILENT_SECONDS,
    )


def _log_size(folder: Path) -> int:
    log = folder / "server.log"
    return log.stat().st_size if log.is_file() else 0


def _wait_until_healthy(folder: Path) -> Server:
    comes_true(lambda: (server := status(folder)) is None or server.healthy, within=START_SECONDS)
    server = status(folder)
    if server is None:
        raise StudioError(f"the local Label Studio stopped while starting; the end of its log:\n{_log_tail(folder)}")
    if not server.healthy:
        raise StudioError(
            f"the local Label Studio does not respond after {lasting(START_SECONDS)}; the end of its log:\n"
            f"{_log_tail(folder)}",
            hint="`annot studio down`, then `annot studio up`",
        )
    return server


def comes_true(condition: Callable[[], bool], *, within: float) -> bool:
    """True if the condition holds before this many seconds are over; checks ten times a second."""
    deadline = time.monotonic() + within
    while not (is_true := condition()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return is_true


def _log_tail(folder: Path) -> str:
    text = tail(folder / "server.log")
    admin = credentials(folder)
    return text.replace(admin.token, "[token]").replace(admin.password, "[password]")


def _is_healthy(url: str, token: str) -> bool:
    """True if the server that answers is ours: another would not know the administrator's token."""
    import httpx

    from annot.labelstudio.http_client import PatientClient

    headers = {"Authorization": f"Token {token}"}
    try:
        with PatientClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
            answer = client.get(f"{url}/api/current-user/whoami", headers=headers)
    except httpx.HTTPError:
        return False
    return answer.status_code == 200


def _process(folder: Path) -> tuple[int, int] | None:
    """Process id and port of our running server."""
    pid, port = number_in(folder / "server.pid"), kept_port(folder)
    return (pid, port) if pid and port and _is_ours(pid, folder) else None


def _is_ours(pid: int, folder: Path) -> bool:
    """True if `pid` runs, and is a Label Studio on our data folder: process ids are used again."""
    command = command_of(pid)
    return str(folder / "data") in command and any("label-studio" in part for part in command)


def command_of(pid: int) -> list[str]:
    """The command line of a running process; empty if it does not run."""
    proc = Path("/proc") / str(pid)
    if Path("/proc/self/cmdline").exists():
        try:
            return proc.joinpath("cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
        except OSError:
            return []
    arguments = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False).stdout.split()
