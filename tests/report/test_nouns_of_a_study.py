"""One noun for the unit of a study, on every page and in every table: query and query paper, topic, or question."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from annot.base.names import OF_PAPERS, OF_TEXTS, StudyVocabulary
from annot.publishing.report.tables import Column, Columns
from command_line import annot
from small_study import FirstPairs, Small, write_runs
from study_stages import Recipe, copied, set_in
from topic_study import GRADED, OfTopics

COMMANDS = (
    *(
        "qrels --partial",
        "report",
        "browse",
        "status --page",
        "datasheet",
        "meeting --since 2025-01-01",
        "release out --ids-only --draft",
    ),
    *("status", "agreement", "evaluate --all", "assessor-effect", "forecast"),
)
PAGES = ("report.md", "report.html", "browse.html", "datasheet.md", "datasheet.html", "meeting.md", "meeting.html")
WRONG = (
    "trace nope d00",
    "pool show nope",
    "query remove nope",
    "return nope d00 --to a1 --why Again.",
    "plan --query nope",
)
"""Calls with a query that there is not."""
OTHERS = {"facets": r"topics?|questions?|query papers?", "questions": r"quer(?:y|ies)|topics?"}
"""Nouns of the other kinds."""
NO_WORDS = re.compile(
    r"<style>.*?</style>|<script.*?</script>|<code>.*?</code>|<[^>]*>|`[^`]*`|\]\([^)]*\)|annot [a-z-]+ [a-z-]+"
    r"|The questions follow|questions are (?:not answered yet|open)|genre, topics and structure|questions about people",
    re.DOTALL,
)
"""Parts of a page that are no words for a unit: code, what one types, and questions that a reader asks."""


def of_kind(kind: str, folder: Path) -> Path:
    recipe: Recipe = Small(answers=FirstPairs(40)) if kind == "facets" else OfTopics(scale=GRADED)
    ws = copied(recipe, "settled", folder)
    if kind == "facets":
        write_runs(ws)
    else:
        recipe.measured(ws)
        set_in(folder, {"": {"kind": kind}, "collection": {"name": "made", "title": "A made collection"}})
    return folder


def shown(kind: str, folder: Path) -> Iterator[tuple[str, str]]:
    for words in COMMANDS:
        result = annot(*words.split(), folder=folder)
        assert result.exit_code == 0, (words, result.stderr)
        yield words, result.stdout + result.stderr
    for words in WRONG:
        result = annot(*words.split(), folder=folder)
        assert result.exit_code == 2, (words, result.stdout)
        yield words, result.stderr
    for path in (*(folder / "exports" / name for name in PAGES), folder / ".annot" / "status.html"):
        yield path.name, path.read_text(encoding="utf-8")
    card = folder / "out" / "README.md"
    yield "card", card.read_text(encoding="utf-8").split("---", 2)[2]


@pytest.mark.parametrize("kind", ["facets", "questions"])
def test_a_study_has_one_noun_for_its_unit_on_every_page(kind: str, tmp_path: Path) -> None:
    others = re.compile(rf"(?<![\w./-])(?:{OTHERS[kind]}|querys)(?![\w/-]|\.\w)", re.IGNORECASE)
    found = [
        f"{name}: {' '.join(text[match.start() - 40 : match.end() + 30].split())}"
        for name, page in shown(kind, of_kind(kind, tmp_path / "study"))
        for text in [NO_WORDS.sub(" ", page)]
        for match in others.finditer(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("words", "heading"), [(None, "topics"), (OF_PAPERS, "query papers"), (OF_TEXTS, "topics")])
def test_headings_keep_their_words_unless_those_of_a_study_are_given(
    words: StudyVocabulary | None, heading: str
) -> None:
    table = Columns([Column("topics", str)]).of([1], words=words)
    assert table.headings == (heading,)
