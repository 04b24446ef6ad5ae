"""The datasheet: numbers from the records, prose from `datasheet.toml`, where each question is asked once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from annot.corpus.corpus_facts import corpus_facts
from annot.publishing.neighbours import write_pages
from annot.publishing.release.collection_facts import facts_of
from annot.publishing.release.prose import datasheet_html, datasheet_markdown
from annot.publishing.release.questions import OpenQuestion, answers_file, ask, open_questions, read_answers
from annot.publishing.report.study import Study
from annot.publishing.terms import terms_of
from annot.study.made import note
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace

MARKDOWN_FILE = "datasheet.md"
PAGE_FILE = "datasheet.html"


@dataclass(frozen=True, slots=True)
class WrittenDatasheet:
    """Where the datasheet is, where its answers go, and which are missing."""

    markdown: Path
    page: Path
    answers: Path
    answers_written: bool
    """Whether questions were added to the file of answers."""
    unanswered: tuple[OpenQuestion, ...]


def write(ws: Workspace) -> WrittenDatasheet:
    """Write `exports/datasheet.md` and `.html`, and put every question that it lacks into `datasheet.toml`.

    Whether the texts are part of the collection follows from `collection.text_licence`, as in `annot release`.
    """
    answers = read_answers(ws)
    snapshot = read_snapshot(ws)
    collection = ws.settings.collection
    terms, _ = terms_of(collection, with_text=None, licence=None, published=None)
    # A licence that is none is refused, not left out.
    terms = replace(terms, licence=collection.licence)
    study = Study(snapshot)
    facts = facts_of(study, corpus_facts(ws, without=set(study.added)), terms)
    overrides = ws.root / "templates"
    markdown = datasheet_markdown(facts, answers, overrides=overrides)
    page = datasheet_html(facts, markdown, overrides=overrides)
    topics = bool(snapshot.texts)
    added = ask(answers_file(ws), answers, topics=topics)
    open_ones = open_questions(answers, topics=topics)
    paths = ws.exports / MARKDOWN_FILE, ws.exports / PAGE_FILE
    write_pages(ws.exports, {MARKDOWN_FILE: markdown, PAGE_FILE: page})
    note(ws, "datasheet", snapshot.states, open=len(open_ones))
    return WrittenDatasheet(*paths, answers_file(ws), added, open_ones)
