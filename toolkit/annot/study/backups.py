"""Backups of a study: one file with the database, the study's files and the server's projects."""

from __future__ import annotations

import glob
import gzip
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Annotated, ClassVar, NamedTuple

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from sqlalchemy import select

from annot import __version__
from annot.base.errors import FULL, AnnotError, InputError, MissingInput, StoreError
from annot.base.names import counted, moment_now, sha256_of, verb
from annot.store import before_1, schema
from annot.store.database import DumpFacts, Store, dump, lock_file, open_store
from annot.store.models import FACET_LABELS_TABLE, POOL_TABLE
from annot.study.provenance import read_states
from annot.study.workspace import CACHE, SETTINGS_FILE, Workspace, held, is_inside, remove_dead, stage

# ----------------------------------------------------------------------------------------------------------------------
# A backup: a compressed tar with the database as lines of JSON, the study's files, and the server's projects.
#
#     annot-backup.json        a description, and the size and SHA-256 of everything below; it comes first
#     database/TABLE.jsonl     each table of the database
#     files/...                the study's folder, without files that can be made again
#     server/PROJECT.json      each project as the server had it: its settings, and its tasks with every annotation
#
# It is written as a whole or not at all, and it is not trusted, as a backup may come from someone else. Nothing is
# unpacked before its manifest has been read and checked, and then only the files that the manifest names, byte for
# byte.
# ----------------------------------------------------------------------------------------------------------------------


MANIFEST = "annot-backup.json"
DATABASE, FILES, SERVER = "database", "files", "server"
BACKUPS = "backups"
"""Folder of automatic backups; a restore leaves replaced files there."""
PART = (SETTINGS_FILE, "pools/plan.jsonl", "pools/plan.manifest.json")
"""Files that a backup of the database alone has besides it, if they exist."""
MOST_PACKED = 100
"""Largest ratio of the content of a backup to the size of its file."""
LONGEST_MANIFEST = 64 << 20
HINT = "use another backup; this one is damaged, changed or incomplete"
SMALL = 3
"""Level of compression: higher ones take several times as long for a tenth less."""
AROUND_ENTRY = 8 << 10
"""Bytes of tar around one file, at most."""


class Entry(NamedTuple):
    """Size and hash of one file in the manifest."""

    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """Manifest of a backup."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    annot: str
    """The program that made it."""
    made: str
    """Time, ISO 8601, UTC."""
    collection: str
    database: DumpFacts
    entries: Mapping[str, Entry]
    """Everything in it, by path."""
    notes: tuple[str, ...]
    """Omissions, with their reasons."""
    whole: bool
    """True if the files are all of the study's; otherwise a restore leaves the other files of its folder."""

    @property
    def files(self) -> tuple[PurePosixPath, ...]:
        """The paths of the study's files."""
        paths = map(PurePosixPath, self.entries)
        return tuple(path.relative_to(FILES) for path in paths if path.parts[:1] == (FILES,))

    @property
    def projects(self) -> int:
        """Number of projects of the server in it."""
        return sum(path.startswith(f"{SERVER}/") for path in self.entries)

    @property
    def size(self) -> int:
        """Bytes, when unpacked."""
        return sum(entry.size for entry in self.entries.values())


_FORM = TypeAdapter(BackupManifest)


def is_kept(path: PurePosixPath) -> bool:
    """True if a file at this path of a study's folder belongs in a backup.

    Files that can be made again do not, nor other backups, nor files of git, whose settings name commands to run.
    """
    return path.parts[0] not in (CACHE, BACKUPS) and not any(part.casefold() == ".git" for part in path.parts)


def entry_of(path: Path) -> Entry:
    """Entry of this file for a manifest."""
    return Entry(path.stat().st_size, sha256_of(path))


