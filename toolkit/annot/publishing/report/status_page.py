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

from annot.base.names import calling
from annot.base.stats.values import Estimate, Undefined, Value
from annot.base.templating import render
from annot.judging.progress import AssessorSeen, ByDay, Look, PersonByDay, QuerySeen, RunningFigure
from annot.labelstudio.studio_records import project_url
from annot.measuring.agreement.coefficients import titles_of
from annot.measuring.forecast.hours import AssessorForecast
from annot.publishing.report import cells
from annot.publishing.report.cells import COST, HOURS, MEAN, SECONDS, SHARE, Number, coefficient
from annot.publishing.report.tables import Column, Columns, Table, capitalised, each
from annot.publishing.report.terminal import rendered, share_done, table_text
from annot.store.projects import Project, StoredRound
from annot.study.outcome import Outcome
from annot.study.snapshot import Snapshot

LEAST_PAPERS = 6
"""Query papers with complete pairs from which on agreement is shown."""
MISSED = 3
"""Intervals without a new page after which it says that it is no longer updated."""
TEMPLATE = "status.html.j2"
NOTHING = PersonByDay((), 0, None)


@dataclass(frozen=True, slots=True)
class StatusWords:
    """What `annot status` says of the study besides its counts."""

    next: str
    """The command that comes next; "" where there is none."""
    why: str
    notices: tuple[str, ...]
    """What a person should look at."""


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """One person on the page."""

    name: str
    role: str
    done: int
    of: int | None
    """None if it is not known how much there will be."""
    days: tuple[int, ...]
    last: datetime | None
    left: bool
    links: tuple[str, ...]
    forecast: AssessorForecast | None


@dataclass(frozen=True, slots=True)
class PairState:
    """How many of the planned pairs are in one state."""

    kind: str
    label: str
    n: int


def page(
    snapshot: Snapshot,
    look: Look | None,
    days: ByDay,
    said: StatusWords,
    *,
    now: datetime,
    every: float,
    papers: int,
    trouble: str,
    overrides: Path | None,
) -> str:
    """The page. look: None if nothing is planned. now: in the lead's time zone.

    every: seconds between two pages. papers: query papers with complete pairs. trouble: why nothing could be pulled.
    """
    settings = snapshot.ws.settings
    assessors, adjudicators = _assessors(snapshot, look, days), _adjudicators(snapshot, days)
    values = {
        "title": settings.collection.title,
        "look": look,
        "days": days,
        "said": said,
        "now": now,
        "every": every,
        "missed": MISSED,
        "trouble": trouble,
        "papers": papers,
        "least_papers": LEAST_PAPERS,
        "per_pair": snapshot.outcome.per_pair,
        "assessors": assessors,
        "adjudicators": adjudicators,
        "busiest": max((n for one in (*assessors, *adjudicators) for n in one.days), default=0),
        "parts": parts_of(snapshot.outcome),
        "n_pairs": len(snapshot.outcome.planned),
        "not_drawn": 0 if snapshot.sample is None else sum(not one.drawn for one in snapshot.sample.pairs.values()),
        "other_projects": _others(snapshot),
        "level": settings.forecast.level,
        "titles": titles_of(settings.scale.grades),
        "capitalised": capitalised,
        "share_done": share_done,
        "figure": _figure,
        "ends": _ends,
        "missing": _missing,
        "day": day,
        "date_of": date.fromisoformat,
        "moment": lambda at: moment(at, now),
        "coefficient": lambda one: Number(one.value, coefficient(one.coefficient), one.interval),
        **{"HOURS": HOURS, "MEAN": MEAN, "SECONDS": SECONDS},
    }
    with calling(lambda: snapshot.called):
        return render(TEMPLATE, values, overrides=overrides)


def parts_of(outcome: Outcome) -> tuple[PairState, ...]:
    """The planned pairs by how far they are; together they are all."""
    settled = outcome.adjudications.keys() & outcome.planned.keys()
    agreed = {decision.pair for decision in outcome.settlement.agreed} - settled
    vacant = outcome.progress.vacant.keys() - set(outcome.waiting)
    found = (
        PairState("agreed", "agreed", len(agreed)),
        PairState("settled", "settled by an adjudicator", len(settled)),
        PairState("unjudgeable", "closed without a grade", len(outcome.unjudgeable)),
        PairState("open", "in dispute, open", len(outcome.open)),
        PairState("waiting", "returned, waiting for the answer", len(outcome.waiting)),
        PairState("vacant", "lack an assessor", len(vacant)),
        PairState("incomplete", "still to be judged", len(set(outcome.incomplete) - vacant)),
    )
    return tuple(part for part in found if part.n)


