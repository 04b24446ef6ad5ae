"""Judgements in an export of any Label Studio project: what counts as a grade, who gave it when, and the faults."""

import json
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.formats.judgements_file import FileJudgement, grades_named, read_export

SCALE = ("No", "A bit", "All")


def given(control: str, kind: str, value: Any) -> dict[str, Any]:
    return {"from_name": control, "value": {kind: value}}


def annotation(
    number: Any, *results: Any, by: Any = 7, at: Any = "2031-03-14T10:00:00+02:00", **more: Any
) -> dict[str, Any]:
    return {"id": number, "result": list(results), "completed_by": by, "created_at": at, **more}


def task(number: Any, *annotations: Any, **data: Any) -> dict[str, Any]:
    return {"id": number, "data": {"q": "q1", "d": 12, **data}, "annotations": list(annotations)}


def read(*tasks: Any, grades: dict[str, int | None] | None = None) -> tuple[FileJudgement, ...]:
    places = {"grade": "grade", "query": "q", "document": "d", "comment": "note"}
    return tuple(
        map(
            FileJudgement,
            *read_export(
                json.dumps(tasks).encode(), name="e", places=places, grades=grades or {}, scale=SCALE
            ).values(),
        )
    )


def faults_of(*tasks: Any) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read(*tasks)
    return caught.value.faults


@pytest.mark.parametrize(
    ("kind", "value", "grade", "reason"),
    [
        ("choices", ["A bit"], 1, None),
        ("choices", [" a BIT "], 1, None),
        ("rating", 2, 2, None),
        ("number", 2.0, 2, None),
        ("taxonomy", ["0"], 0, None),
        ("choices", ["Great"], 2, None),
        ("choices", ["Broken"], None, "Broken"),
        ("choices", [], None, None),
        ("text", ["A bit"], None, None),
    ],
)
def test_what_was_given_stands_for_a_grade(kind: str, value: Any, grade: int | None, reason: str | None) -> None:
    (found,) = read(task(3, annotation(5, given("grade", kind, value))), grades={"Great": 2, "Broken": None})
    assert (found.grade, found.cannot_judge, found.flags) == (grade, reason, ())


def test_every_annotation_comes_with_its_person_and_moment_in_the_order_of_time() -> None:
    good = given("grade", "rating", 1)
    found = read(
        task(
            4, annotation(10, good, by={"email": "x@y"}, lead_time=2.5), annotation(9, good, by={"id": 3}, lead_time=0)
        ),
        task(3, annotation(11, good, given("note", "text", [" one ", "", "two"]), at="2031-03-14T07:00:00Z")),
        task(2, annotation(12, good, at=None, lead_time=-1)),
        task("x", annotation(13, was_cancelled=True, lead_time="2")),
    )
    assert [(one.annotation, one.line, one.assessor, one.judged_at, one.seconds, one.comment) for one in found] == [
        ("12", 2, "7", None, None, None),
        ("11", 3, "7", "2031-03-14T07:00:00+00:00", None, "one two"),
        ("13", 0, "7", "2031-03-14T08:00:00+00:00", None, None),
        ("9", 4, "3", "2031-03-14T08:00:00+00:00", 0.0, None),
        ("10", 4, "x@y", "2031-03-14T08:00:00+00:00", 2.5, None),
    ]
    assert [(one.query, one.document, one.occasion) for one in found] == [("q1", "12", 1)] * 5
    assert [one.flags for one in found] == [(), (), ("skipped",), (), ()]


def test_a_skipped_annotation_has_no_grade_whatever_was_given() -> None:
    skipped = annotation(1, given("grade", "rating", 1), given("grade", "rating", 9), was_cancelled=True)
    (found,) = read(task(1, skipped))
    assert (found.grade, found.cannot_judge, found.flags) == (None, None, ("skipped",))


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (task(3, annotation("1")), "an annotation without a number (id)"),
        (
            task(3, annotation(1, given("grade", "choices", ["No", "All"]))),
            "annotation 1: 2 values of 'grade', expected one",
        ),
        (
            task(3, annotation(1, given("grade", "rating", 3))),
            'annotation 1: 3 is not a grade from 0 to 2; say which with --grade "VALUE=GRADE"',
        ),
        (task(3, annotation(1, by=True)), "annotation 1: does not say who made it (completed_by)"),
        (task(3, annotation(1, at="soon")), "annotation 1: created_at 'soon', expected a date and time in ISO 8601"),
        (task(3, annotation(1), q="a b"), "q 'a b', expected an id without white space"),
        (
            {"id": 3, "data": {"q": "q", "doc": 1}, "annotations": [annotation(1)]},
            "no 'd' in the data of the task; expected one of q, doc",
        ),
        ({"id": 3, "data": {}}, "no list of annotations"),
        (task(3, "x"), "found 'x', expected an annotation"),
    ],
)
def test_a_fault_names_its_task(wrong: Any, problem: str) -> None:
    fine = task(1, annotation(2, given("grade", "rating", 1)))
    assert faults_of(fine, wrong) == (f"e: task 3: {problem}",)


