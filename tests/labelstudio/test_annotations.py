"""Annotations read with doubt: what counts, what is flagged in words, what is only noted."""

from typing import Any

import pytest
from annot.base.records import Judgement, PairKey
from annot.labelstudio import studio_records
from annot.labelstudio.studio_records import read_annotation, read_task, write_result
from annot.store.answers import SourcedAnswer
from hypothesis import given
from hypothesis import strategies as st
from labelling_texts import task

ASKED = PairKey("q-method", "d1")
GRADES = (0, 1, 2, 3)
ANN = 7


def annotation(result: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "completed_by": ANN,
        "updated_by": ANN,
        "was_cancelled": False,
        "lead_time": 4.5,
        "created_at": "2026-11-21T10:00:00.000000Z",
        "updated_at": "2026-11-21T10:00:05.000000Z",
        "result": result,
        **more,
    }


def rating(*values: Any) -> dict[str, Any]:
    return {"from_name": "rating", "to_name": "pair", "type": "choices", "value": {"choices": list(values)}}


def reason(value: str) -> dict[str, Any]:
    return {"from_name": "cannot_judge", "to_name": "pair", "type": "choices", "value": {"choices": [value]}}


def read(result: Any, **more: Any) -> Any:
    return read_annotation(annotation(result, **more), pair_key=ASKED, grades=GRADES, accounts=[ANN])


@pytest.mark.parametrize("grade", GRADES)
def test_one_grade_of_the_scale_counts(grade: int) -> None:
    reading = read([rating(str(grade))])
    assert (reading.grade, reading.cannot_judge, reading.flags) == (grade, None, ())
    assert (reading.lead_time, reading.created_at) == (4.5, "2026-11-21T10:00:00.000000Z")


def test_cannot_judge_with_a_reason_counts_and_has_no_grade() -> None:
    reading = read([rating("cannot judge"), reason("not in English")])
    assert (reading.grade, reading.cannot_judge, reading.flags) == (None, "not in English", ())


@pytest.mark.parametrize(
    ("result", "flag"),
    [
        ([], "no grade"),
        (None, "no grade"),
        ("rubbish", "no grade"),
        ([rating("7")], "grade '7' is not on the scale 0 to 3"),
        ([rating(2)], "grade 2 is not on the scale 0 to 3"),
        ([rating("-1")], "grade '-1' is not on the scale 0 to 3"),
        ([rating("1", "2")], "2 grades (1, 2), expected one"),
        ([rating("1"), rating("1")], "2 grades (1, 1), expected one"),
        ([rating("cannot judge")], "cannot judge, without one of the reasons"),
        ([rating("cannot judge"), reason("bored")], "unknown reason ['bored']"),
        ([rating("2"), reason("not in English")], "a grade and a reason for not judging"),
        ([reason("not in English")], "no grade"),
    ],
)
def test_what_is_not_one_grade_or_one_reason_is_flagged(result: Any, flag: str) -> None:
    assert read(result).flags == (flag,)


def test_a_skip_is_kept_and_flagged() -> None:
    reading = read([rating("2")], was_cancelled=True)
    assert reading.flags == ("skipped",)
    assert reading.payload["was_cancelled"] is True


def test_another_account_is_flagged() -> None:
    assert read([rating("2")], completed_by=9, updated_by=9).flags == ("by account 9, which is not this person's",)


def test_a_flag_does_not_change_when_the_person_gets_another_account() -> None:
    for account, word in ((9, "account 9"), (None, "deleted")):
        payload = annotation([rating("2")], completed_by=account, updated_by=None)
        (flag,), again = (
            read_annotation(payload, pair_key=ASKED, grades=GRADES, accounts=accounts).flags
            for accounts in ([ANN], [ANN, 5])
        )
        assert (again, word in flag) == ((flag,), True)


def test_an_edit_by_another_account_is_flagged() -> None:
    assert read([rating("2")], updated_by=9).flags == ("last changed by account 9, not by its author",)


def test_the_account_is_read_where_the_server_expands_it() -> None:
    assert read([rating("2")], completed_by={"id": ANN, "email": "ann@example.org"}).flags == ()


BEFORE = SourcedAnswer(
    Judgement(*ASKED.pair, "a1", 2, judged_at="2026-11-21T10:00:00.000000Z"),
    *("label-studio", "7", None),
    account=5,
    changed_at="2026-11-21T10:00:05.000000Z",
)


@pytest.mark.parametrize("account", [5, ANN, None, {"id": 5}])
def test_an_answer_on_record_is_the_persons_whatever_became_of_the_account(account: Any) -> None:
    payload = annotation([rating("2")], completed_by=account, updated_by=None)
    reading = read_annotation(payload, pair_key=ASKED, grades=GRADES, accounts=[ANN], on_record=BEFORE)
    assert (reading.grade, reading.flags, reading.account) == (2, (), ANN if account == ANN else 5)


