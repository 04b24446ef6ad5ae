"""A pooling method of another kind is one class and one name: a language model joins, draws and goes again."""

import importlib
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Ranking, ScoredDoc, ranked
from annot.pools.frozen_rankings import method_settings, read_rankings
from annot.pools.pool_design import DesignOverrides
from annot.ranking.methods import METHODS
from annot.steps.pool import build
from annot.store import papers, pools
from small_study import QUERIES, Small
from study_stages import copied, quietly

NAME = "abs_dirichlet"


def words(text: str) -> list[str]:
    return text.lower().replace(".", "").split()


def test_a_language_model_draws_a_pool_and_can_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "example_plugin"))
    example: Any = importlib.import_module("annot_example.ranking")
    mu = example.MU
    ws = copied(Small(), "queried", tmp_path / "study").replaced("pool", methods=(NAME,), per_method=3, ranking_depth=9)
    with monkeypatch.context() as registered:
        registered.setitem(METHODS, NAME, example.DIRICHLET)
        build(ws, overrides=DesignOverrides(), redraw=False, frozen=False, grow=False, dry_run=False, advance=quietly)
    assert NAME not in METHODS
    assert method_settings(ws) == {NAME: {"tokens": "words", "mu": mu}}
    texts = {paper.paper_id: words(" ".join(paper.sentences)) for paper in papers.read_papers(ws.corpus)}
    total = Counter(word for text in texts.values() for word in text)

    def likelihood(query: list[str], document: list[str]) -> float:
        smoothed = (document.count(word) + mu * total[word] / total.total() for word in query)
        return sum(math.log(share / (len(document) + mu) / (total[word] / total.total()))
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
