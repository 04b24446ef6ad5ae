"""What a backup copies from the server, and whether a person who leaves has answers there that were not pulled."""

from __future__ import annotations

import pytest
from annot.base.errors import InputError
from annot.base.records import Assessor, Assignment, PairKey
from annot.steps import backup, changes
from annot.store import people, projects, trials
from annot.store.models import Plan
from study_stages import quietly
from worlds import World, result


def taken(world: World, name: str = "one.zip") -> backup.BackedUp:
    return backup.backup(world.ws, world.folder.parent / name, dry_run=False, advance=quietly)


def notes(found: backup.BackedUp) -> list[str]:
    return [note for note in found.notes if "pull" in note or "copies" in note or "copy" in note]


def test_answers_that_are_not_pulled_yet_are_noted(sent: World) -> None:
    first, second, *_ = sent.pairs
    sent.judge("a1", {first: 1, second: 2})
    found = taken(sent)
    assert found.projects == 2
    assert notes(found) == ["a1: 2 answers not pulled; run `annot pull` and back up again"]
    sent.pull()
    assert notes(taken(sent, "other.zip")) == []


def test_an_answer_that_changed_is_not_pulled_until_the_next_pull(sent: World) -> None:
    first, *_ = sent.pairs
    (annotation,) = sent.judge("a1", {first: 1}).values()
    sent.pull()
    sent.studio.change(annotation, result(2))
    assert notes(taken(sent)) == ["a1: 1 answer not pulled; run `annot pull` and back up again"]
    sent.pull()
    assert notes(taken(sent, "other.zip")) == []


def another(world: World, name: str, *, remote_id: int | None) -> None:
    """A project of this person on another server, with two tasks."""
    with world.ws.writing() as session:
        made = projects.open_project(
            session, round="judge", assessor=name, server="another", url="https://other.example", version="1",
            account_id=9,
        )  # fmt: skip
        projects.set_remote_project(session, made.project, remote_id)
        projects.record_tasks(session, made.project, {PairKey(*pair): at for at, pair in enumerate(world.pairs[:2])})


def test_projects_of_other_servers_are_not_copied(sent: World) -> None:
    another(sent, "a1", remote_id=7)
    found = taken(sent)
    assert found.projects == 2
    assert notes(found) == [f"no copies of 1 project on servers other than {sent.studio.url}"]


def test_projects_that_were_never_made_are_not_missed(sent: World) -> None:
    another(sent, "a1", remote_id=None)
    found = taken(sent)
    assert (found.projects, notes(found)) == (2, [])


# -- leaving -----------------------------------------------------------------------------------------------------------


def leave(world: World, name: str) -> changes.Left:
    return changes.leave(world.ws, name, successor=None, contest=False, offline=False, dry_run=True)


def test_whoever_has_answers_that_are_not_pulled_cannot_leave(sent: World) -> None:
    sent.judge("a1", {sent.pairs[0]: 1})
    assert leave(sent, "a2").open == 10
    with pytest.raises(InputError, match="1 answer of a1 not pulled yet"):
        leave(sent, "a1")
    sent.pull()
    found = leave(sent, "a1")
    assert (found.open, found.kept, found.to_withdraw) == (9, 1, 9)
    assert len(found.unassigned) == 9


def test_tasks_on_another_server_are_asked_for_there(sent: World) -> None:
    with sent.ws.writing() as session:
        people.put_assessors(session, [Assessor("a3", "cyd@example.org", False)])
    assert leave(sent, "a3").open == 0
    another(sent, "a3", remote_id=None)
    assert leave(sent, "a3").open == 0
    another(sent, "a3", remote_id=7)
    with pytest.raises(InputError, match=f"the tasks of a3 are on https://other.example, not on {sent.studio.url}"):
        leave(sent, "a3")


def test_hidden_gold_pairs_are_not_handed_on(sent: World) -> None:
    """a1 answered a pair that is hidden among their own: it does not hold them."""
    first, *_ = sent.pairs
    sent.judge("a1", {first: 1})
    with sent.ws.writing() as session:
        plan = [one for one in people.read_assignments(session) if (one.assessor, one.pair) != ("a1", first)]
        people.replace_plan(session, plan, plan=Plan("x", 13, "2031-03-14T18:00:00+00:00", 2))
        trials.add_assignments(session, "hidden-gold", [Assignment(*first, "a1", 1)])
    assert leave(sent, "a1").open == 9
