"""The command `annot`, and the one place where errors become exit codes."""

import atexit
import gc
import io
import logging
import os
import sys
from pathlib import Path

from annot.base.errors import FREE_SOME_SPACE, FULL, AnnotError, full_disk
from annot.cli.commands import app
from annot.cli.output import say


def run() -> None:
    """The console script: exit 0 done, 1 a problem was found, 2 bad input or usage, 3 Label Studio, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A letter that the terminal's encoding does not have is shown by its number, which is JSON's way too.
            stream.reconfigure(errors="backslashreplace")
    _LOGGER.handlers = [_Speaker()]
    # Records of a large study are many and none is garbage: looking for it after every 700 takes half of their time.
    gc.set_threshold(3_000_000, 50, 100)
    # Before it ends, Python would look through all that are left, three times.
    atexit.register(gc.freeze)
    try:
        app(prog_name="annot")
    except AnnotError as error:
        report(error)
        sys.exit(error.exit_code)
    except OSError as error:
        report(refusal(error))
        _give_up_what_cannot_be_written()
        sys.exit(AnnotError.exit_code)


_LOGGER = logging.getLogger("annot")


class _Speaker(logging.Handler):
    """Prints the warnings that come up during the work."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def _give_up_what_cannot_be_written() -> None:
    """Python flushes stdout once more at its end and exits with 120 if that fails."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


SHOWN_FAULTS = 20

REFUSALS: dict[type[OSError], str] = {
    FileExistsError: "a file, expected a folder",
    NotADirectoryError: "below a file, expected a folder",
    IsADirectoryError: "a folder, expected a file",
    PermissionError: "no permission",
}


def refusal(error: OSError) -> AnnotError:
    """An error of the file system in words; files are written whole or not at all, so none is half-written."""
    cause = REFUSALS.get(type(error), error.strerror or str(error))
    place = error.filename2 or error.filename
    if error.errno in FULL:
        return AnnotError(full_disk(Path.cwd() if place is None else os.fsdecode(place)), hint=FREE_SOME_SPACE)
    return AnnotError(
        cause if place is None else f"{os.fsdecode(place)}: {cause}",
        hint="no file was left half-written; solve this and run the same command again",
    )


def report(error: AnnotError) -> None:
    """The message, the faults and the hint, to stderr: a terminal gets the first faults, files and pipes get all."""
    say(f"annot: {error.message}")
    shown = error.faults[:SHOWN_FAULTS] if sys.stderr.isatty() else error.faults
    for fault in shown:
        say(f"  {fault}")
    if len(error.faults) > len(shown):
        say(f"  ... and {len(error.faults) - len(shown)} more; add `2> FILE` to the command to save all of them")
    if error.hint:
        say(f"hint: {error.hint}")
