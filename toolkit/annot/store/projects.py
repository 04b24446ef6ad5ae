"""The map between our pairs and the server's projects and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, select, true
from sqlmodel import Session

from annot.errors import InputError
from annot.records import Asked
from annot.store.models import ProjectRow, TaskRow, table
from annot.store.people import check_assessors_known
from annot.store.rows import Change, check_queries_known, in_chunks, insert_rows

Round = Literal["judge", "adjudicate"]


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
    check_assessors_known(session, [assessor], what="project")
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
    return _projects(session, rows.c.round == round if round is not None else true())


def record_tasks(session: Session, project: int, tasks: Mapping[Asked, int]) -> Change:
    """Note down the server's task of each thing asked; those not named keep theirs.

    Raises InputError when two would have one task.
    """
    standing = read_tasks(session, project)
    after = {**standing, **tasks}
    sharing: dict[int, list[Asked]] = {}
    for asked, remote_id in after.items():
        sharing.setdefault(remote_id, []).append(asked)
    shared = {remote_id: several for remote_id, several in sharing.items() if len(several) > 1}
    if shared:
        raise InputError(
            f"project {project}: {len(shared)} task(s) would stand for several pairs",
            faults=[
                f"task {remote_id}: {', '.join(' '.join(asked.pair) for asked in sorted(several))}"
                for remote_id, several in sorted(shared.items())
            ],
        )
    check_queries_known(session, {asked.query_id for asked in tasks}, what="tasks")
    changed = [asked for asked in tasks if asked in standing and standing[asked] != tasks[asked]]
    added = [asked for asked in tasks if asked not in standing]
    _delete(session, project, changed)
    insert_rows(
        session,
        TaskRow,
        ({"project_id": project, **asked._asdict(), "remote_id": tasks[asked]} for asked in (*changed, *added)),
    )
    return Change(len(added), len(changed), 0, len(tasks) - len(added) - len(changed))


def forget_tasks(session: Session, project: int, asked: Iterable[Asked]) -> None:
    """Forget these tasks: the server has them no more."""
    _delete(session, project, asked)


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


def _delete(session: Session, project: int, asked: Iterable[Asked]) -> None:
    rows = table(TaskRow)
    remote_ids = read_tasks(session, project)
    for chunk in in_chunks(remote_ids[one] for one in asked if one in remote_ids):
        session.connection().execute(rows.delete().where(rows.c.project_id == project, rows.c.remote_id.in_(chunk)))
