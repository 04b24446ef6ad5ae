"""The console script as a process of its own: streams, a reader that goes away, Ctrl-C, what is loaded."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from command_line import Result, annot_done, difference, snapshot
from command_line import annot as run_here

SCRIPT = Path(sys.executable).parent / "annot"


GUARD = 600.0
"""Seconds after which a test gives up what would last for ever."""

WRITES_AND_DIES = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
with connection:
    connection.execute("UPDATE assessor SET adjudicator = 1 WHERE assessor = 'a1'")
os._exit(0)
"""
"""The change stays in the write-ahead log, as after a kill."""


def read_only(words: str, folder: Path) -> Result:
    """Result of a command for somebody to whom the mode of files applies: root is somebody else without this."""

    def obey_modes() -> None:
        system, capabilities = ctypes.CDLL(None), (ctypes.c_uint32 * 6)()
        this_thread = (ctypes.c_uint32 * 2)(0x20080522, 0)
        assert system.capget(this_thread, capabilities) == 0
        for kind in (0, 1):  # effective and permitted, without CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER
            capabilities[kind] &= ~0b1110
        assert system.capset(this_thread, capabilities) == 0

    # Capabilities are those of a thread, and a thread does not get them back.
    with ThreadPoolExecutor(1, initializer=obey_modes) as somebody_else:
        return somebody_else.submit(run_here, *words.split(), folder=folder).result()


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
    assert any(line.startswith("9 pools with ") for line in done.stderr.splitlines())
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


def test_ctrl_c_ends_with_130_and_a_word(annot: list[str], study: Callable[[str], Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(GUARD)
        command = [*annot, "push", "--url", f"http://127.0.0.1:{silent.getsockname()[1]}", "--api-key", "token"]
        with subprocess.Popen(
            command, cwd=study("planned"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            connection, _ = silent.accept()
            with connection, connection.makefile("rb") as request:
                # To the end of its head: the command waits for an answer then.
                while request.readline() not in (b"\r\n", b""):
                    pass
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=GUARD)
    assert process.returncode == 130
    # On a busy machine it may have said that it waits.
    said = [line for line in err.splitlines() if "still waiting" not in line]
    assert (out, said) == ("", ["interrupted; run the same command again to continue"])


@pytest.mark.parametrize(
    ("words", "without"), [(["status"], {"sklearn", "scipy", "krippendorff"}), (["agreement"], {"sklearn"})]
)
def test_what_people_type_all_day_waits_for_no_library_that_it_does_not_need(
    words: list[str], without: set[str], study: Callable[[str], Path]
) -> None:
    code = (
        "import sys, atexit; sys.argv = ['annot', *sys.argv[1:]]\n"
        f"atexit.register(lambda: print('LOADED', sorted({without!r} & set(sys.modules)), file=sys.stderr))\n"
        "from annot.cli.main import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=study("judged"), capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "LOADED []"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_told(annot: list[str], study: Callable[[str], Path]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*annot, "query", "list"], cwd=study("queried"), stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert "the disk is full (" in done.stderr
    assert "or the disk that the output goes to" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("log", ["no log", "a log that was left"])
def test_a_study_that_cannot_be_written_is_read(study: Callable[[str], Path], log: str) -> None:
    folder = study("judged")
    if log == "a log that was left":
        subprocess.run([sys.executable, "-c", WRITES_AND_DIES, str(folder / "annot.db")], check=True)
        assert (folder / "annot.db-wal").stat().st_size
    before = snapshot(folder)
    if log == "no log":
        for ending in ("-wal", "-shm"):  # looking at the rows leaves them
            (folder / f"annot.db{ending}").unlink(missing_ok=True)
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    assert "agreed" in read_only("status", folder).stdout
    assert "fic0101" in read_only("trace fic0407-background fic0101", folder).stdout
    listed = read_only("assessor list", folder)
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert listed.stdout.count("adjudicator") == (2 if log == "a log that was left" else 1)
    if log == "no log":
        measured = read_only("agreement", folder)
        assert "Krippendorff's ordinal alpha" in measured.stdout
        assert "exports/agreement.json: cannot be written (Permission denied)" in measured.stderr
    for words in ("assessor add new --account new@example.org", "qrels --partial"):
        refused = read_only(words, folder)
        assert refused.exit_code == 2
        assert "cannot be written" in refused.stderr or "no permission" in refused.stderr
    assert not difference(before, snapshot(folder))


def test_a_log_without_its_index_is_not_passed_over(study: Callable[[str], Path]) -> None:
    folder = study("judged")
    subprocess.run([sys.executable, "-c", WRITES_AND_DIES, str(folder / "annot.db")], check=True)
    (folder / "annot.db-shm").unlink()
    folder.chmod(0o555)
    refused = read_only("status", folder)
    assert refused.exit_code == 2
    assert "copy the study" in refused.stderr


def test_letters_that_the_terminal_does_not_have_stop_nothing(annot: list[str], study: Callable[[str], Path]) -> None:
    folder = study("made")
    papers = folder / "papers.jsonl"
    text = papers.read_text(encoding="utf-8")
    first = json.loads(text.splitlines()[0])
    papers.write_text(text.replace(first["title"], f"名前 {first['title']}", 1), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    for words in (["corpus", "add", "papers.jsonl"], ["facets"], ["query", "add", first["paper_id"], "-f", "method"]):
        annot_done(*words, folder=folder)
    command = [*annot, "query", "list", "--json"]
    listed = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    assert json.loads(listed.stdout.decode("latin-1"))["data"][0]["title"] == f"名前 {first['title']}"
