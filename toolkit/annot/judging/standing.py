"""What of a study's folder is the study: what a backup takes and a restore puts back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from annot.store.study_lock import lock_file
from annot.study.archive import is_archive
from annot.study.backup_manifest import is_kept
from annot.study.workspace import Workspace

LINKED = ("corpus", "weights")
"""Folders whose files may be links to files elsewhere, which are large and have one place."""


def database_files(ws: Workspace) -> tuple[Path, ...]:
    """The files of a SQLite database, there or not; none on PostgreSQL."""
    path = ws.database_file
    if path is None:
        return ()
    return (path, *(path.with_name(f"{path.name}-{end}") for end in ("wal", "shm", "journal")))


def own_files(ws: Workspace) -> tuple[Path, ...]:
    """The files of a SQLite database and the one by which it is locked."""
    return (*database_files(ws), *((lock_file(ws.database_file),) if ws.database_file else ()))


def top_level(ws: Workspace) -> tuple[Path, ...]:
    """The entries of the folder that belong to the study, its database apart."""
    own = own_files(ws)
    return tuple(
        path
        for path in sorted(ws.root.iterdir())
        if is_kept(PurePosixPath(path.name)) and path.resolve() not in own and not (path.is_file() and is_archive(path))
    )


def files(ws: Workspace, notes: list[str]) -> Iterator[Path]:
    """Every file of the study but its database; `notes` gets what is left out, and why."""
    for entry in top_level(ws):
        if entry.is_symlink() or not entry.is_dir():
            yield from _file(entry, ws.root, notes)
            continue
        for folder, below, names in os.walk(entry):
            below[:] = sorted(name for name in below if is_kept(PurePosixPath(entry.name, name)))
            links = [name for name in below if (Path(folder) / name).is_symlink()]
            for name in (*links, *sorted(names)):
                yield from _file(Path(folder) / name, ws.root, notes)


def _file(path: Path, root: Path, notes: list[str]) -> Iterator[Path]:
    name = path.relative_to(root)
    if path.is_symlink() and not (path.is_file() and name.parts[0] in LINKED):
        notes.append(f"{name}: left out, a link to {path.readlink()}")
    elif path.is_file() and not is_archive(path) and is_kept(PurePosixPath(name)):
        yield path
