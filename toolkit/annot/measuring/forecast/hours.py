"""Hours and cost of judging: of a draw, and of the rest of a study."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import NormalDist
from typing import Literal

import numpy as np

from annot.base.names import counted, moment_of
from annot.base.records import Judgement, grouped
from annot.base.records import counted as counting
from annot.base.stats.arrays import Array, Integers
from annot.base.stats.inference import fences, generator
from annot.base.stats.values import Estimate, Finish, Interval, Undefined, Value, rounding
from annot.pools.pooling import ExpectedPairs

# ----------------------------------------------------------------------------------------------------------------------
# Times of judgements, the speed of each assessor, and the hours for pairs to judge and disputes to settle.
# ----------------------------------------------------------------------------------------------------------------------


MIN_FREEDOM = 3
"""Least degrees of freedom with which queries, and not single judgements, are the sampling units."""
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
    """Times behind it; 0 if the seconds were set."""
    unit: Unit

    def hours(self, left: Mapping[str, float]) -> float:
        """Hours for this many pairs by assessor."""
        return sum(n * self.mean_of(name) for name, n in left.items()) / HOUR

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
    """Speed from sampling units: queries, or single judgements while there are too few.

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
    return speed.hours({name: len(by_assessor[name]) for name in sorted(by_assessor)})


def set_speed(seconds: float, name: str) -> Speed:
    """Speed of one who takes exactly so long for each pair, as the lead says."""
    return Speed({name: seconds}, {name: 0.0}, per_pair=0.0, freedom=0, n_times=0, unit="judgements")


def hours_for(
    speed: Speed | Undefined, left: Mapping[str, float], rules: Rules, *, noun: str = "judgement"
) -> Estimate:
    """Hours for this many pairs by assessor. noun: of the thing that is timed."""
    if not any(left.values()):
        return Estimate(0.0, Interval(0.0, 0.0, rules.level, "prediction"))
    if isinstance(speed, Undefined):
        return Estimate(speed, speed)
    value = speed.hours(left)
    if not speed.n_times:
        return Estimate(value, SET)
    draws = drawn_hours(
        speed, {name: np.full(rules.draws, float(n)) for name, n in left.items() if n}, rules, noun=noun
    )
    return Estimate(value, draws if isinstance(draws, Undefined) else predicted(draws, rules.level))


def drawn_hours(speed: Speed, left: Mapping[str, Array], rules: Rules, *, noun: str) -> Array | Undefined:
    """Hours for this many pairs by assessor, shape (draws,), each with its own chance and that of a speed learnt from a
    few.
    """
    draws = len(next(iter(left.values())))
    total: Array = np.zeros(draws)
    scale: Array = np.zeros(draws)
    if speed.n_times and speed.freedom < MIN_FREEDOM:
        return Undefined(f"only {counted(speed.n_times, noun)} with a time")
    if speed.freedom:
        # A deviation may be off, as its variance is itself estimated: by one factor for all that is pooled in it.
        chances = generator(rules.seed, "scale").chisquare(speed.freedom, draws)
        scale = np.sqrt(speed.freedom / chances)
    for name, n in left.items():
        deviation = np.sqrt(speed.variance_of(name) + speed.per_pair / np.where(n > 0, n, 1.0))
        key = ("settling",) if name == DECIDERS else ("hours", name)
        normal = generator(rules.seed, *key).standard_normal(draws)
        total += n * speed.mean_of(name) * np.exp(deviation * scale * normal)
    return total / HOUR


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
        n=len(times), median=float(np.median(times)), mean=float(times[(times >= low) & (times <= high)].mean())
    )


def seconds_of(judgement: Judgement) -> float | None:
    """Time that a judgement took; 0 or less is no time."""
    return judgement.lead_time if judgement.lead_time is not None and judgement.lead_time > 0 else None


NOT_KNOWN = Undefined("no settled dispute has a time yet")
DECIDERS = "adjudicators"
"""Name of all adjudicators together: disputes of one study are settled by one or two people."""

