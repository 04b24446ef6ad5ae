"""Rankings by sentences: the comparisons, documents without a sentence, and the matches."""

import math
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Qrel, Query, ScoredDoc
from annot.base.settings import SystemSettings
from annot.formats.trec import Match
from annot.ranking.methods import EMPTY_SCORE
from annot.ranking.systems import known_systems
from annot.ranking.systems.system import Features, PooledQuery, RankedPools, SentenceVectors, features_of
from annot_systems import scisearch
from annot_systems.scisearch import Pairs, balanced, by_facet, learned_from, rank_held_out, untrained
from annot_systems.sentences import ASPIRE_SYSTEMS, SYSTEMS, Alignment, align_by, best_pair, rank, similarities
from annot_systems.training_examples import recipe_of
from annot_systems.training_loop import length_of

ROWS = {"q": [[1, 0], [0, 2], [0, 0]], "a": [[0, 0], [3, 4]], "b": [], "c": [[5, 0], [0, 0], [0, 1]], "d": [[0, 0]]}
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
        *("ot-aspire", "ts+ot-aspire", "ot-mpnet-1b")
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
    for name, expected in (("ts-aspire", {}), ("att-aspire", heats), ("ot-aspire", {**heats, "lambda": 10})):
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


@pytest.mark.parametrize(("learned", "watched"), [(2, 1), (5, 1), (6, 2), (11, 3)])
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
