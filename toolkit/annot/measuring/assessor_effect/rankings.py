"""Rankings of the runs by grading, the changes between them, and the effect of one assessor of each topic, chosen at
random.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annot.base.names import counted
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.clustered import parts_of_mean
from annot.base.stats.significance import max_t_tests, randomisation_tests, tau_b_of_rows
from annot.base.stats.values import Undefined, Value


@dataclass(frozen=True, slots=True)
class EffectSettings:
    """Settings of the figures."""

    convention: str
    measure: str
    """Measure of the convention, as `annot.measuring.evaluation.gradings.MEASURES` names them."""
    relevant_from: int
    n_random: int
    """Number of random choices of one assessor for each topic."""
    alpha: float
    """Largest p of a significant difference, corrected for the number of pairs of runs."""
    permutations: int
    """Largest number of permutations of the test of all pairs (`annot.base.stats.significance`); its units are
    topics.
    """
    level: float
    """Middle share of the random assessors that a range shows."""
    seed: int


@dataclass(frozen=True, slots=True)
class GradingRanking:
    """Ranking of the runs under one grading."""

    name: str
    """Name of the grading: `final`, `A`, `B`, or an assessor."""
    means: dict[str, float]
    """Measure by run, a fraction; best first, equal ones by tag."""
    queries: tuple[str, ...]
    n_pairs: int
    n_ungraded: int
    """Pairs of these queries that came back without a grade; they count as not relevant, as unjudged ones do."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Lead of one run over another under one grading."""

    mean: float
    p_corrected: float
    """p by the step-down maximum of t over all pairs of runs."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Two runs in one order under one grading and in the other under the other, significantly so in at least one."""

    better: str
    worse: str
    """Run that is worse by the first grading."""
    first: Difference
    second: Difference
    significant_in: tuple[str, ...]
    """Gradings, of the two, under which the difference is significant."""


@dataclass(frozen=True, slots=True)
class GradingComparison:
    """Comparison of two gradings' rankings of the runs, over the queries that both have."""

    first: str
    second: str
    n_queries: int
    means: dict[str, dict[str, float]]
    """Measure by grading, then run over these queries, which tau compares. Best first, equal ones by tag."""
    n_run_pairs: int
    tau: Value
    reversed_pairs: int
    significant: dict[str, int]
    """Number of pairs of runs whose difference is significant, by grading."""
    swaps: tuple[Swap, ...]


@dataclass(frozen=True, slots=True)
class RandomAssessorSwap:
    """Two runs that change places in some choices, significantly so under the final grades or under the choice."""

    better: str
    worse: str
    """Run that is worse by the final grades."""
    final: Difference
    n_reversed: int
    n_significant: int
    """Choices in which they change places; of these, those in which one order or the other is significant."""


@dataclass(frozen=True, slots=True)
class RandomAssessors:
    """Rankings if one assessor of each topic is chosen at random, each against that under the final grades."""

    n: int
    tau: Value
    """Mean over the choices."""
    tau_range: tuple[float, float] | Undefined
    """Middle `level` share of the choices: the effect of chance in who judged on tau on these queries."""
    tau_min: Value
    same_order: int
    """Choices that rank the runs exactly as the final grades do."""
    undefined: int
    """Choices under which tau has no value, because all runs tie."""
    best_places: tuple[int, int]
    """Range of places of the best run by the final grades, in the middle `level` share of the choices."""
    means: dict[str, tuple[float, float]]
    """Middle `level` share of a run's means over the choices, by run."""
    with_swap: int
    """Choices with at least one significant swap."""
    swaps: tuple[RandomAssessorSwap, ...]


@dataclass(frozen=True, slots=True)
class AssessorEffect:
    """Effect of the choice of assessors on the ranking of the runs, with all figures behind it."""

    settings: EffectSettings
    missing: str
    """Policy for missing judgements: `zero`, whatever the policy for the study's agreement."""
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    n_pairs: int
    rankings: tuple[GradingRanking, ...]
    comparisons: tuple[GradingComparison, ...]
    random_assessors: RandomAssessors
    notes: tuple[str, ...]
    """Parts that were left out and why, in sentences."""


FIGURES = 12
"""Digits after the point at which two runs' means tie; a smaller difference is rounding."""
MARGIN = 2
"""Factor of alpha beyond the chance in a p whose signs are drawn."""


def means_of(values: Array) -> Array:
    """Mean over queries, the last axis."""
    return np.asarray(np.round(values.mean(axis=-1), FIGURES))


class Differences(NamedTuple):
    """Differences of pairs of runs, shape (pairs,) each."""

    means: Array
    """Mean above 0 if the first run of a pair is better."""
    p_values: Array
    """p corrected for the number of pairs."""

    @property
    def ways(self) -> Integers:
        """Sign of each difference: 1 if the first of two runs is better, -1 if the second is, 0 if they tie."""
        return np.sign(self.means).astype(np.int64)

    def seen(self, position: int, way: int) -> Difference:
        """Difference of one pair, as seen from the run that is better according to `way`."""
        return Difference(way * float(self.means[position]), float(self.p_values[position]))


