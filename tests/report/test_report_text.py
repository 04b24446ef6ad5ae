"""Tables in the terminal: nothing is never minus nothing, columns stand, and no line is longer than the terminal."""

from __future__ import annotations

import pytest
from annot.base.stats.values import Interval
from annot.publishing.report.cells import COEFFICIENT, Number
from annot.publishing.report.tables import Table
from annot.publishing.report.terminal import table_text, text_table


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


def test_without_a_terminal_nothing_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert len(text_table(HEADINGS, ROWS).splitlines()) == 4


def test_a_cell_that_holds_or_not_says_yes_or_no() -> None:
    assert text_table(["Run", "Holds"], [["one", True], ["other", False]]).splitlines()[2:] == [
        "one    yes",
        "other  no",
    ]
