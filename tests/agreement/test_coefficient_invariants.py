"""What holds of every coefficient on any data, and the second implementations: counts, libraries, brute force."""

from __future__ import annotations

import itertools

import krippendorff
import numpy as np
import pytest
from annot.agreement.coefficients import COEFFICIENTS, Ratings, binarise
from annot.agreement.contingency import COEFFICIENTS_OF_COUNTS, Counts, count
from annot.agreement.missing import POLICIES
from annot.errors import UndefinedStatistic
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from sklearn.metrics import cohen_kappa_score

GRADES = (0, 1, 2, 3)
ANY_NUMBER_OF_ASSESSORS = ("alpha_ordinal", "alpha_nominal", "alpha_interval", "ac1", "ac2", "percent")


def ratings(assessors: st.SearchStrategy[int], *, missing: bool) -> st.SearchStrategy[Ratings]:
    values = st.sampled_from([0.0, 1.0, 2.0, 3.0, *([np.nan] if missing else [])])
    shapes = st.tuples(assessors, st.integers(0, 14))
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=values))


TWO = ratings(st.just(2), missing=False)
SOME = ratings(st.integers(2, 4), missing=True)


def value(name: str, matrix: Ratings) -> float:
    """nan where undefined, so that both ways of computing can be compared."""
    try:
        return COEFFICIENTS[name](matrix, GRADES)
    except UndefinedStatistic:
        return np.nan


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=150)
@given(matrix=SOME)
def test_counts_give_the_same_values_and_the_same_gaps(name: str, matrix: Ratings) -> None:
    of_counts = float(COEFFICIENTS_OF_COUNTS[name](count(matrix, GRADES), GRADES))
    np.testing.assert_allclose(of_counts, value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=60)
@given(parts=st.lists(ratings(st.just(3), missing=True), min_size=2, max_size=4))
def test_counts_of_parts_add_up_to_the_whole(name: str, parts: list[Ratings]) -> None:
    summed = Counts.stack([count(part, GRADES) for part in parts]).weighted(np.ones((1, len(parts))))
    whole = count(np.concatenate(parts, axis=1), GRADES)
    of_counts = COEFFICIENTS_OF_COUNTS[name]
    np.testing.assert_allclose(of_counts(summed, GRADES)[0], of_counts(whole, GRADES), atol=1e-9)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=60)
@given(matrix=SOME)
def test_swapping_assessors_changes_nothing(name: str, matrix: Ratings) -> None:
    np.testing.assert_allclose(value(name, matrix[::-1]), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=60)
@given(matrix=SOME, seed=st.integers(0, 2**32 - 1))
def test_order_of_the_pairs_changes_nothing(name: str, matrix: Ratings, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(matrix, axis=1)
    np.testing.assert_allclose(value(name, shuffled), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if not name.startswith("alpha")])
@settings(deadline=None, max_examples=60)
@given(matrix=TWO)
def test_duplicating_every_pair_changes_nothing(name: str, matrix: Ratings) -> None:
    once = value(name, matrix)
    if not np.isnan(once):
        assert value(name, np.tile(matrix, 3)) == pytest.approx(once, abs=1e-9)


def test_duplicating_every_pair_moves_alpha() -> None:
    """Alpha corrects for small samples, so it falls as the same evidence is counted twice."""
    matrix = np.array([[0, 1, 2, 3, 0, 1], [0, 1, 2, 2, 1, 1]], dtype=float)
    assert value("alpha_nominal", np.tile(matrix, 5)) < value("alpha_nominal", matrix)


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(deadline=None, max_examples=40)
@given(row=hnp.arrays(np.float64, st.integers(3, 12), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0])))
def test_perfect_agreement_is_one(name: str, row: Ratings) -> None:
    found = value(name, np.stack([row, row, row]))
    if len(set(row.tolist())) > 1:
        assert found == pytest.approx(100.0 if name.startswith("percent") else 1.0)


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if name not in ("percent", "percent_within_one")])
def test_independent_ratings_agree_by_chance_only(name: str) -> None:
    """Of 200,000 independent pairs; AC1's and AC2's own notion of chance is met by even margins."""
    rng = np.random.default_rng(5)
    assert abs(value(name, rng.integers(0, 4, size=(2, 200_000)).astype(float))) < 0.01


