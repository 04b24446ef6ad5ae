"""Each coefficient against other people's code: SciPy, scikit-learn, statsmodels, krippendorff, NLTK."""

import itertools
from collections.abc import Callable

import krippendorff
import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined
from annot.measuring.agreement.coefficients import (
    HEADLINE,
    LEAST_OVERLAP,
    Ratings,
)
from annot.measuring.agreement.estimates import agreement_between
from drawn_ratings import ALL_OF_MANY, GRADES, MIXES, SOME, TWO, skewed, value
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from scipy import stats
from sklearn.metrics import accuracy_score, cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

SKEWED = st.builds(
    skewed, st.integers(2, 4), st.integers(3, 300), mix=st.sampled_from(MIXES), seed=st.integers(0, 2**32 - 1)
)
TWO_SKEWED = SKEWED.map(lambda matrix: matrix[:2])
ONE_OFF = np.array([[0.0] * 50, [0.0] * 49 + [3.0]])
"""One judgement of a hundred differs: the most skewed ratings on which kappa has a value."""


def agree(name: str, matrix: Ratings, theirs: Callable[[], float], grades: tuple[int, ...] = GRADES) -> None:
    """`theirs` is called only where the coefficient has a value: elsewhere each library has its own answer."""
    ours = value(name, matrix, grades)
    if not np.isnan(ours):
        assert ours == pytest.approx(theirs(), abs=1e-9), name


@settings(deadline=None, max_examples=60)
@given(matrix=TWO | TWO_SKEWED)
@example(matrix=ONE_OFF)
def test_two_rater_coefficients_as_scipy_and_scikit_learn_have_them(matrix: Ratings) -> None:
    x, y = matrix.astype(int)
    expected: dict[str, Callable[[], float]] = {
        "spearman_rho": lambda: stats.spearmanr(x, y).statistic,
        "kendall_tau_b": lambda: stats.kendalltau(x, y, variant="b").statistic,
        "kappa": lambda: cohen_kappa_score(x, y, labels=GRADES),
        "kappa_linear": lambda: cohen_kappa_score(x, y, labels=GRADES, weights="linear"),
        "kappa_quadratic": lambda: cohen_kappa_score(x, y, labels=GRADES, weights="quadratic"),
        "percent": lambda: 100 * accuracy_score(x, y),
    }
    for name, theirs in expected.items():
        agree(name, matrix, theirs)


@pytest.mark.parametrize("name", ["spearman_rho", "kendall_tau_b"])
@settings(deadline=None, max_examples=60)
@given(matrix=SOME | SKEWED)
def test_rank_correlations_of_many_as_the_weighted_mean_over_their_pairs(name: str, matrix: Ratings) -> None:
    """SciPy's correlation of each two assessors on the n pairs that both have judged, weighted by n: where there is one
    and, among more than two assessors who met, n is 5 or more. These n must be more than half of all."""
    of_two = {"spearman_rho": stats.spearmanr, "kendall_tau_b": stats.kendalltau}[name]
    shared = [
        both[:, ~np.isnan(both).any(axis=0)] for both in (np.stack(two) for two in itertools.combinations(matrix, 2))
    ]
    shared = [both for both in shared if both.shape[1]]
    least = LEAST_OVERLAP if len(shared) > 2 else 3
    usable = [both for both in shared if both.shape[1] >= least and (np.ptp(both, axis=1) > 0).all()]
    sizes = [both.shape[1] for both in usable]
    defined = 2 * sum(sizes) > sum(both.shape[1] for both in shared)
    assert np.isnan(value(name, matrix)) == (not defined)
    agree(name, matrix, lambda: float(np.average([of_two(*both).statistic for both in usable], weights=sizes)))


@settings(deadline=None, max_examples=60)
@given(matrix=SOME | SKEWED)
@example(matrix=ONE_OFF)
def test_alphas_as_the_krippendorff_package_has_them(matrix: Ratings) -> None:
    for name in ("alpha_nominal", "alpha_ordinal", "alpha_interval"):
        level = name.removeprefix("alpha_")
        agree(
            name,
            matrix,
            lambda level=level: krippendorff.alpha(matrix, level_of_measurement=level, value_domain=GRADES),  # type: ignore[misc]
        )


