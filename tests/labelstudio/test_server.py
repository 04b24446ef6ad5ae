"""The local server's life: a stand-in program that answers anything, so that every turn can be tried in seconds."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

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
