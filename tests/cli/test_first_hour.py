"""The first hour of somebody with papers of another field: what the commands say where a beginner goes astray."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from annot.study.workspace import Workspace
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


def test_a_command_in_a_folder_of_a_study_works_on_the_study(study: Callable[[str], Path]) -> None:
    folder = study("labelled")
    expected = annot_done("status", folder=folder).stdout
    deep = folder / "exports" / "old"
    deep.mkdir()
    assert annot_done("status", folder=deep).stdout == expected
    # The folder that is named is the one that is meant.
    assert annot("status", "-C", "exports", folder=folder).exit_code == 2
    annot_done("query", "sample", folder=deep)
    assert (folder / "queries.csv").is_file()
    assert not [*deep.iterdir()]
    (folder / "queries.csv").replace(deep / "rated.csv")
    chosen = annot("query", "choose", "2", "--sheet", "rated.csv", folder=deep)
    assert "none of the" in chosen.stderr  # the sheet was found; nothing is rated in it yet


def test_no_demonstration_is_made_inside_a_study(study: Callable[[str], Path]) -> None:
    folder = study("labelled")
    for place in (folder, folder / "exports"):
        refused = annot("demo", folder=place)
        assert refused.exit_code == 2
        assert f"inside the study {folder.resolve()}" in refused.stderr
        assert not (place / "demo-workspace").exists()
    assert annot("demo", "--corpus-only", "sample.jsonl", folder=folder).exit_code == 0


def test_the_name_of_a_study_is_its_title_until_another_is_given(tmp_path: Path) -> None:
    annot_done("init", "fires", "--name", "Wildfires", folder=tmp_path)
    settings = tmp_path / "fires" / "annot.toml"
    text = settings.read_text(encoding="utf-8")
    assert Workspace.open(settings.parent).settings.collection.title == "Wildfires"
    settings.write_text(text.replace('name = "Wildfires"', 'name = "Fires"'), encoding="utf-8")
    assert Workspace.open(settings.parent).settings.collection.title == "Fires"
    settings.write_text(text.replace('title = ""', 'title = "A collection on fires"'), encoding="utf-8")
    assert Workspace.open(settings.parent).settings.collection.title == "A collection on fires"


def test_choosing_too_few_queries_says_so_with_the_number_that_would_do(study: Callable[[str], Path]) -> None:
    folder = study("labelled")
    annot_done("query", "sample", "--per-period", "20", "--choose", "8", "--dry-run", folder=folder)
    said = annot_done("query", "sample", "--per-period", "20", "--choose", "8", folder=folder).message()
    assert "intervals and tests need at least 6. `annot query choose 9`" in said
    more = annot_done("query", "sample", "--per-period", "20", "--choose", "24", folder=folder).message()
    assert "intervals and tests need at least" not in more


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


def test_the_check_of_guidelines_is_named_until_their_faults_are_mended(study: Callable[[str], Path]) -> None:
    folder = study("planned")
    again = "next: annot check guidelines"
    assert f"{again} (read the guidelines first" in annot_done("status", folder=folder).stdout
    page = annot_done("guidelines", "method", folder=folder).stdout
    own = folder / "guidelines" / "method.md"
    own.write_text(page.replace("## 3 Near-identical", "## Near-identical"), encoding="utf-8")
    assert "not fit the study; correct the pages" in annot("check", "guidelines", folder=folder).stderr
    own.unlink()
    annot_done("check", "guidelines", folder=folder)
    assert "next: annot push" in annot_done("status", folder=folder).stdout
