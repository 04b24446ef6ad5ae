"""Times of judgements, the speed of each assessor, and the hours for pairs to judge and disputes to settle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from annot.base.names import counted
from annot.base.records import Judgement
from annot.base.stats.arrays import Array, Integers
from annot.base.stats.medians import fences
from annot.base.stats.seeding import generator
from annot.base.stats.values import Estimate, Interval, Undefined, Value

MIN_FREEDOM = 3
"""Least degrees of freedom with which queries, and not single judgements, are the units of chance."""
HOUR = 3600.0
Unit = Literal["queries", "query papers", "judgements"]
"""Units of chance of times: whole topics if several queries are of one."""
NO_TIMES = Undefined("no judgement has a time yet")


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of a forecast."""

    fence: float
    """Widths of the log times from their median beyond which a time is idling or a slip. At 3, log-normal times with 0
    to 3% of breaks of 10 minutes to an hour have their mean within 1% on average.
    """
    window_days: int
    """Days before now from which the pace is taken."""
    hourly_rate: float | None
    """Cost of an hour of judging, in the study's currency; None if it is not known."""
    level: float
    draws: int
    seed: int


@dataclass(frozen=True, slots=True)
class PairTime:
    """Seconds per pair of one assessor."""

    n: int
    """Judgements with a time."""
    median: float
    mean: float
    """Mean of the times within the fences, on which the forecast rests."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed of each assessor, and its uncertainty: variances are those of the logarithm."""

    means: dict[str, float]
    """Seconds per pair, within the fences."""
    known: dict[str, float]
    """Variance of each mean."""
    per_pair: float
    """Variance of the mean of n future pairs, times n."""
    freedom: int
    n_times: int
    unit: Unit

    def mean_of(self, assessor: str) -> float:
        """Mean of the assessor, or for one without times the geometric mean of the others'."""
        return self.means.get(assessor, math.exp(float(np.mean(np.log(list(self.means.values()))))))

    def variance_of(self, assessor: str) -> float:
        """Relative variance of `mean_of`; for one without times that between people."""
        if assessor in self.known:
            return self.known[assessor]
        logs = np.log(list(self.means.values()))
        spread = float(np.var(logs, ddof=1)) * (1 + 1 / len(logs)) if len(logs) > 1 else 0.0
        return spread + float(np.mean(list(self.known.values())))


def speed_of(
    by_assessor: Mapping[str, Sequence[Judgement]], *, fence: float, topics: Mapping[str, str] | None = None
) -> Speed | Undefined:
    """Speed from units of chance: queries, or single judgements while there are too few.

    topics: the topic of each query, which is the unit if several are of one; None takes queries as independent.
    """
    times_by_name = kept_times(by_assessor, fence=fence)
    if not times_by_name:
        return NO_TIMES
    query_ids = {query_id for times in times_by_name.values() for query_id, _ in times}
    paper = {query_id: topics[query_id] if topics else query_id for query_id in query_ids}
    unit: Unit = "queries" if len(set(paper.values())) == len(paper) else "query papers"
    if sum(len({paper[query_id] for query_id, _ in times}) - 1 for times in times_by_name.values()) < MIN_FREEDOM:
        unit = "judgements"
    means: dict[str, float] = {}
    sizes: dict[str, Integers] = {}
    squares = 0.0
    for name, times in times_by_name.items():
        seconds = np.array([time for _, time in times])
        labels = [unit_of if unit == "judgements" else paper[query_id] for unit_of, (query_id, _) in enumerate(times)]
        _, unit_of = np.unique(labels, return_inverse=True)
        n = np.bincount(unit_of)
        # How far each unit is from the others, in pairs: units of many pairs say more.
        logs = np.log(np.bincount(unit_of, weights=seconds) / n)
        squares += float(((n * (logs - np.average(logs, weights=n))) ** 2).sum())
        means[name], sizes[name] = float(seconds.mean()), n
    freedom = sum(len(n) - 1 for n in sizes.values())
    usual = sum(map(np.sum, sizes.values())) / sum(map(len, sizes.values()))
    # From the variance of a log-normal unit's logarithm to the squared coefficient of variation of the unit itself.
    variance = usual**2 * math.expm1(squares / freedom / usual**2) if freedom else 0.0
    return Speed(
        means=means,
        known={name: variance * len(n) / float(n.sum()) ** 2 for name, n in sizes.items()},
        per_pair=variance / float(usual),
        freedom=freedom,
        n_times=sum(map(len, times_by_name.values())),
        unit=unit,
    )


def kept_times(by_assessor: Mapping[str, Sequence[Judgement]], *, fence: float) -> dict[str, list[tuple[str, float]]]:
    """Times within the fences of their assessor, as (query_id, seconds); an assessor without times is left out."""
    times: dict[str, list[tuple[str, float]]] = {}
    for name in sorted(by_assessor):
        timed = [(judgement.query_id, seconds) for judgement in by_assessor[name] if (seconds := seconds_of(judgement))]
        if timed:
            low, high = fences(np.array([seconds for _, seconds in timed]), fence)
            times[name] = [(query_id, seconds) for query_id, seconds in timed if low <= seconds <= high]
    return times


def hours_spent(by_assessor: Mapping[str, Sequence[Judgement]], speed: Speed | Undefined) -> Value:
    """Hours that these judgements took. One without a time, or with a break in it, counts as long as its assessor's
    others.
    """
    if isinstance(speed, Undefined):
        return speed
    return sum(len(by_assessor[name]) * speed.mean_of(name) for name in sorted(by_assessor)) / HOUR


