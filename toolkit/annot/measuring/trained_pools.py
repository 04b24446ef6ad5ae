"""The pools of a study ranked by SciSearch: its features, its grades, its folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from annot.base.errors import InputError, MissingInput
from annot.base.records import Paper, Qrel, Query, Ranking
from annot.measuring.evaluation.measures import TIES, evaluate
from annot.measuring.folds.grouped import grouped_folds
from annot.measuring.folds.leaks import find_leaks, near_copies, refuse_leaks
from annot.ranking.methods import Bench
from annot.ranking.systems.scisearch import Features, by_facet, honest, leaky, learned_from, untrained
from annot.ranking.systems.scisearch_systems import SciSearchSystem
from annot.ranking.systems.sentence_vectors import Matrix, SentenceVectors
from annot.ranking.systems.system import Made, Topic
from annot.ranking.systems.weights import INSTALL
from annot.ranking.vectors import Vectors

FOLDS = 2
MEASURE, CONVENTION = "NDCG%20", "csfcube"
DEMONSTRATION = "trained on what it tests: no figure of this run says how well it ranks"


def rank(
    system: SciSearchSystem,
    topics: Sequence[Topic],
    features: Sequence[Features],
    qrels: Sequence[Qrel],
    papers: Mapping[str, Paper],
    *,
    recorded: Sequence[Sequence[str]],
    grades: int,
    seed: int,
) -> Made:
    """Train on the grades and rank every pool; the untrained one ranks without grades.

    recorded: the test folds on record, of which each is ranked by what was learned from all other queries; what is in
    none of them is not ranked. Where there are none, folds are drawn. Raises MissingInput without grades or libraries,
    LeakError where a near-copy of a query paper is learned from.
    """
    facts: dict[str, Any] = {"query": system.query, "candidate": system.candidate}
    names = [one.name for one in features]
    if len(features) > 1 and system.protocol != "folds":
        raise InputError(f"{system.name}: {len(features)} features, expected one", hint="[systems] features")
    documents = {topic.query_id: topic.doc_ids for topic in topics}
    if system.loss is None:
        return Made(untrained(features[0], documents), {**facts, "features": names, "similarity": "cosine"})
    _prepare_libraries()
    queries = [Query(topic.query_id, topic.paper_id, topic.facet, topic.sentences) for topic in topics]
    known = {(topic.query_id, doc_id) for topic in topics for doc_id in topic.doc_ids}
    judged = [qrel for qrel in qrels if (qrel.query_id, qrel.doc_id) in known]
    if not judged:
        raise MissingInput(f"{system.name}: no final grades to learn from", hint="make them with `annot qrels`")
    facts |= {"loss": system.loss, "seed": seed}
    if system.protocol == "leaky":
        found = leaky(features[0], queries, judged, documents, loss=system.loss, grades=grades, seed=seed)
        return Made(found, {**facts, "features": names, "demonstration": DEMONSTRATION})
    folds = [[one for one in fold if one in documents] for fold in recorded]
    if not any(folds):
        copies = near_copies(papers[paper_id] for paper_id in {query.paper_id for query in queries})
        folds = [list(fold) for fold in grouped_folds(queries, copies=copies, count=FOLDS, seed=seed)]
    shared, other_way_round = [], []
    for number, fold in enumerate(folds, start=1):
        sharing: set[str] = set()
        each_other: set[tuple[str, str]] = set()
        for facet, tested in by_facet(queries, fold).items():
            leaks = find_leaks(learned_from(queries, fold, facet), tested, pools=documents, papers=papers)
            refuse_leaks(leaks, where=f"fold {number}, {facet}")
            sharing.update(leaks.candidates)
            each_other.update(leaks.other_way_round)
        shared.append(len(sharing))
        other_way_round.append(len(each_other))
    rankings, taken = honest(
        features,
        queries,
        judged,
        documents,
        level=_level,
        folds=folds,
        loss=system.loss,
        grades=grades,
        seed=seed,
    )
    facts |= {"candidates_in_both_sides": shared, "pairs_the_other_way_round": other_way_round}
    return Made(rankings, {**facts, "features": taken, "folds": folds, "drawn": not any(recorded)})


def of_lsa(topics: Sequence[Topic], bench: Bench) -> Features:
    """The decomposition's rows, and the queries folded in."""
    vectors = bench.vectors["lsa"]
    queries = {
        topic.query_id: bench.fold_in(bench.corpus.sentences(topic.paper_id, topic.sentences, "terms"))
        for topic in topics
    }
    return Features("lsa", queries, _rows(topics, lambda doc_id: vectors.matrix[vectors.rows[doc_id]]))


def of_sentences(name: str, topics: Sequence[Topic], vectors: SentenceVectors) -> Features:
    """The mean of the facet's sentences, and of all sentences of a candidate."""

    def mean(rows: Matrix) -> Matrix:
        return rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1], dtype=np.float32)

    queries = {
        topic.query_id: mean(
            vectors.of(topic.paper_id)[[at for at in topic.sentences if at < len(vectors.of(topic.paper_id))]]
        )
        for topic in topics
    }
    return Features(name, queries, _rows(topics, lambda doc_id: mean(vectors.of(doc_id))))


def of_abstracts(name: str, topics: Sequence[Topic], vectors: Vectors) -> Features:
    """The vector of the query paper, whatever the facet, and that of a candidate."""

    def row(paper_id: str) -> Matrix:
        return np.asarray(vectors.matrix[vectors.rows[paper_id]], dtype=np.float32)

    return Features(name, {topic.query_id: row(topic.paper_id) for topic in topics}, _rows(topics, row))


def _rows(topics: Sequence[Topic], row: Callable[[str], Matrix]) -> dict[str, Matrix]:
    return {doc_id: np.asarray(row(doc_id)) for topic in topics for doc_id in topic.doc_ids}


def _level(rankings: Mapping[str, Ranking], qrels: Sequence[Qrel]) -> float:
    told = evaluate(dict(rankings), qrels, convention=CONVENTION, relevant_from=2, ties=TIES[0])
    return float(np.mean([query.values[MEASURE] for query in told.queries]))


def _prepare_libraries() -> None:
    try:
        import imblearn  # noqa: F401
        import torch
    except ImportError:
        raise MissingInput("scisearch: its libraries are not installed", hint=INSTALL) from None
    # More threads only wait for each other over networks this small.
    torch.set_num_threads(1)
