"""An export that Label Studio itself writes, of a project that is not ours, becomes judgements."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import command_line
import httpx
import pytest
from annot.formats.trec import read_qrels
from annot.labelstudio.studio_records import ProjectSpec
from annot.steps.setup import init
from fixtures_studio import GUARD, PersonGateway, Studio

pytestmark = pytest.mark.studio

SCREEN = """<View>
  <Text name="text" value="$abstract"/>
  <Choices name="relevance" toName="text" choice="single">
    <Choice value="No"/><Choice value="A bit"/><Choice value="Very"/><Choice value="Cannot tell"/>
  </Choices>
  <Rating name="stars" toName="text" maxRating="4"/>
  <TextArea name="why" toName="text"/>
</View>"""


def graded(choice: str, stars: int, why: str | None = None) -> list[dict[str, Any]]:
    values = [
        ("relevance", "choices", [choice]),
        ("stars", "rating", stars),
        ("why", "textarea", [why] if why else None),
    ]
    key = {"textarea": "text"}
    return [
        {"from_name": name, "to_name": "text", "type": kind, "value": {key.get(kind, kind): value}}
        for name, kind, value in values
        if value is not None
    ]


def test_an_export_of_a_project_that_is_not_ours_becomes_judgements(studio: Studio, tmp_path: Path) -> None:
    ada, bob = studio.account("foreign-ada"), studio.account("foreign-bob")
    spec = ProjectSpec(
        marker="foreign/1",
        title="A project of theirs",
        description="Not ours.",
        label_config=SCREEN,
        instructions="",
        color="#617ADA",
    )
    tasks = [{"data": {"topic": 77, "paper": f"d{at}", "abstract": "Text."}} for at in range(5)]
    with studio.gateway() as gateway:
        project = gateway.create_project(spec)
        gateway.send_tasks(project, tasks)
        ids = [task.task_id for task in gateway.tasks_of(project)]
    with studio.gateway(ada.token) as mine, studio.gateway(bob.token) as theirs:
        assert isinstance(mine, PersonGateway)
        for at, (first, second) in enumerate([("No", "No"), ("A bit", "Very"), ("Very", "Very")]):
            mine.annotate(ids[at], graded(first, 1, "Not quite."), lead_time=7.0)
            theirs.annotate(ids[at], graded(second, 1), lead_time=3.0)
        mine.annotate(ids[2], graded("A bit", 2), lead_time=1.0)
        mine.skip(ids[3], [])
        theirs.annotate(ids[3], graded("Cannot tell", 4), lead_time=2.0)
    headers = {"Authorization": f"Token {studio.token}"}
    exported = {}
    with httpx.Client(base_url=studio.url, headers=headers, timeout=GUARD, trust_env=False) as http:
        for kind in ("JSON", "JSON_MIN"):
            answer = http.get(f"/api/projects/{project}/export", params={"exportType": kind})
            exported[kind] = tmp_path / f"{kind}.json"
            exported[kind].write_bytes(answer.raise_for_status().content)
    init(tmp_path / "study", name="theirs", dry_run=False)
    annot = partial(command_line.annot, folder=tmp_path / "study")
    options = ("--query", "topic", "--document", "paper", "--facet", "method", "--comment", "why")
    grades = [f"--grade={one}" for one in ("No=0", "A bit=1", "Very=3", "Cannot tell=none")]
    minimal = annot("import", "--as", "labelstudio", exported["JSON_MIN"], "--rating", "relevance", *options, *grades)
    assert (minimal.exit_code, "JSON-MIN" in minimal.stderr) == (2, True)
    done = annot(
        "import", "--as", "labelstudio", exported["JSON"], "--rating", "relevance", *options, *grades, "--json"
    )
    assert done.exit_code == 0, done.stderr
    assert (done.data["judgements"], done.data["added"], done.data["queries"]) == (9, 9, 1)
    assert annot("status", "--json").data["assessors"] == [
        {"assessor": "a1", "assigned": 4, "judged": 3, "left": False},
        {"assessor": "a2", "assigned": 4, "judged": 4, "left": False},
    ]
    assert annot("qrels", "--partial").exit_code == 0
    text = (tmp_path / "study" / "exports" / "qrels.txt").read_text(encoding="utf-8")
    # The first pair is agreed. On the third a1 has changed their mind, so it is in dispute as the second is.
    assert [tuple(one) for one in read_qrels(text.splitlines(), name="qrels")] == [("77-method", "d0", 0)]
    lines = (tmp_path / "study" / "exports" / "judgements.jsonl").read_text(encoding="utf-8")
    said = {(one["doc_id"], one["assessor"]): one for one in map(json.loads, lines.splitlines())}
    assert [said[f"d{at}", "a1"]["grade"] for at in range(3)] == [0, 1, 1]
    assert said["d0", "a1"]["comment"] == "Not quite."
    assert said["d3", "a1"]["flags"] == ["skipped"]
    assert said["d3", "a2"]["cannot_judge"] == "Cannot tell"
    # The same people graded with stars too: a study of its own.
    init(tmp_path / "stars", name="stars", dry_run=False)
    annot = partial(command_line.annot, folder=tmp_path / "stars")
    stars = [f"--grade={at}={at - 1}" for at in range(1, 5)]
    done = annot("import", "--as", "labelstudio", exported["JSON"], "--rating", "stars", *options, *stars, "--json")
    assert (done.exit_code, done.data["added"]) == (0, 9), done.stderr
