"""A pooling method, a system and a predictor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from annot.base.records import ScoredDoc, ranked
from annot.base.settings import SystemSettings
from annot.measuring.sampled.estimates import CheapLabel
from annot.ranking.corpus import Corpus, Field, Rule, Sparse, with_data
from annot.ranking.methods import by_terms
from annot.ranking.search import TermFormula
from annot.ranking.systems.system import ABSTRACT, PooledQuery, RankedPools, System, SystemInputs
from annot.study.snapshot import Snapshot
from numpy.typing import NDArray

MU = 3.0


@dataclass(frozen=True)
class Dirichlet(TermFormula):
    """Likelihood of the query under a model of the document, smoothed with the corpus (Zhai and Lafferty 2004)."""

    shares: NDArray[np.float64]
    """Share of each token in all documents: shape (tokens,)."""
    rule: ClassVar[Rule] = "words"

    def query_weights(self, queries: Sparse) -> Sparse:
        return queries.astype(np.float64)

    def document_weights(self, rows: Sparse, tokens: NDArray[np.int32]) -> Sparse:
        return with_data(rows, np.log1p(rows.data / (MU * self.shares[tokens[rows.indices]])))

    def finish(self, sums: NDArray[np.float64], queries: Sparse, rows: Sparse, start: int) -> NDArray[np.float64]:
        lengths = np.asarray(rows.sum(axis=1)).ravel()
        return sums + np.asarray(queries.sum(axis=1)) * np.log(MU / (lengths + MU))


def fit(corpus: Corpus, field: Field) -> Dirichlet:
    """The formula, fitted to a field of a corpus."""
    totals = corpus.totals(field, "words")
    return Dirichlet(totals / totals.sum())


DIRICHLET = by_terms("abstract", fit, {"tokens": "words", "mu": MU})


class Shortest(System):
    """Ranks a pool by the number of sentences, the shortest abstract first."""

    def rank(self, inputs: SystemInputs) -> RankedPools:
        rankings = {
            topic.query_id: ranked(
                ScoredDoc(doc_id, -float(len(inputs.papers[doc_id].sentences))) for doc_id in topic.doc_ids
            )
            for topic in inputs.topics
        }
        return RankedPools(rankings, {"order": "number of sentences"})

    def topics(self, inputs: SystemInputs) -> Sequence[PooledQuery]:
        return inputs.topics

    def index_methods(self, settings: SystemSettings) -> Sequence[str]:
        return ()


SYSTEMS = (Shortest("shortest", "terms", "an example", ABSTRACT, ABSTRACT, "", None),)


def predict(snapshot: Snapshot, name: str) -> CheapLabel | None:
    """Label that takes the document which a method drew first for relevant."""
    if name != "rank-one":
        return None
    first = {topic_id: pool.entries[0].doc_id for topic_id, pool in snapshot.pools.items()}
    grades = snapshot.ws.settings.scale.grades[1:]
    shares = {
        query_id: {first[topic_id]: tuple(1.0 for _ in grades)}
        for query_id, topic_id in snapshot.topics.items()
        if topic_id in first
    }
    return CheapLabel(name, "the first draw", shares, frozenset())
