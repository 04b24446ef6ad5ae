"""Paired tests against Fisher's and others' published figures, SciPy, brute force, and planted truth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from annot.errors import InputError, UndefinedStatistic
from annot.stats.significance import (
    INTERVALS,
    compare_runs,
    difference_interval,
    kendall_tau_b,
    max_statistic_p_values,
    randomisation_test,
    randomisation_tests,
    tau_b_of_rows,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Eighths of an inch between crossed and self-fertilised maize: Fisher 1935, The Design of Experiments, table 3."""

tenths = st.integers(-10, 10).map(lambda value: value / 10)


def p_of(differences: list[float] | np.ndarray, *, exact_up_to: int = 20, permutations: int = 2000, seed: int = 7):
    return randomisation_test(differences, exact_up_to=exact_up_to, permutations=permutations, seed=seed)


def test_fishers_own_example() -> None:
    """Section 21: in 863 of 32,768 arrangements the sum is 314 or more, so in 1,726 it is as far from 0."""
    found = p_of(DARWIN)
    assert (found.method, found.permutations, found.n) == ("exact", 32768, 15)
    assert found.p_value == 1726 / 32768
    assert found.mean_difference == 314 / 15


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
    assert p_of(differences).p_value == pytest.approx(min(1.0, float(expected.pvalue)) if expected else 1.0)


@given(st.lists(tenths, min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_exact_p_does_not_depend_on_names_order_or_queries_that_tie(differences: list[float], random) -> None:
    p = p_of(differences).p_value
    shuffled = [-value for value in differences] + [0.0, 0.0]
    random.shuffle(shuffled)
    assert p_of(shuffled).p_value == pytest.approx(p)
    assert 0 < p <= 1


def test_forty_queries_are_counted_in_full_and_agree_with_the_normal_limit() -> None:
    d = np.random.default_rng(3).normal(0.08, 0.3, 36)
    exact = p_of(d, exact_up_to=40)
    assert exact.permutations == 2**36
    z = d.sum() / np.sqrt((d**2).sum())
    assert exact.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.003)


def test_drawn_p_is_reproducible_and_near_the_exact_one() -> None:
    drawn = [p_of(DARWIN, exact_up_to=0, permutations=20_000, seed=5) for _ in range(3)]
    assert drawn[0] == drawn[1] == drawn[2]
    assert drawn[0].method == "drawn"
    # Four standard errors of a share of 0.0527 among 20,000.
    assert drawn[0].p_value == pytest.approx(1726 / 32768, abs=4 * 0.00158)
    assert p_of(DARWIN, exact_up_to=0, permutations=20_000, seed=6).p_value != drawn[0].p_value


def test_drawn_p_is_never_zero() -> None:
    """Phipson and Smyth 2010: no permutation of 99 is as far out, so p is 1 in 100."""
    assert p_of(np.full(30, 0.5), exact_up_to=0, permutations=99).p_value == 1 / 100


@pytest.mark.parametrize("exact_up_to", [0, 20])
def test_a_pairs_p_does_not_depend_on_the_pairs_beside_it(exact_up_to: int) -> None:
    rows = np.random.default_rng(1).normal(0.1, 0.4, (5, 12))
    together = randomisation_tests(rows, exact_up_to=exact_up_to, permutations=500, seed=3)
    assert together == tuple(p_of(row, exact_up_to=exact_up_to, permutations=500, seed=3) for row in rows)


def test_runs_that_never_differ_have_p_one_and_no_query_has_no_p() -> None:
    assert p_of([0.0, 0.0, 0.0]).p_value == 1.0
    assert p_of([0.0, 0.0, 0.0], exact_up_to=-1, permutations=50).p_value == 1.0
    with pytest.raises(UndefinedStatistic, match="no query"):
        p_of([])
    with pytest.raises(UndefinedStatistic, match="no finite value"):
        p_of([0.1, float("nan")])


def test_under_no_difference_p_is_below_alpha_as_often_as_alpha() -> None:
    rows = np.random.default_rng(8).standard_t(3, (2000, 14))
    share = np.mean(
        [test.p_value <= 0.05 for test in randomisation_tests(rows, exact_up_to=14, permutations=1, seed=0)]
    )
    assert share == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 2000))


