"""The projects of a study on the server, taken on record again after its database was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from annot.base.records import Asked, Returned
from annot.judging.exchange.locating import marker_of
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.tasks import reason_of, split_key
from annot.store import people, projects
from annot.store.database import Store
from annot.store.projects import Round
from annot.store.queries import read_queries
from annot.store.returned import add_returned, read_returned
from annot.study.workspace import Workspace

ROUNDS: tuple[Round, ...] = ("judge", "adjudicate", "labels")


class Adopted(NamedTuple):
    """What was found on the server."""

    tasks: int
    returned: int
    """Pairs that were put before an assessor again, of which nothing was on record."""
    sealed: int
    """Tasks whose keys nothing here opens."""


def own_projects(ws: Workspace, gateway: Gateway) -> Iterator[tuple[Round, str, int]]:
    """Round, person and id of each of the study's projects that is worth having again, known by their markers."""
    for round in ROUNDS:
        begin = marker_of(ws.settings.collection.name, round, "")
        for marker, project_id in gateway.projects_by_marker(begin).items():
            yield round, marker.removeprefix(begin), project_id


def adopt_projects(ws: Workspace, store: Store, gateway: Gateway, *, now: str) -> Adopted:
    """Note down projects and tasks as they are, also of pairs that were handed on; and what was returned, with `now`.

    Plan, people and queries have to be on record.
    """
    server, version, ids = gateway.identity(), gateway.version(), gateway.user_ids()
    with store.read() as session:
        accounts = {person.assessor: person.account for person in people.read_assessors(session)}
        planned = {(one.assessor, one.asked) for one in people.read_assignments(session)}
        planned |= {(one.assessor, one.asked) for one in read_returned(session)}
        queries = {query.query_id for query in read_queries(session)}
    counted: Counter[str] = Counter()
    for round, name, project_id in own_projects(ws, gateway):
        there = gateway.project(project_id)
        asked: dict[Asked, int] = {}
        back: list[Returned] = []
        for task in gateway.tasks_of(project_id):
            if task.key is None or "/" not in task.key:
                counted["sealed"] += task.key is not None
                continue
            one = split_key(task.key)
            if one.query_id not in queries or one in asked:
                continue
            asked[one] = task.task_id
            why = reason_of(task.data)
            if why and (name, one) not in planned:
                back.append(Returned(*one.pair, name, one.occasion, why, now))
        with store.begin() as session:
            project = projects.open_project(
                session,
                round=round,
                assessor=name,
                server=server,
                url=gateway.url,
                version=version,
                account_id=ids.get((accounts.get(name) or "").lower()),
            )
            created = None if there is None else there.created
            projects.set_remote_project(session, project.project, project_id, created=created)
            projects.record_tasks(session, project.project, asked)
            for returned in back:
                add_returned(session, returned)
        counted.update(tasks=len(asked), returned=len(back))
    return Adopted(counted["tasks"], counted["returned"], counted["sealed"])
