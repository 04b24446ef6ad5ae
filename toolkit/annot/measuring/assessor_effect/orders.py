"""The order of runs by their means: how alike two are, and which differences are significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.clustered import parts_of_mean
from annot.base.stats.max_t import max_t_tests
from annot.base.stats.significance import randomisation_tests
from annot.base.stats.values import Undefined, Value
from annot.measuring.assessor_effect.rankings import Difference, EffectSettings

FIGURES = 12
"""Digits after the point at which two runs' means tie: what lies beyond is rounding."""
MARGIN = 2
"""So often alpha lies beyond what chance in the drawing of signs makes of a p."""
NONE_DRAWN = Undefined("no random assessors were drawn")


def means_of(values: Array) -> Array:
    """The mean over queries, the last axis."""
    return np.asarray(np.round(values.mean(axis=-1), FIGURES))


class Differences(NamedTuple):
    """Of pairs of runs, shape (pairs,) each."""

    means: Array
    """Above 0 where the first run of a pair is better."""
    p_values: Array
    """Corrected for the number of pairs."""

    @property
    def ways(self) -> Integers:
        """1 where the first of two runs is better, -1 where the second is, 0 where they tie."""
        return np.sign(self.means).astype(np.int64)

    def seen(self, at: int, way: int) -> Difference:
        """The difference of one pair, as seen from the run that is better where `way` says so."""
        return Difference(way * float(self.means[at]), float(self.p_values[at]))


def differences_between(
    values: Array, papers: Sequence[str], pairs: Sequence[tuple[int, int]], settings: EffectSettings
) -> Differences:
    """Each pair of runs, tested as `annot evaluate` does: by query paper, as its facets share a pool and change sides
    together, and over all pairs. values: shape (runs, queries). papers: of each query."""
    if not pairs:
        return Differences(np.zeros(0), np.ones(0))
    parts = parts_of_mean(np.stack([values[a] - values[b] for a, b in pairs]), papers)
    tests = max_t_tests(parts, alpha=settings.alpha, permutations=settings.permutations, seed=settings.seed)
    return Differences(np.round(parts.mean(axis=1), FIGURES), tests.p_values)


def may_hold(differences: Array, papers: Sequence[str], settings: EffectSettings) -> Mask:
    """Whether the test of all pairs is worth its time: it gives no p below that of the difference alone, here drawn.

    differences: shape (K, queries).
    """
    parts = parts_of_mean(differences, papers)
    tests = randomisation_tests(parts, exact_up_to=0, permutations=settings.permutations, seed=settings.seed)
    return np.array([test.p_value <= MARGIN * settings.alpha for test in tests])


def tau_value(tau: float, n_runs: int) -> Value:
    """Kendall's tau, or why there is none."""
    return no_tau(n_runs) if np.isnan(tau) else float(tau)


def no_tau(n_runs: int) -> Undefined:
    """Why Kendall's tau has no value."""
    if n_runs < 2:
        return Undefined(f"{n_runs} run(s): a ranking needs at least two")
    return Undefined(f"one of the gradings ties all {n_runs} runs")
