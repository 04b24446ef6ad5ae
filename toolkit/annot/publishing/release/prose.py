"""Prose of a release: the questions of the datasheet, the card, and Croissant metadata."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import tomlkit

from annot.base.errors import Faults, InputError
from annot.base.names import near
from annot.base.records import Qrel, Query, Topic, grouped
from annot.base.templating import Exact, converter, packaged_table, render
from annot.formats.beir import SPLIT, BeirFiles, Fields, dataset_id, module_name
from annot.formats.paper_text import language_code
from annot.measuring.agreement.coefficients import TITLES
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.parts import SampleInWords
from annot.publishing.report.cells import COEFFICIENT, SECONDS, coefficient, measured
from annot.publishing.report.tables import sentences
from annot.publishing.terms import known_licence, licence_named
from annot.study.provenance import ANSWERS_FILE
from annot.study.workspace import Workspace, given_text, write_file

# ----------------------------------------------------------------------------------------------------------------------
# The prose of a datasheet: its questions (package data), the file with the answers, and what is still unanswered.
# ----------------------------------------------------------------------------------------------------------------------


QUESTIONS_FILE = "questions.toml"
SHOWN = 3
"""Open questions that are named where they are counted."""
PLACEHOLDERS = frozenset(("", "todo", "tbd", "fixme", "xxx", "n.n.", "...", "…", "?", "-", "–"))
"""Placeholders, in lower case without enclosing characters."""

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
    kind: Literal["prose", "records", "optional"] = "prose"
    unless: str | None = None
    only: Literal["topics"] | None = None
    """Condition of the question: the study must have topics that are texts."""


def questions(*, topics: bool = False) -> tuple[Question, ...]:
    """The questions in the order in which they are printed. topics: with those for studies whose topics are texts."""
    return tuple(question for question in _all_questions() if topics or question.only is None)


@cache
def _all_questions() -> tuple[Question, ...]:
    every = []
    for section, entries in packaged_table(QUESTIONS_FILE).items():
        title = entries.pop("title")
        for name, entry in entries.items():
            values = {"text": entry} if isinstance(entry, str) else entry
            every.append(Question(id=f"{section}.{name}", section=title, **values))
    return tuple(every)


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
    written_below: dict[str, list[str]] = {}
    for question in _all_questions():
        section, _, key = question.id.partition(".")
        written_below.setdefault(section, []).append(key)
    answers: dict[str, str] = {}
    for section, table in document.items():
        if section not in written_below:
            faults.add(f"unknown section {section!r}: {near(section, written_below)}")
        elif not isinstance(table, dict):
            faults.add(f"{section}: found {table!r}, expected a table [{section}]")
        else:
            for key, value in table.items():
                if key not in written_below[section]:
                    faults.add(f"{section}: unknown question {key!r}: {near(key, written_below[section])}")
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
    """True if there is an answer that is more than a placeholder."""
    answer = answers.get(question_id, "").strip().strip("<>[](){}*_\"'").strip().rstrip(":!").lower()
    return answer not in PLACEHOLDERS


def answer_sheet(answers: Answers, *, topics: bool = False) -> str:
    """The text of `datasheet.toml`: every question, with its answer or with a commented-out empty one.

    The answers given are kept as they are; comments that someone wrote into the file are not. The same answers give the
    same text.
    """
    to_answer = questions(topics=topics)
    needless = {question.id for question in to_answer if _needless(answers, question)}
    values = {"sections": _by_section(to_answer), "answers": answers, "needless": needless, "toml": _toml_string}
    return render("answers.toml.j2", values, overrides=None)


def _by_section(to_answer: Iterable[Question]) -> list[tuple[str, list[Question]]]:
    """The questions by the titles of their sections."""
    return list(grouped((question.section, question) for question in to_answer).items())


def _needless(answers: Answers, question: Question) -> bool:
    gate = answers.get(question.unless or "", "")
    return re.match(r"\W*no\b", gate, re.IGNORECASE) is not None


def _toml_string(text: str) -> str:
    """`text` as a TOML string that is read back as it is, in several lines where it has several."""
    # In a string of several lines tomlkit leaves a return as it is, and TOML reads it as a part of the line's end.
    several = "\n" in text and "\r" not in text
    return tomlkit.string(text, multiline=several).as_string()


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that a person must still answer; `question` is its section and key in `datasheet.toml`."""

    question: str
    text: str


def answers_file(ws: Workspace) -> Path:
    """File in which people answer."""
    return ws.root / ANSWERS_FILE


def read_answers(ws: Workspace) -> Answers:
    """Answers of people; empty if the file is not there yet. Raises InputError with every fault in it."""
    path = answers_file(ws)
    if not path.exists():
        return {}
    return parse_answers(given_text(path, expected="TOML"), name=str(path))


