"""Comparisons of all pairs of runs, and analyses beside their measures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Literal, NamedTuple

import numpy as np

from annot.base.records import Qrel, ScoredDoc, nested
from annot.base.stats import inference
from annot.base.stats.arrays import Array
from annot.base.stats.values import Interval, Undefined, Value

# ----------------------------------------------------------------------------------------------------------------------
# Comparison of all pairs of runs: the best run, and the differences that hold after correction.
#
# The sampling units are topics: facets of one paper share its pool and its difficulty, so their differences change
# sign together in the tests and count as one for the interval. The step-down maximum of t decides
# (`annot.base.stats.inference`): its least p is the same for two runs and for twenty, and a small difference
# between two near copies is not hidden by large differences of others. If differences are symmetric it names a false
# one in 2 to 6 of 100 studies; if runs differ in spread and are skewed in 4 to 8, with long tails in more
# (`benchmarks/comparison_power.py`). The p of Holm's correction, of the t test and of the randomised Tukey HSD are
# next to it, for papers that report them.
#
# `RunsBeforeTopups` has the scores of the runs before and after each top-up of the pools: it shows how systems that
# came later change figures that are known.
# ----------------------------------------------------------------------------------------------------------------------


ALPHA = 0.05
FEWEST_PAPERS = math.ceil(1 - math.log2(ALPHA))
"""Least number of topics with which a difference can hold: with one topic fewer p is at least 2^(1 - topics) > `ALPHA`.
"""
MAX_T_PERMUTATIONS = 20_000
"""Number of arrangements of signs that the deciding test counts. If there are no more (15 topics) it counts every one,
else it draws.
"""
EXACT_UP_TO = 20
"""Largest number of topics with which the test of one pair counts every arrangement; with more it draws `PERMUTATIONS`.
"""
PERMUTATIONS = 100_000
TUKEY_PERMUTATIONS = 10_000


def alike(unit: str) -> Undefined:
    """Reason why two runs that always differ by as much have no effect size."""
    return Undefined(f"the difference is the same on every {unit}")


_HALVINGS = 20
_FIGURES = 12
"""Digits after the point at which two means tie; a smaller difference is rounding."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Comparison of two runs on one facet, or on all together."""

    facet: str
    run_a: str
    """Run with the higher mean; the first by name if they tie."""
    run_b: str
    convention: str
    measure: str
    difference: float
    """Mean of `run_a` less that of `run_b`, averaged over the queries as the runs are."""
    interval: Interval | Undefined
    """Interval of this difference alone: not corrected for the other pairs."""
    p_value: float
    """p of a two-sided paired randomisation test whose units are topics."""
    p_corrected: float
    """p by the step-down maximum of t over all pairs of runs of this facet. It decides."""
    p_holm: float
    """`p_value` corrected by Holm's method over the same pairs: never below their number times 2^(1 - papers)."""
    p_t: Value
    """p of a two-sided paired t test over topics, not corrected."""
    p_tukey: float
    """p of the randomised Tukey HSD test over all runs of this facet. If runs differ in spread, it finds false
    differences twice as often as it should.
    """
    effect: Value
    """Difference in standard deviations of the papers' differences: Cohen's d for pairs."""
    effect_interval: Interval | Undefined
    """Interval of this effect alone, by the noncentral t: not corrected for the other pairs. It contains 0 if, and only
    if, `interval` does.
    """
    holds: bool
    """True if `p_corrected` is at most `ALPHA`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Best run on one facet, or on all together, and the power of the comparison."""

    facet: str
    best: str
    """Run with the highest mean."""
    worse: tuple[str, ...]
    """Runs whose difference from the best one holds."""
    behind: tuple[str, ...]
    """Runs that are behind it by the interval of their own difference, which does not hold after correction."""
    as_good: tuple[str, ...]
    """Runs that may be as good as the best one: the interval of their difference includes 0, or there is none."""
    papers: int
    """Number of topics, the sampling units."""
    pairs: int
    """Number of pairs of runs compared."""
    smallest_p: float
    """Smallest corrected p that so few papers allow. Above `ALPHA` no difference can hold."""
    critical: float | None
    """Value of |t| that a pair must exceed to hold whatever the others do; None if none can hold."""
    detectable: float | None
    """Approximate difference that a typical pair would show with power `POWER`; None if none can hold, or if no
    difference varies."""


