"""Adjudication and what comes after it: disputes out, decisions back, grades that change, pairs that are returned."""

import pytest
from annot.base.records import Assessor, Assignment
from annot.judging.exchange.audit import audit
from annot.judging.plan_on_record import record_plan
from annot.labelstudio.tasks import opinions_in, pair_key
from annot.steps import changes
from annot.store import people
from annot.store.answers import ADJUDICATIONS
from annot.store.database import open_store
from annot.study.outcome import changed_after_adjudication
from studio_in_memory import Killed
from study_stages import quietly
from worlds import PEOPLE, Pair, World, result


def changed(world: World) -> list[tuple[Pair, str, int | None, int | None]]:
    with open_store(world.ws.database_url) as store, store.read() as session:
        changes = changed_after_adjudication(session)
    return [(before.pair, before.assessor, before.grade, after.grade) for before, after in changes]


def give_back(world: World, pair: Pair, name: str = "a1", *, undo: bool = False) -> None:
    why = "Look at the last sentence."
    changes.change_one(world.ws, pair, assessor=name, why=why, undo=undo, dry_run=False)


def test_only_the_disputes_are_sent_with_both_grades_and_settled(judged: World) -> None:
    (row,) = judged.push("adjudication").projects
    assert (row.assessor, row.planned, row.sent) == ("j1", 2, 2)
    assert set(judged.tasks("j1", "adjudicate")) == {pair_key(*pair) for pair in judged.disputed}
    for task in judged.studio.tasks_of(judged.project("j1", "adjudicate")):
        said = opinions_in(task["data"])
        assert said is not None
        assert sorted(said[name][0] for name in ("rating_a", "rating_b")) == ["1", "3"]
    assert judged.outcome.open == tuple(judged.disputed)
    judged.judge("j1", dict.fromkeys(judged.disputed[:1], 2), "adjudicate")
    pulled = judged.pull("adjudication")
    assert (pulled.open, pulled.assessors[0].new) == (1, 1)
    judged.judge("j1", dict.fromkeys(judged.disputed[1:], 0), "adjudicate")
    assert judged.pull("adjudication").open == 0
    first, second = judged.disputed
    assert judged.grades() == {first: 2, second: 0} | dict.fromkeys(judged.pairs[2:], 1)


def test_a_dispute_whose_grades_change_is_another_task(judged: World) -> None:
    judged.push("adjudication")
    (pair, _) = judged.disputed
    before = judged.tasks("j1", "adjudicate")
    (given,) = judged.studio.annotations_on(judged.tasks("a2")[pair_key(*pair)])
    judged.studio.change(given["id"], result(0))
    judged.pull()
    (row,) = judged.push("adjudication").projects
    assert (row.sent, row.withdrawn) == (1, 1)
    after = judged.tasks("j1", "adjudicate")
    assert {key for key in before if before[key] != after[key]} == {pair_key(*pair)}


def test_a_grade_that_changes_after_the_decision_is_named_and_the_decision_stands(settled: World) -> None:
    (pair, _) = settled.disputed
    assert changed(settled) == []
    (given,) = settled.studio.annotations_on(settled.tasks("a2")[pair_key(*pair)])
    settled.studio.change(given["id"], result(1))
    settled.pull()
    assert changed(settled) == [(pair, "a2", 3, 1)]
    assert settled.grades()[pair] == 2


def test_a_returned_pair_waits_and_comes_again_with_its_reason(judged: World) -> None:
    (*_, pair) = judged.pairs
    give_back(judged, pair)
    assert judged.outcome.waiting == (pair,)
    assert pair not in judged.grades()
    (row, _) = judged.push().projects
    assert (row.planned, row.sent) == (11, 1)
    (task,) = [one for one in judged.studio.tasks_of(judged.project("a1")) if "Look at the last" in str(one["data"])]
    judged.studio.annotate(task["id"], result(3), email=PEOPLE["a1"])
    assert judged.pull().open == 0
    outcome = judged.outcome
    assert (outcome.waiting, [one.grade for one in outcome.again]) == ((), [3])
    # 1 and 3 now: a new dispute; the first answer stays where agreement is measured.
    assert pair in outcome.open
    assert {one.grade for one in outcome.judgements if one.pair == pair} == {1}


def test_a_returned_pair_that_is_settled_before_it_is_answered_waits_no_longer(judged: World) -> None:
    (pair, _) = judged.disputed
    judged.push("adjudication")
    give_back(judged, pair)
    assert judged.outcome.waiting == (pair,)
    judged.studio.now = judged.studio.now.replace(year=judged.studio.now.year + 1)
    judged.judge("j1", {pair: 2}, "adjudicate")
    judged.pull("adjudication")
    assert judged.outcome.waiting == ()
    assert judged.outcome.incomplete == ()
    assert judged.grades()[pair] == 2


