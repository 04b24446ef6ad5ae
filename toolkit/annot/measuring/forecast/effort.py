"""Effort for the pairs of a draw: judgements, repeats, disputes, hours and their cost.

How many pairs a draw has is chance, too. A range of hours includes this chance and the uncertainty of the times. The
two are independent, so the squares of their widths add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.forecast.hours import (
    HOUR,
    NO_TIMES,
    Rules,
    Settling,
    Speed,
    cost_of,
    hours_for,
    settling_hours,
    settling_value,
    times,
)
from annot.pools.pair_sample import ExpectedPairs


@dataclass(frozen=True, slots=True)
class Effort:
    """Rates of the work on one pair."""

    per_pair: int
    """Judgements of a pair."""
    assessors: int
    repeats: float
    """Share of each assessor's pairs that is asked a second time."""
    fewest_for_repeats: int
    """Least number of pairs of an assessor who has repeats."""
    names: Sequence[str]
    """Assessors whose times are in `speed`."""
    speed: Speed | Undefined
    seconds: float | None
    """Seconds of a judgement, if they are set; None takes `speed`."""
    disputed: float | None
    """Share of pairs that an adjudicator must settle; None if no pair was judged by so many people yet."""
    settling: Settling
    rules: Rules

    @property
    def known(self) -> bool:
        """True if the time of a judgement is known."""
        return self.seconds is not None or isinstance(self.speed, Speed)

    @property
    def with_disputes(self) -> bool:
        """True if hours include those of adjudication."""
        return self.disputed is not None and not isinstance(self.settling, Undefined)

    def judgements(self, pairs: float) -> float:
        """Number of judgements of so many pairs, with repeats."""
        first = pairs * self.per_pair
        per_assessor = first / max(1, self.assessors)
        return first * (1 + (self.repeats if per_assessor >= self.fewest_for_repeats else 0.0))

    def value(self, pairs: float) -> float:
        """Hours for so many pairs, which never fall with their number. The time of a judgement must be known."""
        settled = settling_value(self.settling, self.disputed * pairs) if self.disputed is not None else 0.0
        judged = self._judging(pairs).value
        assert not isinstance(judged, Undefined)
        return judged + (0.0 if isinstance(settled, Undefined) else settled)

    def hours(self, pairs: ExpectedPairs) -> Estimate:
        """Hours for a draw of so many pairs."""
        if not self.known:
            return Estimate(NO_TIMES, NO_TIMES)
        value, draw = self.value(pairs.mean), drawn_range(pairs, self.rules.level)
        below, above = pairs.mean - draw.low, draw.high - pairs.mean
        widths = [(below * value / pairs.mean, above * value / pairs.mean)]
        for part in self._parts(pairs.mean):
            if isinstance(part.interval, Undefined) or isinstance(part.value, Undefined):
                return Estimate(value, part.interval)
            widths.append((part.value - part.interval.low, part.interval.high - part.value))
        lower, upper = (math.hypot(*sides) for sides in zip(*widths, strict=True))
        return Estimate(value, Interval(max(0.0, value - lower), value + upper, self.rules.level, "prediction"))

    def cost(self, pairs: ExpectedPairs) -> Estimate:
        """Cost of these hours at the hourly rate."""
        return cost_of(self.hours(pairs), self.rules)

    def _judging(self, pairs: float) -> Estimate:
        n = self.judgements(pairs)
        if self.seconds is not None:
            return self._given(n * self.seconds / HOUR)
        return hours_for(self.speed, {name: n / len(self.names) for name in self.names}, self.rules)

    def _parts(self, pairs: float) -> Iterator[Estimate]:
        yield self._judging(pairs)
        if self.with_disputes and self.disputed:
            n = self.disputed * pairs
            disputes = max(1, round(n))
            if isinstance(self.settling, float):
                yield self._given(n * self.settling / HOUR)
            else:
                yield times(settling_hours(self.settling, disputes, self.rules), n / disputes)

    def _given(self, hours: float) -> Estimate:
        """Estimate by a set time, which has no range."""
        return Estimate(hours, Interval(hours, hours, self.rules.level, "prediction"))


def drawn_range(pairs: ExpectedPairs, level: float) -> Interval:
    """Range of the number of drawn pairs with this probability: sums of many independent draws are close to normal."""
    half_width = NormalDist().inv_cdf((1 + level) / 2) * pairs.deviation
    return Interval(
        max(0.0, pairs.mean - half_width), min(float(pairs.of), pairs.mean + half_width), level, "prediction"
    )
