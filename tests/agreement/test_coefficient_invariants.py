"""What holds of coefficients on any data: symmetries, relabelling, duplication, perfect and independent ratings."""

from __future__ import annotations

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
from drawn_ratings import GRADES, MIXES, SOME, ratings, skewed, value
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=150)
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


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, seed=st.integers(0, 2**32 - 1))
def test_order_of_the_pairs_changes_nothing(name: str, matrix: Ratings, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(matrix, axis=1)
    np.testing.assert_allclose(value(name, shuffled), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if not name.startswith("alpha")])
@settings(deadline=None, max_examples=25)
@given(matrix=SOME)
def test_duplicating_every_pair_changes_nothing(name: str, matrix: Ratings) -> None:
    # Among many, twice the pairs in common may be enough for a rank correlation where once was too few.
    matrix = matrix[:2] if name in OF_TABLES else matrix
    once = value(name, matrix)
    if not np.isnan(once):
        assert value(name, np.tile(matrix, 3)) == pytest.approx(once, abs=1e-9)


@pytest.mark.parametrize("name", ["alpha_ordinal", "alpha_nominal", "alpha_interval"])
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, times=st.integers(2, 5))
def test_duplicating_every_pair_moves_alpha_by_its_correction_for_small_samples(
    name: str, matrix: Ratings, times: int
) -> None:
    """Krippendorff 2011: of n pairable grades 1 - alpha is (n - 1) times a ratio of sums that grows by `times` in both,
    and once more below, so it becomes (times n - 1) / (times (n - 1)) of what it was."""
    once = value(name, matrix)
    if not np.isnan(once):
        pairable = matrix[:, np.count_nonzero(~np.isnan(matrix), axis=0) >= 2]
        n = np.count_nonzero(~np.isnan(pairable))
        expected = 1 - (1 - once) * (times * n - 1) / (times * (n - 1))
        assert value(name, np.tile(matrix, times)) == pytest.approx(expected, abs=1e-9)


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
def test_no_coefficient_exceeds_perfect_agreement(name: str, matrix: Ratings) -> None:
    found = value(name, matrix)
    if not np.isnan(found):
        assert found <= (100.0 if name.startswith("percent") else 1.0) + 1e-9


BY_CHANCE = {"percent": 25.0, "percent_within_one": 62.5}
"""Of 16 equally likely cells 4 are on the diagonal, 10 within one of it; all other coefficients are then 0."""


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_independent_ratings_agree_by_chance_only(name: str) -> None:
    """Of 200,000 independent pairs; AC1's and AC2's own notion of chance is met by even margins."""
    rng = np.random.default_rng(5)
    scale = 100 if name.startswith("percent") else 1
    found = value(name, rng.integers(0, 4, size=(2, 200_000)).astype(float))
    assert abs(found - BY_CHANCE.get(name, 0.0)) < 0.01 * scale


@pytest.mark.parametrize("mix", MIXES[1:])
@pytest.mark.parametrize(
    "name", [name for name in COEFFICIENTS if name not in ("ac1", "ac2", "percent", "percent_within_one")]
)
def test_independent_ratings_of_skewed_grades_agree_by_chance_only(name: str, mix: tuple[float, ...]) -> None:
    """What these eight correct for. The standard error is about 1 / sqrt(200,000) = 0.0022."""
    rng = np.random.default_rng(6)
    assert abs(value(name, rng.choice(4, p=mix, size=(2, 200_000)).astype(float))) < 0.01


