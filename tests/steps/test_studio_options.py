"""Which options of `annot studio up` fit which mode; the server itself is not started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.labelstudio import server
from annot.steps import setup
from annot.store import people
from annot.study.workspace import Workspace
from small_study import RECORDED, Small
from study_stages import copied


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The ports with which servers are started."""
    found: list[Any] = []
    monkeypatch.setattr(server, "up", lambda _folder, *, port, **_: found.append(port))
    monkeypatch.setattr(server, "ensure_installed", lambda *_, **__: None)
    monkeypatch.setattr(setup.servers, "open_accounts", lambda *_, **__: None)
    monkeypatch.setattr(setup.servers, "connect", lambda *_, **__: Opened())
    monkeypatch.setattr(setup, "_check_memory", lambda *_: None)
    return found


class Opened:
    """A server that is met."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def up(ws: Workspace, *, port: int | None = None, isolation: str = "project") -> Any:
    own = ws.replaced("judging", isolation=isolation)
    return setup.up(own, port=port, tell=lambda _: None)


def test_one_server_for_all_takes_the_port_that_is_named(tmp_path: Path, ports: list[Any]) -> None:
    ws = copied(Small(), "planned", tmp_path / "study")
    up(ws, port=8123)
    up(ws)
    assert ports == [8123, None]


def test_each_person_who_is_there_has_a_server_and_none_a_port_by_name(tmp_path: Path, ports: list[Any]) -> None:
    ws = copied(Small(), "planned", tmp_path / "study")
    with pytest.raises(InputError, match="--port cannot be used"):
        up(ws, port=8123, isolation="server")
    assert ports == []
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
    up(ws, isolation="server")
    up(ws, isolation="server")
    assert ports == [None] * 4  # a1 and j1, twice


def test_without_people_there_is_nothing_to_start(tmp_path: Path, ports: list[Any]) -> None:
    with pytest.raises(MissingInput, match="no assessors"):
        up(copied(Small(), "made", tmp_path / "study"), isolation="server")
    assert ports == []
