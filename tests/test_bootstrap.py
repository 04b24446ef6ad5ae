"""Intervals by resampling: against SciPy's BCa, against theory on simulated queries, and where there is none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from annot.stats.bootstrap import Bootstrap, draw, intervals, of_clusters
from annot.stats.values import Interval, Intervals, Undefined
from scipy import stats

PLAN = Bootstrap(resamples=2000, level=0.95, seed=13)


def of_mean(values: np.ndarray, *, plan: Bootstrap = PLAN, key: str = "m") -> Intervals:
    return of_clusters(values[:, None], np.ones((len(values), 1)), cluster="query", plan=plan, key=key)


def test_bca_is_scipys_on_the_same_resamples() -> None:
    """scipy.stats.bootstrap with our own resamples handed in, so that only the correction is compared."""
    values = np.random.default_rng(4).gamma(2.0, size=40)
    replicates = np.mean(values[draw(40, plan=PLAN, key="k")], axis=1)
    ours = of_mean(values, key="k")
    for method, found in (("BCa", ours.bca), ("percentile", ours.percentile)):
        theirs = stats.bootstrap(
            (values,),
            np.mean,
            n_resamples=0,
            method=method,
            bootstrap_result=SimpleNamespace(bootstrap_distribution=replicates),
        ).confidence_interval
        assert isinstance(found, Interval)
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_a_resample_that_differs_in_its_last_bit_counts_as_equal_to_the_figure() -> None:
    """Half of the resamples hit the figure: half of those count as below it, wherever their last bits fall."""
    estimate, left_out = 1 / 3, np.array([0.2, 0.3, 0.5])
    replicates = np.concatenate([np.linspace(0.1, 0.3, 250), np.full(500, estimate), np.linspace(0.4, 0.9, 250)])
    found = {
        intervals(
            estimate=estimate,
            replicates=np.where(replicates == estimate, hit, replicates),
            left_out=left_out,
            level=0.95,
        )
        for hit in (estimate, np.nextafter(estimate, 0), np.nextafter(estimate, 1))
    }
    assert len(found) == 1


def test_interval_of_a_mean_covers_it_as_often_as_it_says() -> None:
    """300 samples of 60 normal values: 95% coverage means 285, and fewer than 270 has a chance under 1 in 1,000."""
    rng = np.random.default_rng(8)
    plan = Bootstrap(resamples=400, level=0.95, seed=1)
    covered = {"percentile": 0, "bca": 0}
    for trial in range(300):
        found = of_mean(rng.normal(size=60), plan=plan, key=str(trial))
        for method in covered:
            interval = getattr(found, method)
            covered[method] += interval.low <= 0 <= interval.high
    assert min(covered.values()) >= 270
    assert max(covered.values()) < 300


def test_same_seed_same_interval_and_another_seed_another() -> None:
    values = np.random.default_rng(0).normal(size=25)
    first = of_mean(values)
    assert first == of_mean(values)
    assert first != of_mean(values, plan=Bootstrap(2000, 0.95, 14))
    assert first != of_mean(values, key="background")


def test_wider_level_wider_interval() -> None:
    values = np.random.default_rng(0).normal(size=25)
    narrow = of_mean(values, plan=Bootstrap(2000, 0.5, 13)).percentile
    wide = of_mean(values, plan=Bootstrap(2000, 0.99, 13)).percentile
    assert isinstance(narrow, Interval)
    assert isinstance(wide, Interval)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("values", [[], [0.4]])
def test_fewer_than_two_queries_have_no_interval(values: list[float]) -> None:
    found = of_mean(np.array(values))
    assert isinstance(found.percentile, Undefined)
    assert isinstance(found.bca, Undefined)
    assert "resample" in found.bca.reason


def test_equal_values_have_no_bca_interval_and_a_percentile_interval_of_no_width() -> None:
    found = of_mean(np.full(12, 0.3))
    assert isinstance(found.percentile, Interval)
    assert (found.percentile.low, found.percentile.high) == pytest.approx((0.3, 0.3))
    assert found.bca == Undefined("the figure is the same whichever query is left out")


def test_resamples_without_a_value_are_counted() -> None:
    values = np.array([np.nan, *np.linspace(0, 1, 9)])
    replicates = np.where(np.arange(1000) < 30, np.nan, 0.5 + np.linspace(-0.1, 0.1, 1000))
    found = intervals(estimate=0.5, replicates=replicates, left_out=values[1:], level=0.9)
    assert isinstance(found.percentile, Interval)
    assert found.percentile.undefined_resamples == 30
    assert found.percentile.low == pytest.approx(np.nanquantile(replicates, 0.05))


def test_interval_of_the_well_behaved_resamples_only_is_refused() -> None:
    replicates = np.where(np.arange(1000) < 60, np.nan, 0.5)
    found = intervals(estimate=0.5, replicates=replicates, left_out=np.array([0.1, 0.9]), level=0.9)
    assert found.percentile == Undefined("60 of 1000 resamples have no value")
