"""What of a server's answers is gone or lost, and what a project held when it was pulled: made-up records by hand."""

from __future__ import annotations

from typing import Any

import pytest
from annot.base.records import OLDER, SUPERSEDED, Judgement, PairKey
from annot.judging.exchange import collecting
from annot.judging.exchange.collecting import (
    ANNOTATION_GONE,
    FORGOTTEN,
    PROJECT_GONE,
    TASK_GONE,
    CollectedProject,
    PullCursor,
)
from annot.labelstudio.studio_records import PulledTask, ReadAnnotation
from annot.store.answers import GONE, AnnotationHistory, SourcedAnswer
from annot.store.models import Project

ASKED = PairKey("q", "d")
FIRST, CHANGED, LATER = "2031-01-01T10:00:00Z", "2031-01-01T11:00:00Z", "2031-01-01T12:00:00Z"
PROJECT = Project(1, "judge", "a1", "one", "http://studio.example", "1.23.2", 7, 1, None)


def line(
    *, counts: bool = True, kept: bool = False, said: str = "", ruling: str | None = None, **more: Any
) -> AnnotationHistory[Any]:
    """What is on record of annotation 7; said: what the latest revision says against it."""

    def revision(*flags: str) -> SourcedAnswer[Any]:
        record = Judgement(*ASKED.pair, "a1", 2, judged_at=FIRST, flags=flags)
        return SourcedAnswer(record, "label-studio", "7", {}, changed_at=more.get("changed_at", CHANGED), ruling=ruling)

    current = revision(*([] if counts else ["no grade"]))
    return AnnotationHistory(current, revision(said) if said else current, kept=kept)


def reading(number: int = 7, *flags: str, created: str = FIRST, changed: str = CHANGED) -> ReadAnnotation:
    return ReadAnnotation(
        pair_key=ASKED, grade=2, cannot_judge=None, comment=None, settled_by=None, lead_time=None, created_at=created,
        changed_at=changed, account=7, flags=flags, payload={"id": number},
    )  # fmt: skip


def compared(
    found: list[ReadAnnotation],
    known: AnnotationHistory[Any],
    *,
    task: PulledTask | None = None,
    why_all: str | None = None,
) -> tuple[list[str], list[str], int]:
    """Why the annotation on record is gone, why its answer is lost, and whether another has edited it."""
    tasks = {} if task is None else {ASKED: task}
    gone, lost, edited = collecting._compare(found, {(ASKED, "7"): known}, tasks, why_all)
    return [why for _, why in gone], [why for _, why in lost], edited


TASK = PulledTask("q/d", (), CHANGED)


@pytest.mark.parametrize(
    ("found", "known", "expected"),
    [
        ([reading()], line(), ([], [], 0)),
        ([], line(), ([ANNOTATION_GONE], [ANNOTATION_GONE], 0)),
        ([], line(counts=False), ([ANNOTATION_GONE], [], 0)),
        ([], line(kept=True), ([ANNOTATION_GONE], [], 0)),
        ([], line(said=f"{GONE}: of old"), ([], ["of old"], 0)),
        ([], line(ruling="restored"), ([], [ANNOTATION_GONE], 0)),
        ([reading(8, changed=LATER)], line(), ([ANNOTATION_GONE], [], 0)),
        ([reading(8, changed=CHANGED)], line(), ([ANNOTATION_GONE], [ANNOTATION_GONE], 0)),
        ([reading(8, "no grade", changed=LATER)], line(), ([ANNOTATION_GONE], [ANNOTATION_GONE], 0)),
        ([reading(created=LATER)], line(), ([], [ANNOTATION_GONE], 0)),
        ([reading(created=LATER)], line(counts=False), ([], [], 0)),
        ([reading(7, "no grade")], line(), ([], ["no grade"], 0)),
        ([reading(7, "no grade", "skipped")], line(), ([], ["no grade; skipped"], 0)),
        ([reading(7, OLDER)], line(), ([], [], 0)),
        ([reading(7, "skipped", OLDER)], line(), ([], [], 0)),
        ([reading(7, f"{SUPERSEDED} 8")], line(), ([], [], 0)),
        ([reading(7, "last changed by account 9, not by its author")], line(), ([], [], 1)),
        ([reading(7, "last changed by account 9, not by its author")], line(counts=False), ([], [], 0)),
        (
            [reading(7, "skipped", "last changed by account 9, not by its author")],
            line(),
            ([], ["skipped; last changed by another account, not by its author"], 0),
        ),
    ],
)
def test_what_is_gone_is_told_from_what_is_lost_and_from_what_others_have_edited(
    found: list[ReadAnnotation], known: AnnotationHistory[Any], expected: tuple[list[str], list[str], int]
) -> None:
    assert compared(found, known, task=TASK) == expected