@dataclass(frozen=True, slots=True)
class ComparedTopics:
    """Topics on which runs are compared, and the settings of their tests and intervals.

    The sums of a run have shape (P, S): the sum of the measure over the queries of each paper in each fold. A run's
    mean is the mean of its folds' means.
    """

    sizes: Array
    """Shape (P, S): number of these queries."""
    reach: inference.Reach | None
    """Limits of the measure; None if they are not known."""
    unit: str
    """Name of the units in the rows, topics or queries."""
    level: float
    """Level of the intervals."""
    seed: int
    """Seed of tests that draw their signs."""

    def shares(self, sums: Array) -> Array:
        """Part of each topic in the mean of the folds' means: shape (P,)."""
        return np.asarray((sums / self.sizes.sum(axis=0)).mean(axis=1))

    def max_t(self, differences: Array, *, alpha: float) -> inference.MaxT:
        """Tests of pairs of runs. differences: shape (K, P), scaled so that the mean over papers is the difference."""
        return inference.max_t_tests(differences, alpha=alpha, permutations=MAX_T_PERMUTATIONS, seed=self.seed)

    def p_over_chance(self, sums: Mapping[str, Array]) -> dict[str, float]:
        """p of each run's difference from a random order, corrected for the number of runs as in `compare_runs`.

        sums: by run, the sums of these differences.
        """
        if not sums:
            return {}
        differences = len(self.sizes) * np.stack([self.shares(of_run) for of_run in sums.values()])
        return dict(zip(sums, self.max_t(differences, alpha=ALPHA).p_values.tolist(), strict=True))

    def interval_beside_test(self, a: Array, b: Array, *, p_value: float, holds: bool) -> Interval | Undefined:
        """Interval of the difference that contains 0 if, and only if, the test of this pair alone finds no difference.

        a, b: the sums of two runs. p_value: of the test of this pair alone. holds: whether the difference does after
        correction. An interval that would contain 0 against the test ends at the smallest difference that the same test
        does not reject. With so few topics that the test can find nothing, the interval stays as it is.
        """
        interval = inference.interval_of_difference(a, b, self.sizes, self.reach, level=self.level, unit=self.unit)
        alpha = round(1 - self.level, _FIGURES)
        if isinstance(interval, Undefined) or 2.0 ** (1 - len(self.sizes)) > alpha:
            return interval
        contains, differs = interval.low <= 0 <= interval.high, p_value <= alpha or (holds and alpha >= ALPHA)
        if contains != differs:
            return interval
        if not contains:
            return replace(interval, low=min(interval.low, 0.0), high=max(interval.high, 0.0))
        differences = len(self.sizes) * self.shares(a - b)
        rejected, not_rejected = 0.0, float(differences.mean())
        for _ in range(_HALVINGS):
            middle = (rejected + not_rejected) / 2
            (p,) = self.max_t(differences[None] - middle, alpha=alpha).p_values
            rejected, not_rejected = (middle, not_rejected) if p <= alpha else (rejected, middle)
        return replace(interval, low=not_rejected) if not_rejected > 0 else replace(interval, high=not_rejected)

    def effect_interval(self, effect: Value, limits: Interval | Undefined, spread: float) -> Interval | Undefined:
        """Interval of an effect that contains 0 if, and only if, that of the difference does.

        spread: standard deviation of the topics' differences. An interval that would contain 0 although that of the
        difference does not ends where that ends, in standard deviations.
        """
        if isinstance(effect, Undefined):
            return effect
        interval = inference.effect_interval(effect, len(self.sizes), level=self.level, unit=self.unit)
        if isinstance(limits, Undefined):
            return interval
        low, high = interval.low, interval.high
        if limits.low > 0 >= low:
            low = limits.low / spread
        elif limits.high < 0 <= high:
            high = limits.high / spread
        elif limits.low <= 0 <= limits.high:
            low, high = min(low, 0.0), max(high, 0.0)
        return replace(interval, low=low, high=high)