def write_archive(path: Path, contents: BackupManifest, sources: Mapping[str, Path]) -> None:
    """Write a new archive at `path`, private to its owner: complete or absent.

    sources: the file of each entry. Raises InputError when `path` exists already, when a file has changed since the
    manifest was made, and for files that `unpack` would refuse.
    """
    if path.exists():
        raise InputError(f"{path}: already exists", hint="backups are never overwritten")
    path.parent.mkdir(parents=True, exist_ok=True)
    beginning = f".{path.name}."
    remove_dead(path.parent.glob(f"{glob.escape(beginning)}*"))
    with ExitStack() as end:
        with held(path.parent, wait=True):
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=beginning)
            temporary = Path(name)
            end.callback(temporary.unlink, missing_ok=True)
            end.enter_context(held(temporary))
        with os.fdopen(handle, "wb") as file:
            # Links are followed, and hard links are files like any other.
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=SMALL, dereference=True) as tar:
                manifest = _FORM.dump_json(contents, indent=1)
                entry = tarfile.TarInfo(MANIFEST)
                entry.size = len(manifest)
                tar.addfile(entry, io.BytesIO(manifest))
                for name, source in sources.items():
                    tar.add(source, name, filter=_without_owner)
                    if entry_of(source) != contents.entries[name]:
                        raise InputError(f"{source}: changed while it was copied", hint="run the command again")
            file.flush()
            os.fsync(file.fileno())
        _check_ratio(path, contents, temporary.stat().st_size)
        temporary.rename(path)


