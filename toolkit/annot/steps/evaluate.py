"""Evaluation of runs on the qrels, in both dialects, with the floor of chance and the ceiling of one assessor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annot.agreement import Bootstrap, to_json
from annot.errors import InputError, MissingInput
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
from annot.study.workspace import Workspace, write_file


def evaluate(ws: Workspace, *, files: tuple[Path, ...], dialect: str | None) -> Evaluated:
    """Evaluate as `compute` does; the runs of `exports/runs/` in all dialects are written too."""
    evaluated = compute(ws, files=files, dialect=dialect)
    if not files and dialect is None:
        write_file(*file_of(ws, evaluated))
    return evaluated


def file_of(ws: Workspace, evaluated: Evaluated) -> tuple[Path, str]:
    """`exports/evaluation.json` and what it holds."""
    return ws.exports / "evaluation.json", json.dumps(as_data(evaluated), indent=2, ensure_ascii=False) + "\n"


def compute(ws: Workspace, *, files: tuple[Path, ...], dialect: str | None) -> Evaluated:
    """Evaluate run files (those of `exports/runs/` when none is named), in all dialects when none is named."""
    if dialect is not None:
        check_name(dialect, tuple(DIALECTS), what="dialect")
    dialects = tuple(DIALECTS) if dialect is None else (dialect,)
    qrels = qrels_step.read(ws)
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        queries = read_queries(session)
        splits = read_splits(session)
    return of_runs(
        read_runs(ws, files),
        qrels,
        facets={query.query_id: query.facet for query in queries},
        papers={query.query_id: query.paper_id for query in queries},
        splits=splits,
        dialects=dialects,
        relevant_from=ws.settings.evaluation.relevant_from,
        bootstrap=Bootstrap(ws.settings.agreement.resamples, ws.settings.agreement.level, ws.settings.seed),
    )


def as_data(evaluated: Evaluated) -> Any:
    """The lines and the queries' own values, as JSON can carry them."""
    return {
        "relevant_from": evaluated.relevant_from,
        "intervals": {"over": "query papers", **to_json(evaluated.bootstrap)},
        "lines": to_json(evaluated.lines),
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
