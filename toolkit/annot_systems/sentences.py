"""Systems that compare the sentences of a query with those of a candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from annot.base.records import Ranking, ScoredDoc, ranked
from annot.base.stats.arrays import Array, Integers, Mask, Matrix
from annot.formats.trec import Match
from annot.ranking.methods import EMPTY_SCORE
from annot.ranking.systems import system

from annot_systems.training_examples import RECIPES

# ----------------------------------------------------------------------------------------------------------------------
# Ways to match the sentences of two papers, many pairs at once: the best pair, attention, and optimal transport.
#
# Transport: min <D, P> - eps h(P) over plans P whose rows sum to x and whose columns sum to y (Cuturi 2013; Aspire,
# equation 5 and appendix F). The plan is that of Sinkhorn's iterations at their end; these need tens of thousands of
# steps if eps is small against the distances, as it is in Aspire, so the dual is maximised by Newton's method
# instead. With y's potential eliminated (the semi-dual) it has one variable for each sentence of the query:
#
# P_ij = y_j exp((f_i - D_ij) / eps) / sum_k exp((f_k - D_kj) / eps)
#
# is a plan for the right y, and Newton's steps bring its rows to x. eps comes down in steps to its final value.
# ----------------------------------------------------------------------------------------------------------------------


TOLERANCE = 1e-9
"""The largest error of a row's sum at which a plan is exact."""
STEPS = 100
"""The most Newton steps at each eps."""
COOLING = 2.0
"""Factor between each eps and the next smaller one."""
FAINT = 1e-13
"""The mass that a row has at least, far below the tolerance: the steps are exact in numbers of about this precision."""
ROUNDING = 1e-15
DAMPING = tuple(10.0**power for power in range(-14, 3))
"""Values added to the diagonal of the scaled Hessian if Newton's step does not climb; the step that climbs highest is
taken."""
TINY = 1e-300


class Alignment(NamedTuple):
    """The scores of candidates, higher is better, and for each a matrix of weights over pairs of sentences."""

    scores: Array
    """Shape (candidates,)."""
    weights: list[Array]
    """Matrix of each candidate, shape (query sentences, candidate sentences)."""
    unconverged: int = 0
    """Number of candidates that were given up before they were exact."""


def best_pair(parts: list[Array]) -> Alignment:
    """The similarity of the most similar pair of sentences (CSFCube, section 5; Aspire, equation 3 at inference)."""
    scores = np.array([part.max() for part in parts])
    weights = []
    for part in parts:
        only = np.zeros(part.shape)
        only.flat[part.argmax()] = 1.0
        weights.append(only)
    return Alignment(scores, weights)


class Plans(NamedTuple):
    """The plans, shape (pairs, rows, columns), and which of them are exact, shape (pairs,)."""

    plans: Array
    exact: Mask
    by_x: Array
    """The gradient of min <D, P> + eps KL(P | x y) by x, up to a constant for each pair: shape (pairs, rows)."""
    by_y: Array
    """Gradient by y; the constants are such that <x, by_x> + <y, by_y> is the minimum itself."""


def plans(distances: Array, x: Array, y: Array, *, eps: float) -> Plans:
    """The plan of each pair. distances: shape (pairs, rows, columns). x: (pairs, rows). y: (pairs, columns), where 0
    marks a column that a pair does not have."""
    x = np.maximum(x, FAINT)
    x = x / x.sum(axis=1, keepdims=True) * y.sum(axis=1, keepdims=True)
    potentials = np.zeros(x.shape)
    scale = [eps]
    while scale[-1] * COOLING < distances.max():
        scale.append(scale[-1] * COOLING)
    for current in reversed(scale):
        open_ = np.arange(len(x))
        for _ in range(STEPS):
            plan = _plan(potentials[open_], distances[open_], y[open_], current)
            error = np.abs(x[open_] - plan.sum(axis=2)).max(axis=1)
            unfinished = error > TOLERANCE
            open_, plan = open_[unfinished], plan[unfinished]
            if not len(open_):
                break
            problem = distances[open_], x[open_], y[open_], current
            potentials[open_] = _step(potentials[open_], plan, *problem)
    exact = np.ones(len(x), dtype=np.bool_)
    exact[open_] = False
    by_y = -eps * _log_sums(potentials, distances, eps)
    return Plans(_plan(potentials, distances, y, eps), exact, potentials - eps * np.log(x), by_y)


