"""Ids that differ only in case, Unicode form or a ligature are named when they are added, and both are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from annot.study.workspace import Workspace
from command_line import Result, annot_done

Run = Callable[..., Result]


def papers(*ids: str) -> str:
    text = ["We look at the shape of a bee.", "It is small and round indeed.", "Bees fly far in the summer."]
    return "".join(f"{json.dumps({'paper_id': name, 'title': f'On {name}', 'abstract': text})}\n" for name in ids)


def test_papers_are_compared_with_each_other_and_with_the_corpus(ws: Workspace, annot: Run) -> None:
    (ws.root / "one.jsonl").write_text(papers("P1", "P2", "p2"), encoding="utf-8")
    (ws.root / "two.jsonl").write_text(papers("p1", "P3"), encoding="utf-8")
    first = annot("corpus", "add", "one.jsonl")
    assert first.exit_code == 0
    assert (
        "1 pair of ids differs only in case, Unicode form or ligatures (both papers are kept): P2 and p2"
        in first.stdout
    )
    second = annot("corpus", "add", "two.jsonl", "--json").data
    assert (second["kept"], second["alike_ids"]) == (2, [["P1", "p1"]])
    assert annot("corpus", "add", "two.jsonl", "--json").data["alike_ids"] == []


def test_topics_are_compared_with_each_other_and_with_the_study(tmp_path: Path) -> None:
    annot_done("init", "study", "--kind", "topics", folder=tmp_path)
    study = tmp_path / "study"
    plain = annot_done("query", "add", "--id", "T1", "--text", "What do bees do?", folder=study)
    assert "differ only" not in plain.stderr
    same = annot_done("query", "add", "--id", "t1", "--text", "What do ants do?", folder=study)
    assert "1 group of ids that differ only in case, Unicode form or ligatures: T1 and t1" in same.stderr
    (study / "topics.tsv").write_text("t2\tWasps\nT2\tFlies\nT3\tMoths\n", encoding="utf-8")
    several = annot_done("query", "add", "--file", "topics.tsv", "--dry-run", folder=study)
    assert "1 group of ids that differ only in case, Unicode form or ligatures: t2 and T2" in several.stderr
