"""A server on this machine, without starting one: its memory, its ports, its files, and whose process is whose."""

import os
import signal
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from annot.base.errors import StudioError
from annot.labelstudio import server
from free_ports import FreePorts
from postgres import PASSWORD, PostgresServer


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("MemTotal: 100 kB\nMemFree: 7 kB\nMemAvailable:   2048 kB\n", 2048 * 1024),
        ("MemTotal: 100 kB\n", None),
    ],
)
def test_free_memory_is_what_the_system_calls_available(
    text: str, free: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MEMINFO", tmp_path / "meminfo")
    assert server.free_bytes() is None
    (tmp_path / "meminfo").write_text(text, encoding="ascii")
    assert server.free_bytes() == free


@pytest.mark.parametrize(
    ("text", "number"), [("8090\n", 8090), ("8090 7 more", 8090), ("", None), ("x 8090", None), (None, None)]
)
def test_a_number_is_the_first_word_of_its_file(text: str | None, number: int | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "port").write_text(text, encoding="utf-8")
    assert server.number_in(tmp_path / "port") == number
    assert server.kept_port(tmp_path) == number


def test_data_are_copied_before_another_release_takes_them_over(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "label_studio.sqlite3").write_text("of 1.23.2", encoding="utf-8")
    (tmp_path / "data-begun").mkdir()  # of one that was killed
    for release, copies in (("1.23.2", []), ("1.30.0", ["data-1.23.2"]), ("1.30.0", ["data-1.23.2"])):
        server.keep_data_of_earlier(tmp_path, release, say=said.append)
        assert sorted(path.name for path in tmp_path.glob("data-[0-9]*")) == copies
    assert (tmp_path / "data-1.23.2" / "label_studio.sqlite3").read_text(encoding="utf-8") == "of 1.23.2"
    assert len(said) == 1
    server.keep_data_of_earlier(tmp_path, "1.31.0", say=said.append)
    assert (tmp_path / "data-1.30.0").is_dir()


@pytest.mark.postgres
def test_a_database_on_postgresql_is_dumped_before_another_release_takes_it_over(
    postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    url = postgres_server.new_database()
    address = url.replace(f":{PASSWORD}@", "@")
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("CREATE TABLE task (id integer); INSERT INTO task VALUES (7)")
    (tmp_path / "database.json").write_text(server.database_variables(address), encoding="utf-8")
    monkeypatch.delenv("PGPASSWORD")
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        with pytest.raises(StudioError, match="cannot be copied before") as caught:
            server.keep_data_of_earlier(tmp_path, "1.30.0", say=print)
        assert "postgresql-client" in str(caught.value.hint)
        assert not (tmp_path / "release").exists()
    server.keep_data_of_earlier(tmp_path, "1.30.0", say=print)
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("DROP TABLE task")
    dump = tmp_path / "data-1.23.2.dump"
    assert dump.stat().st_mode & 0o077 == 0
    server.keep_data_of_earlier(tmp_path, "1.30.0", say=print)
    place = url.replace("+psycopg", "")
    subprocess.run(["pg_restore", f"--dbname={place}", dump], check=True)
    with psycopg.connect(place) as connection:
        assert connection.execute("SELECT id FROM task").fetchall() == [(7,)]
    postgres_server.give_back(url)


def test_a_port_is_free_unless_something_listens_there(free_ports: FreePorts) -> None:
    port = free_ports.port()
    assert server.is_free_port(port) is True
    with socket.create_server((server.HOST, port)):
        assert server.is_free_port(port) is False


def test_ports_are_tried_from_8090_on_for_fifty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(server, "is_free_port", lambda port: tried.append(port))
    with pytest.raises(StudioError, match="ports 8090 to 8139 are taken"):
        server.choose_port(None, tmp_path)
    assert set(tried) == set(range(8090, 8140))
    tried.clear()
    with pytest.raises(StudioError, match="port 9000 is taken on"):
        server.choose_port(9000, tmp_path)
    assert set(tried) == {9000}


def test_the_port_of_the_last_time_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(server, "is_free_port", lambda port: True)
    assert server.choose_port(None, tmp_path) == 8090
    assert server.kept_port(tmp_path) == 8090
    (tmp_path / "port").write_text("8111\n", encoding="utf-8")
    assert server.choose_port(None, tmp_path) == 8111


def test_credentials_are_made_once_and_long_enough(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    made = server.credentials(folder)
    assert server.credentials(folder) == made
    assert (made.email, len(made.password), len(made.token)) == (server.ADMINISTRATOR, 24, 40)
    assert bytes.fromhex(made.token)
    assert stat.S_IMODE((folder / "admin.json").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["admin.json"]
    assert server.credentials(tmp_path).token != made.token


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"email": "x"}', '{"email": "", "password": "", "token": "", "x": 1}']
)
def test_a_damaged_credentials_file_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "admin.json").write_text(text, encoding="utf-8")
    with pytest.raises(StudioError, match="not a credentials file"):
        server.credentials(tmp_path)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        (["python", "/x/label-studio", "start", "--data-dir", "{data}"], True),
        (["python", "/x/label-studio", "start", "--data-dir", "{data}/more"], False),
        (["python", "/x/other", "{data}"], False),
        ([], False),
    ],
)
def test_a_process_is_ours_if_it_is_a_label_studio_on_our_data(
    command: list[str], ours: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.pid").write_text("77\n", encoding="utf-8")
    (tmp_path / "port").write_text("8090\n", encoding="utf-8")
    monkeypatch.setattr(server, "command_of", lambda pid: [one.format(data=tmp_path / "data") for one in command])
    monkeypatch.setattr(server, "_is_healthy", lambda url, token: url == "http://127.0.0.1:8090")
    assert server.status(tmp_path) == (("http://127.0.0.1:8090", 8090, 77, True) if ours else None)
    (tmp_path / "port").unlink()
    assert server.status(tmp_path) is None


def test_the_command_line_of_a_process_is_read_and_that_of_none_is_empty() -> None:
    assert any("python" in part or "pytest" in part for part in server.command_of(os.getpid()))
    assert server.command_of(2**30) == []


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (201, False), (401, False), (None, False)])
def test_a_server_is_healthy_if_it_knows_the_administrators_token(
    status: int | None, healthy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        assert (str(request.url), request.headers["authorization"]) == (
            "http://127.0.0.1:8090/api/current-user/whoami",
            "Token 5ecre7",
        )
        if status is None:
            raise httpx.ConnectError("refused")
        return httpx.Response(status)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    assert server._is_healthy("http://127.0.0.1:8090", "5ecre7") is healthy


class Machine:
    """A clock, and a server that ends or gets healthy after so many looks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, looks: dict[str, int] | None = None) -> None:
        self.now, self.killed = 0.0, list[int]()
        self.looks, self.seen = looks or {}, 0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)
        monkeypatch.setattr(os, "getpgid", lambda pid: pid)
        monkeypatch.setattr(os, "killpg", lambda pid, number: self.killed.append(number))

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(
    ("stubborn", "signals"),
    [(0, [signal.SIGTERM]), (1, [signal.SIGTERM, signal.SIGKILL])],
)
def test_a_server_that_does_not_end_by_itself_is_ended_by_force(
    stubborn: int, signals: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch)
    monkeypatch.setattr(server, "_process", lambda folder: (77, 8090) if len(machine.killed) <= stubborn else None)
    monkeypatch.setattr(server, "is_free_port", lambda port: port == 8090)
    server._end(tmp_path, 77, 8090)
    assert machine.killed == signals


def test_a_server_that_outlives_force_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    monkeypatch.setattr(server, "_process", lambda folder: (77, 8090))
    with pytest.raises(StudioError, match=r"process 77 does not stop") as caught:
        server._end(tmp_path, 77, 8090)
    assert caught.value.hint == "stop it by hand: kill -9 77"
    assert machine.killed == [signal.SIGTERM, signal.SIGKILL]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "stopped while starting; the end of its log:\nlast words of [token] and [password]"),
        (False, "does not respond after 10 min"),
        (True, None),
    ],
)
def test_a_start_is_waited_for_until_it_is_healthy_or_has_ended(
    found: bool | None, said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, admin = Machine(monkeypatch), server.credentials(tmp_path)
    (tmp_path / "server.log").write_text(f"last words of {admin.token} and {admin.password}\n", encoding="utf-8")

    def status(folder: Path) -> server.Server | None:
        healthy = bool(found) and machine.now > 3
        return server.Server("u", 1, 2, healthy) if found is not None or machine.now < 1 else None

    monkeypatch.setattr(server, "status", status)
    if said is None:
        assert server._wait_until_healthy(tmp_path).healthy
        assert 3 < machine.now < 4
        return
    with pytest.raises(StudioError) as caught:
        server._wait_until_healthy(tmp_path)
    assert said in caught.value.message
    assert machine.now < 700


@pytest.mark.parametrize(("state", "speaks"), [("ended", True), ("healthy", True), ("word", True), ("silent", False)])
def test_a_server_speaks_by_its_log_or_its_answer_or_its_end(
    state: str, speaks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    assert server._log_size(tmp_path) == 0
    (tmp_path / "server.log").write_text("before\n" + "word\n" * (state == "word"), encoding="utf-8")
    running = None if state == "ended" else server.Server("u", 1, 2, state == "healthy")
    monkeypatch.setattr(server, "status", lambda folder: running)
    assert server._speaks(tmp_path, len("before\n")) is speaks


def spawned(folder: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]) -> tuple[list[str], dict[str, Any]]:
    """The command and the options with which a server is started on port 8099."""
    runs: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **options: runs.append((command, options)))
    monkeypatch.setattr(server, "_process", lambda folder: (77, 8099))
    server._spawn(Path("/x/label-studio"), folder, 8099, environ)
    ((command, options),) = runs
    return command, options


def test_a_server_starts_with_its_own_data_and_nothing_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = {"PATH": "/bin", "LABEL_STUDIO_HOST": "x", "DJANGO_DB": "x", "PYTHONPATH": "x", "PORT": "1", "DEBUG": "1"}
    command, options = spawned(tmp_path, monkeypatch, strange)
    data = str(tmp_path / "data")
    assert command[-8:] == [
        "start",
        "--no-browser",
        "--internal-host",
        "127.0.0.1",
        "--port",
        "8099",
        "--data-dir",
        data,
    ]
    assert (tmp_path / "data").is_dir()
    environment, admin = options["env"], server.credentials(tmp_path)
    assert not {"LABEL_STUDIO_HOST", "DJANGO_DB", "PYTHONPATH", "PORT", "DEBUG"} & environment.keys()
    assert (environment["PATH"], environment["LABEL_STUDIO_USER_TOKEN"]) == ("/bin", admin.token)
    assert (options["start_new_session"], options["check"], options["cwd"]) == (True, True, tmp_path)
    spawned(tmp_path, monkeypatch, strange)


def test_where_it_runs_it_is_not_started_again_and_a_hanging_start_is_repeated_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, said, spawns = server.Server("u", 8090, 77, True), list[str](), list[int]()
    monkeypatch.setattr(server, "ensure_installed", lambda environ, say: Path("/x/label-studio"))
    monkeypatch.setattr(server, "_spawn", lambda program, folder, port, environ: spawns.append(port))
    monkeypatch.setattr(server, "_wait_until_healthy", lambda folder: running)
    monkeypatch.setattr(server, "status", lambda folder: running)
    folder = tmp_path / "new" / "studio"
    assert server.up(folder, environ={}, port=None, say=said.append) == running
    assert (spawns, said) == ([], [])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    monkeypatch.setattr(server, "status", lambda folder: None)
    monkeypatch.setattr(server, "_speaks", lambda folder, said: len(spawns) > 1)
    monkeypatch.setattr(server, "_process", lambda folder: (77, 8090))
    monkeypatch.setattr(server, "_end", lambda folder, pid, port: None)
    monkeypatch.setattr(server, "is_free_port", lambda port: True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    server.up(folder, environ={}, port=8097, say=said.append)
    assert spawns == [8097, 8097]
    assert "http://127.0.0.1:8097" in said[0]
    assert "the first start" in said[0]
    assert "starting it again" in said[1]
    (folder / "server.log").write_text("It ran before.\n", encoding="utf-8")
    server.up(folder, environ={}, port=8097, say=said.append)
    assert (len(spawns), len(said)) == (3, 3), "what speaks is not started again"
    assert "the first start" not in said[2]


def test_the_port_of_another_server_is_taken_only_if_no_other_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    free = {8090, 8091}
    monkeypatch.setattr(server, "is_free_port", lambda port: port in free)
    folders = [tmp_path / name for name in ("first", "second", "third", "fourth")]
    for folder in folders:
        folder.mkdir()
    first, second, third, fourth = folders
    assert [server.choose_port(None, folder) for folder in (first, second)] == [8090, 8091], "though none listens yet"
    assert server.choose_port(8091, third) == 8091, "whoever names it gets it"
    assert server.choose_port(None, second) == 8091, "and whoever had it last"
    assert server.choose_port(None, fourth) == 8090, "no other is left"
