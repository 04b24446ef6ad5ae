"""The rankings under random mixtures of the assessors, each against the one under the final grades."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from annot.assessor_effect.orders import (
    means_of,
    reason_of,
    seen_from,
    tau_intervals,
    tau_value,
    tested,
    tests_between,
    way_of,
)
from annot.assessor_effect.results import Mattering, Mixtures, MixtureSwap
from annot.stats.significance import tau_b_of_rows
from annot.stats.undefined import Undefined

Array = npt.NDArray[np.float64]


def of_mixtures(values: Array, final: Array, tags: Sequence[str], settings: Mattering) -> Mixtures:
    """values: shape (runs, mixtures, queries); final: shape (runs, queries)."""
    n, level = settings.mixtures, settings.bootstrap.level
    means, final_means = means_of(values).T, means_of(final)[None, :]
    taus = tau_b_of_rows(means, final_means) if n else np.zeros(0)
    defined = taus[~np.isnan(taus)]
    why = tau_value(np.nan, len(tags)) if n else Undefined("no mixture was drawn")
    tails = [(1 - level) / 2, (1 + level) / 2]
    swaps, touched = _mixture_swaps(values, final, tags, settings)
    spread = np.quantile(means, tails, axis=0).T if n else np.zeros((0, 2))
    same = (_order(means) == _order(final_means)).all(axis=1)
    low, high = np.quantile(defined, tails) if len(defined) else (0.0, 0.0)
    return Mixtures(
        n=n,
        tau=float(defined.mean()) if len(defined) else why,
        tau_range=(float(low), float(high)) if len(defined) else Undefined(reason_of(why)),
        tau_min=float(defined.min()) if len(defined) else why,
        intervals=tau_intervals(values, final, key="mixtures", settings=settings),
        same_order=int(same.sum()),
        undefined=n - len(defined),
        means={tag: (float(low), float(high)) for tag, (low, high) in zip(tags, spread, strict=False)},
        with_swap=int(touched.sum()),
        swaps=swaps,
    )


def _mixture_swaps(
    values: Array, final: Array, tags: Sequence[str], settings: Mattering
) -> tuple[tuple[MixtureSwap, ...], npt.NDArray[np.bool_]]:
    """The swaps by pair of runs, and which mixtures have one: shape (mixtures,)."""
    pairs = list(itertools.combinations(range(len(tags)), 2))
    touched = np.zeros(values.shape[1], dtype=np.bool_)
    means = means_of(values)
    swaps = []
    for (a, b), test in zip(pairs, tests_between(final, pairs, settings), strict=True):
        way = way_of(test)
        turned = np.flatnonzero(np.sign(means[a] - means[b]) == -way) if way else np.zeros(0, dtype=np.int64)
        if not len(turned):
            continue
        # Only what changed places is tested: the rest cannot be a swap.
        tests = tested(values[a, turned] - values[b, turned], settings)
        significant = np.array([test.p_value <= settings.alpha or one.p_value <= settings.alpha for one in tests])
        touched[turned[significant]] = True
        if significant.any():
            better, worse = (tags[a], tags[b]) if way > 0 else (tags[b], tags[a])
            swaps.append(MixtureSwap(better, worse, seen_from(test, way), len(turned), int(significant.sum())))
    swaps.sort(key=lambda one: (-one.n_significant, one.better, one.worse))
    return tuple(swaps), touched


def _order(means: Array) -> Array:
    """Who is above whom, shape (B, pairs): equal rows are equal rankings, ties included."""
    left, right = np.triu_indices(means.shape[1], k=1)
    return np.asarray(np.sign(means[:, left] - means[:, right]))
