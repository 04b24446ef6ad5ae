"""Backups of a study: which files of its folder belong to it, and the automatic backups.

An automatic backup holds the database, the plan and the settings, but not the corpus and not the projects on the
server. One is made after each push, after each pull that brought something, before each restore and before anything is
deleted. The last ten are kept, and the last of each day for thirty days.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import chain, count
from pathlib import Path, PurePosixPath

from sqlalchemy import select

from annot import __version__
from annot.base.errors import AnnotError, MissingInput, StoreError
from annot.base.names import counted, moment_now
from annot.store import schema
from annot.store.database import Store, open_store
from annot.store.dump import Dumped, dump
from annot.store.hashes import read_states
from annot.store.models import FACET_LABELS_TABLE, POOL_TABLE
from annot.store.study_lock import lock_file
from annot.study.archive import (
    BACKUPS,
    DATABASE,
    FILES,
    PART,
    SERVER,
    Contents,
    Entry,
    entry_of,
    is_archive,
    is_kept,
    manifest_of,
    write_archive,
)
from annot.study.doors import is_inside
from annot.study.stages import remove_dead, stage
from annot.study.workspace import Workspace

LINKED = ("corpus", "weights")
"""Folders whose files may be links to files elsewhere, which are large and have one place."""
AUTOMATIC = "auto-"
"""Beginning of the name of an automatic backup; the moment and the reason follow."""
MOMENT = "%Y%m%dT%H%M%S%fZ"
NAME = re.compile(r"auto-\d{8}T\d{12}Z-.*\.tar\.gz")
KEPT, KEPT_DAYS = 10, 30


def write_backup(
    ws: Workspace,
    store: Store,
    path: Path,
    *,
    files: Sequence[Path],
    whole: bool,
    notes: Sequence[str] = (),
    snapshots: Path | None = None,
    unlike: Path | None = None,
) -> Contents | None:
    """Write a new archive at `path`: the database at one moment, these files, and the files in `snapshots`.

    unlike: a backup; if it has the same content, nothing is written and None is returned.
    """
    with _dumped(ws.root, store) as (dumped, folder):
        sources = {f"{DATABASE}/{name}.jsonl": folder / f"{name}.jsonl" for name in dumped.rows}
        sources |= {f"{FILES}/{file.relative_to(ws.root).as_posix()}": file for file in files}
        if snapshots is not None:
            sources |= {f"{SERVER}/{file.name}": file for file in sorted(snapshots.iterdir())}
        contents = Contents(
            __version__,
            moment_now(),
            ws.settings.collection.name,
            dumped,
            {name: entry_of(source) for name, source in sources.items()},
            tuple(notes),
            whole,
        )
        if unlike is not None and _entries_of(unlike) == contents.entries:
            return None
        write_archive(path, contents, sources)
    return contents


def keep_backup(ws: Workspace, why: str, *, apart: timedelta = timedelta(0)) -> Path | None:
    """Take an automatic backup, unless the newest has the same content or is younger than `apart`; returns the file, or
    None.

    Raises StoreError if it cannot be written. A study without a database has nothing to back up.
    """
    now = datetime.now(UTC)
    folder = ws.root / BACKUPS
    if not is_inside(folder, ws.root):
        ws.check_door(str(folder.resolve()), f"{BACKUPS}, a link,")
    newest = max(_automatic(ws), default=None)
    if newest is not None and now - _moment(newest) < apart:
        return None
    path = folder / f"{AUTOMATIC}{now.strftime(MOMENT)}-{why.replace(' ', '-')}.tar.gz"
    files = [file for name in PART if (file := ws.root / name).is_file()]
    try:
        with open_store(ws.database_url, create=False, older=True) as store:
            folder.mkdir(mode=0o700, exist_ok=True)
            if write_backup(ws, store, path, files=files, whole=False, unlike=newest) is None:
                return None
        remove_dead(folder.glob(f".{AUTOMATIC}*"))
        _drop_old(ws, now)
    except MissingInput:
        return None
    except OSError as error:
        raise StoreError(
            f"{folder}: a backup cannot be written: {error.strerror or error}",
            hint="free some disk space, or check the permissions of the folder",
        ) from None
    return path


def bring_up(ws: Workspace) -> Path | None:
    """Bring a database of an earlier version to this program's, after a backup; the backup, or None."""
    try:
        store = open_store(ws.database_url, create=False, older=True)
    except MissingInput:
        return None
    with store:
        if store.version() == len(schema.MIGRATIONS):
            return None
        path = keep_backup(ws, f"before version {len(schema.MIGRATIONS)}")
        store.migrate()
    return path


def recorded(ws: Workspace) -> dict[str, str]:
    """Hash of each part of the record; empty without a database."""
    try:
        with ws.reading() as session:
            return read_states(session)
    except MissingInput:
        return {}


def backups(ws: Workspace) -> tuple[Path, ...]:
    """The backups in the study's folder and in its `backups/`, the newest last."""
    paths = (path for folder in (ws.root, ws.root / BACKUPS) for path in folder.glob("*.*gz") if is_archive(path))
    return tuple(sorted(paths, key=lambda path: path.stat().st_mtime))


def is_whole(path: Path) -> bool:
    """True if a backup has all files of its study, or cannot be read."""
    try:
        return manifest_of(path).whole
    except AnnotError:
        return True


def free_name(path: Path) -> Path:
    """The path, with a number if it exists already."""
    names = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(name for name in chain([path], names) if not name.exists())


