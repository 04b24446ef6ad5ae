"""A released collection as the beginning of another study: its judgements and final grades read again."""

import json
import shutil
from functools import partial
from pathlib import Path

import command_line
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied


def test_judgements_and_decisions_of_a_release_give_its_figures(finished: Workspace, tmp_path: Path) -> None:
    there = partial(command_line.annot, folder=finished.root)
    folder, files = tmp_path / "again", tmp_path / "release"
    assert there("release", files, "--draft", "--ids-only").exit_code == 0
    ws = copied(Small(), "made", folder)
    shutil.copy(finished.settings_file, ws.settings_file)
    here = partial(command_line.annot, folder=folder)
    assert here("import", files / "judgements.jsonl").exit_code == 0
    refused = here("qrels")
    assert "`annot import FILE --as judgements --adjudicator NAME`" in refused.stderr
    settled = here("import", files / "decisions.jsonl", "--json").data
    decisions = [json.loads(line) for line in (files / "decisions.jsonl").read_text().splitlines()]
    adjudicated = [row for row in decisions if row["adjudicator"]]
    assert (settled["judgements"], settled["adjudications"]) == (0, len(adjudicated))
    assert 0 < len(adjudicated) < len(decisions)
    assert here("qrels").exit_code == 0
    assert (ws.exports / "qrels.txt").read_bytes() == (files / "qrels.txt").read_bytes()
    agreements = [annot("agreement", "--json").data for annot in (here, there)]
    assert agreements[0]["queries"] == agreements[1]["queries"]
    written = [json.loads(line) for line in (ws.exports / "decisions.jsonl").read_text().splitlines()]
    assert {row["reason"] for row in written} == {row["reason"] for row in decisions} != {None}
    assert here("import", files / "decisions.jsonl", "--json").data["unchanged"] == len(adjudicated)


def test_answers_that_do_not_count_there_do_not_count_here(tmp_path: Path) -> None:
    ws = copied(Small(), "made", tmp_path / "again")
    here = partial(command_line.annot, folder=ws.root)
    answers = [
        {"assessor": "a1", "grade": 2},
        {"assessor": "a2", "grade": None, "cannot_judge": "no abstract"},
        {"assessor": "a3", "grade": 0, "set_aside": True},
        {"assessor": "a4", "grade": 0, "flags": ["after the deadline"]},
        {"assessor": "a5", "grade": 0, "flags": 7, "set_aside": True},
        {"assessor": "a1", "grade": 1, "occasion": 3, "returned": True},
    ]
    ours = {"query_id": "p1-method", "doc_id": "d1", "occasion": 1, "cannot_judge": None}
    file = tmp_path / "judgements.jsonl"
    file.write_text("".join(json.dumps({**ours, **answer}) + "\n" for answer in answers), encoding="utf-8")
    imported = here("import", file, "--json").data
    assert imported["pairs_by_assessors"] == {"2": 1}
    assert any("4 answers kept that do not count" in note for note in imported["notes"])
    here("qrels", "--partial")
    lines = [json.loads(line) for line in (ws.exports / "judgements.jsonl").read_text().splitlines()]
    counting = {line["assessor"]: (line["grade"], line["cannot_judge"]) for line in lines if not line["flags"]}
    assert counting == {"a1": (2, None), "a2": (None, "no abstract")}
