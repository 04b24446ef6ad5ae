"""The forecast of the study that is on its way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from annot.base.errors import InputError
from annot.base.judged import counted
from annot.base.records import Judgement
from annot.base.stats.rounding import rounding
from annot.base.stats.values import Estimate, Value
from annot.measuring.forecast.finishing import ages_of, days_left, finish_of
from annot.measuring.forecast.hours import (
    HOUR,
    NO_TIMES,
    Speed,
    cost_of,
    hours_for,
    moment_of,
    pair_time,
    seconds_of,
    speed_of,
)
from annot.measuring.forecast.outlook import AssessorForecast, Forecast, Rules


@rounding
def forecast(
    judgements: Iterable[Judgement],
    remaining: Mapping[str, int],
    *,
    now: datetime,
    rules: Rules,
    papers: Mapping[str, str] | None = None,
) -> Forecast:
    """Pace, hours left, finish date and cost.

    judgements: of several revisions the latest counts, and none that carries flags. remaining: pairs still to judge by
    assessor; who has judged and is not named there has none left. now: with a time zone. papers: the paper of each
    query, the unit of chance where several are of one; None takes queries as independent.
    An assessor who has not begun is taken to be as fast as the others are on average, and has no date.
    Raises InputError for a negative count, a clock without a time zone, or times that cannot be read.
    """
    latest = counted(judgements)
    _check(latest, remaining, now)
    by_assessor: dict[str, list[Judgement]] = {name: [] for name in remaining}
    for judgement in latest:
        by_assessor.setdefault(judgement.assessor, []).append(judgement)
    names = sorted(by_assessor)
    left = {name: remaining.get(name, 0) for name in names}
    speed = speed_of(by_assessor, fence=rules.fence, papers=papers)
    hours = {name: hours_for(speed, {name: left[name]}, rules) for name in names}
    ends = {name: days_left(by_assessor[name], left[name], now, rules, key=name) for name in names}
    together = hours_for(speed, left, rules)
    spent: Value = NO_TIMES
    if isinstance(speed, Speed):
        spent = sum(len(by_assessor[name]) * speed.mean_of(name) for name in names) / HOUR
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
        remaining=sum(left.values()),
        unit=speed.unit if isinstance(speed, Speed) else speed,
        hours_spent=spent,
        hours_left=together,
        cost_spent=cost_of(Estimate(spent, NO_TIMES), rules).value,
        cost_left=cost_of(together, rules),
        finish=finish_of([ends[name] for name in names if left[name]], now, rules),
        notes=_notes(by_assessor, left, now, rules),
    )


def _notes(
    by_assessor: Mapping[str, Sequence[Judgement]], left: Mapping[str, int], now: datetime, rules: Rules
) -> tuple[str, ...]:
    notes = []
    timed = [name for name, given in by_assessor.items() if any(map(seconds_of, given))]
    borrowing = sorted(name for name in by_assessor if left[name] and name not in timed)
    if borrowing and timed:
        notes.append(f"{', '.join(borrowing)}: no times yet; assumed to be as fast as the others on average")
    oldest = max(
        (float(ages_of(given, now).max()) for given in by_assessor.values() if len(ages_of(given, now))), default=7
    )
    if min(oldest + 1, rules.window_days) < 7:
        notes.append("the pace comes from less than a week, so weekends may not be in it")
    return tuple(notes)


def _check(latest: Sequence[Judgement], remaining: Mapping[str, int], now: datetime) -> None:
    faults = [f"{name}: {n} pair(s) remaining, expected 0 or more" for name, n in sorted(remaining.items()) if n < 0]
    if now.tzinfo is None:
        faults.append(f"now = {now.isoformat()}: no time zone")
    for judgement in latest:
        try:
            moment_of(judgement)
        except ValueError:
            where = f"{judgement.query_id} {judgement.doc_id} {judgement.assessor}"
            faults.append(f"{where}: judged at {judgement.judged_at!r}, expected an ISO 8601 date and time")
    if faults:
        raise InputError(f"{len(faults)} fault(s) in what the forecast is made from", faults=faults)