def _check_ratio(path: Path, contents: BackupManifest, packed: int) -> None:
    if contents.size > MOST_PACKED * packed:
        raise InputError(
            f"{path}: {packed} bytes for {contents.size} bytes of files, expected at most {MOST_PACKED} times as many",
            hint="a real backup is never so small; move very repetitive files out of the study",
        )


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def unpack(path: Path, folder: Path) -> BackupManifest:
    """Unpack the archive into `folder`, and check it against its manifest.

    Raises InputError with everything that is wrong, and StoreError for a backup of a later version.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a backup made by `annot backup`")
    try:
        with _opened(path) as archive:
            contents = _manifest(path, archive.tar)
            _check_ratio(path, contents, path.stat().st_size)
            if contents.size > (free := shutil.disk_usage(folder).free):
                raise InputError(f"{path}: needs {contents.size} bytes, found {free} free on the disk")
            archive.left = contents.size + AROUND_ENTRY * (len(contents.entries) + 2)
            hashes = dict(_unpacked(path, archive.tar, contents, folder))
    except OSError as error:
        error.filename = error.filename or str(folder)
        raise
    faults = [f"{name}: missing" for name in contents.entries.keys() - hashes.keys()]
    faults += [
        f"{name}: found SHA-256 {digest[:12]}, expected {contents.entries[name].sha256[:12]}"
        for name, digest in hashes.items()
        if contents.entries[name].sha256 != digest
    ]
    if faults:
        raise InputError(
            f"{path}: {counted(len(faults), 'file')} in it {verb(len(faults), 'differs', 'differ')} from its manifest",
            faults=sorted(faults),
            hint=HINT,
        )
    return contents


def manifest_of(path: Path) -> BackupManifest:
    """Manifest of the backup; nothing else of it is read. Raises InputError or StoreError."""
    with _opened(path) as archive:
        return _manifest(path, archive.tar)


def dumped_by_version(contents: BackupManifest, folder: Path) -> DumpFacts:
    """Facts about the rows of an unpacked backup, which are brought to the tables of version 1 if they are older.

    folder: with a file for each table.
    """
    dumped = contents.database
    if before_1.OLD_TABLE not in dumped.rows:
        return dumped
    return DumpFacts(dumped.version, {**dumped.rows, **before_1.converted(folder)})


def is_archive(path: Path) -> bool:
    """True if the file is a backup, by its first entry; backups leave other backups out."""
    if path.suffix not in (".gz", ".tgz") or path.is_symlink():
        return False
    try:
        with _opened(path) as archive:
            first_entry = archive.tar.next()
    except (InputError, OSError):
        return False
    return first_entry is not None and first_entry.name == MANIFEST


class _Archive(io.RawIOBase):
    """An archive that is read as a stream, which ends in an error after more bytes than expected."""

    tar: tarfile.TarFile

    def __init__(self, source: io.BufferedIOBase) -> None:
        self._source = source
        self.left = LONGEST_MANIFEST + AROUND_ENTRY

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self.left -= len(piece)
        if self.left < 0:
            raise ValueError("it holds more than its manifest says")
        return piece


@contextmanager
def _opened(path: Path) -> Iterator[_Archive]:
    """The archive. Raises InputError if it is damaged, and OSError if a file cannot be written."""
    try:
        with gzip.open(path) as unpacked:
            archive = _Archive(unpacked)
            with tarfile.open(fileobj=archive, mode="r|", bufsize=tarfile.RECORDSIZE) as archive.tar:
                yield archive
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        if isinstance(error, OSError) and (error.filename is not None or error.errno in FULL):
            raise
        raise InputError(f"{path}: not a complete backup: {error}", hint=HINT) from None


def _manifest(path: Path, tar: tarfile.TarFile) -> BackupManifest:
    """The manifest of the backup at `path`.

    Raises InputError if it is not sound or names files that no backup has, StoreError if a later release made it.
    """
    first_entry = tar.next()
    if first_entry is None or first_entry.name != MANIFEST or not first_entry.isreg() or first_entry.issparse():
        raise InputError(f"{path}: not a backup: it does not begin with {MANIFEST}", hint=HINT)
    file = tar.extractfile(first_entry)
    assert file is not None
    text = file.read()
    _check_release(path, text)
    try:
        contents = _FORM.validate_json(text)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "everywhere"
        raise InputError(f"{path}: its manifest cannot be read: {where}: {fault['msg']}", hint=HINT) from None
    if faults := sorted(_misplaced(contents)):
        raise InputError(f"{path}: its manifest names files that do not belong in a backup", faults=faults, hint=HINT)
    return contents


def _check_release(path: Path, manifest: bytes) -> None:
    """Raise StoreError if a later release made the backup, whose manifest may have other entries."""
    with suppress(ValueError, TypeError, KeyError):
        record = json.loads(manifest)
        if record["database"]["version"] < 1:
            raise InputError(f"{path}: found version {record['database']['version']} of the tables", hint=HINT)
        if record["database"]["version"] > len(schema.MIGRATIONS):
            raise StoreError(
                f"{path}: made by annot {record['annot']}, this is {__version__}, which knows only earlier tables",
                hint="update annot",
            )


def _misplaced(contents: BackupManifest) -> Iterator[str]:
    """Names in a manifest that no backup has, and required names that it lacks."""
    tables_of_version = schema.table_names(contents.database.version)
    if before_1.OLD_TABLE in contents.database.rows and contents.annot.startswith("0."):
        tables_of_version = tables_of_version - {*before_1.NEW_TABLES} | {before_1.OLD_TABLE}
    for name in sorted(contents.database.rows.keys() ^ tables_of_version):
        yield f"{name}: {'a table missing' if name in tables_of_version else 'no table of that version'}"
    tables = {f"{DATABASE}/{name}.jsonl" for name in contents.database.rows}
    yield from (
        f"{name!r}: does not belong in a backup"
        for name in contents.entries
        if not (_is_plain(name, contents) and (name in tables or _is_other_entry(PurePosixPath(name))))
    )
    if not contents.whole:
        yield from (
            f"{path}: found in a backup of the database, expected only the settings and the plan"
            for path in contents.files
            if path.as_posix() not in PART
        )
    if contents.whole and PurePosixPath(SETTINGS_FILE) not in contents.files:
        yield f"{SETTINGS_FILE}: missing"
    if {("HEAD",), ("objects",), ("refs",)} <= {path.parts[:1] for path in contents.files}:
        yield "HEAD, objects and refs: a git folder, which does not belong in a backup"


def _is_plain(name: str, contents: BackupManifest) -> bool:
    """True if the name is a relative path without detours, and no entry is a folder of it."""
    path = PurePosixPath(name)
    if path.as_posix() != name or path.parts[:1] == ("/",) or ".." in path.parts or "\0" in name:
        return False
    return not any(parent.as_posix() in contents.entries for parent in path.parents[:-1])


def _is_other_entry(path: PurePosixPath) -> bool:
    """True for the path of a study's file or of a project of the server."""
    top, below = path.parts[:1], path.parts[1:]
    if top == (FILES,):
        return bool(below) and is_kept(PurePosixPath(*below))
    return top == (SERVER,) and len(below) == 1


