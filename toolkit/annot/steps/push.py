"""The planned tasks out to Label Studio, one project per assessor."""

from __future__ import annotations

from annot.errors import MissingInput
from annot.exchange.material import instructions_of, material_of, tasks_of
from annot.exchange.sending import Advance, Parcel, Pushed, push_parcels
from annot.store import people, projects
from annot.store.database import Store, open_store
from annot.study import guidelines
from annot.study.workspace import Workspace


def push(ws: Workspace, *, url: str | None, api_key: str | None, dry_run: bool, advance: Advance) -> Pushed:
    """Send what is planned and not there yet, to everyone who has signed up; withdraw what was handed on.

    With `dry_run` the tasks are made and checked, and nothing is sent.
    """
    with open_store(ws.database_url, create=False) as store:
        parcels = parcels_of(ws, store)
        return push_parcels(
            ws, store, parcels, round="judge", url=url, api_key=api_key, dry_run=dry_run, advance=advance
        )


def parcels_of(ws: Workspace, store: Store) -> list[Parcel]:
    """What every assessor of the plan is to find in their project; those who left get nothing any more.

    Raises MissingInput when nothing is planned.
    """
    with store.read() as session:
        left = {person.assessor for person in people.read_assessors(session) if person.left_on is not None}
        planned = people.read_assignments(session)
        sent = projects.was_sent(session)
    plan = [one for one in planned if one.assessor not in left]
    if not planned and not sent:
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
