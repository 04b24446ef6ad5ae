"""One look at a study under way, as text."""

from __future__ import annotations

from annot.judging.progress import AssessorSeen, Look, QuerySeen
from annot.measuring.agreement.coefficients import TITLES
from annot.publishing.report.terminal import printed, told


def describe(seen: Look, *, all_queries: bool) -> str:
    """The look in blocks; of the queries those under way, or all of them."""
    begun = [query for query in seen.queries if any(judged for judged, _ in query.by_assessor.values())]
    under_way = [query for query in begun if query.complete < query.pairs]
    return told(
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
    def shares(person: AssessorSeen) -> list[str]:
        graded = sum(person.grades.values())
        return [f"{100 * n / graded:.0f}%" if graded else "-" for n in person.grades.values()]

    grades = [f"grade {grade}" for grade in seen.assessors[0].grades]
    forecasts = {forecast.assessor: forecast for forecast in seen.forecast.assessors}
    return printed("forecast.assessors", seen.assessors, grades=grades, shares=shares, forecasts=forecasts)


def _queries(seen: Look, shown: list[QuerySeen]) -> str:
    people = [person.assessor for person in seen.assessors]

    def done(query: QuerySeen) -> list[str]:
        cells = [query.by_assessor.get(name) for name in people]
        return ["" if cell is None else f"{cell[0]}/{cell[1]}" for cell in cells]

    return printed("forecast.queries", shown, people=people, done=done)
