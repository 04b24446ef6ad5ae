"""Evaluation of runs on the qrels, in both dialects, with the floor of chance and the ceiling of one assessor."""

from __future__ import annotations

from pathlib import Path

from annot.evaluation.evaluated import Evaluated
from annot.evaluation.measures import DIALECTS, MEASURES
from annot.names import check_name
from annot.report.intervals import how_drawn, interval_text
from annot.report.text import text_table
from annot.study.exports import exported_qrels
from annot.study.measured import evaluation_of, read_run_files
from annot.study.results import evaluation_file
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file


def evaluate(ws: Workspace, *, files: tuple[Path, ...], dialect: str | None) -> Evaluated:
    """Evaluate run files (those of `exports/runs/` when none is named), in all dialects when none is named.

    The runs of `exports/runs/` in all dialects are written to `exports/evaluation.json` too.
    """
    if dialect is not None:
        check_name(dialect, tuple(DIALECTS), what="dialect")
    dialects = tuple(DIALECTS) if dialect is None else (dialect,)
    qrels = exported_qrels(ws)
    evaluated = evaluation_of(read_snapshot(ws), read_run_files(ws, files), qrels, dialects=dialects)
    if not files and dialect is None:
        write_file(*evaluation_file(ws, evaluated))
    return evaluated


def describe(evaluated: Evaluated, *, per_query: bool) -> str:
    """The lines as one table a dialect; figures as percentages, as both source papers print them."""
    parts = []
    for dialect, names in MEASURES.items():
        lines = [line for line in evaluated.lines if line.dialect == dialect]
        if not lines:
            continue
        rows: list[list[object]] = []
        for line in lines:
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
    parts.append(how_drawn(evaluated.bootstrap, over="query papers, two facets of one paper together"))
    return "\n\n".join(parts)
