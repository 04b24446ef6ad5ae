"""The final grades as TREC qrels."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from annot.errors import InputError, MissingInput
from annot.formats.trec import read_qrels, write_qrels
from annot.records import Qrel
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace, sha256_of, write_file, write_manifest

QRELS_FILE = "qrels.txt"
DECISIONS_FILE = "decisions.jsonl"
HINT = "write them with `annot qrels`"


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: pairs by query and grade, and what is still open."""

    path: Path
    pairs: int
    open: int
    incomplete: int
    scale: tuple[int, ...]
    grades: dict[str, tuple[int, ...]]
    notes: tuple[str, ...]


def write(ws: Workspace, *, partial: bool) -> Written:
    """Write `exports/qrels.txt`, and beside it each decision with its origin.

    partial: write although pairs are open or not judged by all; those stay out: unjudged is not 0.
    """
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
    refuse_unfinished(outcome, partial=partial)
    qrels = [Qrel(one.query_id, one.doc_id, one.grade) for one in outcome.decisions]
    path = ws.exports / QRELS_FILE
    write_file(path, write_qrels(qrels))
    decisions = ws.exports / DECISIONS_FILE
    write_file(decisions, "".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in outcome.decisions))
    inputs = {
        name: sha256_of(file)
        for name, file in {"pools/plan.manifest.json": ws.pools / "plan.manifest.json"}.items()
        if file.is_file()
    }
    incomplete = len(outcome.incomplete)
    facts = {"pairs": len(qrels), "open": len(outcome.open), "incomplete": incomplete}
    write_manifest(ws.exports / "qrels.manifest.json", files=[path, decisions], inputs=inputs, facts=facts)
    scale = ws.settings.scale.grades
    grades = {
        query_id: tuple(sum(one.query_id == query_id and one.relevance == grade for one in qrels) for grade in scale)
        for query_id in sorted({one.query_id for one in qrels})
    }
    notes = []
    if outcome.open or incomplete:
        notes.append(f"left out, still unjudged: {len(outcome.open)} open dispute(s), {incomplete} incomplete pair(s)")
    return Written(path, len(qrels), len(outcome.open), incomplete, scale, grades, tuple(notes))


def read(ws: Workspace) -> tuple[Qrel, ...]:
    """The qrels of the workspace.

    Raises MissingInput when they have not been written, InputError when they are not of this study's queries.
    """
    path = ws.exports / QRELS_FILE
    if not path.is_file():
        raise MissingInput(f"{path}: no qrels yet", hint=HINT)
    with path.open(encoding="utf-8") as lines:
        qrels = read_qrels(lines, name=str(path))
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        known = {query.query_id for query in read_queries(session)}
    strangers = sorted({one.query_id for one in qrels} - known)
    if strangers:
        raise InputError(
            f"{path}: {len(strangers)} of its queries are not in this study",
            faults=[f"query {name!r}: not in this study" for name in strangers],
            hint=HINT,
        )
    return qrels


def refuse_unfinished(outcome: Outcome, *, partial: bool) -> None:
    """Raise InputError naming every pair without a final grade, unless `partial`; MissingInput where none has one."""
    if not outcome.judgements:
        raise MissingInput("no judgements", hint="bring them in with `annot pull` or `annot import judgements`")
    if not outcome.decisions:
        raise MissingInput("nothing is settled yet", hint="see `annot adjudicate status`")
    if partial or not (outcome.open or outcome.incomplete):
        return
    faults = [f"{' '.join(pair)}: in dispute, not adjudicated" for pair in outcome.open]
    faults += [f"{' '.join(pair)}: not judged by all its assessors" for pair in outcome.incomplete]
    raise InputError(
        f"{len(faults)} pair(s) have no final grade",
        faults=faults,
        hint="finish with `annot pull` and `annot adjudicate` (judgements of another tool: import the adjudicator's, "
        "with --adjudicator), or take what is settled with --partial",
    )