def hours_for(speed: Speed | Undefined, left: Mapping[str, float], rules: Rules) -> Estimate:
    """Hours for so many pairs by assessor."""
    if not any(left.values()):
        return Estimate(0.0, Interval(0.0, 0.0, rules.level, "prediction"))
    if isinstance(speed, Undefined):
        return Estimate(speed, speed)
    value = sum(n * speed.mean_of(name) for name, n in left.items()) / HOUR
    if speed.freedom < MIN_FREEDOM:
        return Estimate(value, Undefined(f"only {counted(speed.n_times, 'judgement')} with a time"))
    total = np.zeros(rules.draws)
    scale = scale_of(speed.freedom, rules.draws, rules.seed)
    for name, n in left.items():
        if n:
            deviation = math.sqrt(speed.variance_of(name) + speed.per_pair / n)
            normal = generator(rules.seed, "hours", name).standard_normal(rules.draws)
            total += n * speed.mean_of(name) * np.exp(deviation * scale * normal)
    return Estimate(value, predicted(total / HOUR, rules.level))


def scale_of(freedom: int, draws: int, seed: int) -> Array:
    """Factor by which a deviation may be off, as its variance is itself estimated; one for all that is pooled in it."""
    return np.asarray(np.sqrt(freedom / generator(seed, "scale").chisquare(freedom, draws)))


def cost_of(hours: Estimate, rules: Rules) -> Estimate:
    """Cost of hours at the hourly rate."""
    if rules.hourly_rate is None:
        no_rate = Undefined("no hourly rate is set")
        return Estimate(no_rate, no_rate)
    return times(hours, rules.hourly_rate)


def times(estimate: Estimate, factor: float) -> Estimate:
    """Multiply the figure and both ends of its interval by `factor`."""
    value, interval = estimate.value, estimate.interval
    if isinstance(interval, Interval):
        interval = replace(interval, low=factor * interval.low, high=factor * interval.high)
    return Estimate(value if isinstance(value, Undefined) else factor * value, interval)


def predicted(draws: Array, level: float, *, method: Literal["linear", "weibull"] = "linear") -> Interval:
    """Interval with the middle `level` share of the draws."""
    low, high = np.quantile(draws, tails(level), method=method)
    return Interval(float(low), float(high), level, "prediction")


def tails(level: float) -> tuple[float, float]:
    """Quantiles that enclose the middle `level` share."""
    return (1 - level) / 2, (1 + level) / 2


def pair_time(judgements: Sequence[Judgement], fence: float) -> PairTime | Undefined:
    """Times of one assessor's judgements."""
    times = np.array([seconds for judgement in judgements if (seconds := seconds_of(judgement))])
    if not len(times):
        return NO_TIMES
    low, high = fences(times, fence)
    return PairTime(
        n=len(times),
        median=float(np.median(times)),
        mean=float(times[(times >= low) & (times <= high)].mean()),
    )


def seconds_of(judgement: Judgement) -> float | None:
    """Time that a judgement took; 0 or less is no time."""
    return judgement.lead_time if judgement.lead_time is not None and judgement.lead_time > 0 else None


NOT_KNOWN = Undefined("no settled dispute has a time yet")
WHO = "adjudicators"
"""Name of all adjudicators together: disputes of one study are settled by one or two people."""

Settling = Speed | float | Undefined
"""Seconds per dispute: learnt, set, or not known."""


def settling_of(
    settled: Iterable[Judgement], *, seconds: float | None, fence: float, topics: Mapping[str, str] | None = None
) -> Settling:
    """Learn the time of a dispute.

    settled: the grades that adjudicators gave, with their times. seconds: of one dispute; None learns them. topics: as
    in `speed_of`.
    """
    if seconds is not None:
        return seconds
    learnt = speed_of({WHO: list(settled)}, fence=fence, topics=topics)
    return NOT_KNOWN if learnt is NO_TIMES else learnt


def settling_hours(settling: Settling, n: int, rules: Rules) -> Estimate:
    """Hours for n disputes."""
    if n == 0:
        return Estimate(0.0, Interval(0.0, 0.0, rules.level, "prediction"))
    value = settling_value(settling, n)
    draws = settling_draws(settling, np.full(rules.draws, float(n)), rules)
    if isinstance(settling, float):
        return Estimate(value, Undefined("the seconds per dispute were set, not measured"))
    return Estimate(value, draws if isinstance(draws, Undefined) else predicted(draws, rules.level))


def settling_value(settling: Settling, n: float) -> Value:
    if n == 0:
        return 0.0
    if isinstance(settling, Undefined):
        return settling
    return n * (settling if isinstance(settling, float) else settling.means[WHO]) / HOUR


def settling_draws(settling: Settling, n: Array, rules: Rules) -> Array | Undefined:
    """Hours for so many disputes, shape (draws,), each with its own chance and that of a rate learnt from a few."""
    if not n.any():
        return np.zeros(len(n))
    if isinstance(settling, Undefined):
        return settling
    if isinstance(settling, float):
        return n * settling / HOUR
    if settling.freedom < MIN_FREEDOM:
        return Undefined(f"only {counted(settling.n_times, 'settled dispute')} with a time")
    scale = scale_of(settling.freedom, len(n), rules.seed)
    deviation = np.sqrt(settling.known[WHO] + settling.per_pair / np.maximum(n, 1.0))
    normal = generator(rules.seed, "settling").standard_normal(len(n))
    return np.asarray(n * settling.means[WHO] * np.exp(deviation * scale * normal) / HOUR)
