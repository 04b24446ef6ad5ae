"""`annot init --kind`: the settings and the guidelines that a study of topics or of questions begins with."""

import re
import shutil
from pathlib import Path

import pytest
from annot.base.records import Topic
from annot.base.settings import Kind
from annot.base.words import languages
from annot.labelstudio.tasks import sides_of
from annot.study.guidelines import shown, words_in
from annot.study.workspace import Workspace
from command_line import annot, annot_done

TEXTS: tuple[Kind, ...] = ("topics", "questions")


def made(folder: Path, kind: Kind) -> Workspace:
    folder.mkdir(exist_ok=True)
    annot_done("init", "study", "--kind", kind, folder=folder)
    return Workspace.open(folder / "study")


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


def test_a_new_study_of_questions_says_question_in_every_language_and_other_studies_say_topic(tmp_path: Path) -> None:
    questions = made(tmp_path / "new", "questions")
    assert [sides_of(Topic("q", "?"), words_in(questions, language))[0] for language in languages(None)] == [
        "Frage", "Question", "Pregunta", "问题"
    ]  # fmt: skip
    words = words_in(questions, "en").entries
    said = [text for table in ("task", "choices", "keys", "page", "meeting") for text in words[table].values()]
    assert not [text for text in map(str, said) if re.search(r"\btopic(?!})|Topic", text)]
    # The words of an earlier study of questions are on record: `annot init` gives it no others.
    earlier = made(tmp_path / "earlier", "questions")
    shutil.rmtree(earlier.root / "templates")
    annot_done("init", "study", folder=earlier.root.parent)
    for ws in (earlier, made(tmp_path / "topics", "topics")):
        assert sides_of(Topic("q", "?"), words_in(ws, None)) == ("Topic", "Document")
        assert "| topic read differently | Each" in shown(ws, "adjudication")
    assert "You see a **question**, shown as the topic, and a **document**" in shown(earlier, "whole")
    for name in ("whole", "adjudication", "full-text", "training", "queries"):
        assert not re.search("[Tt]opic", shown(questions, name)), name
    assert "| question read differently | Each" in shown(questions, "adjudication")
