"""The study while judging goes on: progress, pace, grades, running agreement, and end and cost of the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import groupby

from annot.base.errors import MissingInput
from annot.base.names import moment_of
from annot.base.records import Adjudication, Judgement, grouped
from annot.base.settings import Settings
from annot.base.stats.values import Estimate, Interval, Undefined, Value
from annot.measuring.agreement.coefficients import HEADLINE
from annot.measuring.agreement.estimates import TOGETHER, Summary
from annot.measuring.forecast.hours import DECIDERS, VACANT, Forecast, Rules, cost_of, forecast, hours_for, settling_of
from annot.measuring.measured import agreement_of
from annot.study.outcome import Outcome
from annot.study.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class AssessorProgress:
    """One assessor's work so far."""

    assessor: str
    assigned: int
    """Judgements that they have given or are still to give."""
    judged: int
    """Number of these with an answer that counts, including those in `cannot_judge`."""
    cannot_judge: int
    grades: dict[int, int]
    """Number of these by grade. A pair that was returned is one judgement, with its new answer."""


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """One query's pairs so far."""

    query_id: str
    pairs: int
    complete: int
    """Pairs that wait for no judgement."""
    by_assessor: dict[str, tuple[int, int]]
    """(judged, assigned)."""


@dataclass(frozen=True, slots=True)
class RunningFigure:
    """One coefficient as `annot agreement` shows it: the median over queries, or of all pairs together."""

    coefficient: str
    """Short name of the coefficient."""
    value: Value
    n_queries: int
    """Queries in which it has a value; of all pairs together, those of which some are complete."""
    interval: Interval | Undefined | None


@dataclass(frozen=True, slots=True)
class RunningAgreement:
    """The agreement before adjudication on the pairs that are complete so far."""

    n_pairs: int
    n_queries: int
    n_papers: int
    """Query papers with a complete pair."""
    missing: str
    level: float
    """Level of the intervals."""
    statistic: str
    """Kind of the figures: `median`, or `pooled` if a sample of the pools is judged."""
    figures: tuple[RunningFigure, ...]


