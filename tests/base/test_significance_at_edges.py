"""Tests of differences at their edges: when all flips are counted, which flips these are, and what has no value."""

import math
from itertools import product

import numpy as np
import pytest
from annot.base.stats import inference
from annot.base.stats.inference import holm, max_t_tests, t_tests, tau_ap, tau_b_of_rows, tukey_tests
from scipy import stats

THREE = np.array([[2.0, 3, 2, 4, 3, 2], [0, 1, -1, 2, -1, 0], [1, 1, 2, 1, 1, 1]])


@pytest.mark.parametrize("permutations", [32, 33, 1000])
def test_all_flips_are_counted_where_they_are_no_more_than_may_be_drawn(permutations: int) -> None:
    found = max_t_tests(THREE, alpha=0.05, permutations=permutations, seed=0)
    # Six units have 2 to the 5th flips that differ in more than every sign.
    assert found.least_p == 1 / 32
    assert found.p_values.tolist() == [1 / 32, 1.0, 1 / 32]


@pytest.mark.parametrize("permutations", [9, 31])
def test_where_flips_are_drawn_the_observed_one_counts_with_them(permutations: int) -> None:
    assert max_t_tests(THREE, alpha=0.05, permutations=permutations, seed=0).least_p == 1 / (permutations + 1)


@pytest.mark.parametrize("at_once", [1, 6, 7, 12, 1000])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_flips_are_all_signs_behind_a_first_that_stays(
    monkeypatch: pytest.MonkeyPatch, at_once: int, n: int
) -> None:
    monkeypatch.setattr(inference, "_FLIPS_AT_ONCE", at_once)
    blocks = list(inference._all_flips(n, 2))
    assert all(block.shape[0] == n for block in blocks)
    # As many as fit into memory, and one at least.
    assert blocks[0].shape[1] == min(max(1, at_once // max(n, 2)), 2 ** (n - 1))
    columns = [tuple(column) for block in blocks for column in block.T]
    assert sorted(columns) == sorted((1.0, *signs) for signs in product((-1.0, 1.0), repeat=n - 1))


@pytest.mark.parametrize("at_once", [1, 8, 1000])
def test_drawn_flips_are_the_same_in_lots_of_any_size(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    whole = np.concatenate(list(inference._drawn_flips(4, 2, 25, 3, "max-t")), axis=1)
    monkeypatch.setattr(inference, "_FLIPS_AT_ONCE", at_once)
    assert np.array_equal(np.concatenate(list(inference._drawn_flips(4, 2, 25, 3, "max-t")), axis=1), whole)
    assert whole.shape == (4, 25)
    assert set(whole.ravel()) == {-1.0, 1.0}


def test_a_pair_holds_whatever_the_others_do_only_with_enough_units() -> None:
    # With five units the least p is one in sixteen.
    assert max_t_tests(THREE[:, :5], alpha=0.05, permutations=1000, seed=0).critical == math.inf
    # One flip of sixteen may reach as far: the critical t is that of the second farthest.
    row = np.array([[1.0, 2, 3, 4, 6]])
    found = max_t_tests(row, alpha=1 / 16, permutations=1000, seed=0)
    sums = sorted(abs(row[0] @ (1.0, *signs)) for signs in product((-1.0, 1.0), repeat=4))
    spread = [math.sqrt((5 * float((row**2).sum()) - total**2) / 4) for total in sums]
    assert found.critical == pytest.approx(sums[-2] / spread[-2])


def test_t_is_that_of_scipy_and_without_spread_or_a_second_unit_there_is_none() -> None:
    found = t_tests(THREE)
    assert found == pytest.approx(stats.ttest_1samp(THREE, 0, axis=1).pvalue)
    assert np.isnan(t_tests(np.array([[0.0, 0.0], [2.0, 2.0]]))).all()
    assert np.isnan(t_tests(np.array([[2.0]]))).all()


def test_corrected_values_are_no_more_than_one() -> None:
    assert holm([0.9, 0.6]) == (1.0, 1.0)
    assert holm([0.01]) == (0.01,)
    assert holm([0.3, 0.01]) == (0.3, 0.02)
    assert holm([]) == ()


def test_tau_needs_two_things_that_do_not_all_tie() -> None:
    rows = np.array([[1.0, 1, 1], [1, 2, 3], [3, 2, 1], [1, 3, 2], [1, 1, 2]])
    found = tau_b_of_rows(rows, np.array([[1.0, 2, 3]]))
    assert math.isnan(found[0])
    assert found[1:] == pytest.approx([1, -1, 1 / 3, 2 / math.sqrt(6)])
    assert math.isnan(tau_b_of_rows(np.array([[1.0]]), np.array([[1.0]]))[0])
    assert math.isnan(tau_ap([1], [1]))
    assert tau_ap([2, 1], [5, 4]) == 1.0
    assert math.isnan(tau_ap([1, 1], [2, 1]))
    assert math.isnan(tau_ap([2, 1], [1, 1]))


@pytest.mark.parametrize("at_once", [1, 12, 50, 10_000])
def test_tukeys_test_counts_the_observed_shuffle(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    same = np.ones((3, 2))
    monkeypatch.setattr(inference, "_FLIPS_AT_ONCE", at_once)
    assert tukey_tests(same, [(0, 1)], permutations=9, seed=0).tolist() == [1.0]
    # Twelve units that agree: one shuffle in 2048 is as far, and nine hardly ever hold it.
    apart = np.array([[1.0, 0.0]] * 12)
    assert tukey_tests(apart, [(0, 1), (1, 0)], permutations=9, seed=0).tolist() == [0.1, 0.1]
