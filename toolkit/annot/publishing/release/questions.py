"""The prose of a datasheet: its questions (package data), the file with the answers, and what is still unanswered."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from annot.base.errors import Faults, InputError
from annot.base.names import near
from annot.publishing.report.words import sentences
from annot.study.made import ANSWERS_FILE
from annot.study.workspace import Workspace, given_text, write_file

QUESTIONS_FILE = "questions.toml"
SHOWN = 3
"""Open questions that are named where they are counted."""
PLACEHOLDERS = frozenset(("", "todo", "tbd", "fixme", "xxx", "n.n.", "...", "…", "?", "-", "–"))
"""Answers that are none, in small letters without what encloses them."""

Answers = Mapping[str, str]
"""Answers by question id."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `id` is `<section>.<name>`, as the table and key in the file of answers.

    `kind`: `prose` needs a person, `records` is answered from the records and may be added to, `optional` may stay
    empty. `unless` is the id of the question whose "no" makes this one needless.
    """

    id: str
    section: str
    """The title of the section."""
    text: str
    kind: Literal["prose", "records", "optional"]
    unless: str | None = None
    only: Literal["topics"] | None = None
    """What the study must have for the question to be asked: topics that are texts."""


def questions(*, topics: bool = False) -> tuple[Question, ...]:
    """The questions in the order in which they are printed. topics: those of a study that has topics that are texts."""
    return tuple(question for question in _every() if topics or question.only is None)


@cache
def _every() -> tuple[Question, ...]:
    document = tomllib.loads(files("annot.templates").joinpath(QUESTIONS_FILE).read_text(encoding="utf-8"))
    return tuple(
        Question(**question | {"id": f"{section['id']}.{question['id']}", "section": section["title"]})
        for section in document["section"]
        for question in section["question"]
    )


def parse_answers(text: str, *, name: str) -> dict[str, str]:
    """The answers in the text of a study's `datasheet.toml`: a table a section, a key a question.

    White space around an answer goes. `name` is the file in messages. Raises InputError with every fault: no TOML,
    sections and questions that there are not (with the near name), answers that are no text.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: not valid TOML: {error}") from None
    faults = Faults(name)
    known: dict[str, list[str]] = {}
    for question in _every():
        section, _, key = question.id.partition(".")
        known.setdefault(section, []).append(key)
    answers: dict[str, str] = {}
    for section, table in document.items():
        if section not in known:
            faults.add(f"unknown section {section!r}: {near(section, known)}")
        elif not isinstance(table, dict):
            faults.add(f"{section}: found {table!r}, expected a table [{section}]")
        else:
            for key, value in table.items():
                if key not in known[section]:
                    faults.add(f"{section}: unknown question {key!r}: {near(key, known[section])}")
                elif not isinstance(value, str):
                    faults.add(f"{section}.{key}: found {value!r}, expected text in quotation marks")
                else:
                    answers[f"{section}.{key}"] = value.strip()
    faults.raise_if_any(hint="`annot datasheet` writes a file with every question in it")
    return answers


def unanswered(answers: Answers, *, topics: bool = False) -> tuple[Question, ...]:
    """The questions that a person must still answer. `TODO` and its like are no answer."""
    return tuple(
        question
        for question in questions(topics=topics)
        if question.kind == "prose" and not answered(answers, question.id) and not _needless(answers, question)
    )


def answered(answers: Answers, question_id: str) -> bool:
    """Whether there is an answer that is more than a placeholder."""
    given = answers.get(question_id, "").strip().strip("<>[](){}*_\"'").strip().rstrip(":!").lower()
    return given not in PLACEHOLDERS


def answer_sheet(answers: Answers, *, topics: bool = False) -> str:
    """The text of `datasheet.toml`: every question, with its answer or with a commented-out empty one.

    The answers given are kept as they are; comments that someone wrote into the file are not. The same answers give the
    same text.
    """
    lines = [
        "# Only people can answer these questions about the collection. To answer one, remove the # before its name",
        '# and write between the quotation marks; for several lines use """ on both sides. `annot datasheet` lists the',
        "# questions that are still open.",
    ]
    section = ""
    for question in questions(topics=topics):
        table, _, key = question.id.partition(".")
        if table != section:
            section = table
            lines += ["", f"[{table}]  # {question.section}"]
        lines += ["", f"# {question.text}{_remark(answers, question)}"]
        given = answers.get(question.id, "").strip()
        lines.append(f"{key} = {_toml_string(given)}" if given else f'# {key} = ""')
    return "\n".join(lines) + "\n"


def _remark(answers: Answers, question: Question) -> str:
    if question.kind == "records":
        return " (Answered from the records; your text is added.)"
    if question.kind == "optional":
        return " (Optional.)"
    return " (Not needed: the collection does not relate to people.)" if _needless(answers, question) else ""


def _needless(answers: Answers, question: Question) -> bool:
    gate = answers.get(question.unless or "", "")
    return re.match(r"\W*no\b", gate, re.IGNORECASE) is not None


def _toml_string(text: str) -> str:
    """`text` as a TOML string that is read back as it is, in several lines where it has several."""

    def escape(match: re.Match[str]) -> str:
        return f"\\u{ord(match[0]):04X}"

    escaped = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", escape, text.replace("\\", "\\\\"))
    if "\n" in text:
        inner = escaped.replace('"""', '""\\"')
        return f'"""\n{inner}\n"""'
    return '"' + escaped.replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that a person must still answer; `question` is its section and key in `datasheet.toml`."""

    question: str
    text: str


def answers_file(ws: Workspace) -> Path:
    """Where people answer."""
    return ws.root / ANSWERS_FILE


def read_answers(ws: Workspace) -> Answers:
    """What people have answered; nothing if the file is not there yet. Raises InputError with every fault in it."""
    path = answers_file(ws)
    if not path.exists():
        return {}
    return parse_answers(given_text(path, expected="TOML"), name=str(path))


def open_questions(answers: Answers, *, topics: bool) -> tuple[OpenQuestion, ...]:
    """The questions without an answer, in the order of the datasheet."""
    return tuple(OpenQuestion(question.id, question.text) for question in unanswered(answers, topics=topics))


def describe_open(missing: tuple[OpenQuestion, ...]) -> tuple[str, ...]:
    """How many questions are open, in which file, and which are the first; nothing if none is.

    The file asks them in full, and no other place repeats it.
    """
    names = [one.question for one in missing]
    more = [f"{len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return sentences("commands.open_questions", file=ANSWERS_FILE, n=len(names), shown=[*names[:SHOWN], *more])


def ask(path: Path, answers: Answers, *, topics: bool) -> bool:
    """Write the file of answers where it lacks a question. One that has them all stays as people left it."""
    wanted = {question.id for question in questions(topics=topics)}
    if path.exists() and _asked(path.read_text(encoding="utf-8-sig")) >= wanted:
        return False
    write_file(path, answer_sheet(answers, topics=topics))
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
