"""Printing of a command: data to stdout, messages to stderr, progress on a terminal."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from annot import __version__
from annot.base.errors import AnnotError, FindingError
from annot.base.names import lasting, shown

if TYPE_CHECKING:
    from pandas import DataFrame

    from annot.base.records import Advance
    from annot.publishing.report.tables import Columns, Row, Table


# ----------------------------------------------------------------------------------------------------------------------
# A sign of life on the terminal while a command works and has nothing to say.
# ----------------------------------------------------------------------------------------------------------------------


PATIENCE, STEP = 1.5, 0.5
"""Seconds of silence before the sign appears, and between its steps."""
ERASE = "\r\x1b[K"


class SignOfLife:
    """While it is entered and stderr is a terminal, silence is broken by a line that erases itself, such as
    `annot pull: working, 12 s (reading answers: 186 of 186)`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._over.set()
        self._quiet_since = self._begun = 0.0
        self._shown = False
        self.command = self.far = ""
        """The work in progress, and its latest state."""

    def __enter__(self) -> None:
        if sys.stderr.isatty():
            self._begun = self._quiet_since = time.monotonic()
            self._over.clear()
            threading.Thread(target=self._show, daemon=True).start()

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the line of progress, as another part of the work begins or the command ends."""
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
                    self._write(f"{self.command}: working, {lasting(now - self._begun)}{so_far}")


WAITING = SignOfLife()
"""State of the running command."""


ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}


def is_attended() -> bool:
    """True if a person reads questions and can answer them."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(question: str) -> bool:
    """Ask the lead, with nothing else on the line. An empty answer and the end of the input are a no."""
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


# ----------------------------------------------------------------------------------------------------------------------
# How a command prints: data to stdout, messages to stderr, progress on a terminal.
# ----------------------------------------------------------------------------------------------------------------------


class Output(NamedTuple):
    """Result of a command."""

    data: Any
    """Values for --json and --csv."""
    text: str
    """Text that people read."""
    notes: Sequence[str] = ()
    """Further notes for the reader."""
    name: str = ""
    """Version of the data, if it is not the command's."""
    tables: Sequence[Table] = ()
    """Table for --csv."""
    frame: Callable[[], DataFrame] | None = None
    """Table for --csv that the library has, too."""
    finding: AnnotError | None = None
    """Error that ends the command with its exit code once everything is printed."""


def needs_a_person(findings: Sequence[object], noun: str, what: str) -> FindingError | None:
    """Error that ends a check that has printed its findings. noun, what: as in "paper" "without sentence labels"."""
    from annot.base.names import counted

    return FindingError(f"{counted(len(findings), noun)} {what}") if findings else None


SECONDS_BETWEEN_LINES = 60.0
"""Seconds between two lines on how far work is, in a log."""


def say(text: str) -> None:
    """Print one line to stderr."""
    WAITING.quiet()
    typer.echo(shown(text), err=True)


def table(columns: Columns[Row], rows: Iterable[Row]) -> str:
    """A table for the terminal."""
    from annot.publishing.report.terminal import printed

    return printed(columns, rows)


def listing(
    columns: Columns[Row], rows: Sequence[Row], *, empty: str = "", data: object = None, notes: Sequence[str] = ()
) -> Output:
    """Records as a table for people, or the words `empty` if there are none. data: the result that they are part of."""
    return tabled(columns.of(rows), empty=empty, data=rows if data is None else data, notes=notes)


def tabled(table: Table, *, empty: str = "", data: object = None, notes: Sequence[str] = ()) -> Output:
    """A table for people, and its records for programs; arguments as in `listing`."""
    from annot.publishing.report.terminal import table_text

    return Output(table.records if data is None else data, table_text(table) or empty, notes, tables=[table])


def rendered(name: str, **values: object) -> str:
    """The text of a command's template, `NAME.txt.j2`."""
    from annot.publishing.report import terminal

    return terminal.rendered(name, **values)


def emit(command: str, answer: Output, *, as_json: bool, as_csv: bool = False) -> None:
    """Notes to stderr; to stdout the text, or the versioned JSON object that carries the data, or its table as CSV."""
    from annot.base.stats.values import to_json

    for note in answer.notes:
        say(note)
    WAITING.quiet()
    if as_json:
        import json

        record = {"annot": 1, "version": __version__, "command": answer.name or command, "data": to_json(answer.data)}
        # In JSON such a number is the character itself, so what a program reads stays the same.
        typer.echo(shown(json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)))
    elif as_csv:
        from annot.publishing.report.tidy import csv_text, frame

        table = answer.frame() if answer.frame else frame(answer.tables, named=len(answer.tables) > 1)
        if table.empty:  # no row, and so no header either: stdout stays empty, and the words say why
            say(answer.text.rstrip("\n"))
            return
        typer.echo(csv_text(table), nl=False)
    elif answer.text:
        typer.echo(shown(answer.text.rstrip("\n")))


def _lines(what: str) -> Advance:
    """Says how far the work is, at most once in `SECONDS_BETWEEN_LINES` seconds."""
    begun = last = time.monotonic()

    def advance(done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if done and total and now - last >= SECONDS_BETWEEN_LINES:
            last = now
            left = (now - begun) * (total - done) / done
            say(f"{what}: {done:,} of {total:,} after {lasting(now - begun)}, about {lasting(left)} left")

    return advance


@contextmanager
def progress(what: str, *, forecast: bool = False) -> Iterator[Advance]:
    """A progress bar on stderr. forecast: with the time that is left; without a terminal, a line every minute.

    Other work shows nothing without a terminal.
    """
    if not sys.stderr.isatty():
        yield _lines(what) if forecast else lambda done, total: None
        return
    from rich import progress as bars
    from rich.console import Console

    left = (bars.TextColumn("left:"), bars.TimeRemainingColumn()) if forecast else ()
    name = bars.TextColumn("{task.description}")
    done = (bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeElapsedColumn())
    WAITING.stop()
    with bars.Progress(name, *done, *left, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def advance(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)
            WAITING.far = f"{what}: {done:,}" + (f" of {total:,}" if total else "")

        yield advance
    WAITING.__enter__()
