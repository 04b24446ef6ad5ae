"""Which options of `annot studio up` fit which mode; the server itself is not started."""

import socket
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput, StudioError
from annot.labelstudio import front, server
from annot.labelstudio.front import Front
from annot.steps import setup
from annot.store import people
from annot.study.workspace import Workspace
from small_study import RECORDED, Small
from study_stages import copied, files_of


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


def test_a_domain_that_leads_elsewhere_or_has_no_port_changes_nothing(
    tmp_path: Path, ports: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ws = copied(Small(), "planned", tmp_path / "study")
    before = files_of(ws.root)
    monkeypatch.setattr(front, "program", lambda: "/usr/bin/caddy")
    monkeypatch.setattr(front, "leads_here", lambda name, port: name.startswith("a1."))
    with socket.create_server(("", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(StudioError, match=f"port {taken} is taken"):
            setup.up(ws, port=None, tell=lambda _: None, domain=Front("study.example.org", port=taken))
    with pytest.raises(StudioError, match=r"a2\.study\.example\.org does not lead to this machine"):
        setup.up(ws, port=None, tell=lambda _: None, domain=Front("study.example.org", port=taken))
    assert files_of(ws.root) == before
    assert ports == []
