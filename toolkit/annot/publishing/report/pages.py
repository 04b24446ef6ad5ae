"""Files of the report: HTML, Markdown, LaTeX and JSON."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from annot.base.names import sha256_of
from annot.base.stats.values import Undefined
from annot.base.templating import converter, packaged_table, render
from annot.measuring.measured import AGREEMENT_FILE, EFFECT_FILE, EVALUATION_FILE, as_text, evaluation_data
from annot.publishing.report.cells import parts, text
from annot.publishing.report.figures import described
from annot.publishing.report.sections.whole import document
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Document, Table
from annot.publishing.report.tables import inline as inline_markup
from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# The report as LaTeX to `\input` in a paper: answers, sections and tables, without the drawings.
#
# Short tables float; a table that a page may not hold is a `longtable`. A caption is one sentence: all further
# notes are below the table. Compiles with pdfLaTeX, XeLaTeX and LuaLaTeX; the packages it needs are listed at the top.
# ----------------------------------------------------------------------------------------------------------------------


LONGEST_FLOAT = 30
"""Lines of a table that surely fit on one page; more become a `longtable`."""
LONGEST_NOTES = 1500
"""Characters below a table that still float with it; more would break the page, or not break at all."""
PROSE = 24
"""Characters from which on a column of names or words is set as a paragraph."""


_SPECIAL: dict[str, str] = packaged_table("latex.toml")
"""Characters with a meaning of their own in LaTeX, and every symbol that this program writes."""
_TYPED = re.compile("`([^`]+)`")
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w|\s|$)")
_LIGATURE = re.compile(r"([-,])(?=\1)")
"""Two hyphens or commas in a row, of which TeX makes one character."""
_IN_T1 = frozenset(map(chr, [*range(0x20, 0x7F), *range(0xC0, 0x17F)])) - frozenset("×÷ĦħĿŀŊĸŉŦŧ")
"""Letters that every LaTeX prints with the font encoding T1."""


SIZES = {"small": 94, "footnotesize": 102, "scriptsize": 110, "tiny": 130}
"""Sizes of letters, and the digits of each on a line of 16 cm."""
NARROW = frozenset(".,:;'|()[]!ijlt ")
"""Letters that take about half the room of a digit."""
REASON = 45
"""Widest column of numbers in which a reason may take the place of a missing one, in letters."""
GAP = 1.5
"""Digits between two columns."""
NARROWEST = 0.2
"""Share of a line that a column of words has at least."""


def latex(document: Document) -> str:
    """The document in its order; every table has a label made of section and number."""
    return latex_of("report.tex.j2", document=document)


def latex_of(template: str, **values: object) -> str:
    """Another template of LaTeX, with the same helpers."""
    helpers = {"set": TableAsSet, "line": _row, "braced": lambda text: f"{{{escape(text)}}}", "escape": escape}
    return render(template, {**helpers, "inline": inline, **values}, overrides=None).rstrip("\n") + "\n"


class TableAsSet:
    """A table as `report.tex.j2` sets it, in text that is LaTeX.

    Its caption is one sentence; below it are the rest of the caption, the notes, and the command.
    """

    def __init__(self, table: Table, label: str, precise: bool) -> None:
        self.of, self.label = table, label
        self.rows = tuple(tuple(text(cell, precise=precise) for cell in row) for row in table.rows)
        if self._width > SIZES["scriptsize"]:
            self.rows = tuple(line for row in table.rows for line in _intervals_below(row, precise=precise))
        self.size = next((size for size, room in SIZES.items() if self._width <= room), "tiny")
        self.title, rest = _first_sentence(table.caption)
        self.below = [inline(note) for note in (*([rest] if rest else []), *table.notes)]
        if table.command:
            self.below.append(rf"Made by \texttt{{{escape(table.command)}}}.")
        self.floats = len(self.rows) <= LONGEST_FLOAT and sum(map(len, self.below)) <= LONGEST_NOTES

    @property
    def columns(self) -> str:
        """Names to the left, numbers to the right; columns of many words share the line that the others leave.

        The size is set in each column, not around the table: the caption of a `longtable` would shrink with it.
        """
        widths, room = self._widths, SIZES[self.size]
        prose = [column for column, width in enumerate(widths) if width > self._widest(column)]
        of_prose = sum(widths[column] for column in prose)
        of_numbers = sum(width + GAP for column, width in enumerate(widths) if column not in prose)
        free = max(NARROWEST, min(0.94 - of_numbers / room, (of_prose + GAP) / room))
        columns = []
        for column, width in enumerate(widths):
            if column in prose:
                part = rf"{free * width / of_prose:.2f}\linewidth"
                columns.append(rf">{{\{self.size}\raggedright\arraybackslash}}p{{{part}}}")
            else:
                columns.append(rf">{{\{self.size}}}{'l' if column < self.of.numeric_from else 'r'}")
        return "".join(columns)

    @property
    def _width(self) -> float:
        """Width in digits; for a column of words `PROSE` is enough."""
        return sum(min(self._widest(column), width) + GAP for column, width in enumerate(self._widths))

    @property
    def _widths(self) -> list[float]:
        """The width of each column in digits."""
        lines = (self.of.headings, *self.rows)
        return [
            max(sum(0.55 if letter in NARROW else 1.0 for letter in line[column]) for line in lines)
            for column in range(len(self.of.headings))
        ]

    def _widest(self, column: int) -> int:
        """Width in digits from which a column is set as a paragraph: of numbers only if words are among them."""
        return PROSE if column < self.of.numeric_from else REASON


def _intervals_below(row: Sequence[object], *, precise: bool) -> list[tuple[str, ...]]:
    """The row without its intervals, and under it a row of these."""
    figures, intervals = zip(*(parts(cell, precise=precise) for cell in row), strict=True)
    return [figures, intervals] if any(intervals) else [figures]


def _first_sentence(text: str) -> tuple[str, str]:
    first, _, rest = re.sub(r"(?<=[.:;]) ", "\0", text, count=1).partition("\0")
    if not rest:
        return first, ""
    return re.sub("[:;]$", ".", first), rest[0].upper() + rest[1:]


def _row(cells: Sequence[str]) -> str:
    line = " & ".join(escape(cell) for cell in cells)
    # After the end of a row LaTeX takes a star or a bracket for a part of its command.
    return f"{'{}' if line.startswith(('[', '*')) else ''}{line} \\\\"


def escape(text: str) -> str:
    r"""`text` as one line that LaTeX prints as it is; control characters are blanks.

    >>> escape("50% of a_1 & b")
    '50\\% of a\\_1 \\& b'
    >>> escape("don't --help")
    "don't -{}-help"
    """
    letters = unicodedata.normalize("NFC", text)
    line = " ".join(
        "".join(" " if unicodedata.category(letter) in ("Cc", "Cf") else letter for letter in letters).split()
    )
    # An apostrophe within or after a word is the one that LaTeX prints by itself.
    escaped = "'".join("".join(map(_letter, part)) for part in _APOSTROPHE.split(line))
    return _LIGATURE.sub(r"\1{}", escaped)


def inline(text: str) -> str:
    r"""A sentence in which text between backticks is set as code.

    >>> inline("made by `annot qrels`")
    'made by \\texttt{annot qrels}'
    """
    parts = _TYPED.split(text)
    return "".join(
        rf"\texttt{{{escape(part)}}}" if position % 2 else _escaped_with_ends(part)
        for position, part in enumerate(parts)
    )


def _escaped_with_ends(text: str) -> str:
    """Escaped, with the spaces at both ends that `escape` takes away."""
    body = escape(text)
    if not body:
        return " " if text else ""
    return f"{' ' if text[:1] == ' ' else ''}{body}{' ' if text[-1:] == ' ' else ''}"


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    return letter if letter in _IN_T1 else rf"\annotchar{{{ord(letter):04X}}}"


# ----------------------------------------------------------------------------------------------------------------------
# The files of the report: the page, the same as Markdown, its tables as LaTeX, and what was measured as JSON.
# ----------------------------------------------------------------------------------------------------------------------


REPORT_FILE = "report.html"
QRELS = "exports/qrels.txt"
CHAIN = (
    "corpus/manifest.json",
    "corpus/ids/manifest.json",
    "corpus/citations/manifest.json",
    "pools/rankings/manifest.json",
    "pools/manifest.json",
    "pools/plan.jsonl",
    "exports/decisions.jsonl",
    QRELS,
    "exports/query_papers.tsv",
    "exports/query_topics.tsv",
    "exports/agreement.json",
    "exports/evaluation.json",
    "exports/assessor-effect.json",
)


def report_files(study: Study) -> dict[str, str]:
    """Files of the report by name; without qrels and runs the evaluation is left out, and the page says so.

    Nothing is written here, so a fault in a template leaves every file as it was.
    """
    ws = study.snapshot.ws
    files = {AGREEMENT_FILE: as_text(study.agreement)}
    if not isinstance(study.evaluated, Undefined):
        files[EVALUATION_FILE] = as_text(evaluation_data(study.evaluated))
    if not isinstance(study.effect, Undefined):
        files[EFFECT_FILE] = as_text(study.effect)
    report = document(study, chain=tuple(_chain(study.snapshot, files)))
    pages = {"report.md": markdown(report), "report.tex": latex(report)}
    return files | pages | {REPORT_FILE: page(report, overrides=ws.root / "templates")}


def _chain(snapshot: Snapshot, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Hash of every file of the chain when it is written; for a version of the corpus, only its own files."""
    of_version = (QRELS, *CHAIN[-3:])
    for name in of_version if snapshot.version else CHAIN:
        path = snapshot.qrels_file if name == QRELS else snapshot.ws.root / name
        page = files.get(path.name)
        if page is not None:
            yield name, hashlib.sha256(page.encode()).hexdigest()
        elif path.is_file():
            yield name, sha256_of(path)


