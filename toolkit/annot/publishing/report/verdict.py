"""Verdicts of the report's first screen, by rules with all their thresholds in this place.

A rule looks at the interval, never at the figure alone. The rules are printed in the report's appendix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from annot.base.records import CHANCE
from annot.base.stats.values import Interval, Undefined
from annot.measuring.assessor_effect import FINAL as FINAL_GRADES
from annot.measuring.assessor_effect import FIRST, SECOND, AssessorEffect
from annot.measuring.evaluation.comparisons import FEWEST_PAPERS, Verdict
from annot.measuring.evaluation.evaluated import TOGETHER, EvaluatedRuns, RunMeasures
from annot.publishing.report.cells import DETECTABLE, MEASURE, TAU, Number

TENTATIVE, RELIABLE = 0.667, 0.8
"""Krippendorff's alpha from which on conclusions are tentative, and from which on data are reliable (Krippendorff 2004,
Content Analysis, second edition, page 241)."""
SAME_ORDER = 0.9
"""Kendall's tau from which on two rankings of the same runs count as the same (Voorhees 2001, Evaluation by Highly
Relevant Documents, SIGIR, page 77)."""
MOST_REVERSED = 0.05
"""The share of random choices of an assessor for each topic in which a significant difference may turn round."""
LOWEST_PLACE = 2
"""The lowest place to which the best run may fall where it does not matter who judges."""
Reliability = Literal["reliable", "tentative", "uncertain", "unreliable", "unknown"]
Robustness = Literal["robust", "order", "fragile", "untried", "unknown"]
"""Stability of results under other assessors: all of them, the significant differences but not the order of the runs,
or not even those."""


@dataclass(frozen=True, slots=True)
class Best:
    """The run with the highest figure, and how certain that is."""

    verdict: Verdict
    """Runs that it beats; empty without any other run, pair or query paper."""
    convention: str
    measure: str
    figure: Number
    queries: int
    average: str
    """Average over the queries."""
    chance: Number
    runs: int
    too_few: bool
    """True if there are too few topics for any difference, between runs or from a random order, to hold."""
    topics: int
    above_chance: bool
    """True if its difference from a random order is shown to be positive."""
    like_chance: tuple[str, ...]
    """Runs, it among them, whose difference from a random order is not shown to be positive; none if too few topics."""
    detectable: Number
    """The difference that this collection would have found, in points of 100."""

    facet: str
    """The facet that it is about; "" for all queries."""
    tied: tuple[str, ...] = ()
    """Other runs with the same mean."""
    alike: tuple[str, ...] = ()
    """Those of `tied` that have the same value on every topic, so that no further query separates them."""
    fewest: int = FEWEST_PAPERS
    """Query papers from which on a difference can hold."""

    @property
    def certain(self) -> bool:
        """True if it is significantly better than every other run."""
        return not self.verdict.behind and not self.verdict.as_good

    @property
    def to_separate(self) -> tuple[str, ...]:
        """Runs that further queries may separate from it."""
        return tuple(run for run in (*self.verdict.behind, *self.verdict.as_good) if run not in self.alike)


def reliability(alpha: Number) -> Reliability:
    """Use of one assessor's grades, by the interval of alpha before adjudication."""
    if alpha.ends is None or alpha.lacking:
        return "unknown"
    low, high = alpha.ends
    if low >= RELIABLE:
        return "reliable"
    if low >= TENTATIVE:
        return "tentative"
    return "unreliable" if high < TENTATIVE else "uncertain"


def robustness(
    effect: AssessorEffect | Undefined, evaluated: EvaluatedRuns | Undefined, *, judged_twice: int
) -> Robustness:
    """Outcome of the comparison of runs with other assessors; `judged_twice` counts pairs.

    Untried: no difference between runs holds under the final grades, so there is no result that could turn round.
    """
    if isinstance(effect, Undefined) or isinstance(evaluated, Undefined) or not judged_twice:
        return "unknown"
    if not any(comparison.holds for comparison in evaluated.comparisons):
        return "untried"
    changes = OrderChanges(effect)
    if changes.reversals or effect.random_assessors.with_swap > MOST_REVERSED * effect.random_assessors.n:
        return "fragile"
    return "robust" if changes.lowest_tau >= SAME_ORDER and changes.lowest_place <= LOWEST_PLACE else "order"


