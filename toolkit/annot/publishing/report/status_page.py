"""One look at a study under way: as text, and as the page that a lead leaves open while people judge.

The page is one HTML file that reloads itself and asks nothing of a network. It shows no grade, and no figure from which
the grade of a pair follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from annot.base.names import StudyVocabulary, percent
from annot.base.stats.values import Estimate, Undefined, Value
from annot.base.templating import render
from annot.base.words import ENGLISH
from annot.judging.progress import AssessorProgress, ByDay, PersonByDay, QueryProgress, RunningFigure, StudyProgress
from annot.labelstudio.studio_records import project_url
from annot.measuring.agreement.coefficients import titles_of
from annot.measuring.forecast.hours import AssessorForecast
from annot.publishing.report import cells
from annot.publishing.report.cells import COST, HOURS, MEAN, SECONDS, SHARE, Number, coefficient
from annot.publishing.report.tables import Column, Columns, Table, capitalised, columns_for
from annot.publishing.report.terminal import rendered, share_done, table_text
from annot.store.models import Project, StoredRound
from annot.study.plain_pairs import STATES, states_of
from annot.study.snapshot import Snapshot

LEAST_PAPERS = 6
"""Query papers with complete pairs from which on agreement is shown."""
MISSED = 3
"""Intervals without a new page after which it says that it is no longer updated."""
FEWEST_ANSWERS = 20
"""Answers of a person from which on hours and a date are forecast."""
TEMPLATE = "status.html.j2"
NOTHING = PersonByDay((), 0, None)


@dataclass(frozen=True, slots=True)
class StatusWords:
    """Sentences of `annot status` on the study in addition to its counts."""

    next: str
    """The command that comes next; "" where there is none."""
    why: str
    notices: tuple[str, ...]
    """Findings that need a person."""


class PersonProgress:
    """One person on the page."""

    def __init__(
        self,
        snapshot: Snapshot,
        name: str,
        days: Mapping[str, PersonByDay],
        role: Literal["assessor", "adjudicator"],
        seen: AssessorProgress | None = None,
        forecast: AssessorForecast | None = None,
    ) -> None:
        work = days.get(name, NOTHING)
        round: StoredRound = "judge" if role == "assessor" else "adjudicate"
        projects = [project for project in snapshot.projects if project.assessor == name and project.round == round]
        self.name, self.role, self.days, self.last, self.forecast = name, role, work.given, work.last, forecast
        self.done = seen.judged if seen else work.n
        self.of = seen.assigned if seen else None
        """Number of pairs to answer in total; None if that is not known yet."""
        self.left = any(person.assessor == name and person.left_on is not None for person in snapshot.people)
        self.links = tuple(link for project in projects if (link := _link(project)) is not None)


def page(
    snapshot: Snapshot,
    look: StudyProgress | None,
    days: ByDay,
    status: StatusWords,
    *,
    now: datetime,
    seconds: float,
    papers: int,
    trouble: str,
    overrides: Path | None,
) -> str:
    """The page. look: None if nothing is planned. now: in the lead's time zone.

    seconds: time between two pages. papers: query papers with complete pairs. trouble: why nothing could be pulled.
    """
    settings = snapshot.ws.settings
    assessors, adjudicators = _assessors(snapshot, look, days), _adjudicators(snapshot, days)
    values = {
        "title": settings.collection.title,
        "look": look,
        "days": days,
        "words": snapshot.words,
        "status": status,
        "now": now,
        "every": seconds,
        "missed": MISSED,
        "fewest_answers": FEWEST_ANSWERS,
        "beginners": [
            person.assessor
            for person in (look.forecast.assessors if look else ())
            if person.remaining and person.judged < FEWEST_ANSWERS
        ],
        "trouble": trouble,
        "papers": papers,
        "least_papers": LEAST_PAPERS,
        "per_pair": snapshot.outcome.per_pair,
        "assessors": assessors,
        "adjudicators": adjudicators,
        "busiest": max((n for assessor in (*assessors, *adjudicators) for n in assessor.days), default=0),
        "states": states_of(snapshot.outcome),
        "labels": STATES,
        "n_pairs": len(snapshot.outcome.planned),
        "not_drawn": 0 if snapshot.sample is None else sum(not pair.drawn for pair in snapshot.sample.pairs.values()),
        "other_projects": _other_projects(snapshot),
        "level": percent(settings.forecast.level),
        "titles": titles_of(settings.scale.grades),
        "capitalised": capitalised,
        "share_done": share_done,
        "figure": _figure,
        "measured": cells.measured,
        "missing": _missing,
        "day": ENGLISH.date,
        "date_of": date.fromisoformat,
        "moment": lambda time: moment(time, now),
        "coefficient": lambda figure: Number(figure.value, coefficient(figure.coefficient), figure.interval),
        **{"HOURS": HOURS, "MEAN": MEAN, "SECONDS": SECONDS},
    }
    return render(TEMPLATE, values, overrides=overrides)


def moment(time: datetime | None, now: datetime) -> str:
    """`today 17:40`, `yesterday 17:40`, `Mon 3 March`; "" where it is not known."""
    if time is None:
        return ""
    back = (now.date() - time.date()).days
    if back in (0, 1):
        return f"{('today', 'yesterday')[back]} {time:%H:%M}"
    return f"{time:%a} {time.day} {time:%B}"


def _assessors(snapshot: Snapshot, look: StudyProgress | None, days: ByDay) -> list[PersonProgress]:
    seen_by_name = {assessor.assessor: assessor for assessor in look.assessors} if look else {}
    forecasts = {assessor.assessor: assessor for assessor in look.forecast.assessors} if look else {}
    return [
        PersonProgress(snapshot, name, days.assessors, "assessor", seen_by_name.get(name), forecasts.get(name))
        for name in sorted(seen_by_name.keys() | days.assessors.keys())
    ]


def _adjudicators(snapshot: Snapshot, days: ByDay) -> list[PersonProgress]:
    names = {person.assessor for person in snapshot.people if person.adjudicator} | days.adjudicators.keys()
    shown = (PersonProgress(snapshot, name, days.adjudicators, "adjudicator") for name in sorted(names))
    return [person for person in shown if person.done or person.links or snapshot.outcome.open]


def _other_projects(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Names of other projects, and their addresses."""
    other_projects = [project for project in snapshot.projects if project.round not in ("judge", "adjudicate")]
    return [
        (f"{project.round} {project.assessor}", link)
        for project in other_projects
        if (link := _link(project)) is not None
    ]