def test_an_annotation_that_only_has_the_number_of_one_on_record_is_a_strangers() -> None:
    payload = annotation([rating("2")], completed_by=5, created_at="2026-11-22T10:00:00.000000Z", updated_by=None)
    reading = read_annotation(payload, pair_key=ASKED, grades=GRADES, accounts=[ANN], on_record=BEFORE)
    assert reading.flags == ("by account 5, which is not this person's",)


def test_a_person_who_edits_by_their_new_account_is_no_somebody_else() -> None:
    payload = annotation([rating("2")], completed_by=5, updated_by=ANN)
    assert read_annotation(payload, pair_key=ASKED, grades=GRADES, accounts=[ANN], on_record=BEFORE).flags == ()
    stranger = {**payload, "updated_by": 9}
    reading = read_annotation(stranger, pair_key=ASKED, grades=GRADES, accounts=[ANN], on_record=BEFORE)
    assert reading.flags == ("last changed by account 9, not by its author",)


def test_an_earlier_state_than_the_one_on_record_does_not_count() -> None:
    payload = annotation([rating("2")], completed_by=5, updated_by=5, updated_at="2026-11-21T10:00:04.000000Z")
    reading = read_annotation(payload, pair_key=ASKED, grades=GRADES, accounts=[ANN], on_record=BEFORE)
    assert reading.flags == ("older than the answer on record",)


@pytest.mark.parametrize("lead_time", [0, 0.5, 4.5])
def test_a_lead_time_counts_from_no_seconds_on(lead_time: float) -> None:
    assert read([rating("2")], lead_time=lead_time).lead_time == lead_time


@pytest.mark.parametrize("lead_time", [float("nan"), float("inf"), -1, "4"])
def test_an_impossible_lead_time_is_left_out_and_the_grade_counts(lead_time: Any) -> None:
    reading = read([rating("2")], lead_time=lead_time)
    assert (reading.lead_time, reading.flags) == (None, ())


def test_a_lone_text_is_a_comment_and_a_lone_choice_is_no_grade() -> None:
    alone = {"from_name": "comment", "to_name": "pair", "type": "textarea", "value": {"text": " close "}}
    assert read([rating("2"), alone]).comment == "close"
    assert read([{**rating("2"), "value": {"choices": "2"}}]).flags == ("no grade",)


def test_other_controls_and_marked_passages_do_not_keep_a_grade_from_counting() -> None:
    other = {"from_name": "mood", "to_name": "pair", "type": "choices", "value": {"choices": ["good"]}}
    own = {"id": "Xy9", "from_name": "sentence_label", "type": "labels", "value": {"labels": ["method"]}}
    reading = read([rating("2"), other, own])
    assert (reading.grade, reading.flags) == (2, ())
    assert reading.payload["result"][1:] == [other, own]


def test_the_counted_annotation_supersedes_the_earlier() -> None:
    early = annotation([rating("1")], id=1, updated_at="2026-11-21T10:00:00Z")
    late = annotation([rating("3")], id=2, updated_at="2026-11-21T11:00:00Z")
    skipped = annotation([], id=3, updated_at="2026-11-21T12:00:00Z", was_cancelled=True)
    readings = read_task((late, skipped, early), pair_key=ASKED, grades=GRADES, accounts=[ANN])
    assert [reading.grade for reading in readings if not reading.flags] == [3]
    assert readings[0].flags == ("superseded by annotation 2",)
    assert len(readings) == 3


@given(grade=st.sampled_from(GRADES), comment=st.text(max_size=20))
def test_what_is_written_is_read_back(grade: int, comment: str) -> None:
    reading = read(write_result(task(), grade=grade, comment=comment, settled_by="guideline gap"))
    assert (reading.grade, reading.flags) == (grade, ())
    assert reading.comment == (comment.strip() or None)
    assert reading.settled_by == "guideline gap"


@pytest.mark.parametrize("cause", [one.value for one in studio_records.DIFFERENCES])
def test_why_two_differ_is_read_from_earlier_screens_too(cause: str) -> None:
    assert read(write_result(task(), grade=1, settled_by=cause)).settled_by == cause


@pytest.mark.parametrize("reason", ["not in English", "not in the language of the collection", "outside my field"])
def test_a_reason_stands_whatever_the_language_of_the_collection_is_now(reason: str) -> None:
    reading = read(write_result(task(), cannot_judge=reason))
    assert (reading.cannot_judge, reading.flags) == (reason, ())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
results = st.lists(
    st.fixed_dictionaries(
        {
            "from_name": st.sampled_from(["rating", "cannot_judge", "comment", "sentence_label", "x"]),
            "value": json_values,
        }
    )
    | json_values,
    max_size=4,
)


@given(result=results | json_values, completed_by=json_values, lead_time=json_values)
def test_rubbish_never_raises_and_counts_only_with_one_grade_or_reason(
    result: Any, completed_by: Any, lead_time: Any
) -> None:
    reading = read(result, completed_by=completed_by, lead_time=lead_time)
    if not reading.flags:
        assert (reading.grade is None) != (reading.cannot_judge is None)
