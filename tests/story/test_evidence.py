"""What ordinary events do to a complete study: the same answers count after the next push and pull, or there is a list.

Every event is done to judgements or decisions on a server in memory, which is set back to the complete study before
each; what counts is read afterwards from the store, as every figure is.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from annot.base.names import counted
from command_line import Result, annot, annot_done
from complete_study import (
    Complete,
    annotations_of,
    counting,
    give_another_account,
    http,
    in_dispute,
    rating,
    the_project,
)
from studies import Study

# -- the events: what somebody does, and what the next commands have to say ------------------------------------------


def edits_the_collections_name(study: Study) -> None:
    path = study.folder / "annot.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('name = "evidence"', 'name = "renamed"'))


def deletes_a_project(study: Study) -> None:
    http(study, "DELETE", f"/api/projects/{the_project(study, 'a1')}/")


def deletes_all_tasks(study: Study) -> None:
    http(study, "DELETE", f"/api/projects/{the_project(study, 'a1')}/tasks/")


def deletes_two_tasks(study: Study) -> None:
    for pair in study.planned()["a1"][:2]:
        http(study, "DELETE", f"/api/tasks/{annotations_of(study, 'a1')[pair]['task']}/")


def deletes_an_annotation_of_their_own(study: Study) -> None:
    with study.as_person("a1") as person:
        person.delete_annotation(annotations_of(study, "a1")[study.planned()["a1"][0]]["id"])


def cancels_an_annotation(study: Study) -> None:
    mine = annotations_of(study, "a1")[study.planned()["a1"][0]]
    http(study, "PATCH", f"/api/annotations/{mine['id']}/", json={"was_cancelled": True})


def gives_an_assessor_another_account(study: Study) -> None:
    give_another_account(study, "a1")


def edits_a_colleagues_answer(study: Study) -> None:
    pair = study.planned()["a1"][3]
    with study.as_person("a2") as colleague:
        colleague.change_annotation(annotations_of(study, "a1")[pair]["id"], rating("0"))
        decided = annotations_of(study, "j1", "adjudicate")
        colleague.change_annotation(decided[in_dispute(study)[0]]["id"], rating("0"))


class Event(NamedTuple):
    """What somebody does to a project of one round, and what has to be said of it."""

    done: Callable[[Study], None]
    round: str = "judging"
    """What `push` and `pull` are told: judging or adjudication."""
    lost: int | None = 0
    """Answers that are listed by every pull, which then ends with exit 1; None: all of the person."""
    why: str = ""
    told: str = ""
    """What the first pull says beside."""


EDITED = "1 answer changed by another account; the person's own answers count"
EVENTS = [
    Event(edits_the_collections_name),
    Event(deletes_a_project, "judging", None, "its project was deleted", told="the project is missing from the server"),
    Event(deletes_all_tasks, "judging", None, "its project has no tasks", told="a1: 10 tasks missing from the server"),
    Event(deletes_two_tasks, "judging", 2, "its task was deleted", told="a1: 2 tasks missing from the server"),
    Event(deletes_an_annotation_of_their_own, "judging", 1, "its annotation was deleted"),
    Event(cancels_an_annotation, "judging", 1, "skipped; last changed by another account, not by its author"),
    Event(gives_an_assessor_another_account),
    Event(edits_a_colleagues_answer, told=f"a1: {EDITED}"),
    Event(edits_a_colleagues_answer, "adjudication", told=f"j1: {EDITED}"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.done.__name__} {event.round}")
def test_an_ordinary_event_leaves_the_same_answers_counting(complete: Complete, study: Study, event: Event) -> None:
    person, everything = ("j1", in_dispute(study)) if event.round == "adjudication" else ("a1", study.planned()["a1"])
    before = len(study.listed_projects())
    event.done(study)
    lost = len(everything) if event.lost is None else event.lost

    def command(verb: str) -> Result:
        return annot(verb, event.round, folder=study.folder)

    def fetched() -> str:
        result = command("pull")
        assert result.exit_code == bool(lost), result.stderr
        if lost:
            assert f"annot: {counted(lost, 'answer')} changed or missing on the server" in result.stderr
            assert f"{person}: {counted(lost, 'answer')}, {event.why}: fic" in result.stderr
            assert "--accept-deletions" in result.stderr
        assert counting(study) == complete.counting
        return result.stderr

    assert event.told in fetched()
    sent = command("push")
    assert sent.exit_code == 0, sent.stderr
    assert counting(study) == complete.counting
    # The next pull: the same is told, and the same counts.
    fetched()
    status = annot_done("status", "--json", folder=study.folder).data
    assert (status["lost"], status["withdrawn"]) == (lost or int(EDITED in event.told), 0)
    assert len(study.listed_projects()) == before
