"""Runs and gradings whose assessor effect is looked at."""

from collections.abc import Mapping, Sequence

import numpy as np
from annot.base.records import Judgement, Qrel, Ranking, ScoredDoc, ranked
from annot.measuring import assessor_effect
from annot.measuring.agreement.estimates import QueryRatings
from annot.measuring.assessor_effect import AssessorEffect, EffectSettings

SETTINGS = EffectSettings(
    convention="csfcube",
    measure="NDCG%20",
    relevant_from=2,
    n_random=100,
    alpha=0.05,
    permutations=1000,
    level=0.95,
    seed=13,
)

Runs = Mapping[str, Mapping[str, Ranking]]


def assessor_effect_on_runs(
    runs: Runs,
    judgements: Sequence[Judgement],
    qrels: Sequence[Qrel],
    settings: EffectSettings,
    papers: Mapping[str, str] | None = None,
) -> AssessorEffect:
    """papers: where nothing else is said, each query has a paper of its own."""
    of = papers or {one.query_id: one.query_id for one in (*judgements, *qrels)}
    return assessor_effect.assessor_effect_on_runs(runs, judgements, qrels, settings, topics=of)


def in_order(doc_ids: Sequence[str]) -> Ranking:
    return tuple(ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate(doc_ids))


def judged(grades: Mapping[str, Mapping[str, Sequence[int | None]]]) -> list[Judgement]:
    """Judgements of documents d00, d01, ... by query and assessor; None where there is no grade."""
    return [
        Judgement(query_id, f"d{at:02}", assessor, grade)
        for query_id, by_assessor in grades.items()
        for assessor, row in by_assessor.items()
        for at, grade in enumerate(row)
    ]


def final_of(grades: Mapping[str, Sequence[int]]) -> list[Qrel]:
    return [Qrel(query_id, f"d{at:02}", grade) for query_id, row in grades.items() for at, grade in enumerate(row)]


def means(found: AssessorEffect) -> dict[str, dict[str, float]]:
    return {one.name: one.means for one in found.rankings}


def comparison(found: AssessorEffect, first: str, second: str = "final"):
    (one,) = [one for one in found.comparisons if (one.first, one.second) == (first, second)]
    return one


def study(
    *, n_queries: int, n_docs: int, noise: Sequence[float], seed: int
) -> tuple[Runs, list[Judgement], list[Qrel]]:
    """Runs that see the true grade through ever more noise; two assessors who are wrong on a fifth of the pairs."""
    rng = np.random.default_rng(seed)
    runs: dict[str, dict[str, Ranking]] = {f"r{at}": {} for at in range(len(noise))}
    grades: dict[str, dict[str, list[int | None]]] = {}
    final: dict[str, list[int]] = {}
    for query in range(n_queries):
        query_id = f"q{query:02}"
        true = rng.choice(4, p=[0.6, 0.2, 0.15, 0.05], size=n_docs)
        final[query_id] = true.tolist()
        team = ("a1", "a2") if query % 2 else ("a3", "a2")
        grades[query_id] = {
            name: np.where(rng.random(n_docs) < 0.2, rng.integers(0, 4, n_docs), true).tolist() for name in team
        }
        for tag, sigma in zip(runs, noise, strict=True):
            scores = true + rng.normal(0, sigma, n_docs)
            runs[tag][query_id] = ranked(ScoredDoc(f"d{at:02}", float(score)) for at, score in enumerate(scores))
    return runs, judged(grades), final_of(final)


def cell(ratings: Sequence[Sequence[float]], query_id: str = "q") -> QueryRatings:
    array = np.array(ratings, dtype=float)
    names = tuple(f"a{at}" for at in range(len(array)))
    docs = tuple(f"d{at}" for at in range(array.shape[1]))
    nowhere, unsettled = np.zeros(len(docs), dtype=bool), np.zeros(len(docs))
    asked = np.ones(array.shape, dtype=bool)
    return QueryRatings(query_id, "", names, docs, array, asked, unsettled, nowhere, np.ones(len(docs)))
