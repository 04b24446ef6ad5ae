"""Where a coefficient has no value it says why; what every coefficient refuses."""

from __future__ import annotations

import numpy as np
import pytest
from annot.base.errors import InputError, UndefinedStatistic
from annot.measuring.agreement.coefficients import COEFFICIENTS, TITLES

NAN = np.nan

CHANCE_CORRECTED = [name for name in COEFFICIENTS if name not in ("ac1", "ac2", "percent", "percent_within_one")]


@pytest.mark.parametrize("name", CHANCE_CORRECTED)
def test_unanimity_is_undefined_and_says_how_many_pairs_and_which_grade(name: str) -> None:
    with pytest.raises(UndefinedStatistic, match=r"every judgement is grade 2 \(6 pairs\)"):
        COEFFICIENTS[name](np.full((2, 6), 2.0), (0, 1, 2, 3))


@pytest.mark.parametrize("name", ["ac1", "ac2"])
def test_gwets_coefficients_of_unanimous_raters_are_one(name: str) -> None:
    """Gwet 2008: pi (1 - pi) is 0 for every grade, so nothing is expected by chance."""
    assert COEFFICIENTS[name](np.full((2, 6), 2.0), (0, 1, 2, 3)) == pytest.approx(1.0)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_no_overlap_is_undefined(name: str) -> None:
    apart = np.array([[0, 1, NAN, NAN], [NAN, NAN, 2, 3]])
    with pytest.raises(UndefinedStatistic, match="no pair was judged by two"):
        COEFFICIENTS[name](apart, (0, 1, 2, 3))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_no_pairs_at_all_is_undefined(name: str) -> None:
    with pytest.raises(UndefinedStatistic, match="no pair was judged by two"):
        COEFFICIENTS[name](np.empty((2, 0)), (0, 1, 2, 3))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_one_assessor_is_undefined(name: str) -> None:
    with pytest.raises(UndefinedStatistic, match="fewer than two assessors"):
        COEFFICIENTS[name](np.array([[0.0, 1.0, 2.0]]), (0, 1, 2, 3))


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if not name.startswith("percent")])
def test_one_pair_is_too_few_and_the_grades_are_told(name: str) -> None:
    with pytest.raises(UndefinedStatistic, match=r"only 1 pair.*grade 0 x 1, grade 3 x 1"):
        COEFFICIENTS[name](np.array([[0.0], [3.0]]), (0, 1, 2, 3))


@pytest.mark.parametrize("name", ["spearman_rho", "kendall_tau_b"])
def test_two_pairs_are_too_few_for_a_rank_correlation(name: str) -> None:
    with pytest.raises(UndefinedStatistic, match=r"only 2 pair.*at least 3"):
        COEFFICIENTS[name](np.array([[0.0, 1.0], [0.0, 2.0]]), (0, 1, 2, 3))


@pytest.mark.parametrize("name", ["spearman_rho", "kendall_tau_b"])
def test_constant_assessor_has_no_rank_correlation(name: str) -> None:
    ratings = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]])
    with pytest.raises(UndefinedStatistic, match=r"gave grade 1 to all 4 pairs.*grade 0 x 3, grade 2 x 1"):
        COEFFICIENTS[name](ratings, (0, 1, 2, 3))


def test_constant_assessor_has_a_kappa_of_zero() -> None:
    """Cohen 1960: what is observed is then exactly what is expected."""
    ratings = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 2.0]])
    assert COEFFICIENTS["kappa"](ratings, (0, 1, 2, 3)) == pytest.approx(0.0)


def test_among_many_those_with_too_few_pairs_in_common_are_left_out() -> None:
    """The third shares two pairs with each of the others: 4 of 10 shared pairs; with a pair more each, 6 of 12."""
    ratings = np.array([[0, 1, 2, 3, 1, 0], [0, 2, 2, 3, 1, 1], [1, 0, NAN, NAN, NAN, NAN]], dtype=float)
    rho = COEFFICIENTS["spearman_rho"]
    assert rho(ratings, (0, 1, 2, 3)) == pytest.approx(rho(ratings[:2], (0, 1, 2, 3)))
    ratings[2, 2] = 1
    with pytest.raises(
        UndefinedStatistic, match="comparisons without a value: 2 of 3, such as this one: only 3 shared"
    ):
        rho(ratings, (0, 1, 2, 3))


def test_assessors_who_never_met_are_left_out_of_the_mean() -> None:
    ratings = np.array([[0, 1, 2, NAN, NAN, NAN], [0, 2, 2, 0, 3, 1], [NAN, NAN, NAN, 0, 2, 1]], dtype=float)
    grades = (0, 1, 2, 3)
    rho = COEFFICIENTS["spearman_rho"]
    assert rho(ratings, grades) == pytest.approx((rho(ratings[:2, :3], grades) + rho(ratings[1:, 3:], grades)) / 2)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_grade_outside_the_scale_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        COEFFICIENTS[name](np.array([[0.0, -1.0, 2.0], [0.0, 1.0, 7.0]]), (0, 1, 2, 3))
    assert caught.value.faults == ("found -1", "found 7")


def test_every_coefficient_has_a_title() -> None:
    assert set(TITLES) == set(COEFFICIENTS)
