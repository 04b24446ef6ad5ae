"""Proving that the plan on record is sound, whoever came and left."""

from __future__ import annotations

from dataclasses import dataclass

from annot.base.errors import MissingInput
from annot.judging.plan_file import PLAN_FILE, plan_sha256
from annot.judging.planning.checking import Overlap, faults_of, overlaps
from annot.judging.settling import settling_of
from annot.store import people, pools, projects, runs
from annot.store.database import open_store
from annot.study.outcome import answered_of
from annot.study.workspace import Workspace, sha256_of


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """What was found of the plan."""

    pairs: int
    assignments: int
    sha256: str
    overlaps: tuple[Overlap, ...]
    unplanned: int
    """Pairs of the pools that nobody has."""
    to_withdraw: int
    """Unanswered tasks on the server for people who do not have the pairs any more."""
    faults: tuple[str, ...]


def check(ws: Workspace) -> PlanCheck:
    """Hold the plan against the pools, the people, the answers and its file. Raises MissingInput without a plan."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        plan, recorded = people.read_assignments(session), people.read_plan(session)
        if not plan or recorded is None:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        documents = pools.documents_by_query(session)
        everyone = people.read_assessors(session)
        answered = answered_of(session)
        settling = settling_of(session)
        sent = projects.read_sent(session)
        imported = runs.judgements_imported(session)
    faults = faults_of(
        plan,
        documents=documents,
        per_pair=recorded.per_pair,
        left={person.assessor for person in everyone if person.left_on is not None},
        answered=answered,
        settling=settling,
        may_assess=ws.settings.adjudication.adjudicator_may_assess,
    )
    # An imported plan is what a file of judgements had; it has no file of its own.
    in_file = () if imported else _of_file(ws, recorded.sha256, plan_sha256(plan))
    planned = {one.pair for one in plan}
    have = {(one.assessor, one.asked) for one in plan}
    return PlanCheck(
        pairs=len(planned),
        assignments=len(plan),
        sha256=recorded.sha256,
        overlaps=overlaps(plan, sorted({one.assessor for one in plan})),
        unplanned=sum((query_id, doc_id) not in planned for query_id in documents for doc_id in documents[query_id]),
        to_withdraw=sum(
            (name, asked) not in have and (name, asked) not in answered for name, own in sent.items() for asked in own
        ),
        faults=(*faults, *in_file),
    )


def _of_file(ws: Workspace, recorded: str, reckoned: str) -> tuple[str, ...]:
    path = ws.pools / PLAN_FILE
    again = "`annot plan` writes it again"
    if recorded != reckoned:
        return (f"the plan in the database has the hash {reckoned[:12]}, expected {recorded[:12]}; {again}",)
    if not path.is_file():
        return (f"{path}: not there; {again}",)
    if sha256_of(path) != recorded:
        return (f"{path}: the hash is {sha256_of(path)[:12]}, expected {recorded[:12]}; {again}",)
    return ()
