"""Where a coefficient has no value it says why; what every coefficient refuses."""

import numpy as np
import pytest
from annot.base.errors import InputError, UndefinedStatistic
from annot.measuring.agreement.coefficients import COEFFICIENTS

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


@pytest.mark.parametrize("name", ["spearman_rho", "kendall_tau_b"])
def test_constant_assessor_has_no_rank_correlation(name: str) -> None:
    ratings = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]])
    with pytest.raises(UndefinedStatistic, match=r"gave grade 1 to all 4 pairs.*grade 0 x 3, grade 2 x 1"):
        COEFFICIENTS[name](ratings, (0, 1, 2, 3))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_grade_outside_the_scale_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        COEFFICIENTS[name](np.array([[0.0, -1.0, 2.0], [0.0, 1.0, 7.0]]), (0, 1, 2, 3))
    assert caught.value.faults == ("found -1", "found 7")
