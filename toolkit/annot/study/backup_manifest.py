"""A backup: one compressed tar with the database as lines of JSON, the study's files, and what the server held.

    annot-backup.json        what it is of, and the size and SHA-256 of everything below; it comes first
    database/TABLE.jsonl     each table of the database
    files/...                the study's folder, without what can be made again
    server/PROJECT.json      each project as the server had it: its settings, and its tasks with every annotation

A backup may come from someone else. Nothing is unpacked before its manifest has been read and found sound, and then
only what the manifest names, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, ClassVar, NamedTuple

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from annot.base.errors import InputError
from annot.store.base import TABLES
from annot.store.dump import Dumped, check_version
from annot.study.workspace import CACHE, SETTINGS_FILE, sha256_of

MANIFEST = "annot-backup.json"
DATABASE, FILES, SERVER = "database", "files", "server"
BACKUPS = "backups"
"""Where the program itself puts backups: before a migration, and of what a restore replaces."""
ASIDE = ".annot-restore-"
"""How the folder begins in which a restore unpacks."""
MOST_PACKED = 100
"""What is in a backup is at most so many times the size of its file."""
LONGEST_MANIFEST = 64 << 20
HINT = "take another backup; this one is damaged, was changed, or was not written to its end"


class Entry(NamedTuple):
    """What the manifest says of one file."""

    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a backup says of itself: the manifest."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    annot: str
    """The program that made it."""
    made: str
    """When, ISO 8601, UTC."""
    collection: str
    database: Dumped
    entries: Mapping[str, Entry]
    """Everything in it, by path."""
    notes: tuple[str, ...] = ()
    """What it lacks, and why."""

    @property
    def files(self) -> tuple[PurePosixPath, ...]:
        """The paths of the study's files; none if it is of the database alone."""
        paths = map(PurePosixPath, self.entries)
        return tuple(path.relative_to(FILES) for path in paths if path.parts[:1] == (FILES,))

    @property
    def projects(self) -> int:
        """How many projects of the server are in it."""
        return sum(path.startswith(f"{SERVER}/") for path in self.entries)

    @property
    def size(self) -> int:
        """Bytes, when unpacked."""
        return sum(entry.size for entry in self.entries.values())


_FORM = TypeAdapter(Contents)


def is_kept(path: PurePosixPath) -> bool:
    """Whether a file at this path of a study's folder belongs in a backup.

    What can be made again does not, nor other backups, nor anything of git, whose settings name commands to run.
    """
    top = path.parts[0]
    left = top in (CACHE, BACKUPS) or top.startswith(ASIDE)
    return not left and not any(part.casefold() == ".git" for part in path.parts)


def entry_of(path: Path) -> Entry:
    """What a manifest says of this file."""
    return Entry(path.stat().st_size, sha256_of(path))


def written(contents: Contents) -> bytes:
    """The manifest as it is in the archive."""
    return _FORM.dump_json(contents, indent=1)


def read_contents(path: Path, manifest: bytes) -> Contents:
    """The manifest of the backup at `path`.

    Raises InputError when it is not sound or names what no backup has, StoreError for a database of another version.
    """
    try:
        contents = _FORM.validate_json(manifest)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        raise InputError(f"{path}: its manifest cannot be read: {where}: {first['msg']}", hint=HINT) from None
    check_version(contents.database)
    if faults := sorted(_misplaced(contents)):
        raise InputError(f"{path}: its manifest names what no backup has", faults=faults, hint=HINT)
    return contents


def check_sizes(path: Path, contents: Contents, *, packed: int, free: int | None = None) -> None:
    """Raise InputError for more than fits: on the disk, or into a file of this size."""
    if contents.size > MOST_PACKED * packed:
        raise InputError(
            f"{path}: {packed} bytes for {contents.size} bytes of files, expected at most {MOST_PACKED} times as many",
            hint="a backup of real work is never so small; move what is all alike out of the study",
        )
    if free is not None and contents.size > free:
        raise InputError(f"{path}: holds {contents.size} bytes, and {free} are free on the disk")


def _misplaced(contents: Contents) -> Iterator[str]:
    """The names in a manifest that no backup has."""
    tables = {f"{DATABASE}/{name}.jsonl" for name in contents.database.rows}
    if contents.database.rows.keys() != TABLES.tables.keys():
        for name in sorted(contents.database.rows.keys() ^ TABLES.tables.keys()):
            yield f"{name}: {'a table missing' if name in TABLES.tables else 'no table of this version'}"
    for name in contents.entries:
        path = PurePosixPath(name)
        plain = path.as_posix() == name and path.parts[:1] != ("/",) and ".." not in path.parts and "\0" not in name
        top, below = path.parts[:1], path.parts[1:]
        known = (
            (top == (DATABASE,) and name in tables)
            or (top == (FILES,) and bool(below) and is_kept(PurePosixPath(*below)))
            or (top == (SERVER,) and len(below) == 1)
        )
        if not plain or not known or any(parent.as_posix() in contents.entries for parent in path.parents[:-1]):
            yield f"{name!r}: does not belong in it"
    if contents.files and PurePosixPath(SETTINGS_FILE) not in contents.files:
        yield f"{SETTINGS_FILE}: not in it"
    if {("HEAD",), ("objects",), ("refs",)} <= {path.parts[:1] for path in contents.files}:
        yield "HEAD, objects and refs: a folder of git, which does not belong in it"