def open_questions(answers: Answers, *, topics: bool) -> tuple[OpenQuestion, ...]:
    """The questions without an answer, in the order of the datasheet."""
    return tuple(OpenQuestion(question.id, question.text) for question in unanswered(answers, topics=topics))


def describe_open(missing: tuple[OpenQuestion, ...]) -> tuple[str, ...]:
    """Number of open questions, their file, and the first of them; "" if none is open.

    The file asks them in full, and no other place repeats it.
    """
    names = [question.question for question in missing]
    remainder = [f"{len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return sentences("commands.open_questions", file=ANSWERS_FILE, n=len(names), shown=[*names[:SHOWN], *remainder])


def ask(path: Path, answers: Answers, *, topics: bool) -> bool:
    """Write the file of answers where it lacks a question. One that has them all stays as people left it."""
    ids = {question.id for question in questions(topics=topics)}
    if path.exists() and _questions_in(path.read_text(encoding="utf-8-sig")) >= ids:
        return False
    write_file(path, answer_sheet(answers, topics=topics))
    return True


def _questions_in(text: str) -> set[str]:
    """The questions in the text of the file, answered or commented out."""
    section = ""
    ids = set()
    for line in text.splitlines():
        if heading := re.match(r"\s*\[\s*(\w+)\s*\]", line):
            section = heading[1]
        elif key := re.match(r"\s*#?\s*(\w+)\s*=", line):
            ids.add(f"{section}.{key[1]}")
    return ids


# ----------------------------------------------------------------------------------------------------------------------
# The pages of the release, card and datasheet: their templates and what these may call.
# ----------------------------------------------------------------------------------------------------------------------


def fill(template: str, facts: CollectionFacts, *, overrides: Path | None, **values: Any) -> str:
    """Template filled with the facts and the licences of judgements, of topics if they have one of their own, and of
    texts if they are released; None if they are not known ones.

    overrides: a folder of templates that win over the package's.
    """
    terms = facts.terms
    licences = {
        "licence": licence_named(terms.licence) if terms.licence else None,
        "topic_licence": known_licence(terms.topic_licence) if facts.topics[1] else None,
        "text_licence": known_licence(terms.text_licence) if terms.with_text else None,
    }
    functions = {"cell": cell, "flowed": flowed, "quoted": quoted, "estimate": measured, "coefficient": coefficient}
    named = {"SECONDS": SECONDS, "COEFFICIENT": COEFFICIENT, "titles": TITLES}
    return render(template, {"facts": facts, **licences, **functions, **named, **values}, overrides=overrides)


def cell(text: object) -> str:
    """`text` for a cell of a Markdown table: a vertical bar is escaped, a line break becomes a space."""
    return " ".join(str(text).split()).replace("|", "\\|")


def flowed(text: str) -> str:
    """Each paragraph on one line; tables and lists keep their lines."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        blocks.append(("\n" if lines and lines[0].startswith(("| ", "- ")) else " ").join(lines))
    return "\n\n".join(filter(None, blocks))


def quoted(text: str) -> str:
    """`text` as a string of YAML: the same as in JSON, except for characters that YAML takes for line breaks or
    refuses."""
    return Exact(
        "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in json.dumps(text, ensure_ascii=False))
    )


SIZES = (
    *("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B"),
    *("1B<n<10B", "10B<n<100B", "100B<n<1T", "n>1T"),
)


def size_category(count: int) -> str:
    """The hub's name for a number of rows.

    >>> size_category(999), size_category(1000)
    ('n<1K', '1K<n<10K')
    """
    return SIZES[min(max(len(str(count)) - 3, 0), len(SIZES) - 1)]


class ExamplePair(NamedTuple):
    """A row of the qrels, shown as an example."""

    query: str
    facet: str
    candidate: str
    grade: int


def example_pairs(
    qrels: Iterable[Qrel], queries: Iterable[Query], titles: Mapping[str, str], texts: Mapping[str, Topic]
) -> tuple[ExamplePair, ...]:
    """Three pairs of one query: of its highest grade, of a middle one, and of its lowest.

    The query is the first of those with the most grades; fewer than three give fewer pairs. titles: by paper,
    of those that are shown by title in place of id. texts: the topics that are texts.
    """
    graded = grouped((qrel.query_id, qrel) for qrel in sorted(qrels))
    by_query = {
        query_id: {qrel.relevance: qrel for qrel in reversed(of_query)} for query_id, of_query in graded.items()
    }
    if not by_query:
        return ()
    of_grade = max(by_query.values(), key=len)
    grades = sorted(of_grade, reverse=True)
    shown = [of_grade[grade] for grade in dict.fromkeys((grades[0], grades[len(grades) // 2], grades[-1]))]
    (query,) = (query for query in queries if query.query_id == shown[0].query_id)
    text = texts.get(query.topic_id)
    named = ((titles.get(query.topic_id) if text is None else text.title) or query.query_id, query.facet)
    return tuple(ExamplePair(*named, titles.get(qrel.doc_id) or qrel.doc_id, qrel.relevance) for qrel in shown)


def dataset_card(
    facts: CollectionFacts,
    *,
    beir: BeirFiles,
    fields: Fields,
    examples: Sequence[ExamplePair],
    holds: Collection[str],
    overrides: Path | None,
) -> str:
    """The card. The size in its header is that of the largest table: papers, or final grades.

    holds: the other files and folders of the release. overrides: a folder of templates that win over the package's.
    """
    configs = [("default", SPLIT, beir.hub_qrels)]
    if facts.terms.with_text:
        configs.append(("corpus", "corpus", beir.corpus))
    if fields.worded:
        configs.append(("queries", "queries", beir.queries))
    return fill(
        "card.md.j2",
        facts,
        overrides=overrides,
        beir=beir,
        fields=fields,
        languages=list(dict.fromkeys(map(language_code, facts.languages))),
        configs=[*configs, ("top_ranked", SPLIT, beir.top_ranked)],
        size=size_category(max(facts.corpus.papers, facts.total("pairs"))),
        dataset_id=dataset_id,
        irds_module=module_name(facts.collection.name),
        examples=examples,
        holds=holds,
    )


def datasheet_markdown(facts: CollectionFacts, answers: Answers, *, overrides: Path | None) -> str:
    """The datasheet in Markdown; a question that a person must still answer says so.

    overrides: a folder of templates that win over the package's.
    """
    topics = bool(facts.topics[1])
    return fill(
        "datasheet.md.j2",
        facts,
        overrides=overrides,
        sections=_by_section(questions(topics=topics)),
        answers={question: text.strip() for question, text in answers.items() if answered(answers, question)},
        open={question.id for question in unanswered(answers, topics=topics)},
    )


def datasheet_html(facts: CollectionFacts, markdown: str, *, overrides: Path | None) -> str:
    """The datasheet as one HTML page that needs nothing else; HTML tags in `markdown` are shown as text."""
    page = converter(extensions=["tables", "sane_lists", "toc"], extension_configs={"toc": {"toc_depth": "2-2"}})
    body = page.convert(markdown)
    return fill("datasheet.html.j2", facts, overrides=overrides, body=body, contents=page.toc_tokens)


# ----------------------------------------------------------------------------------------------------------------------
# Croissant 1.1 metadata (https://docs.mlcommons.org/croissant/) with the fields of its RAI extension.
# ----------------------------------------------------------------------------------------------------------------------


FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".tsv": "text/tab-separated-values",
    ".xml": "application/xml",
}
"""Media types by ending, in Croissant's spelling; anything else is plain text."""


def release_tables(
    beir: BeirFiles, *, with_text: bool, fields: Fields, sampled: SampleInWords | None = None
) -> list[dict[str, Any]]:
    """The tables of a release, as `templates/tables.toml.j2` has them, with the paths of their files."""
    values = {"with_text": with_text, "fields": fields, "sampled": sampled}
    tables, paths = tomllib.loads(render("tables.toml.j2", values, overrides=None)), beir._asdict()
    for name, table in tables.items():
        columns = table["column"].items()
        described = [(column, {"description": entry} if isinstance(entry, str) else entry) for column, entry in columns]
        table["column"] = [{"name": column, "type": "sc:Text", **entry} for column, entry in described]
        table |= {"name": name, "file": table.get("file") or paths[name]}
    return [*tables.values()]


def croissant(
    facts: CollectionFacts, *, files: Mapping[str, bytes], tables: Sequence[Mapping[str, Any]], answers: Answers
) -> str:
    """Text of `croissant.json`: every file with size and SHA-256, every table with its columns and foreign keys.

    files: what the release holds besides this file and `SHA256SUMS`, by path relative to this file. tables: as
    `release_tables` gives them.
    """
    text = fill(
        "croissant.json.j2",
        facts,
        overrides=None,
        name=dataset_id(facts.collection.name),
        version=semantic_version(facts.collection.version),
        answer=lambda question: answers[question] if answered(answers, question) else "",
        files=sorted(files.items()),
        media_type=lambda path: FORMATS.get(PurePosixPath(path).suffix, "text/plain"),
        sha256=lambda content: hashlib.sha256(content).hexdigest(),
        tables=tables,
    )
    document = {key: value for key, value in json.loads(text).items() if value or not key.startswith("rai:")}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def semantic_version(version: str) -> str:
    """`version` as MAJOR.MINOR.PATCH, which Croissant asks for; any other text is unchanged.

    >>> semantic_version("0.1"), semantic_version("v2")
    ('0.1.0', '2.0.0')
    """
    match = re.fullmatch(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?((?:[-+].*)?)", version)
    if match is None:
        return version
    numbers = (str(int(part or 0)) for part in match.groups()[:3])
    return ".".join(numbers) + match[4]
