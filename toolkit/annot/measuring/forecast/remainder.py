"""Forecast of the study that is under way: pace, hours and cost, and the day on which the last pair is judged."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from annot.base.judged import counted as counting
from annot.base.names import counted, moment_of
from annot.base.records import Judgement, grouped
from annot.base.stats.arrays import Array
from annot.base.stats.seeding import generator
from annot.base.stats.values import Estimate, Finish, Undefined, Value, rounding
from annot.measuring.forecast.hours import (
    NO_TIMES,
    PairTime,
    Rules,
    Speed,
    Unit,
    cost_of,
    hours_for,
    hours_spent,
    pair_time,
    seconds_of,
    speed_of,
    tails,
)

NOBODY = ""
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
    give by assessor, and of `NOBODY`; who has judged and is not named there has none left. now: with a time zone.
    topics: the topic of each query, the unit of chance if several are of one; None takes queries as independent.
    An assessor who has not begun is taken to be as fast as the others are on average, and has no date. Without an
    assessor for each judgement, there is no date for all.
    """
    latest, vacant = counting(judgements), remaining.get(NOBODY, 0)
    by_assessor: dict[str, list[Judgement]] = {name: [] for name in remaining if name != NOBODY} | grouped(
        (judgement.assessor, judgement) for judgement in latest
    )
    names = sorted(by_assessor)
    left = {name: remaining.get(name, 0) for name in names}
    speed = speed_of(by_assessor, fence=rules.fence, topics=topics)
    hours = {name: hours_for(speed, {name: left[name]}, rules) for name in names}
    ends = {name: days_left(by_assessor[name], left[name], now, rules, key=name) for name in names}
    together = hours_for(speed, left | {NOBODY: vacant}, rules)
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
    borrowing = sorted(name for name in by_assessor if left[name] and name not in timed)
    if borrowing and timed:
        notes.append(f"{', '.join(borrowing)}: no times yet; assumed to be as fast as the others on average")
    if vacant and timed:
        notes.append("judgements without an assessor: the hours assume a person as fast as the others on average")
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
    vague = [end.draws.reason for end in ends if isinstance(end.draws, Undefined)]
    if vague:
        return Finish(_date(now, slowest), Undefined("; ".join(vague)), rules.level)
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
