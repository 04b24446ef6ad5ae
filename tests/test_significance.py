"""Paired tests and the step-down maximum of t against published figures, SciPy, brute force, and planted truth."""

import itertools
import math

import numpy as np
import pytest
from annot.base.stats import inference
from annot.base.stats.inference import MaxT, holm, max_t_tests, randomisation_tests, tau_b_of_rows, tukey_tests
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Eighths of an inch between crossed and self-fertilised maize: Fisher 1935, The Design of Experiments, table 3."""

tenths = st.integers(-10, 10).map(lambda value: value / 10)


def p_of(differences: list[float] | np.ndarray, *, exact_up_to: int = 20, permutations: int = 2000, seed: int = 7):
    rows = np.asarray(differences, dtype=float)[None, :]
    return randomisation_tests(rows, exact_up_to=exact_up_to, permutations=permutations, seed=seed)[0]


def test_fishers_own_example() -> None:
    """Section 21: in 863 of 32,768 arrangements the sum is 314 or more, so in 1,726 it is as far from 0."""
    assert p_of(DARWIN) == 1726 / 32768


@given(st.lists(tenths, min_size=2, max_size=9))
def test_exact_p_is_that_of_scipy(differences: list[float]) -> None:
    """In tenths many sums tie, which must count as ties although their digits differ."""
    expected = (
        stats.permutation_test(
            (differences, np.zeros(len(differences))),
            lambda x, y, axis: np.round(np.mean(x - y, axis=axis), 9),
            permutation_type="samples",
            n_resamples=np.inf,
            alternative="two-sided",
            vectorized=True,
        )
        if any(differences)
        else None
    )
    # SciPy doubles the smaller tail; the tails of a symmetric distribution are equal, and 1 is the most there is.
    assert p_of(differences) == pytest.approx(min(1.0, float(expected.pvalue)) if expected else 1.0)


@pytest.mark.parametrize("exact_up_to", [0, 20])
def test_a_pairs_p_does_not_depend_on_the_pairs_beside_it(exact_up_to: int) -> None:
    rows = np.random.default_rng(1).normal(0.1, 0.4, (5, 12))
    together = randomisation_tests(rows, exact_up_to=exact_up_to, permutations=500, seed=3)
    assert together.tolist() == [p_of(row, exact_up_to=exact_up_to, permutations=500, seed=3) for row in rows]


def tau_b(first: list[float] | np.ndarray, second: list[float] | np.ndarray) -> float:
    (tau,) = tau_b_of_rows(np.array([first], dtype=float), np.array([second], dtype=float))
    return float(tau)


def test_tau_b_of_published_examples() -> None:
    """Hollander and Wolfe 1973, page 187 (tau 0.4444, no ties). Agresti 2002, table 2.8, income by job satisfaction:
    1,331 concordant and 849 discordant pairs, tau-b as their count without ties on either side makes it."""
    assert tau_b(
        [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1], [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    ) == pytest.approx(4 / 9)
    table = np.array([[1, 3, 10, 6], [2, 3, 10, 7], [1, 6, 14, 12], [0, 1, 9, 11]])
    income, satisfaction = (np.repeat(side.ravel(), table.ravel()) for side in np.indices(table.shape))
    n = table.sum() * (table.sum() - 1) / 2
    untied = [n - (margin * (margin - 1) / 2).sum() for margin in (table.sum(axis=0), table.sum(axis=1))]
    expected = (1331 - 849) / np.sqrt(untied[0] * untied[1])
    assert tau_b(income, satisfaction) == pytest.approx(expected)


def tukey(values: np.ndarray, *, permutations: int = 4000, seed: int = 3) -> dict[tuple[int, int], float]:
    pairs = list(itertools.combinations(range(values.shape[1]), 2))
    return dict(zip(pairs, tukey_tests(values, pairs, permutations=permutations, seed=seed), strict=True))


def test_tukey_of_two_runs_is_the_paired_randomisation_test() -> None:
    """With two runs the largest mean less the smallest is the difference, whose exact p is Fisher's."""
    values = np.column_stack([np.array(DARWIN, dtype=float), np.zeros(15)])
    assert tukey(values, permutations=20_000)[0, 1] == pytest.approx(1726 / 32768, abs=4 * 0.00158)


