"""Who settles which pair: what a plan must keep apart from who judges it."""

from __future__ import annotations

from sqlmodel import Session

from annot.store import adjudications, projects


def settling_of(session: Session) -> dict[tuple[str, str], set[str]]:
    """By pair, the adjudicators who settled it or have it as a task."""
    found: dict[tuple[str, str], set[str]] = {}
    for one in adjudications.read_adjudications(session):
        if not one.flags:
            found.setdefault(one.pair, set()).add(one.adjudicator)
    for project in projects.read_projects(session, round="adjudicate"):
        for asked in projects.read_tasks(session, project.project):
            found.setdefault(asked.pair, set()).add(project.assessor)
    return found
