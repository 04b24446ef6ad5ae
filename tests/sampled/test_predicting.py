"""Grades are predicted from rankings and from other topics alone."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from annot.measuring.sampled.estimates import pools_of
from annot.measuring.sampled.grades import FOLDS, features, predicted, with_opinions
from annot.store.models import PoolSample, SampleDesign, SampledPair
from annot_opinions.predicting import counting
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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


HIGHEST, DOCUMENTS, TOPICS = 3, 30, 11
QUERIES = {f"t{at:02}-method": f"t{at:02}" for at in range(TOPICS)}
PAIRS = [(query_id, f"d{at:02}") for query_id in QUERIES for at in range(DOCUMENTS)]
PI = {pair: min(1.0, 4.0 / (1 + int(pair[1][1:]))) for pair in PAIRS}
Rows = dict[str, dict[str, tuple[float, ...]]]
Grades = dict[str, dict[str, int]]


def by_query(values: Mapping[tuple[str, str], object]) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {query_id: {} for query_id in QUERIES}
    for (query_id, doc_id), value in values.items():
        found[query_id][doc_id] = value
    return found


def truth() -> dict[tuple[str, str], int]:
    rng = np.random.default_rng(5)
    return {pair: int(rng.binomial(HIGHEST, 0.2 + 0.6 * PI[pair] * rng.random())) for pair in PAIRS}


def ranked() -> Rows:
    """What rankings say, as `features` would give it."""
    return by_query({pair: (PI[pair], 1 / (1 + int(pair[1][1:]))) for pair in PAIRS})  # type: ignore[return-value]


def levels(grade: int) -> tuple[float, ...]:
    return tuple(float(grade >= at) for at in range(1, HIGHEST + 1))


def lifting(seed: int = 1) -> dict[tuple[str, str], int]:
    """A judge who is mostly right, and gives two grades more to every third document."""
    rng = np.random.default_rng(seed)
    return {
        (query_id, doc_id): min(HIGHEST, (grade if rng.random() < 0.8 else 1) + 2 * (int(doc_id[1:]) % 3 == 0))
        for (query_id, doc_id), grade in truth().items()
    }


def drawn(seed: int) -> Grades:
    rng = np.random.default_rng(seed)
    grades = truth()
    return by_query({pair: grades[pair] for pair in PAIRS if rng.random() < PI[pair]})  # type: ignore[return-value]


def test_each_fold_is_a_logistic_regression_of_ranks_and_opinion_on_the_other_topics() -> None:
    judged, known = drawn(3), ranked()
    said = {query_id: {doc_id: levels(lifting()[query_id, doc_id]) for doc_id in of} for query_id, of in known.items()}
    alone = predicted(judged, known, QUERIES, highest=HIGHEST)
    found = with_opinions(alone, judged, known, said, QUERIES, highest=HIGHEST)
    for at, topic in [*enumerate(sorted(QUERIES.values()))][::5]:
        others = [
            (query_id, doc_id)
            for query_id, of in judged.items()
            for doc_id in of
            if sorted(QUERIES.values()).index(QUERIES[query_id]) % FOLDS != at % FOLDS
        ]
        x = np.array([(*known[query_id][doc_id], *said[query_id][doc_id]) for query_id, doc_id in others])
        grades = np.array([judged[query_id][doc_id] for query_id, doc_id in others])
        models = [
            make_pipeline(StandardScaler(), LogisticRegression(C=0.1, tol=1e-9, max_iter=1000)).fit(x, grades >= grade)
            for grade in (1, 2, 3)
        ]
        query_id = f"{topic}-method"
        for doc_id, row in found[query_id].items():
            asked = [(*known[query_id][doc_id], *said[query_id][doc_id])]
            guess = np.minimum.accumulate([1.0, *(model.predict_proba(asked)[0, 1] for model in models)])
            assert row == pytest.approx(-np.diff([*guess, 0.0]), abs=1e-4)
    assert found != alone


def test_a_pair_without_an_opinion_keeps_what_the_rankings_predict() -> None:
    judged, known = drawn(3), ranked()
    alone = predicted(judged, known, QUERIES, highest=HIGHEST)
    some = {
        query_id: {doc_id: levels(2) if int(doc_id[1:]) % 4 else levels(0) for doc_id in list(of)[1:]}
        for query_id, of in list(known.items())[:5]
    }
    found = with_opinions(alone, judged, known, some, QUERIES, highest=HIGHEST)
    same = {(query_id, doc_id) for query_id, doc_id in PAIRS if found[query_id][doc_id] == alone[query_id][doc_id]}
    assert {pair for pair in PAIRS if pair[1] not in some.get(pair[0], {})} <= same
    assert len(same) < len(PAIRS) - 100
    of_one = {"t00-method": some["t00-method"]}
    assert with_opinions(alone, judged, known, of_one, QUERIES, highest=HIGHEST) is alone


def gained(judged: Grades, f: Rows, of: set[tuple[str, str]]) -> float:
    """The estimated sum of the grades of these pairs."""
    pools = pools_of(by_query(PI), judged, f, highest=HIGHEST)  # type: ignore[arg-type]
    return sum(
        float(gain)
        for query_id, pool in pools.items()
        for doc_id, gain in zip(pool.doc_ids, pool.gains.value, strict=True)
        if (query_id, doc_id) in of
    )


def sample(judged: Grades) -> PoolSample:
    pairs = {
        pair: SampledPair(*pair, 1 + int(pair[1][1:]), 1, PI[pair], pair[1] in judged[pair[0]], {}) for pair in PAIRS
    }
    return PoolSample(SampleDesign(0.3, "query", 0.05, 1.0, 1, "", "small"), pairs)


def test_over_draws_a_judge_who_lifts_some_documents_biases_nothing_and_the_estimate_scatters_less() -> None:
    known, said = ranked(), lifting()
    liked = {pair for pair, grade in said.items() if grade == HIGHEST}
    total = sum(truth()[pair] for pair in liked)
    alone, with_it, of_drawn = [], [], []
    for seed in range(20):
        judged = drawn(100 + seed)
        by_ranks = predicted(judged, known, QUERIES, highest=HIGHEST)
        alone.append(gained(judged, by_ranks, liked))
        whole = counting(sample(judged), {(*pair, 1): grade for pair, grade in said.items()}, (), highest=HIGHEST)
        both = with_opinions(by_ranks, judged, known, whole, QUERIES, highest=HIGHEST)
        with_it.append(gained(judged, both, liked))
        # To ask about the drawn pairs alone makes predictions follow from the draw.
        asked = {(*pair, 1): grade for pair, grade in said.items() if pair[1] in judged[pair[0]]}
        assert counting(sample(judged), asked, (), highest=HIGHEST) == {}
        partly = {query_id: {doc_id: whole[query_id][doc_id] for doc_id in of} for query_id, of in judged.items()}
        both = with_opinions(by_ranks, judged, known, partly, QUERIES, highest=HIGHEST)
        of_drawn.append(gained(judged, both, liked))
    error = np.std(with_it, ddof=1) / np.sqrt(len(with_it))
    assert abs(np.mean(with_it) - total) < 3 * error
    assert abs(np.mean(of_drawn) - total) > 5 * error
    assert np.std(with_it) < 0.95 * np.std(alone)


def test_a_repeat_counts_where_it_was_asked_about_all_documents_that_came_together() -> None:
    whole = sample(drawn(1))
    late = {pair: one for pair, one in whole.pairs.items() if pair[0] == "t00-method"}
    pairs = {**whole.pairs}
    for pair in list(late)[20:]:
        one = pairs[pair]
        pairs[pair] = SampledPair(*pair, one.rank, 2, one.probability, one.drawn, {})
    sampled = whole._replace(pairs=pairs)
    grades: dict[tuple[str, str, int], int | None] = {
        (*pair, repeat): 3 if repeat == 1 else 1 for pair in PAIRS for repeat in (1, 2)
    }
    del grades["t00-method", "d05", 2], grades["t00-method", "d25", 1], grades["t00-method", "d25", 2]
    grades["t01-method", "d00", 1] = grades["t01-method", "d01", 1] = grades["t01-method", "d01", 2] = None
    found = counting(sampled, grades, {"t02-method"}, highest=HIGHEST)
    # Of the first twenty documents of t00 the second repeat is not whole; the ten that came later lack both.
    assert found["t00-method"] == {f"d{at:02}": (1.0, 1.0, 1.0) for at in range(20)}
    assert found["t01-method"]["d00"] == (1.0, 0.0, 0.0)
    assert "d01" not in found["t01-method"]
    assert found["t01-method"]["d02"] == (1.0, 0.5, 0.5)
    assert "t02-method" not in found
