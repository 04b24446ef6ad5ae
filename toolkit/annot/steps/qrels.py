"""The final grades as TREC qrels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.study.exports import export_qrels, refuse_unfinished
from annot.study.restated import topups
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class WrittenQrels:
    """What was written: pairs by query and grade, what nobody can judge, and what is still open."""

    path: Path
    pairs: int
    unjudgeable: int
    open: int
    incomplete: int
    scale: tuple[int, ...]
    grades: dict[str, tuple[int, ...]]
    notes: tuple[str, ...]


def write(ws: Workspace, *, partial: bool) -> WrittenQrels:
    """Write `exports/qrels.txt`, and beside it each query's paper and each decision with its origin.

    partial: write although pairs are open or not judged by all; those stay out: unjudged is not 0.
    """
    snapshot = read_snapshot(ws)
    outcome = snapshot.outcome
    refuse_unfinished(outcome, partial=partial)
    qrels = export_qrels(ws, outcome, snapshot.queries)
    scale = ws.settings.scale.grades
    grades = {
        query_id: tuple(sum(qrel.query_id == query_id and qrel.relevance == grade for qrel in qrels) for grade in scale)
        for query_id in sorted({qrel.query_id for qrel in qrels})
    }
    disputes, incomplete = len(outcome.open), len(outcome.incomplete)
    notes = []
    if outcome.unjudgeable:
        notes.append(f"{len(outcome.unjudgeable)} pair(s) that nobody can judge are not in it: they have no grade")
    if disputes or incomplete:
        notes.append(f"left out, still unjudged: {disputes} open dispute(s), {incomplete} incomplete pair(s)")
    if added := topups(snapshot, qrels):
        came = (f"{one.judged} with version {one.version.number} ({one.version.method}) or later" for one in added)
        notes.append(f"of them came with a top-up: {', '.join(came)}; `annot evaluate` shows both scores")
    return WrittenQrels(
        ws.qrels, len(qrels), len(outcome.unjudgeable), disputes, incomplete, scale, grades, tuple(notes)
    )