def test_a_settled_pair_that_is_returned_is_open_again_and_settled_anew(settled: World) -> None:
    (pair, _) = settled.disputed
    give_back(settled, pair)
    assert pair not in settled.grades()
    assert settled.outcome.waiting == (pair,)
    settled.push()
    settled.studio.now = settled.studio.now.replace(year=settled.studio.now.year + 1)
    (again,) = settled.outcome.returned
    settled.judge("a1", {pair: 0}, occasion=again.pair_key.occasion)
    settled.pull()
    assert settled.outcome.reopened == {pair: 1}
    assert settled.outcome.open == (pair,)
    settled.push("adjudication")
    settled.judge("j1", {pair: 1}, "adjudicate", occasion=2)
    settled.pull("adjudication")
    assert settled.grades()[pair] == 1


def test_an_adjudicator_who_cannot_judge_ends_the_pair_without_a_grade(judged: World) -> None:
    judged.push("adjudication")
    (pair, other) = judged.disputed
    judged.judge("j1", {pair: None, other: 2}, "adjudicate")
    judged.pull("adjudication")
    outcome = judged.outcome
    assert list(outcome.unjudgeable) == [pair]
    assert outcome.open == ()
    assert pair not in judged.grades()
    (row,) = judged.push("adjudication").projects
    assert (row.planned, row.there, row.sent) == (2, 2, 0)


@pytest.mark.parametrize("number", [5, 10])
def test_a_push_of_disputes_killed_anywhere_leaves_each_once(judged: World, number: int) -> None:
    judged.studio.kill_at(number)
    with pytest.raises(Killed):
        judged.push("adjudication")
    judged.push("adjudication")
    assert sorted(judged.tasks("j1", "adjudicate")) == sorted(pair_key(*pair) for pair in judged.disputed)
    assert len(judged.studio.projects_of("/adjudicate/j1]")) == 1
    assert len(judged.studio.tasks_of(judged.project("j1", "adjudicate"))) == 2


def test_a_decision_that_is_gone_counts_until_it_is_accepted(settled: World) -> None:
    for task in settled.tasks("j1", "adjudicate").values():
        for given in settled.studio.annotations_on(task):
            settled.studio.delete_annotation(given["id"])
    pulled = settled.pull("adjudication")
    assert [one.why for one in pulled.lost] == ["its annotation was deleted"] * 2
    assert {one.push for one in pulled.lost} == {"annot push adjudication"}
    assert len(settled.grades()) == 10
    settled.pull("adjudication", accept_deletions=True)
    assert settled.outcome.open == tuple(settled.disputed)


def with_needs(world: World) -> set[str]:
    """The keys of j1's tasks that need a cause and a reason."""
    keys = {number: key for key, number in world.tasks("j1", "adjudicate").items()}
    filled_in = [one for one in world.studio.predictions.values() if one["task"] in keys]
    needs = {(one["task"], region["from_name"]) for one in filled_in for region in one["result"]}
    both = [{keys[task] for task, name in needs if name == need} for need in ("reason_needed", "cause_needed")]
    assert both[0] == both[1]
    return both[0]


def test_grades_two_apart_need_a_cause_and_a_reason_and_grades_one_apart_do_not(judged: World) -> None:
    far, near = judged.disputed
    (given,) = judged.studio.annotations_on(judged.tasks("a2")[pair_key(*near)])
    judged.studio.change(given["id"], result(2))
    judged.pull()
    judged.push("adjudication")
    assert with_needs(judged) == {pair_key(*far)}
    assert audit(judged.ws, advance=quietly).findings == ()
    # The other way round: a grade that changes makes another task of the dispute.
    (given,) = judged.studio.annotations_on(judged.tasks("a2")[pair_key(*far)])
    judged.studio.change(given["id"], result(2))
    judged.pull()
    judged.push("adjudication")
    assert with_needs(judged) == set()


def test_a_decision_keeps_whose_grades_its_task_showed_whatever_is_planned_and_set_later(settled: World) -> None:
    def decisions() -> list[tuple[str, tuple[str, ...], int]]:
        with open_store(settled.ws.database_url) as store, store.read() as session:
            return [(one.ratings, one.shown, one.revision) for one in ADJUDICATIONS.records(session)]

    before = decisions()
    assert [(ratings, {*shown}, revision) for ratings, shown, revision in before] == [("shown", {"a1", "a2"}, 1)] * 2
    with settled.ws.writing() as session:
        people.put_assessors(session, [Assessor("a3", "a3@example.org", adjudicator=False)])
        more = [Assignment(*pair, "a3", place) for place, pair in enumerate(settled.pairs, start=1)]
        record_plan(settled.ws, session, [*people.read_assignments(session), *more], per_pair=3)
    settled.ws.settings_file.write_text(
        settled.ws.settings_file.read_text().replace("per_pair = 2", "per_pair = 3").replace('"shown"', '"hidden"')
    )
    assert settled.ws.settings.adjudication.ratings == "hidden"
    assert settled.pull("adjudication").assessors[0].changed == 0
    assert decisions() == before
    assert audit(settled.ws, advance=quietly).findings == ()