def compare_runs(
    facet: str, sums: Mapping[str, Array], on: ComparedTopics, *, convention: str, measure: str
) -> tuple[tuple[RunComparison, ...], Verdict]:
    """Compare every pair of at least two runs, the better runs first, and give the verdict. sums: by run."""
    share = {run: on.shares(of_run) for run, of_run in sums.items()}
    mean = {run: round(float(of_run.sum()), _FIGURES) for run, of_run in share.items()}
    order = sorted(sums, key=lambda run: (-mean[run], run))
    pairs = list(itertools.combinations(range(len(order)), 2))
    topics, shares = len(on.sizes), np.stack([share[run] for run in order])
    # Each paper's part of the difference; times their number, so that the mean over papers is the difference itself.
    differences = topics * np.stack([shares[a] - shares[b] for a, b in pairs])
    p_values = inference.randomisation_tests(
        differences, exact_up_to=EXACT_UP_TO, permutations=PERMUTATIONS, seed=on.seed
    )
    deciding = on.max_t(differences, alpha=ALPHA)
    p_t = inference.t_tests(differences)
    spread = differences.std(axis=1, ddof=1) if topics > 1 else np.zeros(len(pairs))
    p_tukey = inference.tukey_tests(shares.T, pairs, permutations=TUKEY_PERMUTATIONS, seed=on.seed)
    comparisons = []
    for row, ((a, b), p_value, p_holm) in enumerate(
        zip(pairs, p_values, inference.holm(p_values.tolist()), strict=True)
    ):
        holds = bool(deciding.p_values[row] <= ALPHA)
        interval = on.interval_beside_test(sums[order[a]], sums[order[b]], p_value=float(p_value), holds=holds)
        difference = mean[order[a]] - mean[order[b]]
        effect = alike(on.unit) if np.isnan(p_t[row]) else float(difference / spread[row])
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
                p_corrected=float(deciding.p_values[row]),
                p_holm=p_holm,
                p_t=alike(on.unit) if np.isnan(p_t[row]) else float(p_t[row]),
                p_tukey=float(p_tukey[row]),
                effect=effect,
                effect_interval=on.effect_interval(effect, interval, float(spread[row])),
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
        smallest_p=deciding.least_p,
        critical=None if math.isinf(deciding.critical) else deciding.critical,
        detectable=_detectable(spread[~np.isnan(p_t)], topics, deciding),
    )
    return tuple(comparisons), verdict


def _detectable(spread: Array, topics: int, deciding: inference.MaxT) -> float | None:
    """Detectable difference by the noncentral t, at the critical value of the first step, with the median spread of the
    pairs whose difference varies: copies of a run tell nothing of it.
    """
    if math.isinf(deciding.critical) or not len(spread):
        return None
    return inference.least_effect(topics, critical=deciding.critical) * float(np.median(spread))


Values = Mapping[str, Mapping[str, float]]
"""Value by facet, then run."""


@dataclass(frozen=True, slots=True)
class Score:
    """Scores of one run on one facet: before each top-up, the oldest first, and now."""

    facet: str
    run: str
    values: tuple[float, ...]
    """Fractions, 0..1."""
    places: tuple[int, ...]
    """Places by the score, from 1; equal scores share the better place."""


@dataclass(frozen=True, slots=True)
class ToppedUp:
    """One version of the pools that a system brought."""

    version: int
    """Version number. Pairs of this version or a later one are left out of the scores before it."""
    method: str
    pairs: int
    """Number of judged pairs that are left out."""


