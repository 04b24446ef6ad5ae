"""Disputes to the adjudicators' projects, and their decisions back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from annot.base.errors import MissingInput
from annot.base.records import Adjudication, Advance, Asked, Source
from annot.base.templating import counted
from annot.judging.exchange.collecting import Found, Haul
from annot.judging.exchange.material import instructions_of, material_of, tasks_of
from annot.judging.exchange.parcels import Parcel
from annot.judging.exchange.recording import Pulled, Taken, pull_round, record_haul, sourced
from annot.judging.exchange.sending import Pushed, push_parcels
from annot.labelstudio.tasks import adjudicate_task
from annot.store import adjudications, people, projects
from annot.store.database import Store, open_store
from annot.store.projects import Project
from annot.study import guidelines
from annot.study.adjudication import (
    WIDE,
    Pair,
    assign_adjudicators,
    queue,
    shown_assessors,
    shown_order,
    unexplained_of,
)
from annot.study.made import note, states_of
from annot.study.outcome import Outcome, assessors_by_pair, outcome_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the pairs of one query stand."""

    query_id: str
    pairs: int
    incomplete: int
    waiting: int
    """Pairs that were returned to an assessor who has not answered yet."""
    agreed: int
    disputed: int
    settled: int
    unjudgeable: int
    """Pairs that nobody can judge: they have ended, without a grade."""
    open: int


def push(ws: Workspace, *, dry_run: bool, advance: Advance) -> Pushed:
    """Send every pair in dispute that is not there yet; pairs that agree are settled without a person."""
    states = states_of(ws)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            outcome = outcome_of(session, ws.settings)
        if not outcome.judgements:
            raise MissingInput("no judgements", hint="bring them in with `annot pull`")
        notes = []
        if outcome.incomplete:
            notes.append(f"{len(outcome.incomplete)} pair(s) have fewer judgements than planned; they wait")
        parcels = parcels_of(ws, store)
        given = {asked.pair for parcel in parcels for asked in parcel.tasks}
        if waiting := outcome.passed_on.keys() & set(outcome.open) - given:
            notes.append(
                f"{len(waiting)} pair(s) that one could not judge wait for another adjudicator, and nobody is left: "
                "`annot assessor add --adjudicator`, or set adjudication.cannot_judge"
            )
        if not outcome.settlement.disputed:
            notes.append("nothing is in dispute")
        if not parcels:
            return Pushed((), tuple(notes))
        pushed = push_parcels(ws, store, parcels, round="adjudicate", dry_run=dry_run, advance=advance)
    if not (dry_run or pushed.away):
        note(ws, "adjudicate push", states, screens=states["screens"])
    notes += pushed.notes
    notes += [
        f"{one.assessor}: {one.withdrawn} unanswered task(s) withdrawn: an assessor has changed a grade since"
        for one in pushed.projects
        if one.withdrawn
    ]
    return Pushed(pushed.projects, tuple(notes), pushed.away)


def pull(ws: Workspace, *, advance: Advance, accept_deletions: bool = False) -> Pulled:
    """Bring back every decision; a changed one is a new revision.

    Decisions that counted and that the server no longer has count on; with `accept_deletions` they are withdrawn.
    """
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            planned = assessors_by_pair(people.read_assignments(session))

        def decision(found: Found, project: Project) -> adjudications.SourcedAdjudication:
            return _sourced(ws, found, project, planned.get(found.asked.pair, ()))

        def take(haul: Haul) -> Taken:
            with store.read() as session:
                assigned = len(projects.read_tasks(session, haul.project.project))
            return record_haul(
                store, haul, decision, assigned=assigned, what="decision", accept_deletions=accept_deletions
            )

        hint = "send the disputes with `annot adjudicate push`"
        pulled = pull_round(
            ws, store, take, round="adjudicate", hint=hint, advance=advance, accept_deletions=accept_deletions
        )
        with store.read() as session:
            outcome = outcome_of(session, ws.settings)
    return replace(pulled, notes=(*pulled.notes, *_unexplained(outcome)))


