"""What the runs reach on the final grades, and which differences between them hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annot.evaluation.comparisons import ALPHA, POWER
from annot.evaluation.evaluated import Evaluated
from annot.evaluation.measures import MEASURES
from annot.report import figures
from annot.report.cells import DETECTABLE, MEASURE, NONE, POINTS, number, p_value
from annot.report.document import Figure, Section, Table
from annot.report.study import Study
from annot.report.verdict import best, figure, of_all
from annot.report.words import sentence, sentences
from annot.stats.values import Undefined

TITLE = "Runs"
COMMAND = "annot evaluate"


def body(study: Study) -> Section:
    """The runs by the measure that decides, best first, and which differences hold."""
    evaluated, leader = study.evaluated, best(study.evaluated)
    if isinstance(evaluated, Undefined) or leader is None:
        reason = evaluated.reason if isinstance(evaluated, Undefined) else ""
        return Section("runs", TITLE, sentences("runs.none", reason=reason))
    lines = sorted(of_all(evaluated)[0], key=lambda line: (-line.values[leader.measure], line.run))
    of_best = [
        comparison
        for comparison in evaluated.comparisons
        if (comparison.facet, comparison.run_a) == (leader.facet, leader.tag)
    ]
    drawing = Figure(
        sentence("runs.figure", best=leader, lead=bool(of_best)),
        figures.runs(
            {line.run: figure(line, leader.measure) for line in lines},
            {one.run_b: (number(one.difference, POINTS, one.interval), one.holds) for one in of_best},
            chance=leader.chance,
            best=leader.tag,
            measure=leader.measure,
        ),
        "; ".join(f"{line.run}: {figure(line, leader.measure)}" for line in lines),
    )
    told = sentences("runs.body", best=leader, evaluated=evaluated)
    return Section("runs", TITLE, told, (drawing, *_verdicts(evaluated)))


def appendix(study: Study) -> Iterator[Section]:
    """Every measure of every run, and how the runs were made."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined):
        return
    elsewhere = sorted(evaluated.evaluations.keys() - {tag for tag, _ in study.run_settings})
    told = sentences("runs.method", evaluated=evaluated, elsewhere=elsewhere, pooled=study.pooled)
    blocks = (*measures(evaluated, per_query=False), *settings(study))
    yield Section("measures", "Runs: every measure", told, blocks)


def settings(study: Study) -> Iterator[Table]:
    """How the runs were made that were made here."""
    if study.run_settings:
        caption, command = sentence("runs.settings"), "annot report --table run-settings"
        yield Table("run-settings", caption, ("Run", "Settings"), study.run_settings, command, numeric_from=2)


def terminal(evaluated: Evaluated, *, per_query: bool) -> Iterator[Table]:
    """What `annot evaluate` prints: the verdict, then every measure, then every comparison."""
    yield from _verdicts(evaluated)
    yield from measures(evaluated, per_query=per_query)


def measures(evaluated: Evaluated, *, per_query: bool) -> Iterator[Table]:
    """A table a convention, and on request each query; then every two runs."""
    for convention, names in MEASURES.items():
        lines = [line for line in (*evaluated.lines, *evaluated.ceiling) if line.convention == convention]
        if not lines:
            continue
        facets = list(dict.fromkeys(line.facet for line in lines))
        averages = {line.average for line in lines}
        average = averages.pop() if len(averages) == 1 else ""
        rows = tuple(
            (
                line.facet,
                line.run,
                *(number(line.values[name], MEASURE, line.intervals[name]) for name in names),
                line.queries,
                *(() if average else (line.average,)),
            )
            for line in sorted(lines, key=lambda line: facets.index(line.facet))
        )
        yield Table(
            f"measures-{convention}",
            sentence("runs.measures", convention=convention, average=average, evaluated=evaluated),
            ("Facet", "Run", *names, "Queries", *(() if average else ("Average",))),
            rows,
            f"annot evaluate --convention {convention}",
            numeric_from=2,
        )
        if per_query:
            yield _by_query(evaluated, convention, names)
    if evaluated.comparisons:
        yield Table(
            "comparisons",
            sentence("runs.comparisons", evaluated=evaluated, alpha=ALPHA),
            ("Facet", "Better run", "Other run", "Difference", "p", "Holds"),
            tuple(
                (
                    comparison.facet,
                    comparison.run_a,
                    comparison.run_b,
                    number(comparison.difference, POINTS, comparison.interval),
                    p_value(comparison.p_corrected),
                    "yes" if comparison.holds else "no",
                )
                for comparison in evaluated.comparisons
            ),
            COMMAND,
            numeric_from=3,
        )


def _verdicts(evaluated: Evaluated) -> Iterator[Table]:
    """The best run of each facet."""
    if evaluated.verdicts:
        yield Table(
            "best-runs",
            sentence("runs.verdicts", evaluated=evaluated, power=POWER),
            ("Facet", "Best run", "Better than", "Undecided", "Query papers", "Detectable difference"),
            tuple(
                (
                    verdict.facet,
                    verdict.best,
                    ", ".join(verdict.worse) or NONE,
                    ", ".join(verdict.undecided) or NONE,
                    verdict.papers,
                    number(verdict.detectable, DETECTABLE),
                )
                for verdict in evaluated.verdicts
            ),
            COMMAND,
            numeric_from=4,
        )


def _by_query(evaluated: Evaluated, convention: str, names: Sequence[str]) -> Table:
    rows = tuple(
        (tag, query.query_id, *(number(query.values[name], MEASURE) for name in names))
        for tag, by_convention in evaluated.evaluations.items()
        for query in by_convention[convention].queries
    )
    return Table(
        f"queries-{convention}",
        sentence("runs.by_query", convention=convention),
        ("Run", "Query", *names),
        rows,
        f"annot evaluate --convention {convention} --per-query",
        numeric_from=2,
    )
