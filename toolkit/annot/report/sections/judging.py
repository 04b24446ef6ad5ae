"""What the assessors gave, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from annot.agreement import TOGETHER
from annot.report import figures
from annot.report.document import Figure, Section, Table, number, rows_of
from annot.report.intervals import Part, how_drawn, share_text
from annot.report.study import Study

ByQuery = Mapping[str, Counter[int | None]]
"""How often each grade was given on each query; None counts answers without a grade."""


def judgements(study: Study) -> Section:
    """The grades that each assessor gave and those that were settled on, as shares of their pairs."""
    names = [f"{grade} {name}" for grade, name in enumerate(study.settings.scale.names)]
    facet_of = {query.query_id: query.facet for query in study.queries}
    final = _counted((one.query_id, facet_of[one.query_id], one.grade) for one in study.decisions)
    if len(final) > 1:
        final[TOGETHER] = {query_id: counts for of in final.values() for query_id, counts in of.items()}
    given = _counted((one.query_id, one.assessor, one.grade) for one in study.judgements if not one.flags)
    blocks: list[Table | Figure] = []
    if final:
        blocks.append(_final_grades(final, names, study))
    blocks.append(_of_assessors(given, names, study))
    if final:
        blocks.append(_drawing(final, names))
    return Section(
        "judgements",
        "Judgements",
        (study.made_elsewhere or _how_judged(study), how_drawn(study.bootstrap, over="queries")),
        tuple(blocks),
    )


def _counted(grades: Iterable[tuple[str, str, int | None]]) -> dict[str, dict[str, Counter[int | None]]]:
    """Grades by whom or what they are of, then by query, from (query, of whom, grade)."""
    found: dict[str, dict[str, Counter[int | None]]] = {}
    for query_id, of, grade in grades:
        found.setdefault(of, {}).setdefault(query_id, Counter())[grade] += 1
    return dict(sorted(found.items()))


def _drawing(final: Mapping[str, ByQuery], names: list[str]) -> Figure:
    percent = {}
    for facet, by_query in final.items():
        if facet != TOGETHER:
            counts = _total(by_query)
            percent[facet] = {name: 100 * counts[grade] / counts.total() for grade, name in enumerate(names)}
    return Figure(
        "Final grades, in percent of the pairs of each facet.",
        figures.grouped_bars(percent, unit="% of pairs"),
        "; ".join(
            f"{facet}: " + ", ".join(f"{name} {value:.1f}%" for name, value in parts.items())
            for facet, parts in percent.items()
        ),
    )


def _final_grades(final: Mapping[str, ByQuery], names: list[str], study: Study) -> Table:
    rows = [
        [facet, len(by_query), _total(by_query).total(), *_shares(by_query, len(names), study, key=f"final {facet}")]
        for facet, by_query in final.items()
    ]
    return Table("Final grades.", ("Facet", "Queries", "Pairs", *names), rows_of(rows), "annot qrels")


def _of_assessors(given: Mapping[str, ByQuery], names: list[str], study: Study) -> Table:
    rows = []
    for assessor, by_query in given.items():
        counts = _total(by_query)
        grades = [grade for grade in counts.elements() if grade is not None]
        shares = _shares(by_query, len(names), study, key=f"given {assessor}")
        mean = number(sum(grades) / len(grades)) if grades else "–"
        rows.append([assessor, len(by_query), counts.total(), *shares, counts[None], mean])
    return Table(
        "What each assessor gave.",
        ("Assessor", "Queries", "Pairs", *names, "No grade", "Mean grade"),
        rows_of(rows),
        "annot status",
    )


def _shares(by_query: ByQuery, n_grades: int, study: Study, *, key: str) -> list[str]:
    return [
        share_text(
            {query_id: Part(counts[grade], counts.total()) for query_id, counts in by_query.items()},
            plan=study.bootstrap,
            key=key,
        )
        for grade in range(n_grades)
    ]


def _total(by_query: ByQuery) -> Counter[int | None]:
    total: Counter[int | None] = Counter()
    for counts in by_query.values():
        total.update(counts)
    return total


def _how_judged(study: Study) -> str:
    return (
        f"Every pair was given to {study.settings.judging.per_pair} assessors, each in a Label Studio project "
        "and an order of their own. Blind by layout: nobody was shown another's project; the free edition does "
        "not enforce it."
    )
