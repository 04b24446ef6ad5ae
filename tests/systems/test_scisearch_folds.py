"""SciSearch without its network: the training and watched queries of each fold, and the record."""

import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Qrel, Query
from annot.base.settings import SystemSettings
from annot.ranking.systems import known_systems
from annot.ranking.systems.system import Features, PooledQuery, features_of
from annot_systems import scisearch
from annot_systems.scisearch import Pairs, balanced, rank_held_out, untrained


def queries(number: int) -> list[Query]:
    return [Query(f"q{at}-x", f"q{at}", "x", (0,)) for at in range(number)]


def features(of: Sequence[Query]) -> Features:
    """A query is known by the first number of its vector; candidate `d7` by 7."""
    return Features(
        "f",
        {query.query_id: np.array([at, 1], np.float32) for at, query in enumerate(of)},
        {f"d{at}": np.array([at, 2], np.float32) for at in range(3)},
    )


class Network:
    """Network that remembers its training pairs, and scores a candidate by its number."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[list[int]] = []
        self.watched: list[list[int]] = []
        self.grades: list[list[int]] = []
        monkeypatch.setattr(scisearch, "balanced", lambda pairs, seed: pairs)
        monkeypatch.setattr(scisearch, "train", self.train)

    def train(self, pairs: Pairs, held_out: Pairs, **learning: Any) -> Any:
        self.seen.append(sorted(set(pairs.queries[:, 0].astype(int).tolist())))
        self.watched.append(sorted(set(held_out.queries[:, 0].astype(int).tolist())))
        self.grades.append(pairs.grades.tolist())
        return lambda left, right: right[:, 0].astype(float)


@pytest.mark.parametrize(("learned", "watched"), [(2, 1), (3, 1), (5, 1), (6, 2), (7, 2), (10, 2), (11, 3), (16, 4)])
def test_a_quarter_of_the_training_queries_is_watched_and_one_at_least(
    monkeypatch: pytest.MonkeyPatch, learned: int, watched: int
) -> None:
    network = Network(monkeypatch)
    every = queries(learned + 1)
    qrels = [Qrel(query.query_id, f"d{at}", at) for query in every for at in range(3)]
    documents = {query.query_id: ["d0", "d2"] for query in every}
    found = rank_held_out(features(every), every, qrels, documents, loss="nll", grades=4, seed=5, folds=[["q0-x"]])
    assert {query: [doc.doc_id for doc in ranking] for query, ranking in found.items()} == {"q0-x": ["d2", "d0"]}
    (seen,), (held_out,) = network.seen, network.watched
    assert len(held_out) == watched
    assert sorted([*seen, *held_out]) == list(range(1, learned + 1))
    assert network.grades[0] == [0, 1, 2] * len(seen)


def test_what_is_watched_is_drawn_by_the_seed_and_the_number_of_the_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    every = queries(12)
    qrels = [Qrel(query.query_id, "d1", 1) for query in every]
    documents = {query.query_id: ["d1"] for query in every}
    folds = [[f"q{at}-x" for at in some] for some in (range(4), range(4, 8))]
    rank_held_out(features(every), every, qrels, documents, loss="nll", grades=4, seed=9, folds=folds)
    for number, fold in enumerate(folds, start=1):
        learned = [query.query_id for query in every if query.query_id not in fold]
        np.random.default_rng([9, number]).shuffle(learned)
        watched = sorted(int(name[1:].partition("-")[0]) for name in learned[:2])
        assert network.watched[number - 1] == watched


@pytest.mark.parametrize("settings", [(1e-3, [1e-3, 0], 1.0), (2, [0, 3], 0.0)])
def test_cosines_do_not_depend_on_the_length_of_a_vector(settings: tuple[float, list[float], float]) -> None:
    length, candidate, cosine = settings
    made = Features("f", {"q": np.array([length, 0], np.float32)}, {"a": np.array(candidate, np.float32)})
    assert untrained(made, {"q": ["a"]})["q"][0].score == pytest.approx(cosine)


class Sampler:
    """Stand-in for imblearn's sampler, which brings every grade to the commonest: repeats the last row of a grade."""

    def __init__(self, **settings: int) -> None:
        self.settings = settings
        Sampler.asked.append((type(self).__name__, settings))

    def fit_resample(self, rows: np.ndarray, grades: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        most = int(np.bincount(grades).max())
        more = [(grade, most - int((grades == grade).sum())) for grade in np.unique(grades).tolist()]
        added = [np.repeat(rows[grades == grade][-1:], count, axis=0) for grade, count in more]
        return np.concatenate([rows, *added]), np.concatenate([grades, *(np.full(n, grade) for grade, n in more)])

    asked: list[Any] = []  # noqa: RUF012


class Repeater(Sampler): ...


@pytest.mark.parametrize(
    ("rarest", "asked"),
    [
        # A pair has at most as many neighbours as there are others of its grade, and five at most.
        (7, ("Sampler", {"random_state": 3, "k_neighbors": 5})),
        (6, ("Sampler", {"random_state": 3, "k_neighbors": 5})),
        (5, ("Sampler", {"random_state": 3, "k_neighbors": 4})),
        (2, ("Sampler", {"random_state": 3, "k_neighbors": 1})),
        (1, ("Repeater", {"random_state": 3})),
    ],
)
def test_rarer_grades_are_drawn_up_to_the_commonest(rarest: int, asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules, "imblearn.over_sampling", SimpleNamespace(SMOTE=Sampler, RandomOverSampler=Repeater)
    )
    monkeypatch.setattr(Sampler, "asked", [])
    grades = np.repeat([0, 1, 3], [9, 8, rarest])
    rng = np.random.default_rng(2)
    queries, candidates = (rng.normal(size=(len(grades), 3)).astype(np.float32) for _ in range(2))
    found = balanced(Pairs(queries, candidates, grades), seed=3)
    assert Sampler.asked == [asked]
    assert np.bincount(found.grades).tolist() == [9, 9, 0, 9]
    assert found.queries.shape == found.candidates.shape == (27, 3)
    np.testing.assert_array_equal(found.queries[: len(grades)], queries)
    np.testing.assert_array_equal(found.candidates[: len(grades)], candidates)
    np.testing.assert_array_equal(found.candidates[-1], candidates[-1])


@pytest.mark.parametrize("count", [1, 3])
def test_pairs_of_one_grade_are_left_as_they_are(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imblearn.over_sampling", SimpleNamespace(SMOTE=None, RandomOverSampler=None))
    pairs = Pairs(np.ones((count, 2), np.float32), np.zeros((count, 2), np.float32), np.full(count, 2))
    found = balanced(pairs, seed=1)
    assert [part.tolist() for part in found] == [part.tolist() for part in pairs]


class Grades:
    """Grades of a study in two folds on record, which share a candidate and a pair the other way round."""

    count, seed = 4, 3

    def __init__(self, qrels: Sequence[Qrel]) -> None:
        self.qrels = qrels
        self.asked: list[str] = []

    def folds(self, queries: Sequence[Query]) -> tuple[list[list[str]], bool]:
        return [["q0-x", "q0-y"], ["q1-x"]], False

    def shared(self, learned: Any, tested: Any, *, documents: Any, where: str) -> Any:
        self.asked.append(f"{where}: {' '.join(one.query_id for one in tested)}")
        return (["d0", f"d{len(tested)}"], [("a", "b")] if where.startswith("fold 1") else [])


TOPICS = [PooledQuery(name, name[:2], name[-1], (0,), False, ("d0", "d1")) for name in ("q0-x", "q0-y", "q1-x", "q2-x")]


def given(qrels: Sequence[Qrel], **settings: Any) -> Any:
    queries = [Query(one.query_id, one.topic_id, one.facet, one.sentences) for one in TOPICS]
    return SimpleNamespace(
        topics=TOPICS,
        settings=SystemSettings(**settings),
        grades=Grades(qrels),
        features=lambda name: features(queries),
    )


def test_an_untrained_run_needs_no_grades() -> None:
    found = known_systems()["scisearch-untrained"].rank(given([]))
    assert set(found.rankings) == {"q0-x", "q0-y", "q1-x", "q2-x"}
    assert found.facts["similarity"] == "cosine"
    assert found.facts["features"] == "f"


def test_a_trained_run_ranks_the_folds_and_records_what_they_share(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch)
    monkeypatch.setattr(scisearch, "_prepare_libraries", lambda: None)
    # Of a pair that is in no pool, and of a query that is not asked, nothing is learned.
    qrels = [Qrel(one.query_id, doc_id, 2) for one in TOPICS for doc_id in ("d0", "d1")]
    inputs = given([*qrels, Qrel("q2-x", "d2", 3), Qrel("q9-x", "d0", 3)])
    found = known_systems()["scisearch-kl"].rank(inputs)
    assert set(found.rankings) == {"q0-x", "q0-y", "q1-x"}
    assert {grade for grades in network.grades for grade in grades} == {2}
    facts = dict(found.facts)
    assert (facts["loss"], facts["seed"], facts["drawn"]) == ("kl", 3, False)
    assert facts["folds"] == [["q0-x", "q0-y"], ["q1-x"]]
    assert inputs.grades.asked == ["fold 1, x: q0-x", "fold 1, y: q0-y", "fold 2, x: q1-x"]
    # Both facets of fold 1 share the same two candidates and the same pair.
    assert facts["candidates_in_both_sides"] == [2, 2]
    assert facts["pairs_the_other_way_round"] == [1, 0]


def test_a_trained_run_without_grades_of_the_pools_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scisearch, "_prepare_libraries", lambda: None)
    with pytest.raises(MissingInput, match="scisearch-nll: found no final grades"):
        known_systems()["scisearch-nll"].rank(given([Qrel("q2-x", "d2", 3)]))


def test_the_index_needs_lsa_only_if_its_features_are_taken() -> None:
    system = known_systems()["scisearch-nll"]
    assert list(system.index_methods(SystemSettings(features="lsa"))) == ["lsa"]
    assert list(system.index_methods(SystemSettings(features="specter"))) == []
    assert "torch" in system.needs
    assert "torch" not in known_systems()["scisearch-untrained"].needs


def test_a_system_without_vectors_gives_none_to_learn_from() -> None:
    for name in ("fabs_bm25", "ot-aspire", "scisearch-nll"):
        with pytest.raises(InputError, match=f"systems.features: {name} has no vectors"):
            known_systems()[name].features(given([]))
    made = features_of("mine", TOPICS, query=lambda topic: np.ones(1), candidate=lambda doc_id: np.zeros(1))
    assert (made.name, set(made.queries), set(made.candidates)) == (
        "mine",
        {"q0-x", "q0-y", "q1-x", "q2-x"},
        {"d0", "d1"},
    )
