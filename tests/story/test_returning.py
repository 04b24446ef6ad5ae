"""Pairs that go back to an assessor: what the assessor finds, and which answer counts for what."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import command_line
import pytest
from annot.measuring.measured import agreement_of
from annot.study.snapshot import read_snapshot
from command_line import Result
from memory_studio import StudioOfMemory
from studies import Study, make_study

WHY = "Look at the last sentence of the candidate: whose method is it?"


@pytest.fixture
def study(memory: StudioOfMemory, tmp_path: Path, request: pytest.FixtureRequest) -> Study:
    """Judged and pulled: three pairs in dispute, the others agreed; the last one was not judged by a2."""
    made = make_study(tmp_path / "study", memory, name=request.node.name.removeprefix("test_")[:30], per_method=3)
    annot = partial(command_line.annot, folder=made.folder)
    assert annot("push").exit_code == 0
    pairs = sorted(made.planned()["a1"])
    made.judge("a1", {pair: 1 if at < 3 else 0 for at, pair in enumerate(pairs)}, comment="Seen in a hurry.")
    made.judge("a2", {pair: 2 if at < 3 else 0 for at, pair in enumerate(pairs[:-1])})
    assert annot("pull", "judging").exit_code == 0
    return made


def next_task(study: Study, name: str) -> dict[str, Any]:
    """The first task that this person has not answered, which is what Label Studio's own stream shows next."""
    return next(task for task in study.as_exported(name) if not task["annotations"])


def returned_rows(annot: Callable[..., Result]) -> list[tuple[str, str, str, str | None]]:
    rows = annot("status", "--returned", "--json").data
    return [(row["doc_id"], row["state"], row["before"], row["after"]) for row in rows]


