"""Every system by its name."""

from __future__ import annotations

from collections.abc import Iterable

from annot.names import check_name
from annot.systems import terms
from annot.systems.system import System

SYSTEMS: dict[str, System] = {system.name: system for system in terms.SYSTEMS}
"""In the order of the families, and within one in the order of the papers."""

USUAL = ("fabs_tfidf", "fabs_bm25", "fabs_cbow200", "fabs_tfidfcbow200")
"""What is run where none is named: CSFCube's four term baselines, which need nothing but the corpus."""


def systems_named(names: Iterable[str]) -> tuple[System, ...]:
    """The systems of these names. Raises InputError with the near name."""
    names = tuple(names)
    for name in names:
        check_name(name, tuple(SYSTEMS), what="system")
    return tuple(SYSTEMS[name] for name in names)
