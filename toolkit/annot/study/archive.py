"""A backup: a compressed tar with the database as lines of JSON, the study's files, and the server's projects.

    annot-backup.json        a description, and the size and SHA-256 of everything below; it comes first
    database/TABLE.jsonl     each table of the database
    files/...                the study's folder, without files that can be made again
    server/PROJECT.json      each project as the server had it: its settings, and its tasks with every annotation

It is written as a whole or not at all, and it is not trusted, as a backup may come from someone else. Nothing is
unpacked before its manifest has been read and checked, and then only the files that the manifest names, byte for byte.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, ClassVar, NamedTuple

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from annot.base.errors import FULL, InputError
from annot.base.names import counted, verb
from annot.store.dump import Dumped, check_version
from annot.store.models import TABLES
from annot.study.stages import held, remove_dead
from annot.study.workspace import ASIDE, CACHE, SETTINGS_FILE, sha256_of

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
_BROKEN = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError)
"""Errors of reading a damaged archive."""


class Entry(NamedTuple):
    """Size and hash of one file in the manifest."""

    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Contents:
    """Manifest of a backup."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    annot: str
    """The program that made it."""
    made: str
    """Time, ISO 8601, UTC."""
    collection: str
    database: Dumped
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


_FORM = TypeAdapter(Contents)


def is_kept(path: PurePosixPath) -> bool:
    """True if a file at this path of a study's folder belongs in a backup.

    Files that can be made again do not, nor other backups, nor files of git, whose settings name commands to run.
    """
    top = path.parts[0]
    is_excluded = top in (CACHE, BACKUPS) or top.startswith(ASIDE)
    return not is_excluded and not any(part.casefold() == ".git" for part in path.parts)


def entry_of(path: Path) -> Entry:
    """Entry of this file for a manifest."""
    return Entry(path.stat().st_size, sha256_of(path))


def write_archive(path: Path, contents: Contents, sources: Mapping[str, Path]) -> None:
    """Write a new archive at `path`, private to its owner: complete or absent.

    sources: the file of each entry. Raises InputError when `path` exists already, when a file has changed since the
    manifest was made, and for what `unpack` would refuse.
    """
    if path.exists():
        raise InputError(
            f"{path}: found a file, expected a new name", hint="name another file; backups are never overwritten"
        )
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
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=SMALL) as tar:
                manifest = _FORM.dump_json(contents, indent=1)
                entry = tarfile.TarInfo(MANIFEST)
                entry.size = len(manifest)
                tar.addfile(entry, io.BytesIO(manifest))
                for name, source in sources.items():
                    _add(tar, name, source, contents.entries[name])
            file.flush()
            os.fsync(file.fileno())
        _check_sizes(path, contents, packed=temporary.stat().st_size)
        temporary.rename(path)


