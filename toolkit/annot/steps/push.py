"""The planned tasks out to Label Studio, one project per assessor."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from annot.errors import MissingInput
from annot.exchange.material import instructions_of, material_of, tasks_of
from annot.exchange.sending import Advance, Parcel, Pushed, push_parcels
from annot.store import people, trials
from annot.store.database import Store, open_store
from annot.study import guidelines
from annot.study.workspace import Workspace
from annot.trials.hidden_gold import with_hidden


def push(ws: Workspace, *, url: str | None, api_key: str | None, dry_run: bool, advance: Advance) -> Pushed:
    """Send what is planned and not there yet. With `dry_run` the tasks are made and checked, and nothing is sent."""
    with open_store(ws.database_url, create=False) as store:
        parcels = parcels_of(ws, store)
        with store.read() as session:
            notes = _not_passed(trials.read_trials(session), {parcel.assessor for parcel in parcels})
        sent = push_parcels(
            ws, store, parcels, round="judge", url=url, api_key=api_key, dry_run=dry_run, advance=advance
        )
    return Pushed(sent, notes)


def parcels_of(ws: Workspace, store: Store) -> list[Parcel]:
    """What every assessor of the plan is to find in their project. Raises MissingInput when nothing is planned."""
    with store.read() as session:
        plan = people.read_assignments(session)
        hidden = {name: trials.hidden_gold(session, name) for name in {one.assessor for one in plan}}
    if not plan:
        raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
    pairs = {(assignment.query_id, assignment.doc_id) for assignment in plan}.union(*hidden.values())
    material = material_of(ws, store, pairs)
    screen = guidelines.screen(ws)
    instructions = instructions_of(ws, material, adjudication=False)
    parcels = []
    for assessor in sorted({assignment.assessor for assignment in plan}):
        mine = sorted(
            (assignment for assignment in plan if assignment.assessor == assessor), key=lambda one: one.position
        )
        own = [one.asked for one in mine]
        sequence = with_hidden(own, hidden[assessor], assessor=assessor, seed=ws.settings.seed)
        tasks = tasks_of(ws, material, sequence)
        parcels.append(Parcel(assessor, screen, instructions, tasks))
    return parcels


def _not_passed(trials_on_record: Mapping[str, Mapping[str, Any]], assessors: Set[str]) -> tuple[str, ...]:
    """Who is sent pairs to judge although their training is on record without a pass: the lead decides."""
    return tuple(
        f"{name}: {facts['verdict']} in the training; see `annot train report`"
        for name in sorted(assessors)
        if (facts := trials_on_record.get(f"train/{name}")) is not None and facts["verdict"] != "passed"
    )
