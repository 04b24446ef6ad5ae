"""Figures in tables: nothing is never minus nothing, and text tables keep their columns."""

from __future__ import annotations

import pytest
from annot.report.document import number, rows_of
from annot.report.text import text_table, without_minus_zero


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
    assert rows_of([[text]]) == ((expected,),)
    assert text_table(["a"], [[text]]).splitlines()[-1] == expected


def test_a_small_negative_number_is_printed_as_zero() -> None:
    assert number(-0.004) == "0.00"
    assert number(-0.006) == "-0.01"


def test_intervals_below_figures_stand_to_the_right_as_they_do() -> None:
    shown = text_table(["run", "measure"], [["one", "3.14"], ["", "[1.00, 5.00]"]])
    assert shown.splitlines()[-2:] == ["one          3.14", "     [1.00, 5.00]"]
