"""Corrections of sentence labels: the latest of a person's own is taken, and an abstract stays with whoever has it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError, StudioError
from annot.base.records import PairKey
from annot.corpus.corpus_facts import labels_of
from annot.judging.exchange.collecting import CollectedProject, PullResult, RoundOptions
from annot.judging.exchange.servers import Unreachable
from annot.judging.rounds import labels as labels_round
from annot.judging.rounds.labels import LabelsRound
from annot.labelstudio.studio_records import ReadAnnotation
from annot.labelstudio.tasks import LABELS_SHOWN, pair_key
from annot.store.models import Project
from annot.study.workspace import Workspace
from small_study import Small, sent_to
from study_stages import copied

P1, P2, P3, P4 = (PairKey(f"p{at}", LABELS_SHOWN) for at in range(1, 5))
PROJECT = Project(1, "labels", "a1", "here", "http://studio.example", "1.23.2", 7, 1, None)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """p1 to p4 have a sentence each of background, method and result, and a query for the second."""
    return copied(Small(), "planned", tmp_path / "study")


def reading(
    asked: PairKey, number: int, *labels: str, changed: str = "10", flags: Sequence[str] = ()
) -> ReadAnnotation:
    regions = [
        {"id": f"query-{at}", "from_name": "sentence_label", "value": {"labels": [label]}}
        for at, label in enumerate(labels)
    ]
    moment = f"2031-01-01T{changed}:00:00.000000Z"
    return ReadAnnotation(
        pair_key=asked, grade=None, cannot_judge=None, comment=None, settled_by=None, lead_time=None, created_at=moment,
        changed_at=moment, account=1, flags=tuple(flags),
        payload={"id": number, "updated_at": moment, "result": regions},
    )  # fmt: skip


def recorded(ws: Workspace, *found: ReadAnnotation, dry_run: bool = False) -> PullResult:
    collected = CollectedProject(PROJECT, 4, [1], found, (), (), 0, ("a note",))
    return LabelsRound().record(ws, collected, RoundOptions(dry_run=dry_run))


def on_record(ws: Workspace) -> dict[str, str]:
    """The labels of each paper by their first letters."""
    with ws.reading() as session:
        found = labels_of(session, ["p1", "p2", "p3", "p4"])
    return {name: "".join(label[0] for label in of) for name, of in found.items()}


@pytest.mark.parametrize(("hour", "taken"), [("09", False), ("10", True), ("11", True)])
def test_an_answer_older_than_the_one_on_record_is_not_taken(ws: Workspace, hour: str, taken: bool) -> None:
    recorded(ws, reading(P1, 3, "background", "method", "method", changed="10"))
    later = recorded(ws, reading(P1, 3, "method", "method", "method", changed=hour))
    assert on_record(ws)["p1"] == ("mmm" if taken else "bmm")
    kept = "p1: kept the correction on record, which is newer than a1's"
    assert list(later.notes) == (["a note"] if taken else ["a note", kept])


# -- who has which abstract --------------------------------------------------------------------------------------------


class Servers:
    """What stands in the place of the servers: a1's project 7 has the tasks, and it is asked for who is named."""

    def __init__(self, *tasks: str | None, faults: Sequence[str] = (), away: Sequence[Unreachable] = ()) -> None:
        self.tasks, self.faults, self.away = tasks, tuple(faults), tuple(away)
        self.asked: list[str] = []
        self.with_account: list[str] = []

    def replace(self, patch: pytest.MonkeyPatch) -> None:
        def on_servers(_ws: object, names: Sequence[str], work: Callable[..., None]) -> tuple[Unreachable, ...]:
            self.asked = list(names)
            work(self, names)
            return self.away

        def accounts_on(_ws: object, _gateway: object, names: Sequence[str]) -> tuple[dict[str, int], tuple[str, ...]]:
            self.with_account = list(names)
            return {}, self.faults

        patch.setattr(labels_round.servers, "on_servers", on_servers)
        patch.setattr(labels_round, "accounts_on", accounts_on)
        patch.setattr(labels_round.servers, "locate", lambda gateway, project, **_: SimpleNamespace(project_id=7))

    url = "u"

    def identity(self) -> str:
        return "here"

    def tasks_of(self, _project: int) -> list[Any]:
        return [SimpleNamespace(key=key) for key in self.tasks]


def prepared(ws: Workspace, *names: str, dry_run: bool = False) -> dict[str, list[PairKey]]:
    found = LabelsRound().prepare(ws, RoundOptions(assessor=names), dry_run=dry_run)
    assert found.checked
    return {one.assessor: list(one.tasks) for one in found.outgoing}


def test_abstracts_that_a_person_has_stay_with_them_and_the_others_are_spread(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent_to(ws, "a1", round="labels")
    sent_to(ws, "a2", round="labels", remote=None)
    sent_to(ws, "j1", round="labels", server="elsewhere", remote=8)
    servers = Servers(pair_key(*P3), "strange/key", None)
    servers.replace(monkeypatch)
    assert prepared(ws, "a2", "j1") == {"a2": [P1, P4], "j1": [P2]}
    assert (servers.asked, servers.with_account) == (["a1", "a2", "j1"], ["a2", "j1"])
    assert prepared(ws, "a1", "a2", dry_run=True) == {"a1": [P1, P3], "a2": [P2, P4]}


def test_with_servers_of_their_own_those_are_asked_who_are_named_or_have_one(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = Servers()
    servers.replace(monkeypatch)
    monkeypatch.setattr(labels_round.servers, "people_with_servers", lambda ws: ("j1",))
    prepared(ws.replaced("judging", isolation="server"), "a2")
    assert servers.asked == ["a2", "j1"]


def test_without_an_account_or_a_server_nothing_is_given(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    Servers(faults=["a1: no account"]).replace(monkeypatch)
    with pytest.raises(InputError, match="1 person without access to u"):
        prepared(ws, "a1")
    Servers(away=[Unreachable("a2", "away", False)]).replace(monkeypatch)
    with pytest.raises(StudioError, match="could not reach 1 server"):
        prepared(ws, "a1")
