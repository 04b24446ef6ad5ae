"""The datasheet: seven sections after Gebru et al. and the data statement, from the records and people's answers."""

from __future__ import annotations

from html import unescape
from itertools import groupby
from pathlib import Path
from typing import Any

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
    from markdown.treeprocessors import Treeprocessor
    from markdown.util import AMP_SUBSTITUTE

    class Links(Treeprocessor):
        """A link leads to a web page, a mailbox or a place on this page; any other, such as a script, loses its aim."""

        def run(self, root: Any) -> None:
            for link in root.iter("a"):
                address = unescape(link.get("href", "").replace(AMP_SUBSTITUTE, "&"))
                if not address.lower().startswith(("https://", "http://", "mailto:", "#")):
                    link.attrib.pop("href", None)

    converter = Markdown(extensions=["tables", "sane_lists", "toc"])
    # What people and papers wrote is text: without these two, HTML in it stays visible instead of being obeyed.
    converter.preprocessors.deregister("html_block")
    converter.inlinePatterns.deregister("html")
    # An image would be fetched from a server, which then knows who reads: it becomes a link.
    for name in ("image_link", "image_reference", "short_image_ref"):
        converter.inlinePatterns.deregister(name)
    converter.treeprocessors.register(Links(converter), "links", priority=5)
    body = converter.convert(markdown)
    return fill("datasheet.html.j2", facts, overrides=overrides, body=body)
