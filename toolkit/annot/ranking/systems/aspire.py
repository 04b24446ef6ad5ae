"""Aspire: papers as the sets of their sentences, matched once, by optimal transport or by attention.

Mysore, Cohan and Hope, NAACL 2022. A query is restricted to its sentences; a candidate is seen whole. Scores are
negated distances: of the nearest pair (`single`), or <D, P> over a plan (`transport`) or over attention weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from annot.base.stats.arrays import Array
from annot.ranking.systems.alignment import Align, Aligned, best_pair
from annot.ranking.systems.system import ASPIRE, EACH_IN_CONTEXT, EACH_SENTENCE, FACET, IN_CONTEXT, System, Topic
from annot.ranking.systems.matching import by_attention, by_transport
from annot.ranking.systems.weights import Weights

Matching = Literal["single", "transport", "attention"]


@dataclass(frozen=True, slots=True)
class AspireSystem(System):
    """A system that compares papers as sets of sentences."""

    weights: Weights
    matching: Matching


def _system(name: str, matching: Matching, hub: str | None) -> AspireSystem:
    weights = Weights(name, hub, "context")
    return AspireSystem(name, "aspire", ASPIRE, IN_CONTEXT, EACH_IN_CONTEXT, weights.needs, weights, matching)


_MPNET = Weights("mpnet-1b", "sentence-transformers/all-mpnet-base-v2", "own")
SYSTEMS = (
    _system("ts-aspire", "single", "allenai/aspire-contextualsentence-singlem-compsci"),
    _system("max-aspire", "single", None),
    _system("abs-aspire", "single", None),
    _system("ot-aspire", "transport", "allenai/aspire-contextualsentence-multim-compsci"),
    _system("ts+ot-aspire", "transport", None),
    _system("att-aspire", "attention", None),
    AspireSystem("ot-mpnet-1b", "aspire", ASPIRE, FACET, EACH_SENTENCE, _MPNET.needs, _MPNET, "transport"),
)


def align_by(matching: Matching, *, temperature: float, whole_temperature: float, eps: float) -> Align:
    """How sentences are matched. temperature: of a query that is a facet; whole_temperature: of one that is a whole
    abstract; eps: the weight of the entropy, 1 / lambda."""

    def align(topic: Topic, parts: list[Array]) -> Aligned:
        heat = whole_temperature if topic.whole else temperature
        if matching == "transport":
            return by_transport(parts, temperature=heat, eps=eps)
        return by_attention(parts, temperature=heat)

    return best_pair if matching == "single" else align
