"""The facts on which the next step depends, each from a study whose records are counted by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Assessor, Assignment, Gold, Judgement, PairKey, PairReturn, Source
from annot.judging.next_step import Facts, next_step
from annot.judging.plan_on_record import record_plan
from annot.judging.stage import Stage
from annot.steps import plan
from annot.store import people, pools, runs, trials
from annot.store.answers import JUDGEMENTS, TRIALS, SourcedAnswer, add_returned
from annot.store.models import ImportedSource
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


# -- who is in training, whose screens are old and what is made of the grades ------------------------------------------


Q = "p1-method"
PAIRS = [(Q, f"d{at:02}") for at in range(3)]


@pytest.fixture
def planned(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


@pytest.fixture
def judged(tmp_path: Path) -> Workspace:
    return copied(Small(answers=FirstPairs(40)), "judged", tmp_path / "judged")


def trained(ws: Workspace, *, given: int, was_sent: int, answered: int, counting: int, shown: int) -> Facts:
    """a2 in training, with the first so many of three gold pairs."""
    with ws.writing() as session:
        trials.replace_gold(session, [Gold(*pair, 1, "So.", at) for at, pair in enumerate(PAIRS, 1)])
        rows = [Assignment(*pair, "a2", at) for at, pair in enumerate(PAIRS[:given], 1)]
        trials.add_assignments(session, "train", rows)
        answers = [
            Judgement(*pair, "a2", 1, flags=() if at < counting else ("skipped",))
            for at, pair in enumerate(PAIRS[:answered])
        ]
        TRIALS.record(
            session, [SourcedAnswer(one, "train", f"{at}", {}) for at, one in enumerate(answers)], recorded_at=RECORDED
        )
        trials.put_trial(session, "train-feedback/a2", {"pairs": PAIRS[:shown]})
    if was_sent:
        sent_to(ws, "a2", *(PairKey(*pair) for pair in PAIRS[:was_sent]), round="train")
    return facts(ws)


def test_without_gold_nobody_is_trained(planned: Workspace) -> None:
    assert (facts(planned).to_train, facts(planned).training) == ((), ())


@pytest.mark.parametrize(
    ("given", "was_sent", "answered", "counting", "shown", "to_train", "training"),
    [
        (0, 0, 0, 0, 0, True, False),
        (3, 0, 0, 0, 0, True, False),
        (3, 2, 0, 0, 0, False, True),
        (3, 2, 1, 1, 0, False, True),
        (3, 2, 2, 1, 0, False, True),
        (3, 2, 2, 2, 2, True, False),
        (3, 3, 3, 3, 2, True, False),
        (3, 3, 3, 3, 3, False, False),
    ],
    ids=["not drawn", "drawn", "sent", "begun", "one skipped", "next batch", "gold to show", "done"],
)
def test_a_person_in_training_has_pairs_or_waits_for_a_push_until_all_is_shown(
    planned: Workspace, given: int, was_sent: int, answered: int, counting: int, shown: int,
    to_train: bool, training: bool,
) -> None:  # fmt: skip
    found = trained(planned, given=given, was_sent=was_sent, answered=answered, counting=counting, shown=shown)
    assert ("a2" in found.to_train, "a2" in found.training) == (to_train, training)
    assert found.to_train[:1] == ("a1",), "nothing was sent to a1"


def test_who_has_pairs_to_judge_is_not_trained_any_more(planned: Workspace) -> None:
    sent_to(planned, "a2", PairKey(Q, "d00"))
    found = trained(planned, given=3, was_sent=0, answered=0, counting=0, shown=0)
    assert (found.to_train, found.training) == (("a1",), ())


def test_who_is_in_training_gets_a_letter_in_place_of_one_for_judging(planned: Workspace) -> None:
    found = trained(planned, given=3, was_sent=3, answered=0, counting=0, shown=0)
    assert found.without_letter == ("a2",)


def test_open_tasks_are_shown_again_once_the_screens_changed_after_the_push(planned: Workspace) -> None:
    with planned.reading() as session:
        everyone = {name: [one.pair_key for one in people.read_assignments(session, name)] for name in ("a1", "a2")}
    for number, (name, own) in enumerate(everyone.items(), start=1):
        sent_to(planned, name, *own, remote=number)
    assert (facts(planned).to_send, facts(planned).signing_up) == (0, ())
    states = states_of(planned)
    note(planned, "push", {**states, "people": "others"}, screens=states["screens"])
    assert facts(planned).to_send == 0
    note(planned, "push", {**states, "people": "others"}, screens="others")
    assert facts(planned).to_send == 80
    note(planned, "push", {**states, "people": "others"})
    assert facts(planned).to_send == 0, "nothing is known of the screens"
    note(planned, "push", states, screens="others")
    assert facts(planned).to_send == 0, "the push was just made"


def test_open_disputes_are_shown_again_once_the_screens_changed_after_their_push(judged: Workspace) -> None:
    with judged.reading() as session:
        disputed = Stage(session, judged).outcome.open
    sent_to(judged, "j1", *(PairKey(*pair) for pair in disputed), round="adjudicate")
    assert (len(disputed), facts(judged).to_settle, facts(judged).disputes_to_send) == (
        8,
        {"j1": 8},
        0,
    )
    states = states_of(judged)
    for screens, waiting in ((states["screens"], 0), ("others", 8)):
        note(judged, "push adjudication", {**states, "people": "others"}, screens=screens)
        assert facts(judged).disputes_to_send == waiting


def test_a_project_that_was_never_made_is_nobodys_work(judged: Workspace) -> None:
    sent_to(judged, "j1", PairKey(Q, "d08"), round="adjudicate", remote=None)
    assert (facts(judged).to_settle, facts(judged).disputes_to_send) == ({}, 8)


def test_hidden_gold_is_sent_and_judged_with_the_pairs_of_the_plan(judged: Workspace) -> None:
    with judged.writing() as session:
        trials.add_assignments(session, "hidden-gold", [Assignment(Q, "d99", "a1", 1), Assignment(Q, "p9", "a1", 2)])
    assert (facts(judged).to_send, facts(judged).to_judge) == (2, {})
    sent_to(judged, "a1", PairKey(Q, "d99"))
    assert (facts(judged).to_send, facts(judged).to_judge) == (1, {"a1": 1})
    with judged.writing() as session:
        answer = SourcedAnswer(Judgement(Q, "d99", "a1", 2), "hidden-gold", "7", {})
        TRIALS.record(session, [answer], recorded_at=RECORDED)
    assert (facts(judged).to_send, facts(judged).to_judge) == (1, {})


def test_an_adjudicator_judges_only_if_the_settings_say_so(tmp_path: Path) -> None:
    ws = copied(Small(), "pooled", tmp_path / "study")
    with ws.writing() as session:
        people.put_assessors(
            session, [Assessor("a1", "ann@example.org", False), Assessor("j1", "joe@example.org", True)]
        )
        people.put_assessors(session, [Assessor("a2", "", False)])
    assert facts(ws).seats == 1, "a2 has no account"
    assert facts(ws.replaced("adjudication", adjudicator_may_assess=True)).seats == 0


def test_grades_that_were_imported_have_nobody_who_judges_them_here(judged: Workspace) -> None:
    assert facts(judged).elsewhere is False
    with judged.writing() as session:
        runs.put_import(session, ImportedSource(Source.FILE, "abc", {"rows": 80}))
        people.set_left(session, "j1", RECORDED)
    found = facts(judged)
    assert (found.elsewhere, found.seats, found.growing, found.unread) == (True, 0, 0, False)


def test_guidelines_are_unread_until_they_are_checked_sent_or_judged_by(planned: Workspace, judged: Workspace) -> None:
    assert (facts(planned).unread, facts(judged).unread) == (True, False)
    note(planned, "guidelines", states_of(planned))
    assert facts(planned).unread is False
    note(planned, "guidelines", {**states_of(planned), "pages": "others"})
    assert facts(planned).unread is True
    sent_to(planned, "a1", PairKey(Q, "d00"))
    assert facts(planned).unread is False


def test_labels_are_missing_or_older_than_the_corpus(planned: Workspace) -> None:
    assert (facts(planned).papers, facts(planned).unlabelled) == (True, "")
    note(planned, "facets", states_of(planned))
    assert facts(planned).unlabelled == ""
    note(planned, "facets", {**states_of(planned), "corpus": "others"})
    assert facts(planned).unlabelled == "the papers or the settings have changed since sentences were labelled"
    whole = replace(planned, settings=planned.settings.model_copy(update={"facets": {"whole": ()}}))
    assert (facts(whole).faceted, facts(whole).unlabelled) == (False, "")
