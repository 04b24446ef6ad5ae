"""Writing a backup: of a whole study, or of its database alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from annot import __version__
from annot.store.database import Store
from annot.store.dump import Dumped, dump
from annot.study.archive import DATABASE, FILES, SERVER, Contents, Writer, new_archive
from annot.study.standing import BACKUPS
from annot.study.workspace import Workspace


def write_backup(
    ws: Workspace,
    store: Store,
    path: Path,
    *,
    files: Sequence[Path],
    snapshots: Path | None,
    notes: Sequence[str],
    now: datetime,
) -> Contents:
    """Write a new archive at `path`: the database as it is at one moment, these files, and what lies in `snapshots`."""
    with new_archive(path) as archive:
        with _dumped(store) as (dumped, folder):
            # The database comes first: it is by its first entry that a backup is known.
            for name in dumped.rows:
                archive.add(f"{DATABASE}/{name}.jsonl", folder / f"{name}.jsonl")
        for file in files:
            archive.add(f"{FILES}/{file.relative_to(ws.root).as_posix()}", file)
        if snapshots is not None:
            for file in sorted(snapshots.iterdir()):
                archive.add(f"{SERVER}/{file.name}", file)
        return _closed(archive, ws, dumped, notes, now)


def own_backup(ws: Workspace, what: str, *, now: datetime) -> Path:
    """Where the program puts a backup of its own accord."""
    return free_name(ws.root / BACKUPS / f"{what}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}", ".tar.gz")


def free_name(path: Path, suffix: str = "") -> Path:
    """The path with this suffix, numbered where something of that name is there."""
    names = (path.with_name(f"{path.name}{number}{suffix}") for number in ("", *(f"-{at}" for at in range(2, 1_000))))
    return next(name for name in names if not name.exists())


@contextmanager
def _dumped(store: Store) -> Iterator[tuple[Dumped, Path]]:
    with TemporaryDirectory(prefix="annot-") as folder:
        with store.read() as session:
            dumped = dump(session.connection(), Path(folder))
        yield dumped, Path(folder)


def _closed(archive: Writer, ws: Workspace, dumped: Dumped, notes: Sequence[str], now: datetime) -> Contents:
    contents = Contents(
        __version__,
        now.astimezone(UTC).isoformat(timespec="seconds"),
        ws.settings.collection.name,
        dumped,
        dict(archive.sha256),
        tuple(notes),
    )
    archive.close(contents)
    return contents
