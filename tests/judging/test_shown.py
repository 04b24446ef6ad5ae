"""What a task shows, held against what is on record: each thing that may change with time, and each that may not."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Assignment, Gold, Judgement, PairKey, PairReturn
from annot.base.words import ENGLISH
from annot.corpus.corpus_facts import papers_of
from annot.judging.exchange.displayed_content import changed_tasks
from annot.judging.exchange.outgoing import TaskMaterial, tasks_of
from annot.labelstudio.studio_records import PulledTask
from annot.labelstudio.tasks import adjudicate_task, facets_task, feedback_task, full_text_task, pair_key, returned_task
from annot.store import trials
from annot.store.answers import JUDGEMENTS, TRIALS, SourcedJudgement, add_returned
from annot.store.models import Project, StoredRound
from annot.store.shown import record_versions, version
from annot.study.workspace import Workspace
from small_study import RECORDED, FirstPairs, Small, sourced
from study_stages import copied

QUERY = "p1-method"
FIRST, SECOND = PairKey(QUERY, "d08"), PairKey(QUERY, "d01")
"""On the first a1 gives 0 and a2 gives 1; on the second both give 2."""
SCALE = ("Irrelevant", "Related", "Similar", "Near-identical")
EARLIER_HELP = "What an earlier page said."


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Ten pairs are judged; earlier guidelines, a returned pair, gold and an answer in training are on record."""
    ws = copied(Small(answers=FirstPairs(10)), "judged", tmp_path_factory.mktemp("shown") / "study")
    with ws.writing() as session:
        text = f"# Method\n\n{EARLIER_HELP}\n"
        record_versions(session, [version("guidelines", "method", text, since=RECORDED)])
        add_returned(session, PairReturn(QUERY, "d08", "a1", 3, "Look again.", RECORDED))
    return ws


def project(round: StoredRound, person: str = "a1") -> Project:
    return Project(1, round, person, "one", "http://studio.example", "1.23.2", 7, 1, None)


def task_of(ws: Workspace, asked: PairKey = FIRST) -> dict[str, Any]:
    """The task of judging, alone of its query."""
    return tasks_of(ws, TaskMaterial(ws, {asked.pair}), [asked], words=ENGLISH)[asked]


def is_as_sent(
    ws: Workspace, round: StoredRound, task: dict[str, Any], *, asked: PairKey = FIRST, person: str = "a1", **data: Any
) -> bool:
    """Whether the task, with these data in the place of its own, passes; a value of None is left out."""
    key = pair_key(*asked)
    shown = {name: value for name, value in {**task["data"], **data}.items() if value is not None}
    changed = changed_tasks(ws, project(round, person), [PulledTask(key, (), data=shown, task_id=1)], {key: asked})
    assert changed in ((), (key,))
    return not changed


@pytest.mark.parametrize(
    ("data", "passes"),
    [
        ({}, True),
        ({"pair_id": "sealed"}, True),
        ({"progress": "7 of 9 · query 2, candidate 3 of 4"}, True),
        ({"progress": "9 of 9, the last for now · query 2, candidate 4 of 4"}, True),
        ({"progress": "7 of 9 · query 2, candidate 3 of 4, graded 3"}, False),
        ({"facet_help": EARLIER_HELP}, True),
        ({"facet_help": "Give 3."}, False),
        ({"facet": "result"}, False),
        ({"facet": None}, False),
        ({"note": "Give 3."}, False),
        ({"progress": 3}, False),
        ({"rating_a": "1 Related"}, False),
    ],
)
def test_of_a_task_of_judging_only_its_place_and_its_help_may_be_older(
    ws: Workspace, data: dict[str, Any], passes: bool
) -> None:
    assert is_as_sent(ws, "judge", task_of(ws), **data) is passes


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        (lambda html: html.replace('class="a-s a-hit"', 'class="a-s"'), True),
        (lambda html: html.replace("a-wants-method", "a-wants-result"), True),
        (lambda html: html.replace("How d08.", "How d08 (3)."), False),
        (lambda html: html.replace("Title of d08", "Title of d09"), False),
        (lambda html: html.replace("<p ", '<p title="3" ', 1), False),
        (lambda html: html.replace("</p>", "</p><p>Give 3.</p>", 1), False),
        (lambda html: html + "<script>x</script>", False),
        (lambda html: html + '<div class="a-gave a-gave-3b"></div>', False),
    ],
)
def test_marks_may_change_and_no_word_or_tag(ws: Workspace, change: Callable[[str], str], passes: bool) -> None:
    task = task_of(ws)
    changed = change(task["data"]["pair_html"])
    assert changed != task["data"]["pair_html"]
    assert is_as_sent(ws, "judge", task, pair_html=changed) is passes


