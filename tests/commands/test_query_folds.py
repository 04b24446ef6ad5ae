"""Folds that are drawn say what their sides share."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import annot_done

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
    assert [one["papers"] for one in drawn.data["rows"]] == [2, 1]
    return drawn.stderr


def test_a_copy_of_a_query_paper_is_in_its_fold(tmp_path: Path) -> None:
    assert "p0 and p1 are in one fold: their texts are nearly the same" in told(tmp_path / "study", ABSTRACT)


def test_nothing_is_said_of_papers_that_are_unlike(tmp_path: Path) -> None:
    assert "in one fold" not in told(tmp_path / "study", OTHER)
