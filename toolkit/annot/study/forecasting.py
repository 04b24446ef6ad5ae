"""What both forecasts share: their rules from the settings, and how hours, costs and dates are told."""

from __future__ import annotations

from annot.forecast import Estimate, Finish, Range, Rules, Unknown
from annot.records import Judgement
from annot.settings import Settings
from annot.study.outcome import Outcome


def rules_of(settings: Settings, hourly_rate: float | None) -> Rules:
    """The rules of annot.toml; `hourly_rate` None takes the rate there."""
    wanted = settings.forecast
    return Rules(
        fence=wanted.fence,
        window_days=wanted.window_days,
        hourly_rate=wanted.hourly_rate if hourly_rate is None else hourly_rate,
        level=wanted.level,
        draws=wanted.draws,
        seed=settings.seed,
    )


def settled_of(outcome: Outcome) -> tuple[Judgement, ...]:
    """The adjudications that count, as the grades that their adjudicators gave, with their times."""
    return tuple(
        Judgement(one.query_id, one.doc_id, one.adjudicator, one.grade, lead_time=one.lead_time)
        for _, one in sorted(outcome.adjudications.items())
    )


def figure(value: float | Unknown, digits: int = 1) -> str:
    """A number, or a dash: the reason is told elsewhere."""
    return "-" if isinstance(value, Unknown) else f"{value:z.{digits}f}"


def estimate(found: Estimate, unit: str, *, digits: int = 1) -> str:
    """`12.3 h [10.1, 15.0]`, or why there is none."""
    if isinstance(found.value, Unknown):
        return f"unknown: {found.value.undefined}"
    told = f"{found.value:z.{digits}f}{unit}"
    if isinstance(found.interval, Range):
        return f"{told} [{found.interval.low:z.{digits}f}, {found.interval.high:z.{digits}f}]"
    return f"{told} (no interval: {found.interval.undefined})"


def date(found: Finish) -> str:
    """`2031-04-02 [2031-03-30, 2031-04-11]`, or why there is none."""
    if isinstance(found.date, Unknown):
        return f"unknown: {found.date.undefined}"
    if isinstance(found.interval, Unknown):
        return f"{found.date} (no interval: {found.interval.undefined})"
    return f"{found.date} [{found.interval[0]}, {found.interval[1]}]"
