"""The study while judging goes on: progress, pace, grades, running agreement, and when and at what cost it ends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annot.agreement import TOGETHER, AgreementTable, Intervals, Value, agreement_table, to_json
from annot.agreement.bootstrap import Bootstrap
from annot.errors import MissingInput, StudioError
from annot.forecast import Estimate, Forecast, Rules, cost_of, forecast, settling_hours, settling_of
from annot.steps.agreement import SHOWN, with_what_was_asked
from annot.steps.pull import Pulled
from annot.store import people
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.forecasting import rules_of, settled_of
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace

Pull = Callable[[], Pulled]


@dataclass(frozen=True, slots=True)
class AssessorSeen:
    """One assessor's work so far."""

    assessor: str
    assigned: int
    judged: int
    """Pairs with an answer that counts; those in `cannot_judge` are among them."""
    cannot_judge: int
    grades: dict[int, int]


@dataclass(frozen=True, slots=True)
class QuerySeen:
    """One query's pairs so far."""

    query_id: str
    pairs: int
    complete: int
    """Pairs that all of their assessors have answered."""
    by_assessor: dict[str, tuple[int, int]]
    """(judged, assigned)."""


@dataclass(frozen=True, slots=True)
class RunningFigure:
    """One coefficient over all complete pairs together."""

    coefficient: str
    pooled: Value
    intervals: Intervals | None


@dataclass(frozen=True, slots=True)
class RunningAgreement:
    """The agreement before adjudication on the pairs that are complete so far."""

    n_pairs: int
    n_queries: int
    missing: str
    level: float
    """Of the intervals."""
    figures: tuple[RunningFigure, ...]


@dataclass(frozen=True, slots=True)
class Settling:
    """What an adjudicator has still to do; pairs that are not complete yet may bring more."""

    disputed: int
    open: int
    hours: Estimate
    """For the open ones."""
    cost: Estimate


@dataclass(frozen=True, slots=True)
class Look:
    """The study at one moment."""

    at: str
    """ISO 8601, UTC."""
    new: int | None
    """Judgements that this look brought, changed ones included; None when the server was not asked."""
    assigned: int
    judged: int
    assessors: tuple[AssessorSeen, ...]
    queries: tuple[QuerySeen, ...]
    agreement: RunningAgreement | None
    """None while no pair is complete."""
    settling: Settling
    forecast: Forecast
    """Of judging."""
    currency: str
    notes: tuple[str, ...]


