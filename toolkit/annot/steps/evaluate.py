"""Evaluation of runs on the qrels: which is best, which differences hold, and what chance and one assessor reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annot.agreement import Bootstrap, to_json
from annot.errors import InputError, MissingInput
from annot.evaluation.comparisons import ALPHA, POWER
from annot.evaluation.evaluated import Evaluated, of_runs
from annot.evaluation.measures import DIALECTS, MEASURES
from annot.formats.trec import read_run
from annot.names import check_name
from annot.records import Ranking
from annot.report.intervals import how_drawn, interval_text
from annot.report.text import text_table
from annot.steps import qrels as qrels_step
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.store.splits import read_splits
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace, write_file


def evaluate(ws: Workspace, *, files: tuple[Path, ...], dialect: str | None, measure: str | None) -> Evaluated:
    """Evaluate as `compute` does; the runs of `exports/runs/` in all dialects are written too."""
    evaluated = compute(ws, files=files, dialect=dialect, measure=measure)
    if not files and dialect is None and measure is None:
        write_file(*file_of(ws, evaluated))
    return evaluated


def file_of(ws: Workspace, evaluated: Evaluated) -> tuple[Path, str]:
    """`exports/evaluation.json` and what it holds."""
    return ws.exports / "evaluation.json", json.dumps(as_data(evaluated), indent=2, ensure_ascii=False) + "\n"


def compute(ws: Workspace, *, files: tuple[Path, ...], dialect: str | None, measure: str | None) -> Evaluated:
    """Evaluate run files (those of `exports/runs/` when none is named), in all dialects when none is named."""
    if dialect is not None:
        check_name(dialect, tuple(DIALECTS), what="dialect")
    dialects = tuple(DIALECTS) if dialect is None else (dialect,)
    if measure is not None:
        check_name(measure, MEASURES[dialects[0]], what=f"measure of dialect {dialects[0]}")
    qrels = qrels_step.read(ws)
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        queries = read_queries(session)
        splits = read_splits(session)
        judgements = outcome_of(session).judgements
    return of_runs(
        read_runs(ws, files),
        qrels,
        judgements,
        facets={query.query_id: query.facet for query in queries},
        papers={query.query_id: query.paper_id for query in queries},
        splits=splits,
        dialects=dialects,
        measure=measure,
        relevant_from=ws.settings.evaluation.relevant_from,
        bootstrap=Bootstrap(ws.settings.agreement.resamples, ws.settings.agreement.level, ws.settings.seed),
    )


def as_data(evaluated: Evaluated) -> Any:
    """The lines, the comparisons and the queries' own values, as JSON can carry them."""
    return {
        "relevant_from": evaluated.relevant_from,
        "intervals": {"over": "query papers", **to_json(evaluated.bootstrap)},
        "lines": to_json(evaluated.lines),
        "ceiling": to_json(evaluated.ceiling),
        "comparison": {
            "convention": evaluated.convention,
            "measure": evaluated.measure,
            "test": "two-sided paired randomisation test",
            "unit": "query paper",
            "correction": "Holm, over all pairs of runs of a facet",
            "alpha": ALPHA,
            "power": POWER,
            "verdicts": to_json(evaluated.verdicts),
            "pairs": to_json(evaluated.comparisons),
        },
        "queries": {
            tag: {
                dialect: {one.query_id: to_json(one) for one in evaluation.queries}
                for dialect, evaluation in by_dialect.items()
            }
            for tag, by_dialect in evaluated.evaluations.items()
        },
        "notes": list(evaluated.notes),
    }


