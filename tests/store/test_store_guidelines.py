"""Which guidelines stood beside a task when it was answered: noted with the task, project by project."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from annot.base.records import Asked
from annot.store import guidelines, projects
from annot.store.database import Store
from annot.store.guidelines import SentGuidelines, note_shown, read_shown, record_guidelines
from annot.store.projects import open_project, record_tasks, renew_tasks

ASKED = [Asked("p1-method", "d1"), Asked("p1-method", "d2"), Asked("p1-background", "d1")]
DAY = "2026-03-{:02}T00:00:00.000+00:00"
NOON = "2026-03-{:02}T12:00:00.123456Z"
"""As Label Studio writes it."""


def sent(facet: str, day: int, sha256: str) -> SentGuidelines:
    return SentGuidelines(facet, DAY.format(day), sha256, f"text {sha256}", None if day == 1 else "why")


def a_project(store: Store, assessor: str, *, server: str = "one") -> int:
    with store.begin() as session:
        made = open_project(
            session, round="judge", assessor=assessor, server=server, url="http://one", version="1", account_id=1
        )
        record_tasks(session, made.project, {asked: at for at, asked in enumerate(ASKED, start=10)})
    return made.project


def note(store: Store, project: int, day: int, **sha256: str) -> None:
    with store.begin() as session:
        note_shown(session, project, sha256, since=DAY.format(day))


def seen(store: Store, project: int, asked: Asked, days: Sequence[int]) -> list[str | None]:
    with store.read() as session:
        shown = read_shown(session, project)
    return [shown.at(asked, NOON.format(day)) for day in days]


def test_each_project_has_its_own_moments(study: Store) -> None:
    """The first server gets the change on day 3, the second on day 5; nothing is noted twice."""
    first, second = a_project(study, "a1"), a_project(study, "a2", server="two")
    for project in (first, second, first):
        note(study, project, 1, method="m1", background="b1")
    note(study, first, 3, method="m2", background="b1")
    note(study, second, 5, method="m2", background="b1")
    note(study, second, 7, method="m2", background="b1")
    days = range(1, 8)
    assert seen(study, first, ASKED[0], days) == ["m1", "m1", *["m2"] * 5]
    assert seen(study, second, ASKED[1], days) == [*["m1"] * 4, *["m2"] * 3]
    assert set(seen(study, second, ASKED[2], days)) == {"b1"}
    with study.read() as session:
        shown = read_shown(session, second)
    assert shown.by_task[ASKED[0]] == ((DAY.format(1), "m1"), (DAY.format(5), "m2"))
    # Before all moments, and of an answer without one, the first holds.
    assert shown.at(ASKED[0], "2026-02-01T00:00:00Z") == shown.at(ASKED[0], None) == "m1"


def test_a_task_sent_anew_begins_anew_and_others_keep_what_stood_beside_them(study: Store) -> None:
    project = a_project(study, "a1")
    note(study, project, 1, method="m1", background="b1")
    with study.begin() as session:
        renew_tasks(session, project, ASKED, {ASKED[0]: 10, ASKED[1]: 99, ASKED[2]: 12})
    note(study, project, 3, method="m2", background="b1")
    assert seen(study, project, ASKED[0], (2, 4)) == ["m1", "m2"]
    assert seen(study, project, ASKED[1], (2, 4)) == ["m2", "m2"]
    with study.read() as session:
        assert projects.read_tasks(session, project) == {ASKED[0]: 10, ASKED[1]: 99, ASKED[2]: 12}


def test_what_a_killed_push_did_not_note_down_follows_from_what_was_sent(study: Store) -> None:
    project = a_project(study, "a1")
    with study.begin() as session:
        record_guidelines(session, [sent("method", 1, "m1"), sent("method", 3, "m2")])
    assert seen(study, project, ASKED[0], (2, 4)) == ["m1", "m2"]
    assert seen(study, project, Asked("p1-method", "d9"), (2, 4)) == ["m1", "m2"]
    assert seen(study, project, ASKED[2], (2, 4)) == [None, None]
    # Noted later, as by the push after a restore, it is the same.
    note(study, project, 9, method="m2", background="b1")
    assert seen(study, project, ASKED[0], (2, 4, 10)) == ["m1", "m2", "m2"]


@pytest.mark.parametrize(("moment", "expected"), [(None, "m1"), (NOON.format(2), "m1"), (DAY.format(3), "m2")])
def test_a_version_holds_from_its_moment_on(moment: str | None, expected: str) -> None:
    history = ((DAY.format(1), "m1"), (DAY.format(3), "m2"))
    assert guidelines.in_force(history, moment) == expected
    assert guidelines.in_force((), moment) is None
