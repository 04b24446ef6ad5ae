"""Systems of terms and of averaged word vectors: CSFCube's four, their twins with the whole query abstract, and LSA."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annot.ranking.methods import BASELINES, LSA, METHODS, Bench, rank_pool, settings_of
from annot.ranking.systems.system import ABSTRACT, CSFCUBE, FACET, Made, System, Topic

WHOLE = "whole_"


@dataclass(frozen=True, slots=True)
class TermSystem(System):
    """Its formula is that of `baseline`; `whole` says that every sentence of the query's abstract makes the query."""

    baseline: str
    whole: bool


def _system(name: str, *, whole: bool) -> TermSystem:
    source = "Deerwester et al. 1990" if name == LSA else CSFCUBE
    needs = "word vectors, trained on the corpus" if "cbow" in name else ""
    called = name.replace("fabs_", WHOLE) if whole else name
    return TermSystem(called, "terms", source, ABSTRACT if whole else FACET, ABSTRACT, needs, name, whole)


SYSTEMS = (
    *(_system(name, whole=False) for name in BASELINES if name != LSA),
    *(_system(name, whole=True) for name in BASELINES if name != LSA),
    _system(LSA, whole=False),
)


def index_needs(systems: Iterable[TermSystem]) -> list[str]:
    """The methods whose matrices an index has to have for these systems."""
    systems = tuple(systems)
    # The word vectors of the corpus serve all that average.
    averaging = [method for method in METHODS if "cbow" in method] if any("cbow" in one.name for one in systems) else []
    return averaging + [one.baseline for one in systems if one.baseline == LSA]


def rank(system: TermSystem, topics: Iterable[Topic], *, bench: Bench) -> Made:
    """Put the documents of every topic in the system's order; statistics come from the whole corpus."""
    rankings = {
        topic.query_id: rank_pool(
            bench,
            baseline=system.baseline,
            paper_id=topic.paper_id,
            sentences=range(bench.corpus.sentence_count(topic.paper_id)) if system.whole else topic.sentences,
            doc_ids=topic.doc_ids,
        )
        for topic in topics
    }
    view = {"query": system.query} if system.whole else {}
    return Made(rankings, settings_of(bench, system.baseline) | view)
