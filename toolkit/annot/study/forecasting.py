"""What both forecasts share: their rules from the settings, and how hours, costs and dates are told."""

from __future__ import annotations

from annot.forecast import Finish, Rules
from annot.records import Judgement
from annot.settings import Settings
from annot.stats.intervals import Estimate
from annot.stats.undefined import Undefined, Value
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
        Judgement(ruling.query_id, ruling.doc_id, ruling.adjudicator, ruling.grade, lead_time=ruling.lead_time)
        for _, ruling in sorted(outcome.adjudications.items())
    )


def figure(value: Value, digits: int = 1) -> str:
    """A number, or a dash: the reason is told elsewhere."""
    return "-" if isinstance(value, Undefined) else f"{value:z.{digits}f}"


def estimate(found: Estimate, *, digits: int = 1) -> str:
    """`12.3 [10.1, 15.0]`, or why there is none."""
    if isinstance(found.value, Undefined):
        return f"unknown: {found.value.reason}"
    value = f"{found.value:z.{digits}f}"
    if isinstance(found.interval, Undefined):
        return f"{value} (no interval: {found.interval.reason})"
    return f"{value} [{found.interval.low:z.{digits}f}, {found.interval.high:z.{digits}f}]"


def date(found: Finish) -> str:
    """`2031-04-02 [2031-03-30, 2031-04-11]`, or why there is none."""
    if isinstance(found.date, Undefined):
        return f"unknown: {found.date.reason}"
    if isinstance(found.interval, Undefined):
        return f"{found.date} (no interval: {found.interval.reason})"
    return f"{found.date} [{found.interval[0]}, {found.interval[1]}]"