@settings(deadline=None, max_examples=60)
@given(matrix=ALL_OF_MANY | SKEWED)
@example(matrix=ONE_OFF)
def test_ac1_and_percent_from_the_two_kappas_of_statsmodels(matrix: Ratings) -> None:
    """Randolph's kappa gives away p_a, Fleiss' then the sum of squared shares, and Gwet's p_e is made of that sum."""

    def ac1() -> float:
        p_a, squares = agreement_and_squares(matrix)
        p_e = (1 - squares) / 3
        return (p_a - p_e) / (1 - p_e)

    if varied(matrix):
        agree("ac1", matrix, ac1)
        agree("percent", matrix, lambda: 100 * agreement_and_squares(matrix)[0])


@settings(deadline=None, max_examples=60)
@given(matrix=ALL_OF_MANY)
@example(matrix=ONE_OFF)
def test_ac2_from_nltks_disagreement_and_the_kappas_of_statsmodels(matrix: Ratings) -> None:
    """Gwet 2014, chapter 3: p_e is T_w / (q (q - 1)) (1 - squares), T_w the sum of the 16 weights, 16 - 40 / 9."""

    def ac2() -> float:
        p_a = 1 - task(matrix, lambda a, b: (a - b) ** 2 / 9).Do_Kw()
        p_e = (16 - 40 / 9) / 12 * (1 - agreement_and_squares(matrix)[1])
        return float((p_a - p_e) / (1 - p_e))

    if varied(matrix):
        agree("ac2", matrix, ac2)


def task(matrix: Ratings, distance: Callable[[float, float], float]) -> AnnotationTask:
    triples = [(who, pair, matrix[who, pair]) for who, pair in zip(*np.nonzero(~np.isnan(matrix)), strict=True)]
    return AnnotationTask(triples, distance=distance)


def fleiss(matrix: Ratings, method: str) -> float:
    counts, _ = aggregate_raters(matrix.T.astype(int), 4)
    return float(fleiss_kappa(counts, method=method))


def agreement_and_squares(matrix: Ratings) -> tuple[float, float]:
    """p_a and the sum of the squared shares of the grades, solved from two kappas of statsmodels."""
    p_a = fleiss(matrix, "randolph") * (1 - 1 / 4) + 1 / 4
    kappa = fleiss(matrix, "fleiss")
    return p_a, (p_a - kappa) / (1 - kappa)


def varied(matrix: Ratings) -> bool:
    """Two kappas can be solved for p_a and the squares: unless all assessors agree on every pair."""
    return bool((matrix != matrix[0]).any())


NAMES = ("kappa_quadratic", *HEADLINE)


@pytest.mark.parametrize("seed", range(2))
def test_as_other_libraries_have_it_on_all_pairs_together(seed: int) -> None:
    first, second = skewed(2, 45, mix=(0.25, 0.25, 0.25, 0.25), seed=seed).astype(int)
    pairs = [(f"q{at // 5}", f"d{at}") for at in range(45)]
    found = agreement_between(
        dict(zip(pairs, first.tolist(), strict=True)) | {("q1", "alone"): 3},
        dict(zip(pairs, second.tolist(), strict=True)) | {("q2", "alone"): 0},
        grades=GRADES,
        level=0.95,
        coefficients=NAMES,
        topics=None,
    )
    assert (found.n_pairs, found.n_queries) == (45, 9)
    expected = {
        "kappa_quadratic": cohen_kappa_score(first, second, weights="quadratic"),
        "kappa": cohen_kappa_score(first, second),
        "spearman_rho": stats.spearmanr(first, second).statistic,
        "alpha_ordinal": krippendorff.alpha(np.array([first, second]), level_of_measurement="ordinal"),
        "percent": 100 * np.mean(first == second),
    }
    for name in NAMES:
        estimate = found.figures[name]
        assert estimate.value == pytest.approx(expected[name], abs=1e-9), name
        assert isinstance(estimate.interval, Interval)
        assert estimate.interval.low < expected[name] < estimate.interval.high


def test_no_common_pair_and_too_few_queries_are_said_in_words() -> None:
    nothing = agreement_between({("q1", "d1"): 1}, {}, grades=GRADES, level=0.95, coefficients=NAMES, topics=None)
    assert (nothing.n_pairs, nothing.n_queries) == (0, 0)
    assert all(isinstance(one.value, Undefined) for one in nothing.figures.values())
    graded = {(f"q{at // 10}", f"d{at}"): at % 4 for at in range(30)}
    few = agreement_between(graded, graded, grades=GRADES, level=0.95, coefficients=NAMES, topics=None).figures["kappa"]
    assert few.value == 1.0
    assert isinstance(few.interval, Undefined)
    assert "needs 4" in few.interval.reason
