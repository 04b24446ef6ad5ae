"""A sign of life on the terminal while a command works and has nothing to say."""

from __future__ import annotations

import shutil
import sys
import threading
import time

import typer

PATIENCE, STEP = 1.5, 0.5
"""Seconds of silence before the sign appears, and between its steps."""
ERASE = "\r\x1b[K"


class Waiting:
    """While it is entered and stderr is a terminal, silence is broken by a line that erases itself, such as
    `annot pull: working, 12 s (reading answers: 186 of 186)`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._over.set()
        self._quiet_since = self._begun = 0.0
        self._shown = False
        self.command = self.far = ""
        """What works, and how far it was when it last said so."""

    def __enter__(self) -> None:
        if sys.stderr.isatty():
            self._begun = self._quiet_since = time.monotonic()
            self._over.clear()
            threading.Thread(target=self._show, daemon=True).start()

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it: something else shows progress, or the command has said all."""
        self._over.set()
        self.quiet()

    def quiet(self) -> None:
        """Erase the line, since something is about to be printed, and start waiting again."""
        with self._lock:
            self._quiet_since = time.monotonic()
            if self._shown:
                sys.stderr.write(ERASE)
                sys.stderr.flush()
                self._shown = False

    def stay(self, text: str) -> None:
        """Show a line until something is to be printed or the next line comes; nothing without a terminal."""
        if sys.stderr.isatty():
            with self._lock:
                self._write(text)

    def _write(self, text: str) -> None:
        sys.stderr.write(f"{ERASE}{text[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()
        self._shown = True

    def _show(self) -> None:
        while not self._over.wait(STEP):
            with self._lock:
                now = time.monotonic()
                if now - self._quiet_since >= PATIENCE and not self._over.is_set():
                    so_far = f" ({self.far})" if self.far else ""
                    self._write(f"{self.command}: working, {now - self._begun:.0f} s{so_far}")


WAITING = Waiting()
"""Of the one command that runs."""


ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}


def is_attended() -> bool:
    """Whether somebody reads questions and can answer them."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(question: str) -> bool:
    """Ask the lead, with nothing else on the line. Nothing typed, and the end of what is typed, are a no."""
    WAITING.stop()
    try:
        while True:
            typer.echo(f"{question} [y/N]: ", nl=False, err=True)
            line = sys.stdin.readline()
            if not line:
                typer.echo(err=True)
            if (answer := ANSWERS.get(line.strip().lower())) is not None:
                return answer
            typer.echo("Please answer y or n.", err=True)
    finally:
        WAITING.__enter__()