def _unexplained(outcome: Outcome) -> Iterator[str]:
    """A word for the lead where an adjudicator left out what the release publishes."""
    found = unexplained_of(outcome.adjudications, outcome.standing)
    missing = [(found.without_reason, "no reason"), (found.without_cause, "no word on why they differ")]
    if told := " and ".join(f"{count} {what}" for count, what in missing if count):
        yield (
            f"of {counted(found.pairs, 'pair')} overruled, or with grades {WIDE} or more apart, {told}; an adjudicator "
            "can go back and add it"
        )


def status(ws: Workspace) -> tuple[Standing, ...]:
    """Every query's pairs by where they stand."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session, ws.settings)
    agreed, disputed = ([one.pair for one in of] for of in (outcome.settlement.agreed, outcome.settlement.disputed))
    ended = (outcome.adjudications, outcome.unjudgeable, outcome.open)
    kinds: tuple[Iterable[Pair], ...] = (outcome.incomplete, outcome.waiting, agreed, disputed, *ended)
    pairs, *counts = (Counter(query_id for query_id, _ in kind) for kind in (outcome.planned, *kinds))
    return tuple(Standing(name, pairs[name], *(count[name] for count in counts)) for name in sorted(pairs))


def parcels_of(ws: Workspace, store: Store) -> list[Parcel]:
    """What every adjudicator is to find in their project; empty when nothing is in dispute and nothing was sent.

    Whoever was sent something before is among them, with no task where all of theirs have ended: then the unanswered
    ones are withdrawn. A pair that one could not judge, and that nobody else may settle, is in none.
    """
    with store.read() as session:
        outcome = outcome_of(session, ws.settings)
        everyone = people.read_assessors(session)
        left = {person.assessor for person in everyone if person.left_on is not None}
        adjudicators = [person.assessor for person in everyone if person.adjudicator and person.assessor not in left]
        sent = [
            (project.assessor, asked.pair)
            for project in projects.read_projects(session, round="adjudicate")
            for asked in projects.read_tasks(session, project.project)
        ]
    sent_before = {person for person, _ in sent}
    # Who settled a pair keeps it; so does, of those who were sent it, the first.
    passed_on = {pair: {one.adjudicator for one in said} for pair, said in outcome.passed_on.items()}
    gone_on = {pair: {*left, *names} for pair, names in passed_on.items()}
    standing = {pair: person for person, pair in reversed(sent) if person not in gone_on.get(pair, left)}
    standing |= {pair: said[-1].adjudicator for pair, said in outcome.unjudgeable.items()}
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
        passed_on=passed_on,
    )
    disputes = tuple(one for one in disputes if one.pair in given)
    hidden = ws.settings.adjudication.ratings == "hidden"
    material = material_of(ws, store, {one.pair for one in disputes})
    screen, instructions = guidelines.screen(ws, "adjudicate"), instructions_of(ws, material, screen="adjudicate")
    parcels = []
    for person in sorted({given[one.pair] for one in disputes} | sent_before):
        mine = [one for one in queue(disputes) if given[one.pair] == person]
        # A pair that came back to an assessor after it was settled is another task: the first one keeps its answer.
        asked_of = {one.pair: Asked(*one.pair, 1 + outcome.reopened.get(one.pair, 0)) for one in mine}
        tasks = tasks_of(ws, material, list(asked_of.values()))
        opinions = {} if hidden else {asked_of[one.pair]: shown_order(one, seed=ws.settings.seed) for one in mine}
        tasks |= {
            asked: adjudicate_task(tasks[asked], said, scale_names=ws.settings.scale.names)
            for asked, said in opinions.items()
        }
        parcels.append(Parcel(person, screen, instructions, tasks, opinions=opinions))
    return parcels


def _sourced(
    ws: Workspace, one: Found, project: Project, assessors: tuple[str, ...]
) -> adjudications.SourcedAdjudication:
    reading = one.reading
    policy = ws.settings.adjudication.ratings
    shown = shown_assessors(one.asked.pair, assessors, seed=ws.settings.seed) if policy == "shown" else ()
    decided = Adjudication(
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
    )
    return sourced(decided, one, project, source=Source.LABEL_STUDIO)
