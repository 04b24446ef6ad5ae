"""Tables as a person sees them in a terminal: where words break, what stands to the right, when a row is a block."""

from __future__ import annotations

import pytest
from annot.publishing.report import terminal
from annot.publishing.report.terminal import text_table, without_minus_zero, wrapped


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return monkeypatch


def lines(columns: int, at: pytest.MonkeyPatch, headings: list[str], *rows: list[object]) -> list[str]:
    at.setattr(terminal, "width", lambda: columns)
    return text_table(headings, rows).split("\n")


def test_a_word_with_a_hyphen_goes_to_the_next_line_whole(at: pytest.MonkeyPatch) -> None:
    at.setattr(terminal, "width", lambda: 16)
    assert wrapped("one two near-duplicate x") == "one two\n  near-duplicate\n  x"


@pytest.mark.parametrize(
    "written", ["7", "-7", "1,000", "5%", "0.25", "-", "–", "", "< 0.001", "[0.5, 0.7]", None, 3, 0.5]
)
def test_what_counts_as_a_number_stands_to_the_right(written: object, at: pytest.MonkeyPatch) -> None:
    shown = "" if written is None else str(written)
    found = lines(80, at, ["n", "number of them"], ["x", written])
    assert found[0] == "n  number of them"
    assert found[2] == f"x  {shown:>14}".rstrip()


@pytest.mark.parametrize("written", ["a", "< 1", "[0.5", "7a", "1 of 3", True, False])
def test_what_is_no_number_stands_to_the_left(written: object, at: pytest.MonkeyPatch) -> None:
    shown = {True: "yes", False: "no"}[written] if isinstance(written, bool) else str(written)
    assert lines(80, at, ["n", "number of them"], ["x", written])[2] == f"x  {shown}"


def test_a_column_of_numbers_with_one_word_is_a_column_of_words(at: pytest.MonkeyPatch) -> None:
    assert lines(80, at, ["number"], ["7"], ["seven"]) == ["number", "------", "7", "seven"]


def test_wrapped_rows_have_an_empty_line_between_them_and_two_columns_between_cells(at: pytest.MonkeyPatch) -> None:
    found = lines(60, at, ["words", "two words", "c"], *([f"{'a' * 30} {'b' * 30}", n, "x"] for n in (7, 12)))
    # The heading of a column of numbers breaks at its blanks. 60 columns less 5, 1, and a blank behind each of three
    # cells and between them leave 49 for the words.
    assert found == [
        f"{' ' * 53}two",
        f"words{' ' * 46}words  c",
        f"{'-' * 50} {'-' * 6} --",
        f"{'a' * 30}{' ' * 25}7  x",
        "b" * 30,
        "",
        f"{'a' * 30}{' ' * 24}12  x",
        "b" * 30,
    ]


@pytest.mark.parametrize(("longest", "block"), [(54, False), (55, False), (56, True)])
def test_a_word_that_does_not_fit_beside_the_numbers_makes_blocks(
    longest: int, block: bool, at: pytest.MonkeyPatch
) -> None:
    # Of 60 columns two cells keep 2 each, and the number keeps 1.
    found = lines(60, at, ["w", "n"], ["x" * longest + " and more", 7])
    assert found[0].startswith("w  x") is block
    assert any(line.endswith(" 7") and "x" in line for line in found) is not block


@pytest.mark.parametrize(("longest", "block"), [(26, False), (27, True)])
def test_columns_of_words_share_what_is_left(longest: int, block: bool, at: pytest.MonkeyPatch) -> None:
    # 60 columns less 2 for each of three cells and 1 for the number: 53 for two columns of words.
    text = "x" * longest + " and more"
    found = lines(60, at, ["v", "w", "n"], [text, text, 7])
    assert (found[0].split()[0] == "v" and "x" in found[0]) is block
    if not block:
        assert max(map(len, found)) <= 60
        assert found[0].split() == ["v", "w", "n"]


def test_a_line_of_a_block_has_no_blank_line_within_and_none_at_its_sides(at: pytest.MonkeyPatch) -> None:
    found = lines(59, at, ["name", "n"], ["one two " * 8, 7], ["three", 8])
    assert found[0].startswith("name  one two")
    assert found[1].startswith("      ")
    assert found[1][6] != " "
    assert found[2:] == ["n     7", "", "name  three", "n     8"]
    assert max(map(len, found)) <= 59


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *(
            ("-0.00", "0.00"),
            ("−0.0", "0.0"),
            ("-0.01", "-0.01"),
            ("1-0.00", "1-0.00"),
            ("[-0.00, 0.1]", "[0.00, 0.1]"),
        ),
        *(("v.-0.0", "v.-0.0"), ("-0.00.1", "-0.00.1"), ("-0.00x", "-0.00x")),
    ],
)
def test_minus_nothing_is_nothing(text: str, shown: str) -> None:
    assert without_minus_zero(text) == shown
