"""Which run is best and which differences hold: all pairs of runs, tested by topic and corrected for number.

Chance comes by topic: facets of one paper share its pool and its difficulty, so their differences change sign
together in the tests and count as one for the interval. The step-down maximum of t decides
(`annot.base.stats.significance`): its least p is the same for two runs and for twenty, and a small difference between
two near copies is not hidden by large differences of others. Where differences are symmetric it names a false one in 2
to 6 of 100 studies; where runs differ in spread and are skewed in 4 to 8, with long tails in more
(`benchmarks/comparison_power.py`). The p of Holm's correction, of the t test and of the randomised Tukey HSD are given
next to it, for papers that report them.

Where pools grew, `Restated` has the scores before each top-up beside those after it: what systems that came later do to
figures that are known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annot.base.stats.arrays import Array
from annot.base.stats.power import effect_interval, least_effect
from annot.base.stats.pseudo_topics import Reach, interval_of_difference
from annot.base.stats.significance import MaxT, holm, max_t_tests, randomisation_tests, t_tests, tukey_tests
from annot.base.stats.values import Interval, Undefined, Value

ALPHA = 0.05
FEWEST_PAPERS = math.ceil(1 - math.log2(ALPHA))
"""Topics from which on a difference can hold: with one topic fewer p is at least 2^(1 - topics) > `ALPHA`."""
MAX_T_PERMUTATIONS = 20_000
"""The test that decides counts every arrangement of signs where there are no more (15 topics), else it draws."""
EXACT_UP_TO = 20
"""Topics up to which the test of one pair counts every arrangement; with more it draws `PERMUTATIONS` of them."""
PERMUTATIONS = 100_000
TUKEY_PERMUTATIONS = 10_000
ALIKE = Undefined("the difference is the same on every query paper")
_HALVINGS = 20
_FIGURES = 12
"""Digits after the point at which two means tie: what lies beyond is rounding."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs on one facet, or on all together."""

    facet: str
    run_a: str
    """The one with the higher mean; where they tie, the first by name."""
    run_b: str
    convention: str
    measure: str
    difference: float
    """The mean of `run_a` less that of `run_b`, averaged over the queries as the runs are."""
    interval: Interval | Undefined
    """Of this difference alone: not corrected for the other pairs."""
    p_value: float
    """Of a two-sided paired randomisation test whose units are topics."""
    p_corrected: float
    """By the step-down maximum of t over all pairs of runs of this facet. It decides."""
    p_holm: float
    """`p_value` by Holm's method, over the same pairs: never below their number times 2^(1 - papers)."""
    p_t: Value
    """Of a two-sided paired t test over topics, not corrected."""
    p_tukey: float
    """Of the randomised Tukey HSD test over all runs of this facet. Where runs differ in spread it errs twice as often
    as it says."""
    effect: Value
    """The difference in standard deviations of the papers' differences: Cohen's d for pairs."""
    effect_interval: Interval | Undefined
    """Of this effect alone, by the noncentral t: not corrected for the other pairs. It contains 0 if, and only if,
    `interval` does."""
    holds: bool
    """Whether `p_corrected` is at most `ALPHA`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best run on one facet, or on all together, and how much the comparison can show."""

    facet: str
    best: str
    """The run with the highest mean."""
    worse: tuple[str, ...]
    """Runs whose difference from the best one holds."""
    behind: tuple[str, ...]
    """Runs that are behind it by the interval of their own difference, which does not hold after correction."""
    as_good: tuple[str, ...]
    """Runs that may be as good as the best one: the interval of their difference includes 0, or there is none."""
    papers: int
    """Topics, the units of chance."""
    pairs: int
    """Pairs of runs compared."""
    smallest_p: float
    """The smallest corrected p that so few papers allow. Above `ALPHA` no difference can hold."""
    critical: float | None
    """The |t| that a pair must exceed to hold whatever the others do; None if none can hold."""
    detectable: float | None
    """About the difference that would hold with a chance of `POWER`, for a typical pair; None if none can hold."""


