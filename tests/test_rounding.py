"""Figures keep the digits that they bear, wherever they stand in a result."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from annot.base.stats.values import Interval, Undefined, rounded


class Both(NamedTuple):
    low: float
    high: float


def test_what_differs_in_the_last_bits_is_the_same_afterwards() -> None:
    for value in (0.1 + 0.2, 100 / 3, 1e9 / 7, -2e-7 / 3, float(np.float64(20.125))):
        for neighbour in (math.nextafter(value, -math.inf), math.nextafter(value, math.inf)):
            assert rounded(neighbour) == rounded(value)
        assert math.isclose(rounded(value), value, rel_tol=1e-9)


def test_what_is_left_of_a_sum_that_cancels_out_is_nothing() -> None:
    assert str(rounded(0.1 + 0.2 - 0.3)) == str(rounded(-1e-16)) == "0.0"


def test_every_number_of_a_record_is_rounded_and_nothing_else_changes() -> None:
    third, cut = 1 / 3, 0.3333333333
    found = rounded(
        {"a": [Interval(third, 2.0, 0.95, "jackknife")], "b": (Both(third, 1), "1/3"), 3: Undefined("none")}
    )
    assert found == {"a": [Interval(cut, 2.0, 0.95, "jackknife")], "b": (Both(cut, 1), "1/3"), 3: Undefined("none")}
    assert isinstance(found["b"][0], Both)
    assert type(found["b"][0].high) is int
    assert math.isnan(rounded(math.nan))
