"""Two ways to train and test SciSearch: honest folds by query paper, and the paper's own, which tests what it trained.

Honest: in each fold everything that is learned or chosen (oversampling, early stopping, and for the ensemble the
encoder of each facet) sees training queries only; a quarter of these, whole queries, tells when to stop.
The paper's own: SMOTE over all pairs, then pairs, not queries, split 40/15/45, and every query tested with all its
candidates, those that were trained on included. It is here as a demonstration of what that does to a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annot.base.ordering import ranked
from annot.base.records import Qrel, Query, Ranking, ScoredDoc
from annot.ranking.systems.scisearch_network import Loss, Pairs, Score, Vectors, balanced, train

Protocol = Literal["folds", "leaky", "untrained"]
WATCHED_SHARE = 0.25
"""The share of training queries that early stopping watches, one at least."""
OWN_SHARES = (0.40, 0.15)
"""What the paper's own protocol trains on and watches; the rest it tests."""
Documents = Mapping[str, Sequence[str]]
"""What is to be ranked for each query."""
Level = Callable[[Mapping[str, Ranking], Sequence[Qrel]], float]
"""How good rankings are, by grades."""


@dataclass(frozen=True)
class Features:
    """Vectors of queries and of candidates from one encoder, by id."""

    name: str
    queries: Mapping[str, Vectors]
    candidates: Mapping[str, Vectors]

    def pairs(self, qrels: Sequence[Qrel]) -> Pairs:
        """The vectors and grades of judged pairs."""
        return Pairs(
            np.stack([self.queries[qrel.query_id] for qrel in qrels]),
            np.stack([self.candidates[qrel.doc_id] for qrel in qrels]),
            np.array([qrel.relevance for qrel in qrels]),
        )


def honest(
    features: Sequence[Features],
    queries: Sequence[Query],
    qrels: Sequence[Qrel],
    documents: Documents,
    *,
    level: Level,
    folds: Sequence[Sequence[str]],
    loss: Loss,
    grades: int,
    seed: int,
) -> tuple[dict[str, Ranking], dict[str, str]]:
    """Rank each fold by a network that was trained on the others, one for each facet.

    features: where there are several, the one is taken that ranks the watched training queries best by `level`. folds:
    query ids.
    Returns the rankings and, for each fold and facet, the features that were taken.
    """
    rankings: dict[str, Ranking] = {}
    taken: dict[str, str] = {}
    for number, fold in enumerate(folds, start=1):
        for facet, tested in by_facet(queries, fold).items():
            learned = [one.query_id for one in learned_from(queries, fold, facet)]
            np.random.default_rng([seed, number]).shuffle(learned)
            watched = set(learned[: max(1, round(WATCHED_SHARE * len(learned)))])
            seen = [qrel for qrel in qrels if qrel.query_id in learned and qrel.query_id not in watched]
            watching = [qrel for qrel in qrels if qrel.query_id in watched]
            best: tuple[float, Features, Score] | None = None
            for one in features:
                pairs = balanced(one.pairs(seen), seed=seed)
                score = train(pairs, one.pairs(watching), loss=loss, grades=grades, seed=seed)
                reached = level(_ranked(one, score, _judged(watching)), watching) if len(features) > 1 else 0.0
                if best is None or reached > best[0]:
                    best = reached, one, score
            assert best is not None, "there are features"
            taken[f"fold{number} {facet}"] = best[1].name
            rankings |= _ranked(best[1], best[2], {one.query_id: documents[one.query_id] for one in tested})
    return rankings, taken


def by_facet(queries: Sequence[Query], fold: Sequence[str]) -> dict[str, list[Query]]:
    """The queries of the fold that each network is tested on."""
    of = {query.query_id: query for query in queries}
    found: dict[str, list[Query]] = {}
    for query_id in fold:
        found.setdefault(of[query_id].facet, []).append(of[query_id])
    return found


def learned_from(queries: Sequence[Query], fold: Sequence[str], facet: str) -> list[Query]:
    """The queries outside the fold that the network of this facet may learn from: those of the facet, or of all facets
    where these are too few."""
    outside = [one for one in queries if one.query_id not in fold]
    own = [one for one in outside if one.facet == facet]
    return own if len(own) > 1 else outside


def leaky(
    features: Features,
    queries: Sequence[Query],
    qrels: Sequence[Qrel],
    documents: Documents,
    *,
    loss: Loss,
    grades: int,
    seed: int,
) -> dict[str, Ranking]:
    """The paper's own protocol, a network for each facet. What it ranks it was trained on: no figure for a table."""
    rankings: dict[str, Ranking] = {}
    for facet in dict.fromkeys(query.facet for query in queries):
        members = {query.query_id for query in queries if query.facet == facet}
        judged = [qrel for qrel in qrels if qrel.query_id in members]
        pairs = balanced(features.pairs(judged), seed=seed)
        order = np.random.default_rng(seed).permutation(len(pairs.grades))
        first, second = (round(share * len(order)) for share in (OWN_SHARES[0], sum(OWN_SHARES)))
        learned, watched = (
            Pairs(pairs.queries[rows], pairs.candidates[rows], pairs.grades[rows])
            for rows in (order[:first], order[first:second])
        )
        score = train(learned, watched, loss=loss, grades=grades, seed=seed)
        rankings |= _ranked(features, score, {query_id: documents[query_id] for query_id in sorted(members)})
    return rankings


def untrained(features: Features, documents: Documents) -> dict[str, Ranking]:
    """The cosines of the same features: what training has to beat."""

    def cosine(left: Vectors, right: Vectors) -> Vectors:
        lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        return np.asarray((left * right).sum(axis=1) / np.where(lengths > 0, lengths, 1))

    return _ranked(features, lambda left, right: cosine(left, right).astype(np.float64), documents)


def _ranked(features: Features, score: Score, documents: Documents) -> dict[str, Ranking]:
    rankings = {}
    for query_id, doc_ids in documents.items():
        candidates = np.stack([features.candidates[doc_id] for doc_id in doc_ids])
        queries = np.broadcast_to(features.queries[query_id], candidates.shape)
        rankings[query_id] = ranked(map(ScoredDoc, doc_ids, score(queries, candidates).tolist()))
    return rankings


def _judged(qrels: Sequence[Qrel]) -> dict[str, list[str]]:
    documents: dict[str, list[str]] = {}
    for qrel in qrels:
        documents.setdefault(qrel.query_id, []).append(qrel.doc_id)
    return documents
