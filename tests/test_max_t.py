"""The step-down maximum of t, held against every flip by brute force, the test of one pair, and planted truth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from annot.base.stats import inference
from annot.base.stats.inference import MaxT, max_t_tests, randomisation_tests
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

ALPHA = 0.05
tenths = st.integers(-10, 10).map(lambda value: value / 10)


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


@pytest.mark.parametrize("seed", range(6))
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


def test_a_pair_holds_at_the_first_step_if_its_t_exceeds_the_critical_one() -> None:
    """Where all pairs are null but one, whose t is moved across the limit."""
    rng = np.random.default_rng(9)
    others = rng.normal(0, 1, (5, 12))
    for lead in np.linspace(0, 2, 41):
        rows = np.vstack([others, lead + rng.normal(0, 0.6, 12)])
        found = max_t_of(rows)
        size = size_of_t(rows)
        first = int(np.argmax(size))
        assert (found.p_values[first] <= ALPHA) == (size[first] > found.critical * (1 + 1e-9))
