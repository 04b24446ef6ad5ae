"""A backup: one compressed tar with the database as lines of JSON, the study's files, and what the server held.

    database/TABLE.jsonl     each table of the database
    files/...                the study's folder, without what can be made again
    server/PROJECT.json      each project as the server had it: its settings, and its tasks with every annotation
    manifest.json            what it is of, and the SHA-256 of everything above; it comes last

A file without a sound manifest is no backup: it was not written to its end, or was changed since.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from annot.errors import InputError
from annot.store.dump import Dumped

FORM = 1
MANIFEST = "manifest.json"
DATABASE, FILES, SERVER = "database", "files", "server"
SMALL = 3
"""Level of compression: higher ones take several times as long for a tenth less."""
PIECE = 1 << 20
HINT = "take another backup; this one is damaged or was not written to its end"


@dataclass(frozen=True, slots=True)
class Contents:
    """What a backup says of itself."""

    annot: str
    """The program that made it."""
    made: str
    """When, ISO 8601, UTC."""
    collection: str
    database: Dumped
    sha256: Mapping[str, str]
    """Of everything in it, by path."""
    notes: tuple[str, ...] = ()
    """What it lacks, and why."""

    @property
    def files(self) -> tuple[PurePosixPath, ...]:
        """The paths of the study's files; none where it is of the database alone."""
        paths = map(PurePosixPath, self.sha256)
        return tuple(path.relative_to(FILES) for path in paths if path.parts[0] == FILES)

    @property
    def projects(self) -> int:
        """How many projects of the server are in it."""
        return sum(path.startswith(f"{SERVER}/") for path in self.sha256)


class Writer:
    """An archive that is being written."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.sha256: dict[str, str] = {}

    def add(self, name: str, source: Path) -> None:
        """Put a file into the archive under this name, and remember the hash of what was put in."""
        with source.open("rb") as file:
            entry = self._tar.gettarinfo(arcname=name, fileobj=file)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            reading = _Hashed(file)
            self._tar.addfile(entry, reading)
        self.sha256[name] = reading.digest.hexdigest()

    def close(self, contents: Contents) -> None:
        """Write the manifest, which ends the archive."""
        text = json.dumps({"annot_backup": FORM, **asdict(contents)}, indent=1, sort_keys=False).encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size = len(text)
        self._tar.addfile(entry, io.BytesIO(text))


@contextmanager
def new_archive(path: Path) -> Iterator[Writer]:
    """A new archive at `path`, private to its owner: whole at the end of the context, or not there at all.

    Raises InputError when something is there already.
    """
    if path.exists():
        raise InputError(f"{path}: is there already", hint="name another file; a backup is never written over")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=SMALL) as tar:
                yield Writer(tar)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).rename(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def unpack(path: Path, folder: Path) -> Contents:
    """Unpack the archive into `folder`, held against its manifest. Raises InputError with everything that is wrong."""
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a backup made by `annot backup`")
    found: dict[str, str] = {}
    try:
        with tarfile.open(path, mode="r:gz") as tar:
            for entry in tar:
                found[entry.name] = _unpack_entry(tar, entry, folder)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise InputError(f"{path}: not a whole backup: {error}", hint=HINT) from None
    found.pop(MANIFEST, None)
    contents = _contents(path, folder / MANIFEST)
    faults = [f"{name}: not in it" for name in contents.sha256.keys() - found.keys()]
    faults += [f"{name}: not in its manifest" for name in found.keys() - contents.sha256.keys()]
    faults += [
        f"{name}: found SHA-256 {digest[:12]}, expected {contents.sha256[name][:12]}"
        for name, digest in found.items()
        if contents.sha256.get(name, digest) != digest
    ]
    if faults:
        raise InputError(f"{path}: {len(faults)} file(s) differ from its manifest", faults=sorted(faults), hint=HINT)
    return contents


def is_archive(path: Path) -> bool:
    """Whether the file is a backup, by its first entry: one is not put into the next."""
    if path.suffix not in (".gz", ".tgz"):
        return False
    try:
        with tarfile.open(path, mode="r:gz") as tar:
            first = tar.next()
    except (tarfile.TarError, EOFError, OSError):
        return False
    return first is not None and first.name.startswith(f"{DATABASE}/")


class _Hashed:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: io.BufferedIOBase | io.BufferedReader) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self.digest.update(piece)
        return piece


def _unpack_entry(tar: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> str:
    """Write one entry below `folder`; its SHA-256. Raises ValueError for one that no backup has."""
    path = PurePosixPath(entry.name)
    known = path.parts[0] in (DATABASE, FILES, SERVER) or entry.name == MANIFEST
    if not entry.isfile() or path.is_absolute() or ".." in path.parts or not known:
        raise ValueError(f"{entry.name!r} does not belong in it")
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    source, digest = tar.extractfile(entry), hashlib.sha256()
    assert source is not None
    with target.open("xb") as file:
        while piece := source.read(PIECE):
            file.write(piece)
            digest.update(piece)
    target.chmod(entry.mode & 0o777)
    return digest.hexdigest()


def _contents(path: Path, manifest: Path) -> Contents:
    try:
        record: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
        if record.pop("annot_backup") != FORM:
            raise InputError(f"{path}: a backup of another form", hint="a newer annot has made it: update annot")
        return Contents(**{**record, "database": Dumped(**record["database"]), "notes": tuple(record["notes"])})
    except (OSError, ValueError, TypeError, KeyError):
        raise InputError(f"{path}: no manifest of a backup in it", hint=HINT) from None
