"""Where Label Studio is installed, what an installation sees, and what is shown of its log."""

import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import StudioError
from annot.labelstudio import server


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

    monkeypatch.setattr(server, "A_LINE_EVERY", 0.01)
    monkeypatch.setattr(subprocess, "run", run)
    home = tmp_path / "annot" / f"label-studio-{server.VERSION}"
    home.mkdir(parents=True)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    server.ensure_installed({"XDG_CACHE_HOME": str(tmp_path)}, say=say)
    assert heard[-1].startswith("installing Label Studio, for 0 s")
    lasting = len(heard)
    time.sleep(0.05)
    assert len(heard) == lasting, "it goes on after the end"
