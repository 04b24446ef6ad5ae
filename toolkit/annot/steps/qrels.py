"""The final grades as TREC qrels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from annot.base.errors import InputError
from annot.measuring.restated import topups
from annot.store.accepted import accept
from annot.store.database import open_store
from annot.study.exports import export_qrels, refuse_unfinished, too_few
from annot.study.outcome import outcome_of
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
    short: tuple[str, ...]
    """The pairs left out because they have fewer judgements than planned."""
    accepted: int
    """Pairs among these that have fewer judgements than planned, by the lead's word."""
    scale: tuple[int, ...]
    grades: dict[str, tuple[int, ...]]
    notes: tuple[str, ...]


def write(ws: Workspace, *, partial: bool, allow_single: str | None = None) -> WrittenQrels:
    """Write `exports/qrels.txt`, and beside it each query's paper and each decision with its origin.

    partial: write although pairs are open or not judged by all; those stay out: unjudged is not 0. allow_single: why
    pairs that no present assessor will complete count with the judgements that they have; it is put on record, and
    those that have any count from then on.
    """
    if allow_single is not None:
        _accept(ws, " ".join(allow_single.split()), partial=partial)
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
    accepted = sum(decision.pair in outcome.accepted for decision in outcome.decisions)
    if accepted:
        why = "; ".join(sorted(set(outcome.accepted.values())))
        notes.append(
            f"{accepted} pair(s) have fewer than {outcome.per_pair} judgements and are taken all the same: {why}"
        )
    if disputes or incomplete:
        notes.append(f"left out, still unjudged: {disputes} open dispute(s), {incomplete} incomplete pair(s)")
    if added := topups(snapshot, qrels):
        came = (f"{one.judged} with version {one.version.number} ({one.version.method}) or later" for one in added)
        notes.append(f"of them came with a top-up: {', '.join(came)}; `annot evaluate` shows both scores")
    return WrittenQrels(
        path=ws.qrels,
        pairs=len(qrels),
        unjudgeable=len(outcome.unjudgeable),
        open=disputes,
        incomplete=incomplete,
        short=tuple(too_few(outcome)),
        accepted=accepted,
        scale=scale,
        grades=grades,
        notes=tuple(notes),
    )


def _accept(ws: Workspace, why: str, *, partial: bool) -> None:
    """Put on record that the pairs that no present assessor will complete count as they are.

    Raises InputError for an empty reason, where there is no such pair, and as `write` does; then nothing is on record.
    """
    if not why:
        raise InputError("--allow-single: no reason, expected why these pairs count with fewer judgements")
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        outcome = outcome_of(session, ws.settings)
        judged = {judgement.pair for judgement in outcome.judgements if judgement.counts}
        pairs = [pair for pair in outcome.short if pair in judged]
        if not pairs and not outcome.accepted:
            raise InputError(
                "--allow-single: found no pair with fewer judgements than planned that no assessor will complete",
                hint="`annot assessor leave` takes out a person who does not answer any more",
            )
        accept(session, pairs, why=why, accepted_at=datetime.now(UTC).isoformat(timespec="seconds"))
        refuse_unfinished(outcome_of(session, ws.settings), partial=partial)
