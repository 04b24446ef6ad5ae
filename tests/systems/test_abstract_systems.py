"""Systems of one vector for a paper, with vectors small enough to check by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.ranking.search import Metric
from annot.ranking.systems import papers
from annot.ranking.systems.system import PooledQuery, SentenceVectors
from annot.ranking.vectors import Vectors, topic_name
from annot_systems import sentences

PLACES = {
    "zero": [0, 0],
    "far": [4, 0],
    "near": [1, 1],
    "paper": [1, 0],
    "beyond": [-9, 0],
    topic_name("T1", "A question"): [1, 0],
    topic_name("T2", "Before it was changed"): [1, 0],
    "T1": [-9, 0],
}


def topic(*doc_ids: str, paper_id: str = "paper", at: tuple[int, ...] = (0,)) -> PooledQuery:
    return PooledQuery("q", paper_id, "method", at, False, doc_ids)


def inputs(*topics: PooledQuery, metric: Metric = "l2", own: bool = True) -> Any:
    matrix = np.array(list(PLACES.values()), dtype=np.float16)
    vectors = Vectors(strings_of(PLACES), matrix, "ours", "ours", metric, {"seed": 3})
    return SimpleNamespace(
        topics=topics, own_vectors=lambda _: vectors if own else None, paper_vectors=lambda _: vectors
    )


@pytest.mark.parametrize(
    ("metric", "best", "second"), [("l2", ("near", -1.0), ("far", -3.0)), ("cosine", ("far", 1.0), ("near", 0.5**0.5))]
)
def test_papers_come_in_the_order_of_the_metric_and_a_vector_of_zeros_comes_last(
    metric: Metric, best: tuple[str, float], second: tuple[str, float]
) -> None:
    found = papers.own_system("mine").rank(inputs(topic("zero", "far", "near"), metric=metric))
    order = found.rankings["q"]
    assert [doc.doc_id for doc in order] == [best[0], second[0], "zero"]
    assert [doc.score for doc in order[:2]] == pytest.approx([best[1], second[1]], abs=1e-5)


def test_even_the_farthest_paper_comes_before_one_whose_vector_is_zero() -> None:
    found = papers.own_system("mine").rank(inputs(topic("zero", "beyond")))
    assert [doc.doc_id for doc in found.rankings["q"]] == ["beyond", "zero"]


def test_a_query_whose_vector_is_zero_ranks_all_papers_alike() -> None:
    found = papers.own_system("mine").rank(inputs(topic("far", "near", paper_id="zero")))
    assert len({doc.score for doc in found.rankings["q"]}) == 1


def test_a_text_is_ranked_by_its_own_vector_and_left_out_without_one() -> None:
    # A document has the id of the topic.
    known = PooledQuery("T1", "T1", "whole", (), True, ("T1", "zero", "far", "near"), "A question")
    other = PooledQuery("T2", "T2", "whole", (), True, ("far",), "Another")
    asked = inputs(known, other, topic("near"))
    system = papers.own_system("mine")
    assert [one.query_id for one in system.topics(asked)] == ["T1", "q"]
    found = system.rank(asked)
    assert {name: [doc.doc_id for doc in docs] for name, docs in found.rankings.items()} == {
        "T1": ["near", "far", "T1", "zero"],
        "q": ["near"],
    }
    assert set(system.features(asked).queries) == {"T1", "q"}
    assert [one.query_id for one in system.topics(inputs(known, topic("near"), own=False))] == ["q"]
    # Weights read any text.
    by_weights = papers.VECTOR_SYSTEMS[0]
    assert by_weights.weights is not None
    assert [one.query_id for one in by_weights.topics(inputs(known, other, own=False))] == ["T1", "T2"]
    assert [doc.doc_id for doc in by_weights.rank(inputs(known, own=False)).rankings["T1"]][:2] == ["near", "far"]


def test_every_paper_without_a_vector_is_named_once() -> None:
    asked = inputs(topic("near", "x", "y"), topic("x", paper_id="z"))
    with pytest.raises(InputError, match="papers have no vector") as caught:
        papers.own_system("mine").rank(asked)
    assert list(caught.value.faults) == ["x: no vector", "y: no vector", "z: no vector"]


@pytest.mark.parametrize(
    ("name", "own", "lacks"), [("specter2", True, None), ("specter2", False, "its adapter"), ("specter", False, None)]
)
def test_a_run_says_what_the_weights_lack_where_they_made_its_vectors(name: str, own: bool, lacks: str | None) -> None:
    (system,) = (one for one in papers.VECTOR_SYSTEMS if one.name == name)
    ranked = system.rank(inputs(topic("near"), own=own))
    facts = ranked.facts
    assert (ranked.matches, ranked.given_up) == (None, 0)
    assert facts.get("lacks") == lacks
    assert facts["query"] == facts["candidate"] == "title and abstract"
    assert facts["vectors"] == {"model": "ours", "space": "ours", "metric": "l2", "dimensions": 2, "seed": 3}


def test_features_are_the_vectors_of_the_query_paper_and_of_each_candidate() -> None:
    found = papers.own_system("mine").features(inputs(topic("near", "far")))
    assert {key: row.tolist() for key, row in found.queries.items()} == {"q": [1, 0]}
    assert {key: row.tolist() for key, row in found.candidates.items()} == {"near": [1, 1], "far": [4, 0]}
    assert found.queries["q"].dtype == np.float32


@pytest.mark.parametrize(("at", "mean"), [((0, 1), [1, 3]), ((1,), [2, 4]), ((1, 2), [2, 4]), ((2,), [0, 0])])
def test_features_of_sentences_are_means_of_those_that_the_encoder_read(at: tuple[int, ...], mean: list[int]) -> None:
    matrix = np.array([[0, 2], [2, 4], [6, 8]], dtype=np.float32)
    vectors = SentenceVectors(("paper", "near", "none"), np.array([0, 2, 3, 3]), matrix, {})
    asked: Any = SimpleNamespace(topics=[topic("near", "none", at=at)], sentence_vectors=lambda _: vectors)
    found = sentences.own_system("mine").features(asked)
    assert found.queries["q"].tolist() == mean
    assert {key: row.tolist() for key, row in found.candidates.items()} == {"near": [6, 8], "none": [0, 0]}
