"""Many gradings of one list, and random choices among them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.records import Judgement, Qrel, ScoredDoc
from annot.measuring.assessor_effect import gradings_of, random_grades
from annot.measuring.evaluation.measures import MEASURES, GradedList, measured
from annot.publishing.report.verdict import OrderChanges, robustness
from graded_runs import SETTINGS, assessor_effect_on_runs, cell, in_order, study
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from measured_runs import evaluate
from scipy.stats import kendalltau


@hypothesis_settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(1, 60), st.integers(0, 2**31), st.sampled_from([1, 2, 3]))
def test_many_gradings_at_once_are_measured_as_one_by_one(b: int, n: int, seed: int, relevant_from: int) -> None:
    rng = np.random.default_rng(seed)
    judged_grades = rng.choice(4, p=[0.7, 0.15, 0.1, 0.05], size=(b, n)).astype(np.int8)
    # A list that leaves some judged documents out and has some that nobody judged.
    submitted = rng.permutation(n + 5)[: rng.integers(0, n + 6)]
    with_unjudged = np.pad(judged_grades, ((0, 0), (0, 5)))
    docs = in_order([f"d{at:02}" for at in submitted])
    for convention, names in MEASURES.items():
        one_by_one = [
            evaluate(
                {"q": docs},
                [Qrel("q", f"d{at:02}", int(grade)) for at, grade in enumerate(row)],
                convention=convention,
                relevant_from=relevant_from,
                ties="order",
            ).mean
            for row in judged_grades
        ]
        for name in names:
            graded = GradedList(with_unjudged[:, submitted], judged_grades, relevant_from)
            found = measured(convention, name, graded)
            assert found == pytest.approx([values[name] for values in one_by_one], abs=1e-9), (convention, name)


def test_a_choice_takes_the_first_or_the_second_judgement_of_all_pairs_of_a_topic() -> None:
    """Voorhees 2000: a set of judgements has, for each topic, all of one assessor's or all of the other's."""
    ratings = np.random.default_rng(0).integers(0, 4, (2, 40)).astype(float)
    drawn, taken = random_grades(cell(ratings), n=6000, seed=3, topic="t")
    assert sorted(map(tuple, drawn.tolist())) == sorted(map(tuple, ratings.astype(int).tolist()))
    # Four standard errors of a half among 6,000.
    assert np.bincount(taken) / 6000 == pytest.approx([0.5, 0.5], abs=0.0259)


def test_all_queries_of_a_topic_have_the_same_choice_and_other_topics_one_of_their_own() -> None:
    ratings = np.array([[0.0] * 5, [1.0] * 5])
    chosen = {
        (name, topic): drawn[taken][:, 0]
        for name, topic in (("m", "t1"), ("b", "t1"), ("m", "t2"))
        for drawn, taken in [random_grades(cell(ratings, name), n=2000, seed=3, topic=topic)]
    }
    assert (chosen["m", "t1"] == chosen["b", "t1"]).all()
    assert np.corrcoef(chosen["m", "t1"], chosen["m", "t2"])[0, 1] == pytest.approx(0, abs=4 / np.sqrt(2000))


def test_an_answer_without_a_grade_is_0_in_a_random_choice_as_it_is_in_the_grades_of_each_assessor() -> None:
    """The choice of the first for every topic is the grading A, and that of the second is B."""
    nan = np.nan
    query = cell([[3, nan, 2], [1, 2, nan]])
    drawn, _ = random_grades(query, n=200, seed=3, topic="t")
    of_both = {grading.name: grading.grades[0].tolist() for grading in gradings_of([query])}
    assert sorted(drawn.tolist()) == sorted([of_both["A"], of_both["B"]]) == [[1, 2, 0], [3, 0, 2]]


def test_of_those_who_were_given_a_pair_each_is_taken_as_often() -> None:
    nan = np.nan
    query = cell([[0, 3, nan, nan], [1, 3, 2, 0], [2, nan, nan, 1]])
    distinct, taken = random_grades(replace(query, asked=~np.isnan(query.ratings)), n=6000, seed=3, topic="t")
    drawn = distinct[taken]
    assert [set(column.tolist()) for column in drawn.T] == [{0, 1, 2}, {3}, {2}, {0, 1}]
    # Four standard errors of a third and of a half among 6,000.
    assert np.bincount(drawn[:, 0]) / 6000 == pytest.approx([1 / 3] * 3, abs=0.0244)
    assert drawn[:, 3].mean() == pytest.approx(0.5, abs=0.0259)


def test_random_choices_follow_from_seed_and_topic_and_more_of_them_begin_with_the_same() -> None:
    ratings = np.array([[0.0, 1.0], [2.0, 3.0]])

    def choices(n: int, seed: int, topic: str) -> np.ndarray:
        drawn, taken = random_grades(cell(ratings), n=n, seed=seed, topic=topic)
        return drawn[taken]

    drawn = choices(20, 3, "t")
    assert (choices(50, 3, "t")[:20] == drawn).all()
    assert (choices(20, 4, "t") != drawn).any()
    assert (choices(20, 3, "other") != drawn).any()


HELD: Any = SimpleNamespace(comparisons=[SimpleNamespace(holds=True)])


@pytest.mark.parametrize("seed", range(2))
def test_runs_that_are_far_apart_stay_in_their_order_whoever_of_equals_judges(seed: int) -> None:
    runs, judgements, qrels = study(n_queries=40, n_docs=30, noise=(0.1, 1.0, 4.0), seed=seed)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert robustness(found, HELD, judged_twice=1) == "robust"
    assert found.random_assessors.best_places == (1, 1)
    assert OrderChanges(found).best == "r0"


@pytest.mark.parametrize("seed", range(2))
def test_runs_that_are_alike_change_places_among_equals_and_it_is_not_said_that_they_do_not(seed: int) -> None:
    """Nine runs of one quality, and one that is clearly worse: that difference is significant and stays."""
    runs, judgements, qrels = study(n_queries=30, n_docs=30, noise=(*[1.0] * 9, 9.0), seed=seed)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert robustness(found, HELD, judged_twice=1) != "robust"
    changes = OrderChanges(found)
    # By another implementation, on the printed means.
    by_name = {one.name: one.means for one in found.rankings}
    tags = sorted(runs)
    for name, value in changes.taus:
        order = [[by_name[grades][tag] for tag in tags] for grades in (name, "final")]
        assert value == pytest.approx(kendalltau(*order).statistic)
        place = list(by_name[name].values()).index(by_name[name][changes.best]) + 1
        assert dict(changes.places).get(name, 1) == place
    low, high = found.random_assessors.best_places
    assert 1 <= low <= high <= changes.lowest_place <= 9
    assert high > 1


def test_the_place_of_the_best_run_is_that_of_the_middle_share_of_choices() -> None:
    """Two runs and one query of two documents: the first is relevant to a1, the second to a2, and finally the first.

    r0 ranks the first document first. A choice takes all grades from a1 or all from a2: with (3, 0) r0 is first, with
    (0, 3) second.
    """
    docs = ("d0", "d1")
    orders = {"r0": docs, "r1": docs[::-1]}
    runs = {tag: {"q": tuple(ScoredDoc(doc, -at) for at, doc in enumerate(order))} for tag, order in orders.items()}
    of_people = {"a1": (3, 0), "a2": (0, 3)}
    judgements = [
        Judgement("q", doc, name, grade)
        for name, own in of_people.items()
        for doc, grade in zip(docs, own, strict=True)
    ]
    qrels = [Qrel("q", "d0", 3), Qrel("q", "d1", 0)]
    found = assessor_effect_on_runs(runs, judgements, qrels, replace(SETTINGS, convention="trec", measure="nDCG"))
    assert found.random_assessors.best_places == (1, 2)
    changes = OrderChanges(found)
    assert (changes.best, changes.places, changes.lowest_place) == ("r0", [("B", 2)], 2)
    assert changes.taus == [("A", 1.0), ("B", -1.0)]