def test_a_returned_task_shows_its_reason_to_its_own_person_alone(ws: Workspace) -> None:
    again = FIRST._replace(occasion=3)
    task = returned_task(task_of(ws, again), "Look again.")
    assert is_as_sent(ws, "judge", task, asked=again)
    assert not is_as_sent(ws, "judge", task, asked=again, person="a2")
    assert not is_as_sent(ws, "judge", returned_task(task_of(ws, again), "Give 3."), asked=again)
    assert not is_as_sent(ws, "judge", task_of(ws, again), asked=again)
    assert is_as_sent(ws, "judge", task_of(ws))
    assert not is_as_sent(ws, "train", task, asked=again)


def said(grade: int | None, comment: str | None = None, why: str | None = None) -> Judgement:
    return Judgement(QUERY, "d08", "a9", grade, comment=comment, cannot_judge=why)


@pytest.mark.parametrize(
    ("opinions", "passes"),
    [
        ([said(0), said(1)], True),
        ([said(1), said(0)], True),
        ([], True),
        ([said(0), said(3)], False),
        ([said(0), said(0)], False),
        ([said(0)], False),
        ([said(0), said(1), said(1)], False),
        ([said(0, "close"), said(1)], False),
    ],
)
def test_an_adjudicator_is_shown_what_all_assessors_said_or_nothing(
    ws: Workspace, opinions: Sequence[Judgement], passes: bool
) -> None:
    task = adjudicate_task(task_of(ws), opinions, scale_names=SCALE)
    assert is_as_sent(ws, "adjudicate", task, person="j1") is passes
    assert is_as_sent(ws, "judge", task) is (not opinions)
    assert is_as_sent(ws, "adjudicate", task, person="j1", comment_z="x") is False
    other = task["data"]["pair_html"].split('<div class="a-gave')[0] + '<div class="a-gave a-gave-3a a-gave-3b"></div>'
    assert is_as_sent(ws, "adjudicate", task, person="j1", pair_html=other) is False


def test_an_answer_that_has_changed_since_was_shown_rightly(ws: Workspace, tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(10)), "judged", tmp_path / "study")
    changed = Judgement(QUERY, "d08", "a1", 2, comment="Closer than I thought.", judged_at=RECORDED)
    with ws.writing() as session:
        JUDGEMENTS.record(session, sourced([changed]), recorded_at=RECORDED)
    for grade, comment in ((0, None), (2, "Closer than I thought.")):
        task = adjudicate_task(task_of(ws), [said(grade, comment), said(1)], scale_names=SCALE)
        assert is_as_sent(ws, "adjudicate", task, person="j1")
    both = adjudicate_task(task_of(ws), [said(0), said(2, "Closer than I thought.")], scale_names=SCALE)
    assert not is_as_sent(ws, "adjudicate", both, person="j1"), "two answers of one person"


def test_in_training_the_help_may_be_any_and_nothing_is_said_of_the_pair(ws: Workspace) -> None:
    assert is_as_sent(ws, "train", task_of(ws), facet_help="Of another day.")
    assert not is_as_sent(ws, "train", task_of(ws), rating_own="0 Irrelevant")
    assert not is_as_sent(ws, "adjudicate", task_of(ws), person="j1", facet_help="Of another day.")


