"""Drawing the plan: who judges what, in which order, before anything is sent."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from annot.errors import InputError, MissingInput
from annot.names import known_query
from annot.planning import draw_plan, plan_lines
from annot.records import Assignment, Query
from annot.store import people, projects
from annot.store.database import open_store
from annot.store.pools import documents_by_query
from annot.store.queries import read_queries
from annot.study.workspace import Workspace, sha256_of, write_file, write_manifest

PLAN_FILE = "plan.jsonl"
MANIFEST_FILE = "plan.manifest.json"


@dataclass(frozen=True, slots=True)
class Load:
    """What one assessor has to do."""

    assessor: str
    queries: int
    pairs: int
    repeats: int
    """Pairs of theirs that are asked a second time."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan: how many pairs, who has how many, and the hash to hold it by."""

    pairs: int
    assignments: int
    new: int
    sha256: str
    loads: tuple[Load, ...]


def make(ws: Workspace, *, queries: tuple[str, ...], dry_run: bool) -> Planned:
    """Draw the plan for the pools as they are; what is planned already keeps its place.

    `queries` limits what is added to these queries; without any, all queries are planned.
    """
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            known = {query.query_id: query for query in read_queries(session)}
            documents = documents_by_query(session)
            everyone = people.read_assessors(session)
            standing = people.read_assignments(session)
        wanted = _wanted(known, documents, queries, standing)
        assessors = [
            person.assessor
            for person in everyone
            if not person.adjudicator or ws.settings.adjudication.adjudicator_may_assess
        ]
        assignments = draw_plan(
            wanted,
            known,
            assessors,
            per_pair=ws.settings.judging.per_pair,
            assignment=ws.settings.judging.assignment,
            repeats=ws.settings.judging.repeats,
            seed=ws.settings.seed,
            standing=standing,
        )
        text = plan_lines(assignments)
        digest = hashlib.sha256(text.encode()).hexdigest()
        if not dry_run:
            with store.begin() as session:
                created = datetime.now(UTC).isoformat(timespec="seconds")
                people.replace_plan(session, assignments, plan=people.Plan(digest, ws.settings.seed, created))
            _write(ws, text)
    return Planned(
        pairs=len({(assignment.query_id, assignment.doc_id) for assignment in assignments}),
        assignments=len(assignments),
        new=len(assignments) - len(standing),
        sha256=digest,
        loads=_loads(assignments, assessors),
    )


def withdraw(ws: Workspace, *, dry_run: bool) -> int:
    """Take the plan back, so that another can be drawn; returns how many assignments it had.

    Raises MissingInput when nothing is planned, InputError once something of it was sent or judged: people would go on
    with tasks that nobody knows of.
    """
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        if not people.read_assignments(session):
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        sent = [
            project.assessor
            for project in projects.read_projects(session, round="judge")
            if projects.read_tasks(session, project.project)
        ]
        if sent:
            raise InputError(
                f"tasks of this plan were sent to {', '.join(sorted(set(sent)))}",
                hint="after it was sent, a plan can only grow; for another plan make a new study",
            )
        count = people.withdraw_plan(session)
        if dry_run:
            session.rollback()
            return count
    for name in (PLAN_FILE, MANIFEST_FILE):
        (ws.pools / name).unlink(missing_ok=True)
    return count


def _wanted(
    known: dict[str, Query],
    documents: dict[str, tuple[str, ...]],
    queries: tuple[str, ...],
    standing: tuple[Assignment, ...],
) -> dict[str, tuple[str, ...]]:
    """The documents to judge of each query to plan; queries that stand in the plan stay in it."""
    chosen = {known_query(known, name).query_id for name in queries} or set(known)
    chosen |= {assignment.query_id for assignment in standing}
    without_pool = sorted(name for name in chosen if name not in documents)
    if not known:
        raise MissingInput("no queries", hint="add them with `annot query add` or `annot query choose`")
    if without_pool:
        raise MissingInput(f"no pool for {', '.join(without_pool)}", hint="draw the pools with `annot pool`")
    return {name: documents[name] for name in sorted(chosen)}


def _write(ws: Workspace, text: str) -> None:
    path = ws.pools / PLAN_FILE
    write_file(path, text)
    pools = ws.pools / "manifest.json"
    inputs = {"pools/manifest.json": sha256_of(pools)} if pools.is_file() else {}
    judging = ws.settings.judging
    facts = {name: getattr(judging, name) for name in ("per_pair", "assignment", "repeats")}
    write_manifest(ws.pools / MANIFEST_FILE, files=[path], inputs=inputs, facts=facts | {"seed": ws.settings.seed})


def _loads(assignments: tuple[Assignment, ...], assessors: list[str]) -> tuple[Load, ...]:
    pairs = Counter(assignment.assessor for assignment in assignments if assignment.occasion == 1)
    repeats = Counter(assignment.assessor for assignment in assignments if assignment.occasion > 1)
    queries = Counter(name for name, _ in {(assignment.assessor, assignment.query_id) for assignment in assignments})
    return tuple(Load(name, queries[name], pairs[name], repeats[name]) for name in sorted(assessors))
