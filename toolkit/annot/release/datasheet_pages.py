"""The datasheet: seven sections after Gebru et al. and the data statement, from the records and people's answers."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from annot.release.collection_facts import CollectionFacts
from annot.release.prose import fill
from annot.release.questions import Answers, answered, questions, unanswered


def datasheet_markdown(facts: CollectionFacts, answers: Answers, *, overrides: Path | None) -> str:
    """The datasheet in Markdown; a question that a person must still answer says so.

    overrides: a folder of templates that win over the package's.
    """
    return fill(
        "datasheet.md.j2",
        facts,
        overrides=overrides,
        sections=[(title, list(asked)) for title, asked in groupby(questions(), key=lambda question: question.section)],
        answers={question: text.strip() for question, text in answers.items() if answered(answers, question)},
        open={question.id for question in unanswered(answers)},
    )


def datasheet_html(facts: CollectionFacts, markdown: str, *, overrides: Path | None) -> str:
    """The datasheet as one HTML page that needs nothing else; HTML tags in `markdown` are shown as text."""
    from markdown import Markdown

    converter = Markdown(extensions=["tables", "sane_lists", "toc"])
    # What people and papers wrote is text: without these two, HTML in it stays visible instead of being obeyed.
    converter.preprocessors.deregister("html_block")
    converter.inlinePatterns.deregister("html")
    body = converter.convert(markdown)
    return fill("datasheet.html.j2", facts, overrides=overrides, body=body)
