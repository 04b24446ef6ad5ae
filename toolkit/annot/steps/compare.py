"""Runs told apart: which is best, which differences hold, what this many queries can show; as text, tables, drawing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from annot.api.tidy import csv_text
from annot.base.errors import InputError
from annot.base.names import check_name
from annot.measuring.evaluation.evaluated import Evaluated
from annot.measuring.evaluation.measures import TIES
from annot.measuring.measured import demonstrations, evaluation_of, read_run_files
from annot.measuring.results import evaluation_data
from annot.publishing.report.document import Document, Section
from annot.publishing.report.latex import latex
from annot.publishing.report.pages import markdown
from annot.publishing.report.sections.runs import best_line, compared, drawing, pairs
from annot.publishing.report.terminal import table_text
from annot.store.runs import StoredRun
from annot.study.exports import exported_qrels
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file

NAME = "comparison"


def compare(
    ws: Workspace, names: tuple[str, ...], *, conventions: tuple[str, ...], measures: tuple[str, ...], ties: str
) -> Evaluated:
    """The runs of `exports/runs/` of these tags or systems (all when none is named) on one another.

    conventions: in the first of them. measures: on the first of them. ties: one of `TIES`.
    """
    check_name(ties, TIES, what="--ties")
    snapshot = read_snapshot(ws)
    runs = read_run_files(ws)
    chosen = _named(names, runs, snapshot.runs)
    if len({*chosen} - demonstrations(snapshot)) < 2:
        raise InputError(
            f"{', '.join(chosen)}: expected at least 2 runs that were not trained on what they are tested on",
            hint="make more with `annot run`",
        )
    return evaluation_of(
        snapshot,
        {tag: runs[tag] for tag in chosen},
        exported_qrels(snapshot),
        conventions=conventions[:1],
        measures=measures,
        ties=ties,
    )


def describe(evaluated: Evaluated) -> str:
    """The verdict in one line, the runs, every two of them on all queries."""
    tables = (*compared(evaluated), *pairs(evaluated, together=True))
    return "\n\n".join([best_line(evaluated), *map(table_text, tables)])


def write(evaluated: Evaluated, folder: Path) -> tuple[Path, ...]:
    """The tables as LaTeX, Markdown, CSV and JSON, and the drawing as SVG, for a paper or a page."""
    data = evaluation_data(evaluated)
    section = Section(NAME, "Figures", (), (*compared(evaluated), *pairs(evaluated, together=False)))
    made = Document("Runs compared", best_line(evaluated), body=(section,))
    texts = {
        "tex": latex(made),
        "md": markdown(made),
        "csv": csv_text("compare", data),
        "json": json.dumps(data["comparison"], indent=2, ensure_ascii=False) + "\n",
        "svg": drawing(evaluated).svg.wide,
    }
    paths = tuple(folder / f"{NAME}.{ending}" for ending in texts)
    for path, text in zip(paths, texts.values(), strict=True):
        write_file(path, text)
    return paths


def _named(names: Iterable[str], tags: Iterable[str], known: Iterable[StoredRun]) -> list[str]:
    """The tags that are meant: a tag itself, or all runs of a system."""
    system_of = {run.tag: run.system for run in known}
    tags = sorted(tags)
    wanted = list(names)
    for name in wanted:
        check_name(name, sorted({*tags, *(system_of.get(tag, tag) for tag in tags)}), what="run")
    return [tag for tag in tags if not wanted or tag in wanted or system_of.get(tag, tag) in wanted]
