"""Which tasks leave a person's project, what they keep of it, and what is theirs to answer: on a server of lists."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import pytest
from annot.base.errors import MissingInput, StudioError
from annot.base.records import Assignment, Judgement, PairKey, PairReturn, Query
from annot.base.words import ENGLISH
from annot.judging.exchange.collecting import NO_OPTIONS
from annot.judging.exchange.sending import SentProject
from annot.judging.exchange.servers import Unreachable
from annot.judging.rounds import judging
from annot.judging.rounds.judging import outgoing_of, withdraw_handed_on
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import StudioTask
from annot.labelstudio.tasks import LAST, pair_key
from annot.store import people, pools, projects, trials
from annot.store.answers import JUDGEMENTS, TRIALS, add_returned, read_returned, withdraw_returned
from annot.store.models import Plan
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from small_study import RECORDED, Small, sent_to, sourced
from study_stages import copied

P1 = "p1-method"
D0, D1, D2, GOLD = (PairKey(P1, f"d0{at}") for at in (0, 1, 2, 9))
HERE = {"a1": 7, "a2": 8}
"""The projects on this server."""


class Server:
    """What one server has of each project: what was asked, with the number of its answers."""

    def __init__(self, tasks: Mapping[int, Mapping[PairKey, int]]) -> None:
        self.tasks = {
            project: [StudioTask(number, pair_key(*asked), of[asked], {}) for number, asked in enumerate(of, 1)]
            for project, of in tasks.items()
        }

    def identity(self) -> str:
        return "here"

    def tasks_of(self, project: int) -> list[StudioTask]:
        if project not in self.tasks:
            raise StudioError("no such project")
        return self.tasks[project]

    def delete_unanswered(self, project: int, ids: Sequence[int]) -> None:
        self.tasks[project] = [task for task in self.tasks[project] if task.task_id not in ids]

    def labelling_url(self, project: int) -> str:
        return f"project/{project}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """d00 and d01 of the first query are planned for a1 and a2; all pairs were sent to both, to this server and one
    more, and a project of j1 was never made."""
    ws = copied(Small(), "planned", tmp_path_factory.mktemp("withdrawn") / "study")
    with ws.writing() as session:
        people.replace_plan(session, assigned(D0, D1), plan=Plan("1", 13, RECORDED, 2))
    for server, name in ((server, name) for server in ("here", "there") for name in HERE):
        sent_to(ws, name, D0, D1, server=server, account=None, remote=HERE[name])
    sent_to(ws, "j1", account=None, remote=None)
    return ws.root


@pytest.fixture
def ws(made: Path, tmp_path: Path) -> Workspace:
    shutil.copytree(made, tmp_path / "study", symlinks=True)
    return Workspace.open(tmp_path / "study")


def assigned(*of: PairKey, names: Sequence[str] = ("a1", "a2")) -> list[Assignment]:
    return [Assignment(*asked.pair, name, at, asked.occasion) for name in names for at, asked in enumerate(of, 1)]


def planned(ws: Workspace, *plan: Assignment) -> None:
    with ws.writing() as session:
        everything = people.read_assignments(session)
        people.replace_plan(session, plan, plan=Plan("2", 13, RECORDED, 2), handed_on=everything)


class WithdrawnTasks(NamedTuple):
    assessor: str
    tasks: int
    answered: frozenset[PairKey]
    address: str


def withdrawn(ws: Workspace, server: Server) -> tuple[tuple[WithdrawnTasks, ...], tuple[str, ...]]:
    notes: list[str] = []
    rows = tuple(
        WithdrawnTasks(row.assessor, row.withdrawn, answered, row.address)
        for row, answered in withdraw_handed_on(ws, cast("Gateway", server), notes)
    )
    return rows, tuple(notes)


def noted(ws: Workspace, name: str) -> set[PairKey]:
    """The tasks on record of the person's project on this server."""
    with ws.reading() as session:
        (project,) = (one for one in projects.read_projects(session) if (one.server, one.assessor) == ("here", name))
        return set(projects.read_tasks(session, project.project))


def test_what_is_in_the_plan_stays(ws: Workspace) -> None:
    server = Server({})
    assert withdrawn(ws, server) == ((), ())
    assert noted(ws, "a1") == {D0, D1}