def test_a_returned_pair_comes_again_with_the_reason_and_both_answers_are_kept(study: Study) -> None:
    annot = partial(command_line.annot, folder=study.folder)
    disputed, settled, again, agreed, *_, unjudged = pairs = sorted(study.planned()["a1"])
    study.judge("a2", {unjudged: 0})
    annot("pull", "judging")
    assert annot("push", "adjudication").exit_code == 0
    study.judge("j1", {settled: 2}, "adjudicate")
    annot("pull", "adjudication")
    before = {task["id"]: task for task in study.on_server("a1")}
    alpha = agreement_of(read_snapshot(study.workspace)).groups[-1].before["alpha_ordinal"].pooled

    assert annot("return", *disputed, "--to", "a1", "--why", WHY, "--dry-run").exit_code == 0
    assert returned_rows(annot) == []
    assert annot("return", *disputed, "--to", "a1", "--why", WHY).exit_code == 0
    twice = annot("return", *disputed, "--to", "a1", "--why", f" {WHY} ")
    assert (twice.exit_code, "already returned with this reason; not changed" in twice.stdout) == (0, True)
    assert annot("return", *agreed, "--to", "a1", "--why", "The facet is another one.").exit_code == 0
    assert returned_rows(annot) == [
        (disputed[1], "not sent yet", "1", None),
        (agreed[1], "not sent yet", "0", None),
    ]
    # While it waits, the pair has no grade and is no dispute; its first answers stay in agreement.
    refused = annot("qrels")
    assert refused.exit_code == 2
    for pair in (disputed, agreed):
        assert f"{' '.join(pair)}: returned to a1, who has not answered yet" in refused.stderr
    found = annot("status", "--json").data
    assert (found["returned"], found["waiting"], found["incomplete"], found["open"]) == (2, 2, 0, 1)
    assert agreement_of(read_snapshot(study.workspace)).groups[-1].before["alpha_ordinal"].pooled == alpha
    # Nobody is to speak of a pair that somebody has still to judge again.
    held = annot("meeting", "--json").data
    assert (held["pairs"], held["held_back"], held["differing"]) == (len(pairs), 2, 2)
    page = (study.folder / "exports" / "meeting.md").read_text(encoding="utf-8").splitlines()
    told = [pair for pair in pairs if any(f"({pair[0]})" in line and f"({pair[1]})" in line for line in page)]
    assert told == [pair for pair in pairs if pair not in (disputed, agreed)]
    withdrawn = annot("push", "adjudication")
    assert "1 unanswered task withdrawn" in withdrawn.stderr

    # On the server: one new task each, with the reason and nobody's answer, and the stream shows it next.
    assert annot("push").exit_code == 0
    assert annot("push").exit_code == 0
    tasks = {task["id"]: task for task in study.on_server("a1")}
    assert {task_id: tasks[task_id] for task_id in before} == before
    new = [task for task_id, task in tasks.items() if task_id not in before]
    assert len(new) == 2
    shown = next_task(study, "a1")
    assert shown["id"] == min(task["id"] for task in new)
    assert shown["annotations"] == []
    assert WHY in shown["data"]["pair_html"]
    assert "hurry" not in json.dumps(shown["data"])
    first = next(task for task in before.values() if task["data"]["pair_id"] == "/".join(disputed))
    # It comes before the others of its query now, and says that the query is new.
    assert shown["data"]["pair_html"].replace(" a-first", "").startswith(first["data"]["pair_html"])
    assert shown["data"].keys() == first["data"].keys()

    # Answered: the new answer makes the final grade, the first one the agreement before adjudication.
    study.answer("a1", shown["id"], 2)
    pulled = annot("pull", "judging", "--json").data["assessors"]
    assert [(one["assigned"], one["judged"], one["new"]) for one in pulled if one["assessor"] == "a1"] == [
        (len(pairs) + 2, len(pairs) + 1, 1)
    ]
    assert returned_rows(annot)[0] == (disputed[1], "answered", "1", "2")
    assert annot("qrels", "--partial").exit_code == 0
    assert f"{disputed[0]} 0 {disputed[1]} 2\n" in (study.folder / "exports" / "qrels.txt").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in (study.folder / "exports" / "judgements.jsonl").read_text().splitlines()]
    mine = [one for one in lines if (one["query_id"], one["doc_id"], one["assessor"]) == (*disputed, "a1")]
    assert [(one["grade"], one.get("returned", False)) for one in mine] == [(1, False), (2, True)]
    assert agreement_of(read_snapshot(study.workspace)).groups[-1].before["alpha_ordinal"].pooled == alpha
    traced = annot("trace", *disputed)
    assert "returned to a1 on 20" in traced.stdout
    assert WHY in traced.stdout
    assert "as a repeat" not in traced.stdout
    said = annot("trace", *disputed, "--json").data["answers"]
    assert [(one["person"], one["grade"], one["counts"]) for one in said] == [
        ("a1", 1, False),
        ("a2", 2, True),
        ("a1", 2, True),
    ]
    looked = read_snapshot(study.workspace).outcome
    assert looked.repeats == ()
    # The same reason again is the same command, also when it is answered; another one returns the pair once more.
    assert (
        "already returned with this reason; not changed"
        in annot("return", *disputed, "--to", "a1", "--why", WHY).stdout
    )

    # Taken back: the task leaves the project, and the first answer counts.
    assert annot("return", *agreed, "--to", "a1", "--undo").exit_code == 0
    assert "already taken back; not changed" in annot("return", *agreed, "--to", "a1", "--undo").stdout
    assert annot("push").exit_code == 0
    assert len(study.on_server("a1")) == len(before) + 1
    assert annot("push").exit_code == 0
    assert annot("pull", "judging").stderr.count("ignored") == 0
    assert annot("status", "--json").data["waiting"] == 0
    # And it can be returned after that; what an adjudicator gets in the end are the answers that stand.
    assert annot("return", *again, "--to", "a2", "--why", "Only the query's method counts.").exit_code == 0
    annot("push")
    study.answer("a2", next_task(study, "a2")["id"], 3)
    annot("pull", "judging")
    annot("push", "adjudication")
    (waiting,) = [task for task in study.on_server("j1", "adjudicate") if not task["annotations"]]
    assert {waiting["data"]["rating_a"], waiting["data"]["rating_b"]} == {"1 Related", "3 Near-identical"}
    study.judge("j1", {again: 3}, "adjudicate")
    annot("pull", "adjudication")
    assert annot("qrels").exit_code == 0
    annot("datasheet")
    told = " ".join((study.folder / "exports" / "datasheet.md").read_text(encoding="utf-8").split())
    assert "2 pairs were returned to their assessor with a reason from the project lead; in 2 of them" in told

    # So can a pair that is settled: its decision stands no longer, and the adjudicator gets it again as another task.
    assert annot("return", *settled, "--to", "a1", "--why", "Is it the same method?").exit_code == 0
    assert "returned to a1, who has not answered yet" in annot("qrels").stderr
    annot("push")
    study.answer("a1", next_task(study, "a1")["id"], 3)
    annot("pull", "judging")
    assert annot("status", "--json").data["open"] == 1
    first = {task["id"]: task for task in study.on_server("j1", "adjudicate")}
    assert annot("push", "adjudication").exit_code == 0
    (once_more,) = [task for task in study.on_server("j1", "adjudicate") if task["id"] not in first]
    assert {once_more["data"]["rating_a"], once_more["data"]["rating_b"]} == {"2 Similar", "3 Near-identical"}
    study.answer("j1", once_more["id"], 0)
    assert annot("pull", "adjudication").exit_code == 0
    assert annot("push", "adjudication").exit_code == 0
    assert len(study.on_server("j1", "adjudicate")) == len(first) + 1
    assert annot("qrels").exit_code == 0
    assert f"{settled[0]} 0 {settled[1]} 0\n" in (study.folder / "exports" / "qrels.txt").read_text(encoding="utf-8")
    views = [one for one in annot("trace", *settled, "--json").data["answers"] if one["ratings"]]
    assert [sorted(grade for _, grade in one["grades"]) for one in views] == [[1, 2], [2, 3]]

    # Whoever leaves with a returned pair unanswered blocks nothing: the next push withdraws the task.
    assert annot("return", *agreed, "--to", "a2", "--why", "Read the candidate again.").exit_code == 0
    assert annot("push").exit_code == 0
    assert annot("status", "--json").data["waiting"] == 1
    tasks = len(study.on_server("a2"))
    left = annot("assessor", "leave", "a2", "--json").data
    assert (left["returned"], left["to_withdraw"]) == ([list(agreed)], 1)
    assert annot("push").exit_code == 0
    assert len(study.on_server("a2")) == tasks - 1
    found = annot("status", "--json").data
    assert (found["waiting"], found["to_withdraw"]) == (0, 0)
    assert "annot push" not in found["next_command"]
    assert annot("qrels").exit_code == 0
