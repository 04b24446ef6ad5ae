"""`annot init --kind`: the settings and the guidelines that a study of topics or of questions begins with."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from annot.base.settings import Kind, Settings, settings_of
from annot.labelstudio.studio_records import DIFFERENCES, DIFFERENCES_OF_WHOLES
from annot.study.guidelines import definition_of, shown
from annot.study.workspace import Workspace
from command_line import annot, annot_done

TEXTS: tuple[Kind, ...] = ("topics", "questions")
OF_FACETS_ALONE = {"labels", "queries", "systems"}
"""Sections about sentence labels, the sampling of query papers, and systems that compare sentences."""
WITHOUT_A_LINE = {"opinions"}
"""A model is named when somebody wants to ask it."""


def made(folder: Path, kind: Kind) -> Workspace:
    annot_done("init", "study", "--kind", kind, folder=folder)
    return Workspace.open(folder / "study")


@pytest.mark.parametrize("kind", TEXTS)
def test_the_file_has_what_its_kind_begins_with_and_nothing_of_facets(tmp_path: Path, kind: Kind) -> None:
    ws = made(tmp_path, kind)
    document = tomllib.loads(ws.settings_file.read_text(encoding="utf-8"))
    assert document["kind"] == kind
    assert document["facets"] == {"whole": []}
    assert document.keys() == Settings.model_fields.keys() - OF_FACETS_ALONE - WITHOUT_A_LINE
    begun = settings_of(kind)
    collection = begun.collection.model_copy(update={"name": "study", "title": "study"})
    assert ws.settings == begun.model_copy(update={"collection": collection})
    assert not ws.settings.faceted


def test_a_new_study_is_of_facets_and_its_file_names_every_section_and_no_kind(tmp_path: Path) -> None:
    annot_done("init", "study", folder=tmp_path)
    annot_done("init", "other", "--kind", "facets", "--name", "study", folder=tmp_path)
    text = (tmp_path / "study" / "annot.toml").read_text(encoding="utf-8")
    assert text == (tmp_path / "other" / "annot.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    assert document.keys() == Settings.model_fields.keys() - {"kind", "screen"} - WITHOUT_A_LINE
    assert {"min_sentences": 3, "max_sentences": 20}.items() <= document["corpus"].items()


@pytest.mark.parametrize(
    ("kind", "names", "relevant_from"),
    [
        ("topics", ("Not relevant", "Relevant", "Highly relevant"), 1),
        ("questions", ("Unrelated", "Related", "Partial answer", "Full answer"), 2),
    ],
)
def test_the_scale_and_what_counts_as_relevant_fit_the_kind(
    kind: Kind, names: tuple[str, ...], relevant_from: int
) -> None:
    settings = settings_of(kind)
    assert (settings.scale.names, settings.evaluation.relevant_from) == (names, relevant_from)
    # One sentence of one word is a document.
    limits = settings.corpus
    assert (limits.require_title, limits.min_sentences, limits.min_sentence_tokens) == (False, 1, 1)
    assert "cited" not in settings.pool.methods


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('kind = "topics"\n[facets]\nmethod = ["method"]', "facets: a study of topics has none"),
        ('kind = "topic"', "kind: Input should be 'facets', 'topics' or 'questions', found 'topic'"),
        ("kind = 3", "kind: Input should be 'facets', 'topics' or 'questions', found 3"),
        ('kind = "topics"\npool = 3', "pool: "),
    ],
)
def test_a_file_that_contradicts_its_kind_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "annot.toml").write_text(text, encoding="utf-8")
    refused = annot("status", folder=tmp_path)
    assert refused.exit_code == 2
    assert told in refused.message()


def test_a_study_keeps_its_kind(tmp_path: Path) -> None:
    before = made(tmp_path, "topics").settings_file.read_bytes()
    for words in ((), ("--kind", "topics")):
        assert "already complete" in annot_done("init", "study", *words, folder=tmp_path).stdout
    for other in ("questions", "facets"):
        refused = annot("init", "study", "--kind", other, folder=tmp_path)
        assert refused.exit_code == 2
        assert f"already exists, for topics, found {other}" in refused.message()
        assert "use another folder" in refused.message()
    assert (tmp_path / "study" / "annot.toml").read_bytes() == before


def test_another_kind_than_the_three_is_refused_and_a_dry_run_makes_nothing(tmp_path: Path) -> None:
    refused = annot("init", "study", "--kind", "topic", folder=tmp_path)
    assert refused.exit_code == 2
    assert "'facets', 'topics', 'questions'" in refused.message()
    assert "annot.toml" in annot_done("init", "study", "--kind", "topics", "--dry-run", folder=tmp_path).stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", TEXTS)
def test_the_guidelines_fit_the_study_as_it_is_made(tmp_path: Path, kind: Kind) -> None:
    ws = made(tmp_path, kind)
    checked = annot("check", "guidelines", folder=ws.root)
    assert checked.exit_code == 0, checked.stdout
    for grade, name in enumerate(ws.settings.scale.names):
        assert f"## {grade} {name}\n" in shown(ws, "whole")
    printed = annot_done("guidelines", "whole", folder=ws.root).stdout
    assert "**Opposite claims count alike.**" in printed


@pytest.mark.parametrize("kind", TEXTS)
def test_no_page_for_people_who_judge_texts_speaks_of_facets_or_papers(tmp_path: Path, kind: Kind) -> None:
    ws = made(tmp_path, kind)
    for name in ("whole", "adjudication", "training", "full-text", "queries"):
        text = shown(ws, name)
        assert not re.search(r"\b(facets?|abstracts?|papers?|candidates?|marked|similar)\b", text), name
        assert "<" not in text, name


@pytest.mark.parametrize("kind", TEXTS)
def test_a_page_of_the_study_wins_over_that_of_its_kind(tmp_path: Path, kind: Kind) -> None:
    ws = made(tmp_path, kind)
    (ws.root / "guidelines" / "whole.md").write_text("# Ours\n\nWhat we say.\n", encoding="utf-8")
    (ws.root / "guidelines" / "training.md").write_text("# Training\n\nWhat we say.\n", encoding="utf-8")
    assert definition_of(shown(ws, "whole")) == "What we say."
    checked = annot("check", "guidelines", folder=ws.root)
    assert checked.exit_code == 1
    assert "training.md" not in checked.stdout


def test_the_page_for_adjudicators_names_each_cause_on_their_screen_and_no_other() -> None:
    pages = files("annot.study.guideline_pages")
    for folder, causes in (("", DIFFERENCES), ("topics", DIFFERENCES_OF_WHOLES)):
        text = (pages / folder / "adjudication.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| ([^|]+?) \| [A-Z]", text.split("## Why they differ")[1], re.MULTILINE)
        assert rows == ["Choose", *(one.value for one in causes)]
