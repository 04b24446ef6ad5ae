"""Judging, out and back: what is sent, what comes, what counts."""

import pytest
from annot.judging.exchange.audit import audit
from annot.labelstudio.tasks import pair_key
from studio_in_memory import Killed
from worlds import PEOPLE, World, result


def told(world: World) -> list[tuple[str, str, str]]:
    """Of each finding of an audit: its kind is in its words."""
    found = audit(world.ws, advance=lambda done, total: None)
    return [(one.kind, one.what, one.do) for one in found.findings]


def test_what_is_planned_is_sent_once_and_comes_back(planned: World) -> None:
    first = planned.push()
    assert [(row.assessor, row.planned, row.sent) for row in first.projects] == [("a1", 10, 10), ("a2", 10, 10)]
    again = planned.push()
    assert [(row.assessor, row.there, row.sent) for row in again.projects] == [("a1", 10, 0), ("a2", 10, 0)]
    assert len(planned.studio.tasks) == 20
    grades = {pair: at % 4 for at, pair in enumerate(planned.pairs)}
    planned.judge("a1", grades)
    pulled = planned.pull()
    assert [(row.assessor, row.judged, row.new) for row in pulled.assessors] == [("a1", 10, 10), ("a2", 0, 0)]
    assert pulled.open == 10
    planned.judge("a2", grades)
    assert planned.pull().open == 0
    assert planned.grades() == grades


def test_the_latest_grade_counts_and_the_first_stays_on_record(sent: World) -> None:
    (pair, *_) = sent.pairs
    made = sent.judge("a1", {pair: 1})
    sent.pull()
    sent.studio.change(made[pair], result(3))
    (row, _) = sent.pull().assessors
    assert (row.new, row.changed, row.judged) == (0, 1, 1)
    assert [one.grade for one in sent.outcome.judgements] == [3]
    (row, _) = sent.pull().assessors
    assert (row.new, row.changed) == (0, 0)


def test_an_answer_that_is_gone_counts_until_the_lead_accepts_it(sent: World) -> None:
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:3], 2))
    sent.pull()
    first, second, third = sent.pairs[:3]
    sent.studio.delete_annotation(made[first])
    sent.studio.delete_task(sent.tasks("a1")[pair_key(*second)])
    pulled = sent.pull()
    assert [(one.doc_id, one.why) for one in pulled.lost] == [
        (first[1], "its annotation was deleted"),
        (second[1], "its task was deleted"),
    ]
    assert len(sent.outcome.judgements) == 3
    finding = pulled.finding("annot pull")
    assert finding is not None
    assert "2 answers changed or missing" in finding.message
    assert sent.pull(accept_deletions=True).withdrawn
    assert [one.pair for one in sent.outcome.judgements if one.counts] == [third]
    # What is missing and unanswered is sent again.
    (row, _) = sent.push().projects
    assert (row.planned, row.there, row.sent) == (10, 9, 1)


def test_a_project_that_was_deleted_is_made_again_with_its_open_tasks(sent: World) -> None:
    sent.judge("a1", dict.fromkeys(sent.pairs[:4], 1))
    sent.pull()
    sent.studio.delete_project(sent.project("a1"))
    pulled = sent.pull()
    assert {one.why for one in pulled.lost} == {"its project was deleted"}
    assert "a1: the project is missing from the server" in pulled.notes[0]
    (row, _) = sent.push().projects
    assert (row.planned, row.sent, row.known) == (10, 6, 4)
    there = sent.tasks("a1")
    again = sent.push()
    assert "a1: 4 tasks not sent again: the answers are on record" in again.notes
    # Open tasks stay for whoever is at work on them.
    assert (again.projects[0].sent, again.projects[0].updated, sent.tasks("a1")) == (0, 0, there)


def test_what_somebody_else_answers_or_changes_does_not_count(sent: World) -> None:
    first, second, third, *_ = sent.pairs
    made = sent.judge("a1", {first: 1})
    sent.studio.change(made[first], result(3), email=PEOPLE["a2"])
    there = sent.tasks("a1")
    sent.studio.annotate(there[pair_key(*second)], result(2), email=PEOPLE["a2"])
    sent.studio.annotate(there[pair_key(*third)], result(2), email=PEOPLE["a1"], cancelled=True)
    sent.studio.annotate(there[pair_key(*sent.pairs[3])], [], email=PEOPLE["a1"])
    pulled = sent.pull()
    assert (pulled.assessors[0].judged, pulled.assessors[0].flagged) == (0, 4)
    assert [note.partition(": ")[2] for note in pulled.notes] == [
        "1 annotation not counted: by another account than the planned one",
        "1 annotation not counted: last changed by another account, not by its author",
        "1 annotation not counted: no grade",
        "1 annotation not counted: skipped",
        "without an answer that counts: "
        + "; ".join(" ".join(pair) for pair in sent.pairs[:3])
        + ", and 1 more; Label Studio asks again once you have deleted their annotations there",
    ]