@pytest.mark.parametrize("name", ["alpha_nominal", "kappa", "ac1", "percent"])
@settings(deadline=None, max_examples=60)
@given(matrix=SOME, order=st.permutations(GRADES))
def test_nominal_coefficients_ignore_the_grades_names(name: str, matrix: Ratings, order: list[int]) -> None:
    renamed = np.full(matrix.shape, np.nan)
    for old, new in zip(GRADES, order, strict=True):
        renamed[matrix == old] = new
    np.testing.assert_allclose(value(name, renamed), value(name, matrix), atol=1e-9)


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if name != "ac1"])
@settings(deadline=None, max_examples=60)
@given(matrix=SOME)
def test_turning_the_scale_round_changes_nothing(name: str, matrix: Ratings) -> None:
    np.testing.assert_allclose(value(name, 3 - matrix), value(name, matrix), atol=1e-9)


@settings(deadline=None, max_examples=100)
@given(matrix=SOME)
def test_alpha_as_the_krippendorff_package_has_it(matrix: Ratings) -> None:
    for level in ("nominal", "ordinal", "interval"):
        of_counts = float(COEFFICIENTS_OF_COUNTS[f"alpha_{level}"](count(matrix, GRADES), GRADES))
        if not np.isnan(of_counts):
            assert of_counts == pytest.approx(
                krippendorff.alpha(matrix, level_of_measurement=level, value_domain=GRADES), abs=1e-9
            )


@settings(deadline=None, max_examples=100)
@given(matrix=TWO)
def test_two_rater_coefficients_as_scipy_and_scikit_learn_have_them(matrix: Ratings) -> None:
    x, y = matrix.astype(int)
    counts = count(matrix, GRADES)
    expected = {
        "spearman_rho": lambda: stats.spearmanr(x, y).statistic,
        "kendall_tau_b": lambda: stats.kendalltau(x, y, variant="b").statistic,
        "kappa": lambda: cohen_kappa_score(x, y, labels=GRADES),
        "kappa_linear": lambda: cohen_kappa_score(x, y, labels=GRADES, weights="linear"),
        "kappa_quadratic": lambda: cohen_kappa_score(x, y, labels=GRADES, weights="quadratic"),
    }
    for name, second in expected.items():
        found = float(COEFFICIENTS_OF_COUNTS[name](counts, GRADES))
        if not np.isnan(found):
            assert found == pytest.approx(second(), abs=1e-9), name


@settings(deadline=None, max_examples=100)
@given(matrix=SOME)
def test_gwet_and_percent_by_their_definitions(matrix: Ratings) -> None:
    """Gwet 2014, chapter 2, written out pair by pair: p_a over pairs with two grades, pi over pairs with any."""
    pairs = [[grade for grade in column if not np.isnan(grade)] for column in matrix.T]
    twice = [given for given in pairs if len(given) >= 2]
    if len(twice) < 2:
        return
    once = [given for given in pairs if given]
    pi = {grade: sum(given.count(grade) / len(given) for given in once) / len(once) for grade in GRADES}
    weights = {
        "ac1": lambda a, b: float(a == b),
        "ac2": lambda a, b: 1 - ((a - b) / 3) ** 2,
        "percent": lambda a, b: float(a == b),
        "percent_within_one": lambda a, b: float(abs(a - b) <= 1),
    }
    for name, weight in weights.items():
        p_a = np.mean([np.mean([weight(a, b) for a, b in itertools.combinations(given, 2)]) for given in twice])
        total = sum(weight(a, b) for a in GRADES for b in GRADES)
        p_e = total / 12 * sum(share * (1 - share) for share in pi.values())
        expected = 100 * p_a if name.startswith("percent") else (p_a - p_e) / (1 - p_e)
        assert value(name, matrix) == pytest.approx(expected, abs=1e-9), name


def test_binarised_grades_keep_what_is_missing() -> None:
    matrix = np.array([[0, 1, 2, np.nan], [3, 2, np.nan, 0]])
    np.testing.assert_array_equal(binarise(matrix, at=2), [[0, 0, 1, np.nan], [1, 1, np.nan, 0]])


def test_zero_fills_only_what_was_asked_for() -> None:
    matrix = np.array([[1, np.nan, np.nan], [2, 3, np.nan]])
    asked = np.array([[True, True, False], [True, True, False]])
    np.testing.assert_array_equal(POLICIES["zero"](matrix, asked), [[1, 0, np.nan], [2, 3, np.nan]])
    np.testing.assert_array_equal(POLICIES["drop"](matrix, asked), matrix)
