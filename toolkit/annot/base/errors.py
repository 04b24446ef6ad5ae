"""Tree of errors that a person may see, and the collected faults of an input that cannot be used.

    AnnotError                  anything the user can act on; caught once, at the top of the command line
    ├── InputError         (2)  a file, an id or an option is not what was expected; carries every fault found
    │   ├── SettingsError  (2)  `annot.toml` does not fit the model
    │   ├── MissingInput   (2)  an earlier step has not been run, or a file it needs is not there
    │   └── LeakError      (2)  a task field or a split would carry what it must not
    ├── FindingError       (1)  a check ran and found something (audit, lint, doctor)
    ├── BusyError          (1)  another command is changing the study
    ├── StoreError         (2)  the database is newer than the program, locked, or unreachable
    ├── StudioError        (3)  Label Studio is unreachable, refuses, or answers short
    └── ModelError         (3)  a model's server is unreachable or refuses, or no answer can be read
    UndefinedStatistic          a coefficient that has no value on this data, with the reason in words

The number is the exit code of the command line.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SHOWN_IN_PYTHON = 20
"""Number of faults that an error shows by itself; `faults` has all."""


class AnnotError(Exception):
    """Error with a message for a person, every fault that was found, a hint at the remedy, and an exit code."""

    exit_code = 2

    def __init__(self, message: str, *, faults: Iterable[str] = (), hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.faults = tuple(faults)
        self.hint = hint
        # Python shows notes below an error that nobody catches; the command line shows the faults itself.
        for fault in self.faults[:SHOWN_IN_PYTHON]:
            self.add_note(f"  {fault}")

    def reword(self, translate: Callable[[str], str]) -> None:
        """Put the message, the faults and the hint into the words of a study."""
        self.message, self.faults = translate(self.message), tuple(map(translate, self.faults))
        self.hint = self.hint and translate(self.hint)


class InputError(AnnotError):
    """Raised when input is not as expected; each fault says `where: found, expected`."""


class SettingsError(InputError):
    """Raised when `annot.toml` cannot be read or does not fit the model."""


class MissingInput(InputError):
    """Raised when the result of an earlier step is missing; the hint names the command."""


class LeakError(InputError):
    """Raised before anything is sent when a task or a split would carry data that it must not."""


class FindingError(AnnotError):
    """Raised when a check ran to its end and found something that needs a person."""

    exit_code = 1


class BusyError(AnnotError):
    """Raised when another command is changing the study; the message says which, where and since when."""

    exit_code = 1


class StoreError(AnnotError):
    """Raised when the database cannot be used as it is."""


class StudioError(AnnotError):
    """Raised when Label Studio is unreachable, refuses a request, or answers with less than it promised."""

    exit_code = 3


class ModelError(AnnotError):
    """Raised when a model's server is unreachable or refuses, or when its answers cannot be read."""

    exit_code = 3


class UndefinedStatistic(Exception):
    """Raised when a coefficient has no value on the given data; the message says why, in words."""


MOST_FAULTS = 1000
"""Number of faults at which reading stops: a file with more is not a file of this format."""


class Faults:
    """Faults of one input, in the order found.

    `name` is what messages call the input, most often its path.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[str] = []

    def add(self, problem: str, *, line: int | None = None, place: str | None = None) -> None:
        """Record one fault: `name:17: 5 columns, expected 6`, or with a place in words instead of a line.

        Raises InputError when there are more than anyone reads.
        """
        where = self.name if line is None else f"{self.name}:{line}"
        if place is not None:
            where += f": {place}"
        self.found.append(f"{where}: {problem}")
        if len(self.found) >= MOST_FAULTS:
            raise InputError(
                f"{self.name}: {len(self.found)} faults, reading stopped",
                faults=self.found,
                hint="is the file in another format?",
            )

    def raise_if_any(self, *, hint: str | None = None, found: object = True, nothing: str = "") -> None:
        """Raise InputError with all faults if there are any.

        found: the content that was read; if that is empty, and there is no other fault, `nothing` is the fault.
        """
        if not found and not self.found:
            self.add(nothing)
        if self.found:
            count = "1 fault" if len(self.found) == 1 else f"{len(self.found)} faults"
            raise InputError(f"{self.name}: {count}", faults=self.found, hint=hint)


@contextmanager
def gathered(errors: list[InputError]) -> Iterator[None]:
    """Keep an InputError in `errors` instead of raising it, so that the next check runs."""
    try:
        yield
    except InputError as error:
        errors.append(error)


def raise_together(errors: Sequence[InputError], *, name: str) -> None:
    """Raise InputError with the faults and hints of all, if there are any. name: of the input, in messages."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        faults = [fault for error in errors for fault in error.faults or (error.message,)]
        hints = dict.fromkeys(error.hint for error in errors if error.hint)
        raise InputError(f"{name}: {len(faults)} faults", faults=faults, hint="; ".join(hints) or None)


def numbered(lines: Iterable[str], faults: Faults) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1, without line ends and byte order mark.

    Bytes that are not UTF-8 end the reading and are a fault of their own: what follows them cannot be trusted.
    """
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix("\ufeff") if number == 1 else line
            if text.strip():
                yield number, text.rstrip("\r\n")
    except UnicodeDecodeError as error:
        faults.add(f"not UTF-8: {error.reason} (bytes {error.object[error.start : error.end]!r})", line=number + 1)


FULL = (errno.ENOSPC, errno.EDQUOT)
"""Error numbers of the system for a disk, or a person's share of it, that has no room left."""
FREE_SOME_SPACE = "free some space there, then run the same command again; no file was left half-written"
_ROOM = 1 << 20
"""Free bytes below which a disk is taken to be full, as its other files may have changed since."""


def full_disk(place: str | Path) -> str:
    """Message for a disk that has no room for a file at `place`."""
    free = _free(Path(place)) // 1024
    return f"{place}: the disk is full ({free:,} kB are free), a quota, or the disk that the output goes to"


def is_full(place: str | Path) -> bool:
    """True if the disk of a file has no room left, or that of temporary files."""
    import tempfile

    return min(_free(Path(place)), _free(Path(tempfile.gettempdir()))) < _ROOM


def _free(path: Path) -> int:
    # Imported for a disk that may be full: every command begins with this module.
    import shutil

    path = path.absolute()
    return shutil.disk_usage(next(folder for folder in (path, *path.parents) if folder.is_dir())).free


def json_problem(error: ValueError | RecursionError) -> str:
    """Error of Python's reader in words."""
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"not {error.encoding.upper()} at byte {error.start}"
    if isinstance(error, RecursionError):
        return "not valid JSON: nested too deeply"
    return "not valid JSON: a number of too many digits"
