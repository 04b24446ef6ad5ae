"""How many pairs a day, and so the day on which the last one is judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from annot.base.records import Judgement
from annot.base.stats.arrays import Array
from annot.base.stats.seeding import generator
from annot.base.stats.values import Undefined, Value
from annot.measuring.forecast.hours import moment_of, tails
from annot.measuring.forecast.outlook import Finish, Rules

MIN_DAYS = 3
LONGEST = 36_500.0
"""Days; a finish further away than a century is not a date."""


@dataclass(frozen=True, slots=True)
class End:
    """In how many days one assessor will be done."""

    pace: Value
    days: Value
    draws: Array | Undefined


def days_left(given: Sequence[Judgement], left: int, now: datetime, rules: Rules, *, key: str) -> End:
    """Days until `left` pairs are done at the pace of the days before now.

    Days are counted back from now, 24 hours each, to the first judgement or the window's end, idle ones included.
    """
    ages = ages_of(given, now)
    if not len(ages):
        none = Undefined(f"{key}: no judgement has a date" if given else f"{key} has not begun")
        return End(none, none if left else 0.0, none)
    n_days = min(rules.window_days, int(ages.max()) + 1)
    counts = np.bincount(ages.astype(np.int64)[ages < n_days], minlength=n_days)
    pace = float(counts.mean())
    if left and pace == 0:
        idle = Undefined(f"{key} has judged nothing in the last {n_days} day(s)")
        return End(pace, idle, idle)
    days = left / pace if left else 0.0
    if n_days < MIN_DAYS or not left:
        return End(pace, days, Undefined(f"{key} began {n_days} day(s) ago, which does not show how days differ"))
    # The pace so far is uncertain, and so is each day to come.
    deviation = float(counts.std(ddof=1)) / pace * math.sqrt(1 / n_days + 1 / max(days, 1.0))
    t = generator(rules.seed, "days", key).standard_t(n_days - 1, rules.draws)
    return End(pace, days, days * np.exp(np.minimum(deviation * t, 50.0)))


def finish_of(ends: Sequence[End], now: datetime, rules: Rules) -> Finish:
    """When the last of them is done."""
    ends = [end for end in ends if end.days != 0.0]
    if not ends:
        done = Undefined("everything is judged")
        return Finish(done, done, rules.level)
    reasons = [end.days.reason for end in ends if isinstance(end.days, Undefined)]
    if reasons:
        none = Undefined("; ".join(reasons))
        return Finish(none, none, rules.level)
    slowest = max(end.days for end in ends if not isinstance(end.days, Undefined))
    if slowest > LONGEST:
        never = Undefined("at this pace it would take more than a century")
        return Finish(never, never, rules.level)
    vague = [end.draws.reason for end in ends if isinstance(end.draws, Undefined)]
    if vague:
        return Finish(_date(now, slowest), Undefined("; ".join(vague)), rules.level)
    last = np.max([end.draws for end in ends if not isinstance(end.draws, Undefined)], axis=0)
    low, high = np.quantile(np.minimum(last, LONGEST), tails(rules.level))
    # With several people the last one is later than each one's own middle.
    middle = slowest if len(ends) == 1 else min(float(np.median(last)), LONGEST)
    return Finish(_date(now, middle), (_date(now, float(low)), _date(now, float(high))), rules.level)


def ages_of(given: Sequence[Judgement], now: datetime) -> Array:
    """Days since each dated judgement; a clock that is ahead of ours makes none negative."""
    moments = [moment for moment in map(moment_of, given) if moment is not None]
    return np.array([max(0.0, (now - moment) / timedelta(days=1)) for moment in moments])


def _date(now: datetime, days: float) -> str:
    return (now + timedelta(days=days)).date().isoformat()
