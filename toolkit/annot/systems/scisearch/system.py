"""SciSearch as systems: by honest folds under each of its losses, and by its own protocol as a demonstration."""

from __future__ import annotations

from dataclasses import dataclass

from annot.systems.scisearch.network import Loss
from annot.systems.scisearch.protocols import Protocol
from annot.systems.system import ABSTRACT, FACET, SCISEARCH, System

NEEDS = "torch, grades, and the features that annot.toml names"


@dataclass(frozen=True, slots=True)
class SciSearchSystem(System):
    """`protocol` says what it is trained and tested on."""

    loss: Loss
    protocol: Protocol


def _system(name: str, loss: Loss, protocol: Protocol) -> SciSearchSystem:
    source = SCISEARCH if protocol == "folds" else f"{SCISEARCH}, demonstration: trained on what it tests"
    return SciSearchSystem(name, "scisearch", source, FACET, ABSTRACT, NEEDS, loss, protocol)


SYSTEMS = (
    _system("scisearch-nll", "nll", "folds"),
    _system("scisearch-kl", "kl", "folds"),
    _system("scisearch-leaky", "kl", "leaky"),
)