def _unpacked(path: Path, tar: tarfile.TarFile, contents: BackupManifest, folder: Path) -> Iterator[tuple[str, str]]:
    """Write each entry below `folder`: its name and SHA-256."""
    remaining = dict(contents.entries)
    while entry := tar.next():
        expected = remaining.pop(entry.name, None)
        if expected is None:
            problem = "twice in it" if entry.name in contents.entries else "not in its manifest"
            raise InputError(f"{path}: {entry.name!r}: {problem}", hint=HINT)
        if not entry.isreg() or entry.issparse() or entry.size != expected.size:
            raise InputError(f"{path}: {entry.name}: not a file of {expected.size} bytes", hint=HINT)
        target, source = folder / entry.name, tar.extractfile(entry)
        assert source is not None
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            shutil.copyfileobj(source, file)
        target.chmod(entry.mode & 0o777 | 0o600)
        yield entry.name, sha256_of(target)


# ----------------------------------------------------------------------------------------------------------------------
# Backups of a study: which files of its folder belong to it, and the automatic backups.
#
# An automatic backup holds the database, the plan and the settings, but not the corpus and not the projects on the
# server. One is made after each push, after each pull that brought something, before each restore and before anything
# is deleted. The last ten are kept, and the last of each day for thirty days.
# ----------------------------------------------------------------------------------------------------------------------


LINKED = ("corpus", "weights")
"""Folders whose files may be links to files elsewhere, which are large and have one place."""
AUTOMATIC = "auto-"
"""Beginning of the name of an automatic backup; the moment and the reason follow."""
MOMENT = "%Y%m%dT%H%M%S%fZ"
NAME = re.compile(r"auto-\d{8}T\d{12}Z-.*\.tar\.gz")
KEPT, KEPT_DAYS = 10, 30
NIGHT_FILE = "night.json"
"""File with the time and the failures of the last `annot studio nightly`."""


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
) -> BackupManifest | None:
    """Write a new archive at `path`: the database at one moment, these files, and the files in `snapshots`.

    unlike: a backup; if it has the same content, nothing is written and None is returned.
    """
    with stage(ws.root) as folder:
        with store.read() as session:
            dumped = dump(session.connection(), folder)
        sources = {f"{DATABASE}/{name}.jsonl": folder / f"{name}.jsonl" for name in dumped.rows}
        sources |= {f"{FILES}/{file.relative_to(ws.root).as_posix()}": file for file in files}
        if snapshots is not None:
            sources |= {f"{SERVER}/{file.name}": file for file in sorted(snapshots.iterdir())}
        contents = BackupManifest(
            __version__,
            moment_now(),
            ws.settings.collection.name,
            dumped,
            {name: entry_of(source) for name, source in sources.items()},
            tuple(notes),
            whole,
        )
        earlier = None if unlike is None else _readable_manifest(unlike)
        if earlier is not None and earlier.entries == contents.entries:
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
    """Bring a database of an earlier version to this program's, after a backup; returns the backup, or None."""
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
        return ws.read(read_states)
    except MissingInput:
        return {}


def backups(ws: Workspace) -> tuple[Path, ...]:
    """The backups in the study's folder and in its `backups/`, the newest last."""
    paths = (path for folder in (ws.root, ws.root / BACKUPS) for path in folder.glob("*.*gz") if is_archive(path))
    return tuple(sorted(paths, key=lambda path: path.stat().st_mtime))


