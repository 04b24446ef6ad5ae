"""What an audit says of one project, over made-up answers: each thing once, who did it, and what to delete."""

from __future__ import annotations

import pytest
from annot.labelstudio.studio_records import PulledTask
from made_up_projects import A2, LEAD, answer, found, met, task


@pytest.mark.parametrize(
    ("tasks", "delete"),
    [
        ([task(30, "q/d1", answer(5)), task(31, "q/d1")], "task 31 (task 30 has the answer)"),
        ([task(30, "q/d1"), task(31, "q/d1", answer(5))], "task 30 (task 31 has the answer)"),
        ([task(31, "q/d1"), task(30, "q/d1")], "task 31 (none has an answer)"),
        (
            [task(30, "q/d1", answer(5)), task(31, "q/d1", answer(6))],
            "one of 30 and 31, once the person has said which answer is right (the latest counts)",
        ),
    ],
)
def test_of_a_doubled_task_the_one_to_delete_is_named_and_no_answer_is_lost(
    tasks: list[PulledTask], delete: str
) -> None:
    answered = any(one.annotations for one in tasks)
    kinds = found(met(*tasks, counted={"q/d1": frozenset({"5"})} if answered else {}))
    assert kinds.keys() == {"task twice"}
    assert kinds["task twice"].do == f"in Label Studio, delete {delete}"


def test_an_answer_that_no_copy_has_is_lost() -> None:
    kinds = found(met(task(30, "q/d1"), task(31, "q/d1"), counted={"q/d1": frozenset({"5"})}))
    assert kinds.keys() == {"task twice", "answer gone"}


def test_who_gave_an_answer_or_changed_it_last_is_named() -> None:
    kinds = found(
        met(
            task(1, "q/d1", answer(1, by=LEAD)),
            task(2, "q/d2", answer(2, changed_by=A2)),
            task(3, "q/d3", answer(3, changed_by=99)),
            task(4, "q/d4", answer(4)),
        )
    )
    assert kinds["other account"].what == "a1: 1 answer by another account (by the lead's account)"
    assert kinds["edited by another"].what == (
        "a1: 2 answers last changed by an account other than the author's (by a2, account 99)"
    )
    assert kinds["edited by another"].pairs == ("q d2", "q d3")


def test_nobody_tells_who_deleted_a_task() -> None:
    project = met(task(1, "q/d1", answer(1)))._replace(planned=frozenset(["q/d1", "q/d2"]))
    assert "Label Studio's free edition does not record who deleted them" in found(project)["task gone"].do
