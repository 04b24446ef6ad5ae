"""Rankings by sentences: the comparisons, documents without a sentence, and the matches."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.records import Query, ScoredDoc
from annot.base.settings import SystemSettings
from annot.formats.trec import Match
from annot.ranking.methods import EMPTY_SCORE
from annot.ranking.systems.system import Features, PooledQuery, RankedPools, SentenceVectors
from annot_systems.scisearch import by_facet, learned_from, untrained
from annot_systems.sentences import (
    ASPIRE_SYSTEMS,
    SYSTEMS,
    Alignment,
    align_by,
    best_pair,
    rank,
    similarities,
)
from annot_systems.training_examples import recipe_of
from annot_systems.training_loop import TrainingState, length_of

ROWS = {
    "q": [[1, 0], [0, 2], [0, 0]],
    "a": [[0, 0], [3, 4]],
    "b": [],
    "c": [[5, 0], [0, 0], [0, 1]],
    "d": [[0, 0]],
}
VECTORS = SentenceVectors(
    tuple(ROWS),
    np.cumsum([0, *map(len, ROWS.values())]),
    np.array([row for rows in ROWS.values() for row in rows], np.float32),
    {"encoder": "e"},
)


def topic(*sentences: int, whole: bool = False) -> PooledQuery:
    return PooledQuery("q-x", "q", "x", sentences, whole, ("a", "b", "c", "d"))


def test_similarities_are_cosines_or_negated_distances() -> None:
    left, right = np.array([[3, 4]], np.float32), np.array([[4, 3], [0, 5]], np.float32)
    assert similarities(left, right, "cosine")[0].tolist() == pytest.approx([24 / 25, 20 / 25])
    assert similarities(left, right, "l2")[0].tolist() == pytest.approx([-math.sqrt(2), -math.sqrt(10)])


def test_a_document_without_a_sentence_comes_last_and_the_best_pair_is_the_match() -> None:
    found = rank([topic(0, 2, 9)], VECTORS, kind="cosine", align=lambda _, parts: best_pair(parts), facts={"x": 1})
    assert found.rankings["q-x"] == (
        *(ScoredDoc("c", 1.0), ScoredDoc("a", 0.6)),
        *(ScoredDoc("b", EMPTY_SCORE), ScoredDoc("d", EMPTY_SCORE)),
    )
    assert found.matches == {
        "q-x": {"a": (Match(0, 1, 1.0, pytest.approx(0.6)),), "c": (Match(0, 0, 1.0, pytest.approx(1.0)),)}
    }
    assert found.facts == {"x": 1, "encoder": "e", "similarity": "cosine"}
    assert found.given_up == 0


def test_each_document_is_matched_by_its_own_sentences() -> None:
    one = PooledQuery("q-x", "q", "x", (0, 1, 3), False, ("c", "a", "b", "c"))
    found = rank([one], VECTORS, kind="cosine", align=lambda _, parts: best_pair(parts), facts={})
    assert [(doc.doc_id, doc.score) for doc in found.rankings["q-x"]] == [
        ("c", 1.0),
        ("c", 1.0),
        ("a", 0.8),
        ("b", EMPTY_SCORE),
    ]
    assert {doc_id: of[0][:2] for doc_id, of in (found.matches or {})["q-x"].items()} == {"c": (0, 0), "a": (1, 1)}


def test_a_query_without_a_vector_ranks_nothing_before_another() -> None:
    for one in (topic(2), topic(3), topic(9), topic()):
        found = rank([one], VECTORS, kind="l2", align=lambda _, parts: best_pair(parts), facts={})
        assert [doc.score for doc in found.rankings["q-x"]] == [EMPTY_SCORE] * 4
        assert found.matches == {"q-x": {}}


def test_matches_of_a_twentieth_of_the_mass_or_more_are_kept_the_heaviest_first() -> None:
    def align(_: PooledQuery, parts: list[np.ndarray]) -> Alignment:
        weights = [np.array([[1.0], [19]]), np.array([[0.99, 0], [99.01, 0]])]
        return Alignment(np.zeros(len(parts)), weights, unconverged=2)

    found = rank([topic(0, 1)], VECTORS, kind="l2", align=align, facts={})
    assert found.matches is not None
    assert [match[:3] for match in found.matches["q-x"]["a"]] == [(1, 1, 19.0), (0, 1, 1.0)]
    assert [match[:2] for match in found.matches["q-x"]["c"]] == [(1, 0)]
    assert (found.facts["plans_given_up"], found.given_up) == (2, 2)


def test_a_whole_abstract_has_a_temperature_of_its_own() -> None:
    parts = [np.array([[-1.0, -2.0]])]
    align = align_by("attention", temperature=1.0, whole_temperature=1e9, eps=0.05)
    e = math.exp(-1)
    assert align(topic(0), parts).scores.tolist() == pytest.approx([-(1 + 2 * e) / (1 + e)])
    assert align(topic(0, whole=True), parts).scores.tolist() == pytest.approx([-1.5])
    single = align_by("single", temperature=1.0, whole_temperature=1.0, eps=0.05)
    assert single(topic(0), parts).scores.tolist() == [-1]
    transport = align_by("transport", temperature=1.0, whole_temperature=1e9, eps=0.05)
    # One query sentence: the plan is the mass of the candidate's sentences.
    assert transport(topic(0), parts).scores.tolist() == pytest.approx([-(1 + 2 * e) / (1 + e)])
    assert transport(topic(0, whole=True), parts).scores.tolist() == pytest.approx([-1.5])


def test_systems_compare_as_their_papers_do() -> None:
    assert {one.name for one in SYSTEMS if one.similarity == "l2"} == {"mpnet-1b", "cosentbert", "ictsentbert"}
    assert {one.name for one in ASPIRE_SYSTEMS if one.matching == "transport"} == {
        *("ot-aspire", "ts+ot-aspire", "ot-mpnet-1b"),
    }


def aspire(name: str, **settings: Any) -> RankedPools:
    (system,) = (one for one in ASPIRE_SYSTEMS if one.name == name)
    inputs: Any = SimpleNamespace(
        topics=[topic(0, 1)], settings=SystemSettings(**settings), sentence_vectors=lambda _: VECTORS
    )
    return system.rank(inputs)


def test_a_run_of_aspire_records_the_settings_that_its_matching_has() -> None:
    heats = {"temperature": 0.5, "whole_temperature": 5000}
    recorded = {"temperature", "whole_temperature", "lambda"}
    for name, expected in (
        ("ts-aspire", {}),
        ("att-aspire", heats),
        ("ot-aspire", {**heats, "lambda": 10}),
    ):
        facts = aspire(name, **heats, entropy=10).facts
        assert {key: value for key, value in facts.items() if key in recorded} == expected
        assert facts["similarity"] == "l2"
    # Lambda is one part in the weight of the entropy: the larger it is, the nearer to the cheapest plan.
    of_c = [dict(aspire("ot-aspire", entropy=entropy).rankings["q-x"])["c"] for entropy in (0.1, 1, 10, 100)]
    assert of_c == sorted(of_c)
    assert of_c[0] < of_c[-1]


QUERIES = [Query(f"{paper}-{facet}", paper, facet, ()) for paper, facet in ("ax", "ay", "bx", "cx", "dz")]


def test_a_network_learns_from_the_queries_of_its_facet_outside_the_fold() -> None:
    assert {facet: [one.query_id for one in of] for facet, of in by_facet(QUERIES, ["c-x", "a-y", "a-x"]).items()} == {
        "x": ["c-x", "a-x"],
        "y": ["a-y"],
    }

    def learned(fold: list[str], facet: str) -> list[str]:
        return [one.query_id for one in learned_from(QUERIES, fold, facet)]

    assert learned(["a-x", "a-y"], "x") == ["b-x", "c-x"]
    assert learned(["a-x", "b-x"], "x") == ["a-y", "c-x", "d-z"]
    assert learned(["a-y"], "y") == ["a-x", "b-x", "c-x", "d-z"]


def test_features_without_training_rank_by_their_cosines() -> None:
    features = Features(
        "f",
        {"q": np.array([3, 4], np.float32)},
        {"a": np.array([4, 3], np.float32), "b": np.array([0, 0], np.float32), "c": np.array([6, 8], np.float32)},
    )
    assert untrained(features, {"q": ["a", "b", "c"]}) == {
        "q": (ScoredDoc("c", 1.0), ScoredDoc("a", 0.96), ScoredDoc("b", 0.0))
    }


@pytest.mark.parametrize(
    ("examples", "given", "length"),
    [
        (100, {"batch": 30, "epochs": 2, "warm_up": 0.1}, (8, 4, 1, 1)),
        (90, {"batch": 30, "epochs": 10, "warm_up": 0.5}, (30, 3, 15, 1)),
        (3_001, {"batch": 30, "epochs": 1, "warm_up": 1}, (101, 101, 1, 11)),
        (3_001, {"batch": 30, "epochs": 1, "warm_up": 7, "check_every": 3}, (101, 101, 7, 3)),
    ],
)
def test_a_training_has_so_many_steps(examples: int, given: dict[str, float], length: tuple[int, ...]) -> None:
    found = length_of(examples, recipe_of("specter-id", at_once=2, **given).settings)
    assert (found.steps, found.per_epoch, found.warm_up, found.check_every) == length


def test_a_training_begins_before_its_first_step_and_look() -> None:
    begun = TrainingState()
    assert (begun.step, begun.curve, begun.best, begun.since) == (0, [], None, 0)
