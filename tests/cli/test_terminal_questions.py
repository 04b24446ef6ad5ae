"""A question of yes or no in a real terminal: what is typed, Ctrl-C, Ctrl-D, and where nobody can answer."""

import os
import pty
import select
import subprocess
import sys

import pytest

ASKS = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from annot.cli.output import confirmed, is_attended
try:
    print(is_attended(), confirmed("May they be published?"))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    ("typed", "answer"),
    [(b"YES\n", "True"), (b"\n", "False"), (b"\x04", "False"), (b"perhaps\ny\n", "True"), (b"\x03", "interrupted")],
    ids=["YES", "Enter", "Ctrl-D", "a word, then y", "Ctrl-C"],
)
def test_a_question_is_answered_in_a_terminal(typed: bytes, answer: str) -> None:
    lead, terminal = pty.openpty()
    asked = subprocess.Popen(
        [sys.executable, "-c", ASKS],
        stdin=terminal,
        stderr=terminal,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    os.close(terminal)
    with asked:
        seen = b""
        while b"[y/N]: " not in seen:
            assert select.select([lead], [], [], 60)[0]
            seen += os.read(lead, 1000)
        os.write(lead, typed)
        assert asked.stdout is not None
        # What is printed has the answer alone: the question is on stderr.
        assert asked.stdout.read().split() == (["True", answer] if answer != "interrupted" else [answer])
    os.close(lead)


@pytest.mark.parametrize("without", ["stdin", "stderr"])
def test_nobody_is_asked_who_cannot_see_the_question_or_answer_it(without: str) -> None:
    lead, terminal = pty.openpty()
    places = {"stdin": terminal, "stderr": terminal, without: subprocess.DEVNULL}
    program = "from annot.cli.output import is_attended; print(is_attended())"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True, **places)
    os.close(terminal)
    os.close(lead)
    assert done.stdout.strip() == "False"
