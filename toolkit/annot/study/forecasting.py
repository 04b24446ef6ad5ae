"""What both forecasts share: their rules from the settings, and what adjudications take."""

from __future__ import annotations

from annot.forecast import Rules
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
        Judgement(ruling.query_id, ruling.doc_id, ruling.adjudicator, ruling.grade, lead_time=ruling.lead_time)
        for _, ruling in sorted(outcome.adjudications.items())
    )
