"""What holds of coefficients on any data: symmetries, relabelling, duplication, perfect and independent ratings."""

import numpy as np
import pytest
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import (
    COEFFICIENTS,
    OF_COUNTS,
    OF_TABLES,
    Ratings,
    count,
    pooled_between,
    tables_between,
)
from annot.measuring.agreement.estimates import POLICIES, binarise
from drawn_ratings import GRADES, SOME, ratings, value
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
@given(parts=st.lists(ratings(st.just(3), missing=True), min_size=2, max_size=4))
def test_counts_of_parts_add_up_to_the_whole_and_to_what_is_left(name: str, parts: list[Ratings]) -> None:
    counted = [tables_between(part, GRADES) for part in parts]
    pooled = pooled_between([count(part, GRADES) for part in parts], *zip(*counted, strict=True), topics=None)
    found = pooled.value(name, GRADES)
    whole = value(name, np.concatenate(parts, axis=1))
    np.testing.assert_allclose(np.nan if isinstance(found, Undefined) else found, whole, atol=1e-9)
    if len(tables_between(np.concatenate(parts, axis=1), GRADES)[0]) == 3 or name in OF_COUNTS:
        left_out = [np.concatenate([*parts[:at], *parts[at + 1 :]], axis=1) for at in range(len(parts))]
        expected = [value(name, one) for one in left_out if all_met(one) or name in OF_COUNTS]
        of_others = pooled.left_out(name, GRADES)
        of_others = of_others[[all_met(one) or name in OF_COUNTS for one in left_out]]
        np.testing.assert_allclose(of_others, expected, atol=1e-6)


def all_met(matrix: Ratings) -> bool:
    """Whether each two of three assessors share a pair; else a rank correlation is of fewer, and of two needs less."""
    return len(tables_between(matrix, GRADES)[0]) == 3


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, seed=st.integers(0, 2**32 - 1))
def test_swapping_assessors_changes_nothing(name: str, matrix: Ratings, seed: int) -> None:
    for swapped in (matrix[::-1], np.random.default_rng(seed).permutation(matrix, axis=0)):
        np.testing.assert_allclose(value(name, swapped), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if not name.startswith("alpha")])
@settings(deadline=None, max_examples=25)
@given(matrix=SOME)
def test_duplicating_every_pair_changes_nothing(name: str, matrix: Ratings) -> None:
    # Among many, twice the pairs in common may be enough for a rank correlation where once was too few.
    matrix = matrix[:2] if name in OF_TABLES else matrix
    once = value(name, matrix)
    if not np.isnan(once):
        assert value(name, np.tile(matrix, 3)) == pytest.approx(once, abs=1e-9)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=40)
@given(row=hnp.arrays(np.float64, st.integers(5, 12), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0])))
def test_perfect_agreement_is_one(name: str, row: Ratings) -> None:
    found = value(name, np.stack([row, row, row]))
    if len(set(row.tolist())) > 1:
        assert found == pytest.approx(100.0 if name.startswith("percent") else 1.0)


BY_CHANCE = {"percent": 25.0, "percent_within_one": 62.5}
"""Of 16 equally likely cells 4 are on the diagonal, 10 within one of it; all other coefficients are then 0."""


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_independent_ratings_agree_by_chance_only(name: str) -> None:
    """Of 200,000 independent pairs; AC1's and AC2's own notion of chance is met by even margins."""
    rng = np.random.default_rng(5)
    scale = 100 if name.startswith("percent") else 1
    found = value(name, rng.integers(0, 4, size=(2, 200_000)).astype(float))
    assert abs(found - BY_CHANCE.get(name, 0.0)) < 0.01 * scale


@pytest.mark.parametrize("name", ["alpha_nominal", "kappa", "ac1", "percent"])
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, order=st.permutations(GRADES))
def test_nominal_coefficients_ignore_the_grades_names(name: str, matrix: Ratings, order: list[int]) -> None:
    renamed = np.full(matrix.shape, np.nan)
    for old, new in zip(GRADES, order, strict=True):
        renamed[matrix == old] = new
    np.testing.assert_allclose(value(name, renamed), value(name, matrix), atol=1e-9)


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