@pytest.mark.parametrize("name", ["alpha_nominal", "kappa", "ac1", "percent"])
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, order=st.permutations(GRADES))
def test_nominal_coefficients_ignore_the_grades_names(name: str, matrix: Ratings, order: list[int]) -> None:
    renamed = np.full(matrix.shape, np.nan)
    for old, new in zip(GRADES, order, strict=True):
        renamed[matrix == old] = new
    np.testing.assert_allclose(value(name, renamed), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize(
    "name", [name for name in COEFFICIENTS if name not in ("alpha_nominal", "kappa", "ac1", "percent")]
)
def test_ordered_coefficients_heed_the_grades_order(name: str) -> None:
    matrix = skewed(2, 60, mix=MIXES[0], seed=3)
    swapped = np.where(matrix == 0, 3, np.where(matrix == 3, 0, matrix))
    assert abs(value(name, swapped) - value(name, matrix)) > 0.001


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=25)
@given(matrix=SOME)
def test_turning_the_scale_round_changes_nothing(name: str, matrix: Ratings) -> None:
    np.testing.assert_allclose(value(name, 3 - matrix), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, first=st.integers(-3, 5))
def test_numbering_the_scale_from_another_grade_changes_nothing(name: str, matrix: Ratings, first: int) -> None:
    shifted = value(name, matrix + first, range(first, first + 4))
    np.testing.assert_allclose(shifted, value(name, matrix), atol=1e-9)


@pytest.mark.parametrize(
    "name", ["spearman_rho", "kendall_tau_b", "alpha_ordinal", "alpha_nominal", "kappa", "percent"]
)
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, gaps=st.lists(st.integers(1, 3), min_size=3, max_size=3))
def test_unused_grades_between_leave_ranks_and_names_alone(name: str, matrix: Ratings, gaps: list[int]) -> None:
    """What rests on the order of the grades, or on their identity only, does not see how far apart they are."""
    stretched, grades = stretch(matrix, np.cumsum([0, *gaps]))
    np.testing.assert_allclose(value(name, stretched, grades), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", ["alpha_interval", "kappa_linear", "kappa_quadratic"])
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, step=st.integers(2, 4))
def test_an_evenly_stretched_scale_changes_nothing(name: str, matrix: Ratings, step: int) -> None:
    stretched, grades = stretch(matrix, np.arange(4) * step)
    np.testing.assert_allclose(value(name, stretched, grades), value(name, matrix), atol=1e-9)


def stretch(matrix: Ratings, grades: np.ndarray) -> tuple[Ratings, range]:
    """The ratings with grade g moved to grades[g], and the scale that reaches that far."""
    moved = np.where(np.isnan(matrix), np.nan, grades[np.nan_to_num(matrix).astype(int)])
    return moved, range(int(grades[-1]) + 1)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=25)
@given(matrix=SOME)
def test_assessor_who_judged_nothing_changes_nothing(name: str, matrix: Ratings) -> None:
    absent = np.full((1, matrix.shape[1]), np.nan)
    np.testing.assert_allclose(value(name, np.concatenate([matrix, absent])), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if not name.startswith("ac")])
@settings(deadline=None, max_examples=25)
@given(matrix=SOME, lonely=hnp.arrays(np.float64, st.integers(1, 4), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0])))
def test_pair_judged_once_changes_nothing(name: str, matrix: Ratings, lonely: Ratings) -> None:
    """Gwet's chance agreement alone makes use of it."""
    once = np.full((len(matrix), len(lonely)), np.nan)
    once[0] = lonely
    with_once = value(name, np.concatenate([matrix, once], axis=1))
    np.testing.assert_allclose(with_once, value(name, matrix), atol=1e-9)


def test_binarised_grades_keep_what_is_missing() -> None:
    matrix = np.array([[0, 1, 2, np.nan], [3, 2, np.nan, 0]])
    np.testing.assert_array_equal(binarise(matrix, at=2), [[0, 0, 1, np.nan], [1, 1, np.nan, 0]])


def test_zero_fills_only_what_was_asked_for() -> None:
    matrix = np.array([[1, np.nan, np.nan], [2, 3, np.nan]])
    asked = np.array([[True, True, False], [True, True, False]])
    np.testing.assert_array_equal(POLICIES["zero"](matrix, asked), [[1, 0, np.nan], [2, 3, np.nan]])
    np.testing.assert_array_equal(POLICIES["drop"](matrix, asked), matrix)
