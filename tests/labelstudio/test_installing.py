"""Where Label Studio is installed, what an installation sees, and what is shown of its log."""

from __future__ import annotations

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


def test_an_installation_shows_packages_and_megabytes_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines as pip 23.2 and 25.3 write them to a file; the figures are added up by hand."""
    lines = (
        "Collecting label-studio==1.23.2\n  Obtaining dependency information for label-studio==1.23.2\n",
        "  Downloading label_studio-1.23.2-py3-none-any.whl.metadata (48 kB)\n",
        "  Downloading label_studio-1.23.2-py3-none-any.whl (41.5 MB)\n  Downloading Django-5.1.tar.gz (8.3 MB)\n",
        "  Downloading pytz-2025.2-py2.py3-none-any.whl (509 kB)\n  Using cached idna-3.20-py3-none-any.whl (65 kB)\n",
        "Installing collected packages: pytz, idna, Django, label-studio\n",
    )
    heard: list[str] = []
    said = threading.Event()

    def say(text: str) -> None:
        heard.append(text)
        said.set()

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        home = tmp_path / "annot" / f"label-studio-{server.VERSION}"
        packages = home / "lib" / "python3.11" / "site-packages"
        packages.mkdir(parents=True, exist_ok=True)
        for name in server.OF_THE_ENVIRONMENT:
            (packages / f"{name}-1.0.dist-info").mkdir(exist_ok=True)
        for line in lines if "pip" in command else ():
            options["stdout"].write(line)
            options["stdout"].flush()
            (packages / "pytz-2025.2.dist-info").mkdir(exist_ok=True)
            said.clear()
            assert said.wait(10), "no word comes while pip is at work"
            said.clear()
            assert said.wait(10)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(server, "A_LINE_EVERY", 0.01)
    monkeypatch.setattr(subprocess, "run", run)
    server.ensure_installed({"XDG_CACHE_HOME": str(tmp_path)}, say=say)
    shown = list(dict.fromkeys(line.partition(": ")[2].partition(", after")[0] for line in heard[1:]))
    assert shown == [
        "looking for packages",
        "2 packages downloaded or on the way, 50 MB; now Django",
        "3 packages downloaded or on the way, 50 MB; now pytz",
        "1 of 4 packages installed",
    ]
    lasting = len(heard)
    time.sleep(0.05)
    assert len(heard) == lasting, "it goes on after the end"
