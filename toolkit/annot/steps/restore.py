"""A study back from its backup: all of it, or nothing.

Everything is unpacked, checked and loaded aside first. Then what is in the way moves out and the new comes in, the
settings file out first and in last: a folder without it is no study to any command, so nobody works on a half one.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlmodel import Session

from annot.errors import InputError
from annot.report.terminal import told
from annot.settings import read_settings
from annot.store.database import Store, connect_store
from annot.store.dump import drop_tables, load, row_counts
from annot.store.migrations import MIGRATIONS
from annot.store.study_lock import alone
from annot.study.archive import DATABASE, FILES, Contents, unpack
from annot.study.backing_up import write_backup
from annot.study.chain import broken_links
from annot.study.standing import ASIDE, BACKUPS, database_files, top_level
from annot.study.workspace import SETTINGS_FILE, Workspace

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Restored:
    """What came out of a backup."""

    root: Path
    made: str
    """When the backup was taken."""
    files: int
    rows: dict[str, int]
    version: int
    """Of its database."""
    wanted: int
    """The version that this program works with."""
    projects: int
    """Copies of projects in the backup; they stay there."""
    replaced: Path | None
    """Where that lies now which was there before; None where nothing was."""
    notes: tuple[str, ...]


def restore(path: Path, root: Path, *, replace: bool, wait_seconds: float, dry_run: bool) -> Restored:
    """Make the study of the backup at `path` stand in the folder `root`.

    replace: move what is there to `backups/`; otherwise InputError is raised where anything is. dry_run: unpack, load
    and check the backup elsewhere, and touch nothing.
    """
    now = datetime.now(UTC)
    with ExitStack() as end:
        stage = end.enter_context(_stage(root, dry_run=dry_run))
        contents = unpack(path, stage)
        alone_here = not contents.files
        if alone_here:
            # A backup of a database alone leaves the files as they are.
            (stage / FILES).mkdir()
            shutil.copy2(Workspace.open(root).settings_file, stage / FILES / SETTINGS_FILE)
        settings = stage / FILES / SETTINGS_FILE
        if not settings.is_file():
            raise InputError(f"{path}: no {SETTINGS_FILE} in it", hint="expected a backup made by `annot backup`")
        ws, staged = Workspace(root, read_settings(settings)), Workspace(stage / FILES, read_settings(settings))
        if dry_run:
            findings = _on_trial(contents, staged, stage)
            return _restored(contents, root, None, findings, alone_here)
        end.enter_context(alone(ws.database_url, command="restore", wait_seconds=wait_seconds))
        outgoing = [path for path in top_level(ws) if not alone_here or path == ws.settings_file]
        old_database = [path for path in database_files(ws) if path.exists()]
        target = None if ws.database_file else end.enter_context(connect_store(ws.database_url, create=True))
        filled = target is not None and _is_filled(target)
        # The files of a study stay where its database alone comes back.
        in_the_way = [path.name for path in (*([] if alone_here else outgoing), *old_database)]
        in_the_way += [target.place] if target is not None and filled else []
        if in_the_way and not replace:
            raise InputError(
                f"{root}: not empty, found {', '.join(in_the_way[:SHOWN])}{', ...' if in_the_way[SHOWN:] else ''}",
                hint=f"restore into a new folder; or `--replace`, which moves what is there to {BACKUPS}/",
            )
        aside = _free(root / BACKUPS / f"replaced-{now:%Y%m%dT%H%M%SZ}")
        moves = _Moves()
        outgoing.sort(key=lambda path: path.name != SETTINGS_FILE)
        incoming = sorted(path for path in (stage / FILES).iterdir() if path.name != SETTINGS_FILE)
        try:
            if target is None:
                new_database = stage / "new.db"
                findings = _load_file(contents, new_database, stage, staged)
                _move_out(moves, [*outgoing, *old_database], aside)
                assert ws.database_file is not None
                moves.move(new_database, ws.database_file)
                for entry in incoming:
                    moves.move(entry, root / entry.name)
            else:
                if filled:
                    kept = aside / "database.tar.gz"
                    write_backup(ws, target, kept, files=(), snapshots=None, notes=("the database alone",), now=now)
                with target.begin() as session:
                    drop_tables(session.connection())
                    findings = _load(contents, session, stage, staged)
                    _move_out(moves, outgoing, aside)
                    for entry in incoming:
                        moves.move(entry, root / entry.name)
            moves.move(settings, ws.settings_file)
        except BaseException:
            moves.back()
            raise
        return _restored(contents, root, aside if aside.exists() else None, findings, alone_here)


def describe(restored: Restored, *, dry_run: bool) -> str:
    """What came back, in words."""
    return told("restored", restored=restored, dry_run=dry_run)


class _Moves:
    """Files and folders that were moved, and the way back."""

    def __init__(self) -> None:
        self._done: list[tuple[Path, Path]] = []

    def move(self, source: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(target):
            # Somebody else put it there since: a move would write over it without a word.
            raise FileExistsError(errno.EEXIST, "is there already", str(target))
        try:
            source.rename(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            shutil.move(source, target)
        self._done.append((source, target))

    def back(self) -> None:
        for source, target in reversed(self._done):
            target.rename(source)


@contextmanager
def _stage(root: Path, *, dry_run: bool) -> Iterator[Path]:
    """A private folder to unpack into: on the disk of the study, so that what is in it can be moved in a moment."""
    if dry_run:
        with tempfile.TemporaryDirectory(prefix="annot-") as folder:
            yield Path(folder)
        return
    if root.exists() and not root.is_dir():
        raise InputError(f"{root}: a file, expected a folder or nothing")
    new = not root.exists()
    root.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(dir=root, prefix=ASIDE))
    try:
        yield stage
    finally:
        shutil.rmtree(stage)
        if new and not any(root.iterdir()):
            root.rmdir()


def _free(path: Path) -> Path:
    """The path, numbered where something is there."""
    names = (path, *(path.with_name(f"{path.name}-{number}") for number in range(2, 100)))
    return next(name for name in names if not name.exists())


def _is_filled(store: Store) -> bool:
    return store.version() > 0


def _move_out(moves: _Moves, paths: list[Path], aside: Path) -> None:
    for path in paths:
        moves.move(path, aside / path.name)


def _on_trial(contents: Contents, staged: Workspace, stage: Path) -> tuple[str, ...]:
    """What there is to say of the backup after loading it elsewhere; one that SQLite cannot hold is not loaded."""
    if "sqlite" not in contents.database.statements:
        return ()
    return _load_file(contents, stage / "new.db", stage, staged)


def _load_file(contents: Contents, path: Path, stage: Path, staged: Workspace) -> tuple[str, ...]:
    with connect_store(f"sqlite:///{path}", create=True) as store, store.begin() as session:
        return _load(contents, session, stage, staged)


def _load(contents: Contents, session: Session, stage: Path, staged: Workspace) -> tuple[str, ...]:
    """Load the database in the caller's transaction, and hold it against what the backup says of it."""
    load(session.connection(), contents.database, stage / DATABASE)
    found = row_counts(session.connection())
    faults = [
        f"{name}: {found.get(name, 0)} rows, expected {expected}"
        for name, expected in contents.database.rows.items()
        if found.get(name) != expected
    ]
    if faults:
        raise InputError("the database is not as the backup says", faults=faults)
    # An older database has other columns than the check knows; after `annot migrate`, `annot verify` makes it.
    if contents.database.version < len(MIGRATIONS) or not contents.files:
        return ()
    return broken_links(staged, session)


def _restored(
    contents: Contents, root: Path, replaced: Path | None, findings: tuple[str, ...], alone_here: bool
) -> Restored:
    notes = (*contents.notes, *(f"was so when the backup was taken: {finding}" for finding in findings))
    return Restored(
        root,
        contents.made,
        0 if alone_here else len(contents.files),
        dict(contents.database.rows),
        contents.database.version,
        len(MIGRATIONS),
        contents.projects,
        replaced,
        notes,
    )
