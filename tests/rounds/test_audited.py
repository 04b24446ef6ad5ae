"""An audit of a small study on its server: what is looked at, and each sign that it was not left alone."""

import json

import pytest
from annot.base.errors import MissingInput
from annot.judging.exchange import audit as audits
from annot.judging.exchange.audit import Audit, audit, count_lost_answers
from annot.judging.exchange.servers import Unreachable
from annot.labelstudio.tasks import pair_key
from annot.store import projects
from annot.store.models import Project
from worlds import World, result


def audited(world: World, steps: list[tuple[int, int | None]] | None = None) -> Audit:
    told = [] if steps is None else steps
    return audit(world.ws, advance=lambda done, total: told.append((done, total)))


def kinds(world: World) -> list[tuple[str, str]]:
    return [(one.kind, one.what) for one in audited(world).findings]


def sent_projects(world: World) -> tuple[Project, ...]:
    with world.ws.reading() as session:
        return projects.read_projects(session)


def test_a_study_that_was_left_alone_shows_nothing_and_is_counted(settled: World) -> None:
    steps: list[tuple[int, int | None]] = []
    found = audited(settled, steps)
    assert (found.projects, found.tasks, found.answers) == (3, 22, 22)
    assert (found.findings, found.fast) == ((), ())
    assert steps[-1] == (22, 22)
    kept = json.loads((settled.ws.exports / "audit.json").read_text(encoding="utf-8"))
    assert (kept["projects"], kept["tasks"], kept["findings"]) == (3, 22, [])


def test_before_anything_is_sent_there_is_nothing_to_look_at(planned: World) -> None:
    with pytest.raises(MissingInput, match="nothing was sent"):
        audited(planned)


def test_a_project_that_is_gone_is_named_with_the_answers_that_went_with_it(judged: World) -> None:
    judged.studio.delete_project(judged.project("a1"))
    ((kind, what),) = kinds(judged)
    assert kind == "project gone"
    assert what == (
        "a1: their project is missing from the server (judging); it contained 10 answers that are on record"
    )
    assert audited(judged).projects == 2
    a1, a2 = sent_projects(judged)
    assert [count_lost_answers(judged.ws, one) for one in (a1, a2)] == [10, 10]


def test_a_grade_that_was_filled_in_is_content_that_was_never_sent(sent: World) -> None:
    tasks = sent.studio.tasks_of(sent.project("a1"))
    (own,) = [one for one in sent.studio.predictions.values() if one["task"] == tasks[0]["id"]]
    own["score"] = 0.9
    twice = next(one for one in sent.studio.predictions.values() if one["task"] == tasks[1]["id"])
    number = max(sent.studio.predictions) + 1
    sent.studio.predictions[number] = {**twice, "id": number}
    tasks[2]["data"]["facet_help"] = "Give 3."
    ((kind, what),) = kinds(sent)
    assert (kind, what) == ("task changed", "a1: 3 tasks showing content that was never sent")


def test_an_answer_changed_after_its_pair_was_settled_is_named_with_its_day(settled: World) -> None:
    (pair, _) = settled.disputed
    (given,) = settled.studio.annotations_on(settled.tasks("a2")[pair_key(*pair)])
    settled.studio.change(given["id"], result(1))
    (finding,) = audited(settled).findings
    assert (finding.kind, finding.pairs) == ("after adjudication", (" ".join(pair),))
    assert finding.last == settled.studio.annotations[given["id"]]["updated_at"][:10]


def test_fast_answers_of_one_person_are_counted_over_the_study(sent: World) -> None:
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:3], 1))
    made |= sent.judge("a1", {sent.pairs[3]: 1})
    for at, number in enumerate(made.values()):
        sent.studio.annotations[number] |= {"lead_time": 0.5, "created_at": f"2031-03-14T09:00:0{at}.000000Z"}
    sent.pull()
    found = audited(sent)
    assert [(one.what[:3], one.pairs) for one in found.fast] == [("a1:", tuple(map(" ".join, sent.pairs[1:4])))]
    assert [one.kind for one in found.findings] == ["too fast"]


def test_another_release_of_label_studio_and_a_server_that_is_away_are_findings(
    sent: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent.studio.release, on_servers = "1.24.0", audits.on_servers
    away = Unreachable("j1", "off", False)
    monkeypatch.setattr(audits, "on_servers", lambda *given: (*on_servers(*given), away))
    found = {one.kind: one.what for one in audited(sent).findings}
    assert found["version"] == "the server runs Label Studio 1.24.0; the screens were sent to 1.23.2"
    assert found["not looked at"].startswith("j1: ")
