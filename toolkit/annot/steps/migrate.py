"""Bringing the database of an earlier version to this program's, after a backup."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from annot.store.database import open_store
from annot.store.migrations import MIGRATIONS
from annot.study.backing_up import own_backup, write_backup
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Migrated:
    """What `annot migrate` did."""

    before: int
    now: int
    """The versions of the database."""
    backup: Path | None
    """The database as it was; None where nothing was to do."""


def migrate(ws: Workspace, *, dry_run: bool) -> Migrated:
    """Back the database up beside the study, then migrate it; one that is at this version is left alone."""
    now = datetime.now(UTC)
    with open_store(ws.database_url, create=False, older=True) as store:
        before, wanted = store.version(), len(MIGRATIONS)
        if before == wanted or dry_run:
            return Migrated(before, wanted, None)
        path = own_backup(ws, f"before-version-{wanted}", now=now)
        write_backup(ws, store, path, files=(), snapshots=None, notes=("the database alone",), now=now)
        store.migrate()
    return Migrated(before, wanted, path)