def by_transport(parts: list[Array], *, temperature: float, eps: float) -> Alignment:
    """Scores -<D, P> of the candidates. parts: negated distances, of each candidate shape (rows, its sentences).

    The mass of a sentence is a softmax of its smallest distance to the other paper's sentences, negated, over the
    temperature (Aspire, section 3.2.3): low temperatures look at the sentences that match, high ones at every sentence
    alike.
    """
    rows, widest = len(parts[0]), max(part.shape[1] for part in parts)
    distances = np.zeros((len(parts), rows, widest))
    is_sentence = np.zeros((len(parts), widest), dtype=np.bool_)
    for place, part in enumerate(parts):
        distances[place, :, : part.shape[1]] = -part
        is_sentence[place, : part.shape[1]] = True
    nearest = np.where(is_sentence[:, None, :], distances, np.inf).min(axis=2)
    x = _softmax(-nearest / temperature)
    y = _softmax(np.where(is_sentence, -distances.min(axis=1) / temperature, -np.inf))
    solution = plans(distances, x, y, eps=eps)
    scores = -(distances * solution.plans).sum(axis=(1, 2))
    weights = [plan[:, : part.shape[1]] for plan, part in zip(solution.plans, parts, strict=True)]
    return Alignment(scores, weights, int((~solution.exact).sum()))


def by_attention(parts: list[Array], *, temperature: float) -> Alignment:
    """-<D, A> of each candidate, A the softmax of -D / temperature over all pairs of sentences (Aspire, appendix H)."""
    weights = [_softmax(part.reshape(1, -1) / temperature).reshape(part.shape) for part in parts]
    scores = np.array([(part * weight).sum() for part, weight in zip(parts, weights, strict=True)])
    return Alignment(scores, weights)


def _plan(potentials: Array, distances: Array, y: Array, eps: float) -> Array:
    shares = (potentials[:, :, None] - distances) / eps
    shares = np.exp(shares - shares.max(axis=1, keepdims=True))
    return np.asarray(y[:, None, :] * shares / shares.sum(axis=1, keepdims=True))


def _step(potentials: Array, plan: Array, distances: Array, x: Array, y: Array, eps: float) -> Array:
    """Newton's step if it climbs as it should, otherwise the best of damped steps and of Sinkhorn's."""
    sums = plan.sum(axis=2)
    hessian = -(plan @ (plan / np.maximum(y, TINY)[:, None, :]).transpose(0, 2, 1))
    rows = np.arange(x.shape[1])
    hessian[:, rows, rows] += sums
    # Every row in units of its mass, as masses differ by many powers of ten.
    scale = np.reciprocal(np.sqrt(np.maximum(sums, x)))
    hessian *= scale[:, :, None] * scale[:, None, :]
    slopes = ((x - sums) * scale)[:, :, None]
    # Potentials matter up to a constant only.
    hessian[:, rows, rows] += ROUNDING
    moved = potentials + eps * scale * np.linalg.solve(hessian, slopes)[:, :, 0]
    height = _dual(potentials, distances, x, y, eps)
    promised = ((moved - potentials) * (x - sums)).sum(axis=1)
    climbed = _dual(moved, distances, x, y, eps) - height
    # Near the top, rounding hides what is climbed: there Newton's own step is the one that ends.
    slow = np.flatnonzero(~((climbed >= 0.1 * promised) | (np.abs(promised) <= 1e-13 * np.abs(height))))
    if len(slow):
        values, vectors = np.linalg.eigh(hessian[slow])
        slopes = vectors.transpose(0, 2, 1) @ slopes[slow]
        tried = [eps * (np.log(x[slow]) - np.log(np.maximum(sums[slow], TINY)))]
        for damping in DAMPING:
            step = vectors @ (slopes / (np.maximum(values, 0.0) + damping)[:, :, None])
            tried.append(eps * scale[slow] * step[:, :, 0])
        ends = potentials[slow] + np.stack(tried)
        heights = np.stack([_dual(end, distances[slow], x[slow], y[slow], eps) for end in ends])
        moved[slow] = ends[np.where(np.isfinite(heights), heights, -np.inf).argmax(axis=0), np.arange(len(slow))]
    return np.asarray(moved)