def test_the_gold_grade_is_shown_beside_the_own_answer(ws: Workspace, tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(10)), "judged", tmp_path / "study")
    own = Judgement(QUERY, "d08", "a1", 1, comment="Near.", judged_at=RECORDED)
    with ws.writing() as session:
        trials.add_assignments(session, "train", [Assignment(QUERY, "d08", "a1", 1)])
        trials.replace_gold(session, [Gold(QUERY, "d08", 3, "Same steps.", 1)])
        TRIALS.record(session, [replace_source(own)], recorded_at=RECORDED)

    def feedback(answer: Judgement, gold: int) -> dict[str, Any]:
        return feedback_task(task_of(ws), answer, gold=gold, why="Same steps.", scale_names=SCALE)

    assert is_as_sent(ws, "train-feedback", feedback(own, 3))
    assert not is_as_sent(ws, "train-feedback", feedback(own, 2))
    assert not is_as_sent(ws, "train-feedback", feedback(replace(own, grade=2), 3))
    assert not is_as_sent(ws, "train-feedback", feedback(own, 3), person="a2")
    assert not is_as_sent(ws, "train-feedback", feedback(own, 3), comment_gold=None)
    assert not is_as_sent(ws, "train-feedback", task_of(ws))


def replace_source(answer: Judgement) -> SourcedJudgement:
    return SourcedJudgement(answer, "train", "7", {})


def test_where_full_texts_are_linked_only_the_titles_are_compared(ws: Workspace) -> None:
    papers = papers_of(ws, {"p1", "d08"})

    def linked(place: str) -> dict[str, Any]:
        where = {"p1": "https://example.org/p1", "d08": place}
        return full_text_task(task_of(ws), papers["p1"], papers["d08"], where, facet="method")

    for place in ("https://example.org/d08.pdf", "Folder 3"):
        assert is_as_sent(ws, "substudy-full", linked(place))
        assert not is_as_sent(ws, "substudy-abstract", linked(place))
    html = linked("Folder 3")["data"]["pair_html"]
    for spoilt in (html.replace("Title of d08", "Title of d01"), html.replace("<p ", '<p onclick="x" ')):
        assert not is_as_sent(ws, "substudy-full", linked("Folder 3"), pair_html=spoilt)
    assert is_as_sent(ws, "substudy-abstract", task_of(ws))


def test_an_abstract_whose_labels_are_corrected_shows_itself_and_its_place(ws: Workspace) -> None:
    asked = PairKey("p1", "labels")
    paper = replace(papers_of(ws, {"p1"})["p1"], labels=("method", "result", "other"))
    task = facets_task(pair_key(*asked), paper, progress="1 of 4")
    for data, passes in (
        ({}, True),
        ({"progress": "3 of 4"}, True),
        ({"pair_id": "sealed"}, True),
        ({"facet_help": "Give method."}, False),
        ({"pair_html": task["data"]["pair_html"].replace("How p1.", "How?")}, False),
    ):
        assert is_as_sent(ws, "labels", task, asked=asked, person="j1", **data) is passes


def test_of_several_tasks_only_those_of_the_study_that_changed_are_named(ws: Workspace) -> None:
    good, bad = task_of(ws, SECOND)["data"], {**task_of(ws)["data"], "facet": "result"}
    own = {pair_key(*asked): asked for asked in (FIRST, SECOND)}
    tasks = [PulledTask(pair_key(*SECOND), (), data=good), PulledTask(pair_key(*FIRST), (), data=bad)]
    strange = [PulledTask(None, (), data=bad), PulledTask("who/knows", (), data=bad)]
    assert changed_tasks(ws, project("judge"), [*tasks, *strange], own) == (pair_key(*FIRST),)
    assert changed_tasks(ws, project("judge"), strange, own) == ()
    labels = facets_task("p1/labels", papers_with_labels(ws), progress="1 of 4")["data"]
    mine = {"p1/labels": PairKey("p1", "labels")}
    asked = [PulledTask("p1/labels", (), data=labels), PulledTask(None, (), data=bad), PulledTask("x/y", (), data=bad)]
    assert changed_tasks(ws, project("labels"), asked, mine) == ()


def papers_with_labels(ws: Workspace) -> Any:
    return replace(papers_of(ws, {"p1"})["p1"], labels=("method", "result", "other"))