@pytest.mark.parametrize(
    ("task", "why_all", "why"),
    [
        (None, None, TASK_GONE),
        (None, PROJECT_GONE, PROJECT_GONE),
        (TASK, None, ANNOTATION_GONE),
        (TASK._replace(updated_at=LATER), None, ANNOTATION_GONE),
        (TASK._replace(updated_at=FIRST), None, FORGOTTEN),
        (TASK._replace(updated_at=None), None, FORGOTTEN),
    ],
)
def test_why_an_answer_is_gone_is_seen_from_its_task(task: PulledTask | None, why_all: str | None, why: str) -> None:
    assert compared([], line(), task=task, why_all=why_all) == ([why], [why], 0)


def test_an_answer_without_a_moment_was_never_forgotten() -> None:
    assert compared([], line(changed_at=None), task=TASK._replace(updated_at=None))[1] == [ANNOTATION_GONE]


def test_why_annotations_do_not_count_is_counted_by_reason() -> None:
    found = (reading(), reading(8, "no grade"), reading(9, "no grade", "skipped"))
    collected = CollectedProject(PROJECT, 3, [7], found, (), (), 0, ())
    assert collected.not_counting == 2
    assert collected.flagged("answer") == [
        "a1: 2 answers not counted: no grade",
        "a1: 1 answer not counted: skipped",
    ]


@pytest.mark.parametrize(
    ("accounts", "why_all", "gone", "strangers", "notes"),
    [
        ([7], None, 0, 0, []),
        ([], None, 0, 0, ["the server has no account for this person, so new answers cannot be attributed"]),
        ([7], PROJECT_GONE, 3, 0, ["the project is missing from the server; `annot push` creates it again"]),
        ([7], None, 1, 0, ["1 task missing from the server; `annot push` sends those without an answer again"]),
        ([7], None, 0, 1, ["ignored 1 task from outside this study"]),
        ([7], None, 0, 2, ["ignored 2 tasks from outside this study"]),
    ],
)
def test_what_a_person_should_know_of_a_project(
    accounts: list[int], why_all: str | None, gone: int, strangers: int, notes: list[str]
) -> None:
    found = list(collecting._notes(PROJECT, accounts, why_all, gone, strangers))
    assert len(found) == len(notes)
    assert all(one.startswith(f"a1: {note}") for one, note in zip(found, notes, strict=True))


def moment(seconds: float) -> str:
    return f"2031-01-01T10:00:{seconds:09.6f}Z"


def test_what_was_seen_reaches_back_ten_seconds_before_the_latest_change() -> None:
    pulled = [PulledTask(f"q/d{at}", (), moment(at)) for at in (19, 20, 30)]
    assert collecting._advanced_cursor(None, pulled) == PullCursor(
        3, moment(20), frozenset({("q/d20", moment(20)), ("q/d30", moment(30))})
    )


def test_what_was_seen_before_stays_seen_as_long_as_it_may_come_again() -> None:
    before = PullCursor(5, moment(20), frozenset({("q/d20", moment(20)), ("q/d30", moment(30))}))
    later = collecting._advanced_cursor(before, [PulledTask("q/d31", (), moment(31)), PulledTask("q/none", (), None)])
    assert later == PullCursor(5, moment(21), frozenset({("q/d30", moment(30)), ("q/d31", moment(31))}))
