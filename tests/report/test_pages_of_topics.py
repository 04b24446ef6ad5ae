"""Browse, status, trace and datasheet of a study whose topics are texts."""

from __future__ import annotations

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


def test_a_document_with_the_id_of_a_topic_is_another_entry(binary: Path) -> None:
    found = data(binary)
    topics = {one["paper"] for one in found["queries"]}
    documents = {place for one in found["queries"] for place in one["docs"]}
    assert len(topics) == 4
    assert not topics & documents


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
    assert "queries (topics: title, description and narrative, judged as a whole)" in text
    assert "Where do the topics come from" in text
    assert "\n# topics = " in (binary / "datasheet.toml").read_text(encoding="utf-8")


def test_the_datasheet_of_a_mixed_study_tells_both(mixed: Path) -> None:
    text = (mixed / "exports" / "datasheet.md").read_text(encoding="utf-8")
    assert "queries (topics: title, description and narrative; or a paper and one facet of it)" in text
    assert re.findall(r"^\| (method|whole) \| (\d) \|", text, re.M) == [("method", "1"), ("whole", "3")]
    assert "query paper" not in text


def test_status_tells_nothing_of_labels_and_counts_topics(binary: Path) -> None:
    told = annot_done("status", folder=binary)
    assert told.stdout.startswith("4 queries, 4 pools\n")
    assert json.loads(annot_done("status", "--json", folder=binary).stdout)["data"]["labelled_papers"] is None
    page = (binary / ".annot" / "status.html").read_text(encoding="utf-8")
    assert (
        "Agreement is shown once pairs of 6 topics are complete. So far there are complete pairs of 4 topics." in page
    )


def test_trace_tells_the_topic_in_its_words(binary: Path, mixed: Path) -> None:
    told = annot_done("trace", "T4", UNTITLED, folder=binary).stdout
    assert told.startswith(
        "query T4: topic T4, judged as a whole\n  salt in old masonry\n  description: How is salt taken out of walls?\n"
        "  track: buildings\n\ndocument d03\n  passage of d\n"
    )
    assert "    2  How d03.\n" in told
    assert "facet" not in told
    assert "label" not in told.replace("label-studio", "")
    found = json.loads(annot_done("trace", "T4", UNTITLED, "--json", folder=binary).stdout)["data"]
    assert found["topic"]["fields"] == {"track": "buildings"}
    of_paper = annot_done("trace", "p4-method", UNTITLED, folder=mixed).stdout
    assert of_paper.startswith("query p4-method: facet method, sentences 2\n  Title of p4\n")
    assert "    2  method      How d03.\n" in of_paper
