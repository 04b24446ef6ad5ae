"""One look at a study under way, as text."""

from __future__ import annotations

from annot.base.stats.values import Undefined
from annot.judging.progress import AssessorSeen, Look, QuerySeen
from annot.measuring.agreement.coefficients import TITLES
from annot.measuring.forecast.remainder import AssessorForecast
from annot.publishing.report.cells import HOURS, MEAN, number
from annot.publishing.report.tables import Column, Columns, each
from annot.publishing.report.terminal import printed, rendered


def describe(seen: Look, *, all_queries: bool) -> str:
    """The look in blocks; of the queries those under way, or all of them."""
    begun = [query for query in seen.queries if any(judged for judged, _ in query.by_assessor.values())]
    under_way = [query for query in begun if query.complete < query.pairs]
    return rendered(
        "forecast",
        seen=seen,
        people=_assessors(seen),
        queries=_queries(seen, list(seen.queries) if all_queries else under_way),
        complete=len(begun) - len(under_way),
        under_way=len(under_way),
        waiting=len(seen.queries) - len(begun),
        titles=TITLES,
        notes=seen.forecast.notes if seen.forecast.remaining else (),
    )


def _assessors(seen: Look) -> str:
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
            Column("pairs/day", lambda one: number(of[one.assessor].pairs_per_day, MEAN)),
            Column("hours left", lambda one: number(of[one.assessor].hours_left.value, HOURS)),
            Column("expected end", lambda one: _end(of[one.assessor].finish.date)),
        ],
    )
    return printed(columns, seen.assessors)


def _end(day: str | Undefined) -> str:
    return "-" if isinstance(day, Undefined) else day


def _queries(seen: Look, shown: list[QuerySeen]) -> str:
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
