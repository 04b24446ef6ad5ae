"""How similar two papers are in truth, for simulated assessors: from the demo's traits, or from shared words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from annot.base.errors import InputError
from annot.base.stats.seeding import generator
from annot.demo import packaged
from annot.demo.packaged import Latent

MOST = 3.0
"""Similarity runs from 0 to this, on the scale of the grades."""

JITTER = 0.3
"""What makes one pair a little closer than the next of its kind: uniform, at most this much either way."""


_LIKENESS = packaged.likeness()
RELATED_PROBLEMS = {frozenset(pair) for pair in _LIKENESS["related_problems"]}
AREAS = _LIKENESS["areas"]
RELATED_METHODS = {frozenset(pair) for pair in _LIKENESS["related_methods"]}

COARSE_METHODS = frozenset({"resource", "empirical"})
"""Families that name a kind of paper: two corpora, or two studies of others' systems, are made alike only at large."""


def latent_relevance(query_paper: str, facet: str, doc: str, latent: Mapping[str, Latent]) -> float:
    """Similarity of two papers under a facet, in [0, 3], from what they are about.

    The pair's own jitter follows from the three ids alone. A facet that the demo does not know is an InputError.
    """
    try:
        base = _BASE[facet](latent[query_paper], latent[doc])
    except KeyError:
        raise InputError(
            f"nothing to simulate for {query_paper} / {facet} / {doc}: expected papers of the demo corpus and one of "
            f"the facets {', '.join(_BASE)}"
        ) from None
    shift = generator(0, "jitter", facet, query_paper, doc).uniform(-JITTER, JITTER)
    return float(min(MOST, max(0.0, base + shift)))


def _background(query: Latent, doc: Latent) -> float:
    if query.problem == doc.problem:
        return 2.9 if query.subproblem == doc.subproblem else 2.0
    if _problems_related(query, doc):
        return 1.1
    return 0.7 if _same_area(query, doc) else 0.0


def _method(query: Latent, doc: Latent) -> float:
    same_problem = query.problem == doc.problem
    if query.method == doc.method:
        if query.method in COARSE_METHODS or query.submethod != doc.submethod:
            return 1.9 if same_problem else 1.1
        # Near-identical asks for the mechanism and for what it works on; on other objects the details are comparable.
        return 2.9 if same_problem else 2.0
    if frozenset((query.method, doc.method)) in RELATED_METHODS:
        return 1.0
    return 0.2 if same_problem else 0.0


def _result(query: Latent, doc: Latent) -> float:
    same_claim = query.claim == doc.claim
    if query.problem == doc.problem:
        same_task = query.subproblem == doc.subproblem
        # Near-identical in one of two ways: findings on one question, opposite ones too, or methods tried on one task.
        if (same_claim and query.polarity and doc.polarity) or (same_task and _proposes(query) and _proposes(doc)):
            return 2.9
        return 1.9 if same_claim or same_task else 1.1
    if same_claim and query.polarity and doc.polarity:
        return 1.2 if _problems_related(query, doc) or _same_area(query, doc) else 1.0
    return 0.0


def _proposes(paper: Latent) -> bool:
    """Whether it is a methodological paper: one that proposes or tries a method, no resource and no study of others."""
    return paper.method not in COARSE_METHODS


_BASE: dict[str, Callable[[Latent, Latent], float]] = {"background": _background, "method": _method, "result": _result}


def _problems_related(query: Latent, other: Latent) -> bool:
    return any(
        frozenset((left, right)) in RELATED_PROBLEMS
        for left in (query.problem, query.problem + query.subproblem)
        for right in (other.problem, other.problem + other.subproblem)
    )


def _same_area(query: Latent, other: Latent) -> bool:
    return any(query.problem in area and other.problem in area for area in AREAS)
