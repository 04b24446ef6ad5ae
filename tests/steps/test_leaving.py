"""Who leaves keeps what they answered; their open pairs go on, and what was put before them again is taken back."""

from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import PairReturn
from annot.steps.changes import leave
from annot.store import people
from annot.store.answers import JUDGEMENTS, add_returned, read_returned, withdraw_returned
from annot.study.workspace import Workspace
from small_study import RECORDED, FirstPairs, Small, judgement, sourced
from study_stages import copied

QUERY = "p1-method"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 and a2 have the same forty pairs and answered ten each; a3 has none."""
    names = {name: f"{name}@example.org" for name in ("a1", "a2", "a3", "j1")}
    return copied(Small(people=tuple(names.items()), answers=FirstPairs(10)), "judged", tmp_path / "study")


def test_open_pairs_go_to_who_does_not_have_them_and_answers_stay(ws: Workspace) -> None:
    left = leave(ws, "a1", successor=None, contest=False, offline=True, dry_run=False)
    assert (left.open, left.kept, left.to_withdraw, left.returned) == (30, 10, 0, ())
    assert ([(one.assessor, one.pairs) for one in left.received], left.unassigned) == ([("a3", 30)], ())
    with ws.reading() as session:
        plan = people.read_assignments(session)
        gone = {person.assessor for person in people.read_assessors(session) if person.left_on is not None}
    assert gone == {"a1"}
    assert {name: sum(one.assessor == name for one in plan) for name in ("a1", "a2", "a3")} == {
        "a1": 10, "a2": 40, "a3": 30
    }  # fmt: skip


def test_a_successor_who_has_the_pairs_already_passes_them_on(ws: Workspace) -> None:
    left = leave(ws, "a1", successor="a2", contest=False, offline=True, dry_run=True)
    assert {one.assessor for one in left.elsewhere} == {"a3"}
    assert len(left.elsewhere) == 30
    assert leave(ws, "a1", successor="a3", contest=False, offline=True, dry_run=True).elsewhere == ()


def test_a_dry_run_changes_nothing(ws: Workspace) -> None:
    with ws.reading() as session:
        before = people.read_assignments(session), people.read_assessors(session)
    leave(ws, "a1", successor=None, contest=False, offline=True, dry_run=True)
    with ws.reading() as session:
        assert (people.read_assignments(session), people.read_assessors(session)) == before


@pytest.mark.parametrize("contest", [False, True])
def test_only_what_this_person_was_asked_again_and_has_not_answered_is_taken_back(ws: Workspace, contest: bool) -> None:
    earlier = "2031-03-14T18:30:00+00:00"
    returned = {
        "waits": PairReturn(QUERY, "d00", "a1", 3, "Look again.", RECORDED),
        "answered": PairReturn(QUERY, "d01", "a1", 3, "Look again.", RECORDED),
        "taken back": PairReturn(QUERY, "d02", "a1", 3, "Look again.", RECORDED),
        "another's": PairReturn(QUERY, "d03", "a2", 3, "Look again.", RECORDED),
    }
    with ws.writing() as session:
        for one in returned.values():
            add_returned(session, one)
        withdraw_returned(session, returned["taken back"], withdrawn_at=earlier)
        plan = people.read_assignments(session)
        first = next(one for one in plan if one.pair == (QUERY, "d01") and one.assessor == "a1")
        again = [one._replace(annotation="999") for one in sourced([replace(judgement(first), occasion=3)])]
        JUDGEMENTS.record(session, again, recorded_at=RECORDED)
    left = leave(ws, "a1", successor=None, contest=contest, offline=True, dry_run=False)
    assert (left.returned, left.contested) == (((QUERY, "d00"),), contest)
    with ws.reading() as session:
        found = {one.doc_id: one for one in read_returned(session)}
    assert found["d00"].withdrawn_at not in (None, earlier)
    assert found["d00"].contested == contest
    assert (found["d01"].withdrawn_at, found["d03"].withdrawn_at) == (None, None)
    assert (found["d02"].withdrawn_at, found["d02"].contested) == (earlier, False)


def test_the_successor_has_to_be_another_assessor_who_is_there(ws: Workspace) -> None:
    with ws.writing() as session:
        people.set_left(session, "a3", RECORDED)
    wrong = {"a1": "expected another", "a3": "has also left", "j1": "an adjudicator, expected an assessor"}
    for successor, message in wrong.items():
        with pytest.raises(InputError, match=message):
            leave(ws, "a1", successor=successor, contest=False, offline=True, dry_run=True)
    may = ws.replaced("adjudication", adjudicator_may_assess=True)
    assert leave(may, "a1", successor="j1", contest=False, offline=True, dry_run=True).received[0].assessor == "j1"


def received(ws: Workspace, leaver: str = "a1") -> dict[str, int]:
    left = leave(ws, leaver, successor=None, contest=False, offline=True, dry_run=True)
    return {one.assessor: one.pairs for one in left.received}


@pytest.fixture
def four(tmp_path: Path) -> Workspace:
    """As the study above, with a4 who has no pairs either."""
    names = {name: f"{name}@example.org" for name in ("a1", "a2", "a3", "a4", "j1")}
    return copied(Small(people=tuple(names.items()), answers=FirstPairs(10)), "judged", tmp_path / "study")


def test_open_pairs_are_spread_by_the_shares_of_those_who_are_there(four: Workspace) -> None:
    four = four.replaced("judging", assignment="per-pair")
    assert received(four) == {"a3": 15, "a4": 15}
    with four.writing() as session:
        people.set_shares(session, {"a3": 2.0})
    assert received(four) == {"a3": 20, "a4": 10}
    with four.writing() as session:
        people.set_left(session, "a4", RECORDED)
    assert received(four) == {"a3": 30}


def test_adjudicators_get_pairs_only_if_they_may_assess(four: Workspace) -> None:
    may = four.replaced("adjudication", adjudicator_may_assess=True)
    assert received(may) == {"a3": 10, "a4": 10, "j1": 10}


def test_pairs_of_one_query_stay_together_if_queries_are_assigned_whole(four: Workspace) -> None:
    found = received(four.replaced("judging", assignment="per-query"))
    assert sorted(found.values()) == [10, 20]
