"""One look at a study under way, as text."""

from __future__ import annotations

from annot.agreement import TITLES
from annot.report.cells import COST, HOURS, date, estimate, number
from annot.report.terminal import printed, told
from annot.stats.values import Undefined
from annot.study.progress import AssessorSeen, Look, QuerySeen


def describe(seen: Look, *, all_queries: bool) -> str:
    """The look in blocks; of the queries those under way, or all of them."""
    begun = [query for query in seen.queries if any(judged for judged, _ in query.by_assessor.values())]
    under_way = [query for query in begun if query.complete < query.pairs]
    costs = _costs(seen)
    return told(
        "watch",
        seen=seen,
        people=_assessors(seen),
        queries=_queries(seen, list(seen.queries) if all_queries else under_way),
        complete=len(begun) - len(under_way),
        under_way=len(under_way),
        waiting=len(seen.queries) - len(begun),
        titles=TITLES,
        costs=costs,
        width=max(len(name) for name, _ in costs),
        notes=[*(seen.forecast.notes if seen.forecast.remaining else ()), *seen.notes],
    )


def _assessors(seen: Look) -> str:
    def shares(person: AssessorSeen) -> list[str]:
        graded = sum(person.grades.values())
        return [f"{100 * n / graded:.0f}%" if graded else "-" for n in person.grades.values()]

    grades = [f"grade {grade}" for grade in seen.assessors[0].grades]
    forecasts = {forecast.assessor: forecast for forecast in seen.forecast.assessors}
    return printed("watch.assessors", seen.assessors, grades=grades, shares=shares, forecasts=forecasts)


def _queries(seen: Look, shown: list[QuerySeen]) -> str:
    people = [person.assessor for person in seen.assessors]

    def done(query: QuerySeen) -> list[str]:
        cells = [query.by_assessor.get(name) for name in people]
        return ["" if cell is None else f"{cell[0]}/{cell[1]}" for cell in cells]

    return printed("watch.queries", shown, people=people, done=done)


def _costs(seen: Look) -> list[tuple[str, str]]:
    """What is spent and what is still to come, each under its name."""
    found = seen.forecast
    rows = [
        ("hours of judging so far", str(number(found.hours_spent, HOURS))),
        ("hours of judging left", estimate(found.hours_left, HOURS)),
        ("hours of adjudication left", estimate(seen.settling.hours, HOURS)),
        ("last judgement on", date(found.finish) if found.remaining else "everything is judged"),
    ]
    if isinstance(found.cost_left.value, Undefined) and isinstance(found.cost_spent, Undefined):
        unknown = "unknown: no hourly rate (forecast.hourly_rate in annot.toml, or --hourly-rate)"
        return [*rows, ("cost", unknown)]
    return [
        *rows,
        (f"cost of judging so far, {seen.currency}", str(number(found.cost_spent, COST))),
        (f"cost of judging left, {seen.currency}", estimate(found.cost_left, COST)),
        (f"cost of adjudication left, {seen.currency}", estimate(seen.settling.cost, COST)),
    ]