def test_unanswered_tasks_that_were_handed_on_go_and_answered_ones_stay(ws: Workspace) -> None:
    planned(ws, *assigned(D0, names=["a1"]), *assigned(D0, D1, names=["a2"]))
    for answers, left in ((1, {D0, D1}), (0, {D0})):
        server = Server({7: {D0: 0, D1: answers}})
        kept = frozenset({D1} if answers else ())
        assert withdrawn(ws, server) == ((WithdrawnTasks("a1", 1 - answers, kept, "project/7"),), ())
        assert {task.key for task in server.tasks[7]} == {pair_key(*asked) for asked in left}
        assert noted(ws, "a1") == left
    assert noted(ws, "a2") == {D0, D1}


def test_what_was_put_before_a_person_again_is_theirs_until_it_is_taken_back(ws: Workspace) -> None:
    again, others = PairKey(P1, "d00", 3), PairKey(P1, "d00", 4)
    with ws.writing() as session:
        for who, asked in (("a1", again), ("a2", others)):
            add_returned(session, PairReturn(*asked.pair, who, asked.occasion, "Look again.", RECORDED))
        (project, *_) = projects.read_projects(session, round="judge")
        projects.record_tasks(session, project.project, {again: 3})
    assert withdrawn(ws, Server({})) == ((), ())
    with ws.writing() as session:
        projects.record_tasks(session, project.project, {others: 4})
    ((one,), _) = withdrawn(ws, Server({7: {D0: 0, again: 0, others: 0}}))
    assert one.tasks == 1, "that of a2"
    with ws.writing() as session:
        withdraw_returned(session, read_returned(session)[0], withdrawn_at=RECORDED)
    server = Server({7: {D0: 0, again: 0}})
    ((one,), _) = withdrawn(ws, server)
    assert (one.tasks, len(server.tasks[7])) == (1, 1)


def test_hidden_gold_stays_until_its_person_leaves_and_is_given_back_by_no_one(ws: Workspace) -> None:
    with ws.writing() as session:
        trials.add_assignments(session, "hidden-gold", assigned(GOLD, names=["a1"]))
        for project in projects.read_projects(session, round="judge"):
            if project.server == "here" and project.assessor in HERE:
                projects.record_tasks(session, project.project, {GOLD: 3})
    ((one,), _) = withdrawn(ws, Server({7: {D0: 0, D1: 0, GOLD: 0}, 8: {D0: 0, GOLD: 0}}))
    assert (one.assessor, one.tasks) == ("a2", 1), "a1 alone has this gold"
    with ws.writing() as session:
        people.set_left(session, "a1", "2031-01-01")
    planned(ws, *assigned(D0, D1, names=["a2"]))
    answered = Server({7: {D0: 1, D1: 0, GOLD: 1}, 8: {}})
    ((one,), _) = withdrawn(ws, answered)
    assert (one.assessor, one.tasks, one.answered) == ("a1", 1, frozenset({D0}))
    assert len(answered.tasks[7]) == 2
    ((one,), _) = withdrawn(ws, Server({7: {GOLD: 0}, 8: {}}))
    assert one.tasks == 1


