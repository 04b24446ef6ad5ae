"""What the runs reach on the final grades, and which differences between them hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annot.evaluation.evaluated import CHANCE, Evaluated
from annot.evaluation.measures import MEASURES
from annot.report import figures
from annot.report.cells import MEASURE, number
from annot.report.document import Figure, Section, Table
from annot.report.study import Study
from annot.report.verdict import best, figure, of_all
from annot.report.words import sentence, sentences
from annot.stats.undefined import Undefined

TITLE = "Runs"


def body(study: Study) -> Section:
    """The runs by the measure that decides, best first."""
    evaluated, leader = study.evaluated, best(study.evaluated)
    if isinstance(evaluated, Undefined) or leader is None:
        reason = evaluated.reason if isinstance(evaluated, Undefined) else ""
        return Section("runs", TITLE, sentences("runs.none", reason=reason))
    lines = sorted((one for one in of_all(evaluated) if one.run != CHANCE), key=lambda one: -one.values[leader.measure])
    drawing = Figure(
        sentence("runs.figure", best=leader),
        figures.runs({one.run: figure(one) for one in lines}, chance=leader.chance, unit=f"{leader.measure}, %"),
        "; ".join(f"{one.run}: {figure(one)}" for one in lines),
    )
    told = sentences("runs.body", best=leader, evaluated=evaluated)
    return Section("runs", TITLE, told, (drawing,))


def appendix(study: Study) -> Iterator[Section]:
    """Every measure of every run, and how the runs were made."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined):
        return
    elsewhere = sorted(evaluated.evaluations.keys() - {tag for tag, _ in study.run_settings})
    told = sentences("runs.method", evaluated=evaluated, elsewhere=elsewhere, pooled=study.pooled)
    blocks = list(terminal(evaluated, per_query=False))
    if study.run_settings:
        caption, command = sentence("runs.settings"), "annot report --table run-settings"
        blocks.append(Table("run-settings", caption, ("Run", "Settings"), study.run_settings, command, numeric_from=2))
    yield Section("measures", "Runs: every measure", told, tuple(blocks))


def terminal(evaluated: Evaluated, *, per_query: bool) -> Iterator[Table]:
    """What `annot evaluate` prints: a table a convention, and on request each query."""
    for convention, names in MEASURES.items():
        rows = tuple(
            (
                line.facet,
                line.run,
                *(number(line.values[name], MEASURE, line.intervals[name]) for name in names),
                line.queries,
                line.average,
            )
            for line in evaluated.lines
            if line.dialect == convention
        )
        if not rows:
            continue
        yield Table(
            f"measures-{convention}",
            sentence("runs.measures", convention=convention),
            ("Facet", "Run", *names, "Queries", "Average"),
            rows,
            f"annot evaluate --dialect {convention}",
            numeric_from=2,
        )
        if per_query:
            yield _by_query(evaluated, convention, names)


def _by_query(evaluated: Evaluated, convention: str, names: Sequence[str]) -> Table:
    rows = tuple(
        (tag, one.query_id, *(number(one.values[name], MEASURE) for name in names))
        for tag, by_convention in evaluated.evaluations.items()
        for one in by_convention[convention].queries
    )
    return Table(
        f"queries-{convention}",
        sentence("runs.by_query", convention=convention),
        ("Run", "Query", *names),
        rows,
        f"annot evaluate --dialect {convention} --per-query",
        numeric_from=2,
    )
