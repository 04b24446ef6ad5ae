"""From the sheet to the queries as a lead does it: what the commands say, and what the sheet says itself."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import tomlkit
from command_line import annot, annot_done

TYPES = ("empirical", "survey", "resource", "theoretical")
OWN_TYPES = ("randomised trial", "survey", "cohort study", "case report")


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


def test_the_sheet_and_the_command_that_writes_it_explain_how_to_fill_it_in(study: Callable[[str], Path]) -> None:
    folder = study("labelled")
    told = annot_done("query", "sample", "--per-period", "2", folder=folder).stdout
    sheet = (folder / "queries.csv").read_text(encoding="utf-8")
    for said in (
        *("application: ", "empirical: ", "resource: ", "theoretical: ", "survey: ", "from 1 (", "to 5 ("),
        *("substantial content", "makes sense on its own", "fits one of the types", "Delete the name of a facet"),
        "rated 3 or higher",
    ):
        assert said in told
        assert said in sheet
    data = annot_done("query", "sample", "--out", "other.csv", "--json", folder=folder).data
    assert any("survey" in line for line in data["explanation"])
    assert "query choose 20 --sheet" in annot_done("query", "sample", "-o", "third.csv", folder=folder).stdout


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


def test_types_of_the_studys_own_are_offered_chosen_from_and_stored(study: Callable[[str], Path]) -> None:
    folder = study("labelled")
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text(encoding="utf-8"))
    settings["queries"]["types"] = list(OWN_TYPES)
    path.write_text(tomlkit.dumps(settings), encoding="utf-8")
    told = annot_done("query", "sample", "--per-period", "8", folder=folder).stdout
    assert all(name in told for name in OWN_TYPES)
    filled_in(folder / "queries.csv", TYPES)
    refused = annot("query", "choose", "6", folder=folder)
    assert refused.exit_code == 2
    assert "empirical" in refused.stderr
    assert "randomised trial" in refused.stderr
    filled_in(folder / "queries.csv", OWN_TYPES)
    annot_done("query", "choose", "6", folder=folder)
    with sqlite3.connect(folder / "annot.db") as connection:
        stored = {kind for (kind,) in connection.execute("SELECT paper_type FROM query")}
    connection.close()
    # Papers are chosen evenly over the types, so each that is not a survey is there.
    assert stored == {"randomised trial", "cohort study", "case report"}


def test_the_pages_for_leads_can_be_read_and_replaced(study: Callable[[str], Path]) -> None:
    folder = study("made")
    assert "# How to choose queries" in annot_done("guidelines", "queries", folder=folder).stdout
    assert "| G 2.1 rule 6 |" in annot_done("guidelines", "sources", folder=folder).stdout
    (folder / "guidelines" / "queries.md").write_text("# Our own way\n", encoding="utf-8")
    assert annot_done("guidelines", "queries", folder=folder).stdout == "# Our own way\n"


def test_the_sheet_counts_cited_papers_of_the_corpus_also_those_that_were_added(study: Callable[[str], Path]) -> None:
    folder = study("labelled")
    papers = {
        one["paper_id"]: one
        for one in map(json.loads, (folder / "papers.jsonl").read_text(encoding="utf-8").splitlines())
    }
    known = min(papers)
    (folder / "edges.tsv").write_text("".join(f"{name}\t{known}\n{name}\tnowhere\n" for name in papers))
    annot_done("import", "--as", "citations", "edges.tsv", folder=folder)
    annot_done("query", "sample", "--per-period", "8", folder=folder)
    rows = [
        row
        for row in csv.DictReader((folder / "queries.csv").read_text(encoding="utf-8-sig").splitlines())
        if row["paper_id"] in papers
    ]
    assert len(rows) > 8
    for row in rows:
        name = row["paper_id"]
        cited = ({*papers[name].get("citations", ())} & papers.keys()) | ({known} - {name})
        assert int(row["cited"]) == len(cited), name
    assert len({row["cited"] for row in rows}) > 1


def test_recent_papers_give_a_sheet_and_papers_without_years_are_told_of(tmp_path: Path) -> None:
    annot_done("demo", "--corpus-only", "all.jsonl", folder=tmp_path)
    papers = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    for name, years in (("late", range(2020, 2025)), ("undated", [None])):
        annot_done("init", name, folder=tmp_path)
        folder = tmp_path / name
        dated = ({**paper, "year": years[at % len(years)]} for at, paper in enumerate(papers))
        (folder / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in dated), encoding="utf-8")
        annot_done("corpus", "add", "papers.jsonl", folder=folder)
        annot_done("facets", folder=folder)
    done = annot_done("query", "sample", "--per-period", "3", "--json", folder=tmp_path / "late")
    assert done.data["papers"] == 15
    assert "the periods were chosen from the years of the corpus: 2020, 2021, 2022, 2023, 2024" in done.stderr
    refused = annot("query", "sample", folder=tmp_path / "undated")
    assert refused.exit_code == 2
    assert "no paper in the corpus has a year" in refused.stderr
    assert not (tmp_path / "undated" / "queries.csv").exists()