def differences_between(
    values: Array, topics: Sequence[str], pairs: Sequence[tuple[int, int]], settings: EffectSettings
) -> Differences:
    """Test each pair of runs as `annot evaluate` does, over all pairs. values: shape (runs, queries). topics: of each
    query.

    Topics are the units, as their facets share a pool and change sides together.
    """
    if not pairs:
        return Differences(np.zeros(0), np.ones(0))
    parts = parts_of_mean(np.stack([values[a] - values[b] for a, b in pairs]), topics)
    tests = max_t_tests(parts, alpha=settings.alpha, permutations=settings.permutations, seed=settings.seed)
    return Differences(np.round(parts.mean(axis=1), FIGURES), tests.p_values)


def may_hold(differences: Array, topics: Sequence[str], settings: EffectSettings) -> Mask:
    """Differences that may hold, for which the test of all pairs is worth its time: it gives no p below that of the
    difference alone, here drawn.

    differences: shape (K, queries).
    """
    parts = parts_of_mean(differences, topics)
    p_values = randomisation_tests(parts, exact_up_to=0, permutations=settings.permutations, seed=settings.seed)
    return np.asarray(p_values <= MARGIN * settings.alpha)


def no_tau(n_runs: int) -> Undefined:
    """Reason why Kendall's tau has no value."""
    if n_runs < 2:
        return Undefined(f"{counted(n_runs, 'run')}; a ranking needs at least two")
    return Undefined(f"all {n_runs} runs tie under one of the gradings")


def with_random_assessors(
    values: Array, final: Array, topics: Sequence[str], tags: Sequence[str], settings: EffectSettings
) -> RandomAssessors:
    """Rankings under random choices. values: shape (runs, choices, queries); final: shape (runs, queries); topics: of
    each query.
    """
    n, level = settings.n_random, settings.level
    tails = [(1 - level) / 2, (1 + level) / 2]
    means, final_means = means_of(values).T, means_of(final)[None, :]
    taus = tau_b_of_rows(means, final_means)
    taus = taus[~np.isnan(taus)]
    why = no_tau(len(tags))
    low, high = map(float, np.quantile(taus, tails)) if len(taus) else (np.nan, np.nan)
    spread = np.quantile(means, tails, axis=0).T.tolist()
    swaps, touched = _swaps(values, final, topics, tags, settings)
    return RandomAssessors(
        n=n,
        tau=float(taus.mean()) if len(taus) else why,
        tau_range=(low, high) if len(taus) else why,
        tau_min=float(taus.min()) if len(taus) else why,
        same_order=int((_order(means) == _order(final_means)).all(axis=1).sum()),
        undefined=n - len(taus),
        best_places=_places_of_best(means, final_means[0], tails),
        means={tag: (least, most) for tag, (least, most) in zip(tags, spread, strict=True)},
        with_swap=int(touched.sum()),
        swaps=swaps,
    )


def _swaps(
    values: Array, final: Array, topics: Sequence[str], tags: Sequence[str], settings: EffectSettings
) -> tuple[tuple[RandomAssessorSwap, ...], Mask]:
    """Swaps by pair of runs, and a mask of the choices that have one: shape (choices,)."""
    pairs = list(itertools.combinations(range(len(tags)), 2))
    under_final = differences_between(final, topics, pairs, settings)
    means = means_of(values)
    ways = np.sign(np.array([means[a] - means[b] for a, b in pairs])).reshape(len(pairs), values.shape[1])
    reversed_in = ways * under_final.ways[:, None] < 0
    significant = reversed_in & (under_final.p_values <= settings.alpha)[:, None]
    # What is significant under the final grades is a swap wherever it is reversed; the rest depends on the choice.
    open_in = reversed_in & ~significant
    for position, (a, b) in enumerate(pairs):
        where = np.flatnonzero(open_in[position])
        if len(where):
            open_in[position, where] = may_hold(values[a, where] - values[b, where], topics, settings)
    for choice in np.flatnonzero(open_in.any(axis=0)):
        tested = differences_between(values[:, choice], topics, pairs, settings)
        significant[:, choice] |= reversed_in[:, choice] & (tested.p_values <= settings.alpha)
    swaps = []
    for position in np.flatnonzero(significant.any(axis=1)).tolist():
        way = int(under_final.ways[position])
        better, worse = (tags[run] for run in (pairs[position] if way > 0 else pairs[position][::-1]))
        counts = int(reversed_in[position].sum()), int(significant[position].sum())
        swaps.append(RandomAssessorSwap(better, worse, under_final.seen(position, way), *counts))
    return (
        tuple(sorted(swaps, key=lambda swap: (-swap.n_significant, swap.better, swap.worse))),
        significant.any(axis=0),
    )


def _places_of_best(means: Array, final_means: Array, tails: Sequence[float]) -> tuple[int, int]:
    """Places of the best run. means: shape (choices, runs). Equal runs share the better place; without runs there is
    none.
    """
    if not len(final_means):
        return 0, 0
    best = means[:, [int(final_means.argmax())]]
    low, high = np.quantile(1 + (means > best).sum(axis=1), tails, method="inverted_cdf").tolist()
    return low, high


def _order(means: Array) -> Array:
    """Sign of the difference of every two, shape (B, pairs): equal rows are equal rankings, ties included."""
    left, right = np.triu_indices(means.shape[1], k=1)
    return np.asarray(np.sign(means[:, left] - means[:, right]))
