"""The report of a study whose topics are texts: it speaks of topics and documents, and of no facet."""

import re
from pathlib import Path

import pytest
from annot.publishing.report import figures
from annot.publishing.report.pages import report_files
from annot.publishing.report.study import Study
from annot.steps import qrels
from annot.study.snapshot import read_snapshot
from study_stages import copied
from topic_study import BINARY, GRADED, TOPICS, OfTopics

OF_PAPERS = re.compile(
    r"facet|(?<!as a )whole\b(?! (interval|order))|\bpapers?\b|abstract|sentence label|near-identical", re.I
)
"""What a study of texts has nothing of. An interval and an order may be whole, and a topic is judged as a whole."""
OF_MORE_GRADES = re.compile(r"ordinal|quadratic|adjacent|within one|rho\b|AC2 also|or higher\b(?!\))", re.I)
"""What says nothing on two grades; "grade 1 or higher" is the rule of relevance."""


def report(tmp_path: Path, scale: tuple[str, ...], *, mixed: bool = False, drawn: bool = False) -> dict[str, str]:
    """The files of the report; drawing takes most of the time."""
    ws = copied(OfTopics(scale=scale, mixed=mixed), "measured", tmp_path / "study")
    qrels.write(ws, partial=False)
    with pytest.MonkeyPatch.context() as patch:
        if not drawn:
            patch.setattr(figures.Drawing, "on_page", '<svg viewBox="0 0 1 1"></svg>')
        return report_files(Study(read_snapshot(ws)))


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return report(tmp_path_factory.mktemp("binary"), BINARY, drawn=True)


def told(files: dict[str, str]) -> str:
    """Everything that the report says but the paths of files."""
    return re.sub(r"exports/query_papers\.tsv", "", files["report.md"])


def test_it_speaks_of_topics_and_documents_and_of_no_facet(binary: dict[str, str]) -> None:
    text = told(binary)
    assert [text[found.start() - 60 : found.end() + 40] for found in OF_PAPERS.finditer(text)] == []
    assert "Each topic is judged as a whole. The corpus has 11 documents." in text


def test_on_two_grades_nothing_is_said_of_more(binary: dict[str, str]) -> None:
    text = told(binary)
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


def test_on_four_grades_the_words_are_those_of_grades_and_still_of_topics(tmp_path: Path) -> None:
    text = told(report(tmp_path, GRADED))
    assert OF_PAPERS.findall(text.replace("or higher", "")) == []
    assert "Krippendorff's ordinal alpha on each topic" in text
    assert "| 3 Perfect |" in text
    assert "Agreement with the scale split in two" in text
