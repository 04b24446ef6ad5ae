"""The map between our pairs and the server's projects and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, select, true
from sqlmodel import Session

from annot.errors import InputError
from annot.records import Asked
from annot.store.models import AssessorRow, ProjectRow, QueryRow, TaskRow, table
from annot.store.rows import check_known, in_chunks, insert_rows

Round = Literal["judge", "adjudicate", "train", "train-feedback", "substudy-abstract", "substudy-full", "hidden-gold"]
"""What a project is for. The answers of the first two make the collection; those of the others never count there.

Hidden gold has no project: its pairs stand in those of the round `judge`.
"""


class Project(NamedTuple):
    """One person's project of one round on one server; `remote_id` is None until the server is known to have it."""

    project: int
    round: Round
    assessor: str
    server: str
    """What tells the server from others, whatever its address."""
    url: str
    """The address at which it was met the last time."""
    version: str
    """The release of Label Studio that it was then."""
    account_id: int | None
    """The server's id of the person's account; None after the account was changed."""
    remote_id: int | None


def open_project(
    session: Session, *, round: Round, assessor: str, server: str, url: str, version: str, account_id: int | None
) -> Project:
    """The project of this person, round and server; noted down when it is new, with what was met there."""
    check_known(session, AssessorRow, [assessor], what="project")
    rows = table(ProjectRow)
    mine = (rows.c.round == round) & (rows.c.assessor == assessor) & (rows.c.server == server)
    met = {"url": url, "version": version, "account_id": account_id}
    if session.connection().execute(rows.update().where(mine).values(**met)).rowcount == 0:
        row = {"round": round, "assessor": assessor, "server": server, **met, "remote_id": None}
        insert_rows(session, ProjectRow, [row])
    (project,) = _projects(session, mine)
    return project


def set_remote_project(session: Session, project: int, remote_id: int | None) -> None:
    """Remember the server's id of a project. Another id than before means another project: its tasks are forgotten."""
    rows, tasks, connection = table(ProjectRow), table(TaskRow), session.connection()
    before = connection.execute(select(rows.c.remote_id).where(rows.c.id == project)).scalar_one()
    if before not in (None, remote_id):
        connection.execute(tasks.delete().where(tasks.c.project_id == project))
    connection.execute(rows.update().where(rows.c.id == project).values(remote_id=remote_id))


def read_projects(session: Session, *, round: Round | None = None) -> tuple[Project, ...]:
    """The projects of one round or of all, by round, assessor and server."""
    return _projects(session, true() if round is None else table(ProjectRow).c.round == round)


def record_tasks(session: Session, project: int, tasks: Mapping[Asked, int]) -> None:
    """Note down the server's task of each thing asked; those not named keep theirs.

    Raises InputError when two would have one task.
    """
    sharing: dict[int, list[Asked]] = {}
    for asked, remote_id in (read_tasks(session, project) | dict(tasks)).items():
        sharing.setdefault(remote_id, []).append(asked)
    shared = {remote_id: several for remote_id, several in sorted(sharing.items()) if len(several) > 1}
    if shared:
        raise InputError(
            f"project {project}: {len(shared)} task(s) would stand for several pairs",
            faults=[
                f"task {remote_id}: {', '.join(' '.join(asked.pair) for asked in sorted(several))}"
                for remote_id, several in shared.items()
            ],
        )
    check_known(session, QueryRow, {asked.query_id for asked in tasks}, what="tasks")
    forget_tasks(session, project, tasks)
    rows = ({"project_id": project, **asked._asdict(), "remote_id": remote_id} for asked, remote_id in tasks.items())
    insert_rows(session, TaskRow, rows)


def forget_tasks(session: Session, project: int, asked: Iterable[Asked]) -> None:
    """Forget these tasks: the server has them no more."""
    rows = table(TaskRow)
    remote_ids = read_tasks(session, project)
    for chunk in in_chunks(remote_ids[one] for one in asked if one in remote_ids):
        session.connection().execute(rows.delete().where(rows.c.project_id == project, rows.c.remote_id.in_(chunk)))


def read_tasks(session: Session, project: int) -> dict[Asked, int]:
    """The server's task id of each thing asked in a project, by pair and occasion."""
    rows = table(TaskRow)
    columns = rows.c.query_id, rows.c.doc_id, rows.c.occasion, rows.c.remote_id
    found = session.connection().execute(select(*columns).where(rows.c.project_id == project))
    return dict(sorted((Asked(*row[:3]), row[3]) for row in found))


def _projects(session: Session, wanted: ColumnElement[bool]) -> tuple[Project, ...]:
    rows = table(ProjectRow)
    columns = (rows.c[name] for name in ("id", *Project._fields[1:]))
    found = (Project(*row) for row in session.connection().execute(select(*columns).where(wanted)))
    return tuple(sorted(found, key=lambda one: (one.round, one.assessor, one.server)))
