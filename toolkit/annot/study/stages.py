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

from annot.study.doors import check_door, is_inside
from annot.study.workspace import ASIDE, CACHE, STAGE

PLACE_FILE = "place"
"""Name of the file of a stage with the folder elsewhere that is being replaced."""


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
    """An empty folder that replaces `folder` at the end, unless an error ends the block.

    Killed at any moment, `folder` is the old or the new one; leftovers next to it, which on the disk of the study exist
    only for an instant, are removed by the study's next command.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with stage(root) as staging:
        new_folder = staging / "made"
        new_folder.mkdir()
        yield new_folder
        (staging / PLACE_FILE).write_text(str(folder), encoding="utf-8")
        coming, leaving = _neighbours(folder, staging)
        # Across disks this copies; only next to the folder a move happens as a whole or not at all.
        shutil.move(new_folder, coming)
        with held(folder.parent, wait=True):
            if folder.exists():
                folder.rename(leaving)
            coming.rename(folder)


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
    """Hold a file or a folder for this process alone. Raises OSError if another holds it; wait: until the other
    releases it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


def _replaced_folder(staging: Path) -> Path | None:
    """Folder that is replaced from this stage, if there is one."""
    with suppress(OSError, ValueError):
        folder = Path((staging / PLACE_FILE).read_text(encoding="utf-8"))
        return folder if folder.name else None
    return None


def _neighbours(folder: Path, staging: Path) -> tuple[Path, Path]:
    """Places of the new and of the old folder next to it, under names that no other process uses."""
    new, old = (folder.with_name(f".{folder.name}.{staging.name}.{end}") for end in ("new", "old"))
    return new, old


def _remove(path: Path) -> None:
    """Remove a stage or another dead file; a folder that was just being replaced is put back first."""
    if not path.is_dir():
        path.unlink()
        return
    if folder := _replaced_folder(path):
        # The names are those of the stage, whatever the file contains.
        coming, leaving = _neighbours(folder, path)
        if leaving.is_dir() and not folder.exists():
            leaving.rename(folder)
        for neighbour in (coming, leaving):
            shutil.rmtree(neighbour, ignore_errors=True)
    shutil.rmtree(path, ignore_errors=True)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