def _link(project: Project) -> str | None:
    """Address of the project; None for one that is not on the server, or whose address is not on the web."""
    on_web = project.url.startswith(("http://", "https://"))
    return project_url(project.url, project.remote_id) if on_web and project.remote_id is not None else None


def _figure(value: Value | Estimate, kind: cells.Quantity) -> str:
    """The figure alone, with as many digits as its interval bears."""
    return cells.measured(value, kind).figure if isinstance(value, Estimate) else Number(value, kind).figure


def _missing(*values: object) -> str:
    """Reason of the first of these that has no value."""
    return next((value.reason for value in values if isinstance(value, Undefined)), "")


FORECAST = Columns[StudyProgress](
    [],
    [
        Column("hours spent", lambda row: Number(row.forecast.hours_spent, HOURS)),
        Column("hours left", lambda row: cells.measured(row.forecast.hours_left, HOURS)),
        Column("hours of adjudication left", lambda row: cells.measured(row.settling.hours, HOURS)),
        Column("cost spent", lambda row: Number(row.forecast.cost_spent, COST)),
        Column("cost left", lambda row: cells.measured(row.forecast.cost_left, COST)),
        Column("cost of adjudication left", lambda row: cells.measured(row.settling.cost, COST)),
    ],
)
"""The figures of a forecast as data; the template of `annot forecast` has them in words."""


