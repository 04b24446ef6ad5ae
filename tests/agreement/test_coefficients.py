"""Each coefficient against a published worked example; the sources stand in the docstrings."""

from __future__ import annotations

import numpy as np
import pytest
from annot.agreement.coefficients import COEFFICIENTS, TITLES
from annot.errors import InputError, UndefinedStatistic

NAN = np.nan

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", example C: 4 observers, 12 units, missing values.
# The same ratings are Gwet's 2014 Handbook data, `cac.raw4raters` of his R package irrCAC.
FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)
FIVE = (1, 2, 3, 4, 5)

# `anxiety` of the R package irr: 20 subjects, raters 2 and 3 (rater 3 in the second row).
ANXIETY = np.array(
    [
        [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
        [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2],
    ],
    dtype=float,
)

# Table `cont3x3abstractors` of irrCAC: two abstractors, 100 cases, three categories.
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


def from_table(table: list[list[int]]) -> np.ndarray:
    """Two rows of grades 0, 1, ... whose cross table is `table`."""
    cells = [(row, column) for row, line in enumerate(table) for column, n in enumerate(line) for _ in range(n)]
    return np.array(cells, dtype=float).T


@pytest.mark.parametrize(
    ("name", "published"), [("alpha_nominal", 0.743), ("alpha_ordinal", 0.815), ("alpha_interval", 0.849)]
)
def test_alpha_of_krippendorffs_four_observers(name: str, published: float) -> None:
    """Krippendorff 2011, section C and D: nominal .743, ordinal .815, interval .849."""
    assert COEFFICIENTS[name](FOUR_OBSERVERS, FIVE) == pytest.approx(published, abs=5e-4)


def test_alpha_of_krippendorffs_binary_data() -> None:
    """Krippendorff 2011, section A: two observers, ten units, two values, alpha = .095."""
    meg = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    owen = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert COEFFICIENTS["alpha_nominal"](np.array([meg, owen], dtype=float), (0, 1)) == pytest.approx(0.095, abs=5e-4)


@pytest.mark.parametrize(
    ("table", "published", "digits"),
    [
        ([[44, 7, 9], [5, 20, 5], [1, 3, 6]], 0.492, 3),
        ([[25, 13, 12], [12, 2, 16], [3, 15, 2]], -0.09, 2),
    ],
)
def test_kappa_of_cohens_tables(table: list[list[int]], published: float, digits: int) -> None:
    """Cohen 1960, his tables of proportions for two judges and three categories, times 100."""
    assert round(COEFFICIENTS["kappa"](from_table(table), (0, 1, 2)), digits) == published


@pytest.mark.parametrize(("name", "sas"), [("kappa", 0.4842), ("kappa_linear", 0.4701)])
def test_kappa_of_the_sas_example(name: str, sas: float) -> None:
    """SAS, PROC FREQ with AGREE, as printed in the tests of statsmodels: simple 0.4842, weighted 0.4701."""
    table = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
    assert COEFFICIENTS[name](from_table(table), (0, 1, 2)) == pytest.approx(sas, abs=5e-5)


def test_kappa_of_the_anxiety_raters() -> None:
    """R package irr, kappa2(anxiety[,2:3]): unweighted -0.006289308."""
    assert COEFFICIENTS["kappa"](ANXIETY, (1, 2, 3, 4, 5, 6)) == pytest.approx(-0.006289308, abs=1e-9)


@pytest.mark.parametrize(("name", "irr"), [("kappa_linear", 0.1459075), ("kappa_quadratic", 0.2520325)])
def test_weighted_kappa_of_the_anxiety_raters(name: str, irr: float) -> None:
    """R package irr, kappa2(anxiety[,2:3], "equal" / "squared"); irr drops the unused grade 5, so 6 becomes 5."""
    without_the_unused = np.where(ANXIETY == 6, 5, ANXIETY)
    assert COEFFICIENTS[name](without_the_unused, FIVE) == pytest.approx(irr, abs=5e-8)


def test_kappa_of_many_is_lights_mean_over_pairs() -> None:
    """Light 1971: the mean of the kappas of all pairs of judges, here three whose pairs are Cohen's tables' like."""
    first, second = from_table([[44, 7, 9], [5, 20, 5], [1, 3, 6]])
    three = np.stack([first, second, second])
    assert COEFFICIENTS["kappa"](three, (0, 1, 2)) == pytest.approx((0.4915254 + 0.4915254 + 1) / 3, abs=1e-6)


@pytest.mark.parametrize(("name", "published"), [("ac1", 0.77544), ("ac2", 0.91400), ("percent", 81.81818)])
def test_gwets_coefficients_of_four_raters(name: str, published: float) -> None:
    """irrCAC 1.0, gwet.ac1.raw(cac.raw4raters), the same with weights = "quadratic", and pa.coeff.raw."""
    assert COEFFICIENTS[name](FOUR_OBSERVERS, FIVE) == pytest.approx(published, abs=5e-6)


@pytest.mark.parametrize(
    ("name", "published"), [("ac1", 0.8493305), ("kappa", 0.7964094), ("alpha_nominal", 0.7972585), ("percent", 89.0)]
)
def test_coefficients_of_two_abstractors(name: str, published: float) -> None:
    """irrCAC 1.0, vignette overview: gwet.ac1.table, kappa2.table, krippen2.table, pa2.table of cont3x3abstractors."""
    assert COEFFICIENTS[name](from_table(ABSTRACTORS), (0, 1, 2)) == pytest.approx(published, abs=5e-8)


def test_rho_of_the_textbook_example() -> None:
    """Wikipedia, Spearman's rank correlation coefficient: IQ and hours of television, here as ranks; rho -29/165."""
    ranks = np.array([range(1, 11), [1, 6, 8, 7, 10, 9, 3, 5, 2, 4]], dtype=float)
    assert COEFFICIENTS["spearman_rho"](ranks, range(1, 11)) == pytest.approx(-29 / 165)


def test_rank_correlations_with_ties() -> None:
    """Kendall 1948, chapter 3: ranks 1, 2.5, 2.5, ... and 1, 2, 4.5, ..., tau-b 0.859, rho corrected for ties 0.917."""
    tied = np.array([[1, 2, 2, 3, 3, 4, 4, 5, 6, 6], [1, 2, 3, 3, 3, 3, 4, 4, 4, 5]], dtype=float)
    assert round(COEFFICIENTS["kendall_tau_b"](tied, range(1, 7)), 3) == 0.859
    assert round(COEFFICIENTS["spearman_rho"](tied, range(1, 7)), 3) == 0.917


def test_percent_within_one_counts_neighbours() -> None:
    ratings = np.array([[0, 0, 1, 3, 2], [0, 1, 3, 0, 1]], dtype=float)
    assert COEFFICIENTS["percent_within_one"](ratings, (0, 1, 2, 3)) == pytest.approx(60.0)
    assert COEFFICIENTS["percent"](ratings, (0, 1, 2, 3)) == pytest.approx(20.0)


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


def test_among_many_the_two_assessors_without_a_value_are_named() -> None:
    ratings = np.array([[0, 1, 2, 3], [0, 2, 2, 3], [1, NAN, NAN, NAN]], dtype=float)
    with pytest.raises(UndefinedStatistic, match=r"no\. 1 and 3: only 1 pair"):
        COEFFICIENTS["kappa"](ratings, (0, 1, 2, 3))


def test_assessors_who_never_met_are_left_out_of_the_mean() -> None:
    ratings = np.array([[0, 1, 2, NAN, NAN, NAN], [0, 2, 2, 0, 3, 1], [NAN, NAN, NAN, 0, 2, 1]], dtype=float)
    grades = (0, 1, 2, 3)
    expected = (COEFFICIENTS["kappa"](ratings[:2, :3], grades) + COEFFICIENTS["kappa"](ratings[1:, 3:], grades)) / 2
    assert COEFFICIENTS["kappa"](ratings, grades) == pytest.approx(expected)


def test_on_two_grades_within_one_says_nothing() -> None:
    with pytest.raises(UndefinedStatistic, match="scale of 2 grades"):
        COEFFICIENTS["percent_within_one"](np.array([[0.0, 1.0], [1.0, 1.0]]), (0, 1))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_grade_outside_the_scale_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        COEFFICIENTS[name](np.array([[0.0, -1.0, 2.0], [0.0, 1.0, 7.0]]), (0, 1, 2, 3))
    assert caught.value.faults == ("found -1", "found 7")


def test_every_coefficient_has_a_title() -> None:
    assert set(TITLES) == set(COEFFICIENTS)
