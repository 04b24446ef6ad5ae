"""What a push sends and notes down of each project, on a server that only counts what it is given."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import FindingError
from annot.base.records import Judgement, PairKey
from annot.base.words import ENGLISH
from annot.judging.exchange import sending
from annot.judging.exchange.outgoing import OutgoingProject, TaskForm
from annot.judging.exchange.sending import SentProject, send_outgoing
from annot.judging.exchange.servers import PARTS, Unreachable
from annot.labelstudio import server as local_server
from annot.labelstudio.studio_records import Delivery, StudioTask
from annot.labelstudio.tasks import pair_key
from annot.store import projects
from annot.store.models import Project, StoredRound
from annot.store.shown import read_versions, version
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied

D0, D1, D2, D3 = (PairKey("p1-method", f"d0{at}") for at in range(4))
KEYS = {asked: pair_key(*asked) for asked in (D0, D1, D2, D3)}


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


class Server:
    """A server with these accounts and tasks; what is delivered is as it is told."""

    url = address = "http://studio"

    def __init__(self, accounts: Sequence[str] = ("ann", "bob", "joe"), *, listed: Sequence[StudioTask] = ()) -> None:
        self.accounts = {f"{name}@example.org": at for at, name in enumerate(accounts, start=5)}
        self.listed = tuple(listed)
        self.delivered: dict[str, Any] = {"sent": 0, "spared": 0, "removed": 0, "updated": 0, "renewed": 0}
        self.stale: list[int] = []
        self.away: tuple[Unreachable, ...] = ()

    def identity(self) -> str:
        return "here"

    def version(self) -> str:
        return "1.23.2"

    def user_ids(self) -> dict[str, int]:
        return self.accounts

    def tasks_of(self, _number: int) -> tuple[StudioTask, ...]:
        return self.listed

    def labelling_url(self, number: int) -> str:
        return f"project/{number}"

    def stand_in(self, patch: pytest.MonkeyPatch) -> None:
        def on_servers(_ws: object, names: Sequence[str], work: Callable[..., None]) -> tuple[Unreachable, ...]:
            work(self, [name for name in names if name not in {one.assessor for one in self.away}])
            return self.away

        def deliver(*_: object, stale: Sequence[StudioTask], advance: Callable[[int], None], **__: object) -> Delivery:
            self.stale = [task.task_id for task in stale]
            advance(1)
            return Delivery({KEYS[D0]: 1, KEYS[D1]: 2, KEYS[D2]: 0}, **self.delivered)

        def bring(_ws: object, _gateway: object, spec: Any, recorded: Project, *_: object) -> tuple[int, list[str]]:
            return 7, [f"{recorded.assessor}: brought"]

        patch.setattr(sending.servers, "on_servers", on_servers)
        patch.setattr(sending, "deliver", deliver)
        patch.setattr(sending.servers, "bring_project", bring)


def outgoing(name: str, *asked: PairKey, round: StoredRound = "judge", **more: Any) -> OutgoingProject:
    tasks = {one: {"data": {"pair_id": pair_key(*one)}} for one in asked}
    return OutgoingProject(TaskForm(PARTS[round], "<screen/>", "", ENGLISH), name, tasks, **more)


def pushed(ws: Workspace, *of: OutgoingProject, dry_run: bool = False, **more: Any) -> sending.PushResult:
    return send_outgoing(ws, of, dry_run=dry_run, advance=lambda done, total: None, **more)


def noted(ws: Workspace, round: StoredRound = "judge") -> dict[PairKey, int]:
    with ws.reading() as session:
        (project,) = projects.read_projects(session, round=round)
        return projects.read_tasks(session, project.project)


def counts(row: SentProject) -> tuple[int, ...]:
    return row.planned, row.there, row.sent, row.withdrawn, row.known, row.updated


@pytest.mark.parametrize(
    ("round", "delivered", "expected"),
    [
        ("judge", {}, (3, 3, 0, 0, 0, 0)),
        ("judge", {"sent": 2}, (3, 1, 2, 0, 0, 0)),
        ("judge", {"sent": 1, "spared": 1}, (3, 1, 1, 0, 1, 0)),
        ("judge", {"updated": 1, "renewed": 1}, (3, 3, 0, 0, 0, 2)),
        ("adjudicate", {"updated": 1, "renewed": 1}, (3, 2, 1, 1, 0, 1)),
    ],
)
def test_tasks_that_were_there_that_are_new_and_that_moved_are_counted_apart(
    ws: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    round: StoredRound,
    delivered: Mapping[str, int],
    expected: tuple[int, ...],
) -> None:
    """On the server is one task of a dispute that ended."""
    server = Server(listed=[StudioTask(9, KEYS[D3], 0, {})])
    server.delivered |= delivered
    server.stand_in(monkeypatch)
    (row,) = pushed(ws, outgoing("a1", D0, D1, D2, round=round)).projects
    assert counts(row) == expected
    assert (row.address, row.part) == ("project/7", PARTS[round].title)
    assert server.stale == ([9] if round == "adjudicate" else [])


def test_the_numbers_of_the_server_are_noted_down_and_ended_disputes_forgotten(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, d01 and d03 were sent; of these the server still has d01, and d03 while it is not stale."""
    for listed, left in (((), {D0: 1, D1: 2}), ((StudioTask(9, KEYS[D3], 1, {}),), {D0: 1, D1: 2, D3: 8})):
        with ws.writing() as session:
            project = projects.open_project(
                session, round="adjudicate", assessor="j1", server="here", url="u", version="1", account_id=7
            )
            projects.record_tasks(session, project.project, {D1: 7, D3: 8})
        Server(listed=listed).stand_in(monkeypatch)
        opinions = {D0: [Judgement(*D0.pair, "a1", 1)]}
        pushed(ws, outgoing("j1", D0, D1, round="adjudicate", opinions=opinions))
        assert noted(ws, "adjudicate") == left


