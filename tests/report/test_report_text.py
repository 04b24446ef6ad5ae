"""Tables in the terminal: nothing is never minus nothing, columns stand, and no line is longer than the terminal."""

from __future__ import annotations

import pytest
from annot.base.stats.values import Interval
from annot.publishing.report.cells import COEFFICIENT, Number, Quantity
from annot.publishing.report.tables import Table
from annot.publishing.report.terminal import table_text, text_table, without_minus_zero


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-0.00", "0.00"),
        ("-0.00 [-0.00, 0.10]", "0.00 [0.00, 0.10]"),
        ("-0.0%", "0.0%"),
        ("−0.0000", "0.0000"),
        ("-0.01", "-0.01"),
        ("-0.001", "-0.001"),
        ("p-0.00", "p-0.00"),
        ("1.-0.0", "1.-0.0"),
        ("-0.00.1", "-0.00.1"),
        ("2031-0", "2031-0"),
    ],
)
def test_a_figure_rounded_to_minus_nothing_is_nothing(text: str, expected: str) -> None:
    assert without_minus_zero(text) == expected
    assert text_table(["a"], [[text]]).splitlines()[-1] == expected


def figure(value: float) -> object:
    return Number(value, COEFFICIENT, Interval(value - 0.1, value + 0.1, 0.95, "bca"))


HEADINGS = ("Facet", "Adjudication", "Spearman's rho", "Krippendorff's alpha (ordinal)", "Cohen's kappa", "Reason")
ROWS = tuple(
    (
        facet,
        "before",
        figure(0.3),
        figure(0.4),
        figure(0.5),
        "one assessor gave one and the same grade to all pairs " * 2,
    )
    for facet in ("background", "a facet with a long name")
)


@pytest.mark.parametrize("columns", [30, 50, 72, 80, 100, 140, 400])
def test_no_line_is_longer_than_the_terminal_and_nothing_is_lost(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = table_text(Table("t", "A caption that is rather long, " * 4, HEADINGS, ROWS, "annot", ("A note.",), 2))
    assert max(map(len, shown.splitlines())) <= columns
    words = [word for row in ROWS for cell in row for word in str(cell).split()]
    assert all(shown.count(word) >= words.count(word) for word in set(words))
    for heading in HEADINGS:
        assert all(word in shown for word in heading.split())


def test_in_a_wide_terminal_a_row_is_a_line_and_a_number_stands_to_the_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    lines = text_table(
        ("run", "measure"), [("one", Number(3.14, Quantity(2, 2))), ("another", Number(10.5, Quantity(2, 2)))]
    )
    assert lines.splitlines() == ["run      measure", "-------  -------", "one         3.14", "another    10.50"]


def test_at_eighty_columns_intervals_go_below_their_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = text_table(HEADINGS[:5], [row[:5] for row in ROWS[:1]]).splitlines()
    assert lines[-2].split() == ["background", "before", "0.30", "0.40", "0.50"]
    assert lines[-1].split("  ")[-1].strip() == "[0.40, 0.60]"


def test_without_a_terminal_nothing_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert len(text_table(HEADINGS, ROWS).splitlines()) == 4


def test_a_cell_that_holds_or_not_says_yes_or_no() -> None:
    assert text_table(["Run", "Holds"], [["one", True], ["other", False]]).splitlines()[2:] == [
        "one    yes",
        "other  no",
    ]
