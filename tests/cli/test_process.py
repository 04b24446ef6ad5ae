"""The console script as a process of its own: streams, a reader that goes away, Ctrl-C, what is loaded."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).parent / "annot"
HEAVY = {"sklearn", "scipy", "pandas", "matplotlib", "label_studio_sdk", "torch", "gensim", "pyarrow.parquet"}


@pytest.fixture
def annot() -> list[str]:
    """The words that start the console script; without one installed, the module in its place."""
    if SCRIPT.is_file():
        return [str(SCRIPT)]
    return [sys.executable, "-c", "from annot.cli.main import run; run()"]


def test_results_go_to_stdout_and_talk_to_stderr(annot: list[str], study: Callable[[str], Path]) -> None:
    command = [*annot, "pool", "--frozen", "--json"]
    done = subprocess.run(command, cwd=study("pooled"), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["command"] == "pool"
    assert done.stderr.startswith("9 pools of ")
    assert "\x1b" not in done.stdout + done.stderr


def test_colours_are_not_for_pipes(annot: list[str], tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    for words in (["--help"], ["no-such-command"]):
        done = subprocess.run([*annot, *words], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert "\x1b" not in done.stdout + done.stderr


def test_a_reader_that_goes_away_is_no_error(annot: list[str], study: Callable[[str], Path]) -> None:
    command = [*annot, "evaluate", "--json"]
    with subprocess.Popen(
        command, cwd=study("measured"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "{\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_a_reader_that_never_was_is_no_error(annot: list[str], study: Callable[[str], Path]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*annot, "guidelines", "method"], cwd=study("made"), stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_ends_with_130_and_a_word(annot: list[str], study: Callable[[str], Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        command = [*annot, "push", "--url", f"http://127.0.0.1:{silent.getsockname()[1]}", "--api-key", "token"]
        with subprocess.Popen(
            command, cwd=study("planned"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            connection, _ = silent.accept()
            with connection:
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == ("", "interrupted; run the same command again and it goes on\n")


def test_a_usage_error_ends_with_2_and_a_server_that_is_down_with_3(
    annot: list[str], study: Callable[[str], Path]
) -> None:
    folder = study("planned")
    wrong = subprocess.run([*annot, "pool", "show"], cwd=folder, capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    down = ["push", "--url", "http://127.0.0.1:9", "--api-key", "token"]
    refused = subprocess.run([*annot, *down], cwd=folder, capture_output=True, text=True)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert refused.stderr.startswith("annot: no server answers at http://127.0.0.1:9")


@pytest.mark.parametrize("words", [["--help"], ["pool", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    code = (
        "import sys, atexit; sys.argv = ['annot', *sys.argv[1:]]\n"
        f"atexit.register(lambda: print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr))\n"
        "from annot.cli.main import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == "[]\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told(annot: list[str], study: Callable[[str], Path], unbuffered: str) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*annot, "query", "list"],
            cwd=study("queried"),
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("annot: No space left on device\n")
    assert "Traceback" not in done.stderr


def test_letters_that_the_terminal_does_not_have_stop_nothing(annot: list[str], study: Callable[[str], Path]) -> None:
    folder = study("made")
    papers = folder / "papers.jsonl"
    text = papers.read_text(encoding="utf-8")
    first = json.loads(text.splitlines()[0])
    papers.write_text(text.replace(first["title"], f"名前 {first['title']}", 1), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    for words in (["corpus", "add", "papers.jsonl"], ["facets"], ["query", "add", first["paper_id"], "-f", "method"]):
        subprocess.run([*annot, *words], cwd=folder, check=True, capture_output=True)
    command = [*annot, "query", "list", "--json"]
    listed = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    assert json.loads(listed.stdout.decode("latin-1"))["data"][0]["title"] == f"名前 {first['title']}"
