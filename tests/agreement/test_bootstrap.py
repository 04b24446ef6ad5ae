"""Intervals: against SciPy's BCa, against theory on simulated queries, and where there is none to be had."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest
from annot.agreement.coefficients import COEFFICIENTS
from annot.agreement.contingency import COEFFICIENTS_OF_COUNTS, Counts, count
from annot.agreement.groups import of_pooled, pooled, resample
from annot.agreement.tables import agreement_table
from annot.records import Decision, Judgement
from annot.stats.bootstrap import Bootstrap, draw, intervals, of_queries
from annot.stats.values import Interval, Undefined
from scipy import stats

PLAN = Bootstrap(resamples=2000, level=0.95, seed=13)
GRADES = (0, 1, 2, 3)


def simulated_queries(n_queries: int, n_pairs: int, seed: int) -> list[np.ndarray]:
    """Two assessors who see the same latent grade through noise of their own; queries differ in prevalence."""
    rng = np.random.default_rng(seed)
    queries = []
    for _ in range(n_queries):
        latent = rng.poisson(rng.uniform(0.3, 1.2), size=n_pairs)
        queries.append(np.clip(latent + rng.integers(-1, 2, size=(2, n_pairs)), 0, 3).astype(float))
    return queries


def counts_of(queries: list[np.ndarray]) -> Counts:
    return Counts.stack([Counts.stack([count(one, GRADES)]) for one in queries])


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_bca_is_scipys_on_the_same_resamples(statistic: str) -> None:
    """scipy.stats.bootstrap with our own resamples handed in, so that only the correction is compared."""
    values = np.random.default_rng(4).gamma(2.0, size=40)
    of = {"mean": np.mean, "median": np.median}[statistic]
    replicates = of(values[draw(40, plan=PLAN, key="k")], axis=1)
    ours = of_queries(values, statistic=statistic, plan=PLAN, key="k")
    for method, found in (("BCa", ours.bca), ("percentile", ours.percentile)):
        theirs = stats.bootstrap(
            (values,),
            of,
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
        found = of_queries(rng.normal(size=60), statistic="mean", plan=plan, key=str(trial))
        for method in covered:
            interval = getattr(found, method)
            covered[method] += interval.low <= 0 <= interval.high
    assert min(covered.values()) >= 270
    assert max(covered.values()) < 300


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_pooled_resample_is_the_coefficient_of_the_resampled_judgements(name: str) -> None:
    queries = simulated_queries(6, 20, seed=2)
    plan = Bootstrap(resamples=5, level=0.95, seed=3)
    drawn = draw(6, plan=plan, key="g")
    resamples = resample(counts_of(queries), plan=plan, key="g")
    others = np.array([[at for at in range(6) if at != left] for left in range(6)])
    rows = [*drawn, *others, np.arange(6)]
    found = [*pooled(resamples.drawn, GRADES, name=name), *pooled(resamples.left_out, GRADES, name=name)]
    found += [*pooled(resamples.whole, GRADES, name=name)]
    for picked, value in zip(rows, found, strict=True):
        judgements = np.concatenate([queries[at] for at in picked], axis=1)
        assert value == pytest.approx(COEFFICIENTS[name](judgements, GRADES), abs=1e-9)


def test_pooled_interval_holds_the_figure_and_narrows_with_more_queries() -> None:
    widths = []
    for n_queries in (10, 160):
        counts = counts_of(simulated_queries(n_queries, 30, seed=5))
        whole = float(COEFFICIENTS_OF_COUNTS["kappa"](counts.weighted(np.ones((1, n_queries))), GRADES)[0, 0])
        found = of_pooled(resample(counts, plan=PLAN, key="g"), GRADES, name="kappa", plan=PLAN)
        for interval in (found.percentile, found.bca):
            assert isinstance(interval, Interval)
            assert interval.low < whole < interval.high
        assert isinstance(found.percentile, Interval)
        widths.append(found.percentile.high - found.percentile.low)
    assert widths[1] < widths[0] / 2


def test_resampling_whole_queries_is_wider_than_resampling_pairs_where_queries_differ() -> None:
    """Half of the queries agree fully, half by chance: pairs of one query are not independent."""
    rng = np.random.default_rng(1)
    queries = []
    for at in range(20):
        first = rng.integers(0, 4, size=50).astype(float)
        queries.append(np.stack([first, first if at % 2 else rng.permutation(first)]))
    by_query = of_pooled(resample(counts_of(queries), plan=PLAN, key="g"), GRADES, name="kappa", plan=PLAN)
    pairs = [one[:, [at]] for one in queries for at in range(50)]
    by_pair = of_pooled(
        resample(counts_of(pairs), plan=Bootstrap(500, 0.95, 1), key="g"), GRADES, name="kappa", plan=PLAN
    )
    assert isinstance(by_query.percentile, Interval)
    assert isinstance(by_pair.percentile, Interval)
    width = by_query.percentile.high - by_query.percentile.low
    assert width > 3 * (by_pair.percentile.high - by_pair.percentile.low)


def test_same_seed_same_interval_and_another_seed_another() -> None:
    values = np.random.default_rng(0).normal(size=25)
    first = of_queries(values, statistic="mean", plan=PLAN, key="method")
    assert first == of_queries(values, statistic="mean", plan=PLAN, key="method")
    assert first != of_queries(values, statistic="mean", plan=Bootstrap(2000, 0.95, 14), key="method")
    assert first != of_queries(values, statistic="mean", plan=PLAN, key="background")


def test_wider_level_wider_interval() -> None:
    values = np.random.default_rng(0).normal(size=25)
    narrow = of_queries(values, statistic="mean", plan=Bootstrap(2000, 0.5, 13), key="m").percentile
    wide = of_queries(values, statistic="mean", plan=Bootstrap(2000, 0.99, 13), key="m").percentile
    assert isinstance(narrow, Interval)
    assert isinstance(wide, Interval)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("values", [[], [0.4]])
def test_fewer_than_two_queries_have_no_interval(values: list[float]) -> None:
    found = of_queries(np.array(values), statistic="median", plan=PLAN, key="m")
    assert isinstance(found.percentile, Undefined)
    assert isinstance(found.bca, Undefined)
    assert "resample" in found.bca.reason


def test_equal_values_have_no_bca_interval_and_a_percentile_interval_of_no_width() -> None:
    found = of_queries(np.full(12, 0.3), statistic="median", plan=PLAN, key="m")
    assert isinstance(found.percentile, Interval)
    assert (found.percentile.low, found.percentile.high) == (0.3, 0.3)
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


def test_undefined_queries_take_part_in_the_resampling() -> None:
    """Two queries of which one has no value: a quarter of the resamples has none, so there is no interval."""
    found = of_queries(np.array([0.5, np.nan]), statistic="median", plan=PLAN, key="m")
    assert isinstance(found.percentile, Undefined)
    assert "resamples have no value" in found.percentile.reason


@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_statistics_skip_what_is_undefined(statistic: str) -> None:
    """The interval of a sample with gaps lies where numpy's nan-aware statistic lies."""
    values = np.array([0.1, np.nan, 0.4, 0.8, 0.5, 0.2, np.nan, 0.9, 0.3, 0.7])
    drawn = values[draw(len(values), plan=PLAN, key="m")]
    theirs = {"median": np.nanmedian, "mean": np.nanmean}[statistic](drawn, axis=1)
    found = of_queries(values, statistic=statistic, plan=PLAN, key="m").percentile
    assert isinstance(found, Interval)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(theirs, [0.025, 0.975])))


def test_all_intervals_of_fifty_queries_take_ten_seconds_at_most() -> None:
    """50 queries x 125 pairs, 2,000 resamples, every coefficient, before and after: processor time with imports."""
    queries = simulated_queries(50, 125, seed=6)
    judgements = [
        Judgement(f"q{at}-method", f"d{doc}", f"a{row}", int(grade))
        for at, one in enumerate(queries)
        for row, grades in enumerate(one, start=1)
        for doc, grade in enumerate(grades)
    ]
    decisions = [
        Decision(f"q{at}-method", f"d{doc}", int(grade), "adjudicated")
        for at, one in enumerate(queries)
        for doc, grade in enumerate(one.max(axis=0))
    ]
    started = time.thread_time()
    table = agreement_table(
        judgements,
        decisions,
        {f"q{at}-method": "method" for at in range(50)},
        grades=GRADES,
        missing="drop",
        binarised_at=None,
        bootstrap=PLAN,
    )
    assert time.thread_time() - started < 10
    for summary in [*table.groups[0].before.values(), *table.groups[0].after.values()]:
        assert summary.intervals is not None
        assert all(isinstance(found.percentile, Interval) for found in summary.intervals.values())
