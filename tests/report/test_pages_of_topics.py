"""Browse, status, trace and datasheet of a study whose topics are texts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from annot.publishing.report.pages import report_files
from annot.publishing.report.study import Study
from annot.steps import qrels
from annot.study.snapshot import read_snapshot
from command_line import annot_done
from study_stages import copied
from topic_study import BINARY, GRADED, TOPICS, UNTITLED, OfTopics

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


MORE_THAN_TEXTS = re.compile(
    r"facet|(?<!as a )whole\b(?! (interval|order))|\bpapers?\b|abstract|sentence label|near-identical", re.I
)
"""What a study of texts has nothing of. An interval and an order may be whole, and a topic is judged as a whole."""
OF_MORE_GRADES = re.compile(r"ordinal|quadratic|adjacent|within one|rho\b|AC2 also|or higher\b(?!\))", re.I)
"""What says nothing on two grades; "grade 1 or higher" is the rule of relevance."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of the report."""
    ws = copied(OfTopics(scale=BINARY), "measured", tmp_path_factory.mktemp("reported") / "study")
    qrels.write(ws, partial=False)
    return report_files(Study(read_snapshot(ws)))


def told(files: dict[str, str]) -> str:
    """Everything that the report says but the paths of files."""
    return re.sub(r"exports/query_papers\.tsv", "", files["report.md"])


def test_it_speaks_of_topics_and_documents_and_of_no_facet(files: dict[str, str]) -> None:
    text = told(files)
    assert [text[found.start() - 60 : found.end() + 40] for found in MORE_THAN_TEXTS.finditer(text)] == []
    assert "Each topic is judged as a whole. The corpus has 11 documents." in text


def test_on_two_grades_nothing_is_said_of_more(files: dict[str, str]) -> None:
    text = told(files)
    assert [text[found.start() - 60 : found.end() + 40] for found in OF_MORE_GRADES.finditer(text)] == []
    # By hand: of the first eight documents every other one is relevant, and the last two are, by the adjudicator.
    assert re.search(r'40 pairs have a final grade: 40% .* are "Not relevant", 60% .* "Relevant"\.', text)
    for topic in TOPICS:
        assert f"| {topic.topic_id} | {topic.title} | 10 | 6 |" in text
    assert "| Adjudication | Coefficient | Median |" in text
    assert "Phi is computed for every two assessors" in text
    assert "The chance term of AC1 also counts" in text
    assert re.findall(r"^\| before \| (\D.*?) \|", text, re.M) == [
        "Krippendorff's alpha", "Cohen's kappa", "Gwet's AC1", "Agreement, %", "Correlation (phi)"
    ]  # fmt: skip
