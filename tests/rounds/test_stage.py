"""The facts on which the next step depends, each from a study whose records are counted by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Assessor, PairKey, PairReturn
from annot.judging.next_step import Facts, next_step
from annot.judging.plan_on_record import record_plan
from annot.judging.stage import Stage
from annot.steps import plan
from annot.store import people, pools
from annot.store.answers import JUDGEMENTS, add_returned
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace
from small_study import RECORDED, FirstPairs, Small, judgement, pool_of, sent_to, sourced
from study_stages import copied
from worlds import Rounds

Made = Callable[..., Workspace]


@pytest.fixture
def study(tmp_path: Path) -> Made:
    """A small study at a stage, with people more if they are named."""

    def made(stage: str, *more: str, judged: int = 0) -> Workspace:
        ws = copied(Small(answers=FirstPairs(judged)), stage, tmp_path / "study")
        add(ws, *more)
        return ws

    return made


def add(ws: Workspace, *names: str) -> None:
    with ws.writing() as session:
        people.put_assessors(session, [Assessor(name, f"{name}@example.org", name.startswith("j")) for name in names])


def facts(ws: Workspace) -> Facts:
    with ws.reading() as session:
        return Stage(session, ws).facts()


def test_seats_are_those_that_nobody_takes_until_there_is_a_plan(study: Made) -> None:
    ws = study("pooled")
    assert (facts(ws).seats, facts(ws).queries, facts(ws).pooled, facts(ws).batch) == (2, 4, 4, 4)
    for name, seats in (("a1", 1), ("j1", 1), ("a2", 0), ("a3", 0)):
        add(ws, name)
        assert facts(ws).seats == seats, name


def test_pools_are_old_once_their_settings_have_changed_and_nothing_is_planned(study: Made) -> None:
    ws = study("pooled")
    assert facts(ws).redraw is False
    note(ws, "pool", states_of(ws))
    assert facts(ws).redraw is False
    changed = ws.replaced("pool", per_method=ws.settings.pool.per_method + 1)
    assert facts(changed).redraw is True


def test_a_plan_with_all_its_people_lacks_nobody_however_many_there_are(study: Made) -> None:
    found = facts(study("planned", "a3"))
    assert (found.planned, found.growing, found.to_fill, found.missing, found.vacant) == (40, 0, 0, 0, 0)
    assert (found.to_send, found.seats, found.batch) == (80, 0, 0)


def test_a_plan_of_pairs_that_left_the_pools_is_taken_back_and_made_anew(study: Made) -> None:
    ws = study("planned")
    shorter = [replace(pool, entries=pool.entries[2:]) for pool in map(pool_of, ("p1", "p2", "p3", "p4"))]
    with ws.writing() as session:
        pools.replace_pools(session, shorter, rankings_sha256={pool.topic_id: "abc" for pool in shorter})
    assert facts(ws).unpooled_plan == 8
    assert next_step(facts(ws)).command == "annot plan --withdraw"
    with pytest.raises(InputError, match="16 faults") as refused:
        make_plan(ws)
    assert "annot plan --withdraw" in str(refused.value.hint)
    plan.withdraw(ws, queries=(), sent=False, dry_run=False)
    make_plan(ws)
    assert (facts(ws).unpooled_plan, facts(ws).planned) == (0, 32)


def make_plan(ws: Workspace) -> None:
    plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False)


def test_pairs_of_the_pool_that_the_plan_has_not_are_counted_one_by_one(study: Made) -> None:
    ws = study("planned")
    with ws.writing() as session:
        plan = people.read_assignments(session)
        record_plan(ws, session, [one for one in plan if one.doc_id != "d09" or one.query_id == "p4-method"])
    assert (facts(ws).planned, facts(ws).growing, facts(ws).batch) == (37, 3, 0)
    with ws.writing() as session:
        record_plan(ws, session, [one for one in plan if one.query_id != "p4-method"])
    assert (facts(ws).planned, facts(ws).growing, facts(ws).batch) == (30, 0, 1)
    assert facts(ws.replaced("judging", per_pair=3)).growing == 0, "there is no third person"
    add(ws, "a3")
    assert facts(ws.replaced("judging", per_pair=3)).growing == 30


def test_pairs_of_who_left_are_to_fill_if_somebody_can_take_them(study: Made) -> None:
    ws = study("planned")
    with ws.writing() as session:
        plan = people.read_assignments(session)
        gone = [one for one in plan if one.assessor == "a2"][:3]
        people.set_left(session, "a2", RECORDED)
        record_plan(ws, session, [one for one in plan if one not in gone], handed_on=gone)
    assert facts(ws).to_fill == 0
    add(ws, "a3")
    assert facts(ws).to_fill == 3


def test_what_a_person_who_left_still_has_to_judge_is_handed_on(study: Made) -> None:
    """a1 has judged all 40 pairs; a2 has left, and the plan still has the last one as theirs."""
    ws = study("judged", judged=39)
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
        last = judgement(people.read_assignments(session, "a1")[-1])
        JUDGEMENTS.record(session, sourced([last]), recorded_at=RECORDED)
    assert (facts(ws).leavers, facts(ws).missing, facts(ws).vacant, facts(ws).to_judge) == (("a2",), 1, 0, {})
    with ws.reading() as session:
        assert next_step(Stage(session, ws).facts()).command == "annot assessor leave a2"


def test_what_was_sent_and_not_answered_is_to_judge_and_the_rest_to_send(study: Made) -> None:
    ws = study("judged", judged=5)
    with ws.reading() as session:
        mine = [one.pair_key for one in people.read_assignments(session, "a1")]
    sent_to(ws, "a1", *mine[:20], PairKey("p1-method", "d99"))
    found = facts(ws)
    assert (found.sent, found.judged) == (True, True)
    assert found.to_judge == {"a1": 15}
    # 20 of a1, 35 of a2, and the one that is nobody's to withdraw.
    assert (found.to_send, found.signing_up) == (20 + 35 + 1, ())
    note(ws, "push", states_of(ws), without_account=["a2"])
    assert (facts(ws).to_send, facts(ws).signing_up) == (20, ("a2",))
    note(ws, "push", states_of(ws), without_account=["a1", "a2"])
    assert (facts(ws).to_send, facts(ws).signing_up) == (0, ("a1", "a2"))


def test_a_returned_pair_is_to_send_again(study: Made) -> None:
    ws = study("judged", judged=40)
    with ws.writing() as session:
        add_returned(session, PairReturn("p1-method", "d00", "a1", 3, "Look again.", RECORDED))
    assert facts(ws).to_send == 1
    sent_to(ws, "a1", PairKey("p1-method", "d00", 3))
    assert (facts(ws).to_send, facts(ws).to_judge) == (0, {"a1": 1})


def test_disputes_are_sent_to_adjudicators_who_may_settle_them(study: Made) -> None:
    ws = study("judged", judged=40)
    found = facts(ws)
    assert (found.open, found.disputes_to_send, found.without_adjudicator, found.to_settle) == (8, 8, 0, {})
    note(ws, "push adjudication", states_of(ws), without_account=[])
    assert (facts(ws).disputes_to_send, facts(ws).adjudicators_signing_up) == (8, ())
    note(ws, "push adjudication", states_of(ws), without_account=["j1"])
    assert (facts(ws).disputes_to_send, facts(ws).adjudicators_signing_up) == (0, ("j1",))
    with ws.writing() as session:
        people.set_left(session, "j1", RECORDED)
    assert (facts(ws).without_adjudicator, facts(ws).disputes_to_send) == (8, 0)


def test_disputes_that_were_sent_are_to_settle_and_those_that_ended_to_withdraw(study: Made) -> None:
    ws = study("judged", judged=40)
    sent_to(ws, "j1", PairKey("p1-method", "d08"), PairKey("p1-method", "d00"), round="adjudicate")
    found = facts(ws)
    assert (found.to_settle, found.disputes_to_send) == ({"j1": 1}, 7 + 1)


def test_what_is_made_of_the_grades_is_looked_at_once_there_are_all(study: Made, tmp_path: Path) -> None:
    waiting = facts(study("judged", judged=40))
    assert (waiting.judged, waiting.old, waiting.questions) == (True, frozenset(), 0)
    ws = copied(Rounds(), "settled", tmp_path / "settled")
    found = facts(ws)
    assert (found.open, found.missing, found.to_judge) == (0, 0, {})
    assert found.old >= {"qrels", "agreement", "evaluate", "report", "release", "backup"}
    assert (found.questions, found.runs, found.old_runs, found.release) == (0, False, (), "FOLDER")


def test_whoever_has_tasks_and_no_letter_gets_one_unless_they_have_begun(study: Made) -> None:
    ws = study("judged", judged=0)
    with ws.reading() as session:
        mine = [one.pair_key for one in people.read_assignments(session, "a1")]
    sent_to(ws, "a1", *mine)
    assert facts(ws).without_letter == ("a1",)