def compare_runs(
    facet: str,
    sums: Mapping[str, Array],
    sizes: Array,
    *,
    reach: Reach | None,
    unit: str,
    convention: str,
    measure: str,
    level: float,
    seed: int,
) -> tuple[tuple[RunComparison, ...], Verdict]:
    """Every pair of at least two runs, the better runs first, and the verdict.

    sums: by run, shape (P, S): the sum of the measure over the queries of each paper in each fold. sizes: shape (P, S),
    how many queries these are. reach: of the measure; None if it is not known. unit: what a row is, a topic or a query.
    A run's mean is the mean of its folds' means. seed: of tests that draw their signs.
    """
    share = {run: shares_of(of_run, sizes) for run, of_run in sums.items()}
    mean = {run: round(float(of_run.sum()), _FIGURES) for run, of_run in share.items()}
    order = sorted(sums, key=lambda run: (-mean[run], run))
    pairs = list(itertools.combinations(range(len(order)), 2))
    topics, shares = len(sizes), np.stack([share[run] for run in order])
    # Each paper's part of the difference; times their number, so that the mean over papers is the difference itself.
    differences = topics * np.stack([shares[a] - shares[b] for a, b in pairs])
    p_values = randomisation_tests(differences, exact_up_to=EXACT_UP_TO, permutations=PERMUTATIONS, seed=seed)
    decided = max_t_tests(differences, alpha=ALPHA, permutations=MAX_T_PERMUTATIONS, seed=seed)
    p_t = t_tests(differences)
    spread = differences.std(axis=1, ddof=1) if topics > 1 else np.zeros(len(pairs))
    p_tukey = tukey_tests(shares.T, pairs, permutations=TUKEY_PERMUTATIONS, seed=seed)
    comparisons = []
    for place, ((a, b), p_value, p_holm) in enumerate(zip(pairs, p_values, holm(p_values.tolist()), strict=True)):
        holds = bool(decided.p_values[place] <= ALPHA)
        interval = interval_beside_test(
            sums[order[a]],
            sums[order[b]],
            sizes,
            reach=reach,
            p_value=float(p_value),
            holds=holds,
            unit=unit,
            level=level,
            seed=seed,
        )
        difference = mean[order[a]] - mean[order[b]]
        effect = ALIKE if np.isnan(p_t[place]) else float(difference / spread[place])
        comparisons.append(
            RunComparison(
                facet=facet,
                run_a=order[a],
                run_b=order[b],
                convention=convention,
                measure=measure,
                difference=difference,
                interval=interval,
                p_value=float(p_value),
                p_corrected=float(decided.p_values[place]),
                p_holm=p_holm,
                p_t=ALIKE if np.isnan(p_t[place]) else float(p_t[place]),
                p_tukey=float(p_tukey[place]),
                effect=effect,
                effect_interval=_effect_interval(
                    effect, interval, topics, spread=float(spread[place]), level=level, unit=unit
                ),
                holds=holds,
            )
        )
    open_to_best = [pair for pair in comparisons if pair.run_a == order[0] and not pair.holds]
    behind = [pair.run_b for pair in open_to_best if isinstance(pair.interval, Interval) and pair.interval.low > 0]
    verdict = Verdict(
        facet=facet,
        best=order[0],
        worse=tuple(pair.run_b for pair in comparisons if pair.run_a == order[0] and pair.holds),
        behind=tuple(behind),
        as_good=tuple(pair.run_b for pair in open_to_best if pair.run_b not in behind),
        papers=topics,
        pairs=len(pairs),
        smallest_p=decided.least_p,
        critical=None if math.isinf(decided.critical) else decided.critical,
        detectable=_detectable(differences, decided),
    )
    return tuple(comparisons), verdict


def interval_beside_test(
    a: Array,
    b: Array,
    sizes: Array,
    *,
    reach: Reach | None,
    p_value: float,
    holds: bool,
    unit: str,
    level: float,
    seed: int,
) -> Interval | Undefined:
    """An interval of the difference that contains 0 if, and only if, the test of this pair alone finds no difference.

    a, b, sizes, reach: as in `compare_runs`. p_value: of the test of this pair alone. holds: whether the difference
    does after correction. An interval that would contain 0 against the test ends at the smallest difference that the
    same test does not reject. With so few topics that the test can find nothing, the interval stays as it is.
    """
    interval = interval_of_difference(a, b, sizes, reach, level=level, unit=unit)
    alpha = round(1 - level, _FIGURES)
    if isinstance(interval, Undefined) or 2.0 ** (1 - len(sizes)) > alpha:
        return interval
    contains, differs = interval.low <= 0 <= interval.high, p_value <= alpha or (holds and alpha >= ALPHA)
    if contains != differs:
        return interval
    if not contains:
        return replace(interval, low=min(interval.low, 0.0), high=max(interval.high, 0.0))
    differences = len(sizes) * shares_of(a - b, sizes)
    rejected, kept = 0.0, float(differences.mean())
    for _ in range(_HALVINGS):
        middle = (rejected + kept) / 2
        tests = max_t_tests(differences[None] - middle, alpha=alpha, permutations=MAX_T_PERMUTATIONS, seed=seed)
        rejected, kept = (middle, kept) if tests.p_values[0] <= alpha else (rejected, middle)
    return replace(interval, low=kept) if kept > 0 else replace(interval, high=kept)


