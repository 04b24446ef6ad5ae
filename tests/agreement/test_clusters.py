"""Intervals over whole clusters: against SciPy's bootstrap, and what must hold whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
from annot.agreement import Interval, Undefined
from annot.stats.bootstrap import Bootstrap, draw, of_clusters
from scipy import stats

PLAN = Bootstrap(resamples=4000, level=0.95, seed=13)


def planted(seed: int, n: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of 2 to 30 pairs, each with a share of its own."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 31, n).astype(float)
    return rng.binomial(sizes.astype(int), rng.beta(2, 5, n)).astype(float), sizes


@pytest.mark.parametrize(("method", "scipys"), [("percentile", "percentile"), ("bca", "BCa")])
def test_the_interval_of_a_share_is_scipys_for_the_ratio_of_the_clusters_sums(method: str, scipys: str) -> None:
    sums, sizes = planted(1)
    found = getattr(of_clusters(sums[:, None], sizes[:, None], cluster="query", plan=PLAN, key="share"), method)
    assert isinstance(found, Interval)

    def ratio(x: np.ndarray, n: np.ndarray, axis: int = -1) -> np.ndarray:
        return x.sum(axis=axis) / n.sum(axis=axis)

    expected = stats.bootstrap(
        (sums, sizes), ratio, paired=True, vectorized=True, n_resamples=20_000, method=scipys, rng=7
    ).confidence_interval
    # Two draws of the resamples: the ends of 4,000 vary by a few thousandths.
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.006)


def test_the_percentile_interval_is_the_quantiles_of_the_resampled_shares() -> None:
    sums, sizes = planted(2)
    found = of_clusters(sums[:, None], sizes[:, None], cluster="query", plan=PLAN, key="share").percentile
    shares = [sums[rows].sum() / sizes[rows].sum() for rows in draw(len(sums), plan=PLAN, key="share")]
    assert isinstance(found, Interval)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(shares, [0.025, 0.975])))


def test_strata_are_averaged_after_their_own_means() -> None:
    """Two folds of six clusters: the figure is the mean of the folds' means, whatever their sizes."""
    rng = np.random.default_rng(3)
    fold = np.array([0, 0, 0, 0, 1, 1])
    values = rng.random(6)
    sizes = np.eye(2)[fold]
    found = of_clusters(values[:, None] * sizes, sizes, cluster="paper", plan=PLAN, key="folds").percentile
    means = []
    for rows in draw(6, plan=PLAN, key="folds"):
        of_folds = [values[rows][fold[rows] == at] for at in (0, 1)]
        if all(map(len, of_folds)):
            means.append(np.mean([one.mean() for one in of_folds]))
    lost = PLAN.resamples - len(means)
    assert lost > 0.05 * PLAN.resamples
    assert found == Undefined(f"{lost} of {PLAN.resamples} resamples have no value")
    # With every cluster in both folds none is lost, and the figure is the mean of two means.
    both = np.stack([values, 1 - values**2], axis=1)
    found = of_clusters(both, np.ones((6, 2)), cluster="paper", plan=PLAN, key="folds").percentile
    expected = np.quantile([both[rows].mean(axis=0).mean() for rows in draw(6, plan=PLAN, key="folds")], [0.025, 0.975])
    assert isinstance(found, Interval)
    assert (found.low, found.high) == pytest.approx(tuple(expected))


def test_clusters_that_go_together_widen_the_interval() -> None:
    """Each value twice in one cluster is not two observations."""
    values = np.random.default_rng(4).random(20)
    alone = of_clusters(values[:, None], np.ones((20, 1)), cluster="query", plan=PLAN, key="one").percentile
    doubled = of_clusters(2 * values[:, None], np.full((20, 1), 2.0), cluster="paper", plan=PLAN, key="one").percentile
    apart = of_clusters(
        np.repeat(values, 2)[:, None], np.ones((40, 1)), cluster="query", plan=PLAN, key="one"
    ).percentile
    assert isinstance(alone, Interval)
    assert isinstance(apart, Interval)
    assert doubled == alone
    assert apart.high - apart.low < alone.high - alone.low


def test_one_cluster_has_no_interval_and_it_is_said_why() -> None:
    found = of_clusters(np.ones((1, 1)), np.ones((1, 1)), cluster="query paper", plan=PLAN, key="one")
    assert found.bca == found.percentile == Undefined("1 query paper: nothing to resample")