def _dual(potentials: Array, distances: Array, x: Array, y: Array, eps: float) -> Array:
    return np.asarray((potentials * x).sum(axis=1) - eps * (y * _log_sums(potentials, distances, eps)).sum(axis=1))


def _log_sums(potentials: Array, distances: Array, eps: float) -> Array:
    exponents = (potentials[:, :, None] - distances) / eps
    top = exponents.max(axis=1)
    return np.asarray(np.log(np.exp(exponents - top[:, None, :]).sum(axis=1)) + top)


def _softmax(values: Array) -> Array:
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


# ----------------------------------------------------------------------------------------------------------------------
# Systems that compare the sentences of a query with those of a candidate, and rank by how these match.
#
# Systems of sentences encode each by itself, and the most similar pair decides. CSFCube compares by cosine, Aspire by
# Euclidean distance; each system has the one of the paper that it comes from, and `[systems] similarity` in
# annot.toml gives all of them the same.
#
# Aspire (Mysore, Cohan and Hope, NAACL 2022) sees papers as the sets of their sentences, matched once, by optimal
# transport or by attention. Scores are negated distances: of the nearest pair (`single`), or <D, P> over a plan
# (`transport`) or over attention weights. A query is restricted to its sentences; a candidate is seen whole.
# ----------------------------------------------------------------------------------------------------------------------


Similarity = Literal["cosine", "l2"]
Matching = Literal["single", "transport", "attention"]
LEAST_WEIGHT = 0.05
"""Matches of a smaller share of the mass are not kept."""
Align = Callable[[system.PooledQuery, list[Array]], Alignment]
"""Scores candidates by the similarities of their sentences with the query's: of each, shape (query's, its own)."""


@dataclass(frozen=True, slots=True)
class SentenceSystem(system.System):
    """`similarity` is that of its paper."""

    weights: system.EncoderWeights
    similarity: Similarity

    def rank(self, inputs: system.SystemInputs) -> system.RankedPools:
        """Rank by the most similar pair of sentences."""
        similarity = inputs.settings.similarity or self.similarity
        vectors = inputs.sentence_vectors(self.weights)
        facts = {**self.views, "match": "best pair"}
        return rank(self.topics(inputs), vectors, kind=similarity, align=lambda _, parts: best_pair(parts), facts=facts)

    def features(self, inputs: system.SystemInputs) -> system.Features:
        """The mean of the facet's sentences, and of all sentences of a candidate."""
        vectors = inputs.sentence_vectors(self.weights)

        def mean(rows: Matrix) -> Matrix:
            return rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1], dtype=np.float32)

        def of_facet(topic: system.PooledQuery) -> Matrix:
            sentences = vectors.of(topic.topic_id)
            return mean(sentences[[position for position in topic.sentences if position < len(sentences)]])

        return system.features_of(
            self.name, self.topics(inputs), query=of_facet, candidate=lambda doc_id: mean(vectors.of(doc_id))
        )


@dataclass(frozen=True, slots=True)
class AspireSystem(system.System):
    """A system that compares papers as sets of sentences."""

    weights: system.EncoderWeights
    matching: Matching

    def rank(self, inputs: system.SystemInputs) -> system.RankedPools:
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

    def align(topic: system.PooledQuery, parts: list[Array]) -> Alignment:
        heat = whole_temperature if topic.whole else temperature
        if matching == "transport":
            return by_transport(parts, temperature=heat, eps=eps)
        return best_pair(parts) if matching == "single" else by_attention(parts, temperature=heat)

    return align


