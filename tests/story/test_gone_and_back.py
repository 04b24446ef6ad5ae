"""What is gone and what comes back: accepted, restored, set back to a backup, listed short, made twice."""

from __future__ import annotations

from functools import partial

import httpx
import pytest
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import ProjectSpec
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import open_store
from command_line import annot, annot_done
from complete_study import (
    Complete,
    annotations_of,
    counting,
    http,
    in_dispute,
    rating,
    the_project,
)
from memory_studio import StudioOfMemory
from studies import Study

# -- what the lead decides ---------------------------------------------------------------------------------------------


def test_what_is_gone_counts_no_longer_once_accepted_and_again_once_restored(complete: Complete, study: Study) -> None:
    mine = study.planned()["a1"]
    with study.as_person("a2") as person:
        person.change_annotation(annotations_of(study, "a2")[mine[0]]["id"], rating("2"))
    http(study, "DELETE", f"/api/projects/{the_project(study, 'a1')}/")
    # What is new in the same pull is recorded all the same.
    assert annot("pull", "judging", folder=study.folder).exit_code == 1
    whole = complete.counting | {(*mine[0], "a2"): 2}
    assert counting(study) == whole
    without = {key: grade for key, grade in whole.items() if key[2] != "a1"}
    for expected in (len(mine), 0):
        accepted = annot_done("pull", "judging", "--accept-deletions", "--json", folder=study.folder)
        assert (len(accepted.data["lost"]), accepted.data["withdrawn"]) == (expected, True)
        assert counting(study) == without
    # The person is asked again; that another project stands there now says nothing new of the answers.
    assert annot_done("push", "--json", folder=study.folder).data["projects"][0]["sent"] == len(mine)
    pulled = annot_done("pull", "judging", "--json", folder=study.folder).data["assessors"]
    assert [(one["assessor"], one["judged"], one["changed"]) for one in pulled] == [("a1", 0, 0), ("a2", len(mine), 0)]
    listed = annot_done("answers", "list", "--json", folder=study.folder).data
    assert {(one["query_id"], one["doc_id"]) for one in listed} == set(mine)
    assert {(one["assessor"], one["counts"], one["why"]) for one in listed} == {
        ("a1", False, "withdrawn: its project was deleted")
    }
    # One is restored, and nothing but the word of the lead takes it away again.
    for _ in range(2):
        annot_done("answers", "restore", *mine[0], "--assessor", "a1", folder=study.folder)
        annot_done("pull", "judging", "--accept-deletions", folder=study.folder)
        assert counting(study) == without | {(*mine[0], "a1"): whole[(*mine[0], "a1")]}
    promised = annot_done("answers", "restore", "--all", "--dry-run", "--json", folder=study.folder).data
    done = annot_done("answers", "restore", "--all", "--json", folder=study.folder).data
    assert len(promised["restored"]) == len(done["restored"]) == len(mine) - 1
    annot_done("pull", "judging", folder=study.folder)
    assert counting(study) == whole
    assert annot_done("answers", "list", "--json", folder=study.folder).data == []
    assert "restored by the lead" in annot_done("trace", *mine[0], folder=study.folder).stdout
    with open_store(study.workspace.database_url) as store, store.read() as session:
        history = [one for one in JUDGEMENTS.history(session, *mine[0]) if one.record.assessor == "a1"]
    assert [(one.record.grade, one.ruling) for one in history] == [
        (0, None),
        (None, None),
        (None, "withdrawn"),
        (0, "restored"),
    ]
    assert history[3].payload == history[0].payload


def test_a_decision_that_is_gone_is_withdrawn_and_restored_like_a_judgement(complete: Complete, study: Study) -> None:
    http(study, "DELETE", f"/api/projects/{the_project(study, 'j1', 'adjudicate')}/")
    annot_done("pull", "adjudication", "--accept-deletions", folder=study.folder)
    assert counting(study) == {key: grade for key, grade in complete.counting.items() if key[2] != "j1"}
    # What is in dispute again is sent again, and an answer settles it.
    (sent,) = annot_done("push", "adjudication", "--json", folder=study.folder).data["projects"]
    assert (sent["sent"], sent["known"]) == (len(in_dispute(study)), 0)
    study.judge("j1", {in_dispute(study)[0]: 3}, "adjudicate")
    annot_done("pull", "adjudication", folder=study.folder)
    annot_done("answers", "restore", "--all", "--assessor", "j1", folder=study.folder)
    annot_done("pull", "adjudication", folder=study.folder)
    assert counting(study) == complete.counting | {(*in_dispute(study)[0], "j1"): 3}


# -- the server ------------------------------------------------------------------------------------------------------


