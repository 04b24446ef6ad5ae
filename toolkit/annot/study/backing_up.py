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
from annot.study.archive import write_archive
from annot.study.backup_manifest import BACKUPS, DATABASE, FILES, SERVER, Contents, entry_of
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
    """Write a new archive at `path`: the database as it is at one moment, these files, and what is in `snapshots`."""
    with _dumped(store) as (dumped, folder):
        sources = {f"{DATABASE}/{name}.jsonl": folder / f"{name}.jsonl" for name in dumped.rows}
        sources |= {f"{FILES}/{file.relative_to(ws.root).as_posix()}": file for file in files}
        if snapshots is not None:
            sources |= {f"{SERVER}/{file.name}": file for file in sorted(snapshots.iterdir())}
        contents = Contents(
            __version__,
            now.astimezone(UTC).isoformat(timespec="seconds"),
            ws.settings.collection.name,
            dumped,
            {name: entry_of(source) for name, source in sources.items()},
            tuple(notes),
        )
        write_archive(path, contents, sources)
    return contents


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
