"""Systems that rank pools, each one object: those of the papers by name, and those that a lead brings.

Begin with `system` (what a system is) and `inputs` (what it is given); `training` makes the weights of encoders.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from annot.base.names import check_name
from annot.ranking.systems import abstracts, scisearch, sentences, terms
from annot.ranking.systems.system import System

_FAMILIES = (terms.SYSTEMS, sentences.SYSTEMS, abstracts.SYSTEMS, sentences.ASPIRE_SYSTEMS, scisearch.SYSTEMS)
SYSTEMS: dict[str, System] = {system.name: system for family in _FAMILIES for system in family}
"""In the order of the families, and within one in the order of the papers."""

USUAL = ("fabs_tfidf", "fabs_bm25", "fabs_cbow200", "fabs_tfidfcbow200")
"""What is run where none is named: CSFCube's four term baselines, which need nothing but the corpus."""
USUAL_OF_TEXTS = tuple(name.replace("fabs_", terms.WHOLE) for name in USUAL)
"""The same under the names that speak of no facet, where every topic is a text."""


def systems_of(names: Sequence[str], *, vectors: Path | None, weights: Path | None) -> tuple[System, ...]:
    """The systems of these names: registered ones, and what a study's folders hold under the name.

    vectors, weights: these folders; None if there is none. Raises InputError with the near name.
    """
    own: dict[str, System] = {}
    for name in (name for name in names if Path(name).name == name):
        if vectors is not None and (vectors / name).is_dir():
            own[name] = abstracts.own_system(name)
        elif weights is not None and (weights / name).is_dir():
            own[name] = sentences.own_system(name)
    for name in names:
        if name not in SYSTEMS:
            check_name(name, (*own, *SYSTEMS), what="system")
    return tuple(SYSTEMS[name] if name in SYSTEMS else own[name] for name in names)
