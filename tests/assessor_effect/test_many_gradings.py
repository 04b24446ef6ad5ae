"""Many gradings of one list, and random choices among them."""

from dataclasses import replace

import numpy as np
import pytest
from annot.base.records import Qrel
from annot.measuring.assessor_effect import gradings_of, random_grades
from annot.measuring.evaluation.measures import MEASURES, GradedList, measured
from graded_runs import cell, in_order
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from measured_runs import evaluate


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
