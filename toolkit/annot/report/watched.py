"""One look at a study under way, as text."""

from __future__ import annotations

from collections.abc import Iterator

from annot.agreement import TITLES
from annot.report.cells import COST, HOURS, MEAN, coefficient, date, estimate, number
from annot.report.text import share_done, text_table
from annot.stats.values import Undefined
from annot.study.progress import Look


def describe(seen: Look, *, all_queries: bool) -> str:
    """The look in blocks; of the queries those under way, or all of them."""
    return "\n\n".join(part for part in _parts(seen, all_queries) if part)


def _parts(seen: Look, all_queries: bool) -> Iterator[str]:
    new = "" if seen.new is None else f", {seen.new} new"
    yield f"{seen.at}: {seen.judged} of {seen.assigned} judgements ({share_done(seen.judged, seen.assigned)}){new}"
    yield _assessors(seen)
    yield _queries(seen, all_queries)
    yield _agreement(seen)
    yield _disputes(seen)
    yield _forecast(seen)
    yield "\n".join([*(seen.forecast.notes if seen.forecast.remaining else ()), *seen.notes])


def _assessors(seen: Look) -> str:
    rows = []
    forecasts = {forecast.assessor: forecast for forecast in seen.forecast.assessors}
    for person in seen.assessors:
        forecast, graded = forecasts[person.assessor], sum(person.grades.values())
        rows.append(
            [
                person.assessor,
                person.judged,
                person.assigned,
                *(f"{100 * n / graded:.0f}%" if graded else "-" for n in person.grades.values()),
                person.cannot_judge,
                "-" if isinstance(forecast.time, Undefined) else f"{forecast.time.median:.0f}",
                number(forecast.pairs_per_day, MEAN),
                number(forecast.hours_left.value, HOURS),
                forecast.finish.date if isinstance(forecast.finish.date, str) else "-",
            ]
        )
    headings = ["assessor", "judged", "of", *(f"grade {grade}" for grade in seen.assessors[0].grades), "cannot judge"]
    return text_table([*headings, "s/pair", "pairs/day", "hours left", "expected end"], rows)


def _queries(seen: Look, all_queries: bool) -> str:
    names = [person.assessor for person in seen.assessors]
    begun = [query for query in seen.queries if any(judged for judged, _ in query.by_assessor.values())]
    under_way = [query for query in begun if query.complete < query.pairs]
    rows = []
    for query in seen.queries if all_queries else under_way:
        cells = [query.by_assessor.get(name) for name in names]
        done = ["" if cell is None else f"{cell[0]}/{cell[1]}" for cell in cells]
        rows.append([query.query_id, query.pairs, query.complete, *done])
    complete, waiting = len(begun) - len(under_way), len(seen.queries) - len(begun)
    summary = f"{complete} queries complete, {len(under_way)} under way, {waiting} not begun"
    return "\n".join(part for part in [text_table(["query", "pairs", "complete", *names], rows), summary] if part)


def _agreement(seen: Look) -> str:
    running = seen.agreement
    if running is None:
        return "agreement: no pair is complete yet"
    rows = [
        [
            TITLES[shown.coefficient],
            number(shown.median, coefficient(shown.coefficient), shown.interval),
            shown.n_queries,
        ]
        for shown in running.figures
    ]
    head = (
        f"agreement so far, median over queries: {running.n_pairs} complete pairs of {running.n_queries} queries, "
        f"missing judgements: {running.missing}, {100 * running.level:g}% intervals"
    )
    return f"{head}\n{text_table(['coefficient', 'median', 'queries'], rows)}"


def _disputes(seen: Look) -> str:
    if not seen.settling.disputed:
        return "disputed pairs: none so far"
    still_open = f"of which {seen.settling.open} are not settled" if seen.settling.open else "all settled"
    return f"disputed pairs so far: {seen.settling.disputed}, {still_open}"


def _forecast(seen: Look) -> str:
    found = seen.forecast
    rows = [
        ["hours of judging so far", str(number(found.hours_spent, HOURS))],
        ["hours of judging left", estimate(found.hours_left, HOURS)],
        ["hours of adjudication left", estimate(seen.settling.hours, HOURS)],
        ["last judgement on", date(found.finish) if found.remaining else "everything is judged"],
    ]
    if isinstance(found.cost_left.value, Undefined) and isinstance(found.cost_spent, Undefined):
        rows.append(["cost", "unknown: no hourly rate (forecast.hourly_rate in annot.toml, or --hourly-rate)"])
    else:
        rows += [
            [f"cost of judging so far, {seen.currency}", str(number(found.cost_spent, COST))],
            [f"cost of judging left, {seen.currency}", estimate(found.cost_left, COST)],
            [f"cost of adjudication left, {seen.currency}", estimate(seen.settling.cost, COST)],
        ]
    width = max(len(name) for name, _ in rows)
    level = f"{100 * found.finish.level:g}% intervals"
    return "\n".join([f"forecast, {level}", *(f"{name.ljust(width)}  {value}" for name, value in rows)])
