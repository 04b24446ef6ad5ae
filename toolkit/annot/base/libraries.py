"""Libraries: imported when they are first used, so that a command waits only for those that it needs; named."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

from annot import __version__


class LazyLibrary:
    """A library that is imported, with the named parts of it, when a name in it is first used.

    >>> csv = LazyLibrary("csv")
    >>> csv.QUOTE_ALL
    1
    """

    def __init__(self, name: str, *parts: str) -> None:
        self._name, self._parts = name, parts

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "__wrapped__":  # inspect looks for it in every name of a module
            raise AttributeError(attribute)
        library = import_module(self._name)
        for part in self._parts:
            import_module(f"{self._name}.{part}")
        self.__dict__ |= vars(library)
        return getattr(library, attribute)


pyarrow, pc, pq = LazyLibrary("pyarrow"), LazyLibrary("pyarrow.compute"), LazyLibrary("pyarrow.parquet")
special, torch = LazyLibrary("scipy.special"), LazyLibrary("torch")


def evaluator_of(convention: str) -> str:
    """Programs that compute the measures of a convention, with their versions."""
    used = ("ir_measures", "pytrec_eval-terrier") if convention == "trec" else ()
    return ", ".join((f"annot {__version__}", *(f"{name} {version(name)}" for name in used)))