def test_a_server_set_back_to_last_nights_backup_takes_nothing_away(
    complete: Complete, memory: StudioOfMemory, study: Study
) -> None:
    pairs = study.planned()["a2"]
    half = len(pairs) // 2
    memory.server.restore(complete.last_night)

    pulled = annot("pull", "judging", folder=study.folder)
    assert pulled.exit_code == 1
    assert f"a2: {len(pairs) - half} answers, the server has an earlier state" in pulled.stderr
    assert "a1: the server has an earlier state of 1 answer" in pulled.stderr
    assert counting(study) == complete.counting
    assert annot("pull", "adjudication", folder=study.folder).exit_code == 1
    # Nobody is asked again for what is answered on record.
    sent = annot_done("push", "--json", folder=study.folder)
    assert [(one["assessor"], one["there"], one["sent"], one["known"]) for one in sent.data["projects"]] == [
        ("a1", len(pairs), 0, 0),
        ("a2", half, 0, len(pairs) - half),
    ]
    assert f"a2: {len(pairs) - half} tasks not sent again" in sent.stderr
    assert f"a2: {len(pairs) - half} of them had no answer on the server" in sent.stderr
    assert len(study.on_server("a2")) == half
    annot_done("push", "adjudication", folder=study.folder)
    assert counting(study) == complete.counting

    # The server gives the numbers of lost annotations again, to other pairs and people.
    lost = {one.annotation for one in on_record(study, "a2")} - {
        str(one["id"]) for one in annotations_of(study, "a2").values()
    }
    changed = study.judge("a1", {study.planned()["a1"][0]: 3, study.planned()["a1"][1]: 3})
    assert {str(annotation) for annotation in changed.values()} & lost
    assert annot("pull", "judging", folder=study.folder).exit_code == 1
    assert annot("pull", "adjudication", folder=study.folder).exit_code == 1
    assert counting(study) == complete.counting | {(*pair, "a1"): 3 for pair in changed}


def test_tasks_that_are_judged_again_on_a_server_that_was_set_back_count_as_judged_last(
    complete: Complete, memory: StudioOfMemory, study: Study
) -> None:
    memory.server.restore(complete.last_night)
    answered = annotations_of(study, "a2")
    again = [pair for pair in study.planned()["a2"] if pair not in answered]
    assert again
    study.judge("a2", dict.fromkeys(again, 2))
    annot_done("pull", "judging", folder=study.folder)
    assert counting(study) == complete.counting | {(*pair, "a2"): 2 for pair in again}


def on_record(study: Study, name: str) -> list[SourcedJudgement]:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return [one for one in JUDGEMENTS.read(session) if one.record.assessor == name]


class Short(httpx.HTTPTransport):
    """The server, seen through answers that lack the first tasks and count what they have."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        path = request.url.path.rstrip("/")
        if answer.status_code != 200 or not (path == "/api/tasks" or path.endswith("/export")):
            return answer
        answer.read()
        told = answer.json()
        if path.endswith("/export"):
            return httpx.Response(200, json=sorted(told, key=lambda task: int(task["id"]))[3:])
        told["tasks"], told["total"] = told["tasks"][3:], told["total"] - 3
        return httpx.Response(200, json=told)


def test_a_listing_that_is_short_takes_nothing_away(
    complete: Complete, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("annot.labelstudio.gateway.Gateway", partial(Gateway, transport=Short()))
        pulled = annot("pull", "judging", folder=study.folder)
        assert pulled.exit_code == 1
        assert "annot: 6 answers changed or missing on the server" in pulled.stderr
        assert counting(study) == complete.counting
    # Seen whole again, there is nothing to decide.
    annot_done("pull", "judging", folder=study.folder)
    assert annot_done("answers", "list", "--json", folder=study.folder).data == []
    assert counting(study) == complete.counting


def test_empty_twins_of_a_project_are_removed_and_others_are_left(complete: Complete, study: Study) -> None:

    def spec(marker: str) -> ProjectSpec:
        return ProjectSpec(
            marker=marker, title="evidence", description="x", label_config="<View/>", instructions="", color="#617ADA"
        )

    before = {project["id"] for project in study.listed_projects()}
    with study.studio.gateway() as gateway:
        duplicates = [gateway.create_project(spec("evidence/judge/a1")) for _ in range(2)]
        other = gateway.create_project(spec("evidence/judge/a11"))
    annot_done("pull", "judging", folder=study.folder)
    pushed = annot_done("push", folder=study.folder)
    assert "a1: removed 2 empty projects that the server had created twice" in pushed.stderr
    there = {project["id"] for project in study.listed_projects()}
    assert there == before | {other}
    assert not there & set(duplicates)
    assert "removed" not in annot_done("push", folder=study.folder).stderr
    assert counting(study) == complete.counting


def test_an_answer_that_changes_after_adjudication_is_told_and_the_adjudication_stands(
    complete: Complete, study: Study
) -> None:
    settled = in_dispute(study)[0]
    with study.as_person("a1") as person:
        mine = annotations_of(study, "a1")[settled]
        person.change_annotation(mine["id"], rating("1"))
    assert complete.counting[(*settled, "a1")] != 1
    for _ in range(2):
        pulled = annot_done("pull", "judging", folder=study.folder)
        assert "1 answer changed after their pair was adjudicated; the adjudicated grade is kept: " in pulled.stderr
        assert " ".join(settled) in pulled.stderr
    assert annot_done("status", "--json", folder=study.folder).data["changed_after_adjudication"] == 1
    assert "1 answer changed after their pair was adjudicated" in annot_done("status", folder=study.folder).stdout
    assert counting(study) == complete.counting | {(*settled, "a1"): 1}
