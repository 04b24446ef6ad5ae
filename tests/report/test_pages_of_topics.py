"""Browse, status, trace and datasheet of a study whose topics are texts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import annot_done
from study_stages import copied
from topic_study import BINARY, GRADED, UNTITLED, OfTopics

OF_PAPERS = re.compile(r"facet|\bpapers?\b|abstract", re.I)


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("binary") / "study", OfTopics(scale=BINARY, passages=True))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("mixed") / "study", OfTopics(scale=GRADED, mixed=True))


def written(folder: Path, recipe: OfTopics) -> Path:
    """The study with its pages."""
    copied(recipe, "measured", folder)
    for words in (("qrels",), ("browse",), ("datasheet",), ("status", "--page")):
        annot_done(*words, folder=folder)
    return folder


def data(folder: Path) -> Any:
    page = (folder / "exports" / "browse.html").read_text(encoding="utf-8")
    return json.loads(page.partition('<script id="data" type="application/json">')[2].partition("</script>")[0])


def without_data(folder: Path) -> str:
    """The page for reading, without its styles and its data."""
    page = (folder / "exports" / "browse.html").read_text(encoding="utf-8")
    return re.sub(r"<style>.*?</style>|<script id=.data.*?</script>", "", page, flags=re.S)


def test_a_topic_is_read_by_title_description_narrative_and_what_else_its_source_has(binary: Path) -> None:
    found = data(binary)
    first, *_, last = found["queries"]
    assert found["papers"][first["paper"]] == ["T1", "sleep and memory", None, [], []]
    assert [name for name, _ in first["text"]] == ["", "Narrative"]
    assert first["text"][0][1] == "How does sleep affect the memory of what was learned the day before?"
    assert last["text"] == [["", "How is salt taken out of walls?"], ["track", "buildings"]]
    (untitled,) = (one for one in found["papers"] if one[0] == UNTITLED)
    sentences = [f"Why {UNTITLED}.", f"How {UNTITLED}.", f"What {UNTITLED}."]
    assert untitled == [UNTITLED, "", None, sentences, [-1] * 3, "d"]


def test_the_page_for_reading_has_no_choice_of_a_facet(binary: Path, mixed: Path) -> None:
    page = without_data(binary)
    assert 'id="facet"' not in page
    assert "facet sentences" not in page
    assert 'aria-label="Topic"' in page
    assert 'id="facet"' in without_data(mixed)
    assert [len(one.get("text", ())) for one in data(mixed)["queries"]] == [2, 2, 1, 0]


@pytest.mark.parametrize("name", ["datasheet.md", "datasheet.html"])
def test_the_datasheet_speaks_of_topics_and_has_no_column_of_facets(binary: Path, name: str) -> None:
    text = (binary / "exports" / name).read_text(encoding="utf-8")
    text = re.sub("where.can.papers.and.systems", "", text, flags=re.I)
    text = re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    assert OF_PAPERS.findall(text) == []
    assert "year" not in text.lower()
    assert "topics (title, description and narrative, judged as a whole)" in text
    assert "Where do the topics come from" in text
    assert "\n# topics = " in (binary / "datasheet.toml").read_text(encoding="utf-8")
