"""Command lines of the measurements: their options, the smallest size worth a run, and how long a run takes."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path += [str(TESTS / folder) for folder in ("", "diagnosis", "faults", "opinions", "story")]
# Collections, simulated people and planted faults are beside the tests, which use them as well.


class Command:
    """Command line of a measurement.

    doc: docstring of the script. paths: positional arguments, which are files or folders. options: default of each; a
    list takes several values, a truth value is a switch, None is a path or, with choices, nothing chosen. choices:
    permitted values of options. smallest: words of the smallest size, which a test runs; paths are in capitals.
    seconds: processor time that a size takes.
    """

    def __init__(
        self,
        doc: str | None,
        *,
        paths: Sequence[str] = (),
        options: Mapping[str, object],
        choices: Mapping[str, Sequence[str]] | None = None,
        smallest: str,
        seconds: Callable[[argparse.Namespace], float],
    ) -> None:
        self.smallest, self.seconds = smallest, seconds
        self.parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        for path in paths:
            self.parser.add_argument(path, type=Path)
        for name, default in options.items():
            allowed = (choices or {}).get(name)
            self.parser.add_argument(f"--{name}", default=default, **_taking(default, allowed))

    def read(self) -> argparse.Namespace:
        """Options of this run; prints first how long it will take."""
        options = self.parser.parse_args()
        print(f"This takes about {duration(self.seconds(options))} of one core.", file=sys.stderr, flush=True)
        return options


def _taking(default: object, allowed: Sequence[str] | None) -> dict[str, Any]:
    if isinstance(default, bool):
        return {"action": "store_true"}
    if isinstance(default, list | tuple):
        return {"nargs": "+", "type": type(default[0]), "choices": allowed}
    if default is None:
        return {"type": str if allowed else Path, "choices": allowed}
    return {"type": type(default), "choices": allowed}


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