@dataclass(frozen=True, slots=True)
class DisputeProgress:
    """Work left for an adjudicator; pairs that are not complete yet may bring more."""

    disputed: int
    unjudgeable: int
    """Pairs that cannot be judged, which are closed."""
    open: int
    hours: Estimate
    """Hours for the open disputes."""
    cost: Estimate


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The study at one moment."""

    at: str
    """ISO 8601, UTC."""
    planned: int
    """Judgements: those that count and those still to be given, by whomever."""
    judged: int
    """Number of these that count."""
    vacant_pairs: int
    """Pairs that lack an assessor."""
    assessors: tuple[AssessorProgress, ...]
    queries: tuple[QueryProgress, ...]
    agreement: RunningAgreement | None
    """None while no pair is complete."""
    settling: DisputeProgress
    forecast: Forecast
    """Forecast of judging."""
    currency: str


def running_agreement(snapshot: Snapshot) -> RunningAgreement | None:
    """The running agreement on complete pairs only: a pair that one assessor has not judged yet shows no agreement."""
    if not snapshot.outcome.of_answered_pairs:
        return None
    table = agreement_of(snapshot, coefficients=HEADLINE)
    together = next((group for group in table.groups if group.name == TOGETHER), None)
    if together is None or together.n_pairs == 0:
        return None
    return RunningAgreement(
        n_pairs=together.n_pairs,
        n_queries=together.n_queries,
        n_papers=papers_with_complete_pairs(snapshot),
        missing=table.missing,
        level=snapshot.ws.settings.agreement.level,
        statistic=table.best,
        figures=tuple(_running(name, together.before[name], table.best) for name in table.headline),
    )


def papers_with_complete_pairs(snapshot: Snapshot) -> int:
    """Number of query papers with a pair that all of its assessors have answered."""
    papers = snapshot.topics
    return len({papers[judgement.query_id] for judgement in snapshot.outcome.of_answered_pairs})


class AgreementSoFar:
    """The running agreement from this many query papers on, computed again only when its answers have changed."""

    def __init__(self, *, least_papers: int) -> None:
        self._least_papers = least_papers
        self._made_of: object = None
        self._found: RunningAgreement | None = None

    def __call__(self, snapshot: Snapshot) -> RunningAgreement | None:
        """Agreement of this snapshot; None as in `running_agreement`, and for too few papers."""
        if papers_with_complete_pairs(snapshot) < self._least_papers:
            return None
        outcome = snapshot.outcome
        made_of = (outcome.of_answered_pairs, outcome.decisions, set(outcome.unjudgeable), snapshot.queries)
        if made_of != self._made_of:
            self._made_of, self._found = made_of, running_agreement(snapshot)
        return self._found


def progress_of(
    snapshot: Snapshot, *, now: datetime, agreement: Callable[[Snapshot], RunningAgreement | None] = running_agreement
) -> StudyProgress:
    """The study at this moment, with dates in the time zone of `now`. Raises MissingInput when nothing is planned."""
    ws, outcome, plan = snapshot.ws, snapshot.outcome, snapshot.assignments
    if not plan:
        raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
    answers = {(answer.pair_key, answer.assessor): answer for answer in outcome.everything if answer.counts}
    names = sorted({planned.assessor for planned in plan})
    progress = outcome.progress
    done, left = progress.given, progress.left_by_assessor
    final_answers = [answer for answer in (*outcome.current, *outcome.repeats) if answer.counts]
    grades_of = {name: Counter(answer.grade for answer in final_answers if answer.assessor == name) for name in names}
    rules = rules_of(ws.settings)
    return StudyProgress(
        at=now.astimezone(UTC).isoformat(timespec="seconds"),
        planned=done.total() + progress.left,
        judged=done.total(),
        vacant_pairs=len(progress.vacant),
        assessors=tuple(
            AssessorProgress(
                assessor=name,
                assigned=done[name] + left[name],
                judged=done[name],
                cannot_judge=grades_of[name][None],
                grades={grade: grades_of[name][grade] for grade in ws.settings.scale.grades},
            )
            for name in names
        ),
        queries=_queries(outcome),
        agreement=agreement(snapshot),
        settling=_settling(snapshot, rules),
        forecast=forecast(
            answers.values(),
            {name: left[name] for name in names} | {VACANT: sum(progress.vacant.values())},
            now=now,
            rules=rules,
            topics=snapshot.topics,
        ),
        currency=ws.settings.forecast.currency,
    )


def _queries(outcome: Outcome) -> tuple[QueryProgress, ...]:
    pending = {(name, question.pair) for name, question in outcome.progress.pending}
    unfinished = outcome.progress.unfinished
    queries = []
    for query_id, pairs in groupby(sorted(outcome.planned.items()), key=lambda planned: planned[0][0]):
        teams = dict(pairs)
        assigned = Counter(name for team in teams.values() for name in team)
        left = Counter(name for pair, team in teams.items() for name in team if (name, pair) in pending)
        judged = {name: (assigned[name] - left[name], assigned[name]) for name in sorted(assigned)}
        queries.append(QueryProgress(query_id, len(teams), len(teams.keys() - unfinished), judged))
    return tuple(queries)


def _settling(snapshot: Snapshot, rules: Rules) -> DisputeProgress:
    outcome, seconds = snapshot.outcome, snapshot.ws.settings.forecast.dispute_seconds
    rate = settling_of(settled_of(outcome), seconds=seconds, fence=rules.fence, topics=snapshot.topics)
    hours = hours_for(rate, {DECIDERS: len(outcome.open)}, rules, noun="settled dispute")
    return DisputeProgress(
        len(outcome.disputed), len(outcome.unjudgeable), len(outcome.open), hours, cost_of(hours, rules)
    )


def _running(name: str, summary: Summary, statistic: str) -> RunningFigure:
    queries = summary.n_queries + (summary.n_undefined if statistic == "pooled" else 0)
    return RunningFigure(name, getattr(summary, statistic), queries, (summary.intervals or {}).get(statistic))


def rules_of(settings: Settings) -> Rules:
    """The rules of annot.toml."""
    options = settings.forecast.model_dump(include={"fence", "window_days", "hourly_rate", "level", "draws"})
    return Rules(**options, seed=settings.seed)


def settled_of(outcome: Outcome) -> tuple[Judgement, ...]:
    """The adjudications that count, as the grades that their adjudicators gave, with their times."""
    return as_judgements(outcome.adjudications.values())


def as_judgements(rulings: Iterable[Adjudication]) -> tuple[Judgement, ...]:
    """Adjudications as judgements of their adjudicators, with their times."""
    return tuple(
        Judgement(ruling.query_id, ruling.doc_id, ruling.adjudicator, ruling.grade, lead_time=ruling.lead_time)
        for ruling in rulings
    )


DAYS = 14


@dataclass(frozen=True, slots=True)
class PersonByDay:
    """One person's answers; of an adjudicator, decisions."""

    given: tuple[int, ...]
    """Number of answers on each of the days."""
    n: int
    """Number of answers on any day."""
    last: datetime | None
    """Moment of the last answer, in the lead's time zone."""


@dataclass(frozen=True, slots=True)
class ByDay:
    """Everyone's answers on recent days."""

    days: tuple[date, ...]
    """The oldest first; the last is today."""
    assessors: dict[str, PersonByDay]
    adjudicators: dict[str, PersonByDay]
    undated: int
    """Answers of assessors that come without a moment."""


def by_day(snapshot: Snapshot, *, now: datetime, zone: tzinfo | None = None) -> ByDay:
    """The days up to `now` in this time zone; None is that of the machine.

    An answer belongs to the day on which it was first given.
    """
    today = now.astimezone(zone).date()
    days = tuple(today - timedelta(days=back) for back in reversed(range(DAYS)))
    outcome = snapshot.outcome
    answers = [answer for answer in outcome.everything if answer.counts]

    def local(text: str | None) -> datetime | None:
        moment = moment_of(text)
        return None if moment is None else moment.astimezone(zone)

    def of_people(given: Iterable[tuple[str, str | None]]) -> dict[str, PersonByDay]:
        moments_of = grouped((name, local(moment)) for name, moment in given)
        return {name: _person(moments, days) for name, moments in sorted(moments_of.items())}

    return ByDay(
        days=days,
        assessors=of_people((answer.assessor, answer.judged_at) for answer in answers),
        adjudicators=of_people((ruling.adjudicator, ruling.judged_at) for ruling in outcome.rulings),
        undated=sum(moment_of(answer.judged_at) is None for answer in answers),
    )


def _person(moments: list[datetime | None], days: tuple[date, ...]) -> PersonByDay:
    dated = [moment for moment in moments if moment is not None]
    dates = [moment.date() for moment in dated]
    return PersonByDay(tuple(map(dates.count, days)), len(moments), max(dated, default=None))
