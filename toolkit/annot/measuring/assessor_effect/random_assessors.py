"""The rankings where one assessor of each pair is chosen at random, compared with the one under the final grades."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from annot.base.stats.arrays import Array, Mask
from annot.base.stats.significance import tau_b_of_rows
from annot.measuring.assessor_effect.orders import NONE_DRAWN, differences_between, may_hold, means_of, no_tau
from annot.measuring.assessor_effect.rankings import EffectSettings, RandomAssessors, RandomAssessorSwap


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
    under_final = differences_between(final, papers, pairs, settings)
    means = means_of(values)
    ways = np.sign(np.array([means[a] - means[b] for a, b in pairs])).reshape(len(pairs), values.shape[1])
    reversed_in = ways * under_final.ways[:, None] < 0
    significant = reversed_in & (under_final.p_values <= settings.alpha)[:, None]
    # What is significant under the final grades is a swap wherever it is reversed; the rest depends on the choice.
    open_in = reversed_in & ~significant
    for at, (a, b) in enumerate(pairs):
        where = np.flatnonzero(open_in[at])
        if len(where):
            open_in[at, where] = may_hold(values[a, where] - values[b, where], papers, settings)
    for choice in np.flatnonzero(open_in.any(axis=0)):
        found = differences_between(values[:, choice], papers, pairs, settings)
        significant[:, choice] |= reversed_in[:, choice] & (found.p_values <= settings.alpha)
    swaps = []
    for at in np.flatnonzero(significant.any(axis=1)).tolist():
        way = int(under_final.ways[at])
        better, worse = (tags[one] for one in (pairs[at] if way > 0 else pairs[at][::-1]))
        counts = int(reversed_in[at].sum()), int(significant[at].sum())
        swaps.append(RandomAssessorSwap(better, worse, under_final.seen(at, way), *counts))
    return (
        tuple(sorted(swaps, key=lambda swap: (-swap.n_significant, swap.better, swap.worse))),
        significant.any(axis=0),
    )


def _order(means: Array) -> Array:
    """Who is above whom, shape (B, pairs): equal rows are equal rankings, ties included."""
    left, right = np.triu_indices(means.shape[1], k=1)
    return np.asarray(np.sign(means[:, left] - means[:, right]))