SET = Undefined("the time was set, not measured")


def settling_of(
    settled: Iterable[Judgement], *, seconds: float | None, fence: float, topics: Mapping[str, str] | None = None
) -> Speed | Undefined:
    """Learn the speed of settling disputes, that of `DECIDERS`.

    settled: the grades that adjudicators gave, with their times. seconds: of one dispute; None learns them. topics: as
    in `speed_of`.
    """
    if seconds is not None:
        return set_speed(seconds, DECIDERS)
    learnt = speed_of({DECIDERS: list(settled)}, fence=fence, topics=topics)
    return NOT_KNOWN if learnt is NO_TIMES else learnt


# ----------------------------------------------------------------------------------------------------------------------
# Effort for the pairs of a draw: judgements, repeats, disputes, hours and their cost.
#
# How many pairs a draw has is chance, too. A range of hours includes this chance and the uncertainty of the times.
# The two are independent, so the squares of their widths add up.
# ----------------------------------------------------------------------------------------------------------------------


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
    """People among whom judgements are shared for the hours."""
    speed: Speed | Undefined
    disputed: float | None
    """Share of pairs that an adjudicator must settle; None if no pair was judged by this many people yet."""
    settling: Speed | Undefined
    rules: Rules

    @property
    def with_disputes(self) -> bool:
        """True if hours include those of adjudication."""
        return self.disputed is not None and isinstance(self.settling, Speed)

    def judgements(self, pairs: float) -> float:
        """Number of judgements of this many pairs, with repeats."""
        first = pairs * self.per_pair
        per_assessor = first / max(1, self.assessors)
        return first * (1 + (self.repeats if per_assessor >= self.fewest_for_repeats else 0.0))

    def value(self, pairs: float) -> float:
        """Hours for this many pairs, which never fall with their number. The time of a judgement must be known."""
        assert isinstance(self.speed, Speed)
        settled = 0.0
        if self.disputed and isinstance(self.settling, Speed):
            settled = self.settling.hours({DECIDERS: self.disputed * pairs})
        return self.speed.hours(self._shared(pairs)) + settled

    def hours(self, pairs: ExpectedPairs) -> Estimate:
        """Hours for a draw of this many pairs."""
        if isinstance(self.speed, Undefined):
            return Estimate(self.speed, self.speed)
        value, draw = self.value(pairs.mean), drawn_range(pairs, self.rules.level)
        below, above = pairs.mean - draw.low, draw.high - pairs.mean
        widths = [(below * value / pairs.mean, above * value / pairs.mean)]
        parts = [hours_for(self.speed, self._shared(pairs.mean), self.rules)]
        if self.disputed and isinstance(self.settling, Speed):
            n = self.disputed * pairs.mean
            disputes = max(1, round(n))
            settled = hours_for(self.settling, {DECIDERS: disputes}, self.rules, noun="settled dispute")
            parts.append(times(settled, n / disputes))
        for part in parts:
            if part.interval is SET:
                continue
            if isinstance(part.interval, Undefined) or isinstance(part.value, Undefined):
                return Estimate(value, part.interval)
            widths.append((part.value - part.interval.low, part.interval.high - part.value))
        lower, upper = (math.hypot(*sides) for sides in zip(*widths, strict=True))
        return Estimate(value, Interval(max(0.0, value - lower), value + upper, self.rules.level, "prediction"))

    def cost(self, pairs: ExpectedPairs) -> Estimate:
        """Cost of these hours at the hourly rate."""
        return cost_of(self.hours(pairs), self.rules)

    def _shared(self, pairs: float) -> dict[str, float]:
        n = self.judgements(pairs)
        return {name: n / len(self.names) for name in self.names}