def test_an_export_of_another_kind_is_refused() -> None:
    assert faults_of(task(1)) == ("e: found no annotations",)
    assert faults_of(task(1, annotation(2, given("grades", "rating", 1)))) == (
        "e: no annotation has a control named 'grade'; did you mean 'grades'?",
    )
    assert faults_of("x", task(1, annotation(2))) == ("e: entry 1: no data, expected a task of Label Studio",)
    places = {"grade": "grade", "query": "q", "document": "d"}
    for data, problem in (
        (b"[\xff]", "e: not UTF-8 at byte 1"),
        (b"[", "e: not valid JSON: Expecting value at column 2"),
        (b"{}", "e: found dict, expected a list of tasks"),
        (b'[{"annotation_id": 1}]', "e: JSON-MIN, which leaves out skipped and revised annotations"),
    ):
        with pytest.raises(InputError) as caught:
            read_export(data, name="e", places=places, grades={}, scale=SCALE)
        assert caught.value.message == problem


def test_an_entry_of_the_list_has_its_number_and_a_task_without_one_a_question_mark() -> None:
    fine = task(1, annotation(2, given("grade", "rating", 1)))
    assert faults_of(fine, {"id": 5}) == ("e: entry 2: no data, expected a task of Label Studio",)
    assert faults_of(fine, {"data": {}}) == ("e: task ?: no list of annotations",)
    nameless = {"data": {"q": "q1", "d": 1}, "annotations": [annotation("1")]}
    assert faults_of(fine, nameless) == ("e: task ?: an annotation without a number (id)",)


def test_a_number_of_the_scale_wins_over_a_name_only_where_the_person_says_nothing_else() -> None:
    numbers = [task(at, annotation(at, given("grade", "choices", [text]))) for at, text in enumerate(("2", "all", "1"))]
    assert [one.grade for one in read(*numbers)] == [2, 2, 1]
    assert [one.grade for one in read(*numbers, grades={"1": 0, "ALL": None})] == [2, None, 0]


@pytest.mark.parametrize("text", ["A=3", "A=-1", "A=1.0", "=1", "A", "A=x", " =1"])
def test_a_grade_beyond_the_scale_or_of_nothing_is_refused(text: str) -> None:
    assert grades_named(["A=0", "B = 2", "a=b=1", "C=NONE", "D="], SCALE) == {
        **{"A": 0, "B": 2, "a=b": 1},
        **{"C": None, "D": None},
    }
    with pytest.raises(InputError, match="expected VALUE=GRADE, a grade from 0 to 2 or none"):
        grades_named([text], SCALE)


# -- who, and when -----------------------------------------------------------------------------------------------------


def test_an_answer_that_was_changed_later_comes_later() -> None:
    first = annotation(1, given("grade", "choices", ["All"]), at="2031-03-14T10:00:00Z", updated_at="2031-03-20T10:00Z")
    second = annotation(2, given("grade", "choices", ["No"]), at="2031-03-15T10:00:00Z", updated_at="2031-03-15T10:00Z")
    rows = read(task(1, first, second))
    assert [(row.annotation, row.grade) for row in rows] == [("2", 0), ("1", 2)]
    assert (rows[1].judged_at, rows[1].changed_at) == ("2031-03-14T10:00:00+00:00", "2031-03-20T10:00:00+00:00")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_an_account_by_number_and_by_object_is_one_person(order: tuple[int, ...]) -> None:
    tasks = (
        task(1, annotation(1, by=3)),
        task(2, annotation(2, by={"id": 3, "email": "ada@example.org", "first_name": "Ada"})),
        task(3, annotation(3, by="3")),
    )
    rows = read(*(tasks[at] for at in order), task(4, annotation(4, by={"id": 4})))
    assert {row.line: (row.assessor, row.account) for row in rows} == {
        **dict.fromkeys((1, 2, 3), ("ada@example.org", "3")),
        4: ("4", None),
    }