def shares_of(sums: Array, sizes: Array) -> Array:
    """The part that each topic has of the mean of the folds' means: shape (P,). sums, sizes: as in `compare_runs`."""
    return np.asarray((sums / sizes.sum(axis=0)).mean(axis=1))


def p_over_chance(sums: Mapping[str, Array], sizes: Array, *, seed: int) -> dict[str, float]:
    """The p of each run's difference from a random order, corrected for the number of runs as `compare_runs` is.

    sums: by run, the sums of these differences over the queries of each topic in each fold, shape (P, S).
    """
    if not sums:
        return {}
    differences = len(sizes) * np.stack([shares_of(of_run, sizes) for of_run in sums.values()])
    tests = max_t_tests(differences, alpha=ALPHA, permutations=MAX_T_PERMUTATIONS, seed=seed)
    return dict(zip(sums, tests.p_values.tolist(), strict=True))


def _effect_interval(
    effect: Value, of_difference: Interval | Undefined, topics: int, *, spread: float, level: float, unit: str
) -> Interval | Undefined:
    """The interval of an effect, which contains 0 if, and only if, that of the difference does.

    spread: standard deviation of the topics' differences. An interval that would contain 0 where that of the difference
    does not ends where that ends, in standard deviations.
    """
    if isinstance(effect, Undefined):
        return effect
    interval = effect_interval(effect, topics, level=level, unit=unit)
    if isinstance(of_difference, Undefined):
        return interval
    low, high = interval.low, interval.high
    if of_difference.low > 0 >= low:
        low = of_difference.low / spread
    elif of_difference.high < 0 <= high:
        high = of_difference.high / spread
    elif of_difference.low <= 0 <= of_difference.high:
        low, high = min(low, 0.0), max(high, 0.0)
    return replace(interval, low=low, high=high)


def _detectable(differences: Array, decided: MaxT) -> float | None:
    """By the noncentral t, at what the first step of the test asks, with the median spread of the pairs."""
    if math.isinf(decided.critical):
        return None
    spread = float(np.median(differences.std(axis=1, ddof=1)))
    return least_effect(differences.shape[1], critical=decided.critical) * spread


Values = Mapping[str, Mapping[str, float]]
"""By facet, then run."""


@dataclass(frozen=True, slots=True)
class Score:
    """One run on one facet: before each top-up, the oldest first, and now."""

    facet: str
    run: str
    values: tuple[float, ...]
    """Fractions, 0..1."""
    places: tuple[int, ...]
    """By the score, from 1; equal scores have the better place."""


@dataclass(frozen=True, slots=True)
class ToppedUp:
    """One version of the pools that a system brought."""

    version: int
    """What came with it, or later, is left out of the scores before."""
    method: str
    pairs: int
    """Judged pairs that are left out."""


@dataclass(frozen=True, slots=True)
class Restated:
    """Every run under the grades that there were before each top-up, and under all."""

    topups: tuple[ToppedUp, ...]
    """The oldest first."""
    convention: str
    measure: str
    scores: tuple[Score, ...]
    """By facet, the best run of now first."""


def restated_scores(before: Sequence[Values], now: Values) -> tuple[Score, ...]:
    """The scores of the runs that were measured every time; before: one for each top-up."""
    found = []
    for facet in now:
        states = [of.get(facet, {}) for of in (*before, now)]
        runs = [run for run in states[-1] if all(run in of for of in states)]
        found += [
            Score(
                facet,
                run,
                tuple(of[run] for of in states),
                tuple(1 + sum(of[other] > of[run] for other in runs) for of in states),
            )
            for run in sorted(runs, key=lambda run: (-states[-1][run], run))
        ]
    return tuple(found)