def day(of: date) -> str:
    """`14 March 2031`."""
    return f"{of.day} {of:%B %Y}"


def moment(at: datetime | None, now: datetime) -> str:
    """`today 17:40`, `yesterday 17:40`, `Mon 3 March`; "" where it is not known."""
    if at is None:
        return ""
    back = (now.date() - at.date()).days
    if back in (0, 1):
        return f"{('today', 'yesterday')[back]} {at:%H:%M}"
    return f"{at:%a} {at.day} {at:%B}"


def _assessors(snapshot: Snapshot, look: Look | None, days: ByDay) -> list[PersonProgress]:
    seen = {one.assessor: one for one in look.assessors} if look else {}
    forecasts = {one.assessor: one for one in look.forecast.assessors} if look else {}
    return [
        _shown(snapshot, name, days.assessors, "assessor", seen=seen.get(name), forecast=forecasts.get(name))
        for name in sorted(seen.keys() | days.assessors.keys())
    ]


def _adjudicators(snapshot: Snapshot, days: ByDay) -> list[PersonProgress]:
    names = {person.assessor for person in snapshot.people if person.adjudicator} | days.adjudicators.keys()
    shown = (_shown(snapshot, name, days.adjudicators, "adjudicator") for name in sorted(names))
    return [one for one in shown if one.done or one.links or snapshot.outcome.open]


def _shown(
    snapshot: Snapshot,
    name: str,
    days: Mapping[str, PersonByDay],
    role: Literal["assessor", "adjudicator"],
    *,
    seen: AssessorSeen | None = None,
    forecast: AssessorForecast | None = None,
) -> PersonProgress:
    given = days.get(name, NOTHING)
    round: StoredRound = "judge" if role == "assessor" else "adjudicate"
    own = (_link(one) for one in snapshot.projects if one.assessor == name and one.round == round)
    return PersonProgress(
        name=name,
        role=role,
        done=seen.judged if seen else given.n,
        of=seen.assigned if seen else None,
        days=given.given,
        last=given.last,
        left=any(one.assessor == name and one.left_on is not None for one in snapshot.people),
        links=tuple(link for link in own if link is not None),
        forecast=forecast,
    )


def _others(snapshot: Snapshot) -> list[tuple[str, str]]:
    """What other projects are called, and where they are."""
    others = [project for project in snapshot.projects if project.round not in ("judge", "adjudicate")]
    return [(f"{project.round} {project.assessor}", link) for project in others if (link := _link(project)) is not None]


def _link(project: Project) -> str | None:
    """Where the project is; None for one that is not on the server, or has an address that is none of the web."""
    on_web = project.url.startswith(("http://", "https://"))
    return project_url(project.url, project.remote_id) if on_web and project.remote_id is not None else None


def _figure(value: Value | Estimate, kind: cells.Quantity) -> str:
    """The figure alone, with as many digits as its interval bears."""
    return cells.measured(value, kind).figure if isinstance(value, Estimate) else Number(value, kind).figure


def _ends(found: Estimate, kind: cells.Quantity) -> str:
    """`4.8 to 5.9`; "" where there is no interval, or none as printed."""
    shown = cells.measured(found, kind)
    ends = [f"{end:z.{shown.digits}f}" for end in shown.ends or ()]
    return " to ".join(ends) if len(set(ends)) == 2 else ""


def _missing(*values: object) -> str:
    """Why the first of these that has no value has none."""
    return next((value.reason for value in values if isinstance(value, Undefined)), "")


WHOLE_SECONDS = cells.Quantity(0, 0, 0)
FORECAST = Columns[Look](
    [],
    [
        Column("hours spent", lambda one: Number(one.forecast.hours_spent, HOURS)),
        Column("hours left", lambda one: cells.measured(one.forecast.hours_left, HOURS)),
        Column("hours of adjudication left", lambda one: cells.measured(one.settling.hours, HOURS)),
        Column("cost spent", lambda one: Number(one.forecast.cost_spent, COST)),
        Column("cost left", lambda one: cells.measured(one.forecast.cost_left, COST)),
        Column("cost of adjudication left", lambda one: cells.measured(one.settling.cost, COST)),
    ],
)
"""The figures of a forecast as data; the template of `annot forecast` has them in words."""


