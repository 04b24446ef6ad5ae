"""Labels of the study's own that papers came with need no model; papers without are named, with the two ways on."""

import json
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
