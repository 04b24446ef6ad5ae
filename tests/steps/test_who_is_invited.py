"""Who gets a letter in which role, how much work it names, and in which words it says the time."""

from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Assessor, Assignment, PairKey
from annot.base.words import ENGLISH
from annot.steps.people import Addressee, Letter, Workload, _chosen, addressees, spoken_time
from annot.store import people, trials
from annot.store.models import Plan
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, RECORDED, FirstPairs, Small, sent_to
from study_stages import copied


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (2, "5 minutes"),
        (8, "10 minutes"),
        (22, "20 minutes"),
        (44, "45 minutes"),
        (45, "1 hour"),
        (74, "1 hour"),
        (76, "1.5 hours"),
        (150, "2.5 hours"),
    ],
)
def test_time_is_said_to_five_minutes_and_from_three_quarters_of_an_hour_on_to_half_hours(
    minutes: int, said: str
) -> None:
    assert spoken_time(minutes / 60, ENGLISH) == said


def test_the_time_of_a_letter_is_for_what_is_still_to_do() -> None:
    assert Workload(40, 10, seconds=60.0, timed=False).left == 30
    assert Workload(40, 10, seconds=60.0, timed=False).time(ENGLISH) == "30 minutes"
    assert Workload(40, 10, seconds=None, timed=False).time(ENGLISH) == ""


def letter(name: str, *, path: Path | None) -> Letter:
    return Letter(name, "judge", None, "", f"Dear {name}\n", path, None, counted=False)


def addressee(person: Assessor) -> Addressee:
    return Addressee(person, "judge", None, None, 0, None)


def test_only_people_who_are_there_and_have_an_account_are_invited() -> None:
    ann, bob = Assessor("a1", "ann@example.org", False), Assessor("a2", None, False)
    left = Assessor("a3", "c@example.org", False, left_on=RECORDED)
    everyone = {one.assessor: one for one in (ann, bob, left)}
    possible = [addressee(ann), addressee(bob)]
    assert _chosen(everyone, ("a1",), possible) == [addressee(ann)]
    assert _chosen({"a1": ann}, (), [addressee(ann)]) == [addressee(ann)]
    with pytest.raises(InputError, match="2 people cannot be invited") as error:
        _chosen(everyone, ("a1", "a2", "a3"), possible)
    assert [fault.partition(":")[0] for fault in error.value.faults] == ["a3", "a2"]
    with pytest.raises(InputError, match="1 person cannot be invited"):
        _chosen(everyone, (), possible)
    with pytest.raises(InputError, match="assessor"):
        _chosen(everyone, ("a9",), possible)
    with pytest.raises(MissingInput, match="no one to invite: the others have left"):
        _chosen(everyone, (), [])
    with pytest.raises(MissingInput, match=r"no one to invite$"):
        _chosen({}, (), [])


def found(ws: Workspace) -> list[Addressee]:
    with ws.reading() as session:
        return addressees(session, ws)


def study(folder: Path, *, judged: int) -> Workspace:
    return copied(Small(answers=FirstPairs(judged)), "judged", folder / "study")


def test_everyone_who_has_not_left_is_written_to_in_each_of_their_roles(tmp_path: Path) -> None:
    ws = study(tmp_path, judged=10)
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
    assert [(one.person.assessor, one.role) for one in found(ws)] == [("a1", "judge"), ("j1", "adjudicate")]
    with ws.writing() as session:
        plan = people.read_assignments(session)
        more = [*plan, Assignment("p1-method", "d00", "j1", 1)]
        people.replace_plan(session, more, plan=Plan("2", 13, RECORDED, 2))
    roles = [(one.person.assessor, one.role) for one in found(ws)]
    assert roles == [("a1", "judge"), ("j1", "judge"), ("j1", "adjudicate")]


def test_work_is_counted_from_the_plan_and_timed_by_what_the_person_took(tmp_path: Path) -> None:
    first, second, adjudicator = found(study(tmp_path, judged=10))
    assert first.work is not None
    assert second.work is not None
    assert (first.work.pairs, first.work.done, first.work.timed) == (40, 10, True)
    # a1 takes 24 to 36 s a pair, a2 twice that.
    assert first.work.seconds is not None
    assert second.work.seconds is not None
    assert 24 <= first.work.seconds <= 36 < 48 <= second.work.seconds <= 72
    assert (adjudicator.work, adjudicator.project, adjudicator.training) == (None, None, 0)


def test_without_a_time_a_pair_is_taken_to_take_a_minute(tmp_path: Path) -> None:
    first, *_ = found(study(tmp_path, judged=0))
    assert first.work == Workload(40, 0, seconds=60.0, timed=False)
    assert (first.project, first.training, first.training_project) == (None, 0, None)


def test_disputes_are_counted_once_they_are_sent(tmp_path: Path) -> None:
    ws = study(tmp_path, judged=10)
    asked = [PairKey("p1-method", doc) for doc in DOCUMENTS[-3:]]
    sent_to(ws, "j1", *asked, round="adjudicate", remote=None)
    assert found(ws)[-1].project is None
    sent_to(ws, "j1", *asked, round="adjudicate")
    for seconds in (None, 90.0):
        last = found(ws.replaced("forecast", dispute_seconds=seconds))[-1]
        assert last.project is not None
        assert last.project.remote_id == 7
        # d08 and d09 are in dispute, d07 is not.
        assert last.work == Workload(3, 1, seconds=seconds, timed=True)


def test_gold_pairs_come_first_until_they_are_passed(tmp_path: Path) -> None:
    ws = study(tmp_path, judged=0)
    with ws.writing() as session:
        gold = [Assignment("p1-method", doc, "a1", at) for at, doc in enumerate(("d00", "d01", "d02"), start=1)]
        trials.replace_assignments(session, "train", gold)
    sent_to(ws, "a1", *(one.pair_key for one in gold[:2]), round="train", remote=9)
    first, second, _ = found(ws)
    assert (first.training, second.training) == (3, 0)
    assert first.training_sent == 2, "the letter speaks of the pairs that the link opens"
    assert first.training_project is not None
    assert first.training_project.remote_id == 9
    assert second.training_project is None
