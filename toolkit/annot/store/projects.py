"""The map between our pairs and the server's projects and tasks, and the secret that seals their keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, select, true

from annot.base.records import PairKey, grouped
from annot.store import models
from annot.store.models import Project, Session, StoredRound


def read_hidden(session: Session) -> dict[str, tuple[tuple[str, str], ...]]:
    """Pairs hidden among each assessor's own, as (query_id, doc_id); a pair that the plan gave them later is not
    hidden.

    In the order in which they were hidden. Assessors without any are left out.
    """
    rows, plan, connection = models.TRIAL_ASSIGNMENT_TABLE, models.ASSIGNMENT_TABLE, session.connection()
    statement = select(rows.c.assessor, rows.c.query_id, rows.c.doc_id).where(rows.c.round == "hidden-gold")
    hidden = connection.execute(statement.order_by(rows.c.assessor, rows.c.position)).all()
    if not hidden:
        return {}
    planned = {tuple(row) for row in connection.execute(select(plan.c.assessor, plan.c.query_id, plan.c.doc_id))}
    pairs_of = grouped(
        (assessor, (query_id, doc_id))
        for assessor, query_id, doc_id in hidden
        if (assessor, query_id, doc_id) not in planned
    )
    return {assessor: tuple(pairs) for assessor, pairs in pairs_of.items()}


def open_project(
    session: Session,
    *,
    round: StoredRound,
    assessor: str,
    server: str,
    url: str,
    version: str,
    account_id: int | None,
    now: str | None = None,
    language: str | None = None,
) -> Project:
    """Project of this person, round and server; recorded with `now` when it is new, and with the server's current
    facts."""
    models.check_known(session, models.ASSESSOR_TABLE, [assessor], what="project")
    rows = models.PROJECT_TABLE
    of_person = (rows.c.round == round) & (rows.c.assessor == assessor) & (rows.c.server == server)
    server_facts = {"url": url, "version": version, "account_id": account_id, "language": language}
    if session.connection().execute(rows.update().where(of_person).values(**server_facts)).rowcount == 0:
        row: dict[str, Any] = {"round": round, "assessor": assessor, "server": server, **server_facts}
        row |= {"remote_id": None, "created": None, "sent_on": now, "shows": None, "set_back": ()}
        models.insert_rows(session, models.PROJECT_TABLE, [row])
    (project,) = _projects(session, of_person)
    return project


def set_remote_project(session: Session, project: int, remote_id: int | None, *, created: str | None = None) -> None:
    """Remember the server's id of a project, and when the server made it.

    Another id than before, or the same id made at another time, means another project: its tasks are forgotten. So is
    a project that had the id before: a server that was restored gives an id again.
    """
    rows, tasks, connection = models.PROJECT_TABLE, models.TASK_TABLE, session.connection()
    of_project = select(rows.c.server, rows.c.remote_id, rows.c.created).where(rows.c.id == project)
    server, *recorded = connection.execute(of_project).one()
    is_same = recorded[0] in (None, remote_id) and (recorded[1] is None or created is None or recorded[1] == created)
    sharing = select(rows.c.id).where(rows.c.server == server, rows.c.remote_id == remote_id, rows.c.id != project)
    displaced = list(connection.execute(sharing).scalars()) if remote_id is not None else []
    connection.execute(tasks.delete().where(tasks.c.project_id.in_([*displaced, *([] if is_same else [project])])))
    connection.execute(rows.update().where(rows.c.id.in_(displaced)).values(remote_id=None, created=None))
    values = {"remote_id": remote_id, "created": created or (recorded[1] if is_same else None)}
    models.change_where(session, rows, values, id=project)


def note_shows(
    session: Session, project: int, shows: Mapping[str, Any], *, changed: Mapping[str, Any], now: str
) -> None:
    """Record the content of the project after a push, and the parts that the push found `changed` by hand."""
    rows = models.PROJECT_TABLE
    (project_before,) = _projects(session, rows.c.id == project)
    set_back = (*project_before.set_back, *([(now, dict(changed))] if changed else []))
    models.change_where(session, rows, {"shows": dict(shows), "set_back": set_back}, id=project)


def read_projects(session: Session, *, round: StoredRound | None = None) -> tuple[Project, ...]:
    """The projects of one round or of all, by round, assessor and server."""
    return _projects(session, true() if round is None else models.PROJECT_TABLE.c.round == round)


def sent_projects(session: Session, *, round: StoredRound | None = None) -> tuple[Project, ...]:
    """The projects that a server is known to have, as `read_projects` gives them."""
    return tuple(project for project in read_projects(session, round=round) if project.remote_id is not None)


def record_tasks(session: Session, project: int, tasks: Mapping[PairKey, int]) -> None:
    """Record the server's task of each pair; other pairs keep theirs. The database refuses two pairs with one task."""
    recorded = read_tasks(session, project)
    models.check_known(session, models.QUERY_TABLE, {key.query_id for key in tasks}, what="tasks")
    new = {key: remote_id for key, remote_id in tasks.items() if recorded.get(key) != remote_id}
    forget_tasks(session, project, new)
    rows = ({"project_id": project, **key._asdict(), "remote_id": new[key], "shown": ()} for key in new)
    models.insert_rows(session, models.TASK_TABLE, rows)


