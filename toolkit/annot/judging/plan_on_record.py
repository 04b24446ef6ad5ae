"""The plan on record: in the database and as the file that is hashed, and whether it is sound."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlmodel import Session

from annot.base.errors import MissingInput
from annot.base.names import moment_now
from annot.base.records import Assignment, grouped
from annot.judging.planning.checking import PlannedTogether, faults_of, overlaps
from annot.judging.planning.drawing import plan_lines
from annot.judging.pool_samples import FrozenHashes, faults_of_sample
from annot.judging.stage import Stage
from annot.store import adjudications, people, projects, runs
from annot.store.pools import read_pools
from annot.study.adjudication import Pair
from annot.study.workspace import Workspace, read_manifest, sha256_of, write_file, write_manifest

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
    created = moment_now()
    before = people.read_plan(session)
    if before is not None and per_pair is None:
        per_pair = before.per_pair
    vacant = {*(before.vacant if before else ()), *(one.pair for one in handed_on)}
    vacant -= {*dropped, *(one.pair for one in assignments)}
    plan = people.Plan(digest, ws.settings.seed, created, per_pair, tuple(sorted(vacant)))
    people.replace_plan(session, assignments, plan=plan, handed_on=handed_on)
    return digest


def take_from_plan(
    ws: Workspace,
    session: Session,
    remaining: Collection[Assignment],
    leaving: Collection[Assignment],
    *,
    queries: Collection[str],
) -> None:
    """Make the `remaining` assignments the plan in the database; the pairs of those `leaving` are asked of nobody.

    queries: those that are taken back; without any remaining assignment, their pairs that lack an assessor go, too.
    """
    plan = people.read_plan(session)
    gone = {*queries} - {assignment.query_id for assignment in remaining}
    vacant = {pair for pair in (plan.vacant if plan else ()) if pair[0] in gone}
    if remaining:
        record_plan(ws, session, remaining, handed_on=leaving, dropped={*vacant, *(one.pair for one in leaving)})
    else:
        people.withdraw_plan(session)


def frozen_hashes(ws: Workspace) -> FrozenHashes:
    """The hashes of a sample's frozen ranks in the manifest of the plan; none if there is no manifest."""
    manifest = ws.pools / MANIFEST_FILE
    found = read_manifest(manifest, hint="write it with `annot plan`") if manifest.is_file() else {}
    hashes: FrozenHashes = found.get("frozen_ranks", {})
    return hashes


def write_plan(ws: Workspace, assignments: Iterable[Assignment], *, frozen: FrozenHashes | None = None) -> None:
    """Write the plan's file and its manifest; without assignments, remove them.

    frozen: the hashes of the ranks that a sample was drawn by; None keeps those of the manifest.
    """
    path, manifest = ws.pools / PLAN_FILE, ws.pools / MANIFEST_FILE
    assignments = tuple(assignments)
    if not assignments:
        for stale in (path, manifest):
            stale.unlink(missing_ok=True)
        return
    frozen = frozen_hashes(ws) if frozen is None else frozen
    write_file(path, plan_lines(assignments))
    drawn = ws.pools / "manifest.json"
    inputs = {"pools/manifest.json": sha256_of(drawn)} if drawn.is_file() else {}
    judging = ws.settings.judging
    facts = {name: getattr(judging, name) for name in ("per_pair", "assignment", "repeats")}
    facts |= {"seed": ws.settings.seed} | ({"frozen_ranks": frozen} if frozen else {})
    write_manifest(manifest, files=[path], inputs=inputs, facts=facts)


def adjudicators_of(session: Session) -> dict[Pair, set[str]]:
    """By pair, the adjudicators who settled it or have it as a task: a plan keeps them apart from who judges it."""
    settled = [(one.pair, one.adjudicator) for one in adjudications.read_adjudications(session) if not one.flags]
    sent = [(asked.pair, name) for name, asked in projects.read_asked(session, round="adjudicate")]
    return {pair: set(names) for pair, names in grouped([*settled, *sent]).items()}


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """What was found of the plan."""

    pairs: int
    assignments: int
    sha256: str
    overlaps: tuple[PlannedTogether, ...]
    unplanned: int
    """Pairs of the pools that are not assigned."""
    not_drawn: int
    """Pairs of the pools that the sample leaves out."""
    to_withdraw: int
    """Unanswered tasks on the server for people who no longer have the pairs."""
    faults: tuple[str, ...]


def check(ws: Workspace) -> PlanCheck:
    """Hold the plan against the pools, the people, the answers and its file. Raises MissingInput without a plan."""
    with ws.reading() as session:
        plan, recorded = people.read_assignments(session), people.read_plan(session)
        if not plan or recorded is None:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        stage = Stage(session, ws)
        settling = adjudicators_of(session)
        imported = runs.judgements_imported(session)
        drawn = read_pools(session)
    sample = stage.sample
    of_sample: tuple[str, ...] = ()
    if sample is not None:
        of_label = sample.design.faults_of_label(ws.settings.sample.cheap_label)
        of_sample = (*faults_of_sample(sample, drawn, stage.queries, hashes=frozen_hashes(ws)), *of_label)
    faults = faults_of(
        plan,
        documents=stage.documents,
        per_pair=recorded.per_pair,
        left={person.assessor for person in stage.everyone if person.left_on is not None},
        answered=stage.answered,
        settling=settling,
        may_assess=ws.settings.adjudication.adjudicator_may_assess,
        accepted=stage.outcome.accepted,
    )
    # An imported plan is what a file of judgements had; it has no file of its own.
    in_file = () if imported else _of_file(ws, recorded.sha256, plan_sha256(plan))
    planned = {one.pair for one in plan}
    return PlanCheck(
        pairs=len(planned),
        assignments=len(plan),
        sha256=recorded.sha256,
        overlaps=overlaps(plan, sorted({one.assessor for one in plan})),
        unplanned=sum(
            (query_id, doc_id) not in planned for query_id, docs in stage.documents.items() for doc_id in docs
        ),
        not_drawn=stage.not_drawn,
        to_withdraw=stage.to_withdraw,
        faults=(*faults, *of_sample, *in_file),
    )


def _of_file(ws: Workspace, recorded: str, reckoned: str) -> tuple[str, ...]:
    path = ws.pools / PLAN_FILE
    again = "write it again with `annot plan`"
    if recorded != reckoned:
        return (f"the plan in the database has the hash {reckoned[:12]}, expected {recorded[:12]}; {again}",)
    if not path.is_file():
        return (f"{path}: missing; {again}",)
    if sha256_of(path) != recorded:
        return (f"{path}: the hash is {sha256_of(path)[:12]}, expected {recorded[:12]}; {again}",)
    return ()
