"""Disputes to the adjudicators' projects, and their decisions back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from annot.adjudication import assign_adjudicators, queue, shown_assessors, shown_order
from annot.errors import MissingInput
from annot.exchange.collecting import Collected, Found, Pulled, collect
from annot.exchange.connection import connect
from annot.exchange.material import instructions_of, material_of, tasks_of
from annot.exchange.sending import Advance, Parcel, Pushed, push_parcels
from annot.labelstudio.screens import adjudicate_screen
from annot.labelstudio.tasks import adjudicate_task
from annot.records import Adjudication, Asked, Source
from annot.store import adjudications, people, projects
from annot.store.database import Store, open_store
from annot.store.projects import Project
from annot.study.outcome import assessors_by_pair, outcome_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the pairs of one query stand."""

    query_id: str
    pairs: int
    incomplete: int
    agreed: int
    disputed: int
    settled: int


def push(ws: Workspace, *, url: str | None, api_key: str | None, dry_run: bool, advance: Advance) -> Pushed:
    """Send every pair in dispute that is not there yet; pairs that agree are settled without a person."""
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            outcome = outcome_of(session)
        if not outcome.judgements:
            raise MissingInput("no judgements", hint="bring them in with `annot pull`")
        notes = []
        if outcome.incomplete:
            notes.append(f"{len(outcome.incomplete)} pair(s) are not judged by all their assessors yet; they wait")
        parcels = parcels_of(ws, store)
        if not outcome.settlement.disputed:
            notes.append("nothing is in dispute")
        if not parcels:
            return Pushed((), tuple(notes))
        sent = push_parcels(
            ws, store, parcels, round="adjudicate", url=url, api_key=api_key, dry_run=dry_run, advance=advance
        )
    notes += [
        f"{one.assessor}: {one.withdrawn} unanswered task(s) withdrawn: an assessor has changed a grade since"
        for one in sent
        if one.withdrawn
    ]
    return Pushed(sent, tuple(notes))


def pull(ws: Workspace, *, url: str | None, api_key: str | None, advance: Advance) -> Pulled:
    """Bring back every decision; a changed one is a new revision."""
    rows: list[Collected] = []
    notes: list[str] = []
    with open_store(ws.database_url, create=False) as store, connect(ws, url=url, api_key=api_key) as gateway:
        with store.read() as session:
            planned = assessors_by_pair(people.read_assignments(session))
        hauls = collect(
            store,
            gateway,
            round="adjudicate",
            grades=ws.settings.scale.grades,
            hint="send the disputes with `annot adjudicate push`",
            advance=advance,
        )
        for haul in hauls:
            person = haul.project.assessor
            recorded_at = datetime.now(UTC).isoformat(timespec="seconds")
            with store.begin() as session:
                recorded = adjudications.record_adjudications(
                    session,
                    [_sourced(ws, one, haul.project, planned.get(one.asked.pair, ())) for one in haul.found],
                    recorded_at=recorded_at,
                )
                vanished = adjudications.record_vanished(
                    session,
                    source=Source.LABEL_STUDIO,
                    server=haul.project.server,
                    person=person,
                    seen=haul.seen,
                    recorded_at=recorded_at,
                )
                assigned = len(projects.read_tasks(session, haul.project.project))
            settled = {one.asked.pair for one in haul.found if not one.reading.flags and one.reading.grade is not None}
            rows.append(haul.collected(assigned=assigned, judged=len(settled), recorded=recorded, vanished=vanished))
            notes += [*haul.notes, *haul.flagged("decision")]
    return Pulled(tuple(rows), tuple(notes))


def status(ws: Workspace) -> tuple[Standing, ...]:
    """Every query's pairs by where they stand."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
    pairs = Counter(query_id for query_id, _ in outcome.planned)
    incomplete = Counter(query_id for query_id, _ in outcome.incomplete)
    agreed = Counter(decision.query_id for decision in outcome.settlement.agreed)
    disputed = Counter(dispute.query_id for dispute in outcome.settlement.disputed)
    settled = Counter(query_id for query_id, _ in outcome.adjudications)
    return tuple(
        Standing(name, pairs[name], incomplete[name], agreed[name], disputed[name], settled[name])
        for name in sorted(pairs)
    )


def parcels_of(ws: Workspace, store: Store) -> list[Parcel]:
    """What every adjudicator is to find in their project; empty when nothing is in dispute and nothing was sent.

    Whoever was sent something before is among them, with no task where all of theirs have ended: then the unanswered
    ones are withdrawn.
    """
    with store.read() as session:
        outcome = outcome_of(session)
        adjudicators = [assessor.assessor for assessor in people.read_assessors(session) if assessor.adjudicator]
        sent = [
            (project.assessor, asked.pair)
            for project in projects.read_projects(session, round="adjudicate")
            for asked in projects.read_tasks(session, project.project)
        ]
    sent_before = {person for person, _ in sent}
    # Who settled a pair keeps it; so does, of those who were sent it, the first.
    standing = {pair: person for person, pair in reversed(sent)}
    standing |= {pair: one.adjudicator for pair, one in outcome.adjudications.items()}
    disputes = outcome.settlement.disputed
    if not disputes and not sent_before:
        return []
    given = assign_adjudicators(
        disputes,
        adjudicators,
        may_assess=ws.settings.adjudication.adjudicator_may_assess,
        seed=ws.settings.seed,
        standing=standing,
    )
    hidden = ws.settings.adjudication.ratings == "hidden"
    opinions = 0 if hidden else ws.settings.judging.per_pair
    names = ws.settings.scale.names
    screen = adjudicate_screen(
        scale_names=names,
        labels=ws.settings.labels.names,
        language=ws.settings.collection.language,
        opinions=opinions,
        overrides=ws.root / "templates",
    )
    material = material_of(ws, store, {(one.query_id, one.doc_id) for one in disputes})
    instructions = instructions_of(ws, material, adjudication=True)
    parcels = []
    for person in sorted({given[one.query_id, one.doc_id] for one in disputes} | sent_before):
        mine = [one for one in queue(disputes) if given[one.query_id, one.doc_id] == person]
        tasks = tasks_of(ws, material, [Asked(one.query_id, one.doc_id) for one in mine])
        if not hidden:
            tasks = {
                asked: adjudicate_task(task, shown_order(dispute, seed=ws.settings.seed), scale_names=names)
                for dispute, (asked, task) in zip(mine, tasks.items(), strict=True)
            }
        parcels.append(Parcel(person, screen, instructions, tasks))
    return parcels


def _sourced(
    ws: Workspace, one: Found, project: Project, assessors: tuple[str, ...]
) -> adjudications.SourcedAdjudication:
    reading = one.reading
    policy = ws.settings.adjudication.ratings
    shown = shown_assessors(one.asked.pair, assessors, seed=ws.settings.seed) if policy == "shown" else ()
    return adjudications.SourcedAdjudication(
        Adjudication(
            *one.asked.pair,
            project.assessor,
            reading.grade,
            policy,
            shown,
            cannot_judge=reading.cannot_judge,
            reason=reading.settled_by,
            comment=reading.comment,
            judged_at=reading.created_at,
            lead_time=reading.lead_time,
            flags=reading.flags,
        ),
        Source.LABEL_STUDIO,
        one.annotation,
        reading.payload,
        server=project.server,
    )