def test_who_has_no_account_waits_and_the_guidelines_are_noted_once_something_is_sent(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = [version("guidelines", "method", "text", since="2031-01-02T03:04:05")]

    def known() -> int:
        with ws.reading() as session:
            return len(read_versions(session, "guidelines"))

    Server(accounts=["joe"]).stand_in(monkeypatch)
    with pytest.raises(FindingError, match="1 person without access to http://studio") as error:
        pushed(ws, outgoing("a1", D0), new_versions=new)
    assert [one.partition(";")[0] for one in error.value.faults] == ["a1: has not signed up on the server yet"]
    assert known() == 0
    Server(accounts=["bob"]).stand_in(monkeypatch)
    found = pushed(ws, outgoing("a1", D0), outgoing("a2", D1), new_versions=new)
    assert [row.assessor for row in found.projects] == ["a2"]
    assert found.notes[0].endswith(", then run `annot push` again")
    assert known() == 1
    with ws.reading() as session:
        assert [one.account_id for one in projects.read_projects(session)] == [5]


def test_a_server_that_is_away_is_told_after_the_others_were_served(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(accounts=["joe"])
    server.away = (Unreachable("a2", "away", False),)
    server.stand_in(monkeypatch)
    found = pushed(ws, outgoing("a1", D0), outgoing("a2", D1))
    assert (found.projects, found.unreachable) == ((), server.away)
    assert found.finding("annot push") is not None


def test_a_dry_run_counts_by_the_records_and_asks_no_server(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> None:
        pytest.fail("no server is asked")

    monkeypatch.setattr(sending.servers, "on_servers", asked)
    with ws.writing() as session:
        for name, server, url, tasks in (
            ("a1", "first", "http://one", {D0: 1, D3: 2}),
            ("a1", "second", "http://two", {D1: 1}),
            ("a2", "first", "http://one", {D2: 3}),
        ):
            made = projects.open_project(
                session, round="judge", assessor=name, server=server, url=url, version="1", account_id=7
            )
            projects.record_tasks(session, made.project, tasks)
    several = (outgoing("a1", D0, D1, D2), outgoing("j1", D0))
    assert [(row.assessor, *counts(row), row.address) for row in pushed(ws, *several, dry_run=True).projects] == [
        ("a1", 3, 2, 1, 0, 0, 0, "http://two"),
        ("j1", 1, 0, 1, 0, 0, 0, "not sent"),
    ]


def test_without_an_account_on_record_the_lead_is_told_how_to_add_it(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    server: Any = Server(["ann"])
    found, faults = sending.accounts_on(ws, server, ["a1", "a2", "a9"])
    assert found == {"a1": 5}
    assert [one.partition(";")[0] for one in faults] == [
        "a2: has not signed up on the server yet", "a9: has no account on record",
    ]  # fmt: skip
    # On a server that the study has started, no person signs up.
    monkeypatch.setattr(local_server, "status", lambda folder: local_server.Server(server.url, 8090, 1, True))
    (fault,) = sending.accounts_on(ws, server, ["a1", "a2"])[1]
    assert "`annot studio up`" in fault
