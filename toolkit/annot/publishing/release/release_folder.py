"""The folder of a release: built aside and moved into place, over nothing but an earlier release of the collection."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from annot.base.errors import InputError
from annot.study.workspace import write_file

METADATA_FILE = "croissant.json"
SUMS_FILE = "SHA256SUMS"
PASSED_OVER = "__pycache__"
"""What Python leaves behind where the release's module was imported."""


def bundle(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with `SHA256SUMS` (as `sha256sum -c` reads it) added, by path in order. The same files, the same bytes.

    Raises InputError with the paths that differ in case only: many file systems take them for one.
    """
    by_folded: dict[str, list[str]] = {}
    for path in files:
        by_folded.setdefault(path.casefold(), []).append(path)
    faults = [
        f"{', '.join(same)}: these names differ only in upper and lower case" for same in by_folded.values() if same[1:]
    ]
    if faults:
        raise InputError(f"the release: {len(faults)} fault(s) in the names of files", faults=faults)
    sums = "".join(f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files))
    return dict(sorted({**files, SUMS_FILE: sums.encode("utf-8")}.items()))


def check_folder(folder: Path, *, name: str) -> None:
    """Raise InputError unless `folder` is not there, empty, or holds an untouched release of the collection `name`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: a file, expected a folder or nothing")
    files = _files(folder)
    if not files:
        return
    hint = "name an empty folder, or one that does not exist yet"
    if SUMS_FILE not in files or METADATA_FILE not in files:
        raise InputError(f"{folder}: not empty, and not a release made here", hint=hint)
    if (found := _name(files[METADATA_FILE])) != name:
        raise InputError(f"{folder}: a release of {found!r}, expected {name!r} or an empty folder", hint=hint)
    lines = files[SUMS_FILE].read_text(encoding="utf-8", errors="replace").splitlines()
    sums = {path: sha256 for sha256, _, path in (line.partition("  ") for line in lines)}
    faults = [
        f"{path}: changed since" if path in sums else f"{path}: not part of the release"
        for path, file in files.items()
        if path != SUMS_FILE and (file.is_dir() or sums.get(path) != hashlib.sha256(file.read_bytes()).hexdigest())
    ]
    if faults:
        raise InputError(f"{folder}: {len(faults)} file(s) would be lost", faults=faults, hint="name another folder")


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make `folder` hold these files and nothing else. Killed at any moment, it is the old release or the new one.

    What stands there is not looked at: see `check_folder`.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside, before = folder.with_name(f".{folder.name}.annot-new"), folder.with_name(f".{folder.name}.annot-old")
    with _alone(aside):
        try:
            _empty(aside)
            for path, content in files.items():
                write_file(aside / path, content)
            if folder.exists():
                # What a kill after the second move left is the release before last.
                shutil.rmtree(before, ignore_errors=True)
                folder.rename(before)
            aside.rename(folder)
        except BaseException:
            restore_folder(folder)
            shutil.rmtree(aside, ignore_errors=True)
            raise
        shutil.rmtree(before, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Bring back the earlier release of a call that was killed between the two moves."""
    folder = folder.resolve()
    before = folder.with_name(f".{folder.name}.annot-old")
    if before.is_dir() and not folder.exists():
        before.rename(folder)


@contextmanager
def _alone(aside: Path) -> Iterator[None]:
    """The folder `aside`, made, and held by this process alone; what a killed process left in it is taken over."""
    aside.mkdir(exist_ok=True)
    handle = os.open(aside, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Between opening and locking, its writer may have moved it into place.
            if not aside.exists() or aside.stat().st_ino != os.fstat(handle).st_ino:
                raise BlockingIOError
        except BlockingIOError:
            raise InputError(f"{aside}: another process is writing a release there", hint="wait for it") from None
        yield
    finally:
        os.close(handle)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _files(folder: Path) -> dict[str, Path]:
    """Everything in the folder by its relative path; an empty folder in it counts as a file that is not ours."""
    if not folder.is_dir():
        return {}
    found = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if PASSED_OVER in relative.parts or (path.is_dir() and any(path.iterdir())):
            continue
        found[relative.as_posix()] = path
    return found


def _name(metadata: Path) -> str | None:
    try:
        found = json.loads(metadata.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return str(found.get("name")) if isinstance(found, dict) else None
