"""Systems that rank pools, each one object: term baselines, vectors of abstracts, and those of wings and plug-ins.

Begin with `system` (its interface and its inputs).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from annot.base.names import check_name
from annot.base.plugins import PluginNames, loaded
from annot.ranking.systems import papers
from annot.ranking.systems.system import System

SYSTEMS: dict[str, System] = {system.name: system for system in (*papers.TERM_SYSTEMS, *papers.VECTOR_SYSTEMS)}
"""Systems of the core by name: term baselines and vectors of abstracts."""

USUAL = ("fabs_tfidf", "fabs_bm25", "fabs_cbow200", "fabs_tfidfcbow200")
"""Default systems: CSFCube's four term baselines, which need nothing but the corpus."""
USUAL_OF_TEXTS = tuple(name.replace("fabs_", papers.WHOLE).replace("cbow", "ppmi") for name in USUAL)
"""Default systems of a study in which every topic is a text, under names without a facet; by counts, as its pools."""


def known_systems(plugins: PluginNames = ()) -> dict[str, System]:
    """Systems of `SYSTEMS` and of these plug-ins, by name."""
    families = loaded("systems", plugins).values()
    return SYSTEMS | {system.name: system for family in families for system in family}


def systems_of(
    names: Sequence[str], *, vectors: Path | None, weights: Path | None, plugins: PluginNames = ()
) -> tuple[System, ...]:
    """Systems of these names: registered ones, and those in the study's folders.

    vectors, weights: these folders; None if there is none. Raises InputError with the near name.
    """
    known, custom = known_systems(plugins), dict[str, System]()
    for name in (name for name in names if Path(name).name == name):
        if vectors is not None and (vectors / name).is_dir():
            custom[name] = papers.own_system(name)
        elif weights is not None and (weights / name).is_dir():
            for make_system in loaded("weights_systems", plugins).values():
                custom[name] = make_system(name)
    for name in names:
        if name not in known:
            check_name(name, (*custom, *known), what="system")
    return tuple(known[name] if name in known else custom[name] for name in names)
