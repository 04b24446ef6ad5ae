"""The report's tables as LaTeX, one `table` environment each, for a paper; they need the package booktabs."""

from __future__ import annotations

from annot.report.document import Document, Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "†": r"\textdagger{}",
}

LONG, WIDTH = 60, 0.35
"""A column with a text of more letters than this is broken into lines, this share of the page wide."""


def latex(document: Document) -> str:
    """Every table of the document, in its order, under a label made of section and number."""
    parts = [f"% {document.title}. Needs \\usepackage{{booktabs}}."]
    if document.notice:
        parts.append(f"% {document.notice}")
    for section in document.sections:
        tables = [block for block in section.blocks if isinstance(block, Table)]
        parts += [table(one, label=f"tab:{section.anchor}-{number}") for number, one in enumerate(tables, start=1)]
    return "\n\n".join(parts) + "\n"


def table(one: Table, *, label: str) -> str:
    """One table with its caption, which names the command that prints the same numbers."""
    columns = "".join(_column(one, at) for at in range(len(one.headings)))
    command = rf"(\texttt{{{escape(one.command)}}})"
    caption = " ".join([escape(one.caption), command, *(escape(note) for note in one.notes)])
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _row(one.headings),
            r"\midrule",
            *(_row(row) for row in one.rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def escape(text: str) -> str:
    """`text` with LaTeX's special characters escaped.

    >>> escape("50% of a_1 & b")
    '50\\\\% of a\\\\_1 \\\\& b'
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def _column(one: Table, at: int) -> str:
    if any(len(row[at]) > LONG for row in one.rows):
        return rf"p{{{WIDTH}\linewidth}}"
    return "l" if at < one.numeric_from else "r"


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"
