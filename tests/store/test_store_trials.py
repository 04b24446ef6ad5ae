"""Questions and answers outside the collection: kept apart, in order, and guarded once they were sent."""

import pytest
from annot.base.errors import InputError, StoreError
from annot.base.records import Assignment, Gold, Judgement, PairKey
from annot.store import people, projects, trials
from annot.store.answers import JUDGEMENTS, TRIALS, SourcedAnswer
from annot.store.database import Store
from annot.store.models import Plan
from annot.store.projects import read_hidden

AT = "2026-01-01T00:00:00+00:00"


def test_facts_of_a_trial_are_replaced_and_listed_by_name(study: Store) -> None:
    facts = {"pairs": [["p1-method", "d1"]], "value": 0.61, "low": None, "verdict": "passed", "title": "ä"}
    with study.begin() as session:
        trials.put_trial(session, "train/a1", {"verdict": "not finished"})
        trials.put_trial(session, "train/a1", facts)
        trials.put_trial(session, "substudy", {})
    with study.read() as session:
        assert trials.read_trials(session).get("train/a1") == facts
        assert trials.read_trials(session).get("train/a2") is None
        assert list(trials.read_trials(session)) == ["substudy", "train/a1"]


def test_a_round_has_its_own_pairs_and_feedback_shows_those_of_training(study: Store) -> None:
    first = [Assignment("p1-method", "d2", "a1", 1), Assignment("p1-method", "d1", "a1", 2)]
    with study.begin() as session:
        trials.replace_assignments(session, "train", [*first, Assignment("p1-method", "d1", "a2", 1)])
        trials.replace_assignments(session, "substudy-full", [Assignment("p2-method", "d9", "a1", 1)])
        trials.replace_assignments(session, "train", [*first, Assignment("p2-method", "d1", "a1", 3)])
    with study.read() as session:
        asked = [("p1-method", "d2", 1), ("p1-method", "d1", 1), ("p2-method", "d1", 1)]
        for round in ("train", "train-feedback"):
            assert [one.pair_key for one in trials.read_assignments(session, round)] == asked  # type: ignore[arg-type]
        assert trials.read_assignments(session, "train", "a2") == ()
        assert len(trials.read_assignments(session, "substudy-full")) == 1
        assert people.read_assignments(session) == ()
    with pytest.raises(InputError, match="1 unknown query"), study.begin() as session:
        trials.add_assignments(session, "train", [Assignment("p9-method", "d1", "a1", 4)])
    with pytest.raises(StoreError, match="refused the change"), study.begin() as session:
        trials.replace_assignments(session, "train", [first[0], first[0]])


def test_answers_are_kept_by_revision_and_never_among_judgements(study: Store) -> None:
    said = Judgement("p1-method", "d1", "a1", 2, lead_time=4.0)
    with study.begin() as session:
        TRIALS.record(session, [SourcedAnswer(said, "train", "7", {"id": 7}, server="one")], recorded_at=AT)
        changed = Judgement("p1-method", "d1", "a1", 3)
        recorded = TRIALS.record(session, [SourcedAnswer(changed, "train", "7", {}, server="one")], recorded_at=AT)
        assert (recorded.added, recorded.revised) == (0, 1)
        TRIALS.record(session, [SourcedAnswer(said, "substudy-full", "7", {}, server="one")], recorded_at=AT)
    with study.read() as session:
        (answer,) = trials.read_answers(session, "train")
        assert (answer.record.grade, answer.record.revision) == (3, 2)
        assert [one.record.grade for one in trials.read_answers(session, "substudy-full")] == [2]
        assert JUDGEMENTS.records(session) == ()


def test_gold_that_was_sent_keeps_its_grade_and_the_rest_may_change(study: Store) -> None:
    gold = [Gold("p1-method", "d1", 2, "why", 1), Gold("p1-method", "d2", 0, "", 2)]
    with study.begin() as session:
        trials.replace_gold(session, gold)
        project = projects.open_project(
            session, round="train", assessor="a1", server="one", url="http://one", version="1", account_id=1
        )
        projects.record_tasks(session, project.project, {PairKey("p1-method", "d1"): 5})
    reworded = gold[0]._replace(why="better", position=2)
    other = Gold("p2-method", "d2", 1, "", 1)
    with study.begin() as session:
        trials.replace_gold(session, [other, reworded])
    with study.read() as session:
        assert trials.read_gold(session) == (other, reworded)
    for worse in ([other], [reworded._replace(grade=1)]):
        with pytest.raises(InputError, match="1 gold pair") as refused, study.begin() as session:
            trials.replace_gold(session, worse)
        assert "grade 2 on record" in refused.value.faults[0]


def test_hidden_gold_that_the_plan_asks_for_is_hidden_no_more(study: Store) -> None:
    with study.begin() as session:
        hidden = [Assignment("p1-method", f"d{at}", "a1", at) for at in (1, 2)]
        trials.add_assignments(session, "hidden-gold", hidden)
        assert read_hidden(session) == {"a1": (("p1-method", "d1"), ("p1-method", "d2"))}
        plan = Plan("0" * 64, 1, AT)
        people.replace_plan(session, [Assignment("p1-method", "d2", "a1", 1)], plan=plan)
        assert read_hidden(session) == {"a1": (("p1-method", "d1"),)}
