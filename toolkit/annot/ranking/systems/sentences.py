"""Systems that compare the sentences of a query with those of a candidate, and rank by how these match.

Systems of sentences encode each by itself, and the most similar pair decides. CSFCube compares by cosine, Aspire by
Euclidean distance; each system has the one of the paper that it comes from, and `[systems] similarity` in annot.toml
gives all of them the same.

Aspire (Mysore, Cohan and Hope, NAACL 2022) sees papers as the sets of their sentences, matched once, by optimal
transport or by attention. Scores are negated distances: of the nearest pair (`single`), or <D, P> over a plan
(`transport`) or over attention weights. A query is restricted to its sentences; a candidate is seen whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from annot.base.records import Ranking, ScoredDoc, ranked
from annot.base.stats.arrays import Array, Integers, Matrix
from annot.formats.matches import Match
from annot.ranking.methods import EMPTY_SCORE
from annot.ranking.systems.inputs import Features, PooledQuery, SentenceVectors, SystemInputs
from annot.ranking.systems.matching import Aligned, best_pair, by_attention, by_transport
from annot.ranking.systems.system import (
    ASPIRE,
    CSFCUBE,
    EACH_IN_CONTEXT,
    EACH_SENTENCE,
    FACET,
    IN_CONTEXT,
    SCISEARCH,
    RankedPools,
    System,
    features_of,
)
from annot.ranking.systems.weights import EncoderWeights, Reading

Similarity = Literal["cosine", "l2"]
Matching = Literal["single", "transport", "attention"]
LEAST_WEIGHT = 0.05
"""Matches of a smaller share of the mass are not kept."""
Align = Callable[[PooledQuery, list[Array]], Aligned]
"""Scores candidates by the similarities of their sentences with the query's: of each, shape (query's, its own)."""


@dataclass(frozen=True, slots=True)
class SentenceSystem(System):
    """`similarity` is that of its paper."""

    weights: EncoderWeights
    similarity: Similarity

    def rank(self, inputs: SystemInputs) -> RankedPools:
        """Rank by the most similar pair of sentences."""
        similarity = inputs.settings.similarity or self.similarity
        vectors = inputs.sentence_vectors(self.weights)
        facts = {**self.views, "match": "best pair"}
        return rank(self.topics(inputs), vectors, kind=similarity, align=lambda _, parts: best_pair(parts), facts=facts)

    def features(self, inputs: SystemInputs) -> Features:
        """The mean of the facet's sentences, and of all sentences of a candidate."""
        vectors = inputs.sentence_vectors(self.weights)

        def mean(rows: Matrix) -> Matrix:
            return rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1], dtype=np.float32)

        def of_facet(topic: PooledQuery) -> Matrix:
            sentences = vectors.of(topic.topic_id)
            return mean(sentences[[position for position in topic.sentences if position < len(sentences)]])

        return features_of(
            self.name, self.topics(inputs), query=of_facet, candidate=lambda doc_id: mean(vectors.of(doc_id))
        )


@dataclass(frozen=True, slots=True)
class AspireSystem(System):
    """A system that compares papers as sets of sentences."""

    weights: EncoderWeights
    matching: Matching

    def rank(self, inputs: SystemInputs) -> RankedPools:
        """Rank by the negated distance of the sets."""
        settings = inputs.settings
        heats = {"temperature": settings.temperature, "whole_temperature": settings.whole_temperature}
        facts: dict[str, Any] = {**self.views, "match": self.matching}
        if self.matching != "single":
            facts |= heats
        if self.matching == "transport":
            facts["lambda"] = settings.entropy
        vectors = inputs.sentence_vectors(self.weights)
        align = align_by(self.matching, **heats, eps=1 / settings.entropy)
        return rank(self.topics(inputs), vectors, kind="l2", align=align, facts=facts)


def align_by(matching: Matching, *, temperature: float, whole_temperature: float, eps: float) -> Align:
    """Alignment of sentences by a kind of matching. temperature: of a query that is a facet; whole_temperature: of one
    that is a whole abstract; eps: the weight of the entropy, 1 / lambda."""

    def align(topic: PooledQuery, parts: list[Array]) -> Aligned:
        heat = whole_temperature if topic.whole else temperature
        if matching == "transport":
            return by_transport(parts, temperature=heat, eps=eps)
        return best_pair(parts) if matching == "single" else by_attention(parts, temperature=heat)

    return align


def rank(
    topics: Sequence[PooledQuery], vectors: SentenceVectors, *, kind: Similarity, align: Align, facts: Mapping[str, Any]
) -> RankedPools:
    """Rankings of every topic's documents by their alignment with its sentences; a document without a sentence comes
    last.

    facts: facts to record besides those of the vectors and the similarity.
    """
    rankings: dict[str, Ranking] = {}
    matched: dict[str, dict[str, tuple[Match, ...]]] = {}
    given_up = 0
    for topic in topics:
        query_vectors = vectors.of(topic.topic_id)
        positions = [
            position for position in topic.sentences if position < len(query_vectors) and query_vectors[position].any()
        ]
        candidates = CandidateSentences(vectors, topic.doc_ids)
        scores = np.full(len(topic.doc_ids), EMPTY_SCORE)
        matched[topic.query_id] = {}
        filled = candidates.filled if positions else candidates.filled[:0]
        if len(filled):
            similarity = similarities(query_vectors[positions], candidates.matrix, kind)
            parts = [similarity[:, candidates.starts[place] : candidates.starts[place + 1]] for place in filled]
            aligned = align(topic, parts)
            given_up += aligned.unconverged
            scores[filled] = aligned.scores
            for place, part, weights in zip(filled.tolist(), parts, aligned.weights, strict=True):
                doc_positions = candidates.positions[candidates.starts[place] : candidates.starts[place + 1]]
                matched[topic.query_id][topic.doc_ids[place]] = _matches(weights, part, positions, doc_positions)
        rankings[topic.query_id] = ranked(map(ScoredDoc, topic.doc_ids, scores.tolist()))
    facts = {**facts, **vectors.facts, "similarity": kind}
    if given_up:
        facts["plans_given_up"] = given_up
    return RankedPools(rankings, facts, matched, given_up)


