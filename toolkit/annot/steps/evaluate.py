"""Evaluation of runs on the qrels: which is best, which differences hold, and what chance and one assessor reach."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from annot.evaluation.evaluated import Evaluated
from annot.evaluation.measures import CONVENTIONS, MEASURES
from annot.names import check_name
from annot.report.sections.runs import terminal
from annot.report.text import table_text
from annot.study.exports import exported_qrels
from annot.study.measured import evaluation_of, read_run_files
from annot.study.results import evaluation_file, keep
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


def evaluate(
    ws: Workspace, *, files: tuple[Path, ...], convention: str | None, measure: str | None, tell: Callable[[str], None]
) -> Evaluated:
    """Evaluate run files (those of `exports/runs/` when none is named), in all conventions when none is named.

    measure: on which runs are compared, in the first of the conventions. When none of this is named, the result is
    written to `exports/evaluation.json` too; where that cannot be, `tell` says so.
    """
    if convention is not None:
        check_name(convention, tuple(CONVENTIONS), what="convention")
    conventions = tuple(CONVENTIONS) if convention is None else (convention,)
    if measure is not None:
        check_name(measure, MEASURES[conventions[0]], what=f"measure of convention {conventions[0]}")
    snapshot = read_snapshot(ws)
    qrels, runs = exported_qrels(snapshot), read_run_files(ws, files)
    evaluated = evaluation_of(snapshot, runs, qrels, conventions=conventions, measure=measure)
    if not files and convention is None and measure is None:
        keep(*evaluation_file(ws, evaluated), tell=tell)
    return evaluated


def describe(evaluated: Evaluated, *, per_query: bool) -> str:
    """The measures as one table a convention, in percent, as both source papers print them."""
    return "\n\n".join(map(table_text, terminal(evaluated, per_query=per_query)))
