"""A push goes part by part: whom it leaves out once their server is away, and when it is noted down as done."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.base.words import ENGLISH
from annot.judging.exchange.collecting import PreparedPush
from annot.judging.exchange.outgoing import OutgoingProject, TaskForm
from annot.judging.exchange.sending import PushResult, SentProject
from annot.judging.exchange.servers import PARTS, Unreachable
from annot.steps import exchange
from annot.study.provenance import read_made
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied

FIRST, SECOND = PARTS["train"], PARTS["train-feedback"]
AWAY = Unreachable("a2", "away", False)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


def row(name: str, *, withdrawn: int = 0, sent: int = 1) -> SentProject:
    return SentProject(name, 1, 0, sent, withdrawn, 0, f"project of {name}")


class Sent:
    """A round of two parts for a1 and a2, and which parts were sent to whom."""

    def __init__(self, patch: pytest.MonkeyPatch, *, away: Sequence[Unreachable] = (), **prepared: Any) -> None:
        self.sent: list[tuple[str, list[str]]] = []
        self.begun: list[list[str]] = []
        self.checked = 0
        outgoing = [
            OutgoingProject(TaskForm(part, "", "", ENGLISH), name, {})
            for part in (FIRST, SECOND)
            for name in ("a1", "a2")
        ]
        self.prepared = PreparedPush(outgoing, ["a note"], **prepared)
        patch.setattr(exchange, "round_of", lambda name: self)
        patch.setattr(exchange.outgoing, "check_outgoing", self._check)
        patch.setattr(exchange, "send_outgoing", lambda ws, mine, **_: self._send(mine, away))

    name, option_names, parts, noted_as = "judging", frozenset[str](), (FIRST, SECOND), "push"

    def prepare(self, *_: object, dry_run: bool) -> PreparedPush:
        return self.prepared

    def before_sending(self, _session: object, mine: Sequence[OutgoingProject]) -> None:
        self.begun.append([one.assessor for one in mine])

    def after_sending(self, pushed: PushResult) -> PushResult:
        return pushed

    def _check(self, *_: object) -> None:
        self.checked += 1

    def _send(self, mine: Sequence[OutgoingProject], away: Sequence[Unreachable]) -> PushResult:
        names = [one.assessor for one in mine]
        self.sent.append((mine[0].part.stored, names))
        gone = {one.assessor for one in away}
        return PushResult(tuple(row(name) for name in names if name not in gone), ("sent",), tuple(away))


def pushed(ws: Workspace, *, dry_run: bool = False) -> PushResult:
    return exchange.push(ws, round="judging", dry_run=dry_run, advance=lambda done, total: None)


def test_every_part_goes_to_everyone_and_is_noted(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Sent(monkeypatch)
    found = pushed(ws)
    assert sent.sent == [("train", ["a1", "a2"]), ("train-feedback", ["a1", "a2"])]
    assert sent.begun == [["a1", "a2"]] * 2
    assert [one.assessor for one in found.projects] == ["a1", "a2"] * 2
    assert (found.notes, sent.checked, "push" in read_made(ws)) == (("a note", "sent", "sent"), 1, True)


def test_a_dry_run_begins_nothing(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Sent(monkeypatch, checked=True)
    pushed(ws, dry_run=True)
    assert (sent.begun, sent.checked, "push" in read_made(ws)) == ([], 0, False)


def test_whose_server_is_away_is_left_out_of_the_next_part(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Sent(monkeypatch, away=[AWAY])
    found = pushed(ws)
    assert sent.sent == [("train", ["a1", "a2"]), ("train-feedback", ["a1"])]
    assert found.unreachable == (AWAY, AWAY)
    assert "push" not in read_made(ws)


@pytest.mark.parametrize("prepared", [{"unreachable": (AWAY,)}, {"is_made": False}])
def test_a_push_that_did_not_bring_everything_is_not_noted(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, prepared: dict[str, Any]
) -> None:
    Sent(monkeypatch, **prepared)
    pushed(ws)
    assert "push" not in read_made(ws)


def test_what_was_withdrawn_before_is_in_the_persons_row_or_in_one_of_its_own() -> None:
    before = [row("a1", withdrawn=3), row("a8", withdrawn=0), row("a9", withdrawn=2)]
    found = exchange._with_withdrawn(PushResult((row("a1", withdrawn=1), row("a1", withdrawn=0), row("a2"))), before)
    assert [(one.assessor, one.withdrawn) for one in found.projects] == [
        ("a1", 4), ("a1", 0), ("a2", 0), ("a9", 2),
    ]  # fmt: skip
