"""Pools ranked by how the sentences of a query and of a candidate match, whatever way they are matched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.ordering import ranked
from annot.base.records import Ranking, ScoredDoc
from annot.formats.matches import Match
from annot.ranking.methods import EMPTY_SCORE
from annot.ranking.systems.sentence_vectors import Candidates, Matrix, SentenceVectors
from annot.ranking.systems.system import Topic

Similarity = Literal["cosine", "l2"]
LEAST_WEIGHT = 0.05
"""Matches of a smaller share of the mass are not kept."""


class Aligned(NamedTuple):
    """The scores of candidates, higher is better, and for each a matrix of weights over pairs of sentences."""

    scores: NDArray[np.float64]
    """Shape (candidates,)."""
    weights: list[NDArray[np.float64]]
    """For each candidate, shape (query sentences, candidate sentences)."""
    unconverged: int = 0
    """How many of them were given up before they were exact."""


Align = Callable[[Topic, list[NDArray[np.float64]]], Aligned]
"""Scores candidates by the similarities of their sentences with the query's: of each, shape (query's, its own)."""


class ByAlignment(NamedTuple):
    """The rankings, the matches they rest on, and how many plans are not exact."""

    rankings: dict[str, Ranking]
    matches: dict[str, dict[str, tuple[Match, ...]]]
    unconverged: int


def similarities(query: Matrix, rows: Matrix, kind: Similarity) -> NDArray[np.float64]:
    """Cosines, or negated Euclidean distances: shape (query sentences, rows)."""
    from scipy.spatial.distance import cdist

    if kind == "l2":
        return -np.asarray(cdist(query.astype(np.float64), rows.astype(np.float64)))
    left, right = _unit(query), _unit(rows)
    return np.asarray(left @ right.T)


def rank(topics: Iterable[Topic], vectors: SentenceVectors, *, kind: Similarity, align: Align) -> ByAlignment:
    """Every topic's documents by how they align with its sentences; a document without a sentence comes last."""
    found = ByAlignment({}, {}, 0)
    unconverged = 0
    for topic in topics:
        own = vectors.of(topic.paper_id)
        positions = [at for at in topic.sentences if at < len(own) and own[at].any()]
        candidates = Candidates(vectors, topic.doc_ids)
        scores = np.full(len(topic.doc_ids), EMPTY_SCORE)
        matches: dict[str, tuple[Match, ...]] = {}
        filled = candidates.filled if positions else candidates.filled[:0]
        if len(filled):
            whole = similarities(own[positions], candidates.matrix, kind)
            parts = [whole[:, candidates.starts[at] : candidates.starts[at + 1]] for at in filled]
            aligned = align(topic, parts)
            unconverged += aligned.unconverged
            scores[filled] = aligned.scores
            for at, part, weights in zip(filled.tolist(), parts, aligned.weights, strict=True):
                theirs = candidates.positions[candidates.starts[at] : candidates.starts[at + 1]]
                matches[topic.doc_ids[at]] = _matches(weights, part, positions, theirs)
        found.rankings[topic.query_id] = ranked(map(ScoredDoc, topic.doc_ids, scores.tolist()))
        found.matches[topic.query_id] = matches
    return found._replace(unconverged=unconverged)


def best_pair(_topic: Topic, parts: list[NDArray[np.float64]]) -> Aligned:
    """The similarity of the most similar pair of sentences (CSFCube, section 5; Aspire, equation 3 at inference)."""
    scores = np.array([part.max() for part in parts])
    weights = []
    for part in parts:
        only = np.zeros(part.shape)
        only.flat[part.argmax()] = 1.0
        weights.append(only)
    return Aligned(scores, weights)


def _matches(
    weights: NDArray[np.float64], part: NDArray[np.float64], ours: list[int], theirs: NDArray[np.int64]
) -> tuple[Match, ...]:
    found = [
        Match(ours[i], int(theirs[j]), float(weights[i, j]), float(part[i, j]))
        for i, j in np.argwhere(weights >= LEAST_WEIGHT * weights.sum()).tolist()
    ]
    return tuple(sorted(found, key=lambda match: (-match.weight, match.query_sentence, match.doc_sentence)))


def _unit(rows: Matrix) -> NDArray[np.float64]:
    wide = rows.astype(np.float64)
    return np.asarray(wide / np.sqrt((wide**2).sum(axis=1, keepdims=True)))