class CandidateSentences:
    """The sentences of several papers below each other; a sentence without a vector of its own is left out.

    matrix: shape (sentences, dimensions). starts: shape (papers + 1,). positions: shape (sentences,), from 0 in each
    paper. filled: the papers that have a sentence.
    """

    def __init__(self, vectors: SentenceVectors, paper_ids: Sequence[str]) -> None:
        parts = [vectors.of(paper_id) for paper_id in paper_ids]
        usable = [np.flatnonzero(part.any(axis=1)) for part in parts]
        empty = np.zeros((0, vectors.matrix.shape[1]), dtype=np.float32)
        self.matrix: Matrix = np.concatenate([empty, *(part[rows] for part, rows in zip(parts, usable, strict=True))])
        self.starts = np.cumsum([0, *map(len, usable)])
        self.positions: Integers = np.concatenate([np.zeros(0, dtype=np.int64), *usable])
        self.filled: Integers = np.flatnonzero(np.diff(self.starts))


def similarities(query: Matrix, rows: Matrix, kind: Similarity) -> Array:
    """Cosines, or negated Euclidean distances: shape (query sentences, rows)."""
    from scipy.spatial.distance import cdist

    left, right = query.astype(np.float64), rows.astype(np.float64)
    if kind == "l2":
        return -np.asarray(cdist(left, right))
    left, right = (wide / np.sqrt((wide**2).sum(axis=1, keepdims=True)) for wide in (left, right))
    return np.asarray(left @ right.T)


def _matches(weights: Array, part: Array, query_positions: list[int], doc_positions: Integers) -> tuple[Match, ...]:
    matches = [
        Match(query_positions[i], int(doc_positions[j]), float(weights[i, j]), float(part[i, j]))
        for i, j in np.argwhere(weights >= LEAST_WEIGHT * weights.sum()).tolist()
    ]
    return tuple(sorted(matches, key=lambda match: (-match.weight, match.query_sentence, match.doc_sentence)))


def _sentences(name: str, source: str, similarity: Similarity, hub: str | None, reading: Reading) -> SentenceSystem:
    weights = EncoderWeights(name, hub, reading)
    return SentenceSystem(name, "sentences", source, FACET, EACH_SENTENCE, weights.needs, weights, similarity)


def own_system(name: str) -> SentenceSystem:
    """The system of a sentence-transformers folder that a user brings."""
    return _sentences(name, "your own", "cosine", None, "own")


def _aspire(name: str, matching: Matching, hub: str | None) -> AspireSystem:
    weights = EncoderWeights(name, hub, "context")
    return AspireSystem(name, "aspire", ASPIRE, IN_CONTEXT, EACH_IN_CONTEXT, weights.needs, weights, matching)


SYSTEMS = (
    _sentences("sentbert-pp", CSFCUBE, "cosine", "sentence-transformers/paraphrase-TinyBERT-L6-v2", "own"),
    _sentences("sentbert-nli", CSFCUBE, "cosine", "sentence-transformers/nli-roberta-base-v2", "own"),
    _sentences("unsimcse", CSFCUBE, "cosine", "princeton-nlp/unsup-simcse-bert-base-uncased", "cls"),
    _sentences("susimcse", CSFCUBE, "cosine", "princeton-nlp/sup-simcse-bert-base-uncased", "pooler"),
    _sentences("mpnet-1b", ASPIRE, "l2", "sentence-transformers/all-mpnet-base-v2", "own"),
    _sentences("cosentbert", ASPIRE, "l2", "allenai/aspire-sentence-embedder", "cls"),
    _sentences("ictsentbert", ASPIRE, "l2", None, "cls"),
    _sentences("scibert-cased", SCISEARCH, "cosine", "allenai/scibert_scivocab_cased", "mean"),
    _sentences("scibert-uncased", SCISEARCH, "cosine", "allenai/scibert_scivocab_uncased", "mean"),
)
"""The pooling of SimCSE is that of its authors: the first token's state without the pooler for the model trained
without supervision, with it for the other. SciBERT was not trained to put a sentence into one vector: the mean of its
tokens' states is the default of sentence-transformers for such models; SciSearch does not state its pooling."""

_MPNET = EncoderWeights("mpnet-1b", "sentence-transformers/all-mpnet-base-v2", "own")
ASPIRE_SYSTEMS = (
    _aspire("ts-aspire", "single", "allenai/aspire-contextualsentence-singlem-compsci"),
    _aspire("max-aspire", "single", None),
    _aspire("abs-aspire", "single", None),
    _aspire("ot-aspire", "transport", "allenai/aspire-contextualsentence-multim-compsci"),
    _aspire("ts+ot-aspire", "transport", None),
    _aspire("att-aspire", "attention", None),
    AspireSystem("ot-mpnet-1b", "aspire", ASPIRE, FACET, EACH_SENTENCE, _MPNET.needs, _MPNET, "transport"),
)
