"""The guidelines as they were sent, each version whole, and which of them stood beside each task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import bindparam, select
from sqlmodel import Session

from annot.base.records import Asked
from annot.store.judging_models import GUIDELINES_TABLE, TASK_TABLE
from annot.store.judging_models import SentGuidelines as SentGuidelines
from annot.store.models import QUERY_TABLE, insert_records, read_records

History = tuple[tuple[str, str], ...]
"""Moments (ISO 8601, UTC), each with the SHA-256 of the guidelines from then on, the oldest first."""


class ShownGuidelines(NamedTuple):
    """What stood beside the tasks of one project."""

    by_task: Mapping[Asked, History]
    by_query: Mapping[str, History]
    """What was sent of the query's facet: for tasks that a killed push did not note down."""

    def at(self, asked: Asked, moment: str | None) -> str | None:
        """The hash of what stood beside the task at this moment; None if nothing is on record."""
        return in_force(self.by_task.get(asked) or self.by_query.get(asked.query_id, ()), moment)


def in_force(history: History, moment: str | None) -> str | None:
    """The hash that holds at a moment (ISO 8601); before all of them, and without a moment, the first."""
    if moment is None or not history:
        return history[0][1] if history else None
    at = datetime.fromisoformat(moment)
    begun = [sha256 for since, sha256 in history if datetime.fromisoformat(since) <= at]
    return begun[-1] if begun else history[0][1]


def record_guidelines(session: Session, sent: Iterable[SentGuidelines]) -> None:
    """Note down that these are sent from now on; what was sent before stays on record."""
    insert_records(session, GUIDELINES_TABLE, sent)


def read_guidelines(session: Session) -> dict[str, tuple[SentGuidelines, ...]]:
    """The versions of each facet's guidelines, the oldest first."""
    found: dict[str, tuple[SentGuidelines, ...]] = {}
    for sent in sorted(read_records(session, GUIDELINES_TABLE, SentGuidelines), key=attrgetter("facet", "sent_at")):
        found[sent.facet] = (*found.get(sent.facet, ()), sent)
    return found


def note_shown(session: Session, project: int, sha256: Mapping[str, str], *, since: str) -> None:
    """Note down that these guidelines stand beside the tasks of a project from now on. sha256: by facet.

    A task of which nothing is noted yet, as after a restored backup, has had those that were sent before.
    """
    tasks, connection = TASK_TABLE, session.connection()
    shown = read_shown(session, project)
    columns = tasks.c.query_id, tasks.c.doc_id, tasks.c.occasion, tasks.c.remote_id, QUERY_TABLE.c.facet
    of_query = QUERY_TABLE.c.query_id == tasks.c.query_id
    changed = []
    for *key, remote_id, facet in connection.execute(
        select(*columns).join(QUERY_TABLE, of_query).where(tasks.c.project_id == project)
    ):
        noted = shown.by_task[Asked(*key)]
        history = noted or shown.by_query[key[0]]
        if facet in sha256 and (not history or history[-1][1] != sha256[facet]):
            history = (*history, (since, sha256[facet]))
        if history != noted:
            changed.append({"task": remote_id, "history": history})
    if changed:
        of_task = (tasks.c.project_id == project) & (tasks.c.remote_id == bindparam("task"))
        connection.execute(tasks.update().where(of_task).values(guidelines=bindparam("history")), changed)


def read_shown(session: Session, project: int) -> ShownGuidelines:
    """What stood beside each task of a project, and what was sent of each query's facet."""
    tasks, connection = TASK_TABLE, session.connection()
    columns = tasks.c.query_id, tasks.c.doc_id, tasks.c.occasion, tasks.c.guidelines
    rows = connection.execute(select(*columns).where(tasks.c.project_id == project))
    by_facet = {
        facet: tuple((sent.sent_at, sent.sha256) for sent in versions)
        for facet, versions in read_guidelines(session).items()
    }
    queries = connection.execute(select(QUERY_TABLE.c.query_id, QUERY_TABLE.c.facet))
    return ShownGuidelines(
        {Asked(*key): tuple(map(tuple, history)) for *key, history in rows},
        {query_id: by_facet.get(facet, ()) for query_id, facet in queries},
    )
