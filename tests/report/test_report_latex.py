"""The report as LaTeX: whatever the names are, its structure holds, and pdfLaTeX makes pages of it."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import annot
import pytest
from annot.base.stats.values import Interval
from annot.publishing.report.cells import Number, Quantity
from annot.publishing.report.pages import TableAsSet, _row, escape, inline, latex
from annot.publishing.report.tables import Chapter, Document, Reply, Table
from needs import unavailable

HOSTILE = r"50% of_a & b # $x$ {y} ~z ^w \input{/etc/passwd} | <tag> \"q\" `c' -- ,, * [opt]"
LETTERS = "† ‡ Škoda Łódź naïve œuvre ß ŋ ħ 漢字 Ωμέγα α ≥ − – — … “so” ‘so’ \u200b \u0301x 😀 \x07 a\tb\nc"
PREAMBLE = r"""\documentclass[10pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern}
\usepackage{array}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage[margin=2.4cm]{geometry}
\begin{document}
\input{report}
\end{document}
"""


def document(*, rows: int = 3, notes: tuple[str, ...] = ()) -> Document:
    """Three tables with hostile text everywhere: narrow, of many words, and wider than a page."""
    wide = tuple(Number(at + 0.5, Quantity(2, 2), Interval(-at - 0.25, at + 0.75, 0.95, "")) for at in range(9))
    return Document(
        title=f"Title {HOSTILE}\nsecond line \\end{{document}}",
        subtitle=LETTERS,
        notice=HOSTILE,
        answers=(Reply(HOSTILE, LETTERS, (HOSTILE,)),),
        body=(),
        appendix=(
            Chapter(
                "one",
                f"Chapter {HOSTILE}",
                (HOSTILE, LETTERS, "95% intervals (BCa)."),
                (
                    Table(
                        "plain", "Plain. All else: below.", ("A", "B"), (("[x", "1"), ("*", "2")), "annot a --b", notes
                    ),
                    Table(
                        "hostile",
                        HOSTILE,
                        (HOSTILE, LETTERS),
                        ((LETTERS * 3, HOSTILE),) * rows,
                        HOSTILE,
                        numeric_from=2,
                    ),
                    Table(
                        "wide", "Wide.", ("Name", *map(str, range(9))), ((HOSTILE[:9], *wide),) * rows, "annot", notes
                    ),
                ),
            ),
        ),
    )


def tables(text: str) -> list[tuple[str, list[str]]]:
    """The columns of each table and its rows, from `\\toprule` to the end."""
    found = []
    for kind in ("tabular", "longtable"):
        for match in re.finditer(rf"\\begin{{{kind}}}(.*?)\\end{{{kind}}}", text, re.DOTALL):
            first, _, rest = match[1].partition("\n")
            lines = [line for line in rest.splitlines() if line.endswith(r"\\") and not line.startswith(r"\caption")]
            found.append((first, lines))
    return found


def columns_of(specification: str) -> int:
    return len(re.findall(r"(?:l|r|p)(?=>|}$)", re.sub(r"p\{[^{}]*\}", "p", specification)))


def unescaped(text: str, letter: str) -> int:
    return len(re.findall(rf"(?<!\\){re.escape(letter)}", text))


@pytest.mark.parametrize("rows", [0, 1, 3, 80])
def test_environments_are_balanced_and_every_row_has_as_many_cells_as_columns(rows: int) -> None:
    text = latex(document(rows=rows))
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", re.sub(r"^%.*$", "", text, flags=re.MULTILINE)):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    found = tables(text)
    assert sorted(columns_of(of) for of, _ in found) == [2, 2, 10]
    for of, lines in found:
        assert lines
        assert {unescaped(line, "&") + 1 for line in lines} == {columns_of(of)}
    assert unescaped(text, "{") == unescaped(text, "}")


def test_nothing_in_a_name_is_a_command() -> None:
    text = escape(HOSTILE)
    for letter in "%&#$_":
        assert unescaped(text, letter) == 0
    assert not re.search(r"\\input|[~^<>|`\"]", text)
    assert "--" not in text
    assert inline("made by `annot_x --y`, or not") == r"made by \texttt{annot\_x -{}-y}, or not"
    assert escape("ordinary (words), 0.5") == "ordinary (words), 0.5"
    assert escape("漢") == r"\annotchar{6F22}"
    assert escape("e\u0301") == "é"
    # What stands in a comment cannot leave it.
    first = latex(document()).splitlines()[0]
    assert first.startswith("% Title")
    assert r"\end{document}" in first


@pytest.fixture(scope="module")
def pdflatex() -> str:
    """The program that makes pages of it."""
    program = shutil.which("pdflatex")
    fonts = program and subprocess.run(["kpsewhich", "lmodern.sty"], capture_output=True, check=False).returncode == 0
    if program is None or not fonts:
        unavailable("no pdflatex; on Debian: apt-get install texlive-latex-recommended lmodern")
    return program


def test_pdflatex_makes_pages_of_it(tmp_path: Path, pdflatex: str) -> None:
    (tmp_path / "main.tex").write_text(PREAMBLE, encoding="utf-8")
    (tmp_path / "report.tex").write_text(latex(document(rows=80)), encoding="utf-8")
    for _ in range(2):
        done = subprocess.run(
            [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "main.tex"], cwd=tmp_path, capture_output=True
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "main.pdf").stat().st_size > 10_000


TOOLKIT = Path(annot.__file__).parents[1]


def signs_written() -> set[str]:
    """Every sign in the texts of the program: strings without docstrings, and templates. What it reads of papers and
    shows to assessors in their languages is no text of its own, and `pages.py` has the table of letters itself."""
    texts = [path.read_text(encoding="utf-8") for path in TOOLKIT.rglob("*.j2")]
    for path in TOOLKIT.rglob("*.py"):
        if "formats" not in path.parts and path.name != "pages.py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            texts += [
                node.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
            ]
    # The marks of damaged text are looked for, and never written.
    damage = {"\ufffd", *map(chr, range(0xD800, 0xE000))}
    return {letter for text in texts for letter in text if ord(letter) > 0x7E} - damage


def test_every_letter_and_sign_has_a_glyph(tmp_path: Path, pdflatex: str) -> None:
    kept = [chr(code) for code in range(0x20, 0x250) if escape(chr(code)) == chr(code) and not chr(code).isspace()]
    assert {"é", "Š", "ł", "ß"} <= set(kept)
    signs = sorted(signs_written())
    assert {"°", "±", "–"} <= set(signs)
    assert not [sign for sign in signs if "annotchar" in escape(sign)]
    (tmp_path / "main.tex").write_text(PREAMBLE, encoding="utf-8")
    (tmp_path / "report.tex").write_text(" ".join([*kept, *map(escape, signs)]), encoding="utf-8")
    done = subprocess.run(
        [pdflatex, "-interaction=nonstopmode", "main.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert "Unicode character" not in done.stdout.decode(errors="replace")


def table(*rows: list[object], names: int = 1, caption: str = "A table.", notes: tuple[str, ...] = ()) -> Table:
    headings = tuple("H" for _ in rows[0]) if rows else ("H",)
    return Table("t", caption, headings, tuple(map(tuple, rows)), "annot report", notes, names)


def made(one: Table) -> TableAsSet:
    return TableAsSet(one, "tab:t", False)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 50%", r"a\_b \& 50\%"),
        ("a\tb\n c\u200d", "a b c"),
        ("don't 'x'", r"don't \textquotesingle{}x'"),
        ("--- ,,", r"-{}-{}- ,{},"),
        ("\u4e2d", r"\annotchar{4E2D}"),
        ("e\u0301", "\u00e9"),
    ],
)
def test_text_is_escaped_to_one_line(text: str, latex: str) -> None:
    assert escape(text) == latex


@pytest.mark.parametrize(("cells", "start"), [(["[1, 2]", "b"], "{}["), (["*", "b"], "{}*"), (["a", "[b"], "a & [")])
def test_a_row_that_begins_like_an_option_is_none(cells: list[str], start: str) -> None:
    assert _row(cells).startswith(start)
    assert _row(cells).endswith(r" \\")
