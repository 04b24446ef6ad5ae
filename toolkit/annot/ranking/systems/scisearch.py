"""SciSearch: a small network over the vectors of query and candidate, trained on the grades.

Folds by query paper: in each fold everything that is learned or chosen (oversampling, early stopping) sees training
queries only; a quarter of these, whole queries, decides when to stop. The paper's own protocol splits pairs and not
queries, and so tests on training data; it is not offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annot.base.errors import MissingInput
from annot.base.records import Qrel, Query, Ranking, ScoredDoc, grouped, ranked
from annot.base.settings.sections import SystemSettings
from annot.base.stats.arrays import Array, Matrix
from annot.ranking.methods import LSA
from annot.ranking.systems.inputs import Features, Grades, SystemInputs
from annot.ranking.systems.scisearch_network import Learning, Loss, Pairs, Score, balanced, train
from annot.ranking.systems.system import ABSTRACT, FACET, SCISEARCH, RankedPools, System
from annot.ranking.systems.weights import INSTALL

WATCHED_SHARE = 0.25
"""The share of training queries that early stopping watches, one at least."""
Documents = Mapping[str, Sequence[str]]
"""Documents to rank for each query."""


@dataclass(frozen=True, slots=True)
class SciSearchSystem(System):
    """System of a small network that is trained on the grades."""

    loss: Loss | None
    """Loss of the training; None if nothing is trained."""

    def rank(self, inputs: SystemInputs) -> RankedPools:
        """Train on the grades and rank every pool; the untrained one ranks without grades.

        Each fold on record is ranked by a network trained on all other queries; a query in no fold is not ranked.
        Raises MissingInput without grades or libraries, LeakError if a near-copy of a query paper is learned from.
        """
        features, topics = inputs.features(inputs.settings.features), self.topics(inputs)
        facts: dict[str, Any] = {**self.views, "features": features.name}
        documents = {topic.query_id: topic.doc_ids for topic in topics}
        if self.loss is None:
            return RankedPools(untrained(features, documents), {**facts, "similarity": "cosine"})
        _prepare_libraries()
        grades = inputs.grades
        queries = [Query(topic.query_id, topic.topic_id, topic.facet, topic.sentences) for topic in topics]
        pooled_pairs = {(topic.query_id, doc_id) for topic in topics for doc_id in topic.doc_ids}
        judged = [qrel for qrel in grades.qrels if (qrel.query_id, qrel.doc_id) in pooled_pairs]
        if not judged:
            raise MissingInput(
                f"{self.name}: found no final grades, expected some to learn from", hint="make them with `annot qrels`"
            )
        learning = Learning(self.loss, grades.count, grades.seed)
        facts |= {"loss": self.loss, "seed": grades.seed}
        folds, drawn_now = grades.folds(queries)
        facts |= _in_both_sides(grades, queries, folds, documents)
        rankings = honest(features, queries, judged, documents, learning, folds=folds)
        return RankedPools(rankings, {**facts, "folds": folds, "drawn": drawn_now})

    def index_methods(self, settings: SystemSettings) -> Sequence[str]:
        """Methods of its features."""
        return [LSA] if settings.features == LSA else []


def _system(name: str, loss: Loss | None, about: str = "") -> SciSearchSystem:
    needs = f"{'torch, grades, and ' if loss else ''}the features named in annot.toml"
    return SciSearchSystem(name, "scisearch", f"{SCISEARCH}{about}", FACET, ABSTRACT, needs, None, loss)


SYSTEMS = (
    _system("scisearch-nll", "nll"),
    _system("scisearch-kl", "kl"),
    _system("scisearch-untrained", None, ", its features without training"),
)


def _prepare_libraries() -> None:
    try:
        import imblearn  # noqa: F401
        import torch
    except ImportError:
        raise MissingInput("scisearch: the libraries that it needs are not installed", hint=INSTALL) from None
    # More threads only wait for each other over networks this small.
    torch.set_num_threads(1)


def _in_both_sides(
    grades: Grades, queries: Sequence[Query], folds: Sequence[Sequence[str]], documents: Documents
) -> dict[str, list[int]]:
    """Overlap of each fold with its training data. Raises LeakError if a figure would be void."""
    counts: dict[str, list[int]] = {"candidates_in_both_sides": [], "pairs_the_other_way_round": []}
    for number, fold in enumerate(folds, start=1):
        candidates: set[str] = set()
        other_way_round: set[tuple[str, str]] = set()
        for facet, tested in by_facet(queries, fold).items():
            learned = learned_from(queries, fold, facet)
            shared = grades.shared(learned, tested, documents=documents, where=f"fold {number}, {facet}")
            candidates.update(shared[0])
            other_way_round.update(shared[1])
        counts["candidates_in_both_sides"].append(len(candidates))
        counts["pairs_the_other_way_round"].append(len(other_way_round))
    return counts


def honest(
    features: Features,
    queries: Sequence[Query],
    qrels: Sequence[Qrel],
    documents: Documents,
    learning: Learning,
    *,
    folds: Sequence[Sequence[str]],
) -> dict[str, Ranking]:
    """Rank each fold by a network that was trained on the others, one for each facet. folds: query ids."""
    rankings: dict[str, Ranking] = {}
    for number, fold in enumerate(folds, start=1):
        for facet, tested in by_facet(queries, fold).items():
            learned = [query.query_id for query in learned_from(queries, fold, facet)]
            np.random.default_rng([learning.seed, number]).shuffle(learned)
            watched = set(learned[: max(1, round(WATCHED_SHARE * len(learned)))])
            training = [qrel for qrel in qrels if qrel.query_id in learned and qrel.query_id not in watched]
            watching = [qrel for qrel in qrels if qrel.query_id in watched]
            pairs = balanced(_pairs(features, training), seed=learning.seed)
            score = train(pairs, _pairs(features, watching), learning)
            rankings |= _ranked(features, score, {query.query_id: documents[query.query_id] for query in tested})
    return rankings


def by_facet(queries: Sequence[Query], fold: Sequence[str]) -> dict[str, list[Query]]:
    """The queries of the fold that each network is tested on."""
    query_of = {query.query_id: query for query in queries}
    return grouped((query_of[query_id].facet, query_of[query_id]) for query_id in fold)


def learned_from(queries: Sequence[Query], fold: Sequence[str], facet: str) -> list[Query]:
    """The queries outside the fold that the network of this facet may learn from: those of the facet, or of all facets
    if these are too few."""
    outside = [query for query in queries if query.query_id not in fold]
    same_facet = [query for query in outside if query.facet == facet]
    return same_facet if len(same_facet) > 1 else outside


def untrained(features: Features, documents: Documents) -> dict[str, Ranking]:
    """Cosines of the same features: the baseline that training has to beat."""

    def cosine(left: Matrix, right: Matrix) -> Array:
        lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        return np.asarray((left * right).sum(axis=1) / np.where(lengths > 0, lengths, 1), dtype=np.float64)

    return _ranked(features, cosine, documents)


def _pairs(features: Features, qrels: Sequence[Qrel]) -> Pairs:
    """The vectors and grades of judged pairs."""
    return Pairs(
        np.stack([features.queries[qrel.query_id] for qrel in qrels]),
        np.stack([features.candidates[qrel.doc_id] for qrel in qrels]),
        np.array([qrel.relevance for qrel in qrels]),
    )


def _ranked(features: Features, score: Score, documents: Documents) -> dict[str, Ranking]:
    rankings = {}
    for query_id, doc_ids in documents.items():
        candidates = np.stack([features.candidates[doc_id] for doc_id in doc_ids])
        queries = np.broadcast_to(features.queries[query_id], candidates.shape)
        rankings[query_id] = ranked(map(ScoredDoc, doc_ids, score(queries, candidates).tolist()))
    return rankings