def tables(seen: Look, *, all_queries: bool) -> tuple[Table, ...]:
    """People, queries, agreement and forecast; of the queries those under way, or all of them."""
    queries = seen.queries if all_queries else _in_progress(seen)
    running = seen.agreement.figures if seen.agreement else ()
    return (
        _of_assessors(seen),
        _of_queries(seen, queries),
        _of_agreement(seen, running),
        FORECAST.of([seen], "forecast"),
    )


def describe(seen: Look, tables: Sequence[Table]) -> str:
    """The look in blocks. tables: those of `tables`."""
    begun, in_progress = _begun(seen), _in_progress(seen)
    people, queries, agreement, _ = map(table_text, tables)
    return rendered(
        "forecast",
        seen=seen,
        people=people,
        queries=queries,
        agreement=agreement,
        complete=len(begun) - len(in_progress),
        under_way=len(in_progress),
        waiting=len(seen.queries) - len(begun),
        notes=seen.forecast.notes if seen.forecast.remaining else (),
    )


def _begun(seen: Look) -> list[QuerySeen]:
    return [query for query in seen.queries if any(judged for judged, _ in query.by_assessor.values())]


def _in_progress(seen: Look) -> list[QuerySeen]:
    return [query for query in _begun(seen) if query.complete < query.pairs]


def _of_assessors(seen: Look) -> Table:
    def share(person: AssessorSeen, grade: int) -> Number:
        graded = sum(person.grades.values())
        return Number(person.grades[grade] / graded if graded else None, SHARE)

    def seconds(one: AssessorForecast) -> Number:
        return Number(one.time if isinstance(one.time, Undefined) else one.time.median, WHOLE_SECONDS)

    def end(one: AssessorForecast) -> str | None:
        return None if isinstance(one.finish.date, Undefined) else one.finish.date

    of = {forecast.assessor: forecast for forecast in seen.forecast.assessors}
    columns = Columns[AssessorSeen](
        [Column("assessor", lambda one: one.assessor)],
        [
            Column("judged", lambda one: one.judged),
            Column("of", lambda one: one.assigned, "assigned"),
            *each(seen.assessors[0].grades, share, lambda grade: f"grade {grade}"),
            Column("cannot judge", lambda one: one.cannot_judge),
            Column("s/pair", lambda one: seconds(of[one.assessor]), "seconds_per_pair"),
            Column("pairs/day", lambda one: Number(of[one.assessor].pairs_per_day, MEAN), "pairs_per_day"),
            Column("hours left", lambda one: Number(of[one.assessor].hours_left.value, HOURS)),
            Column("expected end", lambda one: end(of[one.assessor])),
        ],
    )
    return columns.of(seen.assessors, "people")


def _of_agreement(seen: Look, figures: Sequence[RunningFigure]) -> Table:
    titles = titles_of(tuple(seen.assessors[0].grades))
    statistic = seen.agreement.statistic if seen.agreement else "median"
    columns = Columns[RunningFigure](
        [
            Column("coefficient", lambda one: titles[one.coefficient], ""),
            Column("", lambda one: one.coefficient, "coefficient"),
        ],
        [
            Column(statistic, lambda one: Number(one.value, coefficient(one.coefficient), one.interval)),
            Column("queries", lambda one: one.n_queries),
        ],
    )
    return columns.of(figures, "agreement")


def _of_queries(seen: Look, shown: Sequence[QuerySeen]) -> Table:
    people = [person.assessor for person in seen.assessors]

    def done(query: QuerySeen, name: str) -> str:
        cell = query.by_assessor.get(name)
        return "" if cell is None else f"{cell[0]}/{cell[1]}"

    columns = Columns[QuerySeen](
        [Column("query", lambda one: one.query_id)],
        [
            Column("pairs", lambda one: one.pairs),
            Column("complete", lambda one: one.complete),
            *each(people, done),
        ],
    )
    return columns.of(shown, "queries")
