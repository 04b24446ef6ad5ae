"""SciSearch: a small network over the vectors of query and candidate, trained on the grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from annot.base.errors import MissingInput
from annot.base.libraries import torch
from annot.base.records import Qrel, Query, Ranking, ScoredDoc, grouped, ranked
from annot.base.settings import SystemSettings
from annot.base.stats.arrays import Array, Integers, Matrix
from annot.ranking.methods import LSA
from annot.ranking.systems import system

# ----------------------------------------------------------------------------------------------------------------------
# The network of SciSearch and its two losses, in torch; everything here imports it when it is called.
#
# Two fully connected layers with tanh over the vector of the query and over that of the candidate, their dot product,
# and a linear layer from it to a logit for each grade (section 5.2 of the paper). Losses: the negative log
# likelihood, and the Kullback-Leibler divergence between a Gaussian around the grade and the Gaussian fitted to the
# probabilities (section 5.3); the paper does not state its width, which is 1 here, and probabilities are fitted by
# their moments.
# ----------------------------------------------------------------------------------------------------------------------


Loss = Literal["nll", "kl"]
WIDTH = 1.0
LEAST_VARIANCE = 1e-3
BATCH, LEARNING_RATE, PATIENCE, MOST_EPOCHS = 16, 0.01, 4, 60
NEIGHBOURS = 5


class Pairs(NamedTuple):
    """Pairs to learn from: vectors of query and candidate, shape (pairs, dimensions), and grades, shape (pairs,)."""

    queries: Matrix
    candidates: Matrix
    grades: Integers


Score = Callable[[Matrix, Matrix], Array]
"""The expected grade of pairs of vectors: continuous, so that ties are rare; the usual rule breaks them."""


def train(pairs: Pairs, held_out: Pairs, *, loss: Loss, grades: int, seed: int) -> Score:
    """Train until the loss on `held_out` has not fallen for `PATIENCE` epochs; the weights of the best epoch score.

    pairs: already balanced (`balanced`). grades: their number. seed: of weights and batches.
    """
    generator = torch.Generator().manual_seed(seed)
    model = _network(pairs.queries.shape[1], grades, generator)
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    left, right = (torch.from_numpy(np.ascontiguousarray(side)) for side in pairs[:2])
    target = torch.from_numpy(pairs.grades)
    watched = tuple(torch.from_numpy(np.ascontiguousarray(part)) for part in held_out)
    best, epochs_since_best, best_weights = float("inf"), 0, {}
    for _ in range(MOST_EPOCHS):
        for batch in torch.randperm(len(target), generator=generator).split(BATCH):
            optimiser.zero_grad()
            LOSSES[loss](_logits(model, left[batch], right[batch]), target[batch]).backward()
            optimiser.step()
        with torch.no_grad():
            held_out_loss = float(LOSSES[loss](_logits(model, *watched[:2]), watched[2]))
        if held_out_loss < best:
            best, epochs_since_best = held_out_loss, 0
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            epochs_since_best += 1
            if epochs_since_best >= PATIENCE:
                break
    if best_weights:
        model.load_state_dict(best_weights)

    def score(queries: Matrix, candidates: Matrix) -> Array:
        with torch.no_grad():
            logits = _logits(model, *(torch.from_numpy(np.ascontiguousarray(part)) for part in (queries, candidates)))
            expected = torch.softmax(logits, dim=1) @ torch.arange(grades, dtype=torch.float32)
        return np.asarray(expected.numpy(), dtype=np.float64)

    return score


def balanced(pairs: Pairs, *, seed: int) -> Pairs:
    """Pairs in equal numbers for every grade, as many as the commonest has, by SMOTE over query and candidate together.

    A grade with a single pair has no neighbour and is repeated.
    """
    from imblearn.over_sampling import SMOTE, RandomOverSampler

    joined, grades = np.hstack([pairs.queries, pairs.candidates]), pairs.grades
    counts = np.unique(grades, return_counts=True)[1]
    if len(counts) > 1:
        neighbours = min(NEIGHBOURS, int(counts.min()) - 1)
        sampler = (
            SMOTE(random_state=seed, k_neighbors=neighbours) if neighbours else RandomOverSampler(random_state=seed)
        )
        joined, grades = sampler.fit_resample(joined, grades)
    width = pairs.queries.shape[1]
    return Pairs(joined[:, :width].astype(np.float32), joined[:, width:].astype(np.float32), grades.astype(np.int64))


def nll(logits: Any, grades: Any) -> Any:
    """The mean negative log likelihood of the grades."""
    return torch.nn.functional.cross_entropy(logits, grades)


def kl(logits: Any, grades: Any) -> Any:
    """The mean of KL(N(grade, WIDTH^2) || N(mean, variance)), the latter the moments of the probabilities."""
    shares = torch.softmax(logits, dim=1)
    scale = torch.arange(logits.shape[1], dtype=shares.dtype)
    mean = shares @ scale
    variance = (shares * (scale - mean[:, None]) ** 2).sum(dim=1).clamp(min=LEAST_VARIANCE)
    return (0.5 * (torch.log(variance / WIDTH**2) + (WIDTH**2 + (grades - mean) ** 2) / variance - 1)).mean()


LOSSES: dict[Loss, Callable[[Any, Any], Any]] = {"nll": nll, "kl": kl}


def _network(width: int, grades: int, generator: Any) -> Any:
    def linear(inputs: int, outputs: int) -> Any:
        layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs)
        bound = inputs**-0.5
        with torch.no_grad():
            for values in layer.parameters():
                values.uniform_(-bound, bound, generator=generator)
        return layer

    tuning = torch.nn.Sequential(linear(width, width), torch.nn.Tanh(), linear(width, width), torch.nn.Tanh())
    return torch.nn.ModuleDict({"tuning": tuning, "relevance": linear(1, grades)})


def _logits(model: Any, queries: Any, candidates: Any) -> Any:
    product = (model["tuning"](queries) * model["tuning"](candidates)).sum(dim=1, keepdim=True)
    return model["relevance"](product)


# ----------------------------------------------------------------------------------------------------------------------
# SciSearch: a small network over the vectors of query and candidate, trained on the grades.
#
# Folds by query paper: in each fold everything that is learned or chosen (oversampling, early stopping) sees training
# queries only; a quarter of these, whole queries, decides when to stop. The paper's own protocol splits pairs and not
# queries, and so tests on training data; it is not offered.
# ----------------------------------------------------------------------------------------------------------------------


WATCHED_SHARE = 0.25
"""The share of training queries that early stopping watches, one at least."""
Documents = Mapping[str, Sequence[str]]
"""Documents to rank for each query."""


@dataclass(frozen=True, slots=True)
class SciSearchSystem(system.System):
    """System of a small network that is trained on the grades."""

    loss: Loss | None
    """Loss of the training; None if nothing is trained."""

    def rank(self, inputs: system.SystemInputs) -> system.RankedPools:
        """Train on the grades and rank every pool; the untrained one ranks without grades.

        Each fold on record is ranked by a network trained on all other queries; a query in no fold is not ranked.
        Raises MissingInput without grades or libraries, LeakError if a near-copy of a query paper is learned from.
        """
        features, topics = inputs.features(inputs.settings.features), self.topics(inputs)
        facts: dict[str, Any] = {**self.views, "features": features.name}
        documents = {topic.query_id: topic.doc_ids for topic in topics}
        if self.loss is None:
            return system.RankedPools(untrained(features, documents), {**facts, "similarity": "cosine"})
        _prepare_libraries()
        grades = inputs.grades
        queries = [Query(topic.query_id, topic.topic_id, topic.facet, topic.sentences) for topic in topics]
        pooled_pairs = {(topic.query_id, doc_id) for topic in topics for doc_id in topic.doc_ids}
        judged = [qrel for qrel in grades.qrels if (qrel.query_id, qrel.doc_id) in pooled_pairs]
        if not judged:
            raise MissingInput(
                f"{self.name}: found no final grades, expected some to learn from", hint="make them with `annot qrels`"
            )
        facts |= {"loss": self.loss, "seed": grades.seed}
        folds, drawn_now = grades.folds(queries)
        facts |= _training_overlaps(grades, queries, folds, documents)
        rankings = rank_held_out(
            *(features, queries, judged, documents), folds=folds, loss=self.loss, grades=grades.count, seed=grades.seed
        )
        return system.RankedPools(rankings, {**facts, "folds": folds, "drawn": drawn_now})

    def index_methods(self, settings: SystemSettings) -> Sequence[str]:
        """Methods of its features."""
        return [LSA] if settings.features == LSA else []


def _system(name: str, loss: Loss | None, about: str = "") -> SciSearchSystem:
    needs = f"{'torch, grades, and ' if loss else ''}the features named in annot.toml"
    return SciSearchSystem(
        name, "scisearch", f"{system.SCISEARCH}{about}", system.FACET, system.ABSTRACT, needs, None, loss
    )


SYSTEMS = (
    _system("scisearch-nll", "nll"),
    _system("scisearch-kl", "kl"),
    _system("scisearch-untrained", None, ", its features without training"),
)


def _prepare_libraries() -> None:
    system.require_libraries("scisearch", "imblearn", "torch")
    # More threads only wait for each other over networks this small.
    torch.set_num_threads(1)


def _training_overlaps(
    grades: system.Grades, queries: Sequence[Query], folds: Sequence[Sequence[str]], documents: Documents
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


def rank_held_out(
    features: system.Features,
    queries: Sequence[Query],
    qrels: Sequence[Qrel],
    documents: Documents,
    *,
    folds: Sequence[Sequence[str]],
    loss: Loss,
    grades: int,
    seed: int,
) -> dict[str, Ranking]:
    """Rank each fold by a network that was trained on the others, one for each facet. folds: query ids."""
    rankings: dict[str, Ranking] = {}
    for number, fold in enumerate(folds, start=1):
        for facet, tested in by_facet(queries, fold).items():
            learned = [query.query_id for query in learned_from(queries, fold, facet)]
            np.random.default_rng([seed, number]).shuffle(learned)
            watched = set(learned[: max(1, round(WATCHED_SHARE * len(learned)))])
            training = [qrel for qrel in qrels if qrel.query_id in learned and qrel.query_id not in watched]
            watching = [qrel for qrel in qrels if qrel.query_id in watched]
            pairs = balanced(_pairs(features, training), seed=seed)
            score = train(pairs, _pairs(features, watching), loss=loss, grades=grades, seed=seed)
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


def untrained(features: system.Features, documents: Documents) -> dict[str, Ranking]:
    """Cosines of the same features: the baseline that training has to beat."""

    def cosine(left: Matrix, right: Matrix) -> Array:
        lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        return np.asarray((left * right).sum(axis=1) / np.where(lengths > 0, lengths, 1), dtype=np.float64)

    return _ranked(features, cosine, documents)


def _pairs(features: system.Features, qrels: Sequence[Qrel]) -> Pairs:
    """The vectors and grades of judged pairs."""
    return Pairs(
        np.stack([features.queries[qrel.query_id] for qrel in qrels]),
        np.stack([features.candidates[qrel.doc_id] for qrel in qrels]),
        np.array([qrel.relevance for qrel in qrels]),
    )


def _ranked(features: system.Features, score: Score, documents: Documents) -> dict[str, Ranking]:
    rankings = {}
    for query_id, doc_ids in documents.items():
        candidates = np.stack([features.candidates[doc_id] for doc_id in doc_ids])
        queries = np.broadcast_to(features.queries[query_id], candidates.shape)
        rankings[query_id] = ranked(map(ScoredDoc, doc_ids, score(queries, candidates).tolist()))
    return rankings
