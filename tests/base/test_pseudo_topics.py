"""Intervals of few topics, numbers of topics and tests at their edges: by hand, Cohen's table, SciPy and simulation."""

import math
from itertools import product

import numpy as np
import pytest
from annot.base.stats import inference
from annot.base.stats.inference import (
    POWER,
    PSEUDO_DOCUMENTS,
    Reach,
    differing_share,
    ends_of_mean,
    half_of_difference,
    holm,
    interval_of_difference,
    interval_of_mean,
    least_effect,
    max_t_tests,
    power_of,
    ratio_interval,
    t_tests,
    tau_ap,
    tau_b_of_rows,
    tukey_tests,
    units_needed,
)
from annot.base.stats.values import Interval, Undefined
from scipy import optimize, stats

LEVEL = 0.95
VALUES = np.array([0.02, 0.5, 0.01, 0.05, 1.0, 0.03, 0.2])


def of_mean(values: np.ndarray, reach: Reach) -> Interval:
    interval = interval_of_mean(values[:, None], np.ones((len(values), 1)), reach, level=LEVEL, unit="topic")
    assert isinstance(interval, Interval)
    return interval


def of_difference(a: np.ndarray, b: np.ndarray, reach: Reach) -> Interval | Undefined:
    return interval_of_difference(a[:, None], b[:, None], np.ones((len(a), 1)), reach, level=LEVEL, unit="topic")


@pytest.mark.parametrize("highest", [1.0, 0.6])
def test_the_ends_of_a_mean_are_the_means_that_a_score_test_of_all_topics_just_allows(highest: float) -> None:
    """With one whole topic at each end: these two are added by hand, and each end is looked for as a root."""
    topics = np.array([*VALUES * highest, 0.0, highest])
    mean, variance = topics.mean(), topics.var(ddof=1) / len(topics)
    t = stats.t.ppf(0.975, len(VALUES) - 1)

    def score(true: float) -> float:
        return float((mean - true) ** 2 - t**2 * variance * true * (1 - true) / (mean * (1 - mean)))

    interval = of_mean(VALUES * highest, Reach(highest, 1 / PSEUDO_DOCUMENTS))
    expected = (optimize.brentq(score, 0, mean), optimize.brentq(score, mean, 1))
    assert (interval.low, interval.high) == pytest.approx(expected)


def test_half_of_a_difference_is_that_of_students_t_without_topics_that_are_added() -> None:
    a, b = VALUES, VALUES[::-1]
    half = half_of_difference(a - b, differing_share(a, b), np.array(1.0), np.array(0.0), level=LEVEL)
    ends = stats.ttest_1samp(a - b, 0).confidence_interval(LEVEL)
    assert 2 * float(half) == pytest.approx(ends.high - ends.low)


def test_near_copies_keep_a_narrow_interval_and_other_runs_with_the_same_differences_do_not() -> None:
    a = np.array([0.5, 0.6, 0.4, 0.55, 0.7, 0.45])
    gaps = np.array([0.01, 0, 0, -0.01, 0.01, 0])
    copies = of_difference(a, a - gaps, Reach(1.0, 0.5))
    weak = of_difference(0.02 + gaps, np.full(6, 0.02), Reach(1.0, 0.5))
    by_t = stats.ttest_1samp(gaps, 0).confidence_interval(LEVEL)
    assert isinstance(copies, Interval)
    assert isinstance(weak, Interval)
    assert copies.high - copies.low < 1.2 * (by_t.high - by_t.low)
    assert weak.high - weak.low > 5 * (by_t.high - by_t.low)


def test_a_run_that_is_perfect_on_all_topics_has_an_interval_and_one_without_relevant_documents_has_none() -> None:
    perfect = of_mean(np.ones(6), Reach(1.0, 1.0))
    assert 0.4 < perfect.low < perfect.high == 1
    nothing = interval_of_mean(np.zeros((6, 1)), np.ones((6, 1)), Reach(0.0, 1.0), level=LEVEL, unit="topic")
    assert nothing == Undefined("the mean is not between 0 and 1")


def test_runs_with_equal_values_on_all_topics_have_no_interval() -> None:
    same = of_difference(VALUES, VALUES, Reach(1.0, 1.0))
    assert isinstance(same, Undefined)
    assert same.reason == "leaving out any topic does not change it, so how it varies over topics is not known"


def test_three_topics_have_no_interval_and_an_unknown_reach_has_that_of_the_jackknife() -> None:
    sums, sizes = VALUES[:, None], np.ones((7, 1))
    few = interval_of_mean(sums[:3], sizes[:3], Reach(1.0, 1.0), level=LEVEL, unit="topic")
    assert few == Undefined("3 topics: an interval over topics needs 4")
    assert interval_of_mean(sums, sizes, None, level=LEVEL, unit="topic") == ratio_interval(
        sums, sizes, level=LEVEL, unit="topic"
    )


@pytest.mark.parametrize("topics", [6, 10, 25])
def test_intervals_hold_where_each_topic_has_one_relevant_document_that_is_rarely_found(topics: int) -> None:
    """Its rank is any of 1 to 100 and a run's measure 1 / rank, so the true mean is that of these fractions.

    Without the topics that are added, the interval contains it in fewer than 80 of 100 studies of 10 topics.
    """
    fractions = 1 / np.arange(1, 101)
    drawn = np.random.default_rng(topics).choice(fractions, (4000, topics))
    low, high = ends_of_mean(drawn, np.array(1.0), np.array(Reach(1.0, 1.0).weight), level=LEVEL)
    assert np.mean((low <= fractions.mean()) & (fractions.mean() <= high)) > 0.92
    bare_low, bare_high = ends_of_mean(drawn, np.array(1.0), np.array(0.0), level=LEVEL)
    assert topics > 10 or np.mean((bare_low <= fractions.mean()) & (fractions.mean() <= bare_high)) < 0.8


@pytest.mark.parametrize(
    ("effect", "alpha", "n"),
    # G*Power 3.1, t tests, difference between two dependent means, two tails, power 0.8.
    [(0.2, 0.05, 199), (0.5, 0.05, 34), (0.8, 0.05, 15), (1.0, 0.05, 10), (0.5, 0.01, 51)],
)
def test_the_number_of_units_is_that_of_known_tables(effect: float, alpha: float, n: int) -> None:
    assert units_needed(effect, alpha=alpha) == n


@pytest.mark.parametrize("effect", [0.07, 0.3, 0.66, 1.7])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_one_unit_less_would_not_do(effect: float, alpha: float) -> None:
    n = units_needed(effect, alpha=alpha)
    assert n is not None

    def power(units: int) -> float:
        critical, shift = stats.t.ppf(1 - alpha / 2, units - 1), effect * np.sqrt(units)
        return float(stats.nct.sf(critical, units - 1, shift) + stats.nct.cdf(-critical, units - 1, shift))

    assert power(n) >= POWER > power(n - 1)
    critical = float(stats.t.ppf(1 - alpha / 2, n - 1))
    assert power_of(n, effect, critical=critical) == pytest.approx(power(n))
    assert least_effect(n, critical=critical) <= effect < least_effect(n - 1, critical=critical) * 1.2


def test_no_number_is_enough_for_no_effect_and_two_are_the_least() -> None:
    assert units_needed(0.0, alpha=0.05) is None
    assert units_needed(1e6, alpha=0.05) == 2
    assert units_needed(1e6, alpha=0.05, fewest=6) == 6
    assert power_of(6, [0.0], critical=float(stats.t.ppf(0.975, 5))) == pytest.approx(0.05)


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
