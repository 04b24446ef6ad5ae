"""Judgements from another Label Studio project's export: who, which grade, what counts, and faults by task."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from annot.formats.trec import read_qrels
from annot.study.workspace import Workspace

Run = Callable[..., Any]
OPTIONS = ("--rating", "rel", "--query", "topic", "--document", "paper")


def annotation(number: int, by: Any, *given: Any, kind: str = "choices", **more: Any) -> dict[str, Any]:
    value = {kind: list(given)} if kind == "choices" else {kind: given[0] if given else None}
    result = [{"from_name": "rel", "to_name": "t", "type": kind, "value": value}] if given else []
    made = {"id": number, "completed_by": by, "result": result, "was_cancelled": False, "lead_time": 4.5}
    return made | {"created_at": f"2031-01-01T10:{number:02}:00.123456Z"} | more


def task(number: int, *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    return {
        "id": number,
        "data": {"topic": "p1-method", "paper": f"d{number}", "text": "..."} | data,
        "annotations": list(annotations),
        "predictions": [{"result": [{"from_name": "rel", "value": {"choices": ["3"]}}]}],
        "drafts": [],
    }


@pytest.fixture
def bring(annot: Run, tmp_path: Path) -> Callable[..., Any]:
    def run(tasks: Any, *more: str) -> Any:
        path = tmp_path / "theirs.json"
        path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks), encoding="utf-8")
        return annot("import", "--as", "labelstudio", path, *OPTIONS, *more)

    return run


def rows(ws: Workspace, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection:
        return connection.execute(statement).fetchall()


def test_every_annotation_is_kept_and_the_latest_that_counts_is_taken(
    ws: Workspace, annot: Run, bring: Callable[..., Any]
) -> None:
    tasks = [
        # Named in the export by number, by record, and by address: the number 10 comes after the number 9.
        task(1, annotation(1, 10, "2"), annotation(2, 9, "2")),
        task(2, annotation(3, {"id": 10, "email": None}, "Related"), annotation(4, 9, "related")),
        # Changed their mind in a second annotation, and skipped after that; the other wrote no grade.
        task(3, annotation(5, 10, "0"), annotation(6, 10, "3"), annotation(7, 10, "1", was_cancelled=True)),
        task(4, annotation(8, 9), annotation(9, 10, "Broken")),
    ]
    first = bring(tasks, "--grade", "Broken=none")
    assert first.exit_code == 0, first.stderr
    again = bring(tasks, "--grade", "Broken=none", "--json").data
    assert (again["added"], again["revised"], again["unchanged"]) == (0, 0, 9)
    assert rows(ws, "SELECT assessor, account FROM assessor ORDER BY 1") == [("a1", "9"), ("a2", "10")]
    held = rows(ws, "SELECT doc_id, assessor, annotation, grade, cannot_judge, flags FROM judgement ORDER BY id")
    assert [row for row in held if row[0] == "d3"] == [
        ("d3", "a2", "5", 0, None, "[]"),
        ("d3", "a2", "6", 3, None, "[]"),
        ("d3", "a2", "7", None, None, '["skipped"]'),
    ]
    assert [row[3:5] for row in held if row[0] == "d4"] == [(None, "no grade in the file"), (None, "Broken")]
    assert annot("status", "--json").data["incomplete"] == 0
    assert annot("qrels", "--partial").exit_code == 0
    qrels = read_qrels((ws.exports / "qrels.txt").read_text(encoding="utf-8").splitlines(), name="qrels")
    assert {(one.doc_id, one.relevance) for one in qrels} == {("d1", 2), ("d2", 1), ("d3", 3)}
    # An edit on their server is a revision here; what was read before stays.
    tasks[0]["annotations"][0] = annotation(1, 10, "3", updated_at="2031-02-01T00:00:00Z")
    later = bring(tasks, "--grade", "Broken=none", "--json").data
    assert (later["added"], later["revised"]) == (0, 1)
    assert annot("status", "--adjudication", "--json").data[0]["disputed"] == 2


def test_addresses_stay_in_the_database(ws: Workspace, annot: Run, bring: Callable[..., Any]) -> None:
    tasks = [
        task(at, annotation(at, {"email": f"{who}@example.org"}, "1"), paper=f"d{at}")
        for at, who in enumerate(("zoe", "ada"), start=1)
    ]
    said = bring(tasks)
    assert said.exit_code == 0
    assert rows(ws, "SELECT assessor, account FROM assessor ORDER BY 1") == [
        ("a1", "ada@example.org"),
        ("a2", "zoe@example.org"),
    ]
    told = [said.stdout, said.stderr]
    for command in (("status",), ("qrels", "--partial"), ("agreement",)):
        told += [annot(*command).stdout]
    files = [path for path in ws.root.rglob("*") if path.is_file() and path.name != "theirs.json"]
    told += [path.read_text(encoding="utf-8") for path in files if not path.name.startswith("annot.db")]
    assert "example.org" not in "".join(told)
    assert "a1" in "".join(told)


def test_every_fault_is_told_with_its_task(ws: Workspace, bring: Callable[..., Any]) -> None:
    refused = bring([task(11, annotation(1, 1, "Maybe")), task(12, annotation(2, 1, "1", "2")), {"id": 18}])
    assert refused.exit_code == 2
    for fault in (
        "theirs.json: task 11: annotation 1: 'Maybe' is not a grade from 0 to 3; say which with --grade",
        "theirs.json: task 12: annotation 2: 2 values of 'rel', expected one",
        "theirs.json: entry 3: no data, expected a task of Label Studio",
    ):
        assert fault in refused.stderr
    assert rows(ws, "SELECT count(*) FROM judgement") == [(0,)]
    no_facet = bring([task(21, annotation(1, 1, "1"), topic="p9")])
    assert "theirs.json task:21: query 'p9' does not end in a facet" in no_facet.stderr
    assert bring([task(21, annotation(1, 1, "1"), topic="p9")], "--facet", "method", "--dry-run").exit_code == 0
