"""Folds that are drawn say what their sides share."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import annot_done
from study_stages import copied
from topic_study import OfTopics

ABSTRACT = [f"{word} words of a rather long sentence stand here." for word in ("Some", "Many", "Other")]
OTHER = [f"{word} of quite another subject is told in this place." for word in ("All", "Nothing", "Half")]


def told(folder: Path, second: list[str]) -> str:
    annot_done("init", str(folder), folder=folder.parent)
    third = [f"{word} words on plants, soil and rain follow in this line." for word in ("First", "Then", "Last")]
    papers = [("p0", "One title", ABSTRACT), ("p1", "Another title", second), ("p2", "A third one", third)]
    lines = [
        json.dumps({"paper_id": name, "title": title, "abstract": text, "labels": ["background", "method", "result"]})
        for name, title, text in papers
    ]
    (folder / "papers.jsonl").write_text("\n".join(lines) + "\n")
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    annot_done("facets", folder=folder)
    for name, _, _ in papers:
        annot_done("query", "add", name, "--facet", "method", folder=folder)
    drawn = annot_done("query", "folds", "--folds", "2", "--json", folder=folder)
    assert [one["topics"] for one in drawn.data["rows"]] == [2, 1]
    return drawn.stderr


def test_a_copy_of_a_query_paper_is_in_its_fold(tmp_path: Path) -> None:
    assert "p0 and p1 are in one fold: their texts are nearly the same" in told(tmp_path / "study", ABSTRACT)


def test_nothing_is_said_of_papers_that_are_unlike(tmp_path: Path) -> None:
    assert "in one fold" not in told(tmp_path / "study", OTHER)


def test_copies_among_texts_are_in_one_fold_and_no_column_counts_what_is_judged_whole(tmp_path: Path) -> None:
    folder = copied(OfTopics(), "queried", tmp_path / "study").root
    for name in ("T8", "T9"):
        annot_done("query", "add", "--text", "Tea and the heart", "--id", name, folder=folder)
    drawn = annot_done("query", "folds", "--folds", "2", folder=folder)
    assert "T8 and T9 are in one fold: their texts are nearly the same" in drawn.stderr
    heading, _, *rows = drawn.stdout.splitlines()
    assert heading.split() == ["fold", "topics"]
    assert sorted(int(row.split()[1]) for row in rows) == [3, 3]
    again = annot_done("query", "folds", "--folds", "2", folder=folder)
    assert again.stdout == drawn.stdout


def test_texts_and_facets_of_papers_are_counted_beside_each_other(tmp_path: Path) -> None:
    folder = copied(OfTopics(mixed=True), "queried", tmp_path / "study").root
    drawn = annot_done("query", "folds", "--folds", "2", folder=folder)
    assert drawn.stdout.splitlines()[0].split() == ["fold", "topics", "method", "whole"]
