"""Command lines of the measurements: their options, the smallest size worth a run, and how long a run takes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


class Command:
    """Command line of a measurement.

    doc: docstring of the script. paths: positional arguments, which are files or folders. smallest: words of the
    smallest size, which a test runs; there, paths are named in capitals. seconds: how long a size takes on one core.
    choices: permitted values of options. options: their defaults, by name: a list takes several values, a truth value
    is a switch, None is a path or, with choices, nothing chosen.
    """

    def __init__(
        self,
        doc: str | None,
        *paths: str,
        smallest: str,
        seconds: Callable[[argparse.Namespace], float],
        choices: Mapping[str, Sequence[str]] | None = None,
        **options: Any,
    ) -> None:
        self.smallest, self._seconds = smallest.split(), seconds
        self.parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        for path in paths:
            self.parser.add_argument(path, type=Path)
        for name, default in options.items():
            kind = {"choices": allowed} if (allowed := (choices or {}).get(name)) else {}
            self.parser.add_argument(f"--{name.replace('_', '-')}", default=default, **kind, **_taking(default, kind))

    def read(self) -> argparse.Namespace:
        """Options of this run; prints first how long it will take."""
        options = self.parser.parse_args()
        print(f"about {duration(self._seconds(options))} on one core", file=sys.stderr, flush=True)
        return options


def _taking(default: object, choices: object) -> dict[str, Any]:
    if isinstance(default, bool):
        return {"action": "store_true"}
    if isinstance(default, list | tuple):
        return {"nargs": "+", "type": type(default[0])}
    if default is None:
        return {"type": str if choices else Path}
    return {"type": type(default)}


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}" if seconds >= 10 * size else f"{seconds / size:.1f} {unit}"
    return f"{max(1, round(seconds))} s"