def describe(evaluated: Evaluated, *, per_query: bool) -> str:
    """The verdict, the lines as one table a dialect, all comparisons; figures as percentages, as both papers do."""
    parts = [_verdict(evaluated)]
    for dialect, names in MEASURES.items():
        lines = [line for line in (*evaluated.lines, *evaluated.ceiling) if line.dialect == dialect]
        if not lines:
            continue
        facets = list(dict.fromkeys(line.facet for line in lines))
        rows: list[list[object]] = []
        for line in sorted(lines, key=lambda line: facets.index(line.facet)):
            figures = [f"{100 * line.values[name]:.2f}" for name in names]
            rows.append([line.facet, line.run, *figures, line.queries, line.average])
            # Below each figure its interval: beside it, no terminal would be wide enough.
            rows.append(["", "", *(interval_text(line.intervals[name], scale=100) for name in names), "", ""])
        parts.append(f"dialect {dialect}; relevant from grade {evaluated.relevant_from}; %")
        parts.append(text_table(["facet", "run", *names, "queries", "average"], rows))
        if per_query:
            detail = [
                [tag, one.query_id, *(f"{100 * one.values[name]:.2f}" for name in names)]
                for tag, by_dialect in evaluated.evaluations.items()
                for one in by_dialect[dialect].queries
            ]
            parts.append(text_table(["run", "query", *names], detail))
    if evaluated.ceiling:
        parts.append(
            "The line one assessor ranks each query by the grades of one of its assessors (mean over the assessors). "
            "The final grades rest on the same grades, so it is rather too high."
        )
    parts.append(how_drawn(evaluated.bootstrap, over="query papers, two facets of one paper together"))
    if evaluated.comparisons:
        parts += [_comparisons(evaluated), _how_compared(evaluated)]
    return "\n\n".join(parts)


def _verdict(evaluated: Evaluated) -> str:
    if not evaluated.verdicts:
        return "No facet has two runs, so none is compared with another."
    rows = [
        [
            verdict.facet,
            verdict.best,
            ", ".join(verdict.worse) or "none",
            ", ".join(verdict.undecided) or "none",
            verdict.papers,
            "none: too few papers" if verdict.detectable is None else f"{100 * verdict.detectable:.0f} points or more",
        ]
        for verdict in evaluated.verdicts
    ]
    head = f"Best run by {evaluated.measure} in the {evaluated.convention} convention:"
    columns = ["facet", "best run", "better than", "undecided against", "papers", "detectable difference"]
    return f"{head}\n\n{text_table(columns, rows)}"


def _comparisons(evaluated: Evaluated) -> str:
    rows = [
        [
            one.facet,
            one.run_a,
            one.run_b,
            f"{100 * one.difference:.2f}",
            interval_text(one.interval, scale=100),
            f"{one.p_corrected:.4f}",
            "yes" if one.holds else "no",
        ]
        for one in evaluated.comparisons
    ]
    return text_table(["facet", "better run", "other run", "difference", "interval", "p", "holds"], rows)


def _how_compared(evaluated: Evaluated) -> str:
    return (
        f"All pairs of runs are compared on {evaluated.measure} in the {evaluated.convention} convention, in points of "
        "100. p: paired randomisation test by query paper, corrected by Holm's method for the pairs of runs of a "
        f"facet; a difference holds where p is at most {ALPHA:g}. Each interval is of its own difference, not "
        f"corrected. Detectable: about the difference that would hold with a chance of {POWER:.0%}."
    )


def read_runs(ws: Workspace, files: tuple[Path, ...]) -> dict[str, dict[str, Ranking]]:
    """The runs in `files`, or those of `exports/runs/`, by tag. Raises MissingInput when there are none."""
    paths = files or tuple(sorted(ws.runs.glob("*.run")))
    if not paths:
        raise MissingInput(f"{ws.runs}: no runs", hint="make baselines with `annot run`, or name run files")
    found: dict[str, dict[str, Ranking]] = {}
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path}: no such file, expected a TREC run")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-8 text, expected a TREC run") from None
        run = read_run(text.splitlines(), name=str(path))
        if run.tag in found:
            raise InputError(f"{path}: the tag {run.tag!r} stands in another file too")
        found[run.tag] = run.rankings
    return found
