"""The database of a backup, opened aside, to be read from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlmodel import Session

from annot.store.database import connect_store
from annot.store.dump import load
from annot.study.archive import is_archive, unpack
from annot.study.backup_manifest import BACKUPS, DATABASE
from annot.study.workspace import Workspace


def newest_backup(ws: Workspace) -> Path | None:
    """The backup in the study's folder or in its `backups/` that was written last; None where there is none."""
    return max(backups(ws), key=lambda path: path.stat().st_mtime, default=None)


def backups(ws: Workspace) -> tuple[Path, ...]:
    """The backups in the study's folder and in its `backups/`."""
    return tuple(path for folder in (ws.root, ws.root / BACKUPS) for path in folder.glob("*.*gz") if is_archive(path))


@contextmanager
def database_of(path: Path) -> Iterator[Session]:
    """A look at the database of the backup, in a file that is not kept.

    Raises InputError if the backup is not sound, StoreError if its database is of another version.
    """
    with TemporaryDirectory(prefix="annot-") as folder:
        contents = unpack(path, Path(folder))
        with connect_store(f"sqlite:///{folder}/old.db", create=True) as store:
            with store.begin() as session:
                load(session.connection(), contents.database, Path(folder) / DATABASE)
            with store.read() as session:
                yield session
