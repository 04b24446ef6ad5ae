"""What of a study's folder is the study: what a backup takes and a restore puts back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from annot.store.study_lock import lock_file
from annot.study.archive import is_archive
from annot.study.workspace import CACHE, Workspace

BACKUPS = "backups"
"""Where the program itself puts backups: before a migration, and of what a restore replaces."""
ASIDE = ".annot-restore-"
"""How the folder begins in which a restore unpacks."""
LEFT = (CACHE, BACKUPS, ".git")
"""What is no part of the study, or can be made again."""


def database_files(ws: Workspace) -> tuple[Path, ...]:
    """The files of a SQLite database, there or not; none on PostgreSQL."""
    path = ws.database_file
    if path is None:
        return ()
    return (path, *(path.with_name(f"{path.name}-{end}") for end in ("wal", "shm", "journal")))


def top_level(ws: Workspace) -> tuple[Path, ...]:
    """The entries of the folder that belong to the study, its database apart."""
    own = {*database_files(ws), *((lock_file(ws.database_file),) if ws.database_file else ())}
    return tuple(
        path
        for path in sorted(ws.root.iterdir())
        if path.name not in LEFT
        and not path.name.startswith(ASIDE)
        and path.resolve() not in own
        and not (path.is_file() and is_archive(path))
    )


def files(ws: Workspace, notes: list[str]) -> Iterator[Path]:
    """Every file of the study but its database; `notes` gets what is left out, and why."""
    for entry in top_level(ws):
        if entry.is_symlink() or not entry.is_dir():
            yield from _file(entry, ws.root, notes)
            continue
        for folder, below, names in os.walk(entry):
            below.sort()
            links = [name for name in below if (Path(folder) / name).is_symlink()]
            for name in (*links, *sorted(names)):
                yield from _file(Path(folder) / name, ws.root, notes)


def _file(path: Path, root: Path, notes: list[str]) -> Iterator[Path]:
    if path.is_file() and not is_archive(path):
        yield path
    elif path.is_symlink():
        notes.append(f"{path.relative_to(root)}: left out, a link to {path.readlink()}")
