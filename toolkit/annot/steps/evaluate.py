"""Evaluation of runs on the qrels, in both dialects, with the floor of chance and the ceiling of one assessor."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.agreement import to_json
from annot.errors import InputError, MissingInput
from annot.formats.trec import read_run
from annot.measures import DIALECTS, MEASURES, Evaluation, by_folds, chance_floor
from annot.measures import evaluate as measure
from annot.records import Qrel, Ranking
from annot.report.text import text_table
from annot.steps import qrels as qrels_step
from annot.steps.names import check_name
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.store.splits import read_splits
from annot.workspace import Workspace, write_file

TOGETHER = "together"
CHANCE = "chance"
TEST = "mean of fold means"
PLAIN = "mean over queries"


@dataclass(frozen=True, slots=True)
class Line:
    """The measures of one run on one facet in one dialect; fractions, 0..1."""

    dialect: str
    facet: str
    run: str
    average: str
    """How the queries were averaged: plainly, or as the mean of the folds' means."""
    queries: int
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """All lines, the evaluations behind them, and what a reader must know."""

    relevant_from: int
    lines: tuple[Line, ...]
    evaluations: dict[str, dict[str, Evaluation]]
    """By run, then dialect."""
    notes: tuple[str, ...]


def evaluate(ws: Workspace, *, files: tuple[Path, ...], dialect: str | None) -> Evaluated:
    """Evaluate run files (those of `exports/runs/` when none is named) and write `exports/evaluation.json`."""
    if dialect is not None:
        check_name(dialect, tuple(DIALECTS), what="dialect")
    dialects = tuple(DIALECTS) if dialect is None else (dialect,)
    qrels = qrels_step.read(ws)
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        facets = {query.query_id: query.facet for query in read_queries(session)}
        splits = read_splits(session)
    strangers = sorted({one.query_id for one in qrels} - set(facets))
    if strangers:
        raise InputError(
            f"{ws.exports / qrels_step.QRELS_FILE}: {len(strangers)} of its queries are not in this study",
            faults=[f"query {name!r}: not in this study" for name in strangers],
            hint=qrels_step.HINT,
        )
    evaluated = of_runs(
        read_runs(ws, files),
        qrels,
        facets=facets,
        splits=splits,
        dialects=dialects,
        relevant_from=ws.settings.evaluation.relevant_from,
    )
    if not files:
        write_file(ws.exports / "evaluation.json", json.dumps(as_data(evaluated), indent=2, ensure_ascii=False) + "\n")
    return evaluated


def of_runs(
    runs: Mapping[str, Mapping[str, Ranking]],
    qrels: tuple[Qrel, ...],
    *,
    facets: Mapping[str, str],
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
    dialects: tuple[str, ...],
    relevant_from: int,
) -> Evaluated:
    """Evaluate runs by facet and together. A run that covers only some facets is measured on those."""
    lines: list[Line] = []
    notes: list[str] = []
    evaluations: dict[str, dict[str, Evaluation]] = {}
    names = sorted({facets[one.query_id] for one in qrels})
    for tag, rankings in runs.items():
        covered = [name for name in names if any(facets.get(query_id) == name for query_id in rankings)]
        mine = tuple(one for one in qrels if facets[one.query_id] in covered)
        if not mine:
            raise InputError(
                f"run {tag}: none of its queries is in the qrels",
                faults=[f"found {', '.join(sorted(rankings)[:3])}", f"expected {', '.join(sorted(facets)[:3])}"],
            )
        evaluations[tag] = {}
        for dialect in dialects:
            evaluation = measure(
                {query_id: ranking for query_id, ranking in rankings.items() if query_id in facets},
                mine,
                dialect=dialect,
                relevant_from=relevant_from,
            )
            evaluations[tag][dialect] = evaluation
            for facet in [*covered, *([TOGETHER] if len(names) > 1 and covered == names else [])]:
                lines.append(_line(evaluation, facet, tag, facets, splits))
        notes += _notes(tag, evaluations[tag][dialects[0]], set(rankings) - set(facets))
    for dialect in dialects:
        floor = chance_floor(qrels, dialect=dialect, relevant_from=relevant_from)
        for facet in [*names, *([TOGETHER] if len(names) > 1 else [])]:
            members = [values for query_id, values in floor.items() if facet in (facets[query_id], TOGETHER)]
            values = {name: sum(one[name] for one in members) / len(members) for name in MEASURES[dialect]}
            lines.append(Line(dialect, facet, CHANCE, PLAIN, len(members), values))
    lines.sort(key=lambda one: (tuple(DIALECTS).index(one.dialect), one.facet == TOGETHER, one.facet))
    return Evaluated(relevant_from, tuple(lines), evaluations, tuple(notes))


def as_data(evaluated: Evaluated) -> Any:
    """The lines and the queries' own values, as JSON can carry them."""
    return {
        "relevant_from": evaluated.relevant_from,
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
        rows = [
            [line.facet, line.run, *(f"{100 * line.values[name]:.2f}" for name in names), line.queries, line.average]
            for line in lines
        ]
        parts.append(f"dialect {dialect}; relevant from grade {evaluated.relevant_from}; %")
        parts.append(text_table(["facet", "run", *names, "queries", "average"], rows))
        if per_query:
            detail = [
                [tag, one.query_id, *(f"{100 * one.values[name]:.2f}" for name in names)]
                for tag, by_dialect in evaluated.evaluations.items()
                for one in by_dialect[dialect].queries
            ]
            parts.append(text_table(["run", "query", *names], detail))
    return "\n\n".join(parts)


def _line(
    evaluation: Evaluation,
    facet: str,
    tag: str,
    facets: Mapping[str, str],
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
) -> Line:
    members = [one for one in evaluation.queries if facet in (facets[one.query_id], TOGETHER)]
    names = MEASURES[evaluation.dialect]
    folds = _test_folds(splits.get("all" if facet == TOGETHER else facet, {}))
    if folds and {query_id for fold in folds for query_id in fold} == {one.query_id for one in members}:
        means = by_folds(evaluation, test=folds, dev=folds[0])
        return Line(evaluation.dialect, facet, tag, TEST, len(members), means.test)
    values = {name: sum(one.values[name] for one in members) / len(members) for name in names}
    return Line(evaluation.dialect, facet, tag, PLAIN, len(members), values)


def _test_folds(folds: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The test folds (`fold1_test`, `fold2_test`, ...) in their order."""
    return [folds[name] for name in sorted(folds) if re.fullmatch(r"fold\d+_test", name)]


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


def _notes(tag: str, evaluation: Evaluation, unknown: set[str]) -> list[str]:
    notes = []
    missing = sum(len(one.missing) for one in evaluation.queries)
    unjudged = sum(one.unjudged for one in evaluation.queries)
    if missing:
        notes.append(f"{tag}: leaves out {missing} judged document(s)")
    if unjudged:
        notes.append(f"{tag}: {unjudged} submitted document(s) are unjudged, and count as not relevant")
    if evaluation.not_submitted:
        notes.append(f"{tag}: no documents for {', '.join(evaluation.not_submitted)}; they score 0")
    if evaluation.without_relevant:
        notes.append(f"{tag}: no relevant document for {', '.join(evaluation.without_relevant)}")
    if unknown:
        notes.append(f"{tag}: {len(unknown)} of its queries are not in this study")
    return notes