@dataclass(frozen=True, slots=True)
class RunsBeforeTopups:
    """Scores of every run under the grades before each top-up, and under all."""

    topups: tuple[ToppedUp, ...]
    """Top-ups, the oldest first."""
    convention: str
    measure: str
    scores: tuple[Score, ...]
    """Scores by facet, the run that is best now first."""


def restated_scores(earlier: Sequence[Values], now: Values) -> tuple[Score, ...]:
    """Scores of the runs that were measured every time. earlier: values before each top-up, the oldest first."""
    scores = []
    for facet in now:
        states = [state.get(facet, {}) for state in (*earlier, now)]
        runs = [run for run in states[-1] if all(run in state for state in states)]
        scores += [
            Score(
                facet,
                run,
                tuple(state[run] for state in states),
                tuple(1 + sum(state[other] > state[run] for other in runs) for state in states),
            )
            for run in sorted(runs, key=lambda run: (-states[-1][run], run))
        ]
    return tuple(scores)


# ----------------------------------------------------------------------------------------------------------------------
# Analyses of runs that go further than their measures.
#
# Errors of a run: irrelevant documents near its top, relevant ones far down (CSFCube, Appendix G). One run on several
# facets of the same paper (CSFCube, Figure 3): a run that does well on one may do badly on another.
# ----------------------------------------------------------------------------------------------------------------------


Error = Literal["irrelevant near the top", "relevant far down"]
NEAR_TOP: Final = "irrelevant near the top"
FAR_DOWN: Final = "relevant far down"
NEAR_TOP_DIVISOR = 5
"""Near the top is the first fifth of the ranking, where NDCG%20 looks; far down is its lower half."""


class ErrorCase(NamedTuple):
    """One document that a run ranks far from where its grade belongs."""

    run: str
    query_id: str
    doc_id: str
    error: Error
    grade: int
    rank: int | None
    """Rank from 1; None if the run leaves a relevant document out."""


def error_cases(
    runs: Mapping[str, Mapping[str, Sequence[ScoredDoc]]], qrels: Iterable[Qrel], *, relevant_from: int
) -> tuple[ErrorCase, ...]:
    """The cases of each run on each query that it ranks, worst first: those near the top, then those far down.

    Near the top: grade 0 in the first fifth (rounded down) of the documents it ranks. Far down: grade `relevant_from`
    or higher in the lower half, or left out. An unjudged document is neither.
    """
    cases: list[ErrorCase] = []
    for (run, rankings), (query_id, grades) in product(runs.items(), sorted(nested(qrels).items())):
        ranking = rankings.get(query_id, ())
        last = len(ranking) + 1
        ranks = {doc.doc_id: rank for rank, doc in enumerate(ranking, start=1)}
        cases += [
            ErrorCase(run, query_id, doc.doc_id, NEAR_TOP, 0, ranks[doc.doc_id])
            for doc in ranking[: len(ranking) // NEAR_TOP_DIVISOR]
            if grades.get(doc.doc_id) == 0
        ]
        far_down = [
            ErrorCase(run, query_id, doc_id, FAR_DOWN, grade, ranks.get(doc_id))
            for doc_id, grade in grades.items()
            if ranking and grade >= relevant_from and 2 * ranks.get(doc_id, last) > last
        ]
        cases += sorted(far_down, key=lambda case: (-(case.rank or last), -case.grade, case.doc_id))
    return tuple(cases)


def spread_of(values: Mapping[str, float]) -> float:
    """Difference between the best facet and the worst."""
    return max(values.values()) - min(values.values())


def on_facets(
    values: Mapping[str, float], *, facets: Mapping[str, str], topics: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Value by facet of each paper that is a query of several facets, the widest spread first. values, facets, topics:
    by query id.
    """
    values_by_paper = nested((topics[query_id], facets[query_id], value) for query_id, value in values.items())
    several = [(paper_id, of_facets) for paper_id, of_facets in values_by_paper.items() if len(of_facets) > 1]
    return dict(sorted(several, key=lambda paper: (-spread_of(paper[1]), paper[0])))
