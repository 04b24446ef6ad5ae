"""The plan on record: in the database, and as the file that is hashed and can be read before a push."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from datetime import UTC, datetime

from sqlmodel import Session

from annot.base.records import Assignment
from annot.judging.planning.drawing import plan_lines
from annot.store import people
from annot.study.workspace import Workspace, sha256_of, write_file, write_manifest

PLAN_FILE = "plan.jsonl"
MANIFEST_FILE = "plan.manifest.json"


def plan_sha256(assignments: Iterable[Assignment]) -> str:
    """The hash by which a plan is known: that of its file."""
    return hashlib.sha256(plan_lines(assignments).encode()).hexdigest()


def record_plan(
    ws: Workspace,
    session: Session,
    assignments: Iterable[Assignment],
    *,
    handed_on: Iterable[Assignment] = (),
    dropped: Collection[tuple[str, str]] = (),
    per_pair: int | None = None,
) -> str:
    """Make these assignments the plan in the database; its hash.

    handed_on: as `people.replace_plan` has it; of these, the pairs that nobody has now are still to be judged, but for
    those `dropped`. per_pair: how many judgements a pair is to have; None takes what is on record.
    """
    assignments, handed_on = tuple(assignments), tuple(handed_on)
    digest = plan_sha256(assignments)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    before = people.read_plan(session)
    if before is not None and per_pair is None:
        per_pair = before.per_pair
    vacant = {*(before.vacant if before else ()), *(one.pair for one in handed_on)}
    vacant -= {*dropped, *(one.pair for one in assignments)}
    plan = people.Plan(digest, ws.settings.seed, created, per_pair, tuple(sorted(vacant)))
    people.replace_plan(session, assignments, plan=plan, handed_on=handed_on)
    return digest


def write_plan(ws: Workspace, assignments: Iterable[Assignment]) -> None:
    """Write the plan's file and its manifest; without assignments, remove them."""
    path, manifest = ws.pools / PLAN_FILE, ws.pools / MANIFEST_FILE
    assignments = tuple(assignments)
    if not assignments:
        for stale in (path, manifest):
            stale.unlink(missing_ok=True)
        return
    write_file(path, plan_lines(assignments))
    pools = ws.pools / "manifest.json"
    inputs = {"pools/manifest.json": sha256_of(pools)} if pools.is_file() else {}
    judging = ws.settings.judging
    facts = {name: getattr(judging, name) for name in ("per_pair", "assignment", "repeats")}
    write_manifest(manifest, files=[path], inputs=inputs, facts=facts | {"seed": ws.settings.seed})
