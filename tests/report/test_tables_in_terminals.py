"""Tables at the width of a terminal: one table, several, or blocks of lines; where words break, and what is right."""

import pytest
from annot.base.stats.values import Interval
from annot.publishing.report import terminal
from annot.publishing.report.cells import COEFFICIENT, Number
from annot.publishing.report.terminal import aligned, bar, share_done, text_table, wrapped

FIGURE = Number(0.655, COEFFICIENT, Interval(0.54, 0.71, 0.95, "jackknife"))
"""`0.66 [0.54, 0.71]`, 17 columns, and in two lines 12."""


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return monkeypatch


def lines(columns: int, at: pytest.MonkeyPatch, headings: list[str], *rows: list[object]) -> list[str]:
    at.setattr(terminal, "width", lambda: columns)
    return text_table(headings, rows).split("\n")


def test_a_table_that_fits_to_the_last_column_has_a_line_a_row(at: pytest.MonkeyPatch) -> None:
    wide = ["x" * 30, "y" * 28]
    # 30 + 2 + 28 columns.
    assert lines(60, at, ["a", "b"], wide) == [f"a{' ' * 31}b", f"{'-' * 30}  {'-' * 28}", f"{'x' * 30}  {'y' * 28}"]
    assert len(lines(59, at, ["a", "b"], wide)) != 3


def test_below_sixty_columns_each_row_is_a_block_that_fills_its_lines(at: pytest.MonkeyPatch) -> None:
    found = lines(30, at, ["first", "b"], ["x" * 50, "y"], ["z", None])
    # The names take 5 columns, then 2, then 23.
    assert found == [f"first  {'x' * 23}", f"       {'x' * 23}", "       xxxx", "b      y", "", "first  z", "b"]


@pytest.mark.parametrize("columns", [60, 80, 100, 117])
def test_figures_that_fit_without_their_intervals_have_these_below(columns: int, at: pytest.MonkeyPatch) -> None:
    # Six figures with their intervals need 6 x 17 + 5 x 2 = 112 columns, and a name of 6; in two lines 6 + 6 x 14 = 90.
    found = lines(columns, at, ["run", *"abcdef"], ["run 17", *[FIGURE] * 6], ["run 18", *[FIGURE] * 6])
    assert max(map(len, found)) <= columns
    words = [line.split() for line in found]
    if columns < 90:
        assert words[:2] == [["run", "run", "17"], ["a", "0.66", "[0.54,", "0.71]"]]
    else:
        assert ["run", "17", *["0.66"] * 6] in words
        assert ["[0.54,", "0.71]"] * 6 in words
        assert words[0] == ["run", *"abcdef"]
        assert {*found[1].replace(" ", "")} == {"-"}


def test_without_rows_there_is_no_table(at: pytest.MonkeyPatch) -> None:
    assert lines(60, at, ["a"]) == [""]


def test_what_is_done_is_rounded_down() -> None:
    assert [share_done(*one) for one in ((0, 0), (0, 3), (2, 3), (199, 200), (3, 3))] == [
        "-",
        "0%",
        "66%",
        "99%",
        "100%",
    ]
    assert [bar(*one).count("█") for one in ((0, 0), (0, 3), (1, 20), (199, 200), (3, 3))] == [0, 0, 1, 19, 20]
    assert {len(bar(part, 7)) for part in range(8)} == {20}


def test_values_are_below_each_other_and_a_sentence_has_a_hundred_columns_at_most(at: pytest.MonkeyPatch) -> None:
    assert aligned([("a", 1), ("long", {"x": 2, "y": 3})]) == "a     1\nlong  x: 2, y: 3"
    at.setattr(terminal, "width", lambda: 500)
    assert max(map(len, wrapped("word " * 60).split("\n"))) == 99
    at.setattr(terminal, "width", lambda: 24)
    assert wrapped("one two three four five six") == "one two three four five\n  six"


@pytest.mark.parametrize("written", ["-7", "1,000", "5%", "", "< 0.001", "[0.5, 0.7]", None])
def test_what_counts_as_a_number_stands_to_the_right(written: object, at: pytest.MonkeyPatch) -> None:
    shown = "" if written is None else str(written)
    found = lines(80, at, ["n", "number of them"], ["x", written])
    assert found[0] == "n  number of them"
    assert found[2] == f"x  {shown:>14}".rstrip()