class OrderChanges:
    """Changes in the order of the runs under other grades than the final ones: those of random assessors, and those of
    the first and of the second assessor of each pair (`A` and `B`), if these cover all queries."""

    def __init__(self, effect: AssessorEffect) -> None:
        comparisons = {
            comparison.first: comparison
            for comparison in effect.comparisons
            if comparison.first in (FIRST, SECOND)
            and comparison.second == FINAL_GRADES
            and comparison.n_queries == len(effect.queries)
        }
        best, random = next(iter(effect.rankings[0].means)), effect.random_assessors
        self.best = best
        """The best run by the final grades."""
        self.taus = [
            (name, comparison.tau)
            for name, comparison in comparisons.items()
            if not isinstance(comparison.tau, Undefined)
        ]
        """(`A` or `B`, Kendall's tau with the final order)."""
        middle = [] if isinstance(random.tau_range, Undefined) else [random.tau_range[0]]
        self.lowest_tau = min([*middle, *(value for _, value in self.taus)], default=-1.0)
        """Lowest tau of these, and of the middle share of random choices; -1 if none is known."""
        means = {name: comparison.means[name] for name, comparison in comparisons.items()}
        places = [(name, 1 + sum(mean > values[best] for mean in values.values())) for name, values in means.items()]
        self.places = [(name, place) for name, place in places if place > 1]
        """(`A` or `B`, the place of the best run), if it is not the first."""
        self.lowest_place = max([random.best_places[1], *(place for _, place in places)])
        """Lowest place of the best run; of the middle share of random choices, too."""
        self.reversals = [(name, len(comparison.swaps)) for name, comparison in comparisons.items() if comparison.swaps]
        """(`A` or `B`, significant differences that are reversed), if there are any."""


def tau(effect: AssessorEffect) -> Number:
    """Tau with the final ranking if an assessor is chosen at random for each topic: the mean and the middle share."""
    mixed = effect.random_assessors
    middle = mixed.tau_range
    interval = None if isinstance(middle, Undefined) else Interval(*middle, effect.settings.level, "random assessors")
    return Number(mixed.tau, TAU, interval)


def best(evaluated: EvaluatedRuns | Undefined) -> Best | None:
    """The best run on all queries; None if there is none."""
    if isinstance(evaluated, Undefined) or all(line.run == CHANCE for line in evaluated.lines):
        return None
    lines, chance = lines_of_all_queries(evaluated)
    first = min(lines, key=lambda line: (-line.values[evaluated.measure], line.run))
    alone = Verdict(
        first.facet, first.run, (), (), (), papers=0, pairs=0, smallest_p=0.0, critical=None, detectable=None
    )
    verdict = next((decided for decided in evaluated.verdicts if decided.facet == first.facet), alone)
    too_few = first.topics < FEWEST_PAPERS
    equal = {
        pair.run_b: isinstance(pair.effect, Undefined)
        for pair in evaluated.comparisons
        if (pair.facet, pair.run_a, pair.difference) == (first.facet, first.run, 0.0)
    }
    return Best(
        verdict=verdict,
        convention=evaluated.convention,
        measure=evaluated.measure,
        figure=figure(first, evaluated.measure),
        queries=first.queries,
        average=first.average,
        chance=figure(chance, evaluated.measure),
        runs=len(lines),
        too_few=too_few,
        topics=first.topics,
        above_chance=first.above_chance,
        like_chance=tuple(line.run for line in lines if not line.above_chance and not too_few),
        detectable=Number(verdict.detectable, DETECTABLE),
        facet="" if first.facet == TOGETHER or not evaluated.words.faceted else first.facet,
        tied=tuple(equal),
        alike=tuple(run for run, on_every_topic in equal.items() if on_every_topic),
    )


def lines_of_all_queries(evaluated: EvaluatedRuns) -> tuple[list[RunMeasures], RunMeasures]:
    """The runs on all queries together, by the convention in which they are compared, and chance on the same.

    If no run covers all facets, they are those of the last facet that has one.
    """
    lines = [line for line in evaluated.lines if line.convention == evaluated.convention]
    facet = [line.facet for line in lines if line.run != CHANCE][-1]
    line_of = {line.run: line for line in lines if line.facet == facet}
    chance = line_of.pop(CHANCE)
    return list(line_of.values()), chance


def figure(line: RunMeasures, measure: str) -> Number:
    """A measure of a run, in percent, with its interval; of a system with several runs, with their spread."""
    spread = f"± {100 * line.spread[measure]:.1f}" if line.spread else ""
    return Number(line.values[measure], MEASURE, line.intervals[measure], after=spread)
