"""Collecting every fault of an input, with its place, before saying that it cannot be used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from annot.base.errors import InputError

MOST_FAULTS = 1000
"""Reading stops here: a file with more faults is not a file of this format."""


class Faults:
    """The faults of one input, in the order found.

    `name` is what messages call the input, most often its path.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[str] = []

    def add(self, problem: str, *, line: int | None = None, place: str | None = None) -> None:
        """Note one fault: `name:17: 5 columns, expected 6`, or with a place in words instead of a line.

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
                hint="is it of another format?",
            )

    def raise_if_any(self, *, hint: str | None = None) -> None:
        """Raise InputError with all faults when there is one."""
        if self.found:
            count = "1 fault" if len(self.found) == 1 else f"{len(self.found)} faults"
            raise InputError(f"{self.name}: {count}", faults=self.found, hint=hint)


def numbered(lines: Iterable[str], faults: Faults) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers from 1, without line ends and byte order mark.

    Bytes that are not UTF-8 end the reading and are a fault of their own: what follows them cannot be trusted.
    """
    number = 0
    iterator = iter(lines)
    while True:
        try:
            line = next(iterator)
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            faults.add(f"not UTF-8: {error.reason} (bytes {error.object[error.start : error.end]!r})", line=number + 1)
            return
        number += 1
        if number == 1:
            line = line.removeprefix("\ufeff")
        if line.strip():
            yield number, line.rstrip("\r\n")


def json_problem(error: ValueError | RecursionError) -> str:
    """What Python's reader found wrong, in words."""
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {error.msg} at column {error.colno}"
    if isinstance(error, RecursionError):
        return "not valid JSON: too deep"
    return "not valid JSON: a number of too many digits"
