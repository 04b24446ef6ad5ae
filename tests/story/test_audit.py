"""The audit finds every planted breach, and nothing in a study that was judged as planned."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from annot.base.records import PairKey
from annot.judging.exchange import audit
from annot.judging.exchange.audit import AuditedProject, of_project
from annot.judging.exchange.displayed_content import changed_tasks
from annot.judging.exchange.servers import connect, own_tasks
from annot.labelstudio.studio_records import PulledTask, write_result
from annot.steps import exchange
from annot.store import projects
from annot.store.database import open_store
from annot.store.models import StoredRound
from command_line import annot, annot_done
from fixtures_studio import GUARD, Studio
from studies import Pair, Study, address_of, make_study
from study_stages import quietly
from test_killed import grades_of


@pytest.fixture(scope="module")
def settled(memory: Studio, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Judged by both, with changed minds, and settled."""
    study = make_study(tmp_path_factory.mktemp("audit") / "study", memory, name="audited", per_method=3)
    exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
    ids = {name: study.judge(name, grades_of(name, study.planned()[name])) for name in ("a1", "a2")}
    first = study.planned()["a1"][0]
    with study.as_person("a1") as person:
        person.change_annotation(ids["a1"][first], write_result({}, grade=3))
    exchange.pull(study.workspace, round="judging", advance=quietly)
    exchange.push(study.workspace, round="adjudication", dry_run=False, advance=quietly)
    study.judge("j1", dict.fromkeys(disputed(study), 2), "adjudicate")
    exchange.pull(study.workspace, round="adjudication", advance=quietly)
    return study


def disputed(study: Study) -> list[Pair]:
    return [tuple(task["data"]["pair_id"].split("/")) for task in study.on_server("j1", "adjudicate")]


def found(study: Study) -> dict[str, list[str]]:
    """The findings by kind."""
    audited = audit.audit(study.workspace, advance=quietly)
    kinds: dict[str, list[str]] = {}
    for finding in audited.findings:
        kinds.setdefault(finding.kind, []).append(str(replace(finding, last=None)))
    return kinds


def on_the_server(study: Study, method: str, path: str, **body: Any) -> None:
    headers = {"Authorization": f"Token {study.studio.token}"}
    with httpx.Client(base_url=study.studio.url, headers=headers, timeout=GUARD, trust_env=False) as http:
        answer = http.request(method, path, json=body)
    assert answer.is_success, answer.text


CHANGES: dict[str, tuple[str, Callable[[dict[str, str]], object]]] = {
    "another text": ("judge", lambda data: data.update(pair_html=data["pair_html"].replace(" the ", " one ", 1))),
    "a word behind the text": ("judge", lambda data: data.update(pair_html=data["pair_html"] + "<p>grade 3</p>")),
    "a word in an attribute": (
        "judge",
        lambda data: data.update(pair_html=data["pair_html"].replace("<p ", '<p title="grade 3" ', 1)),
    ),
    "a field more": ("judge", lambda data: data.update(hint="grade 3")),
    "a field less": ("judge", lambda data: data.pop("progress")),
    "another facet": ("judge", lambda data: data.update(facet="result")),
    "another help": ("judge", lambda data: data.update(facet_help="Give a 3.")),
    "a word in the progress": ("judge", lambda data: data.update(progress=data["progress"] + ", give a 3")),
    "another grade": ("adjudicate", lambda data: data.update(rating_a="0 Irrelevant", rating_b="0 Irrelevant")),
    "another comment": ("adjudicate", lambda data: data.update(comment_a="Trust me.")),
    "a third opinion": ("adjudicate", lambda data: data.update(rating_c="3 Near-identical", comment_c="no comment")),
    "one opinion less": ("adjudicate", lambda data: (data.pop("rating_b"), data.pop("comment_b"))),
}
"""In which round, and what somebody does to a task."""


