"""A pooling method of another kind is one class and one name: a language model joins, draws and goes again."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from annot.base.records import Ranking, ScoredDoc, ranked
from annot.pools.frozen_rankings import method_settings, read_rankings
from annot.pools.pool_design import DesignOverrides
from annot.ranking.corpus import Corpus, Field, Rule, Sparse, with_data
from annot.ranking.methods import METHODS, by_terms
from annot.ranking.search import TermFormula
from annot.steps.pool import build
from annot.store import papers, pools
from numpy.typing import NDArray
from small_study import QUERIES, Small
from study_stages import copied, quietly

MU = 3.0
NAME = "abs_dirichlet"


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
    totals = corpus.totals(field, "words")
    return Dirichlet(totals / totals.sum())


def words(text: str) -> list[str]:
    return text.lower().replace(".", "").split()


def test_a_language_model_draws_a_pool_and_can_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ws = copied(Small(), "queried", tmp_path / "study").replaced("pool", methods=(NAME,), per_method=3, ranking_depth=9)
    with monkeypatch.context() as registered:
        registered.setitem(METHODS, NAME, by_terms("abstract", fit, {"tokens": "words", "mu": MU}))
        build(ws, overrides=DesignOverrides(), redraw=False, frozen=False, grow=False, dry_run=False, advance=quietly)
    assert NAME not in METHODS
    assert method_settings(ws) == {NAME: {"tokens": "words", "mu": MU}}
    texts = {paper.paper_id: words(" ".join(paper.sentences)) for paper in papers.read_papers(ws.corpus)}
    total = Counter(word for text in texts.values() for word in text)

    def likelihood(query: list[str], document: list[str]) -> float:
        smoothed = (document.count(word) + MU * total[word] / total.total() for word in query)
        return sum(math.log(share / (len(document) + MU) / (total[word] / total.total()))
                   for word, share in zip(query, smoothed, strict=True))  # fmt: skip

    def expected(topic_id: str) -> Ranking:
        return ranked(
            ScoredDoc(doc_id, likelihood(texts[topic_id], text))
            for doc_id, text in texts.items()
            if doc_id != topic_id and {*text} & {*texts[topic_id]}
        )[:9]

    topics = [query.topic_id for query in QUERIES]
    rankings = read_rankings(ws, {NAME: topics})[NAME]
    with ws.reading() as session:
        drawn = pools.read_pools(session)
    for topic_id in topics:
        assert [doc.doc_id for doc in rankings[topic_id]] == [doc.doc_id for doc in expected(topic_id)]
        assert [doc.score for doc in rankings[topic_id]] == pytest.approx(
            [doc.score for doc in expected(topic_id)], rel=1e-5
        )
        assert [entry.doc_id for entry in drawn[topic_id].entries] == [doc.doc_id for doc in expected(topic_id)[:3]]
