"""The order of runs by their means: how alike two are, with an interval, and which differences are significant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from annot.assessor_effect.results import Mattering
from annot.stats.bootstrap import draw, intervals
from annot.stats.intervals import Intervals
from annot.stats.significance import PairedTest, randomisation_tests, tau_b_of_rows
from annot.stats.undefined import Undefined, Value

Array = npt.NDArray[np.float64]

FIGURES = 12
"""Digits after the point at which two runs' means tie: what lies beyond is rounding."""


def means_of(values: Array) -> Array:
    return np.asarray(np.round(values.mean(axis=-1), FIGURES))


def tau_intervals(values: Array, other: Array, *, key: str, settings: Mattering) -> Intervals:
    """Intervals of the mean tau between gradings, by resampling queries.

    values: shape (runs, gradings, queries); other: shape (runs, queries).
    """
    n_runs, n_gradings, n_queries = values.shape
    if n_runs < 2 or n_gradings == 0:
        reason = Undefined(reason_of(tau_value(np.nan, n_runs)) if n_gradings else "no mixture was drawn")
        return Intervals(reason, reason)
    if n_queries < 2:
        reason = Undefined(f"{n_queries} query: nothing to resample")
        return Intervals(reason, reason)
    drawn = draw(n_queries, plan=settings.bootstrap, key=key)
    times = np.stack([np.bincount(row, minlength=n_queries) for row in drawn]) / n_queries
    left_out = (1 - np.eye(n_queries)) / (n_queries - 1)
    whole = np.full((1, n_queries), 1 / n_queries)
    found = [_mean_tau(values, other, weights) for weights in (whole, times, left_out)]
    return intervals(
        estimate=float(found[0][0]), replicates=found[1], left_out=found[2], level=settings.bootstrap.level
    )


def _mean_tau(values: Array, other: Array, weights: Array) -> Array:
    """The mean tau over the gradings under each weighting of the queries, shape (B,); nan where none has a value."""
    fixed = np.round(weights @ other.T, FIGURES)
    total, n = np.zeros(len(weights)), np.zeros(len(weights))
    for at in range(values.shape[1]):
        taus = tau_b_of_rows(np.round(weights @ values[:, at].T, FIGURES), fixed)
        there = ~np.isnan(taus)
        total[there] += taus[there]
        n += there
    result = np.full(len(weights), np.nan)
    np.divide(total, n, out=result, where=n > 0)
    return result


def tests_between(values: Array, pairs: Sequence[tuple[int, int]], settings: Mattering) -> tuple[PairedTest, ...]:
    if not pairs:
        return ()
    return tested(np.stack([values[a] - values[b] for a, b in pairs]), settings)


def tested(differences: Array, settings: Mattering) -> tuple[PairedTest, ...]:
    return randomisation_tests(
        differences,
        exact_up_to=settings.exact_up_to,
        permutations=settings.permutations,
        seed=settings.bootstrap.seed,
    )


def way_of(test: PairedTest) -> int:
    """1 where the first of two runs is better, -1 where the second is, 0 where they tie."""
    return int(np.sign(round(test.mean_difference, FIGURES)))


def turned_round(one: PairedTest, other: PairedTest) -> bool:
    return way_of(one) * way_of(other) < 0


def seen_from(test: PairedTest, way: int) -> PairedTest:
    """The test as seen from the better run."""
    return PairedTest(
        test.n, test.n_different, way * test.mean_difference, test.p_value, test.method, test.permutations
    )


def tau_value(tau: float, n_runs: int) -> Value:
    if not np.isnan(tau):
        return float(tau)
    if n_runs < 2:
        return Undefined(f"{n_runs} run(s): a ranking needs at least two")
    return Undefined(f"one of the gradings ties all {n_runs} runs")


def reason_of(value: Value) -> str:
    return value.reason if isinstance(value, Undefined) else ""
