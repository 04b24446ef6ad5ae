"""The local server's life: a stand-in program that answers anything, so that every turn can be tried in seconds."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import StudioError
from annot.labelstudio import server

STAND_IN = f"""#!{sys.executable}
import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

arguments = sys.argv[1:]
port = int(arguments[arguments.index("--port") + 1])
print("token", os.environ["LABEL_STUDIO_USER_TOKEN"], flush=True)

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *arguments):
        pass

HTTPServer((arguments[arguments.index("--internal-host") + 1], port), Handler).serve_forever()
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    program = tmp_path / "environment" / "bin" / "label-studio"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": os.environ["PATH"], server.ENVIRONMENT_VARIABLE: str(tmp_path / "environment")}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "studio"
    server.down(tmp_path / "studio")


def start(folder: Path, environ: dict[str, str], port: int | None = None) -> server.Server:
    return server.up(folder, environ=environ, port=port, say=lambda text: None)


def test_up_twice_is_one_server_and_down_ends_it(folder: Path, environ: dict[str, str]) -> None:
    first = start(folder, environ)
    assert first.healthy
    assert first.url == f"http://127.0.0.1:{first.port}"
    assert start(folder, environ) == first
    assert server.status(folder) == first
    assert server.down(folder)
    assert server.status(folder) is None
    assert not server.down(folder)


def test_it_outlives_the_program_that_started_it_and_is_found_again(folder: Path, environ: dict[str, str]) -> None:
    script = (
        "import sys; from pathlib import Path; from annot.labelstudio import server; import os;"
        "server.up(Path(sys.argv[1]), environ=os.environ, port=None, say=print); os.kill(os.getpid(), 9)"
    )
    toolkit = str(Path(server.__file__).parents[2])
    killed = subprocess.run(
        [sys.executable, "-c", script, str(folder)], env={**environ, "PYTHONPATH": toolkit}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    found = server.status(folder)
    assert found is not None
    assert start(folder, environ) == found


def test_a_process_that_is_not_ours_is_never_stopped(folder: Path) -> None:
    folder.mkdir()
    with subprocess.Popen(["sleep", "3600"]) as stranger:
        (folder / "server.pid").write_text(f"{stranger.pid} 8090\n")
        assert server.status(folder) is None
        assert not server.down(folder)
        time.sleep(0.2)
        assert stranger.poll() is None
        stranger.kill()


def test_an_interrupted_installation_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    half = tmp_path / "annot" / f"label-studio-{server.VERSION}"
    half.joinpath("bin").mkdir(parents=True)
    half.joinpath("bin", "label-studio").write_text("half written")
    assert server.installed(environ) is None
    commands: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        assert not half.joinpath("bin", "label-studio").exists()
        half.mkdir(exist_ok=True)
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    assert server.ensure_installed(environ, say=print) == half / "bin" / "label-studio"
    assert commands[1][-1] == f"label-studio=={server.VERSION}"
    assert server.ensure_installed(environ, say=print) == half / "bin" / "label-studio"
    assert len(commands) == 2


def test_a_failed_installation_is_told_and_leaves_nothing_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        options["stdout"].write("no such package\n")  # type: ignore[attr-defined]
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(subprocess, "run", run)
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    with pytest.raises(StudioError, match="no such package"):
        server.ensure_installed(environ, say=print)
    assert server.installed(environ) is None


# -- the installation --------------------------------------------------------------------------------------------------


def test_the_installation_is_the_named_one_or_that_of_the_marker(tmp_path: Path) -> None:
    program = tmp_path / "own" / "bin" / "label-studio"
    named = {server.ENVIRONMENT_VARIABLE: str(tmp_path / "own")}
    with pytest.raises(StudioError, match="no bin/label-studio found in it"):
        server.installed(named)
    program.parent.mkdir(parents=True)
    program.touch()
    assert server.installed(named) == program
    assert server.ensure_installed(named, say=print) == program
    usual = tmp_path / "cache" / "annot" / f"label-studio-{server.VERSION}"
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert server.installed(environ) is None
    usual.mkdir(parents=True)
    (usual / "annot-installed").touch()
    assert server.installed(environ) == usual / "bin" / "label-studio"
    assert server.installed({"HOME": str(tmp_path)}) is None


def test_of_a_log_the_last_fifteen_lines_with_words_are_shown(tmp_path: Path) -> None:
    assert server.tail(tmp_path / "none") == ""
    lines = [f"line {at}" for at in range(20)]
    (tmp_path / "log").write_text("\n\n".join(lines) + "\n\n", encoding="utf-8")
    assert server.tail(tmp_path / "log").splitlines() == lines[5:]


def test_an_installation_sees_nothing_of_the_environment_that_this_program_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments: list[dict[str, str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        assert options["check"] is False, "the end of the log says what is wrong"
        environments.append(options["env"])
        home = tmp_path / "annot" / f"label-studio-{server.VERSION}"
        home.mkdir(parents=True, exist_ok=True)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setenv("VIRTUAL_ENV", "x")
    monkeypatch.setenv("PYTHONPATH", "x")
    monkeypatch.setenv("KEPT", "x")
    monkeypatch.setattr(subprocess, "run", run)
    server.ensure_installed({"XDG_CACHE_HOME": str(tmp_path)}, say=lambda text: None)
    assert len(environments) == 2
    for one in environments:
        assert one["KEPT"] == "x"
        assert not {"VIRTUAL_ENV", "PYTHONPATH"} & one.keys()


def test_an_installation_says_that_it_goes_on_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    said = threading.Event()

    def say(text: str) -> None:
        heard.append(text)
        said.set()

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        if "pip" in command:
            said.clear()
            assert said.wait(10), "no word comes while pip is at work"
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(server, "SECONDS_BETWEEN_LINES", 0.01)
    monkeypatch.setattr(subprocess, "run", run)
    home = tmp_path / "annot" / f"label-studio-{server.VERSION}"
    home.mkdir(parents=True)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    server.ensure_installed({"XDG_CACHE_HOME": str(tmp_path)}, say=say)
    assert heard[-1].startswith("installing Label Studio, for 0 s")
    lasting = len(heard)
    time.sleep(0.05)
    assert len(heard) == lasting, "it goes on after the end"


def test_no_proxy_is_asked_for_the_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *values: object) -> None:
            """Say nothing."""

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            assert server._is_healthy(f"http://127.0.0.1:{running.server_port}", "5ecre7")
        finally:
            running.shutdown()
            thread.join()


@pytest.mark.parametrize(("said", "command"), [("/x/label-studio start --data-dir /d\n", 4), ("", 0)])
def test_where_the_system_has_no_list_of_processes_it_is_asked_for_one(
    said: str, command: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        assert (options["capture_output"], options["text"], options["check"]) == (True, True, False)
        asked.append(arguments)
        return subprocess.CompletedProcess(arguments, 0 if said else 1, stdout=said)

    monkeypatch.setattr(Path, "exists", lambda path: False)
    monkeypatch.setattr(subprocess, "run", run)
    assert len(server.command_of(77)) == command
    assert asked == [["ps", "-ww", "-o", "command=", "-p", "77"]]