def page(document: Document, *, overrides: Path | None) -> str:
    """The page. `overrides` is a folder whose `report.html.j2` wins over the package's."""
    helpers: dict[str, Any] = {"inline": inline_markup, "parts": parts, "described": described, "formatted": formatted}
    # `language` is for templates of studies that were made with 1.0.
    values = {"document": document, **dict.fromkeys(("page_language", "language"), document.language), **helpers}
    return render("report.html.j2", values, overrides=overrides)


def formatted(text: str) -> Markup:
    """Markdown as HTML; a single paragraph without its tag."""
    made = converter(extensions=["sane_lists"], output_format="html").convert(text)
    return Markup(
        made.removeprefix("<p>").removesuffix("</p>") if made.count("<p>") == 1 and made.endswith("</p>") else made
    )


def markdown(document: Document) -> str:
    """The document as Markdown with pipe tables."""
    helpers = {"marks": _marks, "texts": _texts}
    return render("report.md.j2", {"document": document, **helpers}, overrides=None).rstrip("\n") + "\n"


def _marks(table: Table) -> list[str]:
    """Names to the left, numbers to the right."""
    return ["---" if column < table.numeric_from else "---:" for column in range(len(table.headings))]


def _texts(row: tuple[object, ...], precise: bool) -> list[str]:
    return [" ".join(text(cell, precise=precise).replace("|", "\\|").split()) for cell in row]
