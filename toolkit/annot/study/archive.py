"""The file of a backup: written whole or not at all, and unpacked with distrust."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from annot.base.errors import InputError
from annot.study.backup_manifest import (
    HINT,
    LONGEST_MANIFEST,
    MANIFEST,
    Contents,
    Entry,
    check_sizes,
    read_contents,
    written,
)

SMALL = 3
"""Level of compression: higher ones take several times as long for a tenth less."""
AROUND_ENTRY = 8 << 10
"""Bytes of tar around one file, at most."""
PIECE = 1 << 20
_BROKEN = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError)
"""What reading a damaged archive raises."""


def write_archive(path: Path, contents: Contents, sources: Mapping[str, Path]) -> None:
    """Write a new archive at `path`, private to its owner: whole, or not there at all.

    sources: the file of each entry. Raises InputError when something is at `path` already, when a file has changed
    since the manifest was made, and for what `unpack` would refuse.
    """
    if path.exists():
        raise InputError(f"{path}: is there already", hint="name another file; a backup is never written over")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=SMALL) as tar:
                manifest = written(contents)
                entry = tarfile.TarInfo(MANIFEST)
                entry.size = len(manifest)
                tar.addfile(entry, io.BytesIO(manifest))
                for name, source in sources.items():
                    _add(tar, name, source, contents.entries[name])
            file.flush()
            os.fsync(file.fileno())
        check_sizes(path, contents, packed=Path(temporary).stat().st_size)
        Path(temporary).rename(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


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
                check_sizes(path, contents, packed=path.stat().st_size, free=shutil.disk_usage(folder).free)
                source.left = contents.size + AROUND_ENTRY * (len(contents.entries) + 2)
                found = dict(_unpacked(path, tar, contents, folder))
    except _BROKEN as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise InputError(f"{path}: not a whole backup: {error}", hint=HINT) from None
    faults = [f"{name}: not in it" for name in contents.entries.keys() - found.keys()]
    faults += [
        f"{name}: found SHA-256 {digest[:12]}, expected {contents.entries[name].sha256[:12]}"
        for name, digest in found.items()
        if contents.entries[name].sha256 != digest
    ]
    if faults:
        raise InputError(f"{path}: {len(faults)} file(s) differ from its manifest", faults=sorted(faults), hint=HINT)
    return contents


def is_archive(path: Path) -> bool:
    """Whether the file is a backup, by its first entry: one is not put into the next."""
    if path.suffix not in (".gz", ".tgz") or path.is_symlink():
        return False
    try:
        with gzip.open(path) as unpacked, tarfile.open(fileobj=_Measured(unpacked), mode="r|") as tar:
            first = tar.next()
    except _BROKEN:
        return False
    return first is not None and first.name == MANIFEST


class _Measured(io.RawIOBase):
    """A stream from which no more is read than was expected."""

    def __init__(self, source: io.BufferedIOBase) -> None:
        self._source = source
        self.left = LONGEST_MANIFEST + AROUND_ENTRY

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self.left -= len(piece)
        if self.left < 0:
            raise ValueError("more in it than its manifest says")
        return piece


def _add(tar: tarfile.TarFile, name: str, source: Path, expected: Entry) -> None:
    with source.open("rb") as file:
        entry = tar.gettarinfo(arcname=name, fileobj=file)
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        reading = _Hashed(file)
        tar.addfile(entry, reading)
    if Entry(entry.size, reading.digest.hexdigest()) != expected:
        raise InputError(f"{source}: has changed while the backup was written", hint="run it again")


class _Hashed:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self.digest.update(piece)
        return piece


def _manifest(path: Path, tar: tarfile.TarFile) -> Contents:
    """The manifest, found sound. Raises InputError or StoreError."""
    first = tar.next()
    if first is None or first.name != MANIFEST or not first.isreg() or first.issparse():
        raise InputError(f"{path}: not a backup: no {MANIFEST} at its beginning", hint=HINT)
    file = tar.extractfile(first)
    assert file is not None
    return read_contents(path, file.read())


def _unpacked(path: Path, tar: tarfile.TarFile, contents: Contents, folder: Path) -> Iterator[tuple[str, str]]:
    """Write each entry below `folder`: its name and SHA-256."""
    left = dict(contents.entries)
    while entry := tar.next():
        expected = left.pop(entry.name, None)
        if expected is None:
            found = "twice in it" if entry.name in contents.entries else "not in its manifest"
            raise InputError(f"{path}: {entry.name!r}: {found}", hint=HINT)
        if not entry.isreg() or entry.issparse() or entry.size != expected.size:
            raise InputError(f"{path}: {entry.name}: not a file of {expected.size} bytes", hint=HINT)
        yield entry.name, _unpack_entry(tar, entry, folder / entry.name)


def _unpack_entry(tar: tarfile.TarFile, entry: tarfile.TarInfo, target: Path) -> str:
    """Write one entry to `target`; its SHA-256."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source, digest = tar.extractfile(entry), hashlib.sha256()
    assert source is not None
    with target.open("xb") as file:
        while piece := source.read(PIECE):
            file.write(piece)
            digest.update(piece)
    target.chmod(entry.mode & 0o777 | 0o600)
    return digest.hexdigest()
