"""Labels of the study's own that papers came with need no model; papers without are named, with the two ways on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import tomlkit
from command_line import annot, annot_done


def test_a_corpus_that_carries_labels_of_its_own_needs_no_model(tmp_path: Path) -> None:
    annot_done("init", "study", folder=tmp_path)
    folder = tmp_path / "study"
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text(encoding="utf-8"))
    settings["labels"]["names"] = ["purpose", "mechanism", "finding"]
    settings["facets"] = {"purpose": ["purpose"], "how": ["mechanism", "finding"]}
    path.write_text(tomlkit.dumps(settings), encoding="utf-8")
    sentences = ["Bridges sway.", "We hang weights below.", "They sway less."]
    papers = [
        {"paper_id": f"p{at}", "title": f"Bridge {at}", "abstract": sentences, "year": 2001, "labels": labels}
        for at, labels in enumerate([["purpose", "mechanism", "finding"], ["purpose", "mechanism", "mechanism"], None])
    ]
    for at, paper in enumerate(papers):
        known = {name: value for name, value in paper.items() if value is not None}
        (folder / f"{at}.jsonl").write_text(json.dumps(known) + "\n", encoding="utf-8")
    annot_done("corpus", "add", "0.jsonl", folder=folder)
    annot_done("corpus", "add", "1.jsonl", folder=folder)
    labelled = annot_done("facets", "--json", folder=folder).data
    assert labelled["by_label"] == {"finding": 1, "mechanism": 3, "purpose": 2}
    assert labelled["by_facet"] == {"purpose": 2, "how": 2}
    assert (labelled["model"], labelled["agreement"]) == (None, None)
    # One paper without labels: those that came stay, and the paper is named, with the two ways on.
    annot_done("corpus", "add", "2.jsonl", folder=folder)
    for _ in range(2):
        told = annot("facets", folder=folder)
        assert told.exit_code == 1
        assert "2 papers labelled" in told.stdout
        assert "without labels: p2\n" in told.stdout
        assert "gives other labels than those of the study" in told.stdout
        assert "`annot facets train FILE --out model.xz`" in told.stdout
        assert "`annot facets --leave-out`" in told.stdout
    annot_done("query", "add", "p0", "--facet", "how", folder=folder)
    refused = annot("query", "add", "p2", "--facet", "how", folder=folder)
    assert refused.exit_code == 2
    assert "1 paper without sentence labels: p2" in refused.stderr
    sampled = annot_done("query", "sample", "--json", folder=folder)
    assert sampled.data["papers"] == 2
    assert "1 paper without sentence labels is left out" in sampled.stderr


def test_a_paper_without_labels_is_left_out_of_the_corpus_on_record(study: Callable[[str], Path]) -> None:
    folder = study("made")
    without = own_labels(folder)
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    assert annot("facets", "--json", folder=folder).exit_code == 1
    promised = annot_done("facets", "--leave-out", "--dry-run", "--json", folder=folder).data
    assert annot_done("corpus", "show", "--json", folder=folder).data["papers"] == 150
    done = annot_done("facets", "--leave-out", "--json", folder=folder).data
    assert done == promised == {"papers": [without], "in_corpus": 149}
    assert annot_done("corpus", "show", "--json", folder=folder).data["papers"] == 149
    assert annot_done("facets", "--leave-out", "--json", folder=folder).data == {"papers": [], "in_corpus": 149}
    labelled = annot_done("facets", "--json", folder=folder).data
    assert (labelled["papers"], labelled["without"]) == (149, [])
    annot_done("check", "files", folder=folder)
    with sqlite3.connect(folder / "annot.db") as connection:
        facts = [json.loads(text)["rejected"] for (text,) in connection.execute("SELECT facts FROM imported")]
    connection.close()
    assert {"no sentence labels of the study": 1} in facts


def test_a_paper_without_labels_gets_those_of_a_model_which_stay(study: Callable[[str], Path]) -> None:
    folder = study("made")
    without = own_labels(folder)
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    assert annot("facets", folder=folder).exit_code == 1
    lines = (folder / "papers.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "labelled.jsonl").write_text("".join(lines[1:31]), encoding="utf-8")
    annot_done("facets", "train", "labelled.jsonl", "--out", "model.xz", folder=folder)
    first = annot_done("facets", "--model", "model.xz", "--json", folder=folder).data
    # What the model gave stays where the shipped one cannot help.
    again = annot_done("facets", "--json", folder=folder).data
    for told in (first, again):
        assert told["without"] == []
        assert [n for origin, n in told["by_origin"].items() if origin.startswith("predicted")] == [1]
    assert again["by_label"] == first["by_label"]
    annot_done("query", "add", without, "--sentences", "1", "--facet", "people", folder=folder)


def test_a_paper_of_a_query_is_not_left_out(study: Callable[[str], Path]) -> None:
    folder = study("queried")
    with sqlite3.connect(folder / "annot.db") as connection:
        connection.execute("DELETE FROM facet_labels WHERE paper_id = (SELECT MIN(topic_id) FROM query)")
    connection.close()
    refused = annot("facets", "--leave-out", folder=folder)
    assert refused.exit_code == 2
    assert "a query paper, or in a pool" in refused.stderr
    assert annot_done("corpus", "show", "--json", folder=folder).data["papers"] == 150


def own_labels(folder: Path) -> str:
    """Give the study and its papers labels of its own, all but the first paper; its id."""
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text(encoding="utf-8"))
    settings["labels"]["names"] = ["population", "treatment", "outcome"]
    settings["facets"] = {"people": ["population"], "treatment": ["treatment"]}
    path.write_text(tomlkit.dumps(settings), encoding="utf-8")
    papers = [json.loads(line) for line in (folder / "papers.jsonl").read_text(encoding="utf-8").splitlines()]
    named = {"background": "population", "objective": "population", "method": "treatment"}
    for paper in papers:
        paper["labels"] = [named.get(label, "outcome") for label in paper["labels"]]
    del papers[0]["labels"]
    (folder / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers), encoding="utf-8")
    return str(papers[0]["paper_id"])
