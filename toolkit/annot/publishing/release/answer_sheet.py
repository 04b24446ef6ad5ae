"""The answers of people to the datasheet's questions: `datasheet.toml` in the study's folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from annot.publishing.release.questions import Answers, answer_sheet, questions, unanswered
from annot.publishing.release.questions import read_answers as parse_answers
from annot.publishing.report.words import sentences
from annot.study.given_files import given_text
from annot.study.made import ANSWERS_FILE
from annot.study.workspace import Workspace, write_file

SHOWN = 3
"""Open questions that are named where they are counted."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that a person must still answer; `question` is its section and key in `datasheet.toml`."""

    question: str
    text: str


def answers_file(ws: Workspace) -> Path:
    """Where people answer."""
    return ws.root / ANSWERS_FILE


def read_answers(ws: Workspace) -> Answers:
    """What people have answered; nothing where the file is not there yet. Raises InputError with every fault in it."""
    path = answers_file(ws)
    if not path.exists():
        return {}
    return parse_answers(given_text(path, expected="TOML"), name=str(path))


def open_questions(answers: Answers) -> tuple[OpenQuestion, ...]:
    """The questions without an answer, in the order of the datasheet."""
    return tuple(OpenQuestion(question.id, question.text) for question in unanswered(answers))


def describe_open(missing: tuple[OpenQuestion, ...]) -> tuple[str, ...]:
    """How many questions are open, in which file, and which are the first; nothing where none is.

    The file asks them in full, and no other place repeats it.
    """
    names = [one.question for one in missing]
    more = [f"{len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return sentences("commands.open_questions", file=ANSWERS_FILE, n=len(names), shown=[*names[:SHOWN], *more])


def ask(path: Path, answers: Answers) -> bool:
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