def test_open_tasks_of_pairs_that_wait_for_a_decision_go_hidden_gold_included(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ws.writing() as session:
        trials.add_assignments(session, "hidden-gold", assigned(GOLD, names=["a1"]))
        (project, *_) = projects.read_projects(session, round="judge")
        projects.record_tasks(session, project.project, {GOLD: 3})
    monkeypatch.setattr(judging.displayed_content, "waiting_pairs", lambda session: frozenset({D0.pair, GOLD.pair}))
    server = Server({7: {D0: 0, D1: 0, GOLD: 0}, 8: {D0: 1, D1: 0}})
    (first, second), _ = withdrawn(ws, server)
    assert (first.assessor, first.tasks, second.assessor, second.tasks) == ("a1", 2, "a2", 0)
    assert [task.key for task in server.tasks[7]] == [pair_key(*D1)]
    assert [task.key for task in server.tasks[8]] == [pair_key(*D0), pair_key(*D1)], "an answered task stays"


def test_a_project_that_is_gone_stops_the_withdrawal_unless_its_person_left(ws: Workspace) -> None:
    planned(ws, *assigned(D0, D1, names=["a2"]))
    with pytest.raises(StudioError, match="no such project"):
        withdrawn(ws, Server({}))
    with ws.writing() as session:
        people.set_left(session, "a1", "2031-01-01")
    note = "a1: the unanswered tasks could not be withdrawn: no such project"
    assert withdrawn(ws, Server({})) == ((), (note,))


def test_what_a_killed_push_did_not_note_down_goes_too_as_far_as_it_is_of_a_pool(ws: Workspace) -> None:
    """Of a pair, both the first asking and the repeat; what no pool has is another's."""
    with ws.writing() as session:
        people.set_left(session, "a1", "2031-01-01")
    planned(ws, *assigned(D0, D1, names=["a2"]))
    server = Server(
        {7: {PairKey(P1, "d05"): 0, PairKey(P1, "d05", 2): 0, PairKey(P1, "d05", 3): 0, PairKey("x", "d05"): 0}}
    )
    ((one,), _) = withdrawn(ws, server)
    assert one.tasks == 2
    assert [task.key for task in server.tasks[7]] == [pair_key(P1, "d05", 3), pair_key("x", "d05")]


def test_what_was_answered_and_is_not_recorded_is_known(ws: Workspace) -> None:
    with ws.reading() as session:
        (project,) = (one for one in projects.read_projects(session) if (one.server, one.assessor) == ("here", "a1"))
    server = cast("Gateway", Server({7: {D0: 1, D1: 0, D2: 1, PairKey("x", "d00"): 1}}))
    tasks = {D0: 1, D1: 2, D2: 3}
    assert judging.unpulled(server, project, tasks, ()) == [D0, D2]
    assert judging.unpulled(server, project, tasks, [D2]) == [D0]


def given(*asked: PairKey, name: str = "a1") -> list[Judgement]:
    return [Judgement(*one.pair, name, 1, occasion=one.occasion) for one in asked]


def test_late_answers_are_given_back_and_the_plan_is_written_if_it_changed(ws: Workspace) -> None:
    """Each pair is planned for one, whatever the settings say: the plan was drawn so."""
    with ws.writing() as session:
        before = people.read_assignments(session)
        plan = [*assigned(D0, D2, names=["a2"])]
        people.replace_plan(session, plan, plan=Plan("2", 13, RECORDED, 1), handed_on=before)
    late = {"a1": frozenset({D0, D2})}
    # a2 was sent d00, and d02 to nobody.
    assert judging._notes_on_late_answers(ws, late) == (
        "a1: keeps 1 pair answered in the meantime",
        "a1: 1 task answered after others had begun; the others' answers count",
    )
    with ws.reading() as session:
        assert [(one.assessor, one.pair_key) for one in people.read_assignments(session)] == [("a1", D2), ("a2", D0)]
    file = ws.pools / "plan.jsonl"
    assert len(file.read_text(encoding="utf-8").splitlines()) == 2
    file.unlink()
    assert judging._notes_on_late_answers(ws, {"a1": frozenset({D2})}) == (
        "a1: 1 task answered after others had begun; the others' answers count",
    )
    assert not file.exists()


def test_what_is_sent_is_planned_for_those_who_are_here(ws: Workspace) -> None:
    found = {one.assessor: list(one.tasks) for one in outgoing_of(ws)}
    assert found == {"a1": [D0, D1], "a2": [D0, D1]}
    planned(ws, *[Assignment(*asked.pair, "a1", at) for at, asked in ((2, D0), (1, D1))], *assigned(D2, names=["a2"]))
    assert {one.assessor: list(one.tasks) for one in outgoing_of(ws)} == {"a1": [D1, D0], "a2": [D2]}
    with ws.writing() as session:
        people.set_left(session, "a2", "2031-01-01")
    assert [one.assessor for one in outgoing_of(ws)] == ["a1"]


def test_a_push_withdraws_first_and_leaves_out_who_cannot_be_reached(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ws.writing() as session:
        pools.put_queries(session, [Query("p1-result", "p1", "result", (2,))])
    planned(ws, *assigned(D0, names=["a1"]), *assigned(D0, D1, names=["a2"]))
    server, away, asked = Server({7: {D0: 0, D1: 0}}), Unreachable("a2", "away", False), list[str]()

    def on_servers(_ws: object, names: Sequence[str], work: Callable[..., None]) -> tuple[Unreachable, ...]:
        asked.extend(names)
        work(server, names)
        return (away,)

    monkeypatch.setattr(judging, "on_servers", on_servers)
    found = judging.JudgingRound().prepare(ws, NO_OPTIONS, dry_run=False)
    assert asked == ["a1", "a2", "j1"], "whoever was sent something"
    assert [(one.assessor, list(one.tasks)) for one in found.outgoing] == [("a1", [D0])]
    assert (found.unreachable, found.checked) == ((away,), True)
    assert [one.subject for one in found.new_versions if one.part == "guidelines"] == ["method"]
    assert found.withdrawn == (SentProject("a1", 0, 0, 0, 1, 0, "project/7", part="judging"),)
    assert judging.JudgingRound().prepare(ws, NO_OPTIONS, dry_run=True).withdrawn == ()


def shown(ws: Workspace, name: str) -> dict[PairKey, str]:
    (one,) = (one for one in outgoing_of(ws) if one.assessor == name)
    return {asked: str(task["data"]) for asked, task in one.tasks.items()}


def test_what_was_returned_comes_behind_the_plan_with_its_reason(ws: Workspace) -> None:
    again, back = PairKey(P1, "d00", 3), PairKey(P1, "d01", 3)
    with ws.writing() as session:
        for asked in (again, back):
            add_returned(session, PairReturn(*asked.pair, "a1", 3, f"Look {asked.doc_id}.", RECORDED))
        withdraw_returned(session, read_returned(session)[1], withdrawn_at=RECORDED)
    found, others = shown(ws, "a1"), shown(ws, "a2")
    assert list(found) == [D0, D1, again]
    assert [ENGLISH("task.again") in text for text in found.values()] == [False, False, True]
    assert "Look d00." in found[again]
    assert [ENGLISH(LAST) in text for text in found.values()] == [False, False, True]
    assert list(others) == [D0, D1]
    assert ENGLISH(LAST) in others[D1]


@pytest.mark.parametrize("met", [(), (D0, D1), (GOLD,)])
def test_gold_that_is_hidden_later_comes_behind_all_that_its_person_has_answered(
    ws: Workspace, met: tuple[PairKey, ...]
) -> None:
    with ws.writing() as session:
        trials.add_assignments(session, "hidden-gold", assigned(GOLD, names=["a1"]))
        judged = [*given(*(asked for asked in met if asked != GOLD)), *given(D0, D1, name="a2")]
        JUDGEMENTS.record(session, sourced(judged), recorded_at=RECORDED)
        probed = [
            one._replace(source="hidden-gold") for one in sourced(given(*(asked for asked in met if asked == GOLD)))
        ]
        TRIALS.record(session, probed, recorded_at=RECORDED)
    order = list(shown(ws, "a1"))
    assert {*order} == {D0, D1, GOLD}
    assert {*order[: len(met)]} == {*met}
    assert list(shown(ws, "a2")) == [D0, D1]


def test_with_nothing_planned_and_nothing_sent_there_is_nothing_to_send(ws: Workspace, tmp_path: Path) -> None:
    planned(ws)
    assert outgoing_of(ws) == []
    with pytest.raises(MissingInput, match="nothing is planned"):
        outgoing_of(copied(Small(), "pooled", tmp_path / "unplanned"))


def test_planned_pairs_without_an_answer_and_returned_ones_are_open(ws: Workspace) -> None:
    def left() -> int:
        with ws.reading() as session:
            return outcome_of(session, ws.settings).progress.left

    assert left() == 4
    with ws.writing() as session:
        answers = [*given(D0, D1), *given(D0, name="a2")]
        JUDGEMENTS.record(session, sourced(answers), recorded_at=RECORDED)
    assert left() == 1
    with ws.writing() as session:
        add_returned(session, PairReturn(*D0.pair, "a1", 2, "Look again.", RECORDED))
    assert left() == 2


def test_who_has_not_passed_the_training_is_named() -> None:
    verdicts = {"train/a1": "not passed", "train/a2": "passed", "train/a4": "not finished", "hidden-gold/a3": "failed"}
    on_record = {name: {"verdict": verdict} for name, verdict in verdicts.items()}
    assert judging._notes_on_untrained(on_record, {"a2", "a1", "a3"}) == (
        "a1: not passed in the training; see `annot train report`",
    )