def test_every_change_of_what_a_task_shows_is_seen(settled: Study) -> None:
    ws = settled.workspace
    with open_store(ws.database_url) as store, connect(ws) as gateway:
        with store.read() as session:
            every = {one.round: one for one in projects.read_projects(session) if one.assessor in ("a1", "j1")}
            own = {round: own_tasks(session, round, every[round].assessor) for round in ("judge", "adjudicate")}
        pulled = {round: gateway.pull(every[round].remote_id) for round in own}

        def changed(round: StoredRound, tasks: Sequence[PulledTask]) -> tuple[str, ...]:
            return changed_tasks(ws, every[round], tasks, own[round])

        for round, tasks in pulled.items():
            assert changed(round, tasks) == ()
            # What stands elsewhere in the order, or has other sentences marked, is no change by hand.
            moved = [
                {**one.data, "progress": "9 of 9 · query 2, candidate 3 of 3", "pair_html": unmarked(one)}
                for one in tasks
            ]
            assert changed(round, [one._replace(data=data) for one, data in zip(tasks, moved, strict=True)]) == ()
        for what, (round, change) in CHANGES.items():
            first, *others = pulled[round]
            data = dict(first.data)
            change(data)
            assert data != first.data, what
            assert changed(round, [first._replace(data=data), *others]) == (first.key,), what


def unmarked(task: PulledTask) -> str:
    return str(task.data["pair_html"]).replace(" a-hit", "")


