"""No command leaves a person before a silent terminal, and nothing of that sign stays on the screen."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable

from annot.cli import output

PROGRAM = """
import sys
from annot.cli import output
from annot.cli.output import WAITING, say
output.PATIENCE = float(sys.argv[1])
with WAITING:
    sys.stdin.readline()
    say("half")
    sys.stdin.readline()
say("done")
"""
"""It is silent until it gets a line, before a word and after it."""
SIGN = re.compile(rb"working, (\d+) s")


def on_a_terminal(*, patience: float, goes_on: Callable[[bytes], bool]) -> str:
    """What a terminal receives from the program, which goes on when `goes_on` says so of what came before the word, and
    of what came after it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", PROGRAM, str(patience)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=theirs, stdout=theirs) as child:
        assert child.stdin is not None
        os.close(theirs)
        received, lines = b"", 0
        while True:
            while lines < 2 and len(parts := received.split(b"half")) > lines and goes_on(parts[lines]):
                child.stdin.write(b"\n")
                child.stdin.flush()
                lines += 1
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux: the other end is closed
                break
            if not part:
                break
            received += part
    assert child.returncode == 0
    os.close(ours)
    return received.decode()


def on_the_screen(received: str) -> list[str]:
    """The lines that stay, carriage returns and erasures carried out."""
    return [line.rpartition("\x1b[K")[2].strip() for line in received.replace("\r\n", "\n").split("\n")]


def test_silence_is_broken_within_two_seconds_and_nothing_of_it_stays() -> None:
    assert output.PATIENCE + output.STEP <= 2
    received = on_a_terminal(patience=output.PATIENCE, goes_on=lambda said: SIGN.search(said) is not None)
    before, _, after = received.partition("half")
    (first, *_), (second, *_) = (SIGN.findall(part.encode()) for part in (before, after))
    assert 2 <= int(first) < int(second)
    assert on_the_screen(received) == ["half", "done", ""]


def test_a_quick_command_shows_no_sign() -> None:
    """However slow the machine is: no silence is long enough here."""

    def after_some_steps(_said: bytes) -> bool:
        time.sleep(2 * output.STEP)
        return True

    assert on_a_terminal(patience=3600.0, goes_on=after_some_steps) == "half\r\ndone\r\n"


def test_nothing_is_written_where_there_is_no_terminal() -> None:
    command = [sys.executable, "-c", PROGRAM, "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        assert ran.stdin is not None
        assert ran.stderr is not None
        time.sleep(3 * output.STEP)
        ran.stdin.write(b"\n\n")
        ran.stdin.close()
        assert ran.stderr.read() == b"half\ndone\n"
    assert ran.returncode == 0
