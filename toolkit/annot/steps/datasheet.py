"""The datasheet: numbers from the records, prose from `datasheet.toml`, where each question is asked once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from annot.errors import InputError
from annot.release.datasheet import datasheet_html, datasheet_markdown
from annot.release.facts import facts_of, measured
from annot.release.questions import Answers, answer_sheet, questions, unanswered
from annot.release.questions import read_answers as parse_answers
from annot.study.snapshot import read_study
from annot.study.workspace import Workspace, write_file

ANSWERS_FILE = "datasheet.toml"
MARKDOWN_FILE = "datasheet.md"
PAGE_FILE = "datasheet.html"


@dataclass(frozen=True, slots=True)
class Open:
    """A question that a person must still answer; `question` is its section and key in `datasheet.toml`."""

    question: str
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """Where the datasheet lies, where its answers go, and which are missing."""

    markdown: Path
    page: Path
    answers: Path
    answers_written: bool
    """Whether questions were added to the file of answers."""
    unanswered: tuple[Open, ...]


def write(ws: Workspace) -> Written:
    """Write `exports/datasheet.md` and `.html`, and put every question that it lacks into `datasheet.toml`.

    Whether the texts are part of the collection follows from `collection.text_licence`, as in `annot release`.
    """
    answers = read_answers(ws)
    study = read_study(ws)
    collection = ws.settings.collection
    facts = facts_of(
        study,
        measured(study),
        with_text=bool(collection.text_licence),
        licence=collection.licence,
        text_licence=collection.text_licence,
        published=collection.published.isoformat() if collection.published else "",
    )
    overrides = ws.root / "templates"
    markdown = datasheet_markdown(facts, answers, overrides=overrides)
    page = datasheet_html(facts, markdown, overrides=overrides)
    added = _ask(answers_file(ws), answers)
    paths = ws.exports / MARKDOWN_FILE, ws.exports / PAGE_FILE
    write_file(paths[0], markdown)
    write_file(paths[1], page)
    return Written(*paths, answers_file(ws), added, missing(answers))


def answers_file(ws: Workspace) -> Path:
    """Where people answer."""
    return ws.root / ANSWERS_FILE


def read_answers(ws: Workspace) -> Answers:
    """What people have answered; nothing where the file is not there yet. Raises InputError with every fault in it."""
    path = answers_file(ws)
    if not path.exists():
        return {}
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error.reason} at byte {error.start}") from None
    return parse_answers(text, name=str(path))


def missing(answers: Answers) -> tuple[Open, ...]:
    """The questions without an answer, in the order of the datasheet."""
    return tuple(Open(question.id, question.text) for question in unanswered(answers))


def describe_missing(missing: tuple[Open, ...]) -> str:
    """One line a question, with the key under which it is answered."""
    return "\n".join(f"  {one.question}: {one.text}" for one in missing)


def _ask(path: Path, answers: Answers) -> bool:
    """Write the file of answers where it lacks a question. One that has them all stays as people left it."""
    if path.exists() and _asked(path.read_text(encoding="utf-8-sig")) >= {question.id for question in questions()}:
        return False
    write_file(path, answer_sheet(answers))
    return True


def _asked(text: str) -> set[str]:
    """The questions in the text of the file, answered or commented out."""
    section = ""
    found = set()
    for line in text.splitlines():
        if heading := re.match(r"\s*\[\s*(\w+)\s*\]", line):
            section = heading[1]
        elif key := re.match(r"\s*#?\s*(\w+)\s*=", line):
            found.add(f"{section}.{key[1]}")
    return found
