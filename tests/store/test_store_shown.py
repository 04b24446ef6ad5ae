"""Versions of all content that people were shown, and the display of each task when it was answered."""

import hashlib
from collections.abc import Sequence

import pytest
from annot.base.errors import StoreError
from annot.base.records import PairKey
from annot.store import projects, shown
from annot.store.database import Store
from annot.store.projects import open_project, record_tasks, renew_tasks
from annot.store.shown import (
    Part,
    content,
    display_parts,
    keep_contents,
    note_shown,
    read_shown,
    read_versions,
    version,
)
from sqlalchemy import text

ASKED = [PairKey("p1-method", "d1"), PairKey("p1-method", "d2"), PairKey("p1-background", "d1")]
DAY = "2026-03-{:02}T00:00:00.000+00:00"
NOON = "2026-03-{:02}T12:00:00.123456Z"
"""Noon as Label Studio writes it."""


def sha(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def record(store: Store, part: Part, subject: str, *bodies: tuple[int, str]) -> None:
    """Versions of one thing, each from a day on."""
    with store.begin() as session:
        shown.record_versions(
            session,
            [
                version(part, subject, body, since=DAY.format(day), why="why" if day > 1 else None)
                for day, body in bodies
            ],
        )


def a_project(store: Store, assessor: str, *, server: str = "one") -> int:
    with store.begin() as session:
        made = open_project(
            session, round="judge", assessor=assessor, server=server, url="http://one", version="1", account_id=1
        )
        record_tasks(session, made.project, {asked: at for at, asked in enumerate(ASKED, start=10)})
    return made.project


def note(store: Store, project: int, day: int, **guidelines: str) -> None:
    """Note that the tasks of these facets display these guidelines."""
    displays = {
        asked: {"guidelines": sha256}
        for asked in ASKED
        for facet, sha256 in guidelines.items()
        if asked.query_id.endswith(facet)
    }
    with store.begin() as session:
        note_shown(session, project, displays, since=DAY.format(day))


def seen(store: Store, project: int, asked: PairKey, days: Sequence[int]) -> list[str | None]:
    """The guidelines that the task displayed on these days, by the record alone."""
    with store.begin() as session:
        tasks = read_shown(session, project)
        sha256s = [tasks.at(asked, NOON.format(day)) for day in days]
        keep_contents(session, tasks.bodies(sha256s))
        displays = display_parts(session, sha256s)
    return [displays[sha256]["guidelines"] if sha256 else None for sha256 in sha256s]


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
        tasks = read_shown(session, second)
    assert [moment for moment, _ in tasks.by_task[ASKED[0]]] == [DAY.format(1), DAY.format(5)]
    # Before all moments, and of an answer without one, the first holds.
    first_display = tasks.by_task[ASKED[0]][0][1]
    assert tasks.at(ASKED[0], "2026-02-01T00:00:00Z") == tasks.at(ASKED[0], None) == first_display


def test_a_task_sent_anew_begins_anew_and_others_keep_what_they_displayed(study: Store) -> None:
    project = a_project(study, "a1")
    note(study, project, 1, method="m1", background="b1")
    with study.begin() as session:
        renew_tasks(session, project, ASKED, {ASKED[0]: 10, ASKED[1]: 99, ASKED[2]: 12})
    note(study, project, 3, method="m2", background="b1")
    assert seen(study, project, ASKED[0], (2, 4)) == ["m1", "m2"]
    assert seen(study, project, ASKED[1], (2, 4)) == ["m2", "m2"]
    with study.read() as session:
        assert projects.read_tasks(session, project) == {ASKED[0]: 10, ASKED[1]: 99, ASKED[2]: 12}


def test_what_a_killed_push_did_not_note_down_follows_from_the_versions_in_force(study: Store) -> None:
    project = a_project(study, "a1")
    record(study, "guidelines", "method", (1, "m1"), (3, "m2"))
    assert seen(study, project, ASKED[0], (2, 4)) == [sha("m1"), sha("m2")]
    assert seen(study, project, PairKey("p1-method", "d9"), (2, 4)) == [sha("m1"), sha("m2")]
    assert seen(study, project, ASKED[2], (2, 4)) == [None, None]
    # Noted later, as by the push after a restore, it is the same.
    note(study, project, 9, method=sha("m2"), background="b1")
    assert seen(study, project, ASKED[0], (2, 4, 10)) == [sha("m1"), sha("m2"), sha("m2")]


def test_a_composed_display_has_every_part_that_has_versions(study: Store) -> None:
    """The document was corrected on day 3, and the grades renamed on day 5; other documents and screens are not in
    it."""
    project = a_project(study, "a1")
    record(study, "scale", "", (1, "old names"), (5, "new names"))
    record(study, "text", "d1", (1, "first"), (3, "second"))
    record(study, "text", "d2", (1, "another"))
    record(study, "text", "p1", (1, "topic"))
    record(study, "screen", "judge", (1, "<View/>"))
    record(study, "screen", "adjudicate", (1, "<Other/>"))
    with study.begin() as session:
        note_shown(session, project, {}, since=DAY.format(6))
        history = read_shown(session, project).by_task[ASKED[0]]
        displays = display_parts(session, [sha256 for _, sha256 in history])
    same = {"topic": sha("topic"), "screen": sha("<View/>")}
    assert [(moment, displays[sha256]) for moment, sha256 in history] == [
        (DAY.format(1), same | {"scale": sha("old names"), "document": sha("first")}),
        (DAY.format(3), same | {"scale": sha("old names"), "document": sha("second")}),
        (DAY.format(5), same | {"scale": sha("new names"), "document": sha("second")}),
    ]


def test_marks_that_a_push_adds_to_what_was_in_force_begin_no_second_display(study: Store) -> None:
    project = a_project(study, "a1")
    record(study, "guidelines", "method", (1, "m1"))
    display = {"guidelines": sha("m1"), "topic_labels": ["method"]}
    with study.begin() as session:
        note_shown(session, project, {ASKED[0]: display}, since=DAY.format(2))
        ((moment, sha256),) = read_shown(session, project).by_task[ASKED[0]]
        assert display_parts(session, [sha256]) == {sha256: display}
    assert moment == DAY.format(1)
    # Corrected labels are another display.
    with study.begin() as session:
        note_shown(session, project, {ASKED[0]: {**display, "topic_labels": ["result"]}}, since=DAY.format(4))
        assert len(read_shown(session, project).by_task[ASKED[0]]) == 2


def test_a_topic_and_a_paper_of_one_id_have_versions_of_their_own(study: Store) -> None:
    record(study, "topic", "1", (1, "a question"))
    record(study, "text", "1", (1, "a paper"))
    with study.read() as session:
        found = read_versions(session)
        assert {key: [one.body for one in versions] for key, versions in found.items()} == {
            ("text", "1"): ["a paper"],
            ("topic", "1"): ["a question"],
        }
        assert list(read_versions(session, "topic")) == [("topic", "1")]


def test_a_content_is_kept_once_and_a_version_again_each_time(study: Store) -> None:
    record(study, "scale", "", (1, "old"), (2, "new"), (3, "old"))
    with study.read() as session:
        (versions,) = read_versions(session, "scale").values()
        assert [(one.since, one.body, one.why) for one in versions] == [
            (DAY.format(1), "old", None),
            (DAY.format(2), "new", "why"),
            (DAY.format(3), "old", "why"),
        ]
        assert content(session, [sha("old"), sha("new"), sha("never")]) == {sha("old"): "old", sha("new"): "new"}
        (count,) = session.connection().execute(text("SELECT COUNT(*) FROM shown_content")).one()
    assert count == 2


def test_what_was_shown_is_never_changed(study: Store) -> None:
    record(study, "scale", "", (1, "names"))
    other = "TRUNCATE shown_version"
    if "PostgreSQL" not in study.place:
        other = "INSERT OR REPLACE INTO shown_version SELECT * FROM shown_version"
    for statement in (
        *("UPDATE shown_content SET body = 'another'", "DELETE FROM shown_content"),
        *("UPDATE shown_version SET why = 'another'", "DELETE FROM shown_version", other),
    ):
        with pytest.raises(StoreError, match="append-only"), study.begin() as session:
            session.connection().execute(text(statement))


@pytest.mark.parametrize(("moment", "expected"), [(None, "m1"), (NOON.format(2), "m1"), (DAY.format(3), "m2")])
def test_a_version_holds_from_its_moment_on(moment: str | None, expected: str) -> None:
    history = ((DAY.format(1), "m1"), (DAY.format(3), "m2"))
    assert shown.in_force(history, moment) == expected
    assert shown.in_force((), moment) is None