def renew_tasks(session: Session, project: int, pair_keys: Iterable[PairKey], tasks: Mapping[PairKey, int]) -> None:
    """Record the server's tasks of the pairs `pair_keys`: those in `tasks`, and none of the others.

    A recorded task whose number the server has given to another is forgotten.
    """
    old = {key: remote_id for key, remote_id in read_tasks(session, project).items() if tasks.get(key) != remote_id}
    used_ids, all_keys = set(tasks.values()), set(pair_keys)
    forget_tasks(session, project, [key for key, remote_id in old.items() if remote_id in used_ids or key in all_keys])
    record_tasks(session, project, tasks)


def forget_tasks(session: Session, project: int, pair_keys: Iterable[PairKey]) -> None:
    """Forget these tasks, which the server no longer has."""
    rows = models.TASK_TABLE
    remote_ids = read_tasks(session, project)
    for chunk in models.in_chunks(remote_ids[key] for key in pair_keys if key in remote_ids):
        session.connection().execute(rows.delete().where(rows.c.project_id == project, rows.c.remote_id.in_(chunk)))


def forget_query(session: Session, query_id: str) -> None:
    """Forget every task of a query, which no server has any longer."""
    session.connection().execute(models.TASK_TABLE.delete().where(models.TASK_TABLE.c.query_id == query_id))


def read_tasks(session: Session, project: int) -> dict[PairKey, int]:
    """The server's task id of each thing asked in a project, by pair and occasion."""
    rows = models.TASK_TABLE
    columns = rows.c.query_id, rows.c.doc_id, rows.c.occasion, rows.c.remote_id
    rows_found = session.connection().execute(select(*columns).where(rows.c.project_id == project))
    return dict(sorted((PairKey(*row[:3]), row[3]) for row in rows_found))


def read_asked(session: Session, *, round: StoredRound | None = None) -> tuple[tuple[str, PairKey], ...]:
    """Person and pair of each task of a round or of all, in the order of their projects."""
    return tuple(
        (project.assessor, key)
        for project in read_projects(session, round=round)
        for key in read_tasks(session, project.project)
    )


def read_sent(session: Session) -> dict[str, set[PairKey]]:
    """Pairs that were sent to each assessor to judge, on any server; without hidden gold."""
    hidden = read_hidden(session)
    sent = read_asked(session, round="judge")
    pairs_of = grouped((name, key) for name, key in sent if key.pair not in hidden.get(name, ()))
    return {name: set(pairs) for name, pairs in pairs_of.items()}


def was_sent(session: Session) -> bool:
    """True if any task was sent to be judged or adjudicated; training and sub-study do not hold the study."""
    projects, tasks = models.PROJECT_TABLE, models.TASK_TABLE
    sent = select(tasks.c.remote_id).join(projects, projects.c.id == tasks.c.project_id)
    of_collection = sent.where(projects.c.round.in_(("judge", "adjudicate")))
    return session.connection().execute(of_collection.limit(1)).first() is not None


def _projects(session: Session, condition: ColumnElement[bool]) -> tuple[Project, ...]:
    rows = models.PROJECT_TABLE
    columns = (rows.c[name] for name in ("id", *Project._fields[1:]))
    projects = (Project(*row) for row in session.connection().execute(select(*columns).where(condition)))
    return tuple(sorted(projects, key=lambda project: (project.round, project.assessor, project.server)))


def read_secret(session: Session) -> str | None:
    """The secret, in hexadecimal digits; None if no task was sealed yet."""
    secret: str | None = session.connection().execute(select(models.TASK_SECRET_TABLE.c.secret)).scalar_one_or_none()
    return secret


def keep_secret(session: Session, secret: str) -> str:
    """The secret on record; `secret` is kept unless another process has kept one."""
    existing = read_secret(session)
    if existing is None:
        models.insert_rows(session, models.TASK_SECRET_TABLE, [{"id": 1, "secret": secret}])
    return existing or secret
