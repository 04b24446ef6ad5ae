"""The planned tasks out to Label Studio, one project per assessor."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from annot.base.errors import MissingInput
from annot.base.records import Advance, Asked
from annot.judging.exchange.connection import Away, away_notes, on_servers
from annot.judging.exchange.handed_on import Withdrawn, withdraw_handed_on
from annot.judging.exchange.material import instructions_of, material_of, tasks_of
from annot.judging.exchange.parcels import Parcel, check_parcels
from annot.judging.exchange.sending import Pushed, Sent, push_parcels
from annot.judging.plan_on_record import record_plan, write_plan
from annot.judging.planning.handing_on import give_back
from annot.judging.trials.hidden_gold import with_hidden
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.tasks import returned_task
from annot.store import people, projects, trials
from annot.store.database import Store, open_store
from annot.store.guidelines import read_guidelines
from annot.store.hidden_gold import read_hidden
from annot.store.queries import read_queries
from annot.store.returned import read_returned
from annot.study import guidelines
from annot.study.guideline_versions import to_send
from annot.study.made import note, states_of
from annot.study.outcome import answered_of
from annot.study.workspace import Workspace


def push(ws: Workspace, *, dry_run: bool, advance: Advance, guidelines_changed: str | None = None) -> Pushed:
    """Send what is planned and not there yet, to everyone who has signed up; withdraw what was handed on.

    With `dry_run` the tasks are made and checked, and nothing is sent.
    guidelines_changed: why they are others than before; without it, changed ones stop a push.
    """
    states = states_of(ws)
    with open_store(ws.database_url, create=False) as store:
        parcels = parcels_of(ws, store)
        with store.read() as session:
            planned = {assignment.query_id for assignment in people.read_assignments(session)}
            facets = {query.facet for query in read_queries(session) if query.query_id in planned}
            untrained = _not_passed(trials.read_trials(session), {parcel.assessor for parcel in parcels})
            sent_before = {one.assessor for one in projects.read_projects(session, round="judge")}
            new = to_send(ws, facets, read_guidelines(session), why=guidelines_changed)
        late: dict[str, Collection[Asked]] = {}
        taken: list[Withdrawn] = []
        notes: list[str] = []
        away: tuple[Away, ...] = ()
        if not dry_run:
            # Before anything is withdrawn, too.
            check_parcels(ws, store, parcels, round="judge")

            def withdraw(gateway: Gateway, _names: Sequence[str]) -> None:
                done, told = withdraw_handed_on(store, gateway)
                taken.extend(done)
                notes.extend(told)

            everyone = sorted({*sent_before, *(parcel.assessor for parcel in parcels)})
            away = on_servers(ws, store, everyone, withdraw)
            late = {person.assessor: person.answered for person in taken if person.answered}
            if late:
                notes += _given_back(ws, store, late)
                parcels = parcels_of(ws, store)
            parcels = [parcel for parcel in parcels if parcel.assessor not in {one.assessor for one in away}]
        pushed = push_parcels(
            ws,
            store,
            parcels,
            round="judge",
            dry_run=dry_run,
            advance=advance,
            checked=not (dry_run or late),
            new_guidelines=new,
        )
    if not (dry_run or away or pushed.away):
        note(ws, "push", states, screens=states["screens"])
    counts = {person.assessor: person.tasks for person in taken}
    rows = [replace(row, withdrawn=row.withdrawn + counts.pop(row.assessor, 0)) for row in pushed.projects]
    gone = [person for person in taken if counts.get(person.assessor)]
    rows += [Sent(person.assessor, 0, 0, 0, person.tasks, 0, person.address) for person in gone]
    told = (*untrained, *notes, *pushed.notes, *away_notes(away))
    return Pushed(tuple(rows), told, (*away, *pushed.away))


def _given_back(ws: Workspace, store: Store, late: Mapping[str, Collection[Asked]]) -> tuple[str, ...]:
    """Let people keep what they answered after it had been handed on, where nobody else has begun with it; notes."""
    notes = []
    with store.begin() as session:
        plan, drawn = people.read_assignments(session), people.read_plan(session)
        per_pair = (drawn and drawn.per_pair) or ws.settings.judging.per_pair
        bound = answered_of(session)
        bound |= {(name, asked) for name, own in projects.read_sent(session).items() for asked in own}
        changed = plan
        for name, answered in sorted(late.items()):
            changed, returned = give_back(changed, assessor=name, answered=answered, per_pair=per_pair, bound=bound)
            if returned:
                notes.append(f"{name}: {len(returned)} pair(s) that they answered meanwhile stay with them")
            if others := len(answered) - len(returned):
                notes.append(
                    f"{name}: {others} task(s) were answered after others had begun; those of the others decide"
                )
        if changed != plan:
            record_plan(ws, session, changed)
    if changed != plan:
        write_plan(ws, changed)
    return tuple(notes)


def parcels_of(ws: Workspace, store: Store) -> list[Parcel]:
    """What every assessor of the plan is to find in their project; those who left get nothing any more.

    Raises MissingInput when nothing is planned.
    """
    with store.read() as session:
        left = {person.assessor for person in people.read_assessors(session) if person.left_on is not None}
        planned = people.read_assignments(session)
        sent = projects.was_sent(session)
        returned = [back for back in read_returned(session) if back.withdrawn_at is None and back.assessor not in left]
        hidden = {name: pairs for name, pairs in read_hidden(session).items() if name not in left}
        probed = [one.record for one in trials.read_answers(session, "hidden-gold") if one.record.counts]
        answered = answered_of(session) | {(one.assessor, one.asked) for one in probed}
    plan = [one for one in planned if one.assessor not in left]
    if not planned and not sent:
        raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
    pairs = {assignment.pair for assignment in plan}.union(*hidden.values())
    material = material_of(ws, store, pairs)
    screen = guidelines.screen(ws)
    instructions = instructions_of(ws, material, screen="judge")
    parcels = []
    for assessor in sorted({assignment.assessor for assignment in plan}):
        mine = sorted(
            (assignment for assignment in plan if assignment.assessor == assessor), key=lambda one: one.position
        )
        own = [one.asked for one in mine]
        met = {asked for name, asked in answered if name == assessor}
        sequence = with_hidden(own, hidden.get(assessor, ()), met, assessor=assessor, seed=ws.settings.seed)
        # Behind the plan, and counted apart: the places in the plan stay as they were sent.
        back = {one.asked: one.why for one in returned if one.assessor == assessor}
        tasks = tasks_of(ws, material, sequence, more=bool(back))
        tasks |= {asked: returned_task(task, back[asked]) for asked, task in tasks_of(ws, material, list(back)).items()}
        parcels.append(Parcel(assessor, screen, instructions, tasks))
    return parcels


def _not_passed(trials_on_record: Mapping[str, Mapping[str, Any]], assessors: Set[str]) -> tuple[str, ...]:
    """Who is sent pairs to judge although their training is on record without a pass: the lead decides."""
    return tuple(
        f"{name}: {facts['verdict']} in the training; see `annot train report`"
        for name in sorted(assessors)
        if (facts := trials_on_record.get(f"train/{name}")) is not None and facts["verdict"] != "passed"
    )
