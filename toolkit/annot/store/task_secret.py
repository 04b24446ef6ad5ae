"""The secret with which the keys of tasks are sealed: one a study, made once."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import Session

from annot.store.base import table
from annot.store.judging_models import TaskSecretRow
from annot.store.rows import insert_rows


def read_secret(session: Session) -> str | None:
    """The secret, in hexadecimal digits; None where no task was sealed yet."""
    found: str | None = session.connection().execute(select(table(TaskSecretRow).c.secret)).scalar_one_or_none()
    return found


def keep_secret(session: Session, secret: str) -> str:
    """Keep `secret` unless another process has kept one by now; the one that holds."""
    kept = read_secret(session)
    if kept is None:
        insert_rows(session, TaskSecretRow, [{"id": 1, "secret": secret}])
    return kept or secret
