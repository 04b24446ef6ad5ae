"""What people and servers do to a study under way: answers changed, deleted, skipped, spoilt; tasks, accounts and the
server itself gone and back; another study of the same name."""

import json
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import StudioError
from annot.judging.exchange.collecting import PullResult
from annot.steps import exchange
from annot.store import projects as tasks_of_store
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import open_store
from fixtures_studio import Studio
from studies import Pair, Study, make_study
from study_stages import quietly


@pytest.fixture(scope="module")
def planned(memory: Studio, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A dozen pairs or so for two assessors, nothing sent."""
    return make_study(tmp_path_factory.mktemp("changes") / "planned", memory, name="changes", per_method=3)


@pytest.fixture
def pushed(planned: Study, tmp_path: Path, request: pytest.FixtureRequest) -> Study:
    """The study of this test alone, sent to the server."""
    name = request.node.name.removeprefix("test_")[:40]
    study = planned.copy(tmp_path / "study", name)
    send(study)
    return study


def send(study: Study) -> exchange.PushResult:
    return exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)


def fetch(study: Study) -> PullResult:
    return exchange.pull(study.workspace, round="judging", advance=quietly)


def row(pulled: PullResult, name: str) -> Any:
    (found,) = [one for one in pulled.assessors if one.assessor == name]
    return found


def history(study: Study, pair: Pair, name: str) -> list[SourcedJudgement]:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return [one for one in JUDGEMENTS.history(session, *pair) if one.record.assessor == name]


def exported(study: Study) -> dict[tuple[str, str, str], dict[str, Any]]:
    lines = (study.folder / "exports" / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    found = {(one["query_id"], one["doc_id"], one["assessor"]): one for one in map(json.loads, lines)}
    assert len(found) == len(lines)
    return found


def annotation_on_server(study: Study, name: str, pair: Pair) -> dict[str, Any]:
    (task,) = [task for task in study.on_server(name) if task["data"]["pair_id"] == "/".join(pair)]
    (annotation,) = task["annotations"]
    found: dict[str, Any] = annotation
    return found


def rating(value: str) -> list[dict[str, Any]]:
    return [{"from_name": "rating", "to_name": "pair", "type": "choices", "value": {"choices": [value]}}]


# -- answers -----------------------------------------------------------------------------------------------------------


def test_skipped_and_spoilt_answers_are_kept_and_flagged_and_never_a_grade(pushed: Study) -> None:
    skipped, off_scale, empty, doubled = pushed.planned()["a1"][:4]
    tasks = {task["data"]["pair_id"]: task["id"] for task in pushed.on_server("a1")}
    with pushed.as_person("a1") as person:
        person.skip(tasks["/".join(skipped)], rating("2"))
        person.annotate(tasks["/".join(off_scale)], rating("7"))
        person.annotate(tasks["/".join(empty)], [])
        person.annotate(tasks["/".join(doubled)], rating("0") + rating("3"))
    pulled = fetch(pushed)
    assert (row(pulled, "a1").judged, row(pulled, "a1").flagged) == (0, 4)
    flags = {pair: exported(pushed)[(*pair, "a1")]["flags"] for pair in (skipped, off_scale, empty, doubled)}
    assert flags == {
        skipped: ["skipped"],
        off_scale: ["grade '7' is not on the scale 0 to 3"],
        empty: ["no grade"],
        doubled: ["2 grades (0, 3), expected one"],
    }
    assert [note for note in pulled.notes if "skipped" in note] == ["a1: 1 annotation not counted: skipped"]
    for pair in flags:
        (kept,) = history(pushed, pair, "a1")
        assert kept.payload == annotation_on_server(pushed, "a1", pair)
    # The person does it again, properly: that counts, and what was wrong stays on record.
    pushed.judge("a1", {skipped: 1, off_scale: 3})
    assert row(fetch(pushed), "a1").judged == 2
    assert exported(pushed)[(*skipped, "a1")]["flags"] == []
    assert exported(pushed)[(*off_scale, "a1")]["grade"] == 3
    assert len(history(pushed, skipped, "a1")) == 2


# -- tasks and accounts ------------------------------------------------------------------------------------------------


def people_ids(study: Study) -> dict[str, int | None]:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return {one.assessor: one.account_id for one in tasks_of_store.read_projects(session, round="judge")}


# -- the server --------------------------------------------------------------------------------------------------------


def test_two_studies_of_one_name_refuse_each_other_and_leave_each_other_alone(pushed: Study, tmp_path: Path) -> None:
    other = make_study(tmp_path / "other", pushed.studio, name=pushed.name, per_method=1)
    # Another choice of papers: the pairs differ, and so does what the project says.
    settings = other.folder / "annot.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("A study of the tests", "Another study"))
    there = set(map("/".join, pushed.planned()["a1"]))
    assert not set(map("/".join, other.planned()["a1"])) >= there
    before = projects_on(pushed)
    tasks = {name: pushed.on_server(name) for name in ("a1", "a2")}
    with pytest.raises(StudioError, match="has this collection's name, but") as raised:
        send(other)
    assert "collection.name" in (raised.value.hint or "")
    assert projects_on(pushed) == before
    assert {name: pushed.on_server(name) for name in ("a1", "a2")} == tasks
    send(pushed)


def projects_on(study: Study) -> list[tuple[Any, ...]]:
    ids = {project for found in study.projects().values() for project in found}
    listed = study.listed_projects()
    kept = ("id", "title", "description", "label_config", "expert_instruction", "task_number")
    return sorted(tuple(project[name] for name in kept) for project in listed if project["id"] in ids)
