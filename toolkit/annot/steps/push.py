"""The planned tasks out to Label Studio, one project per assessor."""

from __future__ import annotations

from annot.errors import MissingInput
from annot.exchange.material import instructions_of, material_of, tasks_of
from annot.exchange.sending import Advance, Parcel, Pushed, push_parcels
from annot.store import people
from annot.store.database import Store, open_store
from annot.store.guidelines import read_guidelines, record_guidelines
from annot.store.queries import read_queries
from annot.study import guidelines
from annot.study.guideline_versions import to_send
from annot.study.workspace import Workspace


def push(
    ws: Workspace,
    *,
    url: str | None,
    api_key: str | None,
    dry_run: bool,
    advance: Advance,
    guidelines_changed: str | None = None,
) -> Pushed:
    """Send what is planned and not there yet. With `dry_run` the tasks are made and checked, and nothing is sent.

    guidelines_changed: why they are others than before; without it, changed ones stop a push.
    """
    with open_store(ws.database_url, create=False) as store:
        parcels = parcels_of(ws, store)
        with store.read() as session:
            planned = {assignment.query_id for assignment in people.read_assignments(session)}
            facets = {query.facet for query in read_queries(session) if query.query_id in planned}
            new = to_send(ws, facets, read_guidelines(session), why=guidelines_changed)
        pushed = push_parcels(
            ws, store, parcels, round="judge", url=url, api_key=api_key, dry_run=dry_run, advance=advance
        )
        if new and not dry_run:
            with store.begin() as session:
                record_guidelines(session, new)
        return pushed


def parcels_of(ws: Workspace, store: Store) -> list[Parcel]:
    """What every assessor of the plan is to find in their project. Raises MissingInput when nothing is planned."""
    with store.read() as session:
        plan = people.read_assignments(session)
    if not plan:
        raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
    material = material_of(ws, store, {(assignment.query_id, assignment.doc_id) for assignment in plan})
    screen = guidelines.screen(ws)
    instructions = instructions_of(ws, material, adjudication=False)
    parcels = []
    for assessor in sorted({assignment.assessor for assignment in plan}):
        mine = sorted(
            (assignment for assignment in plan if assignment.assessor == assessor), key=lambda one: one.position
        )
        tasks = tasks_of(ws, material, [one.asked for one in mine])
        parcels.append(Parcel(assessor, screen, instructions, tasks))
    return parcels
