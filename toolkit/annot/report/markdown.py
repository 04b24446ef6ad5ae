"""The report as Markdown: the same answers, sections and tables, without the drawings, for a repository or a card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annot.report.cells import text
from annot.report.document import Document, Figure, Section, Table


def markdown(document: Document) -> str:
    """The document as Markdown with pipe tables."""
    return "\n\n".join(_parts(document)) + "\n"


def _parts(document: Document) -> Iterator[str]:
    yield f"# {document.title}"
    yield document.subtitle
    if document.notice:
        yield f"> **Note.** {document.notice}"
    for answer in document.answers:
        yield f"## {answer.question}"
        yield f"**{answer.verdict}.**"
        yield from answer.sentences
    for section in document.body:
        yield from _section(section, "##", precise=False)
    yield "## Appendix"
    for section in document.appendix:
        yield from _section(section, "###", precise=True)
    if document.chain:
        rows = [(f"`{name}`", f"`{digest}`") for name, digest in document.chain]
        yield "### Files behind this report"
        yield "\n".join(map(_row, [("File", "SHA-256"), ("---", "---"), *rows]))


def _section(section: Section, level: str, *, precise: bool) -> Iterator[str]:
    yield f"{level} {section.title}"
    yield from section.paragraphs
    for block in section.blocks:
        if isinstance(block, Figure):
            yield f"*{block.caption}* {block.description}"
        else:
            yield f"{block.caption} (`{block.command}`)"
            yield _table(block, precise=precise)
            yield from block.notes


def _table(table: Table, *, precise: bool) -> str:
    marks = ["---" if at < table.numeric_from else "---:" for at in range(len(table.headings))]
    rows = ([_cell(text(cell, precise=precise)) for cell in row] for row in table.rows)
    return "\n".join(map(_row, [table.headings, marks, *rows]))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: str) -> str:
    return " ".join(cell.replace("|", "\\|").split())