def test_tukey_is_what_all_shuffles_by_brute_force_say() -> None:
    """Three runs on four units: 6^4 arrangements."""
    values = np.random.default_rng(5).normal(0, 1, (4, 3)) + np.array([0.0, 0.8, 1.6])
    means = values.sum(axis=0)
    orders = [list(order) for order in itertools.permutations(range(3))]
    ranges = np.array(
        [
            np.ptp(sum(values[unit, order] for unit, order in enumerate(arrangement)))
            for arrangement in itertools.product(orders, repeat=4)
        ]
    )
    found = tukey(values, permutations=40_000)
    for (a, b), p in found.items():
        exact = np.mean(ranges >= abs(means[a] - means[b]) - 1e-9)
        assert p == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 40_000)), (a, b)


ALPHA = 0.05


def max_t_of(rows: np.ndarray, *, permutations: int = 10_000) -> MaxT:
    return max_t_tests(np.asarray(rows, dtype=float), alpha=ALPHA, permutations=permutations, seed=3)


def by_brute_force(rows: np.ndarray) -> list[float]:
    """Westfall and Young 1993, algorithm 2.8, step by step: all 2^n flips, |t| of each pair by SciPy."""
    n = rows.shape[1]
    flips = [np.array(signs) for signs in itertools.product((1.0, -1.0), repeat=n)]
    observed = size_of_t(rows)
    after = [size_of_t(rows * signs) for signs in flips]
    order = sorted(range(len(rows)), key=lambda at: -observed[at])
    p_values, so_far = [math.nan] * len(rows), 0.0
    for place, at in enumerate(order):
        left = order[place:]
        reached = [max(of[other] for other in left) >= observed[at] * (1 - 1e-9) for of in after]
        so_far = max(so_far, float(np.mean(reached)))
        p_values[at] = so_far
    return p_values


def size_of_t(rows: np.ndarray) -> np.ndarray:
    return np.abs(stats.ttest_1samp(rows, 0, axis=1).statistic)


@pytest.mark.parametrize("seed", range(3))
def test_exact_p_is_that_of_all_flips_by_brute_force(seed: int) -> None:
    """Differences of four runs on seven papers, which hang together as pairs of runs do."""
    rng = np.random.default_rng(seed)
    runs = rng.normal(0, 0.2, (4, 7)) + np.array([[0.0], [0.1], [0.3], [0.5]])
    rows = np.array([one - other for one, other in itertools.combinations(runs, 2)])
    found = max_t_of(rows)
    assert found.p_values.tolist() == by_brute_force(rows)
    assert found.least_p == 1 / 64


