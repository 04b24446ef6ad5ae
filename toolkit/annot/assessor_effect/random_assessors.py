"""The rankings where one assessor of each pair is chosen at random, compared with the one under the final grades."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from annot.assessor_effect.orders import NONE_DRAWN, means_of, no_tau, seen_from, tested, tests_between, way_of
from annot.assessor_effect.rankings import EffectSettings, RandomAssessors, RandomAssessorSwap
from annot.stats.arrays import Array, Mask
from annot.stats.significance import tau_b_of_rows


def with_random_assessors(
    values: Array, final: Array, papers: Sequence[str], tags: Sequence[str], settings: EffectSettings
) -> RandomAssessors:
    """values: shape (runs, choices, queries); final: shape (runs, queries); papers: of each query."""
    n, level = settings.n_random, settings.level
    tails = [(1 - level) / 2, (1 + level) / 2]
    means, final_means = means_of(values).T, means_of(final)[None, :]
    taus = tau_b_of_rows(means, final_means) if n else np.zeros(0)
    taus = taus[~np.isnan(taus)]
    why = no_tau(len(tags)) if n else NONE_DRAWN
    low, high = map(float, np.quantile(taus, tails)) if len(taus) else (0.0, 0.0)
    spread = np.quantile(means, tails, axis=0).T.tolist() if n else []
    swaps, touched = _swaps(values, final, papers, tags, settings)
    return RandomAssessors(
        n=n,
        tau=float(taus.mean()) if len(taus) else why,
        tau_range=(low, high) if len(taus) else why,
        tau_min=float(taus.min()) if len(taus) else why,
        same_order=int((_order(means) == _order(final_means)).all(axis=1).sum()),
        undefined=n - len(taus),
        means={tag: (least, most) for tag, (least, most) in zip(tags, spread, strict=False)},
        with_swap=int(touched.sum()),
        swaps=swaps,
    )


def _swaps(
    values: Array, final: Array, papers: Sequence[str], tags: Sequence[str], settings: EffectSettings
) -> tuple[tuple[RandomAssessorSwap, ...], Mask]:
    """The swaps by pair of runs, and which choices have one: shape (choices,)."""
    pairs = list(itertools.combinations(range(len(tags)), 2))
    touched = np.zeros(values.shape[1], dtype=np.bool_)
    means = means_of(values)
    swaps = []
    for (a, b), test in zip(pairs, tests_between(final, papers, pairs, settings), strict=True):
        way = way_of(test)
        turned = np.flatnonzero(np.sign(means[a] - means[b]) == -way) if way else np.zeros(0, dtype=np.int64)
        if not len(turned):
            continue
        # Only what changed places is tested: the rest cannot be a swap.
        tests = tested(values[a, turned] - values[b, turned], papers, settings)
        significant = np.array([min(test.p_value, of_choice.p_value) <= settings.alpha for of_choice in tests])
        touched[turned[significant]] = True
        if significant.any():
            better, worse = (tags[a], tags[b]) if way > 0 else (tags[b], tags[a])
            swap = RandomAssessorSwap(better, worse, seen_from(test, way), len(turned), int(significant.sum()))
            swaps.append(swap)
    return tuple(sorted(swaps, key=lambda swap: (-swap.n_significant, swap.better, swap.worse))), touched


def _order(means: Array) -> Array:
    """Who is above whom, shape (B, pairs): equal rows are equal rankings, ties included."""
    left, right = np.triu_indices(means.shape[1], k=1)
    return np.asarray(np.sign(means[:, left] - means[:, right]))
