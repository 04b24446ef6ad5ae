"""Seconds per pair: which judgements have a time, and which times are work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from annot.forecast.results import PairTime, Unknown
from annot.records import Judgement
from annot.stats.durations import fences, winsorised

Array = npt.NDArray[np.float64]

NO_TIMES = Unknown("no judgement has a time yet")


def pair_time(given: Sequence[Judgement], fence: float) -> PairTime | Unknown:
    timed = [one for one in given if seconds_of(one)]
    if not timed:
        return NO_TIMES
    times = times_of(timed)
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


def latest_counting(judgements: Iterable[Judgement]) -> list[Judgement]:
    """The latest revision of each judgement, where it carries no flag; the answer to a repeat is one of its own."""
    latest: dict[tuple[str, str, str, int], Judgement] = {}
    for one in sorted(judgements, key=lambda one: one.revision):
        latest[one.query_id, one.doc_id, one.assessor, one.occasion] = one
    return [latest[key] for key in sorted(latest) if not latest[key].flags]


def seconds_of(one: Judgement) -> float | None:
    return one.lead_time if one.lead_time is not None and one.lead_time > 0 else None


def times_of(given: Sequence[Judgement]) -> Array:
    return np.asarray([seconds_of(one) for one in given], dtype=np.float64)


def moment_of(one: Judgement) -> datetime | None:
    if one.judged_at is None:
        return None
    moment = datetime.fromisoformat(one.judged_at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