@given(st.integers(2, 3), st.integers(1, 3), st.data())
def test_max_statistic_counts_all_namings_as_scipy_does(k: int, n: int, data: st.DataObject) -> None:
    values = np.array(data.draw(st.lists(st.lists(tenths, min_size=n, max_size=n), min_size=k, max_size=k)))
    pairs = list(itertools.combinations(range(k), 2))

    def largest(*runs: np.ndarray) -> float:
        means = [np.mean(run) for run in runs]
        return round(max(abs(means[a] - means[b]) for a, b in pairs), 9)

    found = max_statistic_p_values(values, pairs, permutations=6**3, seed=0)
    every = [
        largest(*np.array(naming).T)
        for naming in itertools.product(*[list(itertools.permutations(query)) for query in values.T])
    ]
    for (a, b), p in zip(pairs, found, strict=True):
        observed = abs(values[a].mean() - values[b].mean())
        assert p == pytest.approx(np.mean([one >= observed - 1e-9 for one in every]))
    # SciPy's `samples` is the same shuffling of names within a query; its p is that of the widest pair.
    if n > 1 and np.ptp(values) > 0:
        scipys = stats.permutation_test(
            tuple(values), largest, permutation_type="samples", n_resamples=np.inf, alternative="greater"
        )
        assert min(found) == pytest.approx(scipys.pvalue)


def test_max_statistic_of_one_pair_is_the_paired_randomisation_test() -> None:
    other = np.random.default_rng(0).normal(size=15)
    values = np.stack([other + DARWIN, other])
    (p,) = max_statistic_p_values(values, [(0, 1)], permutations=2**15, seed=0)
    assert p == 1726 / 32768


def test_max_statistic_finds_one_planted_run_and_seldom_anything_where_all_are_alike() -> None:
    """All runs share a strong effect of the query, which an unpaired test would drown in."""
    rng = np.random.default_rng(4)
    pairs = list(itertools.combinations(range(4), 2))
    found, alarms = 0, 0
    for seed in range(100):
        alike = rng.normal(0, 1, 30) + rng.normal(0, 0.1, (4, 30))
        alarms += min(max_statistic_p_values(alike, pairs, permutations=199, seed=seed)) <= 0.05
        planted = alike + np.array([[0.15], [0], [0], [0]])
        p = dict(zip(pairs, max_statistic_p_values(planted, pairs, permutations=199, seed=seed), strict=True))
        found += all(p[0, other] <= 0.05 for other in (1, 2, 3))
    # Of 100 at a rate of 0.05, more than 12 come up once in a thousand.
    assert alarms <= 12
    assert found >= 90


def test_drawn_p_of_the_max_statistic_is_never_zero() -> None:
    values = np.stack([np.ones(30), np.zeros(30), np.zeros(30)])
    found = max_statistic_p_values(values, [(0, 1), (0, 2), (1, 2)], permutations=99, seed=1)
    assert found == (1 / 100, 1 / 100, 1.0)


def test_compare_runs_corrects_over_all_pairs_and_names_the_better_first_by_sign() -> None:
    rng = np.random.default_rng(2)
    base = rng.normal(0.5, 0.2, 20)
    values = {
        "good": base + 0.1 + rng.normal(0, 0.05, 20),
        "plain": base + rng.normal(0, 0.05, 20),
        "same": base + rng.normal(0, 0.05, 20),
    }
    by_query = {tag: {f"q{at:02}": value for at, value in enumerate(row)} for tag, row in values.items()}
    found = {(one.first, one.second): one for one in compare_runs(by_query, exact_up_to=20, permutations=999, seed=1)}
    assert set(found) == {("good", "plain"), ("good", "same"), ("plain", "same")}
    for (first, second), one in found.items():
        assert one.test == p_of(values[first] - values[second], permutations=999, seed=1)
        assert one.test.p_value <= one.p_holm
    assert found["good", "plain"].test.mean_difference > 0
    assert found["good", "plain"].p_holm <= 0.05
    by_pair = max_statistic_p_values(
        np.stack(list(values.values())), [(0, 1), (0, 2), (1, 2)], permutations=999, seed=1
    )
    assert tuple(one.p_max_statistic for one in found.values()) == by_pair
    assert max(by_pair[:2]) <= 0.05 < by_pair[2]
    assert found["plain", "same"].p_holm > 0.05
    assert compare_runs({"one": {"q": 1.0}}, exact_up_to=20, permutations=9, seed=1) == ()


