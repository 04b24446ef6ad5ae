"""SciSearch as systems: by honest folds under each loss, by its own protocol as a demonstration, and untrained."""

from __future__ import annotations

from dataclasses import dataclass

from annot.ranking.systems.scisearch_network import Loss
from annot.ranking.systems.scisearch import Protocol
from annot.ranking.systems.system import ABSTRACT, FACET, SCISEARCH, System

SOURCES: dict[Protocol, str] = {
    "folds": SCISEARCH,
    "leaky": f"{SCISEARCH}, demonstration: trained on what it tests",
    "untrained": f"{SCISEARCH}, its features without training",
}
NEEDS: dict[Protocol, str] = {
    "folds": "torch, grades, and the features that annot.toml names",
    "leaky": "torch, grades, and the features that annot.toml names",
    "untrained": "the features that annot.toml names",
}


@dataclass(frozen=True, slots=True)
class SciSearchSystem(System):
    """`protocol` says what it is trained and tested on."""

    loss: Loss | None
    """None where nothing is trained."""
    protocol: Protocol


def _system(name: str, loss: Loss | None, protocol: Protocol) -> SciSearchSystem:
    return SciSearchSystem(name, "scisearch", SOURCES[protocol], FACET, ABSTRACT, NEEDS[protocol], loss, protocol)


SYSTEMS = (
    _system("scisearch-nll", "nll", "folds"),
    _system("scisearch-kl", "kl", "folds"),
    _system("scisearch-leaky", "kl", "leaky"),
    _system("scisearch-untrained", None, "untrained"),
)