def watch(
    ws: Workspace,
    *,
    pull: Pull | None,
    once: bool,
    every: int | None,
    hourly_rate: float | None,
    dispute_seconds: float | None,
    show: Callable[[Look], None],
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Look, show, wait, and again, until everything is judged; `once` looks once.

    pull: brings judgements in; None looks at the store alone. every: seconds, None takes those of annot.toml.
    A server that is away for a while after the first look is waited for.
    """
    seconds = ws.settings.watch.every if every is None else every
    first = True
    while True:
        notes: tuple[str, ...] = ()
        pulled = None
        try:
            pulled = pull() if pull is not None else None
        except StudioError as error:
            if first:
                raise
            notes = (f"{error.message}; this is what was pulled before",)
        seen = look(
            ws,
            now=clock(),
            hourly_rate=hourly_rate,
            dispute_seconds=dispute_seconds,
            pulled=pulled,
            notes=notes,
        )
        show(seen)
        if once or seen.judged == seen.assigned:
            return
        first = False
        sleep(seconds)


def look(
    ws: Workspace,
    *,
    now: datetime,
    hourly_rate: float | None,
    dispute_seconds: float | None,
    pulled: Pulled | None,
    notes: tuple[str, ...],
) -> Look:
    """The study as the store has it. Raises MissingInput when nothing is planned."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
        plan = people.read_assignments(session)
        facets = {query.query_id: query.facet for query in read_queries(session)}
    if not plan:
        raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
    answers = {
        (one.asked, one.assessor): one
        for one in outcome.everything
        if not one.flags and (one.grade is not None or one.cannot_judge is not None)
    }
    open_pairs = [one for one in plan if (one.asked, one.assessor) not in answers]
    names = sorted({one.assessor for one in plan})
    assigned = Counter(one.assessor for one in plan)
    remaining = Counter(one.assessor for one in open_pairs)
    given = {name: Counter(one.grade for one in answers.values() if one.assessor == name) for name in names}
    rules = rules_of(ws.settings, hourly_rate)
    new = None if pulled is None else sum(one.new + one.changed for one in pulled.assessors)
    return Look(
        at=now.astimezone(UTC).isoformat(timespec="seconds"),
        new=new,
        assigned=len(plan),
        judged=len(plan) - len(open_pairs),
        assessors=tuple(
            AssessorSeen(
                assessor=name,
                assigned=assigned[name],
                judged=assigned[name] - remaining[name],
                cannot_judge=given[name][None],
                grades={grade: given[name][grade] for grade in ws.settings.scale.grades},
            )
            for name in names
        ),
        queries=_queries(outcome, {(*asked.pair, name) for asked, name in answers if asked.occasion == 1}),
        agreement=_agreement(ws, outcome, facets),
        settling=_settling(outcome, dispute_seconds or ws.settings.forecast.dispute_seconds, rules),
        forecast=forecast(
            answers.values(),
            {name: remaining[name] for name in names},
            now=now,
            rules=rules,
        ),
        currency=ws.settings.forecast.currency,
        notes=(*notes, *(pulled.notes if pulled is not None else ())),
    )


def as_data(seen: Look) -> Any:
    """The look as JSON can carry it; what has no value is `{"undefined": reason}`."""
    return to_json(seen)


def _queries(outcome: Outcome, answered: set[tuple[str, str, str]]) -> tuple[QuerySeen, ...]:
    by_query: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for (query_id, doc_id), team in outcome.planned.items():
        by_query.setdefault(query_id, []).append((doc_id, team))
    found = []
    for query_id, pairs in sorted(by_query.items()):
        asked = Counter(name for _, team in pairs for name in team)
        done = Counter(name for doc_id, team in pairs for name in team if (query_id, doc_id, name) in answered)
        complete = sum(all((query_id, doc_id, name) in answered for name in team) for doc_id, team in pairs)
        found.append(
            QuerySeen(query_id, len(pairs), complete, {name: (done[name], asked[name]) for name in sorted(asked)})
        )
    return tuple(found)


def _settling(outcome: Outcome, seconds: float | None, rules: Rules) -> Settling:
    rate = settling_of(settled_of(outcome), seconds=seconds, fence=rules.fence)
    hours = settling_hours(rate, len(outcome.open), rules)
    return Settling(len(outcome.settlement.disputed), len(outcome.open), hours, cost_of(hours, rules))


def _agreement(ws: Workspace, outcome: Outcome, facets: dict[str, str]) -> RunningAgreement | None:
    """Of complete pairs only: what one assessor has judged and the other not yet says nothing of both."""
    complete = with_what_was_asked(outcome)
    if not complete:
        return None
    settings = ws.settings.agreement
    table: AgreementTable = agreement_table(
        complete,
        (),
        facets,
        grades=ws.settings.scale.grades,
        missing=ws.settings.judging.missing,
        binarised_at=None,
        bootstrap=Bootstrap(settings.resamples, settings.level, ws.settings.seed),
    )
    together = next((group for group in table.groups if group.name == TOGETHER), None)
    if together is None or together.n_pairs == 0:
        return None
    return RunningAgreement(
        n_pairs=together.n_pairs,
        n_queries=together.n_queries,
        missing=table.missing,
        level=settings.level,
        figures=tuple(
            RunningFigure(
                table.titles[name],
                together.before[name].pooled,
                (together.before[name].intervals or {}).get("pooled"),
            )
            for name in SHOWN
        ),
    )
