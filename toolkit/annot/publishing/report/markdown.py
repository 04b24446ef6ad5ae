"""The report as Markdown: the same answers, sections and tables, without the drawings, for a repository or a card."""

from __future__ import annotations

from annot.base.templating import render
from annot.publishing.report.cells import text
from annot.publishing.report.document import Document, Table


def markdown(document: Document) -> str:
    """The document as Markdown with pipe tables."""
    helpers = {"marks": _marks, "texts": _texts}
    return render("report.md.j2", {"document": document, **helpers}, overrides=None).rstrip("\n") + "\n"


def _marks(table: Table) -> list[str]:
    """Names to the left, numbers to the right."""
    return ["---" if at < table.numeric_from else "---:" for at in range(len(table.headings))]


def _texts(row: tuple[object, ...], precise: bool) -> list[str]:
    return [" ".join(text(cell, precise=precise).replace("|", "\\|").split()) for cell in row]
