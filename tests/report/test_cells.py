"""One way to print a number: digits by its interval, or as published, and nothing outside what is possible."""

import re

import pytest
from annot.base.stats.values import Interval, Undefined
from annot.base.words import read_words
from annot.publishing.report.cells import (
    COEFFICIENT,
    GRADES,
    HOURS,
    MEASURE,
    PERCENTAGE,
    POINTS,
    SHARE,
    Number,
    Quantity,
    decimals,
    p_value,
)
from hypothesis import given
from hypothesis import strategies as st


def interval(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, "jackknife")


@pytest.mark.parametrize(
    ("error", "shown"),
    # Particle Data Group 2022, Review of Particle Physics, section 5.3: 0.827 with errors 0.119 and 0.367; 0.827±0.119
    # is 0.83±0.12, 0.827±0.367 is 0.8±0.4.
    [(0.119, 2), (0.367, 1), (0.0354, 3), (0.0355, 2), (4.5, 0), (1.2, 1), (120.0, 0)],
)
def test_digits_follow_the_rule_of_the_particle_data_group(error: float, shown: int) -> None:
    assert decimals(error) == shown


def test_figure_and_ends_have_the_same_digits() -> None:
    assert str(Number(0.6551, COEFFICIENT, interval(0.54, 0.71))) == "0.66 [0.54, 0.71]"
    assert str(Number(0.436, SHARE, interval(0.396, 0.4863))) == "44% [40, 49]"
    assert str(Number(0.8148, COEFFICIENT, interval(0.80, 0.84))) == "0.815 [0.800, 0.840]"


def test_marks_are_those_of_the_language_of_the_page() -> None:
    german = read_words("de", overrides=None)
    assert str(Number(0.6551, COEFFICIENT, interval(0.54, 0.71), say=german)) == "0,66 [0,54; 0,71]"
    assert str(Number(0.5, COEFFICIENT, interval(-0.9, 0.99), say=german)).endswith(" [–]")
    assert str(Number(1234.5, HOURS, say=german)) == "1.234,5"
    assert str(Number(1234.5, HOURS, say=read_words("zh", overrides=None))) == "1,234.5"


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.002, 0.098, "+5.0 [0.2, 9.8]"),
        (-0.098, -0.002, "-5.0 [-9.8, -0.2]"),
        (0.0003, 0.0997, "+5.00 [0.03, 9.97]"),
        (-0.002, 0.102, "+5 [0, 10]"),
    ],
)
def test_the_interval_of_a_difference_that_excludes_0_reads_so(low: float, high: float, shown: str) -> None:
    assert str(Number((low + high) / 2, POINTS, interval(low, high))) == shown


def test_published_precision_is_kept_where_it_is_asked_for() -> None:
    found = Number(0.6551, COEFFICIENT, interval(0.53819, 0.71364))
    assert found.text(precise=True) == "0.6551 [0.5382, 0.7136]"
    assert Number(57.0712, PERCENTAGE).text(precise=True) == "57.07"
    assert Number(0.24811, MEASURE, interval(0.18, 0.31)).text(precise=True) == "24.81 [18.00, 31.00]"


def test_no_figure_has_more_digits_than_were_published() -> None:
    assert str(Number(0.5, SHARE, interval(0.4999, 0.5001))) == "50.0% [50.0, 50.0]"


@given(st.floats(-1, 1), st.floats(-4, 4), st.floats(0.001, 4))
def test_no_interval_leaves_what_is_possible_and_digits_never_differ(value: float, middle: float, half: float) -> None:
    shown = str(Number(value, COEFFICIENT, interval(middle - half, middle + half)))
    found = re.findall(r"-?\d+\.?\d*", shown)
    assert len({len(one.partition(".")[2]) for one in found}) == 1
    assert all(-1 <= float(one) <= 1 for one in found)


def test_an_interval_without_width_is_none() -> None:
    assert str(Number(100.0, PERCENTAGE, interval(100.0, 100.0))) == "100"


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [(COEFFICIENT, -0.8, 0.8), (SHARE, 0.1, 0.9), (MEASURE, -0.4, 0.8), (PERCENTAGE, 20.0, 100.0)],
)
def test_an_interval_over_four_fifths_of_its_scale_is_read_as_too_wide(kind: Quantity, low: float, high: float) -> None:
    found, wider = (Number(high / 2, kind, interval(low, end)) for end in (high, high * 1.01))
    if kind is PERCENTAGE:
        wider = Number(50.0, kind, interval(19.9, high))
    assert (found.bracketed, found.lacking, "[" in str(found)) == (True, None, True)
    assert not wider.bracketed
    assert wider.lacking is not None
    assert wider.lacking.reason == "it would cover more than 80% of the scale"
    assert {wider.parts(precise=precise)[1] for precise in (False, True)} == {"(interval too wide)"}
    assert wider.interval is not None, "data keep it"


def test_a_figure_without_a_scale_keeps_the_widest_interval() -> None:
    assert str(Number(0.5, GRADES, interval(-9.0, 9.0))) == "0 [-9, 9]"


def test_no_value_is_a_dash_and_keeps_no_interval() -> None:
    assert str(Number(Undefined("no"), COEFFICIENT, interval(0, 1))) == "–"
    assert str(Number(None, SHARE)) == "–"


def test_zero_has_no_sign() -> None:
    assert str(Number(-0.00001, COEFFICIENT)) == "0.00"
    assert str(Number(0.5, COEFFICIENT, interval(-0.001, 0.97))) == "0.5 [0.0, 1.0]"
    assert [str(Number(value, GRADES)) for value in (-0.001, 0.0, 0.004, -0.02, 0.02)] == [
        "0.00",
        "0.00",
        "0.00",
        "-0.02",
        "+0.02",
    ]


def test_what_a_figure_rests_on_stands_behind_it() -> None:
    found = Number(0.5, COEFFICIENT, interval(0.3, 0.7), after="(1 of 3 queries)")
    assert str(found) == "0.50 [0.30, 0.70] (1 of 3 queries)"
    assert found.parts(precise=False) == ("0.50", "[0.30, 0.70] (1 of 3 queries)")


def test_p_values_are_never_zero() -> None:
    assert [p_value(value) for value in (0.5, 0.0123, 0.001, 0.0004, 0.0)] == [
        "0.5",
        "0.012",
        "0.001",
        "< 0.001",
        "< 0.001",
    ]
    assert p_value(Undefined("no")) == "–"


def test_a_number_is_its_text_in_a_sentence() -> None:
    assert f"{Number(1.25, Quantity(2, 1))} hours" == "1.2 hours"
