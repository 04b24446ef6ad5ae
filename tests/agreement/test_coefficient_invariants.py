"""What holds of coefficients on any data: symmetries, relabelling, duplication, perfect and independent ratings."""

import numpy as np
import pytest
from annot.measuring.agreement.coefficients import COEFFICIENTS, OF_COUNTS, OF_TABLES, Ratings, count, tables_between
from annot.measuring.agreement.estimates import POLICIES, binarise
from drawn_ratings import GRADES, SOME, value
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=60)
@given(matrix=SOME)
def test_counts_have_a_gap_just_where_words_say_why(name: str, matrix: Ratings) -> None:
    tables = tables_between(matrix, GRADES)[1]
    if name in OF_COUNTS:
        np.testing.assert_allclose(OF_COUNTS[name](count(matrix, GRADES), GRADES), value(name, matrix), atol=1e-12)
    elif len(tables) == 1:
        np.testing.assert_allclose(OF_TABLES[name](tables)[0], value(name, matrix), atol=1e-12)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, seed=st.integers(0, 2**32 - 1))
def test_swapping_assessors_changes_nothing(name: str, matrix: Ratings, seed: int) -> None:
    for swapped in (matrix[::-1], np.random.default_rng(seed).permutation(matrix, axis=0)):
        np.testing.assert_allclose(value(name, swapped), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=40)
@given(row=hnp.arrays(np.float64, st.integers(5, 12), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0])))
def test_perfect_agreement_is_one(name: str, row: Ratings) -> None:
    found = value(name, np.stack([row, row, row]))
    if len(set(row.tolist())) > 1:
        assert found == pytest.approx(100.0 if name.startswith("percent") else 1.0)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=25)
@given(matrix=SOME)
def test_turning_the_scale_round_changes_nothing(name: str, matrix: Ratings) -> None:
    np.testing.assert_allclose(value(name, 3 - matrix), value(name, matrix), atol=1e-9)


def test_binarised_grades_keep_what_is_missing() -> None:
    matrix = np.array([[0, 1, 2, np.nan], [3, 2, np.nan, 0]])
    np.testing.assert_array_equal(binarise(matrix, at=2), [[0, 0, 1, np.nan], [1, 1, np.nan, 0]])


def test_zero_fills_only_what_was_asked_for() -> None:
    matrix = np.array([[1, np.nan, np.nan], [2, 3, np.nan]])
    asked = np.array([[True, True, False], [True, True, False]])
    np.testing.assert_array_equal(POLICIES["zero"](matrix, asked), [[1, 0, np.nan], [2, 3, np.nan]])
    np.testing.assert_array_equal(POLICIES["drop"](matrix, asked), matrix)
