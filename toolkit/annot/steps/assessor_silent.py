"""Who has open pairs and has not answered for long."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from annot.store import judgements, people, projects
from annot.store.database import open_store
from annot.study.outcome import answered_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Silent:
    """One person who was sent pairs and has not answered for long."""

    assessor: str
    open: int
    last_answer: str | None
    """ISO 8601, UTC."""
    days: int
    """Whole days since the last answer, or since the pairs were sent."""


def silent(ws: Workspace, *, days: int, now: datetime) -> tuple[Silent, ...]:
    """Those who have not answered for `days`, the longest silent first. Whoever was sent nothing is not silent."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        plan, drawn = people.read_assignments(session), people.read_plan(session)
        left = {person.assessor for person in people.read_assessors(session) if person.left_on is not None}
        answered = answered_of(session)
        given = judgements.read_judgements(session)
        sent_on = {
            project.assessor: project.sent_on or (drawn.created if drawn is not None else None)
            for project in projects.read_projects(session, round="judge")
            if projects.read_tasks(session, project.project)
        }
    still_open = Counter(one.assessor for one in plan if (one.assessor, one.asked) not in answered)
    found = []
    for name, since in sent_on.items():
        answers = [_moment(one.judged_at) for one in given if one.assessor == name and one.judged_at is not None]
        moments = [*answers, *([] if since is None else [_moment(since)])]
        if not still_open[name] or name in left or not moments:
            continue
        waited = (now - max(moments)).days
        if waited >= days:
            last = max(answers, default=None)
            found.append(Silent(name, still_open[name], None if last is None else last.isoformat(), waited))
    return tuple(sorted(found, key=lambda one: (-one.days, one.assessor)))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
