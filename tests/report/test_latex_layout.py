"""How a table is laid out in LaTeX: its size, its paragraphs, whether it floats, and what is below it."""

import re

import pytest
from annot.base.stats.values import Interval
from annot.publishing.report.cells import COEFFICIENT, Number
from annot.publishing.report.pages import TableAsSet, _row, escape, inline, latex
from annot.publishing.report.tables import Chapter, Document, Table

FIGURE = Number(0.655, COEFFICIENT, Interval(0.54, 0.71, 0.95, "jackknife"))


def table(*rows: list[object], names: int = 1, caption: str = "A table.", notes: tuple[str, ...] = ()) -> Table:
    headings = tuple("H" for _ in rows[0]) if rows else ("H",)
    return Table("t", caption, headings, tuple(map(tuple, rows)), "annot report", notes, names)


def made(one: Table) -> TableAsSet:
    return TableAsSet(one, "tab:t", False)


@pytest.mark.parametrize(
    ("widths", "names", "size"),
    [
        # A line of 16 cm holds 94, 102, 110 and 130 digits; between two columns are 1.5.
        ((22, 22, 22, 22), 4, "small"),
        ((23, 22, 22, 22), 4, "footnotesize"),
        ((24, 24, 24, 24), 4, "footnotesize"),
        ((24, 24, 24, 25), 3, "scriptsize"),
        ((24, 24, 24, 32), 3, "scriptsize"),
        ((24, 24, 24, 33), 3, "tiny"),
        ((24, 24, 24, 45), 3, "tiny"),
        ((24, 24, 45, 45), 2, "tiny"),
    ],
)
def test_the_largest_letters_with_which_a_table_fits_are_taken(widths: tuple[int, ...], names: int, size: str) -> None:
    found = made(table(["x" * width for width in widths], names=names))
    assert found.size == size
    assert found.columns.count(rf"\{size}") == len(widths)


def test_narrow_letters_take_about_half_the_room() -> None:
    assert made(table(["i" * 43, 1])).columns == r">{\small}l>{\small}r"
    assert "raggedright" in made(table(["i" * 44, 1])).columns


@pytest.mark.parametrize(
    ("row", "paragraphs"),
    [
        (["x" * 24, 1], [False, False]),
        (["x" * 25, 1], [True, False]),
        (["x", "y" * 45], [False, False]),
        (["x", "y" * 46], [False, True]),
    ],
)
def test_long_words_are_set_as_paragraphs_and_numbers_only_where_a_reason_is(
    row: list[object], paragraphs: list[bool]
) -> None:
    columns = made(table(row)).columns.split(">")[1:]
    assert ["raggedright" in column for column in columns] == paragraphs
    assert columns[0].endswith("l") or paragraphs[0]
    assert columns[1].endswith("r") or paragraphs[1]


def test_paragraphs_share_what_the_others_leave_of_the_line() -> None:
    # A line has 94 digits at this size; a number of 4 with its gap takes 5.5.
    columns = made(table(["x" * 60, "y" * 30, 1234], names=2)).columns
    parts = [float(part.split("{")[-1]) for part in columns.split(r"\linewidth")[:-1]]
    assert sum(parts) == pytest.approx(0.94 - 5.5 / 94, abs=0.01)
    assert parts[0] == pytest.approx(2 * parts[1], abs=0.02)
    # A short one takes no more than it needs.
    columns = made(table(["x" * 30, 1234])).columns
    assert r"p{0.34\linewidth}" in columns


def test_intervals_are_below_their_figures_where_a_table_is_too_wide() -> None:
    assert len(made(table(["x", *[FIGURE] * 5])).rows) == 1
    found = made(table(["x" * 20, *[FIGURE] * 6]))
    assert found.rows == (("x" * 20, *["0.66"] * 6), ("", *["[0.54, 0.71]"] * 6))
    plain = made(table(["x" * 20, *["y" * 18] * 6]))
    assert len(plain.rows) == 1


@pytest.mark.parametrize(("n", "note", "floats"), [(30, 1, True), (31, 1, False), (3, 1464, True), (3, 1465, False)])
def test_a_table_floats_if_a_page_surely_holds_it(n: int, note: int, floats: bool) -> None:
    # Thirty lines, and 1500 characters below it, of which the command takes its part.
    command = r"Made by \texttt{annot report}."
    found = made(table(*[["x", 1]] * n, notes=("n" * (note + 1500 - 1464 - len(command)),)))
    assert found.below[-1] == command
    assert found.floats is floats


@pytest.mark.parametrize(
    ("caption", "title", "below"),
    [
        ("One sentence.", "One sentence.", []),
        ("One sentence. And more. And more.", "One sentence.", ["And more. And more."]),
        ("A title: with its list.", "A title.", ["With its list."]),
        ("A title; its rest.", "A title.", ["Its rest."]),
    ],
)
def test_a_caption_is_its_first_sentence(caption: str, title: str, below: list[str]) -> None:
    found = made(table(["x", 1], caption=caption, notes=("a `note`",)))
    assert found.title == title
    assert found.below[:-1] == [*below, r"a \texttt{note}"]


def test_tables_are_numbered_in_their_section() -> None:
    chapter = Chapter("runs", "Runs", (), (table(["x", 1]), table(["y", 2])))
    text = latex(Document("T", "", body=(chapter,)))
    assert re.findall(r"\\label{(.*?)}", text) == ["tab:runs-1", "tab:runs-2"]


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


def test_blanks_beside_what_is_typed_stay() -> None:
    assert inline("run `a_b` now") == r"run \texttt{a\_b} now"
    assert inline("`a` `b`") == r"\texttt{a} \texttt{b}"
    assert inline("`a`") == r"\texttt{a}"
    assert inline(" x ") == " x "


@pytest.mark.parametrize(("cells", "start"), [(["[1, 2]", "b"], "{}["), (["*", "b"], "{}*"), (["a", "[b"], "a & [")])
def test_a_row_that_begins_like_an_option_is_none(cells: list[str], start: str) -> None:
    assert _row(cells).startswith(start)
    assert _row(cells).endswith(r" \\")
