"""Signs that only some studies show in an audit: other guidelines, other servers, projects that were set back."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from annot.judging.exchange import audit as audits
from annot.judging.exchange.audit import AuditFinding
from annot.judging.exchange.servers import Unreachable, connect
from annot.store import projects
from annot.store.models import Project
from worlds import World


def found(world: World) -> tuple[AuditFinding, ...]:
    return audits.audit(world.ws, advance=lambda done, total: None).findings


def project_of(world: World, name: str) -> Project:
    with world.ws.reading() as session:
        return next(one for one in projects.read_projects(session) if one.assessor == name)


def test_a_project_that_was_set_back_is_named_with_the_day(sent: World) -> None:
    sent.studio.projects[sent.project("a1")] |= {"show_skip_button": True}
    sent.push()
    (one,) = found(sent)
    assert (one.kind, one.count) == ("project set back", 1)
    ((moment, _),) = project_of(sent, "a1").set_back
    assert one.last is not None
    assert date.fromisoformat(one.last) == date.fromisoformat(moment.partition("T")[0])


def test_with_a_server_for_each_the_owner_of_another_release_is_named_and_who_is_away(
    sent: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent.studio.release = "1.24.0"

    def each(ws: Any, names: Any, work: Any) -> tuple[Unreachable, ...]:
        with connect(sent.ws) as gateway:
            work(gateway, ["a1"])
        return (Unreachable("a2", "no answer", False),)

    monkeypatch.setattr(audits, "isolated", lambda ws: True)
    monkeypatch.setattr(audits, "on_servers", each)
    kinds = {one.kind: one for one in found(sent)}
    assert kinds["version"].what.startswith("a1: their server runs Label Studio 1.24.0;")
    away = kinds["not looked at"]
    assert (away.what, away.count) == ("a2: their server could not be reached", 1)


def test_with_a_server_for_each_there_is_nothing_to_look_at_before_anything_was_sent(
    planned: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, "isolated", lambda ws: True)
    monkeypatch.setattr(audits, "on_servers", lambda ws, names, work: pytest.fail("somebody was asked"))
    with pytest.raises(audits.MissingInput, match="nothing was sent"):
        found(planned)
