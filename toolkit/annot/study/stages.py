"""Stages: private folders in a study's `.annot/` in which a command works; those of killed commands go with the next.

A folder outside the study, such as a release, is made in a stage too, and takes its place whole (`replace_folder`).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from annot.study.doors import check_door, is_inside
from annot.study.workspace import ASIDE, CACHE, STAGE

PLACE_FILE = "place"
"""In a stage: the folder elsewhere that is being replaced."""


@contextmanager
def stage(root: Path) -> Iterator[Path]:
    """A private folder in the study's `.annot/`, on the disk of the study and in no repository, to work in.

    It is removed at the end; if this process is killed, by the next command.
    """
    remove_dead_stages(root)
    cache = root / CACHE
    if not is_inside(cache, root):
        check_door(root, str(cache.resolve()), asked_by=f"{CACHE}, a link,")
    new = not cache.exists()
    cache.mkdir(parents=True, exist_ok=True)
    with ExitStack() as end:
        if new:
            end.callback(_remove_empty, cache)
        # Between making a stage and holding it, no other command may take it for a dead one.
        with held(cache, wait=True):
            folder = Path(tempfile.mkdtemp(dir=cache, prefix=STAGE))
            end.callback(_remove, folder)
            end.enter_context(held(folder))
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        yield folder


@contextmanager
def replacement(root: Path, folder: Path) -> Iterator[Path]:
    """An empty folder that takes the place of `folder` at the end, unless an error ends the block.

    Killed at any moment, `folder` is what it was or the new one; what is left beside it, which is nothing on the disk
    of the study but for an instant, goes with the study's next command.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with stage(root) as staging:
        made = staging / "made"
        made.mkdir()
        yield made
        (staging / PLACE_FILE).write_text(str(folder), encoding="utf-8")
        place = _place_of(staging)
        assert place is not None
        # Across disks this copies; only beside the folder a move is whole or not at all.
        shutil.move(made, place.coming)
        with held(folder.parent, wait=True):
            if folder.exists():
                folder.rename(place.leaving)
            place.coming.rename(folder)


def remove_dead_stages(root: Path) -> None:
    """Remove the stages of processes that were killed."""
    remove_dead((*root.glob(f"{ASIDE}*"), *(root / CACHE).glob(f"{STAGE}*")))


def remove_dead(paths: Iterable[Path]) -> None:
    """Remove the files and folders that no process holds any more."""
    for path in paths:
        with suppress(OSError), held(path.parent), held(path):
            _remove(path)


@contextmanager
def held(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold a file or a folder for this process alone. Raises OSError if another holds it; wait: until it lets go."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


class _Place(NamedTuple):
    """A folder that is being replaced, and its neighbours, whose names no other process uses."""

    folder: Path
    coming: Path
    leaving: Path


def _place_of(staging: Path) -> _Place | None:
    """The folder that is replaced from this stage, if there is one."""
    with suppress(OSError, ValueError):
        folder = Path((staging / PLACE_FILE).read_text(encoding="utf-8"))
        # Only ever names with the stage's own, whatever somebody wrote into the file.
        return _Place(folder, *(folder.with_name(f".{folder.name}.{staging.name}.{end}") for end in ("new", "old")))
    return None


def _remove(path: Path) -> None:
    """Remove a stage, or what is dead otherwise; a folder that was just being replaced gets its place back first."""
    if not path.is_dir():
        path.unlink()
        return
    if place := _place_of(path):
        if place.leaving.is_dir() and not place.folder.exists():
            place.leaving.rename(place.folder)
        for neighbour in (place.coming, place.leaving):
            shutil.rmtree(neighbour, ignore_errors=True)
    shutil.rmtree(path, ignore_errors=True)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
