"""The first hour of somebody with papers of another field: what the commands say where a beginner goes astray."""

import json
from pathlib import Path

from command_line import annot, annot_done

PASSAGE = "Crown fires spread fastest on steep slopes. We measured spread on nine slopes. Slope explained half of it."


def passages(folder: Path, n: int = 9) -> Path:
    lines = (json.dumps({"id": f"p{at}", "text": f"{PASSAGE} Site {at} burned twice."}) for at in range(n))
    path = folder / "passages.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_passages_without_titles_lead_to_a_study_of_questions(tmp_path: Path) -> None:
    given = passages(tmp_path)
    annot_done("init", "study", folder=tmp_path)
    added = annot("corpus", "add", given, folder=tmp_path / "study")
    way = "annot init FOLDER --kind questions"
    assert "9 left out: no title" in added.stdout
    assert way in added.stdout
    assert f"next: {way} (9 records were left out without a title" in added.stderr
    annot_done("init", "asked", "--kind", "questions", folder=tmp_path)
    assert "9 kept" in annot_done("corpus", "add", given, folder=tmp_path / "asked").stdout
    # Facets of passages can be judged too, and then the passages come in.
    settings = tmp_path / "study" / "annot.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("[corpus]", "[corpus]\nrequire_title = false", 1))
    assert "next: annot corpus add" in annot_done("status", folder=tmp_path / "study").stdout
    assert "9 kept" in annot_done("corpus", "add", given, folder=tmp_path / "study").stdout


def test_a_model_that_disagrees_with_the_labels_that_came_is_followed_by_what_to_do(tmp_path: Path) -> None:
    """Every sentence comes as `other`, which none of them is by its words."""
    text = ["Wildfires are a threat.", "We model their spread with radar.", "Spread was 3% faster than observed."]
    given = [
        {
            "paper_id": f"w{at}",
            "title": f"Fire {at}",
            "abstract": [*text, f"Site {at} burned."],
            "labels": ["other"] * 4,
        }
        for at in range(6)
    ]
    unlabelled = [{name: value for name, value in given[0].items() if name != "labels"} | {"paper_id": "w9"}]
    for name, papers in (("all", given), ("some", [*given, *unlabelled])):
        annot_done("init", name, folder=tmp_path)
        folder = tmp_path / name
        (folder / "papers.jsonl").write_text("\n".join(map(json.dumps, papers)), encoding="utf-8")
        annot_done("corpus", "add", "papers.jsonl", folder=folder)
        said = annot_done("facets", folder=folder).stdout
        assert "of the 24 labels that came with the papers" in said
        assert ("annot facets train FILE" in said) is (name == "some")
        assert ("nothing needs to be done" in said) is (name == "all")