def _readable_manifest(path: Path) -> BackupManifest | None:
    """The manifest of the backup; None if it cannot be read."""
    try:
        return manifest_of(path)
    except AnnotError:
        return None


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
        for path in (entry, *(() if entry.is_symlink() else sorted(entry.rglob("*")))):
            name = path.relative_to(ws.root)
            if not is_kept(PurePosixPath(name)):
                continue
            if path.is_symlink() and not (path.is_file() and name.parts[0] in LINKED):
                notes.append(f"{name}: left out, a link to {path.readlink()}")
            elif path.is_file() and not is_archive(path):
                yield path


def _automatic(ws: Workspace) -> list[Path]:
    """Automatic backups, whose names sort by time."""
    return [path for path in (ws.root / BACKUPS).glob(f"{AUTOMATIC}*.tar.gz") if NAME.fullmatch(path.name)]


def _moment(path: Path) -> datetime:
    return datetime.strptime(path.name.split("-")[1], MOMENT).replace(tzinfo=UTC)


def _drop_old(ws: Workspace, now: datetime) -> None:
    """Remove backups except the newest ones and the last of each recent day."""
    paths = sorted(_automatic(ws))
    of_days = {_moment(path).date(): path for path in paths if now - _moment(path) < timedelta(days=KEPT_DAYS)}
    for path in {*paths} - {*paths[-KEPT:], *of_days.values()}:
        path.unlink(missing_ok=True)


SHARED = "annot.toml, corpus/, guidelines/, pools/, exports/, training/, substudy/ and made.json"
"""Parts of a study's folder that are not in its database."""


def missing_part(ws: Workspace) -> MissingInput | None:
    """Error about a missing part, with the remedy; None if nothing is missing, or the study never had it."""
    return _lost_database(ws) if ws.database_file else _folders_elsewhere(ws)


def _lost_database(ws: Workspace) -> MissingInput | None:
    """Error if the file of the database is missing but the rest of the study is there."""
    path = ws.database_file
    if path is None or path.exists():
        return None
    backups_found = backups(ws)
    folders = {"corpus/": ws.corpus, "pools/": ws.pools, "exports/": ws.exports}
    parts = [name for name, folder in folders.items() if any(folder.rglob("*.*"))]
    parts += [counted(len(backups_found), "backup")] if backups_found else []
    if not parts:
        return None
    hint = "`annot restore FILE --replace` restores the study from a backup"
    if backups_found:
        newest = backups_found[-1]
        name = newest.relative_to(ws.root)
        manifest = _readable_manifest(newest)
        if manifest is None or manifest.whole:
            hint = f"`annot restore {name} --replace` restores the study from the newest backup"
        else:
            hint = f"`annot restore {name}` restores the database; then run `annot push` and `annot pull`"
    if renamed := next(iter(sorted(path.parent.glob("*.db"))), None):
        hint = f'set database = "{renamed.name}" in [store] of annot.toml if that is the database, or else {hint}'
    return MissingInput(f"{path}: found {' and '.join(parts)} of a study, but no database", hint=hint)


def _folders_elsewhere(ws: Workspace) -> MissingInput | None:
    """Error if the database on a server has records of folders that are not here."""
    labels, pools = FACET_LABELS_TABLE, POOL_TABLE
    content_of = {
        "corpus": select(labels.c.paper_id),
        "pools": select(pools.c.topic_id).where(pools.c.per_method.is_not(None)),
    }
    unseen = {name: rows for name, rows in content_of.items() if not (ws.root / name / "manifest.json").is_file()}
    if not unseen:
        return None
    try:
        with open_store(ws.database_url, create=False) as store, store.read() as session:
            absent = [
                f"{name}/" for name, rows in unseen.items() if session.connection().execute(rows.limit(1)).first()
            ]
    except AnnotError:
        return None
    if not absent:
        return None
    return MissingInput(
        f"{store.place}: its study has {' and '.join(absent)}, but this folder does not ({ws.root.resolve()})",
        hint="work in the study's own folder, or share that folder among the leads, for example on a network drive: "
        f"the database does not hold {SHARED}",
    )
