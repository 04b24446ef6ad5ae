"""Every system by its name."""

from __future__ import annotations

from collections.abc import Mapping

from annot.base.names import check_name
from annot.ranking.systems import abstracts, aspire, sentences, terms
from annot.ranking.systems import scisearch_systems as scisearch
from annot.ranking.systems.system import System

SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (*(*terms.SYSTEMS, *sentences.SYSTEMS, *abstracts.SYSTEMS), *(*aspire.SYSTEMS, *scisearch.SYSTEMS))
}
"""In the order of the families, and within one in the order of the papers."""

USUAL = ("fabs_tfidf", "fabs_bm25", "fabs_cbow200", "fabs_tfidfcbow200")
"""What is run where none is named: CSFCube's four term baselines, which need nothing but the corpus."""


def system_named(name: str, own: Mapping[str, System]) -> System:
    """The system of this name, registered or one's `own`. Raises InputError with the near name."""
    if name in SYSTEMS:
        return SYSTEMS[name]
    check_name(name, (*own, *SYSTEMS), what="system")
    return own[name]
