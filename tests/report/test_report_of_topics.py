"""The report of a study whose topics are texts: it speaks of topics and documents, and of no facet."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from annot.base.names import OF_PAPERS as WORDS_OF_PAPERS
from annot.base.names import StudyVocabulary
from annot.publishing.report import figures
from annot.publishing.report.pages import report_files
from annot.publishing.report.study import Study
from annot.publishing.report.tables import sentence
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

OF_TWO_GRADES = StudyVocabulary("topic", "document", faceted=False, binary=True)


def report(tmp_path: Path, scale: tuple[str, ...], *, mixed: bool = False, drawn: bool = False) -> dict[str, str]:
    """The files of the report; drawing takes most of the time."""
    ws = copied(OfTopics(scale=scale, mixed=mixed), "measured", tmp_path / "study")
    qrels.write(ws, partial=False)
    with pytest.MonkeyPatch.context() as patch:
        if not drawn:
            patch.setattr(figures.Drawing, "_of_page", lambda drawing, on: '<svg viewBox="0 0 1 1"></svg>')
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
    assert "Each query is a topic, judged as a whole. The corpus has 11 documents." in text


def test_no_drawing_names_a_facet(binary: dict[str, str]) -> None:
    drawings = re.findall(r"<svg.*?</svg>", binary["report.html"], re.S)
    words = {word.strip() for one in drawings for word in re.findall(r"<text[^>]*>([^<]*)</text>", one)}
    assert "4 queries" in words
    assert not [word for word in words if "whole" in word]


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
    assert "Krippendorff's ordinal alpha on each query" in text
    assert "| 3 Perfect |" in text
    assert "Agreement with the scale split in two" in text


def test_with_a_paper_among_the_topics_facets_are_told_and_topics_are_still_topics(tmp_path: Path) -> None:
    text = told(report(tmp_path, GRADED, mixed=True))
    assert (
        "The 4 queries come from 4 topics; each asks for documents that answer it as a whole, or that are similar"
        in text
    )
    assert "| method | method | 1 |\n| whole |  | 3 |" in text
    assert "query paper" not in text
    assert "| T1 | sleep and memory | 10 |" in text
    assert "| p4" not in text[text.index("The topics that are texts") : text.index("Queries by facet")]


@pytest.mark.parametrize(
    ("kind", "said_of_two", "said_of_more"),
    [
        ("severity", "gave grade 1 less often than a2 on the same pairs, by 12.5 points", "0.12 grades lower than a2"),
        (
            "noise",
            "differs from a2 more often than these differ from each other, by 12.5 points",
            "grades further from",
        ),
    ],
)
def test_what_is_found_of_an_assessor_on_two_grades_is_a_share(kind: str, said_of_two: str, said_of_more: str) -> None:
    size = SimpleNamespace(value=0.125, interval=SimpleNamespace(level=0.95, low=0.1, high=0.15))
    finding = SimpleNamespace(
        kind=kind, assessor="a1", direction="stricter", grade=None, against=("a2",), size=size, queries=12, papers=12,
        p_value=0.01, either=False,
    )  # fmt: skip
    diagnosis = SimpleNamespace(findings=(finding,), gaps=(), tested=3, too_small=False, untested=())
    told = {"diagnosis": diagnosis, "power": 0.8, "undefined": False}
    assert said_of_more in sentence("assessors.findings", words=WORDS_OF_PAPERS, **told)
    of_two = sentence("assessors.findings", words=OF_TWO_GRADES, **told)
    assert said_of_two in of_two
    assert "(95% interval 10.0 to 15.0 over 12 queries, p = 0.01)" in of_two


def test_nothing_found_on_two_grades_is_told_in_points() -> None:
    diagnosis = SimpleNamespace(
        findings=(), gaps=(), tested=3, alpha=0.05, detectable=0.2, too_small=False, untested=()
    )  # fmt: skip
    told = sentence("assessors.findings", words=OF_TWO_GRADES, diagnosis=diagnosis, power=0.8, undefined=False)
    assert "tested over topics; " in told
    assert "a difference of 20.0 points or more in how often grade 1 is given (median over assessors)" in told
