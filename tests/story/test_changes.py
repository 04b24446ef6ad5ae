"""What people and servers do to a study under way: answers changed, deleted, skipped, spoilt; tasks, accounts and the
server itself gone and back; another study of the same name."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import StudioError
from annot.base.records import Assessor
from annot.judging.exchange.collecting import PullResult, RoundOptions
from annot.labelstudio.studio_records import write_result
from annot.steps import exchange, plan
from annot.store import people
from annot.store import projects as tasks_of_store
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import open_store
from command_line import annot, annot_done
from fixtures_studio import Studio
from studies import Pair, Study, draw_pools, make_study
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


def test_a_changed_answer_is_a_second_revision_and_the_first_stays_as_it_came(pushed: Study) -> None:
    pair = pushed.planned()["a1"][0]
    ids = pushed.judge("a1", {pair: 1})
    before = annotation_on_server(pushed, "a1", pair)
    assert row(fetch(pushed), "a1").new == 1
    with pushed.as_person("a1") as person:
        person.change_annotation(ids[pair], rating("3"))
    after = annotation_on_server(pushed, "a1", pair)
    pulled = row(fetch(pushed), "a1")
    assert (pulled.judged, pulled.new, pulled.changed) == (1, 0, 1)
    first, second = history(pushed, pair, "a1")
    assert (first.record.revision, first.record.grade, first.payload) == (1, 1, before)
    assert (second.record.revision, second.record.grade, second.payload) == (2, 3, after)
    assert exported(pushed)[(*pair, "a1")]["grade"] == 3
    unchanged = row(fetch(pushed), "a1")
    assert (unchanged.new, unchanged.changed) == (0, 0)
    assert len(history(pushed, pair, "a1")) == 2


def test_a_deleted_answer_counts_until_the_lead_accepts_the_deletion(pushed: Study) -> None:
    pair, other = pushed.planned()["a1"][:2]
    ids = pushed.judge("a1", {pair: 2, other: 0})
    fetch(pushed)
    held = exported(pushed)
    with pushed.as_person("a1") as person:
        person.delete_annotation(ids[pair])
    pulled = fetch(pushed)
    assert (row(pulled, "a1").judged, row(pulled, "a1").new, row(pulled, "a1").changed) == (2, 0, 1)
    assert [(one.assessor, one.query_id, one.doc_id, one.why) for one in pulled.lost] == [
        ("a1", *pair, "its annotation was deleted")
    ]
    assert exported(pushed) == held
    first, gone = history(pushed, pair, "a1")
    assert first.record.grade == 2
    assert (gone.record.revision, gone.record.grade, gone.payload) == (2, None, None)
    assert gone.record.flags == ("gone from the server: its annotation was deleted",)
    accepted = exchange.pull(
        pushed.workspace, round="judging", options=RoundOptions(accept_deletions=True), advance=quietly
    )
    assert (row(accepted, "a1").judged, row(accepted, "a1").changed) == (1, 1)
    assert accepted.finding("annot pull") is None
    assert exported(pushed)[(*pair, "a1")]["flags"] == ["withdrawn: its annotation was deleted"]
    again = fetch(pushed)
    assert (row(again, "a1").changed, again.lost) == (0, ())
    pushed.judge("a1", {pair: 1})
    assert row(fetch(pushed), "a1").judged == 2
    assert (exported(pushed)[(*pair, "a1")]["grade"], exported(pushed)[(*pair, "a1")]["flags"]) == (1, [])


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


def test_another_accounts_answer_in_a_persons_project_does_not_count(pushed: Study) -> None:
    pair, other = pushed.planned()["a1"][:2]
    tasks = {task["data"]["pair_id"]: task for task in pushed.on_server("a1")}
    with pushed.as_person("a2") as stranger:
        for one in (pair, other):
            task = tasks["/".join(one)]
            stranger.annotate(task["id"], write_result({}, grade=3))
    pushed.judge("a1", {pair: 0})
    pulled = row(fetch(pushed), "a1")
    assert (pulled.judged, pulled.flagged) == (1, 2)
    assert exported(pushed)[(*pair, "a1")]["grade"] == 0
    assert exported(pushed)[(*pair, "a1")]["flags"] == []
    assert exported(pushed)[(*other, "a1")]["flags"] == ["by another account than the planned one"]
    assert len(history(pushed, pair, "a1")) == 2
    ids = people_ids(pushed)
    text = (pushed.folder / "exports" / "judgements.jsonl").read_text(encoding="utf-8")
    assert not any(f"account {user_id}" in text for user_id in ids.values())


def test_an_answer_changed_by_somebody_else_does_not_count(pushed: Study) -> None:
    pair = pushed.planned()["a1"][0]
    ids = pushed.judge("a1", {pair: 2})
    with pushed.as_person("a2") as stranger:
        stranger.change_annotation(ids[pair], rating("0"))
    pulled = row(fetch(pushed), "a1")
    assert (pulled.judged, pulled.flagged) == (0, 1)
    assert exported(pushed)[(*pair, "a1")]["flags"] == ["last changed by another account, not by its author"]


def test_of_two_answers_to_one_task_the_later_counts(pushed: Study) -> None:
    pair = pushed.planned()["a1"][0]
    pushed.judge("a1", {pair: 2})
    pushed.judge("a1", {pair: 1})
    assert row(fetch(pushed), "a1").judged == 1
    assert exported(pushed)[(*pair, "a1")]["grade"] == 1
    flags = [one.record.flags for one in history(pushed, pair, "a1")]
    assert Counter(len(found) for found in flags) == Counter({0: 1, 1: 1})


# -- tasks and accounts ------------------------------------------------------------------------------------------------


def test_of_deleted_tasks_those_without_an_answer_are_sent_again(pushed: Study) -> None:
    answered, unanswered, kept = pushed.planned()["a1"][:3]
    pushed.judge("a1", {answered: 2, kept: 1})
    fetch(pushed)
    before = {task["data"]["pair_id"]: task["id"] for task in pushed.on_server("a1")}
    with pushed.studio.gateway() as gateway:
        for pair in (answered, unanswered):
            gateway.delete_task(before["/".join(pair)])
    pulled = fetch(pushed)
    assert any(note.startswith("a1: 2 tasks missing from the server") for note in pulled.notes)
    assert row(pulled, "a1").judged == 2
    sent = send(pushed)
    assert {one.assessor: (one.sent, one.known) for one in sent.projects} == {"a1": (1, 1), "a2": (0, 0)}
    assert any(note.startswith("a1: 1 task not sent again") for note in sent.notes)
    after = {task["data"]["pair_id"]: task["id"] for task in pushed.on_server("a1")}
    assert before.keys() - after.keys() == {"/".join(answered)}
    assert [key for key in after if after[key] != before[key]] == ["/".join(unanswered)]
    assert pushed.in_store("a1") == after
    # Once the lead has the deletion count, the person is asked again.
    exchange.pull(pushed.workspace, round="judging", options=RoundOptions(accept_deletions=True), advance=quietly)
    assert {one.assessor: one.sent for one in send(pushed).projects} == {"a1": 1, "a2": 0}
    pushed.judge("a1", {answered: 3})
    assert row(fetch(pushed), "a1").judged == 2
    assert exported(pushed)[(*answered, "a1")]["grade"] == 3


def test_a_project_deleted_on_the_server_is_made_again_with_its_open_tasks(pushed: Study) -> None:
    pair = pushed.planned()["a1"][0]
    pushed.judge("a1", {pair: 2})
    fetch(pushed)
    held = exported(pushed)
    with pushed.studio.gateway() as gateway:
        gateway.delete_project(pushed.projects()["a1"][0])
    pulled = fetch(pushed)
    assert [(one.doc_id, one.why) for one in pulled.lost] == [(pair[1], "its project was deleted")]
    assert exported(pushed) == held
    assert {one.assessor: one.sent for one in send(pushed).projects} == {"a1": len(pushed.planned()["a1"]) - 1, "a2": 0}
    assert pushed.in_store("a1") == {task["data"]["pair_id"]: task["id"] for task in pushed.on_server("a1")}


def test_tasks_of_a_push_that_was_killed_before_it_noted_them_down_count_when_they_are_judged(pushed: Study) -> None:
    pair = pushed.planned()["a1"][0]
    pushed.judge("a1", {pair: 2})
    with open_store(pushed.workspace.database_url) as store, store.begin() as session:
        for project in tasks_of_store.read_projects(session):
            known = tasks_of_store.read_tasks(session, project.project)
            tasks_of_store.forget_tasks(session, project.project, known)
    assert row(fetch(pushed), "a1").judged == 1


def test_a_plan_that_has_grown_is_sent_behind_what_is_there(pushed: Study) -> None:
    before = {name: [task["id"] for task in pushed.on_server(name)] for name in ("a1", "a2")}
    first = pushed.planned()
    draw_pools(pushed.workspace, per_method=5, grow=True)
    plan.make(pushed.workspace, queries=(), shares={}, seed=None, grow=True, dry_run=False)
    send(pushed)
    for name, pairs in pushed.planned().items():
        there = pushed.on_server(name)
        assert pairs[: len(first[name])] == first[name]
        assert [task["data"]["pair_id"] for task in there] == ["/".join(pair) for pair in pairs]
        assert [task["id"] for task in there][: len(before[name])] == before[name]


def test_a_query_that_was_sent_and_nobody_answered_is_taken_back(pushed: Study) -> None:
    folder = pushed.folder
    begun, untouched, *_ = sorted({pair[0] for pair in pushed.planned()["a1"]})
    promised = annot_done("push", "--dry-run", "--json", folder=folder).data["projects"]
    assert [(one["there"], one["sent"]) for one in promised] == [(one["planned"], 0) for one in promised]
    pushed.judge("a1", {next(pair for pair in pushed.planned()["a1"] if pair[0] == begun): 2})
    fetch(pushed)
    refused = annot("plan", "--withdraw", "--query", begun, "--sent", folder=folder)
    assert refused.exit_code == 2
    assert f"{begun}: already judged" in refused.stderr
    held = pushed.planned()
    annot_done("plan", "--withdraw", "--query", untouched, "--sent", "--dry-run", folder=folder)
    assert pushed.planned() == held

    taken = annot_done("plan", "--withdraw", "--query", untouched, "--sent", "--json", folder=folder).data
    assert taken["assignments"] == sum(pair[0] == untouched for pairs in held.values() for pair in pairs)
    assert annot("query", "remove", untouched, folder=folder).exit_code == 2
    send(pushed)
    for name in ("a1", "a2"):
        assert {pair[0] for pair in pushed.planned()[name]} == {pair[0] for pair in held[name]} - {untouched}
        there = {task["data"]["pair_id"] for task in pushed.on_server(name)}
        assert there == {"/".join(pair) for pair in pushed.planned()[name]}
    # It can be planned and sent again. An answer given before its task is deleted stays, and so does its pair.
    annot_done("plan", "--grow", "--query", untouched, folder=folder)
    send(pushed)
    late = next(pair for pair in pushed.planned()["a2"] if pair[0] == untouched)
    annot_done("plan", "--withdraw", "--query", untouched, "--sent", folder=folder)
    pushed.judge("a2", {late: 1})
    assert "a2: keeps 1 pair answered in the meantime" in send(pushed).notes
    assert [pair for pair in pushed.planned()["a2"] if pair[0] == untouched] == [late]
    fetch(pushed)
    assert exported(pushed)[(*late, "a2")]["grade"] == 1
    keys = {"/".join(pair) for pair in pushed.planned()["a1"]}
    assert {task["data"]["pair_id"] for task in pushed.on_server("a1")} == keys


def test_who_has_no_account_on_the_server_is_named_and_the_others_get_theirs(planned: Study, tmp_path: Path) -> None:
    study = planned.copy(tmp_path / "study", "gone-account")
    with open_store(study.workspace.database_url) as store, store.begin() as session:
        people.put_assessors(session, [Assessor("a2", "never-signed-up@story.example.org", False)])
    pushed = send(study)
    assert [one.assessor for one in pushed.projects] == ["a1"]
    assert [note.split(";")[0] for note in pushed.notes] == ["a2: has not signed up on the server yet"]
    assert "never-signed-up" not in "".join(pushed.notes)
    assert set(study.projects()) == {"a1"}


def test_a_pull_after_an_account_was_changed_keeps_what_came_from_the_former_one(pushed: Study) -> None:
    pair, other = pushed.planned()["a1"][:2]
    pushed.judge("a1", {pair: 2})
    fetch(pushed)
    held = exported(pushed)
    former = people_ids(pushed)["a1"]
    with open_store(pushed.workspace.database_url) as store, store.begin() as session:
        people.put_assessors(session, [Assessor("a1", "another@story.example.org", False)])
    assert fetch(pushed).lost == ()
    assert exported(pushed) == held
    assert [one.account for one in history(pushed, pair, "a1")] == [former]
    # What they still gave by the former account is theirs, too.
    pushed.judge("a1", {other: 1})
    assert row(fetch(pushed), "a1").judged == 2


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
