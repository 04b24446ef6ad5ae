"""Seconds per pair: which judgements have a time, and which times are work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from annot.forecast.outlook import PairTime
from annot.records import Judgement
from annot.stats.durations import fences, winsorised
from annot.stats.undefined import Undefined

NO_TIMES = Undefined("no judgement has a time yet")


def pair_time(given: Sequence[Judgement], fence: float) -> PairTime | Undefined:
    """The times of one assessor's judgements."""
    times = np.array([seconds for judgement in given if (seconds := seconds_of(judgement))])
    if not len(times):
        return NO_TIMES
    low, high = fences(times, fence)
    return PairTime(
        n=len(times),
        n_without=len(given) - len(times),
        median=float(np.median(times)),
        mean=float(times[(times >= low) & (times <= high)].mean()),
        winsorised=float(winsorised(times, fence=fence).mean()),
        n_slow=int((times > high).sum()),
        n_fast=int((times < low).sum()),
    )


def seconds_of(judgement: Judgement) -> float | None:
    """The time that a judgement took; 0 or less is no time."""
    return judgement.lead_time if judgement.lead_time is not None and judgement.lead_time > 0 else None


def moment_of(judgement: Judgement) -> datetime | None:
    if judgement.judged_at is None:
        return None
    moment = datetime.fromisoformat(judgement.judged_at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