def test_runs_without_the_same_queries_are_refused_with_every_gap() -> None:
    with pytest.raises(InputError) as caught:
        compare_runs({"a": {"q1": 1.0, "q2": 0.0}, "b": {"q2": 1.0, "q3": 0.5}}, exact_up_to=9, permutations=9, seed=1)
    assert caught.value.faults == (
        "a: no value for q3, which another run has",
        "b: no value for q1, which another run has",
    )


@pytest.mark.parametrize("method", INTERVALS)
def test_interval_is_scipys_but_for_the_draw(method: str) -> None:
    d = np.random.default_rng(6).gamma(1.0, 1.0, 33) - 0.5
    found = difference_interval(d, level=0.9, resamples=20_000, method=method, seed=1)
    scipys = stats.bootstrap(
        (d,), np.mean, n_resamples=20_000, confidence_level=0.9, method=method, rng=np.random.default_rng(9)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((scipys.low, scipys.high), abs=0.01 * np.std(d))
    assert found == difference_interval(d, level=0.9, resamples=20_000, method=method, seed=1)


@pytest.mark.parametrize("method", INTERVALS)
def test_interval_covers_the_truth(method: str) -> None:
    """95% intervals of 30 skewed differences, 200 studies: the mean of the whole is covered in 90% or more."""
    rng = np.random.default_rng(12)
    covered = 0
    for seed in range(200):
        d = rng.beta(2, 3, 30) - rng.beta(2, 4, 30)
        found = difference_interval(d, level=0.95, resamples=400, method=method, seed=seed)
        covered += found.low <= 2 / 5 - 2 / 6 <= found.high
    assert 180 <= covered <= 199


def test_an_interval_that_cannot_be_had_says_why() -> None:
    for differences, reason in (([], "0 query"), ([0.3], "1 query"), ([0.1, 0.1, 0.1], "the same in all 3")):
        with pytest.raises(UndefinedStatistic, match=reason):
            difference_interval(differences, level=0.95, resamples=100, method="percentile", seed=1)


def test_tau_b_of_published_examples() -> None:
    """Hollander and Wolfe 1973, page 187 (tau 0.4444, no ties). Agresti 2002, table 2.8, income by job satisfaction:
    1,331 concordant and 849 discordant pairs, tau-b as their count without ties on either side makes it."""
    assert kendall_tau_b(
        [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1], [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    ) == pytest.approx(4 / 9)
    table = np.array([[1, 3, 10, 6], [2, 3, 10, 7], [1, 6, 14, 12], [0, 1, 9, 11]])
    income, satisfaction = (np.repeat(side.ravel(), table.ravel()) for side in np.indices(table.shape))
    n = table.sum() * (table.sum() - 1) / 2
    untied = [n - (margin * (margin - 1) / 2).sum() for margin in (table.sum(axis=0), table.sum(axis=1))]
    expected = (1331 - 849) / np.sqrt(untied[0] * untied[1])
    assert kendall_tau_b(income, satisfaction) == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_tau_b_is_scipys_or_is_refused(pairs: list[tuple[int, int]]) -> None:
    x, y = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if len(set(x)) == 1 or len(set(y)) == 1:
        with pytest.raises(UndefinedStatistic, match="ties all"):
            kendall_tau_b(x, y)
        assert np.isnan(tau_b_of_rows(np.array([x], dtype=float), np.array([y], dtype=float)))[0]
    else:
        assert kendall_tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)


def test_a_ranking_of_one_run_has_no_tau() -> None:
    with pytest.raises(UndefinedStatistic, match=r"1 run\(s\)"):
        kendall_tau_b([0.3], [0.4])
