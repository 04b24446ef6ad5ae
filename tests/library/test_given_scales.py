"""The scale, the level and the rows that users of the library give, at the edge of what is taken."""

from collections.abc import Sequence

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.names import StudyVocabulary
from annot.base.records import Judgement
from annot.steps.inputs import GivenTopics, as_frame, check_level, ratings_in, scale_of, topics_of


def graded(*grades: int | None) -> list[Judgement]:
    return [Judgement("q", f"d{at}", "a1", grade) for at, grade in enumerate(grades)]


@pytest.mark.parametrize(
    ("grades", "scale"),
    [((2, None, 4), (2, 3, 4)), ((3, 3), (3, 4)), ((0,), (0, 1)), ((0, 100), tuple(range(101))), ((-1, 0), (-1, 0))],
)
def test_a_scale_goes_from_the_lowest_to_the_highest_grade_and_has_two(
    grades: tuple[int | None, ...], scale: tuple[int, ...]
) -> None:
    assert scale_of(graded(*grades), None) == scale


def test_a_scale_of_more_than_a_hundred_steps_is_another_column() -> None:
    with pytest.raises(InputError, match="grades from 0 to 101, expected a scale of at most 100 steps"):
        scale_of(graded(0, 101), None)
    with pytest.raises(InputError, match="no judgement has a grade"):
        scale_of(graded(None), None)


@pytest.mark.parametrize(
    ("scale", "taken"),
    [((0, 1), True), ((1, 2, 3), True), ((0,), False), ((0, 2), False), ((1, 0), False), ((), False)],
)
def test_a_given_scale_is_two_or_more_consecutive_numbers(scale: Sequence[int], taken: bool) -> None:
    if taken:
        assert scale_of(graded(7), list(scale)) == scale
    else:
        with pytest.raises(InputError, match="two or more consecutive whole numbers"):
            scale_of(graded(1), scale)


@pytest.mark.parametrize(("level", "taken"), [(0.0, False), (0.001, True), (0.999, True), (1.0, False)])
def test_a_level_is_between_0_and_1(level: float, taken: bool) -> None:
    if taken:
        check_level(level)
    else:
        with pytest.raises(InputError, match="expected a number between 0 and 1"):
            check_level(level)


def test_rows_with_a_text_among_the_first_three_are_judgements() -> None:
    assert [*as_frame([["q", 1, 2, 0]], "x").columns] == ["query", "document", "assessor", "grade"]
    assert [*as_frame([[1, 2, "a", 0]], "x").columns] == ["query", "document", "assessor", "grade"]
    assert [*as_frame([[1, 2, 3, "a"]], "x").columns] == [0, 1, 2, 3]
    assert [*as_frame([[1, 2]], "x").columns] == [0, 1]
    assert as_frame(np.zeros((2, 3)), "x").shape == (2, 3)
    with pytest.raises(InputError, match="an array of 1 dimension, expected items x assessors"):
        as_frame(np.zeros(2), "x")


def test_hidden_repeats_and_flagged_rows_do_not_count() -> None:
    rows = [
        {"query": "q", "document": "d", "assessor": "a", "grade": 1, "occasion": 1, "flags": ""},
        {"query": "q", "document": "d", "assessor": "a", "grade": 2, "occasion": 2, "flags": ""},
        {"query": "q", "document": "e", "assessor": "a", "grade": 3, "occasion": None, "flags": "late"},
        {"query": "q", "document": "f", "assessor": "a", "grade": None, "occasion": None, "flags": []},
    ]
    found = ratings_in(rows, name="ratings")
    assert [(one.doc_id, one.grade) for one in found.rows] == [("d", 1), ("f", None)]
    assert found.by_query


def test_papers_are_those_of_the_first_source_that_knows_every_query() -> None:
    some, every = GivenTopics({"q1": "p"}, "a file"), GivenTopics({"q1": "p", "q2": "p", "q3": "r"}, "a column")
    found = topics_of(["q1", "q2"], None, some, every)
    assert (found.of, found.note, found.words) == (
        {"q1": "p", "q2": "p"},
        "query papers are the sampling units: 2 queries on 1 paper, by a column",
        StudyVocabulary(),
    )
    topics = GivenTopics({"q1": "t"}, "a column", "topic_id")
    found = topics_of(["q1"], topics)
    assert (found.note, found.words) == (
        "topics are the sampling units: 1 query on 1 topic, by a column",
        StudyVocabulary("topic", "document"),
    )
    assert topics_of(["q1", "q9"], some, every).of == {}
