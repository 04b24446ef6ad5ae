"""The order of runs by their means: how alike two are, and which differences are significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annot.assessor_effect.rankings import EffectSettings
from annot.stats.arrays import Array
from annot.stats.clustered import parts_of_mean
from annot.stats.significance import PairedTest, randomisation_tests
from annot.stats.values import Undefined, Value

FIGURES = 12
"""Digits after the point at which two runs' means tie: what lies beyond is rounding."""
NONE_DRAWN = Undefined("no random assessors were drawn")


def means_of(values: Array) -> Array:
    """The mean over queries, the last axis."""
    return np.asarray(np.round(values.mean(axis=-1), FIGURES))


def tests_between(
    values: Array, papers: Sequence[str], pairs: Sequence[tuple[int, int]], settings: EffectSettings
) -> tuple[PairedTest, ...]:
    """The test of each pair of runs. values: shape (runs, queries). papers: of each query."""
    if not pairs:
        return ()
    return tested(np.stack([values[a] - values[b] for a, b in pairs]), papers, settings)


def tested(differences: Array, papers: Sequence[str], settings: EffectSettings) -> tuple[PairedTest, ...]:
    """The test of each row of differences, shape (K, queries), by query paper: its facets share a pool, and change
    sides together."""
    return randomisation_tests(
        parts_of_mean(differences, papers),
        exact_up_to=settings.exact_up_to,
        permutations=settings.permutations,
        seed=settings.seed,
    )


def way_of(test: PairedTest) -> int:
    """1 where the first of two runs is better, -1 where the second is, 0 where they tie."""
    return int(np.sign(round(test.mean_difference, FIGURES)))


def seen_from(test: PairedTest, way: int) -> PairedTest:
    """The test as seen from the better run."""
    return replace(test, mean_difference=way * test.mean_difference)


def tau_value(tau: float, n_runs: int) -> Value:
    """Kendall's tau, or why there is none."""
    return no_tau(n_runs) if np.isnan(tau) else float(tau)


def no_tau(n_runs: int) -> Undefined:
    """Why Kendall's tau has no value."""
    if n_runs < 2:
        return Undefined(f"{n_runs} run(s): a ranking needs at least two")
    return Undefined(f"one of the gradings ties all {n_runs} runs")
