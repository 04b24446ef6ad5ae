"""One look at a study under way: as text, and as the page that a lead leaves open while people judge.

The page is one HTML file that reloads itself and asks nothing of a network. It shows no grade, and no figure from which
the grade of a pair follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from annot.base.stats.values import Estimate, Undefined, Value
from annot.base.templating import render
from annot.judging.progress import AssessorSeen, ByDay, Look, PersonByDay, QuerySeen
from annot.labelstudio.studio_records import project_url
from annot.measuring.agreement.coefficients import TITLES
from annot.measuring.forecast.remainder import AssessorForecast
from annot.publishing.report import cells
from annot.publishing.report.cells import HOURS, MEAN, SECONDS, Number, coefficient
from annot.publishing.report.tables import Column, Columns, each
from annot.publishing.report.terminal import printed, rendered, share_done
from annot.publishing.report.words import capitalised
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
class Shown:
    """One person on the page."""

    name: str
    role: str
    done: int
    of: int | None
    """None where it is not known how much there will be."""
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
    """The page. look: None where nothing is planned. now: in the lead's time zone.

    every: seconds between two pages. papers: query papers with complete pairs. trouble: why nothing could be pulled.
    """
    settings = snapshot.ws.settings
    assessors, adjudicators = _assessors(snapshot, look, days), _adjudicators(snapshot, days)
    return render(
        TEMPLATE,
        {
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
            "other_projects": _others(snapshot),
            "level": settings.forecast.level,
            "titles": TITLES,
            "capitalised": capitalised,
            "share_done": share_done,
            "figure": _figure,
            "ends": _ends,
            "missing": _missing,
            "day": day,
            "date_of": date.fromisoformat,
            "moment": lambda at: moment(at, now),
            "coefficient": lambda one: Number(one.median, coefficient(one.coefficient), one.interval),
            **{"HOURS": HOURS, "MEAN": MEAN, "SECONDS": SECONDS},
        },
        overrides=overrides,
    )


def parts_of(outcome: Outcome) -> tuple[PairState, ...]:
    """The planned pairs by how far they are; together they are all."""
    settled = outcome.adjudications.keys() & outcome.planned.keys()
    agreed = {decision.pair for decision in outcome.settlement.agreed} - settled
    short = set(outcome.short)
    found = (
        PairState("agreed", "agreed", len(agreed)),
        PairState("settled", "settled by an adjudicator", len(settled)),
        PairState("unjudgeable", "closed without a grade", len(outcome.unjudgeable)),
        PairState("open", "in dispute, open", len(outcome.open)),
        PairState("waiting", "returned, waiting for the answer", len(outcome.waiting)),
        PairState("short", "lack an assessor", len(short)),
        PairState("incomplete", "still to be judged", len(set(outcome.incomplete) - short)),
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


def _assessors(snapshot: Snapshot, look: Look | None, days: ByDay) -> list[Shown]:
    seen = {one.assessor: one for one in look.assessors} if look else {}
    forecasts = {one.assessor: one for one in look.forecast.assessors} if look else {}
    return [
        _shown(snapshot, name, days.assessors, "assessor", seen=seen.get(name), forecast=forecasts.get(name))
        for name in sorted(seen.keys() | days.assessors.keys())
    ]


def _adjudicators(snapshot: Snapshot, days: ByDay) -> list[Shown]:
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
) -> Shown:
    given = days.get(name, NOTHING)
    round: StoredRound = "judge" if role == "assessor" else "adjudicate"
    own = (_link(one) for one in snapshot.projects if one.assessor == name and one.round == round)
    return Shown(
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


def describe(seen: Look, *, all_queries: bool) -> str:
    """The look in blocks; of the queries those under way, or all of them."""
    begun = [query for query in seen.queries if any(judged for judged, _ in query.by_assessor.values())]
    under_way = [query for query in begun if query.complete < query.pairs]
    return rendered(
        "forecast",
        seen=seen,
        people=_of_assessors(seen),
        queries=_of_queries(seen, list(seen.queries) if all_queries else under_way),
        complete=len(begun) - len(under_way),
        under_way=len(under_way),
        waiting=len(seen.queries) - len(begun),
        titles=TITLES,
        notes=seen.forecast.notes if seen.forecast.remaining else (),
    )


def _of_assessors(seen: Look) -> str:
    def share(person: AssessorSeen, grade: int) -> str:
        graded = sum(person.grades.values())
        return f"{100 * person.grades[grade] / graded:.0f}%" if graded else "-"

    of = {forecast.assessor: forecast for forecast in seen.forecast.assessors}

    def seconds(one: AssessorForecast) -> str:
        return "-" if isinstance(one.time, Undefined) else f"{one.time.median:.0f}"

    columns = Columns[AssessorSeen](
        [Column("assessor", lambda one: one.assessor)],
        [
            Column("judged", lambda one: one.judged),
            Column("of", lambda one: one.assigned),
            *each(seen.assessors[0].grades, share, lambda grade: f"grade {grade}"),
            Column("cannot judge", lambda one: one.cannot_judge),
            Column("s/pair", lambda one: seconds(of[one.assessor])),
            Column("pairs/day", lambda one: Number(of[one.assessor].pairs_per_day, MEAN)),
            Column("hours left", lambda one: Number(of[one.assessor].hours_left.value, HOURS)),
            Column("expected end", lambda one: _end(of[one.assessor].finish.date)),
        ],
    )
    return printed(columns, seen.assessors)


def _end(day: str | Undefined) -> str:
    return "-" if isinstance(day, Undefined) else day


def _of_queries(seen: Look, shown: list[QuerySeen]) -> str:
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
    return printed(columns, shown)
