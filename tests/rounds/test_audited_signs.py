"""Signs that only some studies show in an audit: other guidelines, other servers, projects that were set back."""

from __future__ import annotations

import json
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Judgement
from annot.judging.exchange import audit as audits
from annot.judging.exchange.audit import AuditFinding, audited_project, lost_with
from annot.judging.exchange.servers import Unreachable, connect
from annot.labelstudio.gateway import Gateway
from annot.store import projects
from annot.store.answers import TRIALS, SourcedAnswer
from annot.store.models import TASK_TABLE, Project
from annot.store.shown import record_versions, version
from small_study import RECORDED
from sqlalchemy import text
from worlds import World


def found(world: World) -> tuple[AuditFinding, ...]:
    return audits.audit(world.ws, advance=lambda done, total: None).findings


def project_of(world: World, name: str) -> Project:
    with world.ws.reading() as session:
        return next(one for one in projects.read_projects(session) if one.assessor == name)


def test_answers_by_guidelines_that_nobody_sent_are_named_with_their_pairs(sent: World) -> None:
    sent.judge("a1", dict.fromkeys(sent.pairs[:5], 1))
    strange = text(
        f"UPDATE {TASK_TABLE.name} SET shown = :history WHERE project_id = :project AND doc_id IN ('d03', 'd01')"
    )
    with sent.ws.writing() as session:
        history = json.dumps([["2031-01-01T00:00:00+00:00", "unknown"]])
        session.connection().execute(strange, {"history": history, "project": project_of(sent, "a1").project})
    sent.pull()
    (one,) = found(sent)
    assert (one.kind, one.count, one.pairs) == ("unknown guidelines", 2, ("p1-method d01", "p1-method d03"))
    assert one.what == "a1: 2 answers by guidelines that are not on record"


def test_open_tasks_with_older_guidelines_are_named_and_answered_ones_are_not(sent: World) -> None:
    sent.judge("a1", dict.fromkeys(sent.pairs[:8], 1))
    sent.pull()
    with sent.ws.writing() as session:
        later = version("guidelines", "method", "Others.", since="2099-01-01T00:00:00+00:00", why="clearer")
        record_versions(session, [later])
    first, second = found(sent)
    assert (first.kind, first.count, first.pairs) == ("earlier guidelines", 2, ("p1-method d08", "p1-method d09"))
    assert (second.kind, second.count) == ("earlier guidelines", 10)
    assert second.what == "a2: 10 open tasks with older guidelines than were sent last"


def test_a_project_that_was_set_back_is_named_with_the_day(sent: World) -> None:
    sent.studio.projects[sent.project("a1")] |= {"show_skip_button": True}
    sent.push()
    (one,) = found(sent)
    assert (one.kind, one.count) == ("project set back", 1)
    ((moment, _),) = project_of(sent, "a1").set_back
    assert one.last is not None
    assert date.fromisoformat(one.last) == date.fromisoformat(moment.partition("T")[0])


@pytest.mark.parametrize(
    ("on_record", "there"),
    [("2031-01-01T10:00:00Z", None), (None, "2031-01-01T10:00:00Z"), ("a moment", "a moment")],
)
def test_a_project_is_the_same_unless_both_moments_are_known_and_differ(
    sent: World, on_record: str | None, there: str | None
) -> None:
    project = project_of(sent, "a1")._replace(created=on_record)
    with connect(sent.ws) as gateway:
        listed: Any = gateway.project(sent.project("a1"))._replace(created=there)  # type: ignore[union-attr]
        seen: Any = Seen(gateway, listed)
        assert audited_project(sent.ws, seen, project, accounts=[7], people={}) is not None
        seen.listed = listed._replace(created="another moment")
        gone = audited_project(sent.ws, seen, project, accounts=[7], people={}) is None
        assert gone is (on_record is not None)


class Seen:
    """A server that lists one project as it is given here."""

    def __init__(self, gateway: Gateway, listed: Any) -> None:
        self.gateway, self.listed = gateway, listed

    def project(self, remote_id: int) -> Any:
        return self.listed

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gateway, name)


def test_answers_to_hidden_gold_go_with_a_project_of_the_same_server(judged: World) -> None:
    project = project_of(judged, "a1")
    with judged.ws.writing() as session:
        given = [
            SourcedAnswer(Judgement("p1-method", "d98", "a1", 1), "hidden-gold", "901", {}, server=project.server),
            SourcedAnswer(Judgement("p1-method", "d99", "a1", 1), "hidden-gold", "902", {}, server="another"),
            SourcedAnswer(Judgement("p1-method", "d97", "a1", 1), "train", "903", {}, server=project.server),
        ]
        TRIALS.record(session, given, recorded_at=RECORDED)
    assert lost_with(judged.ws, project) == 10 + 1
    assert lost_with(judged.ws, project._replace(round="train")) == 1


def test_on_a_server_of_ones_own_an_account_of_another_is_strange(sent: World) -> None:
    there = {"ann@example.org": 5, "bob@example.org": 6, "lead@example.org": 1, "who@example.org": 8, "old@x.org": 9}
    markers = ["[annot:small/judge/a1", "[annot:small/judge/a2"]
    gateway: Any = SimpleNamespace(user_ids=lambda: there, whoami=lambda: 1, projects_by_marker=lambda prefix: markers)
    strange = list(audits._of_own_server(sent.ws, gateway, "a1", [9]))
    assert [(one.kind, one.what.partition(" is on ")[0], one.count) for one in strange[:2]] == [
        ("strange account", "a1: an account of a2", 1),
        ("strange account", "a1: account 8 of an unknown person", 1),
    ]
    assert [one.kind for one in strange[2:]] == ["strange project"]


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
