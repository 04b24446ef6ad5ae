"""What was answered on each of the last days, and what has changed since yesterday, by the lead's calendar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from annot.base.moments import moment_of
from annot.base.records import Judgement
from annot.study.adjudication import Pair
from annot.study.snapshot import Snapshot

DAYS = 14


@dataclass(frozen=True, slots=True)
class PersonByDay:
    """One person's answers; of an adjudicator, decisions."""

    given: tuple[int, ...]
    """On each of the days."""
    n: int
    """On whatever day."""
    last: datetime | None
    """When the last one was given, in the lead's time zone."""


@dataclass(frozen=True, slots=True)
class ByDay:
    """The last days, and what yesterday and today brought."""

    days: tuple[date, ...]
    """The oldest first; the last is today."""
    assessors: dict[str, PersonByDay]
    adjudicators: dict[str, PersonByDay]
    news: dict[str, tuple[int, int]]
    """Events of yesterday and of today, by what happened."""
    undated: int
    """Answers of assessors that come without a moment."""


def by_day(
    snapshot: Snapshot, changed_at: Mapping[Judgement, str | None], *, now: datetime, zone: tzinfo | None = None
) -> ByDay:
    """The days up to `now` in this time zone; None is that of the machine.

    changed_at: when the server saw the last change of an answer. An answer belongs to the day on which it was first
    given. A pair is complete, or in dispute, since the last change of its answers.
    """
    today = now.astimezone(zone).date()
    days = tuple(today - timedelta(days=back) for back in reversed(range(DAYS)))
    outcome = snapshot.outcome
    answers = [answer for answer in outcome.everything if answer.counts]
    rulings = [
        *outcome.adjudications.values(),
        *(said for several in (*outcome.unjudgeable.values(), *outcome.passed_on.values()) for said in several),
    ]

    def local(text: str | None) -> datetime | None:
        moment = moment_of(text)
        return None if moment is None else moment.astimezone(zone)

    def of_days(moments: Iterable[datetime | None]) -> tuple[int, int]:
        found = _person(list(moments), days).given
        return found[-2], found[-1]

    def of_people(given: Iterable[tuple[str, str | None]]) -> dict[str, PersonByDay]:
        found: dict[str, list[datetime | None]] = {}
        for name, moment in given:
            found.setdefault(name, []).append(local(moment))
        return {name: _person(moments, days) for name, moments in sorted(found.items())}

    ends: dict[Pair, list[datetime | None]] = {}
    for judgement in outcome.standing:
        if judgement.counts:
            ends.setdefault(judgement.pair, []).append(local(changed_at.get(judgement) or judgement.judged_at))
    not_complete = {*outcome.incomplete, *outcome.waiting}
    complete = {
        pair: max((moment for moment in moments if moment is not None), default=None)
        for pair, moments in ends.items()
        if pair in outcome.planned and pair not in not_complete
    }
    news = {
        "answers": of_days(local(answer.judged_at) for answer in answers),
        "changed": of_days(local(changed_at.get(answer)) for answer in answers if answer.revision > 1),
        "complete": of_days(complete.values()),
        "disputed": of_days(complete.get(dispute.pair) for dispute in outcome.settlement.disputed),
        "settled": of_days(local(ruling.judged_at) for ruling in rulings),
        "returned": of_days(local(one.returned_at) for one in outcome.returned),
    }
    return ByDay(
        days=days,
        assessors=of_people((answer.assessor, answer.judged_at) for answer in answers),
        adjudicators=of_people((ruling.adjudicator, ruling.judged_at) for ruling in rulings),
        news=news,
        undated=sum(moment_of(answer.judged_at) is None for answer in answers),
    )


def _person(moments: list[datetime | None], days: tuple[date, ...]) -> PersonByDay:
    known = [moment for moment in moments if moment is not None]
    dates = [moment.date() for moment in known]
    return PersonByDay(tuple(map(dates.count, days)), len(moments), max(known, default=None))
