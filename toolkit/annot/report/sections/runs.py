"""What the runs reach on the final grades, and which differences between them hold."""

from __future__ import annotations

from collections.abc import Iterator

from annot.evaluation.comparisons import ALPHA, POWER
from annot.evaluation.evaluated import Evaluated
from annot.evaluation.measures import CONVENTIONS
from annot.report import figures
from annot.report.cells import MEASURE, POINTS, number
from annot.report.document import Figure, Section, Table
from annot.report.study import Study
from annot.report.verdict import best, figure, of_all
from annot.report.words import sentence, sentences, table
from annot.stats.values import Undefined

TITLE = "Runs"


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
        yield table("runs.run-settings", study.run_settings)


def terminal(evaluated: Evaluated, *, per_query: bool) -> Iterator[Table]:
    """What `annot evaluate` prints: the verdict, then every measure, then every comparison."""
    yield from _verdicts(evaluated)
    yield from measures(evaluated, per_query=per_query)


def measures(evaluated: Evaluated, *, per_query: bool) -> Iterator[Table]:
    """A table a convention, and on request each query; then every two runs."""
    for convention in CONVENTIONS:
        lines = [line for line in (*evaluated.lines, *evaluated.ceiling) if line.convention == convention]
        if not lines:
            continue
        names = tuple(lines[0].values)
        facets = list(dict.fromkeys(line.facet for line in lines))
        lines.sort(key=lambda line: facets.index(line.facet))
        averages = {line.average for line in lines}
        yield table(
            "runs.measures",
            [{"line": line, "figures": [figure(line, name) for name in names]} for line in lines],
            evaluated=evaluated,
            convention=convention,
            names=names,
            average="".join(averages) if len(averages) == 1 else "",
            averages=["Average"] if len(averages) > 1 else [],
        )
        if per_query:
            rows = [
                {
                    "tag": tag,
                    "query": query.query_id,
                    "figures": [number(query.values[name], MEASURE) for name in names],
                }
                for tag, by_convention in evaluated.evaluations.items()
                for query in by_convention[convention].queries
            ]
            yield table("runs.queries", rows, convention=convention, names=names)
    if evaluated.comparisons:
        yield table("runs.comparisons", evaluated.comparisons, evaluated=evaluated, alpha=ALPHA)


def _verdicts(evaluated: Evaluated) -> Iterator[Table]:
    """The best run of each facet."""
    if evaluated.verdicts:
        yield table("runs.best-runs", evaluated.verdicts, evaluated=evaluated, power=POWER)
