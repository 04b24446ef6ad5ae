"""Guidelines that fit the study, and each way in which they may not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annot.study.guideline_pages import __file__ as packaged_guidelines
from annot.study.workspace import Workspace
from annot_demo import simulated_people

Run = Callable[..., Any]
PAGES = Path(packaged_guidelines).parent


@pytest.fixture
def with_corpus(ws: Workspace, annot: Run, tmp_path: Path) -> Workspace:
    """The packaged papers, which the packaged pages quote."""
    source = tmp_path / "papers.jsonl"
    source.write_text(simulated_people.corpus_text(), encoding="utf-8")
    assert annot("corpus", "add", source).exit_code == 0
    return ws


def spoil(ws: Workspace, page: str, old: str, new: str) -> None:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    assert old in text
    (ws.root / "guidelines").mkdir(exist_ok=True)
    (ws.root / "guidelines" / f"{page}.md").write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_packaged_pages_fit_a_study_of_the_packaged_corpus(with_corpus: Workspace, annot: Run) -> None:
    result = annot("check", "guidelines", "--json")
    assert result.exit_code == 0, result.stderr
    assert result.data["guidelines"]["left_out"] == {}


@pytest.mark.parametrize("heading", ["## Similar", "## 2 Similar\n\n### For example"])
def test_a_grade_that_a_page_does_not_define_is_a_finding(with_corpus: Workspace, annot: Run, heading: str) -> None:
    spoil(with_corpus, "method", "## 2 Similar", heading)
    checked = annot("check", "guidelines")
    assert checked.exit_code == 1
    finding = "guidelines/method.md: grade 2 is not defined: no text below a heading `## 2 Similar`"
    assert finding in checked.stdout
    assert "1 place in the guidelines does not fit" in checked.stderr


def test_a_page_as_it_is_printed_has_the_general_page_too(ws: Workspace, annot: Run) -> None:
    page = ws.root / "guidelines" / "method.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(annot("guidelines", "method").stdout, encoding="utf-8")
    checked = annot("check", "guidelines")
    assert checked.exit_code == 1
    assert "guidelines/method.md: has the general page from line " in checked.stdout


def test_a_grade_without_a_word_below_its_heading_is_not_defined(ws: Workspace, annot: Run) -> None:
    text = "# Method\n\nHow it was done.\n" + "".join(
        f"\n## {grade} {name}\n\n{'' if grade == 1 else 'So.'}\n" for grade, name in enumerate(ws.settings.scale.names)
    )
    (ws.root / "guidelines").mkdir(exist_ok=True)
    (ws.root / "guidelines" / "method.md").write_text(text, encoding="utf-8")
    checked = annot("check", "guidelines")
    assert checked.exit_code == 1
    assert "method.md: grade 1 is not defined: no text below a heading" in checked.stdout
    assert "grade 2" not in checked.stdout
    assert json.loads(annot("guidelines", "method", "--json").stdout)["data"]["definition"] == "How it was done."


def test_a_study_of_facets_with_a_topic_has_the_page_of_topics_checked_too(ws: Workspace, annot: Run) -> None:
    (ws.root / "guidelines").mkdir(exist_ok=True)
    page = ws.root / "guidelines" / "whole.md"
    page.write_text("# Whole\n\nAll of it.\n", encoding="utf-8")
    assert annot("check", "guidelines").exit_code == 0
    assert annot("query", "add", "--text", "sleep", "--id", "T1").exit_code == 0
    checked = annot("check", "guidelines")
    assert checked.exit_code == 1
    assert "whole.md: grade 2 is not defined" in checked.stdout
    # The packaged one fits the scale of facets.
    page.unlink()
    assert annot("check", "guidelines").exit_code == 0
