"""Interface of a system: its name, its inputs and needs, its ranking, and the facts that its figures depend on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from annot.base.errors import InputError
from annot.base.records import Ranking
from annot.base.settings.sections import SystemSettings
from annot.base.stats.arrays import Matrix
from annot.formats.matches import Matches
from annot.ranking.systems.inputs import Features, PooledQuery, SystemInputs
from annot.ranking.systems.weights import EncoderWeights

Family = Literal["terms", "sentences", "abstracts", "aspire", "scisearch"]

CSFCUBE = "Mysore et al. 2021 (CSFCube)"
ASPIRE = "Mysore et al. 2022 (Aspire)"
SCISEARCH = "SciSearch 2021"

FACET, ABSTRACT, TITLE_AND_ABSTRACT = "facet sentences", "abstract", "title and abstract"
IN_CONTEXT = "facet sentences, in context"
EACH_SENTENCE, EACH_IN_CONTEXT = "each sentence", "each sentence, in context"
TEXT = "title and description"
"""Views that a system can have of a query or of a candidate; `TEXT` is of a topic that is a text."""


@dataclass(frozen=True, slots=True)
class RankedPools:
    """Result of a system: the order of each query's documents, the facts that the figures depend on, and the
    matches."""

    rankings: Mapping[str, Ranking]
    facts: Mapping[str, Any]
    """Facts kept with the run."""
    matches: Matches | None = None
    given_up: int = 0
    """Number of documents whose transport ended before it was exact."""


@dataclass(frozen=True, slots=True)
class System(ABC):
    """A system as `annot run list` shows it, which ranks the pools of a study."""

    name: str
    family: Family
    source: str
    """The paper that names it, or describes it."""
    query: str
    """View of the query paper."""
    candidate: str
    """View of a candidate."""
    needs: str
    """Files that it needs besides the corpus; empty if it needs none."""
    weights: EncoderWeights | None
    """Weights of its encoder, if it has one."""

    @property
    def of_texts(self) -> str:
        """Input that it needs of a topic that is a text, and that most such topics do not have."""
        return "the sentences of a query paper"

    def topics(self, inputs: SystemInputs) -> Sequence[PooledQuery]:
        """Queries that it can rank for; it may need the sentences of a query paper."""
        return [topic for topic in inputs.topics if topic.text is None]

    @abstractmethod
    def rank(self, inputs: SystemInputs) -> RankedPools:
        """Put the documents of the pool of each of its `topics` in the system's order. Raises MissingInput if it lacks
        an input."""

    def index_methods(self, settings: SystemSettings) -> Sequence[str]:
        """Methods whose matrices an index must have for it."""
        return ()

    def features(self, inputs: SystemInputs) -> Features:
        """Vectors for another system to learn from."""
        raise InputError(f"systems.features: {self.name} has no vectors", hint="name lsa, or a system that has vectors")

    @property
    def views(self) -> dict[str, Any]:
        """Views of query and candidate, as its runs record them."""
        return {"query": self.query, "candidate": self.candidate}


def features_of(
    name: str,
    topics: Sequence[PooledQuery],
    *,
    query: Callable[[PooledQuery], Matrix],
    candidate: Callable[[str], Matrix],
) -> Features:
    """The vectors of every query, and those of every candidate."""
    documents = {doc_id: np.asarray(candidate(doc_id)) for topic in topics for doc_id in topic.doc_ids}
    return Features(name, {topic.query_id: query(topic) for topic in topics}, documents)
