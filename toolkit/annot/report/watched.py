"""One look at a study under way, as text."""

from __future__ import annotations

from collections.abc import Iterator

from annot.agreement import TITLES, Undefined, Value
from annot.forecast import Unknown
from annot.report.cells import COST, HOURS, MEAN, coefficient, number
from annot.report.forecasts import date, estimate, figure
from annot.report.text import share_done, text_table
from annot.stats.intervals import Intervals
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
    yield _settling(seen)
    yield _forecast(seen)
    yield "\n".join([*(seen.forecast.notes if seen.forecast.remaining else ()), *seen.notes])


def _assessors(seen: Look) -> str:
    pace = {one.assessor: one for one in seen.forecast.assessors}
    grades = list(seen.assessors[0].grades)
    rows = []
    for one in seen.assessors:
        forecast = pace[one.assessor]
        graded = sum(one.grades.values())
        rows.append(
            [
                one.assessor,
                one.judged,
                one.assigned,
                *(f"{100 * one.grades[grade] / graded:.0f}%" if graded else "-" for grade in grades),
                one.cannot_judge,
                "-" if isinstance(forecast.time, Unknown) else f"{forecast.time.median:.0f}",
                figure(forecast.pairs_per_day, MEAN),
                figure(forecast.hours_left.value, HOURS),
                forecast.finish.date if isinstance(forecast.finish.date, str) else "-",
            ]
        )
    headings = ["assessor", "judged", "of", *(f"grade {grade}" for grade in grades), "cannot judge"]
    return text_table([*headings, "s/pair", "pairs/day", "hours left", "done on"], rows)


def _queries(seen: Look, all_queries: bool) -> str:
    names = [one.assessor for one in seen.assessors]
    shown = []
    done = waiting = 0
    for one in seen.queries:
        begun = any(judged for judged, _ in one.by_assessor.values())
        if all_queries or (begun and one.complete < one.pairs):
            cells = [one.by_assessor.get(name) for name in names]
            told = ["" if cell is None else f"{cell[0]}/{cell[1]}" for cell in cells]
            shown.append([one.query_id, one.pairs, one.complete, *told])
        else:
            done += begun
            waiting += not begun
    summary = "" if all_queries else f"{done} queries complete, {len(shown)} under way, {waiting} not begun"
    return "\n".join(part for part in [text_table(["query", "pairs", "complete", *names], shown), summary] if part)


def _agreement(seen: Look) -> str:
    running = seen.agreement
    if running is None:
        return "agreement: no pair is complete yet"
    by_title = {title: name for name, title in TITLES.items()}
    rows = [
        [
            one.coefficient,
            number(one.pooled, coefficient(by_title[one.coefficient]), one.intervals),
            _reason(one.pooled, one.intervals),
        ]
        for one in running.figures
    ]
    headings = ["coefficient", "pooled over pairs", *(["reason"] if any(row[2] for row in rows) else [])]
    head = (
        f"agreement so far: {running.n_pairs} complete pairs of {running.n_queries} queries, pooled "
        f"(`annot agreement` gives medians over queries); missing judgements: {running.missing}, "
        f"{100 * running.level:g}% intervals"
    )
    return f"{head}\n{text_table(headings, [row[: len(headings)] for row in rows])}"


def _settling(seen: Look) -> str:
    found = seen.settling
    if not found.disputed:
        return "disputes: none so far"
    return f"disputes so far: {found.disputed}, {found.open} of them open and to be settled"


def _forecast(seen: Look) -> str:
    found = seen.forecast
    rows: list[tuple[str, object]] = [
        ("hours so far", figure(found.hours_spent, HOURS)),
        ("hours left of judging", estimate(found.hours_left, HOURS)),
        ("hours left of settling", estimate(seen.settling.hours, HOURS)),
        ("judged on", date(found.finish) if found.remaining else "everything is judged"),
    ]
    if not (isinstance(found.cost_left.value, Unknown) and isinstance(found.cost_spent, Unknown)):
        rows += [
            (f"cost so far, {seen.currency}", figure(found.cost_spent, COST)),
            (f"cost left of judging, {seen.currency}", estimate(found.cost_left, COST)),
            (f"cost left of settling, {seen.currency}", estimate(seen.settling.cost, COST)),
        ]
    else:
        rows.append(("cost", "unknown: no hourly rate (forecast.hourly_rate in annot.toml, or --hourly-rate)"))
    width = max(len(row[0]) for row in rows)
    level = f"{100 * found.finish.level:g}% intervals"
    return "\n".join([f"forecast, {level}", *(f"{name.ljust(width)}  {value}" for name, value in rows)])


def _reason(value: Value, intervals: Intervals | None) -> str:
    """Why there is no figure, or no interval."""
    if isinstance(value, Undefined):
        return value.reason
    if intervals is None or not isinstance(intervals.percentile, Undefined):
        return ""
    return f"no interval: {intervals.percentile.reason}"
