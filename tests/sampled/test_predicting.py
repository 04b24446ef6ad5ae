"""Grades are predicted from rankings and from other topics alone."""

import math

import numpy as np
import pytest
from annot.measuring.sampled.grades import features, predicted

Judged = dict[str, dict[str, int]]


def study(topics: int = 12) -> tuple[Judged, dict[str, dict[str, tuple[float, ...]]], dict[str, str]]:
    """Two facets a topic; the better a method ranks a document, the likelier is it relevant."""
    rng = np.random.default_rng(2)
    judged: Judged = {}
    known = {}
    for at in range(topics):
        order = [f"d{number:02}" for number in range(40)]
        ranks = {"good": {doc_id: rank for rank, doc_id in enumerate(order, 1)}, "none": {}}
        fused = dict(ranks["good"]) | {"hand": None}
        for facet in ("method", "result"):
            query_id = f"t{at}-{facet}"
            known[query_id] = features(ranks, fused, methods=("good", "none"), cited={"d39"})
            judged[query_id] = {
                doc_id: int(rng.random() < 4 / (3 + at_rank)) * 2 for at_rank, doc_id in enumerate(order, 1)
            }
    return judged, known, {query_id: query_id.split("-")[0] for query_id in known}


def test_a_topics_own_grades_never_make_its_predictions() -> None:
    judged, known, topics = study()
    before = predicted(judged, known, topics, highest=3)
    changed = {
        query_id: {doc_id: 3 - grade for doc_id, grade in of.items()} if topics[query_id] == "t4" else of
        for query_id, of in judged.items()
    }
    after = predicted(changed, known, topics, highest=3)
    for facet in ("method", "result"):
        assert before[f"t4-{facet}"] == after[f"t4-{facet}"]
    assert before["t5-method"] != after["t5-method"]


def test_predictions_are_probabilities_of_every_grade_and_follow_the_ranks() -> None:
    judged, known, topics = study()
    found = predicted(judged, known, topics, highest=3)
    assert found.keys() == known.keys()
    assert found["t0-method"].keys() == known["t0-method"].keys()
    rows = np.array([row for of in found.values() for row in of.values()])
    assert rows.shape[1] == 4
    assert rows.min() >= 0
    assert rows.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (rows == np.round(rows, 6)).all()
    of_grade_2 = {doc_id: row[2] for doc_id, row in found["t3-result"].items()}
    assert of_grade_2["d00"] > 0.6 > 0.3 > of_grade_2["d20"]
    assert not rows[:, 3].any()


def test_the_features_of_a_document_are_its_ranks() -> None:
    found = features({"m": {"a": 2}}, {"a": 3, "b": None}, methods=("m", "n"), cited={"b"})
    assert found == {
        "a": (1 / 2, 0, 1 / 12, 0, 1, 0, pytest.approx(math.log(3)), 1 / 3, 1, 0),
        "b": (0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    }


def test_the_unit_of_a_feature_and_one_that_is_always_the_same_change_nothing() -> None:
    judged, known, topics = study()
    other = {
        query_id: {doc_id: (1000 * row[0], *row[1:], 7.0) for doc_id, row in of.items()}
        for query_id, of in known.items()
    }
    first, second = (predicted(judged, one, topics, highest=3) for one in (known, other))
    for query_id, of in first.items():
        for doc_id, row in of.items():
            assert row == pytest.approx(second[query_id][doc_id], abs=2e-6)


def test_one_topic_alone_has_nothing_to_learn_from() -> None:
    judged, known, topics = study(topics=1)
    found = predicted(judged, known, topics, highest=3)
    assert {row for of in found.values() for row in of.values()} == {(1.0, 0.0, 0.0, 0.0)}