@given(st.lists(st.lists(tenths, min_size=7, max_size=7), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_p_follows_t_and_not_the_names_the_sides_or_the_order_of_pairs(rows: list[list[float]], random) -> None:
    values = np.array(rows)
    found = max_t_of(values)
    alone = randomisation_tests(values, exact_up_to=20, permutations=1, seed=0)
    assert all(one >= of_one for one, of_one in zip(found.p_values, alone, strict=True))
    size = np.abs(values.sum(axis=1)) / np.maximum(np.sqrt((values**2).sum(axis=1)), 1e-9)
    for a, b in itertools.permutations(range(len(values)), 2):
        assert size[a] < size[b] + 1e-9 or found.p_values[a] <= found.p_values[b]
    order = list(range(len(values)))
    random.shuffle(order)
    turned = np.array([random.choice((-1, 1)) * values[at] for at in order])
    assert max_t_of(turned).p_values.tolist() == found.p_values[order].tolist()


def test_six_papers_can_show_something_and_five_cannot_however_many_runs_there_are() -> None:
    """Twelve runs in the same order on every paper: Holm's least p is 66 / 32."""
    for papers, holds in ((5, False), (6, True)):
        rng = np.random.default_rng(1)
        runs = np.arange(12)[:, None] + rng.normal(0, 0.01, (12, papers))
        rows = np.array([one - other for one, other in itertools.combinations(runs, 2)])
        found = max_t_of(rows)
        assert found.least_p == 2.0 ** (1 - papers)
        assert found.p_values.min() == found.least_p
        assert (found.p_values.min() <= ALPHA) == holds
        assert math.isinf(found.critical) == (not holds)


def test_a_small_difference_of_near_copies_is_found_next_to_large_ones() -> None:
    """The mean would hide it: no flip moves the pair as far as it moves runs that differ by much."""
    rng = np.random.default_rng(4)
    engine, other = rng.normal(0, 0.3, (2, 30))
    copy = engine + 0.01 + rng.normal(0, 0.005, 30)
    rows = np.array([copy - engine, engine - other, copy - other])
    found = max_t_of(rows, permutations=5_000)
    assert found.p_values[0] == 1 / 5001
    flips = np.random.default_rng(5).choice((-1, 1), (5_000, 30))
    largest = np.abs(flips @ rows.T).max(axis=1)
    assert np.mean(largest >= abs(rows[0].sum())) > 0.5


def test_drawn_p_is_near_the_exact_one_reproducible_never_zero_and_the_same_in_any_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = np.random.default_rng(6).normal(0, 1, (4, 14)) + np.array([[0.0], [0.3], [0.6], [1.5]])
    rows = np.array([one - other for one, other in itertools.combinations(runs, 2)])
    exact, drawn = max_t_of(rows), max_t_of(rows, permutations=8_000)
    assert drawn.least_p == 1 / 8_001
    assert drawn.p_values == pytest.approx(exact.p_values, abs=4 * 0.5 / math.sqrt(8_000))
    assert drawn.critical == pytest.approx(exact.critical, rel=0.05)
    monkeypatch.setattr(inference, "_FLIPS_AT_ONCE", 100)
    assert max_t_of(rows, permutations=8_000).p_values.tolist() == drawn.p_values.tolist()
    assert max_t_of(rows).p_values.tolist() == exact.p_values.tolist()
    assert max_t_of(np.full((2, 30), 0.5), permutations=99).p_values.tolist() == [0.01, 0.01]


# -- corrected for their number ----------------------------------------------------------------------------------------


def test_holm_on_published_p_values() -> None:
    """The 15 p-values of Benjamini and Hochberg 1995, Controlling the False Discovery Rate, in their example: with the
    family-wise error at 0.05 the first three are rejected, and no more."""
    ten_thousandths = "1 4 19 95 201 278 298 344 459 3240 4262 5719 6528 7590 10000"
    p = [int(number) / 10_000 for number in ten_thousandths.split()]
    found = holm(p)
    assert [value <= 0.05 for value in found] == [True] * 3 + [False] * 12
    assert found[:4] == pytest.approx((15 * 0.0001, 14 * 0.0004, 13 * 0.0019, 12 * 0.0095))


def test_holm_gives_what_r_gives() -> None:
    # R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx((0.05, 0.08, 0.09, 0.09, 0.09))
    assert holm([0.5, 0.9, 0.001]) == pytest.approx((1.0, 1.0, 0.003))


@given(st.lists(st.floats(0, 1), max_size=8), st.randoms(use_true_random=False))
def test_holm_keeps_the_order_lies_between_p_and_bonferroni_and_goes_with_its_p(p: list[float], random) -> None:
    found = holm(p)
    for at, value in enumerate(found):
        assert p[at] <= value <= max(p[at], min(1, len(p) * p[at]))
        assert all(found[other] <= value for other in range(len(p)) if p[other] <= p[at])
    order = list(range(len(p)))
    random.shuffle(order)
    assert holm([p[at] for at in order]) == tuple(found[at] for at in order)