def tables(look: StudyProgress, words: StudyVocabulary, *, all_queries: bool) -> tuple[Table, ...]:
    """People, queries, agreement and forecast; of the queries those under way, or all of them."""
    queries = look.queries if all_queries else _queries_in_progress(look)
    running = look.agreement.figures if look.agreement else ()
    return (
        _assessors_table(look),
        _queries_table(look, queries),
        _agreement_table(look, running, words),
        FORECAST.of([look], "forecast", words=words),
    )


def describe(look: StudyProgress, tables: Sequence[Table], words: StudyVocabulary) -> str:
    """The look as text, in blocks. tables: the tables that `tables` returned."""
    begun, in_progress = _begun(look), _queries_in_progress(look)
    people, queries, agreement, _ = map(table_text, tables)
    return rendered(
        "forecast",
        words=words,
        seen=look,
        people=people,
        queries=queries,
        agreement=agreement,
        complete=len(begun) - len(in_progress),
        under_way=len(in_progress),
        waiting=len(look.queries) - len(begun),
        notes=look.forecast.notes if look.forecast.remaining else (),
    )


def _begun(look: StudyProgress) -> list[QueryProgress]:
    return [query for query in look.queries if any(judged for judged, _ in query.by_assessor.values())]


def _queries_in_progress(look: StudyProgress) -> list[QueryProgress]:
    return [query for query in _begun(look) if query.complete < query.pairs]


def _assessors_table(look: StudyProgress) -> Table:
    def share(person: AssessorProgress, grade: int) -> Number:
        graded = sum(person.grades.values())
        return Number(person.grades[grade] / graded if graded else None, SHARE)

    def seconds(assessor: AssessorForecast) -> Number:
        return Number(assessor.time if isinstance(assessor.time, Undefined) else assessor.time.median, cells.WHOLE)

    def end(assessor: AssessorForecast) -> str | None:
        return None if isinstance(assessor.finish.date, Undefined) else assessor.finish.date

    forecast_of = {forecast.assessor: forecast for forecast in look.forecast.assessors}
    columns = Columns[AssessorProgress](
        [Column("assessor", lambda row: row.assessor)],
        [
            Column("judged", lambda row: row.judged),
            Column("of", lambda row: row.assigned, "assigned"),
            *columns_for(look.assessors[0].grades, share, lambda grade: f"grade {grade}"),
            Column("cannot judge", lambda row: row.cannot_judge),
            Column("s/pair", lambda row: seconds(forecast_of[row.assessor]), "seconds_per_pair"),
            Column("pairs/day", lambda row: Number(forecast_of[row.assessor].pairs_per_day, MEAN), "pairs_per_day"),
            Column("hours left", lambda row: Number(forecast_of[row.assessor].hours_left.value, HOURS)),
            Column("expected end", lambda row: end(forecast_of[row.assessor])),
        ],
    )
    return columns.of(look.assessors, "people")


def _agreement_table(look: StudyProgress, figures: Sequence[RunningFigure], words: StudyVocabulary) -> Table:
    titles = titles_of(tuple(look.assessors[0].grades))
    statistic = look.agreement.statistic if look.agreement else "median"
    columns = Columns[RunningFigure](
        [
            Column("coefficient", lambda row: titles[row.coefficient], ""),
            Column("", lambda row: row.coefficient, "coefficient"),
        ],
        [
            Column(statistic, lambda row: Number(row.value, coefficient(row.coefficient), row.interval)),
            Column("queries", lambda row: row.n_queries),
        ],
    )
    return columns.of(figures, "agreement", words=words)


def _queries_table(look: StudyProgress, shown: Sequence[QueryProgress]) -> Table:
    people = [person.assessor for person in look.assessors]

    def done(query: QueryProgress, name: str) -> str:
        cell = query.by_assessor.get(name)
        return "" if cell is None else f"{cell[0]}/{cell[1]}"

    columns = Columns[QueryProgress](
        [Column("query", lambda row: row.query_id)],
        [
            Column("pairs", lambda row: row.pairs),
            Column("complete", lambda row: row.complete),
            *columns_for(people, done),
        ],
    )
    return columns.of(shown, "queries")
