"""A backup copies the projects of the study on its servers: what is copied, what is not, and what was not pulled."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import StudioError
from annot.base.records import Judgement, PairKey
from annot.judging.exchange.servers import Unreachable
from annot.steps import backup
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.models import StoredRound
from annot.study.workspace import Workspace
from small_study import RECORDED, Small, sent_to
from study_stages import copied

NINE, TEN, ELEVEN = (f"2031-03-14T{hour:02}:00:00.000000Z" for hour in (9, 10, 11))


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


class Server:
    """A server with the copies of its projects."""

    url = "http://here"

    def __init__(
        self, patch: pytest.MonkeyPatch, *, away: Sequence[Unreachable] = (), gone: Sequence[int] = ()
    ) -> None:
        self.away, self.gone = tuple(away), gone
        self.asked: list[str] = []
        self.answers: list[dict[str, Any]] = []
        patch.setattr(backup.servers, "on_servers", self._on_servers)

    def _on_servers(self, _ws: object, names: Sequence[str], work: Callable[..., None]) -> tuple[Unreachable, ...]:
        self.asked = list(names)
        work(self, names)
        return self.away

    def identity(self) -> str:
        return "here"

    def snapshot(self, number: int) -> dict[str, Any]:
        if number in self.gone:
            raise StudioError("no such project")
        return {"title": "Größe", "tasks": [{"annotations": self.answers}]}


def taken(ws: Workspace, folder: Path) -> tuple[list[str], list[str], list[tuple[int, int | None]]]:
    """The files, the notes, and the progress."""
    folder.mkdir()
    notes: list[str] = []
    told: list[tuple[int, int | None]] = []
    backup._take_snapshots(ws, folder, notes, advance=lambda done, total: told.append((done, total)))
    return sorted(path.name for path in folder.iterdir()), notes, told


def test_each_project_on_the_server_is_copied_and_those_elsewhere_are_counted(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(monkeypatch, away=[Unreachable("j1", "it is off", False)])
    assert taken(ws, tmp_path / "none") == ([], [], [])
    sent_to(ws, "a1", remote=7)
    sent_to(ws, "a2", remote=8)
    sent_to(ws, "a1", remote=9, round="train")
    sent_to(ws, "a2", remote=None, round="train")
    sent_to(ws, "a1", remote=4, server="elsewhere")
    sent_to(ws, "j1", remote=5, server="theirs")
    files, notes, told = taken(ws, tmp_path / "some")
    assert files == ["judge-a1-7.json", "judge-a2-8.json", "train-a1-9.json"]
    assert notes == [
        "no copies of the projects of j1: it is off",
        "no copies of 1 project on servers other than http://here",
    ]
    assert server.asked == ["a1", "a2", "j1"]
    assert told == [(1, 5), (2, 5), (3, 5)]
    text = (tmp_path / "some" / "judge-a1-7.json").read_text(encoding="utf-8")
    assert (json.loads(text)["title"], "Größe" in text) == ("Größe", True)


def test_a_project_that_cannot_be_read_is_noted(ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Server(monkeypatch, gone=[7])
    sent_to(ws, "a1", remote=7)
    assert taken(ws, tmp_path / "copies")[:2] == ([], ["no copy of project 7 of a1: no such project"])


def test_without_a_server_the_backup_says_why_there_is_no_copy(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_servers(*_: object) -> None:
        raise StudioError("no server", faults=["a1: off"])

    monkeypatch.setattr(backup.servers, "on_servers", on_servers)
    sent_to(ws, "a1", remote=7)
    assert taken(ws, tmp_path / "copies")[1] == ["no copies of 1 project on Label Studio: no server; a1: off"]


def answer(number: int, changed: str) -> dict[str, Any]:
    return {"id": number, "updated_at": changed}


@pytest.mark.parametrize(
    ("round", "answers", "unpulled"),
    [
        ("judge", [answer(1, TEN)], 0),
        ("judge", [answer(1, NINE)], 0),
        ("judge", [answer(1, ELEVEN)], 1),
        ("judge", [answer(1, TEN), answer(2, NINE), answer(3, NINE)], 2),
        ("labels", [answer(2, NINE)], 0),
    ],
)
def test_answers_that_are_newer_than_what_was_pulled_are_counted(
    ws: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    round: StoredRound,
    answers: list[dict[str, Any]],
    unpulled: int,
) -> None:
    """Answer 1 was given at nine and changed at ten."""
    asked = PairKey("p1-method", "d00")
    given = SourcedJudgement(
        Judgement(*asked.pair, "a1", 1, judged_at=NINE), "label-studio", "1", {}, server="here", changed_at=TEN
    )
    with ws.writing() as session:
        JUDGEMENTS.record(session, [given], recorded_at=RECORDED)
    server = Server(monkeypatch)
    server.answers = answers
    sent_to(ws, "a1", remote=7, round=round)
    notes = taken(ws, tmp_path / "copies")[1]
    said = {0: [], 1: ["a1: 1 answer not pulled"], 2: ["a1: 2 answers not pulled"]}[unpulled]
    assert [note.partition(";")[0] for note in notes] == said
