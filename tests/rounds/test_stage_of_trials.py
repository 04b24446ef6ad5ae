"""Who is in training, whose screens are old and what is made of the grades: facts of a study counted by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.records import Assessor, Assignment, Gold, Judgement, PairKey, Source
from annot.judging.next_step import Facts
from annot.judging.stage import Stage
from annot.store import people, runs, trials
from annot.store.answers import TRIALS, SourcedAnswer
from annot.store.models import ImportedSource
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace
from small_study import RECORDED, FirstPairs, Small, sent_to
from study_stages import copied

Q = "p1-method"
PAIRS = [(Q, f"d{at:02}") for at in range(3)]


@pytest.fixture
def planned(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


@pytest.fixture
def judged(tmp_path: Path) -> Workspace:
    return copied(Small(answers=FirstPairs(40)), "judged", tmp_path / "judged")


def facts(ws: Workspace) -> Facts:
    with ws.reading() as session:
        return Stage(session, ws).facts()


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
    assert (len(disputed), facts(judged).to_settle, facts(judged).disputes_to_send) == (8, {"j1": 8}, 0)
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
