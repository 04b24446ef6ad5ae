"""Intervals over whole queries: against SciPy, by hand, against theory on simulated queries, and where none is."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.base.stats.inference import jackknife_interval, mean_interval, median_interval
from annot.base.stats.values import Interval, Undefined
from annot.measuring.agreement.coefficients import (
    COEFFICIENTS,
    PooledPairs,
    count,
    pooled_between,
    tables_between,
)
from annot.measuring.agreement.estimates import agreement_table
from scipy import stats

GRADES = (0, 1, 2, 3)


def simulated_queries(n_queries: int, n_pairs: int, seed: int, assessors: int = 2) -> list[np.ndarray]:
    """Assessors who see the same latent grade through noise of their own; queries differ in prevalence."""
    rng = np.random.default_rng(seed)
    queries = []
    for _ in range(n_queries):
        latent = rng.poisson(rng.uniform(0.3, 1.2), size=n_pairs)
        queries.append(np.clip(latent + rng.integers(-1, 2, size=(assessors, n_pairs)), 0, 3).astype(float))
    return queries


def pooled_of(queries: list[np.ndarray]) -> PooledPairs:
    met, tables = zip(*[tables_between(one, GRADES) for one in queries], strict=True)
    return pooled_between([count(one, GRADES) for one in queries], met, tables, topics=None)


def test_mean_has_students_t_on_fishers_z_which_in_a_wide_range_is_a_line() -> None:
    values = np.random.default_rng(4).normal(0.4, 0.2, size=9)
    found = mean_interval(values, level=0.9, least=-1e3, most=1e3)
    assert isinstance(found, Interval)
    theirs = stats.t.interval(0.9, 8, loc=values.mean(), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx(theirs, rel=1e-3)
    within = mean_interval(np.array([0.01, 0.9, 0.99, 0.1]), level=0.95, least=0, most=1)
    assert isinstance(within, Interval)
    assert 0 < within.low < 0.5 < within.high < 1


def test_median_has_the_interval_of_hettmansperger_and_sheather() -> None:
    """Eleven values: the 2nd and 10th hold the median in 1 - 2 * 12 / 2048 = 98.83%, the 3rd and 9th in 93.46%.

    So 95% takes (0.9883 - 0.95) / (0.9883 - 0.9346) = 0.7131 of the step, and 9 * 0.7131 / (2 + 7 * 0.7131) = 0.9178 of
    the way between them. The values are those of SIGN.test in the R package BSDA, which interpolates on a line.
    """
    values = np.array([7.8, 6.6, 6.5, 7.4, 7.3, 7.0, 6.4, 7.1, 6.7, 7.6, 6.8])
    found = median_interval(values, level=0.95)
    assert isinstance(found, Interval)
    assert (found.low, found.high) == pytest.approx((6.5 + 0.9178 * 0.1, 7.6 - 0.9178 * 0.2), abs=2e-5)


@pytest.mark.parametrize("n", [6, 7, 10, 20])
def test_median_is_held_as_often_as_it_says_whatever_the_distribution(n: int) -> None:
    """4,000 skewed samples: 95% is 3,800, give or take 14."""
    rng = np.random.default_rng(n)
    found = [median_interval(values, level=0.95) for values in rng.gamma(1.0, size=(4000, n))]
    held = sum(isinstance(one, Interval) and one.low <= math.log(2) <= one.high for one in found)
    assert abs(held / 4000 - 0.95) < 0.012


def test_few_or_equal_queries_have_no_interval_and_say_why() -> None:
    four, five = np.linspace(0.1, 0.4, 4), np.linspace(0.1, 0.5, 5)
    assert isinstance(mean_interval(four, level=0.95, least=0, most=1), Interval)
    assert mean_interval(four[:3], level=0.95, least=0, most=1) == Undefined(
        "3 queries: an interval over queries needs 4"
    )
    assert median_interval(five, level=0.95) == Undefined("5 queries: an interval over queries needs 6")
    assert isinstance(median_interval(five, level=0.9), Interval)
    same = Undefined("leaving out any query does not change it, so how it varies over queries is not known")
    equal = np.full(12, 0.3)
    assert mean_interval(equal, level=0.95, least=0, most=1) == median_interval(equal, level=0.95) == same


def test_where_a_query_makes_all_the_difference_there_is_no_interval() -> None:
    without = np.linspace(0.4, 0.6, 12)
    gap = np.where(np.arange(12) == 3, np.nan, without)
    assert jackknife_interval(0.5, gap, level=0.95) == Undefined("without one of the queries, it has no value")
    assert jackknife_interval(1.0, without, level=0.95, least=0, most=1) == Undefined(
        "the value is 1 or 0, on all queries or without one of them"
    )


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_what_is_left_is_the_coefficient_of_the_other_queries(name: str) -> None:
    queries = simulated_queries(6, 20, seed=2, assessors=3)
    queries[1][0], queries[2][1, :9] = np.nan, np.nan
    left_out = pooled_of(queries).left_out(name, GRADES)
    for at, found in enumerate(left_out):
        others = np.concatenate([one for place, one in enumerate(queries) if place != at], axis=1)
        assert found == pytest.approx(COEFFICIENTS[name](others, GRADES), abs=1e-8)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_of_two_assessors_tables_say_the_same_as_counts(name: str) -> None:
    """What is told of each assessor and the final grades is what is told of two assessors."""
    pooled = pooled_of(simulated_queries(6, 20, seed=3))
    tables = replace(pooled, counts=None)
    assert pooled.value(name, GRADES) == pytest.approx(tables.value(name, GRADES))
    assert pooled.left_out(name, GRADES) == pytest.approx(tables.left_out(name, GRADES))


def crowd(n_queries: int, n_pairs: int, assessors: int, seed: int) -> tuple[list[Judgement], list[Decision]]:
    """Three of many judge each pair; the highest grade is final."""
    rng = np.random.default_rng(seed)
    judgements, decisions = [], []
    for at, grades in enumerate(simulated_queries(n_queries, n_pairs, seed, assessors=3)):
        for doc, of_pair in enumerate(grades.T.astype(int)):
            for row, grade in zip(rng.choice(assessors, 3, replace=False), of_pair, strict=True):
                judgements.append(Judgement(f"q{at}-method", f"d{doc}", f"a{row}", int(grade)))
            decisions.append(Decision(f"q{at}-method", f"d{doc}", int(of_pair.max()), "adjudicated"))
    return judgements, decisions


def test_a_crowd_has_every_figure_of_any_number_of_assessors_within_ten_seconds() -> None:
    """50 queries x 125 pairs, 200 assessors, every coefficient, before and after: processor time with imports."""
    judgements, decisions = crowd(50, 125, 200, seed=6)
    started = time.thread_time()
    table = agreement_table(
        judgements,
        decisions,
        {f"q{at}-method": "method" for at in range(50)},
        grades=GRADES,
        missing="drop",
        binarised_at=None,
        level=0.95,
        topics=None,
    )
    assert time.thread_time() - started < 10
    for name, summary in table.groups[0].before.items():
        assert summary.intervals is not None
        if name not in ("spearman_rho", "kendall_tau_b"):
            assert summary.n_queries == 50
            assert all(isinstance(found, Interval) for found in summary.intervals.values())
    # Two of 200 share too few pairs for a rank correlation.
    assert isinstance(table.groups[0].before["spearman_rho"].median, Undefined)