def test_an_answer_that_another_account_edits_after_a_pull_stays_the_persons_own(sent: World) -> None:
    made = sent.judge("a1", {sent.pairs[0]: 1})
    sent.pull()
    sent.studio.change(made[sent.pairs[0]], result(3), email=PEOPLE["a2"])
    pulled = sent.pull()
    assert pulled.lost == ()
    assert "a1: 1 answer changed by another account; the person's own answers count" in pulled.notes
    assert [one.grade for one in sent.outcome.judgements] == [1]


def test_a_project_changed_by_hand_is_set_back_and_told(sent: World) -> None:
    project = sent.studio.projects[sent.project("a1")]
    screen = project["label_config"]
    project |= {"label_config": "<View></View>", "show_skip_button": True}
    kinds = [what for _, what, _ in told(sent)]
    assert any("the screen" in what for what in kinds)
    notes = sent.push().notes
    assert len(notes) == 1
    assert notes[0].startswith("a1: changed on the server by hand, and changed back now:")
    assert "the screen" in notes[0]
    assert "show_skip_button" in notes[0]
    assert (project["label_config"], project["show_skip_button"]) == (screen, False)
    assert sent.push().notes == ()


@pytest.mark.parametrize("number", [3, 12, 17, 22])
def test_a_push_killed_anywhere_leaves_each_task_once_after_the_next(planned: World, number: int) -> None:
    planned.studio.kill_at(number)
    with pytest.raises(Killed):
        planned.push()
    planned.push()
    for name in ("a1", "a2"):
        assert len(planned.studio.projects_of(f"[annot:small/judge/{name}]")) == 1
        keys = [task["data"]["pair_id"] for task in planned.studio.tasks_of(planned.project(name))]
        assert len(set(keys)) == len(keys) == 10
    planned.judge("a1", dict.fromkeys(planned.pairs, 1))
    assert planned.pull().assessors[0].judged == 10


@pytest.mark.parametrize("number", [4, 6, 8])
def test_a_pull_killed_anywhere_loses_nothing(sent: World, number: int) -> None:
    sent.judge("a1", dict.fromkeys(sent.pairs, 1))
    sent.judge("a2", dict.fromkeys(sent.pairs, 1))
    sent.studio.kill_at(number)
    with pytest.raises(Killed):
        sent.pull()
    assert [(row.judged, row.lost) for row in sent.pull().assessors] == [(10, 0), (10, 0)]


def test_a_server_set_back_to_a_backup_costs_no_answer(sent: World) -> None:
    sent.judge("a1", dict.fromkeys(sent.pairs[:4], 1))
    kept = sent.studio.kept()
    sent.judge("a1", dict.fromkeys(sent.pairs[4:6], 2))
    sent.pull()
    sent.studio.restore(kept)
    pulled = sent.pull()
    assert {one.why for one in pulled.lost} == {"the server has an earlier state, as after a restore from a backup"}
    assert len(pulled.lost) == 2
    # Nobody is asked twice: the two that stand there unanswered go.
    notes = sent.push().notes
    assert "a1: 2 tasks not sent again: the answers are on record" in notes
    assert "a1: 2 of them had no answer on the server and were deleted" in notes
    assert len(sent.tasks("a1")) == 8
    # The numbers of the lost answers are given again, to others.
    sent.judge("a1", dict.fromkeys(sent.pairs[6:8], 3))
    sent.pull()
    found = {one.pair: one.grade for one in sent.outcome.judgements if one.counts}
    assert [found[pair] for pair in sent.pairs[:8]] == [1, 1, 1, 1, 2, 2, 3, 3]


def test_a_deleted_answer_given_again_counts_as_it_is_now(sent: World) -> None:
    (pair, *_) = sent.pairs
    made = sent.judge("a1", {pair: 1})
    sent.pull()
    sent.studio.delete_annotation(made[pair])
    sent.judge("a1", {pair: 2})
    pulled = sent.pull()
    assert pulled.lost == ()
    assert [one.grade for one in sent.outcome.judgements] == [2]