def rank(
    topics: Sequence[system.PooledQuery],
    vectors: system.SentenceVectors,
    *,
    kind: Similarity,
    align: Align,
    facts: Mapping[str, Any],
) -> system.RankedPools:
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
        rows = [vectors.of(doc_id) for doc_id in topic.doc_ids]
        # A sentence without a vector of its own is left out.
        usable = [np.flatnonzero(part.any(axis=1)) for part in rows]
        filled = [place for place, doc_positions in enumerate(usable) if positions and len(doc_positions)]
        scores = np.full(len(topic.doc_ids), EMPTY_SCORE)
        matched[topic.query_id] = {}
        if filled:
            matrix = np.concatenate([rows[place][usable[place]] for place in filled])
            similarity = similarities(query_vectors[positions], matrix, kind)
            parts = np.split(similarity, np.cumsum([len(usable[place]) for place in filled])[:-1], axis=1)
            aligned = align(topic, parts)
            given_up += aligned.unconverged
            scores[filled] = aligned.scores
            for place, part, weights in zip(filled, parts, aligned.weights, strict=True):
                matched[topic.query_id][topic.doc_ids[place]] = _matches(weights, part, positions, usable[place])
        rankings[topic.query_id] = ranked(map(ScoredDoc, topic.doc_ids, scores.tolist()))
    facts = {**facts, **vectors.facts, "similarity": kind}
    if given_up:
        facts["plans_given_up"] = given_up
    return system.RankedPools(rankings, facts, matched, given_up)


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


def _sentences(
    name: str, source: str, similarity: Similarity, hub: str | None, reading: system.Reading
) -> SentenceSystem:
    weights = system.EncoderWeights(name, hub, reading, trainable=name in RECIPES)
    return SentenceSystem(
        name, "sentences", source, system.FACET, system.EACH_SENTENCE, weights.needs, weights, similarity
    )


def own_system(name: str) -> SentenceSystem:
    """The system of a sentence-transformers folder that a user brings."""
    return _sentences(name, "your own", "cosine", None, "own")


def _aspire(name: str, matching: Matching, hub: str | None) -> AspireSystem:
    weights = system.EncoderWeights(name, hub, "context", trainable=name in RECIPES)
    return AspireSystem(
        name, "aspire", system.ASPIRE, system.IN_CONTEXT, system.EACH_IN_CONTEXT, weights.needs, weights, matching
    )


SYSTEMS = (
    _sentences("sentbert-pp", system.CSFCUBE, "cosine", "sentence-transformers/paraphrase-TinyBERT-L6-v2", "own"),
    _sentences("sentbert-nli", system.CSFCUBE, "cosine", "sentence-transformers/nli-roberta-base-v2", "own"),
    _sentences("unsimcse", system.CSFCUBE, "cosine", "princeton-nlp/unsup-simcse-bert-base-uncased", "cls"),
    _sentences("susimcse", system.CSFCUBE, "cosine", "princeton-nlp/sup-simcse-bert-base-uncased", "pooler"),
    _sentences("mpnet-1b", system.ASPIRE, "l2", "sentence-transformers/all-mpnet-base-v2", "own"),
    _sentences("cosentbert", system.ASPIRE, "l2", "allenai/aspire-sentence-embedder", "cls"),
    _sentences("ictsentbert", system.ASPIRE, "l2", None, "cls"),
    _sentences("scibert-cased", system.SCISEARCH, "cosine", "allenai/scibert_scivocab_cased", "mean"),
    _sentences("scibert-uncased", system.SCISEARCH, "cosine", "allenai/scibert_scivocab_uncased", "mean"),
)
"""The pooling of SimCSE is that of its authors: the first token's state without the pooler for the model trained
without supervision, with it for the other. SciBERT was not trained to put a sentence into one vector: the mean of its
tokens' states is the default of sentence-transformers for such models; SciSearch does not state its pooling."""

_MPNET = system.EncoderWeights("mpnet-1b", "sentence-transformers/all-mpnet-base-v2", "own")
ASPIRE_SYSTEMS = (
    _aspire("ts-aspire", "single", "allenai/aspire-contextualsentence-singlem-compsci"),
    _aspire("max-aspire", "single", None),
    _aspire("abs-aspire", "single", None),
    _aspire("ot-aspire", "transport", "allenai/aspire-contextualsentence-multim-compsci"),
    _aspire("ts+ot-aspire", "transport", None),
    _aspire("att-aspire", "attention", None),
    AspireSystem(
        "ot-mpnet-1b", "aspire", system.ASPIRE, system.FACET, system.EACH_SENTENCE, _MPNET.needs, _MPNET, "transport"
    ),
)
