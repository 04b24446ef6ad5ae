"""The report as Markdown: the same sections and tables, without the figures, for a repository or a card."""

from __future__ import annotations

from annot.report.document import Document, Figure, Section, Table


def markdown(document: Document) -> str:
    """The document as Markdown with pipe tables."""
    parts = [f"# {document.title}", document.subtitle]
    if document.notice:
        parts.append(f"> **Note.** {document.notice}")
    parts.append("\n".join(f"- {fact.name}: **{fact.value}**{_in_brackets(fact.note)}" for fact in document.facts))
    for section in document.sections:
        parts += _section(section)
    if document.chain:
        rows = "\n".join(f"| `{name}` | `{digest}` |" for name, digest in document.chain)
        parts.append(f"## What this page was made from\n\n| File | SHA-256 |\n| --- | --- |\n{rows}")
    return "\n\n".join(parts) + "\n"


def table(one: Table) -> str:
    """One table: its caption with the command that prints the same numbers, the rows, the notes."""
    marks = ["---" if at < one.numeric_from else "---:" for at in range(len(one.headings))]
    lines = [_row(one.headings), _row(marks), *(_row([_cell(cell) for cell in row]) for row in one.rows)]
    notes = "".join(f"\n\n{note}" for note in one.notes)
    return f"{one.caption} (`{one.command}`)\n\n" + "\n".join(lines) + notes


def _section(section: Section) -> list[str]:
    parts = [f"## {section.title}", *section.paragraphs]
    for block in section.blocks:
        parts.append(f"*{block.caption}* {block.description}" if isinstance(block, Figure) else table(block))
    return parts


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _in_brackets(note: str) -> str:
    return f" ({note})" if note else ""
