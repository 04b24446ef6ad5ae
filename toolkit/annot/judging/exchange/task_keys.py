"""What this study's task keys are sealed with, and the pairs they may stand for."""

from __future__ import annotations

import secrets

from annot.labelstudio.sealed_keys import TaskKeys
from annot.labelstudio.tasks import LABELS_SHOWN
from annot.store import people, projects, trials
from annot.store.database import open_store
from annot.store.projects import keep_secret, read_secret
from annot.store.queries import read_queries
from annot.study.workspace import Workspace

BYTES = 32


def task_keys(ws: Workspace) -> TaskKeys:
    """The keys of the tasks of this study. The secret is made at the first use, and kept in the database.

    A copy lies in the folder of the study, for the day on which the database is made anew.
    """
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            secret = read_secret(session)
            pairs = {assignment.pair for assignment in people.read_assignments(session)}
            pairs |= trials.read_pairs(session)
            pairs |= {(query.paper_id, LABELS_SHOWN) for query in read_queries(session)}
            for project in projects.read_projects(session):
                pairs |= {asked.pair for asked in projects.read_tasks(session, project.project)}
        if secret is None:
            with store.begin() as session:
                secret = keep_secret(session, secrets.token_hex(BYTES))
    return TaskKeys(_all_secrets(ws, secret), sorted(pairs))


def _all_secrets(ws: Workspace, secret: str) -> list[str]:
    """The secret of the database, and those of databases before it."""
    path = ws.cache / "task-keys"
    before = path.read_text(encoding="ascii").split() if path.is_file() else []
    if secret not in before:
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o600)
        with path.open("a", encoding="ascii") as file:
            file.write(f"{secret}\n")
    return list(dict.fromkeys([secret, *before]))
