"""Which run is best and which differences hold: all pairs of runs, tested by query paper and corrected for number.

Chance comes by query paper: facets of one paper share its pool and its difficulty, so their differences change sign
together in the tests and count as one for the interval. Each pair's test uses the values of its own two runs
alone, and Holm's correction asks nothing of how the pairs hang together: many runs that are nearly the same do not make
two others look different, as they do where one distribution of the largest difference serves all pairs. So Holm's p
decides; those of the t test and of the randomised Tukey HSD test stand beside it, for papers that report them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annot.stats.arrays import Array
from annot.stats.clustered import ratio_interval
from annot.stats.significance import holm, randomisation_tests, t_tests, tukey_tests
from annot.stats.values import Interval, Undefined, Value

ALPHA, POWER = 0.05, 0.8
EXACT_UP_TO = 20
"""Query papers up to which the test counts every arrangement of signs; with more it draws `PERMUTATIONS` of them."""
PERMUTATIONS = 100_000
TUKEY_PERMUTATIONS = 10_000
"""Of one test of all runs at once, whose permutations cost more."""
ALIKE = Undefined("the difference is the same on every query paper")
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
    """Of a two-sided paired randomisation test whose units are query papers."""
    p_corrected: float
    """By Holm's method, over all pairs of runs of this facet."""
    p_t: Value
    """Of a two-sided paired t test over query papers, not corrected."""
    p_tukey: float
    """Of the randomised Tukey HSD test over all runs of this facet."""
    effect: Value
    """The difference in standard deviations of the papers' differences: Cohen's d for pairs."""
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
    undecided: tuple[str, ...]
    """Runs that may be as good as the best one or better: the difference may be chance."""
    papers: int
    """Query papers, the units of chance."""
    pairs: int
    """Pairs of runs compared."""
    smallest_p: float
    """The smallest corrected p that so few papers and so many pairs allow. Above `ALPHA` no difference can hold."""
    detectable: float | None
    """About the difference that would hold with a chance of `POWER`, for a typical pair; None where none can hold."""


def compare_runs(
    facet: str, sums: Mapping[str, Array], sizes: Array, *, convention: str, measure: str, level: float, seed: int
) -> tuple[tuple[RunComparison, ...], Verdict]:
    """Every pair of at least two runs, the better runs first, and the verdict.

    sums: by run, shape (P, S): the sum of the measure over the queries of each paper in each fold. sizes: shape (P, S),
    how many queries these are. A run's mean is the mean of its folds' means. seed: of tests that draw their signs.
    """
    share = {run: (of_run / sizes.sum(axis=0)).mean(axis=1) for run, of_run in sums.items()}
    mean = {run: round(float(of_run.sum()), _FIGURES) for run, of_run in share.items()}
    order = sorted(sums, key=lambda run: (-mean[run], run))
    pairs = list(itertools.combinations(order, 2))
    papers = len(sizes)
    # Each paper's part of the difference; times their number, so that the mean over papers is the difference itself.
    differences = papers * np.stack([share[a] - share[b] for a, b in pairs])
    tests = randomisation_tests(differences, exact_up_to=EXACT_UP_TO, permutations=PERMUTATIONS, seed=seed)
    p_t = t_tests(differences)
    spread = differences.std(axis=1, ddof=1) if papers > 1 else np.zeros(len(pairs))
    places = list(itertools.combinations(range(len(order)), 2))
    p_tukey = tukey_tests(
        np.stack([share[run] for run in order], axis=1), places, permutations=TUKEY_PERMUTATIONS, seed=seed
    )
    comparisons = tuple(
        RunComparison(
            facet=facet,
            run_a=a,
            run_b=b,
            convention=convention,
            measure=measure,
            difference=mean[a] - mean[b],
            interval=ratio_interval(sums[a] - sums[b], sizes, level=level, unit="query paper", least=-1.0),
            p_value=test.p_value,
            p_corrected=p_corrected,
            p_t=ALIKE if np.isnan(p_t[at]) else float(p_t[at]),
            p_tukey=float(p_tukey[at]),
            effect=ALIKE if np.isnan(p_t[at]) else float((mean[a] - mean[b]) / spread[at]),
            holds=p_corrected <= ALPHA,
        )
        for at, ((a, b), test, p_corrected) in enumerate(
            zip(pairs, tests, holm([test.p_value for test in tests]), strict=True)
        )
    )
    smallest_p = min(1.0, len(pairs) * (2.0 ** (1 - papers) if papers <= EXACT_UP_TO else 1 / (PERMUTATIONS + 1)))
    verdict = Verdict(
        facet=facet,
        best=order[0],
        worse=tuple(
            comparison.run_b for comparison in comparisons if comparison.run_a == order[0] and comparison.holds
        ),
        undecided=tuple(
            comparison.run_b for comparison in comparisons if comparison.run_a == order[0] and not comparison.holds
        ),
        papers=papers,
        pairs=len(pairs),
        smallest_p=smallest_p,
        detectable=_detectable(differences) if smallest_p <= ALPHA else None,
    )
    return comparisons, verdict


def _detectable(differences: Array) -> float:
    """From the t test's power, at the level of the first step of Holm's method and the median error of the pairs."""
    from scipy.special import stdtrit

    n_pairs, papers = differences.shape
    quantiles = stdtrit(papers - 1, [1 - ALPHA / (2 * n_pairs), POWER])
    return float(quantiles.sum() * np.median(differences.std(axis=1, ddof=1)) / np.sqrt(papers))
