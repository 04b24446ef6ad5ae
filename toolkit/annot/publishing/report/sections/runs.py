"""What the runs reach on the final grades, and which differences between them hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from annot.base.stats.values import Undefined
from annot.measuring.evaluation.comparisons import ALPHA, POWER
from annot.measuring.evaluation.evaluated import CHANCE, ONE_ASSESSOR, Evaluated
from annot.measuring.evaluation.measures import CONVENTIONS
from annot.publishing.report import figures
from annot.publishing.report.cells import MEASURE, number
from annot.publishing.report.document import Figure, Section, Table
from annot.publishing.report.study import Study
from annot.publishing.report.verdict import best, figure, of_all
from annot.publishing.report.words import sentence, sentences, table
from annot.ranking.small_corpora import trained_on_few

TITLE = "Runs"
LIKE_CHANCE = "°"
"""After a figure that is not shown to be better than a random order."""


def body(study: Study) -> Section:
    """The runs by the measure that decides, best first, and which differences hold."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined) or best(evaluated) is None:
        reason = evaluated.reason if isinstance(evaluated, Undefined) else ""
        return Section("runs", TITLE, sentences("runs.none", reason=reason))
    told = sentences("runs.body", best=best(evaluated), evaluated=evaluated, holding=holding(evaluated))
    told += sentences("runs.few_abstracts", few=trained_on_few({run.tag: run.facts for run in study.snapshot.runs}))
    return Section("runs", TITLE, told, (drawing(evaluated), *compared(evaluated), *restated(evaluated)))


def best_line(evaluated: Evaluated) -> str:
    """Which run is best, and whether that is certain."""
    return sentence("runs.best_line", best=best(evaluated))


def holding(evaluated: Evaluated) -> list[tuple[str, list[str]]]:
    """Each run, best first, that is better than others by a difference that holds on all queries, and these."""
    leader = best(evaluated)
    found: dict[str, list[str]] = {}
    for one in evaluated.comparisons:
        if leader and one.facet == leader.facet and one.holds:
            found.setdefault(one.run_a, []).append(one.run_b)
    return list(found.items())


def drawing(evaluated: Evaluated) -> Figure:
    """The runs on all queries, and which of them differ."""
    leader = best(evaluated)
    assert leader is not None
    lines = sorted(of_all(evaluated)[0], key=lambda line: (-line.values[leader.measure], line.run))
    drawn = {line.run: figure(line, leader.measure) for line in lines}
    holds = {(one.run_a, one.run_b): one.holds for one in evaluated.comparisons if one.facet == leader.facet}
    return Figure(
        sentence(
            "runs.figure",
            best=leader,
            several=bool(holds),
            bracketed=any(one.ends for one in drawn.values()),
        ),
        figures.runs(
            drawn,
            holds,
            chance=leader.chance,
            measure=leader.measure,
        ),
        "; ".join(f"{run}: {one}" for run, one in drawn.items()),
    )


def compared(evaluated: Evaluated) -> Iterator[Table]:
    """A row a run, best first, with letters of those that it beats on each facet; chance and one assessor last."""
    leader = best(evaluated)
    if leader is None or not evaluated.verdicts:
        return
    measure = evaluated.measure
    lines = [line for line in (*evaluated.lines, *evaluated.ceiling) if line.convention == evaluated.convention]
    facets = list(dict.fromkeys(line.facet for line in lines))
    of_leader = {line.run: line.values[measure] for line in lines if line.facet == leader.facet}
    shown_only = sorted({line.run for line in lines if line.demonstration})
    last = (*shown_only, CHANCE, ONE_ASSESSOR)
    names = sorted(
        dict.fromkeys(line.run for line in lines),
        key=lambda run: (last.index(run) + 1 if run in last else 0, -of_leader.get(run, -1.0), run),
    )
    letters = {run: letter_of(at) for at, run in enumerate(run for run in names if run not in last)}
    line_of = {(line.run, line.facet): line for line in lines}
    beaten = {(one.facet, one.run_a, one.run_b) for one in evaluated.comparisons if one.holds}
    rows, like_chance = [], False
    for run in names:
        row = []
        for facet in facets:
            line = line_of.get((run, facet))
            marks = [letter for name, letter in letters.items() if (facet, run, name) in beaten]
            plain = number(None, MEASURE) if line is None else figure(line, measure)
            if line is not None and run in letters and not line.above_chance:
                marks.insert(0, LIKE_CHANCE)
                like_chance = True
            row.append(replace(plain, after=" ".join(part for part in (plain.after, *marks) if part)))
        rows.append(
            {
                "run": run,
                "letter": letters.get(run, ""),
                "demonstration": run in shown_only,
                "like_chance": run in leader.like_chance,
                "figures": row,
            }
        )
    silent = [verdict.facet for verdict in evaluated.verdicts if verdict.smallest_p > ALPHA]
    how = {"power": POWER, "silent": silent, "like_chance": like_chance}
    yield table("runs.compared", rows, evaluated=evaluated, best=leader, facets=facets, how=how)


def restated(evaluated: Evaluated) -> Iterator[Table]:
    """The scores before each top-up of the pools beside those of now, where there was one."""
    found = evaluated.restated
    if found is not None:
        above = {(line.facet, line.run) for line in evaluated.lines if line.above_chance}
        rows = [
            {
                "score": one,
                "before": [number(value, MEASURE) for value in one.values[:-1]],
                "like_chance": (one.facet, one.run) not in above,
            }
            for one in found.scores
        ]
        before = [f"Before version {one.version}" for one in found.topups]
        yield table("runs.restated", rows, restated=found, before=before)


def letter_of(place: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    return (letter_of(place // 26 - 1) if place >= 26 else "") + chr(ord("a") + place % 26)


def pairs(evaluated: Evaluated) -> Iterator[Table]:
    """Every two runs on every facet."""
    if evaluated.comparisons:
        yield table("runs.comparisons", evaluated.comparisons, evaluated=evaluated, alpha=ALPHA)


def appendix(study: Study) -> Iterator[Section]:
    """Every measure of every run, and how the runs were made."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined):
        return
    elsewhere = sorted(evaluated.evaluations.keys() - {tag for tag, _ in study.run_settings})
    told = sentences("runs.method", evaluated=evaluated, elsewhere=elsewhere, pooled=study.pooled)
    blocks = (*measures(evaluated, per_query=False), *pairs(evaluated), *settings(study))
    yield Section("measures", "Runs: every measure", (), blocks, told)


def settings(study: Study) -> Iterator[Table]:
    """How the runs were made that were made here."""
    if study.run_settings:
        yield table("runs.run-settings", study.run_settings)


def terminal(evaluated: Evaluated, *, per_query: bool, measured: bool, paired: bool) -> Iterator[Table]:
    """What `annot evaluate` prints: which runs are better; on request every two runs, and every measure, which is
    there too if nothing can be compared."""
    table_of_runs = (*compared(evaluated), *restated(evaluated))
    yield from table_of_runs
    if paired:
        yield from pairs(evaluated)
    if measured or per_query or not table_of_runs:
        yield from measures(evaluated, per_query=per_query)


def measures(evaluated: Evaluated, *, per_query: bool) -> Iterator[Table]:
    """A table a convention, and on request each query."""
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
