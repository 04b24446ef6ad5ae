"""Topic set size design: the difference between two runs that so many topics show, and the topics needed for one.

Sakai 2016, Topic Set Size Design, Information Retrieval Journal 19(3), 256-283, for the paired t test. The spread of
the topics' differences is that of a typical pair of runs in a pilot (the median), and the test is corrected for the
number of runs as in `annot evaluate`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from annot.base.stats.power import MOST_UNITS, POWER, critical_t, least_effect, units_needed
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.evaluation.comparisons import ALPHA, FEWEST_PAPERS, RunComparison, Verdict


@dataclass(frozen=True, slots=True)
class TopicSetSize:
    """Difference between the runs of a pilot that a number of topics shows."""

    convention: str
    measure: str
    pairs: int
    """Pairs of runs that the test is corrected for."""
    pilot_topics: int
    topics: int
    """Topics of the design."""
    power: float
    spread: Estimate
    """Standard deviation of the topics' differences, a fraction of the measure."""
    shown: Estimate
    """Least difference that `topics` show with this power, as a fraction of the measure."""
    difference: float
    """Difference that the lead wants to show."""
    needed: Estimate
    """Topics that show it."""


def topic_set_size(
    comparisons: Sequence[RunComparison], verdict: Verdict, *, topics: int, difference: float, level: float
) -> TopicSetSize | Undefined:
    """Least difference that `topics` show, and topics needed for `difference`; intervals reflect how well the pilot
    knows the spread.

    comparisons: among them those of the verdict's facet. The interval of the spread is that of chi-square, with one
    degree of freedom less than the pilot has topics; the other intervals follow from its ends.
    """
    from scipy.special import chdtri, stdtr

    spreads = [
        comparison.difference / comparison.effect
        for comparison in comparisons
        if comparison.facet == verdict.facet and not isinstance(comparison.effect, Undefined) and comparison.effect
    ]
    if verdict.papers < 2 or not spreads:
        return Undefined("the pilot shows no spread of the differences between runs")
    spread, freedom = median(spreads), verdict.papers - 1
    low, high = (
        spread * math.sqrt(freedom / float(chdtri(freedom, tail))) for tail in ((1 - level) / 2, (1 + level) / 2)
    )
    alpha = ALPHA / verdict.pairs
    if verdict.critical is not None:
        alpha = 2 * float(stdtr(freedom, -verdict.critical))
    method = f"chi-square, with {freedom} degrees of freedom"

    def shown(by: float) -> float:
        return by * least_effect(topics, critical=critical_t(topics, alpha=alpha))

    numbers = [units_needed(difference / by, alpha=alpha, fewest=FEWEST_PAPERS) for by in (spread, low, high)]
    if None in numbers:
        most = Undefined(f"more than {MOST_UNITS:,} may be needed")
        needed = Estimate(most, most)
    else:
        typical, fewest, most_needed = (float(number or 0) for number in numbers)
        needed = Estimate(typical, Interval(fewest, most_needed, level, method))
    least: Estimate = Estimate(shown(spread), Interval(shown(low), shown(high), level, method))
    if topics < FEWEST_PAPERS:
        nothing = Undefined(f"{topics} topics show no difference of any size; {FEWEST_PAPERS} are needed")
        least = Estimate(nothing, nothing)
    return TopicSetSize(
        convention=comparisons[0].convention,
        measure=comparisons[0].measure,
        pairs=verdict.pairs,
        pilot_topics=verdict.papers,
        topics=topics,
        power=POWER,
        spread=Estimate(spread, Interval(low, high, level, method)),
        shown=least,
        difference=difference,
        needed=needed,
    )
