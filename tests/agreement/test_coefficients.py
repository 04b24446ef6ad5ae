"""Each coefficient against a published worked example; the sources stand in the docstrings."""

import numpy as np
import pytest
from annot.measuring.agreement.coefficients import COEFFICIENTS
from annot.measuring.agreement.estimates import binarise

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

# `anxiety` of the R package irr: 20 subjects, 3 raters.
ANXIETY = np.array(
    [
        [3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3],
        [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
        [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2],
    ],
    dtype=float,
)

# Fleiss 1971, Psychological Bulletin 76(5), table 1, as `diagnoses` of the R package irr: 30 patients, 6 raters.
DIAGNOSES = np.array(
    [
        [4, 2, 2, 5, 2, 1, 3, 1, 1, 5, 1, 1, 2, 1, 2, 3, 1, 1, 2, 1, 5, 2, 2, 1, 1, 2, 1, 2, 1, 5],
        [4, 2, 3, 5, 2, 1, 3, 1, 1, 5, 4, 2, 2, 4, 2, 3, 1, 1, 2, 3, 5, 4, 2, 1, 4, 2, 1, 2, 3, 5],
        [4, 2, 3, 5, 2, 3, 3, 3, 4, 5, 4, 4, 2, 4, 4, 3, 1, 1, 4, 3, 5, 4, 4, 4, 4, 2, 1, 4, 3, 5],
        [4, 5, 3, 5, 4, 3, 3, 3, 4, 5, 4, 4, 3, 4, 4, 3, 4, 1, 4, 5, 5, 4, 5, 4, 4, 2, 1, 4, 3, 5],
        [4, 5, 3, 5, 4, 3, 5, 3, 4, 5, 4, 4, 3, 4, 4, 3, 5, 1, 4, 5, 5, 4, 5, 4, 4, 2, 5, 4, 3, 5],
        [4, 5, 5, 5, 4, 3, 5, 4, 4, 5, 4, 4, 3, 4, 5, 5, 5, 2, 4, 5, 5, 4, 5, 4, 5, 4, 5, 4, 3, 5],
    ],
    dtype=float,
)


# Tables `cont3x3abstractors` and `cont4x4diagnosis` of irrCAC: two abstractors, 100 cases; two methods, 223 patients.
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
TWO_METHODS = [[40, 4, 4, 17], [6, 25, 2, 13], [4, 1, 21, 12], [15, 5, 9, 45]]


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
    [([[44, 7, 9], [5, 20, 5], [1, 3, 6]], 0.492, 3), ([[25, 13, 12], [12, 2, 16], [3, 15, 2]], -0.09, 2)],
)
def test_kappa_of_cohens_tables(table: list[list[int]], published: float, digits: int) -> None:
    """Cohen 1960, his tables of proportions for two judges and three categories, times 100."""
    assert round(COEFFICIENTS["kappa"](from_table(table), (0, 1, 2)), digits) == published


@pytest.mark.parametrize(("name", "irr"), [("kappa_linear", 0.1459075), ("kappa_quadratic", 0.2520325)])
def test_weighted_kappa_of_the_anxiety_raters(name: str, irr: float) -> None:
    """R package irr, kappa2(anxiety[,2:3], "equal" / "squared"); irr drops the unused grade 5, so 6 becomes 5."""
    without_the_unused = np.where(ANXIETY[1:] == 6, 5, ANXIETY[1:])
    assert COEFFICIENTS[name](without_the_unused, FIVE) == pytest.approx(irr, abs=5e-8)


def test_kappa_of_many_is_congers_on_fleiss_diagnoses() -> None:
    """R package irr, kappam.fleiss(diagnoses, exact = TRUE): 0.442, the exact kappa of Conger 1980."""
    assert COEFFICIENTS["kappa"](DIAGNOSES, FIVE) == pytest.approx(0.442, abs=5e-4)


@pytest.mark.parametrize(
    ("table", "published", "digits"), [([[0, 4, 1], [0, 8, 0], [0, 1, 5]], 0.4701, 4), (TWO_METHODS, 0.407, 3)]
)
def test_binarised_kappas_average_to_the_published_linear_kappa(
    table: list[list[int]], published: float, digits: int
) -> None:
    """Vanbelle and Albert 2009, Statistical Methodology 6, 157-163: linear kappa (of SAS, of irrCAC) is the mean of the
    kappas binarised at each grade, each weighted by what chance leaves, 1 - p_e."""
    ratings = from_table(table)
    kappas, left = [], []
    for at in range(1, len(table)):
        first, second = np.array(table)[at:].sum(), np.array(table)[:, at:].sum()
        n = np.array(table).sum()
        kappas.append(COEFFICIENTS["kappa"](binarise(ratings, at=at), (0, 1)))
        left.append((first * (n - second) + (n - first) * second) / n**2)
    assert round(float(np.average(kappas, weights=left)), digits) == published


