"""The map between our pairs and the server's projects and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from sqlalchemy import select
from sqlmodel import Session

from annot.errors import InputError
from annot.store.models import ProjectRow, TaskRow, table
from annot.store.people import check_assessors_known
from annot.store.rows import Change, check_queries_known, in_chunks, insert_rows

Round = Literal["judge", "adjudicate"]
Pair = tuple[str, str]
"""(query_id, doc_id)."""


class Project(NamedTuple):
    """One person's project of one round on one server; `remote_id` is None until the server is known to have it."""

    project: int
    round: Round
    assessor: str
    server: str
    remote_id: int | None


def open_project(session: Session, *, round: Round, assessor: str, server: str) -> Project:
    """The project of this person, round and server; noted down when it is new."""
    for project in read_projects(session, round=round):
        if (project.assessor, project.server) == (assessor, server):
            return project
    check_assessors_known(session, [assessor], what="project")
    row = {"round": round, "assessor": assessor, "server": server, "remote_id": None}
    insert_rows(session, ProjectRow, [row])
    return open_project(session, round=round, assessor=assessor, server=server)


def set_remote_project(session: Session, project: int, remote_id: int | None) -> None:
    """Remember the server's id of a project. Another id than before means another project: its tasks are forgotten."""
    rows = table(ProjectRow)
    before = session.connection().execute(select(rows.c.remote_id).where(rows.c.id == project)).one_or_none()
    if before is None:
        raise InputError(f"project {project}: not known")
    if before.remote_id not in (None, remote_id):
        tasks = table(TaskRow)
        session.connection().execute(tasks.delete().where(tasks.c.project_id == project))
    session.connection().execute(rows.update().where(rows.c.id == project).values(remote_id=remote_id))


def read_projects(session: Session, *, round: Round | None = None) -> tuple[Project, ...]:
    """The projects of one round or of both, by round, assessor and server."""
    rows = table(ProjectRow)
    statement = select(rows.c.id, rows.c.round, rows.c.assessor, rows.c.server, rows.c.remote_id)
    if round is not None:
        statement = statement.where(rows.c.round == round)
    found = (Project(*row) for row in session.connection().execute(statement))
    return tuple(sorted(found, key=lambda one: (one.round, one.assessor, one.server)))


def record_tasks(session: Session, project: int, tasks: Mapping[Pair, int]) -> Change:
    """Note down the server's task of each pair; pairs not named keep theirs.

    Raises InputError when two pairs would have one task.
    """
    standing = read_tasks(session, project)
    after = {**standing, **tasks}
    pairs_of: dict[int, list[Pair]] = {}
    for pair, remote_id in after.items():
        pairs_of.setdefault(remote_id, []).append(pair)
    shared = {remote_id: pairs for remote_id, pairs in pairs_of.items() if len(pairs) > 1}
    if shared:
        raise InputError(
            f"project {project}: {len(shared)} task(s) would stand for several pairs",
            faults=[
                f"task {remote_id}: {', '.join(' '.join(pair) for pair in sorted(pairs))}"
                for remote_id, pairs in sorted(shared.items())
            ],
        )
    check_queries_known(session, {query_id for query_id, _doc_id in tasks}, what="tasks")
    changed = [pair for pair in tasks if pair in standing and standing[pair] != tasks[pair]]
    added = [pair for pair in tasks if pair not in standing]
    _delete(session, project, changed)
    insert_rows(
        session,
        TaskRow,
        (
            {"project_id": project, "query_id": pair[0], "doc_id": pair[1], "remote_id": tasks[pair]}
            for pair in (*changed, *added)
        ),
    )
    return Change(len(added), len(changed), 0, len(tasks) - len(added) - len(changed))


def forget_tasks(session: Session, project: int, pairs: Iterable[Pair]) -> None:
    """Forget the tasks of these pairs: the server has them no more."""
    _delete(session, project, pairs)


def read_tasks(session: Session, project: int) -> dict[Pair, int]:
    """The server's task id of each pair of a project, by pair."""
    rows = table(TaskRow)
    statement = select(rows.c.query_id, rows.c.doc_id, rows.c.remote_id).where(rows.c.project_id == project)
    found = session.connection().execute(statement)
    return dict(sorted(((query_id, doc_id), remote_id) for query_id, doc_id, remote_id in found))


def _delete(session: Session, project: int, pairs: Iterable[Pair]) -> None:
    rows = table(TaskRow)
    remote_ids = read_tasks(session, project)
    for chunk in in_chunks(remote_ids[pair] for pair in pairs if pair in remote_ids):
        session.connection().execute(rows.delete().where(rows.c.project_id == project, rows.c.remote_id.in_(chunk)))
