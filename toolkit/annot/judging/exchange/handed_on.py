"""What stands on the server for a person who has it no more: unanswered tasks go, answered ones stay."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from annot.base.errors import StudioError
from annot.base.records import Asked
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.tasks import pair_key
from annot.store import people, pools, projects
from annot.store.database import Store
from annot.store.judgements import read_returned
from annot.store.projects import Project, read_hidden

REPEATED = (1, 2)
"""The occasions on which a pair is asked."""


class Withdrawn(NamedTuple):
    """One person's project after the withdrawal."""

    assessor: str
    tasks: int
    """Unanswered tasks that are gone."""
    answered: frozenset[Asked]
    """What was answered after it had been handed on; it stays there."""
    address: str
    """The link to the project."""


def withdraw_handed_on(store: Store, gateway: Gateway) -> tuple[tuple[Withdrawn, ...], tuple[str, ...]]:
    """Delete, in every judging project on this server, the unanswered tasks that are not in its owner's plan any more.

    Returns what was done where there was something to do, and notes: a project of somebody who left that cannot be read
    any more stands in nobody's way.
    """
    server = gateway.identity()
    with store.read() as session:
        every = projects.read_projects(session, round="judge")
        here = [project for project in every if project.server == server and project.remote_id is not None]
        plan = people.read_assignments(session)
        back = [returned for returned in read_returned(session) if returned.withdrawn_at is None]
        left = {person.assessor for person in people.read_assessors(session) if person.left_on is not None}
        recorded = {project.project: projects.read_tasks(session, project.project) for project in here}
        hidden = read_hidden(session)
        pooled = pools.documents_by_query(session)
    # A push that was killed may have sent what it did not note down: whatever the pools hold can be ours.
    possible = {Asked(query_id, doc_id, at) for query_id in pooled for doc_id in pooled[query_id] for at in REPEATED}
    withdrawn, notes = [], []
    for project in here:
        own = {planned.asked for planned in plan if planned.assessor == project.assessor}
        own |= {returned.asked for returned in back if returned.assessor == project.assessor}
        gold = {Asked(*pair) for pair in hidden.get(project.assessor, ())}
        own |= gold if project.assessor not in left else set()
        tasks = recorded[project.project]
        if not (tasks.keys() - own) and project.assessor not in left:
            continue
        try:
            done = _withdraw(store, gateway, project, own, {*possible, *tasks})
            # Hidden gold is nobody's pair: an answer to it stays where it is, and gives nothing back.
            withdrawn.append(done._replace(answered=done.answered - gold))
        except StudioError as error:
            if project.assessor not in left:
                raise
            notes.append(f"{project.assessor}: what they have not answered could not be withdrawn: {error.message}")
    return tuple(withdrawn), tuple(notes)


def unpulled(gateway: Gateway, project: Project, tasks: dict[Asked, int], recorded: Collection[Asked]) -> list[Asked]:
    """What the person has answered on the server, while nothing of it is recorded."""
    assert project.remote_id is not None
    asked_by_key = {pair_key(*asked): asked for asked in tasks}
    answered = [
        asked_by_key[task.key]
        for task in gateway.tasks_of(project.remote_id)
        if task.annotations and task.key is not None and task.key in asked_by_key
    ]
    return [asked for asked in answered if asked not in recorded]


def _withdraw(store: Store, gateway: Gateway, project: Project, own: set[Asked], possible: set[Asked]) -> Withdrawn:
    assert project.remote_id is not None
    handed_on = {pair_key(*asked): asked for asked in possible if asked not in own}
    stale = [task for task in gateway.tasks_of(project.remote_id) if task.key in handed_on]
    gateway.delete_unanswered(project.remote_id, [task.task_id for task in stale if not task.annotations])
    there = gateway.tasks_of(project.remote_id) if stale else ()
    answered = {task.key for task in there if task.key in handed_on}
    with store.begin() as session:
        # All that are not there, not only these: a kill may have come between deleting and forgetting.
        gone = [asked for key, asked in handed_on.items() if key not in answered]
        projects.forget_tasks(session, project.project, gone)
    kept = frozenset(asked for key, asked in handed_on.items() if key in answered)
    address = gateway.labelling_url(project.remote_id)
    return Withdrawn(project.assessor, len(stale) - len(answered), kept, address)
