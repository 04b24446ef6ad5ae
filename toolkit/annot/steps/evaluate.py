"""Evaluation of runs on the qrels: which is best, which differences hold, and what chance and one assessor reach."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from annot.base.names import check_name
from annot.measuring.evaluation.evaluated import AVERAGES, Evaluated
from annot.measuring.evaluation.measures import CONVENTIONS, TIES, conventions_for
from annot.measuring.measured import evaluation_of, read_run_files
from annot.measuring.restated import with_restated
from annot.measuring.results import evaluation_file, keep
from annot.publishing.report.sections.runs import best_line, terminal
from annot.publishing.report.terminal import table_text
from annot.study.exports import exported_qrels
from annot.study.made import note
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


def evaluate(
    ws: Workspace,
    *,
    files: tuple[Path, ...],
    convention: str | None,
    measures: tuple[str, ...],
    ties: str,
    average: str,
    tell: Callable[[str], None],
) -> Evaluated:
    """Evaluate run files (those of `exports/runs/` when none is named), in all conventions when none is named.

    measures: shown beside the others; on the first of them runs are compared, in the first convention that knows it.
    When none of this is named, the result is written to `exports/evaluation.json` too; where that cannot be, `tell`
    says so.
    """
    conventions = chosen(convention, measures)
    check_name(ties, TIES, what="--ties")
    check_name(average, AVERAGES, what="--average")
    snapshot = read_snapshot(ws)
    qrels, runs = exported_qrels(snapshot), read_run_files(ws, files)
    how: Any = {"measures": measures, "ties": ties, "average": average}
    evaluated = evaluation_of(snapshot, runs, qrels, conventions=conventions, **how)
    evaluated = with_restated(snapshot, runs, qrels, evaluated, **how)
    if not files and convention is None and not measures and (ties, average) == (TIES[0], AVERAGES[0]):
        keep(*evaluation_file(ws, evaluated), tell=tell)
        note(ws, "evaluate", snapshot.states)
    return evaluated


def chosen(convention: str | None, measures: tuple[str, ...]) -> tuple[str, ...]:
    """The conventions to measure in: the one that is named, else those that know the first of the measures."""
    if convention is not None:
        check_name(convention, CONVENTIONS, what="convention")
    return conventions_for(measures, CONVENTIONS if convention is None else (convention,))


def describe(evaluated: Evaluated, *, per_query: bool, every: bool) -> str:
    """The verdict in one line, and the runs by the measure that decides, in percent, as both source papers print.

    every: all measures too, one table a convention.
    """
    tables = terminal(evaluated, per_query=per_query, every=every)
    return "\n\n".join([best_line(evaluated), *map(table_text, tables)])