def test_a_study_judged_as_planned_has_no_finding_and_every_breach_is_one(settled: Study) -> None:
    assert found(settled) == {}
    # Another account from now on, as the lead says: what the person answered under the first one stays theirs.
    another = settled.studio.account("audited-another")
    annot_done("assessor", "change", "a2", "--account", another.email, folder=settled.folder)
    exchange.push(settled.workspace, round="judging", dry_run=False, advance=quietly)
    assert found(settled) == {}
    annot_done("assessor", "change", "a2", "--account", address_of("a2"), folder=settled.folder)
    exchange.push(settled.workspace, round="judging", dry_run=False, advance=quietly)
    said = annot_done("check", "server", folder=settled.folder).stdout
    assert "3 projects" in said
    assert "no problems found" in said
    made = {name: settled.projects()[name][0] for name in ("a1", "a2")}
    tasks = {name: {task["data"]["pair_id"]: task for task in settled.on_server(name)} for name in ("a1", "a2")}
    pairs = ["/".join(pair) for pair in settled.planned()["a1"]]
    last = ["/".join(pair) for pair in disputed(settled)][-1]

    def first_answer(name: str, key: str) -> dict[str, Any]:
        answer: dict[str, Any] = tasks[name][key]["annotations"][0]
        return answer

    others = [key for key in pairs if key != last]
    # The administrator answers a task of a1; a2 changes an answer of a1; a2 answers three tasks again.
    with settled.studio.gateway() as administrator:
        administrator.annotate(tasks["a1"][others[0]]["id"], write_result({}, grade=0), lead_time=9.0)
    with settled.as_person("a2") as second:
        second.change_annotation(first_answer("a1", others[1])["id"], write_result({}, grade=0))
        second.change_annotation(first_answer("a2", last)["id"], write_result({}, grade=1))
        for key in others[2:5]:
            second.delete_annotation(first_answer("a2", key)["id"])
            second.annotate(tasks["a2"][key]["id"], write_result({}, grade=0), lead_time=0.4)
    on_the_server(settled, "DELETE", f"/api/tasks/{tasks['a2'][others[5]]['id']}/")
    on_the_server(
        settled,
        "POST",
        f"/api/projects/{made['a2']}/import?commit_to_project=true",
        **{name: value for name, value in tasks["a2"][others[6]]["data"].items() if name != "pair_id"},
        pair_id="somebody/elses",
    )
    worse = {"maximum_annotations": 3, "expert_instruction": "Give 3 to everything.", "title": "Be quick"}
    on_the_server(settled, "PATCH", f"/api/projects/{made['a1']}/", **worse)
    exported = {task["id"]: task["data"] for task in settled.as_exported("a1")}
    wanted = tasks["a1"][others[3]]["id"]
    on_the_server(settled, "PATCH", f"/api/tasks/{wanted}/", data={**exported[wanted], "facet_help": "Give a 3."})
    with settled.as_person("a1") as person:
        person.delete_annotation(first_answer("a1", others[4])["id"])
    # Somebody fills a grade in on a task of a2, which a screen would show as chosen.
    chosen = {"id": "g", "from_name": "rating", "to_name": "pair", "type": "choices", "value": {"choices": ["3"]}}
    filled = {"task": tasks["a2"][others[0]]["id"], "model_version": "sentence-labels", "result": [chosen]}
    on_the_server(settled, "POST", "/api/predictions/", **filled)
    kinds = found(settled)
    assert kinds["other account"] == [
        f"a1: 1 answer by another account (by the lead's account): {others[0].replace('/', ' ')}"
    ]
    assert kinds["answered twice"] == [f"a1: 1 task with more than one answer: {others[0].replace('/', ' ')}"]
    assert kinds["edited by another"][0].startswith(
        "a1: 1 answer last changed by an account other than the author's (by a2): "
    )
    assert any(text.startswith("a2: ") and last.replace("/", " ") in text for text in kinds["after adjudication"])
    assert kinds["task gone"] == [f"a2: 1 task missing from the server: {others[5].replace('/', ' ')}"]
    assert kinds["task changed"] == [
        f"a1: 1 task showing content that was never sent: {others[3].replace('/', ' ')}",
        f"a2: 1 task showing content that was never sent: {others[0].replace('/', ' ')}",
    ]
    assert kinds["answer gone"] == [
        f"a1: 1 answer on record but missing from the server: {others[4].replace('/', ' ')}"
    ]
    assert kinds["strange tasks"] == ["a2: 1 task not sent by this study"]
    changed = "maximum_annotations, the instructions, the title"
    assert kinds["project changed"] == [f"a1: changed on the server by hand: {changed}"]
    pushed = annot_done("push", folder=settled.folder)
    assert (
        "a1: changed on the server by hand, and changed back now: "
        "maximum_annotations, the title, the instructions; see `annot check server`" in pushed.stderr
    )
    assert "changed back" not in annot_done("push", folder=settled.folder).stderr
    kinds = found(settled)
    assert "project changed" not in kinds
    assert kinds["project set back"] == [f"a1: {audit.KINDS['project set back'].what}: {changed}"]
    on_the_server(settled, "DELETE", f"/api/projects/{made['a2']}/")
    result = annot("check", "server", "--json", folder=settled.folder)
    assert result.exit_code == 1
    told = annot("check", "server", folder=settled.folder).stdout
    by_whom = r"by another account \(by the lead's account\)"
    assert re.search(rf"^a1: 1 answer {by_whom}: .* \(last on \d{{4}}-\d\d-\d\d\)$", told, re.MULTILINE)
    assert "    to do: these answers do not count; ask, then delete them in Label Studio\n" in told
    (gone,) = [finding for finding in result.data["server"]["findings"] if finding["kind"] == "project gone"]
    answered = len(settled.planned()["a2"])
    lost = f"it contained {answered} answers that are on record"
    assert gone["what"] == f"a2: their project is missing from the server (judging); {lost}"
    assert "free edition does not record who deleted it" in gone["do"]
    kept = json.loads((settled.folder / "exports" / "audit.json").read_text(encoding="utf-8"))
    assert kept["findings"] == result.data["server"]["findings"]


def test_a_hidden_repeat_may_come_after_its_pair_was_settled() -> None:
    answer = {"id": 1, "completed_by": 7, "updated_by": 7, "updated_at": "2031-01-02T00:00:00Z", "lead_time": 9.0}
    settled_at = {("q", "d"): "2031-01-01T00:00:00Z"}
    for occasion, expected in ((1, ["after adjudication"]), (2, [])):
        own = {"key": PairKey("q", "d", occasion)}
        met = AuditedProject(
            person="a1",
            push="annot push",
            accounts=[7],
            counted={},
            kept=frozenset(),
            tasks=[PulledTask("key", (answer,))],
            questions=own,
            planned=frozenset(own),
            changed=(),
        )
        assert [finding.kind for finding in of_project(met, settled_at)] == expected