def database_files(ws: Workspace) -> tuple[Path, ...]:
    """The files of a SQLite database, there or not; none on PostgreSQL."""
    path = ws.database_file
    if path is None:
        return ()
    return (path, *(path.with_name(f"{path.name}-{end}") for end in ("wal", "shm", "journal")))


def own_files(ws: Workspace) -> tuple[Path, ...]:
    """Files of a SQLite database, and its lock."""
    return (*database_files(ws), *((lock_file(ws.database_file),) if ws.database_file else ()))


def top_level(ws: Workspace) -> tuple[Path, ...]:
    """The entries of the folder that belong to the study, its database apart."""
    database_paths = own_files(ws)
    return tuple(
        path
        for path in sorted(ws.root.iterdir())
        if is_kept(PurePosixPath(path.name))
        and path.resolve() not in database_paths
        and not (path.is_file() and is_archive(path))
    )


def files_of(ws: Workspace, notes: list[str]) -> Iterator[Path]:
    """Files of the study except its database; `notes` gets the omissions with their reasons."""
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


def _automatic(ws: Workspace) -> list[Path]:
    """The backups that were taken by themselves; their names are in the order of their moments."""
    return [path for path in (ws.root / BACKUPS).glob(f"{AUTOMATIC}*.tar.gz") if NAME.fullmatch(path.name)]


def _moment(path: Path) -> datetime:
    return datetime.strptime(path.name.split("-")[1], MOMENT).replace(tzinfo=UTC)


def _entries_of(path: Path) -> Mapping[str, Entry]:
    """Entries of a backup; empty if it cannot be read, so that another one is made."""
    try:
        return manifest_of(path).entries
    except AnnotError:
        return {}


def _drop_old(ws: Workspace, now: datetime) -> None:
    """Remove those that are neither among the last nor the last of one of the last days."""
    paths = sorted(_automatic(ws))
    of_days = {_moment(path).date(): path for path in paths if now - _moment(path) < timedelta(days=KEPT_DAYS)}
    for path in {*paths} - {*paths[-KEPT:], *of_days.values()}:
        path.unlink(missing_ok=True)


@contextmanager
def _dumped(root: Path, store: Store) -> Iterator[tuple[Dumped, Path]]:
    with stage(root) as folder:
        with store.read() as session:
            dumped = dump(session.connection(), folder)
        yield dumped, folder


SHARED = "annot.toml, corpus/, guidelines/, pools/, exports/, training/, substudy/ and made.json"
"""Parts of a study's folder that are not in its database."""


def missing_part(ws: Workspace) -> MissingInput | None:
    """Error about a missing part, with the way back; None if nothing is missing, or nothing was there."""
    return _lost_database(ws) if ws.database_file else _folders_elsewhere(ws)


def _lost_database(ws: Workspace) -> MissingInput | None:
    """Error if the file of the database is missing but the rest of the study is there."""
    path = ws.database_file
    if path is None or path.exists():
        return None
    backups_found = backups(ws)
    folders = {"pools/": ws.pools, "exports/": ws.exports}
    parts = ["corpus/"] if _has_corpus(ws) else []
    parts += [name for name, folder in folders.items() if any(folder.rglob("*.*"))]
    if not (parts or backups_found):
        return None
    parts += [counted(len(backups_found), "backup")] if backups_found else []
    hint = "`annot restore FILE --replace` restores the study from a backup"
    if backups_found:
        newest = backups_found[-1]
        name = newest.relative_to(ws.root)
        day = datetime.fromtimestamp(newest.stat().st_mtime, UTC)
        origin = f"from the newest backup, made on {day:%Y-%m-%d %H:%M} UTC"
        if is_whole(newest):
            hint = f"`annot restore {name} --replace` restores the study {origin}"
        else:
            hint = f"`annot restore {name}` restores the database {origin}; then run `annot push` and `annot pull`"
    return MissingInput(f"{path}: found {' and '.join(parts)} of a study, but no database", hint=hint)


def _folders_elsewhere(ws: Workspace) -> MissingInput | None:
    """The database on a server knows of folders that are not here."""
    has_pools = (ws.pools / "manifest.json").is_file()
    if _has_corpus(ws) and has_pools:
        return None
    try:
        with open_store(ws.database_url, create=False) as store:
            place, recorded = store.place, dict(_known(store))
    except AnnotError:
        return None
    absent = [
        f"{name}/" for name, is_here in (("corpus", _has_corpus(ws)), ("pools", has_pools)) if recorded[name] > is_here
    ]
    if not absent:
        return None
    return MissingInput(
        f"{place}: its study has {' and '.join(absent)}, but this folder does not ({ws.root.resolve()})",
        hint="work in the study's own folder, or share that folder among the leads, for example on a network drive: "
        f"the database does not hold {SHARED}",
    )


def _known(store: Store) -> Iterator[tuple[str, bool]]:
    """Presence of a corpus, and of pools drawn from it, in the database."""
    labels, pools = FACET_LABELS_TABLE, POOL_TABLE
    with store.read() as session:
        for name, statement in (
            ("corpus", select(labels.c.paper_id)),
            ("pools", select(pools.c.topic_id).where(pools.c.per_method.is_not(None))),
        ):
            yield name, session.connection().execute(statement.limit(1)).first() is not None


def _has_corpus(ws: Workspace) -> bool:
    return (ws.corpus / "manifest.json").is_file()