def drawn_range(pairs: ExpectedPairs, level: float) -> Interval:
    """Range of the number of drawn pairs with this probability: sums of many independent draws are close to normal."""
    half_width = NormalDist().inv_cdf((1 + level) / 2) * pairs.deviation
    return Interval(
        max(0.0, pairs.mean - half_width), min(float(pairs.of), pairs.mean + half_width), level, "prediction"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Forecast of the study that is under way: pace, hours and cost, and the day on which the last pair is judged.
# ----------------------------------------------------------------------------------------------------------------------


VACANT = ""
"""Name in place of an assessor, for judgements that have no assessor yet."""


@dataclass(frozen=True, slots=True)
class AssessorForecast:
    """Forecast of one assessor's share."""

    assessor: str
    judged: int
    remaining: int
    time: PairTime | Undefined
    pairs_per_day: Value
    hours_left: Estimate
    finish: Finish


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast of the rest of the study."""

    assessors: tuple[AssessorForecast, ...]
    judged: int
    remaining: int
    vacant: int
    """Judgements of these that have no assessor yet."""
    unit: Unit | Undefined
    """Unit of chance of the intervals of hours and cost."""
    hours_spent: Value
    hours_left: Estimate
    cost_spent: Value
    cost_left: Estimate
    finish: Finish
    notes: tuple[str, ...]


@rounding
def forecast(
    judgements: Iterable[Judgement],
    remaining: Mapping[str, int],
    *,
    now: datetime,
    rules: Rules,
    topics: Mapping[str, str] | None = None,
) -> Forecast:
    """Forecast pace, hours left, finish date and cost.

    judgements: of several revisions the latest counts, and none that carries flags. remaining: judgements still to
    give by assessor, and of `VACANT`; who has judged and is not named there has none left. now: with a time zone.
    topics: the topic of each query, the sampling unit if several are of one; None takes queries as independent.
    An assessor who has not begun is taken to be as fast as the others are on average, and has no date. Without an
    assessor for each judgement, there is no date for all.
    """
    latest, vacant = counting(judgements), remaining.get(VACANT, 0)
    by_assessor: dict[str, list[Judgement]] = {name: [] for name in remaining if name != VACANT} | grouped(
        (judgement.assessor, judgement) for judgement in latest
    )
    names = sorted(by_assessor)
    left = {name: remaining.get(name, 0) for name in names}
    speed = speed_of(by_assessor, fence=rules.fence, topics=topics)
    hours = {name: hours_for(speed, {name: left[name]}, rules) for name in names}
    ends = {name: days_left(by_assessor[name], left[name], now, rules, key=name) for name in names}
    together = hours_for(speed, left | {VACANT: vacant}, rules)
    open_ends = [ends[name] for name in names if left[name]]
    if vacant:
        none = Undefined(f"{counted(vacant, 'judgement')} without an assessor")
        open_ends.append(End(none, none, none))
    spent = hours_spent(by_assessor, speed)
    return Forecast(
        assessors=tuple(
            AssessorForecast(
                assessor=name,
                judged=len(by_assessor[name]),
                remaining=left[name],
                time=pair_time(by_assessor[name], rules.fence),
                pairs_per_day=ends[name].pace,
                hours_left=hours[name],
                finish=finish_of([ends[name]], now, rules),
            )
            for name in names
        ),
        judged=len(latest),
        remaining=sum(left.values()) + vacant,
        vacant=vacant,
        unit=speed.unit if isinstance(speed, Speed) else speed,
        hours_spent=spent,
        hours_left=together,
        cost_spent=cost_of(Estimate(spent, NO_TIMES), rules).value,
        cost_left=cost_of(together, rules),
        finish=finish_of(open_ends, now, rules),
        notes=_notes(by_assessor, left, vacant, now, rules),
    )


def _notes(
    by_assessor: Mapping[str, Sequence[Judgement]], left: Mapping[str, int], vacant: int, now: datetime, rules: Rules
) -> tuple[str, ...]:
    notes = []
    timed = [name for name, judgements in by_assessor.items() if any(map(seconds_of, judgements))]
    untimed = sorted(name for name in by_assessor if left[name] and name not in timed)
    if vacant:
        untimed.append("judgements without an assessor")
    if untimed and timed:
        notes.append(f"{', '.join(untimed)}: no times yet; assumed to be as fast as the others on average")
    oldest = max(ages_of([*itertools.chain.from_iterable(by_assessor.values())], now), default=math.inf)
    if min(oldest + 1, rules.window_days) < 7:
        notes.append("the pace comes from less than a week, so it may not include a weekend")
    return tuple(notes)


MIN_DAYS = 3
LONGEST = 36_500.0
"""Longest forecast in days; a finish further away than a century is not a date."""


@dataclass(frozen=True, slots=True)
class End:
    """Days until one assessor will be done."""

    pace: Value
    days: Value
    draws: Array | Undefined


def days_left(judgements: Sequence[Judgement], left: int, now: datetime, rules: Rules, *, key: str) -> End:
    """Days until `left` pairs are done at the pace of the days before now.

    Days are counted back from now, 24 hours each, to the first judgement or the window's end, idle ones included.
    """
    ages = ages_of(judgements, now)
    if not len(ages):
        none = Undefined(f"{key}: no judgement has a date" if judgements else f"{key} has not begun")
        return End(none, none if left else 0.0, none)
    n_days = min(rules.window_days, int(ages.max()) + 1)
    counts = np.bincount(ages.astype(np.int64)[ages < n_days], minlength=n_days)
    pace = float(counts.mean())
    if left and pace == 0:
        idle = Undefined(f"{key} has judged nothing in the last {counted(n_days, 'day')}")
        return End(pace, idle, idle)
    days = left / pace if left else 0.0
    if n_days < MIN_DAYS or not left:
        return End(
            pace,
            days,
            Undefined(f"{key} began {counted(n_days, 'day')} ago, which is too short to see how days differ"),
        )
    # The pace so far is uncertain, and so is each day to come.
    deviation = float(counts.std(ddof=1)) / pace * math.sqrt(1 / n_days + 1 / max(days, 1.0))
    t = generator(rules.seed, "days", key).standard_t(n_days - 1, rules.draws)
    return End(pace, days, days * np.exp(np.minimum(deviation * t, 50.0)))


def finish_of(ends: Sequence[End], now: datetime, rules: Rules) -> Finish:
    """Finish of the last of them."""
    ends = [end for end in ends if end.days != 0.0]
    reasons = [end.days.reason for end in ends if isinstance(end.days, Undefined)]
    slowest = max((end.days for end in ends if not isinstance(end.days, Undefined)), default=0.0)
    if not ends:
        reasons = ["everything is judged"]
    elif not reasons and slowest > LONGEST:
        reasons = ["at this pace it would take more than a century"]
    if reasons:
        none = Undefined("; ".join(reasons))
        return Finish(none, none, rules.level)
    unknown_ends = [end.draws.reason for end in ends if isinstance(end.draws, Undefined)]
    if unknown_ends:
        return Finish(_date(now, slowest), Undefined("; ".join(unknown_ends)), rules.level)
    last = np.max([end.draws for end in ends if not isinstance(end.draws, Undefined)], axis=0)
    low, high = np.quantile(np.minimum(last, LONGEST), tails(rules.level))
    # With several people the last one is later than each one's own middle.
    middle = slowest if len(ends) == 1 else min(float(np.median(last)), LONGEST)
    return Finish(_date(now, middle), (_date(now, float(low)), _date(now, float(high))), rules.level)


def ages_of(judgements: Sequence[Judgement], now: datetime) -> Array:
    """Days since each dated judgement; a clock that is ahead of ours makes none negative."""
    moments = filter(None, (moment_of(judgement.judged_at) for judgement in judgements))
    return np.array([max(0.0, (now - moment) / timedelta(days=1)) for moment in moments])


def _date(now: datetime, days: float) -> str:
    return (now + timedelta(days=days)).date().isoformat()
