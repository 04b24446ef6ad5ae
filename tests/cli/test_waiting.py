"""No command leaves a person before a silent terminal, and nothing of that sign stays on the screen."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

PROGRAM = """
import time
from annot.cli.output import WAITING, say
with WAITING:
    time.sleep({before})
    say("half")
    time.sleep({after})
say("done")
"""


def on_a_terminal(*, before: float, after: float) -> str:
    """What a terminal receives from a command that is silent for so many seconds before and after a word."""
    ours, theirs = pty.openpty()
    program = PROGRAM.format(before=before, after=after)
    with subprocess.Popen([sys.executable, "-c", program], stderr=theirs, stdout=theirs) as child:
        os.close(theirs)
        received = b""
        while True:
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
    received = on_a_terminal(before=2.6, after=2.6)
    before, _, after = received.partition("half")
    assert "working, 2 s" in before
    assert "working, 5 s" in after
    assert on_the_screen(received) == ["half", "done", ""]


def test_a_quick_command_shows_no_sign() -> None:
    assert on_a_terminal(before=0.3, after=0.3) == "half\r\ndone\r\n"


def test_nothing_is_written_where_there_is_no_terminal() -> None:
    program = PROGRAM.format(before=2.2, after=0)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("", "half\ndone\n")
