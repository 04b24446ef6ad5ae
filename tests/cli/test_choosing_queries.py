"""From the sheet to the queries as a lead does it: what the commands say, and what the sheet says itself."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from command_line import annot_done

TYPES = ("empirical", "survey", "resource", "theoretical")


def filled_in(path: Path, types: Sequence[str] = TYPES) -> list[str]:
    """Fill in the sheet that stands, every fourth paper a survey, every fifth not; the titles of the surveys."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    papers = [row for row in rows if not row["paper_id"].startswith("#")]
    for at, row in enumerate(papers):
        if at % 5 < 4:
            row["type"], row["rating"] = types[at % 4], "4"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return [row["title"] for row in papers if row["type"] == "survey"]


def test_choosing_shows_titles_and_says_what_it_adds_and_what_it_leaves_out(study: Callable[[str], Path]) -> None:
    folder = study("labelled")
    annot_done("query", "sample", "--per-period", "8", folder=folder)
    surveys = filled_in(folder / "queries.csv")
    told = annot_done("query", "choose", "6", "--dry-run", folder=folder).stdout
    assert "would add 6 to the study, which would then have 6" in told
    assert "added 6 to the study, which now has 6" in annot_done("query", "choose", "6", folder=folder).stdout
    again = annot_done("query", "choose", "6", folder=folder).stdout
    assert "added 0 to the study, which now has 6\n6 of them were already in the study" in again
    corpus = (folder / "papers.jsonl").read_text(encoding="utf-8")
    titles = {paper["paper_id"]: paper["title"] for paper in map(json.loads, corpus.splitlines())}
    data = annot_done("query", "choose", "8", "--dry-run", "--json", folder=folder).data
    for query in data["chosen"]:
        assert query["title"] == titles[query["paper_id"]]
        assert query["title"] not in surveys
    assert data["added"] == sum(query["new"] for query in data["chosen"])
    assert ["survey", len(surveys)] in data["distribution"]["left_out"]
    assert "not rated" in again
    assert ["survey", str(len(surveys))] in [line.split() for line in again.splitlines()]
