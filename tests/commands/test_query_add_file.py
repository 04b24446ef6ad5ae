"""Many queries at once are the queries that one command each would have added."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import annot_done

SENTENCES = [f"{word} words make a sentence long enough." for word in ("Some", "Many", "Other")]
KINDS = (("method", "result"), ("method", "method"), ("result", "result"))
PAPERS = [
    {"paper_id": f"p{at}", "title": "T", "abstract": SENTENCES, "labels": ["background", *kinds]}
    for at, kinds in enumerate(KINDS)
]


def studied(folder: Path) -> Path:
    annot_done("init", str(folder), folder=folder.parent)
    (folder / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in PAPERS))
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    annot_done("facets", folder=folder)
    return folder


def test_a_file_adds_what_single_commands_add(tmp_path: Path) -> None:
    one, many = studied(tmp_path / "one"), studied(tmp_path / "many")
    for arguments in (("p0", "-f", "method"), ("p0", "-f", "result"), ("p1", "-f", "method", "--sentences", "1-2")):
        annot_done("query", "add", *arguments, folder=one)
    # As a spreadsheet saves it: semicolons, a byte order mark, an empty line.
    text = "\ufeffpaper_id;facet;sentences\r\np0;method;\r\np0;result;\r\n;;\r\np1;method;1-2\r\n"
    (many / "wanted.csv").write_text(text, encoding="utf-8", newline="")
    annot_done("query", "add", "--file", "wanted.csv", "--dry-run", folder=many)
    assert annot_done("query", "list", "--json", folder=many).data == []
    for _ in range(2):
        annot_done("query", "add", "--file", "wanted.csv", folder=many)
        listed = annot_done("query", "list", "--json", folder=many).data
        assert listed == annot_done("query", "list", "--json", folder=one).data
    assert len(listed) == 3


def test_a_file_without_a_column_of_sentences_takes_all_of_the_facet(tmp_path: Path) -> None:
    folder = studied(tmp_path / "study")
    (folder / "wanted.csv").write_text("facet,paper_id\nmethod,p1\nresult,p2\n")
    for _ in range(2):
        annot_done("query", "add", "--file", "wanted.csv", folder=folder)
        listed = annot_done("query", "list", "--json", folder=folder).data
        assert {one["query_id"]: one["sentences"] for one in listed} == {"p1-method": [2, 3], "p2-result": [2, 3]}
