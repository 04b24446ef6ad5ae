"""Guidelines that fit the study, and each way in which they may not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annot.demo import simulated_people
from annot.judging import guideline_faults
from annot.study.guideline_pages import __file__ as packaged_guidelines
from annot.study.workspace import Workspace

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
    checked = result.data["guidelines"]
    quoted = sum((PAGES / f"{page}.md").read_text(encoding="utf-8").count("\n> ") for page in checked["pages"])
    assert (checked["examples"], checked["left_out"]) == (quoted, {})
    assert quoted > 20


def test_in_a_study_of_other_papers_the_packaged_examples_are_told_and_no_finding(ws: Workspace, annot: Run) -> None:
    checked = annot("check", "guidelines")
    assert checked.exit_code == 0, checked.stderr
    assert "44 examples of annot's own pages" in checked.stdout
    assert "left out of what people read" in checked.stdout


@pytest.mark.parametrize(
    ("page", "old", "new", "finding"),
    [
        ("method", "## 2 Similar", "## Similar", "method.md: grade 2 is not defined: no heading `## 2 Similar`"),
        ("method", "## 2 Similar", "## 2 Alike", "method.md: grade 2 is called 'Alike', and 'Similar' in annot.toml"),
        ("result", "## 0 Irrelevant", "## 4 Perfect\n\nAll.\n\n## 0 Irrelevant", "result.md: defines grade 4, which"),
        ("method", "We attach an aisle", "We attach a shelf", "method.md: 'We attach a shelf detector"),
        ("method", "(fic1507)", "(fic9999)", "method.md: quotes paper fic9999, which is not in the corpus"),
        ("method", "**Query** (fic1507):", "As we read:", "does not say which paper it quotes"),
        ("general", "| 2 | Similar |", "| 2 | Alike |", "general.md: grade 2 is 'Similar' in annot.toml; the table"),
    ],
)
def test_a_page_that_does_not_fit_is_a_finding(
    with_corpus: Workspace, annot: Run, page: str, old: str, new: str, finding: str
) -> None:
    spoil(with_corpus, page, old, new)
    checked = annot("check", "guidelines")
    assert checked.exit_code == 1
    assert f"guidelines/{finding}" in checked.stdout or finding in checked.stdout
    assert "1 place in the guidelines does not fit" in checked.stderr


def test_facets_that_the_pages_and_the_study_do_not_share_are_findings(ws: Workspace, annot: Run) -> None:
    settings = ws.settings_file.read_text(encoding="utf-8")
    ws.settings_file.write_text(settings.replace('result = ["result"]', 'claim = ["result"]'), encoding="utf-8")
    (ws.root / "guidelines").mkdir(exist_ok=True)
    (ws.root / "guidelines" / "claims.md").write_text("# Claims\n\nWhat is claimed.\n", encoding="utf-8")
    checked = annot("check", "guidelines")
    assert checked.exit_code == 1
    for finding in (
        "guidelines/claim.md: no such page",
        "guidelines/claims.md: describes a facet that the study does not have",
        "guidelines/general.md: does not name the facet 'claim'",
        "guidelines/general.md: mentions a facet 'result', which the study does not have",
    ):
        assert finding in checked.stdout
    assert "'method', which the study does not have" not in checked.stdout


@pytest.mark.parametrize(
    ("sentence", "is_found"),
    [("The result of a study counts.", False), ("The facet result is described below.", True)],
)
def test_a_word_is_the_name_of_a_facet_only_in_a_sentence_on_facets(
    ws: Workspace, sentence: str, is_found: bool
) -> None:
    facets = {name: labels for name, labels in ws.settings.facets.items() if name != "result"}
    (ws.root / "guidelines").mkdir(exist_ok=True)
    (ws.root / "guidelines" / "general.md").write_text(
        f"# General\n\nThe facets are {' and '.join(facets)}. {sentence}\n", encoding="utf-8"
    )
    found = guideline_faults.check(ws.replaced(facets=facets)).findings
    assert any("mentions a facet 'result'" in fault for fault in found) is is_found


def test_a_grade_without_a_word_below_its_heading_is_not_defined(ws: Workspace, annot: Run) -> None:
    text = "# Method\n\nHow it was done.\n" + "".join(
        f"\n## {grade} {name}\n\n{'' if grade == 1 else 'So.'}\n" for grade, name in enumerate(ws.settings.scale.names)
    )
    (ws.root / "guidelines").mkdir(exist_ok=True)
    (ws.root / "guidelines" / "method.md").write_text(text, encoding="utf-8")
    checked = annot("check", "guidelines")
    assert checked.exit_code == 1
    assert "method.md: grade 1 is not defined: there is no text below its heading" in checked.stdout
    assert "grade 2" not in checked.stdout
    assert json.loads(annot("guidelines", "method", "--json").stdout)["data"]["definition"] == "How it was done."


def test_quotations_and_grades_are_counted_one_by_one(ws: Workspace, with_corpus: Workspace) -> None:
    """Three pages of the package's own corpus; without that corpus its quotations are the package's."""
    checked = guideline_faults.check(with_corpus)
    pages = {name: (PAGES / f"{name}.md").read_text(encoding="utf-8") for name in checked.pages}
    assert checked.examples == sum(text.count("\n> ") for text in pages.values())
    assert guideline_faults.criteria_of("# M\n\n## 0 No\n\nNone.\n\n> x\n\n## 1 Yes\n\nSome\nmore.\n") == {
        0: "None.",
        1: "Some more.",
    }


def test_in_a_study_of_other_papers_each_quotation_of_the_package_counts_once(ws: Workspace) -> None:
    checked = guideline_faults.check(ws)
    quoted = sum((PAGES / f"{page}.md").read_text(encoding="utf-8").count("\n> ") for page in checked.pages)
    assert (checked.examples, sum(checked.left_out.values())) == (0, quoted)


@pytest.mark.parametrize(("letters", "shown"), [(60, "x" * 60), (61, "x" * 57 + "...")])
def test_a_long_quotation_is_shortened_to_sixty_letters(ws: Workspace, letters: int, shown: str) -> None:
    text = (PAGES / "method.md").read_text(encoding="utf-8")
    (ws.root / "guidelines").mkdir(exist_ok=True)
    (ws.root / "guidelines" / "method.md").write_text(f"{text}\n> {'x' * letters}\n", encoding="utf-8")
    assert any(f": {shown!r}: does not say which paper" in fault for fault in guideline_faults.check(ws).findings)


def test_a_quotation_that_a_paper_does_not_hold_is_named_with_its_own_paper(with_corpus: Workspace) -> None:
    spoil(with_corpus, "method", "We attach an aisle", "We attach a shelf")
    (fault,) = guideline_faults.check(with_corpus).findings
    assert fault.startswith("guidelines/method.md: 'We attach a shelf detector")
    assert fault.endswith(": not found in this form in paper fic1507")


def test_a_grade_outside_the_scale_is_named_with_the_scale(ws: Workspace) -> None:
    spoil(ws, "result", "## 0 Irrelevant", "## 4 Perfect\n\nAll.\n\n## 0 Irrelevant")
    faults = guideline_faults.check(ws).findings
    assert "guidelines/result.md: defines grade 4, which is not on the scale 0 to 3" in faults


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