def unpack(path: Path, folder: Path) -> Contents:
    """Unpack the archive into `folder`, held against its manifest.

    Raises InputError with everything that is wrong, and StoreError for a database of another version.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a backup made by `annot backup`")
    try:
        with gzip.open(path) as unpacked:
            source = _Measured(unpacked)
            with tarfile.open(fileobj=source, mode="r|", bufsize=tarfile.RECORDSIZE) as tar:
                contents = _manifest(path, tar)
                _check_sizes(path, contents, packed=path.stat().st_size, free=shutil.disk_usage(folder).free)
                source.left = contents.size + AROUND_ENTRY * (len(contents.entries) + 2)
                hashes = dict(_unpacked(path, tar, contents, folder))
    except _BROKEN as error:
        if isinstance(error, OSError) and (error.filename is not None or error.errno in FULL):
            error.filename = error.filename or str(folder)
            raise
        raise InputError(f"{path}: not a complete backup: {error}", hint=HINT) from None
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


def manifest_of(path: Path) -> Contents:
    """Manifest of the backup; nothing else of it is read. Raises InputError or StoreError."""
    try:
        with gzip.open(path) as unpacked, tarfile.open(fileobj=_Measured(unpacked), mode="r|") as tar:
            return _manifest(path, tar)
    except _BROKEN as error:
        raise InputError(f"{path}: not a complete backup: {error}", hint=HINT) from None


def is_archive(path: Path) -> bool:
    """True if the file is a backup, by its first entry; backups leave other backups out."""
    if path.suffix not in (".gz", ".tgz") or path.is_symlink():
        return False
    try:
        with gzip.open(path) as unpacked, tarfile.open(fileobj=_Measured(unpacked), mode="r|") as tar:
            first_entry = tar.next()
    except _BROKEN:
        return False
    return first_entry is not None and first_entry.name == MANIFEST


def _manifest(path: Path, tar: tarfile.TarFile) -> Contents:
    """The manifest of the backup at `path`.

    Raises InputError if it is not sound or names files that no backup has, StoreError for a database of another
    version.
    """
    first_entry = tar.next()
    if first_entry is None or first_entry.name != MANIFEST or not first_entry.isreg() or first_entry.issparse():
        raise InputError(f"{path}: not a backup: it does not begin with {MANIFEST}", hint=HINT)
    file = tar.extractfile(first_entry)
    assert file is not None
    try:
        contents = _FORM.validate_json(file.read())
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "everywhere"
        raise InputError(f"{path}: its manifest cannot be read: {where}: {fault['msg']}", hint=HINT) from None
    check_version(contents.database)
    if faults := sorted(_misplaced(contents)):
        raise InputError(f"{path}: its manifest names files that do not belong in a backup", faults=faults, hint=HINT)
    return contents


def _check_sizes(path: Path, contents: Contents, *, packed: int, free: int | None = None) -> None:
    """Raise InputError for more than fits: on the disk, or into a file of this size."""
    if contents.size > MOST_PACKED * packed:
        raise InputError(
            f"{path}: {packed} bytes for {contents.size} bytes of files, expected at most {MOST_PACKED} times as many",
            hint="a real backup is never so small; move very repetitive files out of the study",
        )
    if free is not None and contents.size > free:
        raise InputError(f"{path}: needs {contents.size} bytes, found {free} free on the disk")


def _misplaced(contents: Contents) -> Iterator[str]:
    """The names in a manifest that no backup has."""
    tables = {f"{DATABASE}/{name}.jsonl" for name in contents.database.rows}
    if contents.database.rows.keys() != TABLES.tables.keys():
        for name in sorted(contents.database.rows.keys() ^ TABLES.tables.keys()):
            yield f"{name}: {'a table missing' if name in TABLES.tables else 'no table of this version'}"
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


def _is_plain(name: str, contents: Contents) -> bool:
    """True if the name is a relative path without detours, and no entry is a folder of it."""
    path = PurePosixPath(name)
    if path.as_posix() != name or path.parts[:1] == ("/",) or ".." in path.parts or "\0" in name:
        return False
    return not any(parent.as_posix() in contents.entries for parent in path.parents[:-1])


def _is_other_entry(path: PurePosixPath) -> bool:
    """True for a file of the study or a project of the server."""
    top, below = path.parts[:1], path.parts[1:]
    if top == (FILES,):
        return bool(below) and is_kept(PurePosixPath(*below))
    return top == (SERVER,) and len(below) == 1


class _Measured(io.RawIOBase):
    """A stream that ends in an error after more bytes than expected."""

    def __init__(self, source: io.BufferedIOBase) -> None:
        self._source = source
        self.left = LONGEST_MANIFEST + AROUND_ENTRY

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self.left -= len(piece)
        if self.left < 0:
            raise ValueError("it holds more than its manifest says")
        return piece


def _add(tar: tarfile.TarFile, name: str, source: Path, expected: Entry) -> None:
    with source.open("rb") as file:
        entry = tar.gettarinfo(arcname=name, fileobj=file)
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        tar.addfile(entry, file)
    if entry_of(source) != expected or entry.size != expected.size:
        raise InputError(f"{source}: changed while the backup was written", hint="run the command again")


def _unpacked(path: Path, tar: tarfile.TarFile, contents: Contents, folder: Path) -> Iterator[tuple[str, str]]:
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