def test_alpha_nominal_of_fleiss_diagnoses() -> None:
    """Fleiss 1971: kappa 0.430 (irr: 0.4302445); alpha is 1 - (1 - kappa) (n - 1) / n, n = 180 ratings."""
    published = 1 - (1 - 0.4302445) * 179 / 180
    assert COEFFICIENTS["alpha_nominal"](DIAGNOSES, FIVE) == pytest.approx(published, abs=5e-8)


@pytest.mark.parametrize(("name", "published"), [("ac1", 0.77544), ("ac2", 0.91400), ("percent", 81.81818)])
def test_gwets_coefficients_of_four_raters(name: str, published: float) -> None:
    """irrCAC 1.0, gwet.ac1.raw(cac.raw4raters), the same with weights = "quadratic", and pa.coeff.raw."""
    assert COEFFICIENTS[name](FOUR_OBSERVERS, FIVE) == pytest.approx(published, abs=5e-6)


@pytest.mark.parametrize(("name", "published"), [("ac2", 0.4837438), ("alpha_interval", 0.259511)])
def test_weighted_coefficients_of_fifteen_diagnoses(name: str, published: float) -> None:
    """irrCAC 1.0, vignette weighting: gwet.ac1.dist and krippen.alpha.dist of distrib.6raters, quadratic weights."""
    assert COEFFICIENTS[name](DIAGNOSES[:, :15], FIVE) == pytest.approx(published, abs=5e-7)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("ac1", 0.8493305),
        ("ac2", 0.9402369),
        ("kappa", 0.7964094),
        ("kappa_quadratic", 0.8921569),
        ("alpha_nominal", 0.7972585),
        ("alpha_interval", 0.8926487),
        ("percent", 89.0),
    ],
)
def test_coefficients_of_two_abstractors(name: str, published: float) -> None:
    """irrCAC 1.0, vignettes overview and weighting: the functions for tables, of cont3x3abstractors."""
    assert COEFFICIENTS[name](from_table(ABSTRACTORS), (0, 1, 2)) == pytest.approx(published, abs=5e-8)


def test_rho_of_the_textbook_example() -> None:
    """Wikipedia, Spearman's rank correlation coefficient: IQ and hours of television, here as ranks; rho -29/165."""
    ranks = np.array([range(1, 11), [1, 6, 8, 7, 10, 9, 3, 5, 2, 4]], dtype=float)
    assert COEFFICIENTS["spearman_rho"](ranks, range(1, 11)) == pytest.approx(-29 / 165)


def test_rank_correlations_with_ties() -> None:
    """Kendall 1970, Rank Correlation Methods, 4th edition, example 3.1: S = 33 of sqrt(41 x 36), tau-b 0.859.

    Rho by his formula for ties, with squared differences of ranks that sum to 13 and corrections 2 and 7:
    (165 - 13 - 2 - 7) / sqrt((165 - 4) (165 - 14)) = 0.917.
    """
    tied = np.array([[1, 2, 2, 3, 3, 4, 4, 5, 6, 6], [1, 2, 3, 3, 3, 3, 4, 4, 4, 5]], dtype=float)
    assert round(COEFFICIENTS["kendall_tau_b"](tied, range(1, 7)), 3) == 0.859
    assert COEFFICIENTS["kendall_tau_b"](tied, range(1, 7)) == pytest.approx(33 / (41 * 36) ** 0.5)
    assert COEFFICIENTS["spearman_rho"](tied, range(1, 7)) == pytest.approx(143 / (161 * 151) ** 0.5)


def test_tau_b_as_r_has_it() -> None:
    """R, cor.test(c(12,2,1,12,2), c(1,4,7,1,0), method = "kendall"): -0.4714045, printed in the tests of SciPy."""
    ranked = np.array([[3, 2, 1, 3, 2], [1, 2, 3, 1, 0]], dtype=float)
    assert COEFFICIENTS["kendall_tau_b"](ranked, (0, 1, 2, 3)) == pytest.approx(-0.47140452079103173)


@pytest.mark.parametrize(("name", "published"), [("percent", 70.0), ("percent_within_one", 97.0)])
def test_percentages_of_the_r_package_desctools(name: str, published: float) -> None:
    """DescTools, reference page of Agree, cbind(rtr1, rtr2): simple 0.7, extended (tolerance 1) 0.97, 100 subjects."""
    table = [[53, 5, 2], [11, 14, 5], [1, 6, 3]]
    assert COEFFICIENTS[name](from_table(table), (0, 1, 2)) == pytest.approx(published)
