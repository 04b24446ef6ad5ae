"""Arrays and word lists in a folder: written whole, with the SHA-256 of each file, read back memory-mapped.

A folder holds one `<name>.npy` for each array, one `<name>.txt` (a string a line, so none with a line feed) for each
list, and `about.json` with the kind, the facts and the hashes, the last of them its own: of its text without that hash.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import mmap
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from annot.base.errors import BusyError, InputError, MissingInput

ABOUT = "about.json"
Array = NDArray[Any]
_HEADER = re.compile(rb"\{'descr': '([<|][biuf]\d)', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \} *\n")


class Folder(Protocol):
    """Place of files that were written together: a path, or an object that fetches them from elsewhere."""

    def __truediv__(self, name: str, /) -> Path:
        """Path at which this process reads the file of this name."""
        ...


class Opened(Mapping[str, Array]):
    """Arrays in a folder by name: each is mapped when it is used, and released with its last use."""

    def __init__(self, folder: Folder, names: Sequence[str]) -> None:
        self._folder = folder
        self._names = names

    def __getitem__(self, name: str) -> Array:
        path = self._folder / f"{name}.npy"
        try:
            return mapped(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: not readable: {error}", hint=_again(path.parent)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def mapped(path: Path) -> Array:
    """Array of numbers in a file that `numpy.save` wrote, mapped, to be read only.

    `numpy.load` takes several times as long, which counts if each search opens a thousand files, and it parses Python,
    which fails now and then if several threads do so (CPython, issue 106905).
    """
    with path.open("rb") as file:
        if (version := np.lib.format.read_magic(file)) != (1, 0):  # type: ignore[no-untyped-call]
            raise ValueError(f"found an array of version {version}, expected (1, 0)")
        header = file.read(int.from_bytes(file.read(2), "little"))
        if not (match := _HEADER.fullmatch(header)):
            raise ValueError(f"found {header[:100]!r}, expected type, order and shape of an array of numbers")
        start, pages = file.tell(), mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    kind, by_columns, sizes = (part.decode() for part in match.groups())
    shape = [int(size) for size in sizes.replace(",", " ").split()]
    array = np.frombuffer(pages, kind, math.prod(shape), start)
    return array.reshape(shape, order="F" if by_columns == "True" else "C")


@dataclass(frozen=True)
class Blocks:
    """Array of float32 that comes block by block and is never in memory whole. shape: of all of it."""

    shape: tuple[int, int]
    blocks: Iterable[NDArray[np.float32]]


@dataclass(frozen=True)
class Stored:
    """Content of a folder: `arrays` and `texts` by name, the `facts` written with them."""

    arrays: Mapping[str, Array]
    texts: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, Any]


def save(
    folder: Path,
    *,
    kind: str,
    arrays: Mapping[str, Array | Blocks],
    texts: Mapping[str, Sequence[str]],
    facts: Mapping[str, Any],
) -> None:
    """Write all of it to `folder`, replacing its content.

    The files are made next to the folder and moved in at the end, so that a reader never finds a part.
    """
    with written_whole(folder) as building:
        for name, array in arrays.items():
            save_array(building / f"{name}.npy", array)
        for name, lines in texts.items():
            with (building / f"{name}.txt").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)
        sha256 = {path.name: _sha256(path) for path in sorted(building.iterdir())}
        about = {"kind": kind, "facts": dict(facts), "arrays": sorted(arrays), "lists": sorted(texts), "sha256": sha256}
        sha256[ABOUT] = hashlib.sha256(_text(about).encode()).hexdigest()
        (building / ABOUT).write_text(_text(about), "utf-8")


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """Make a new folder to write into, which takes the place of `folder` at the end; after an error it is removed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.{os.getpid()}@{platform.node()}."))
    try:
        yield building
        building.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        building.replace(folder)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


def remove_unfinished(root: Path) -> None:
    """Remove, anywhere below `root`, the files that `save` was writing in a process of this machine that was killed."""
    for building in root.rglob(f".*@{platform.node()}.*"):
        process = building.name.rpartition("@")[0].rpartition(".")[2]
        if not _runs(int(process)):
            shutil.rmtree(building, ignore_errors=True)


def save_array(path: Path, array: Array | Blocks) -> None:
    """Write the array to `path`. NumPy reports a full disk only if it does not know that it writes to a file."""
    with path.open("wb") as file:
        anything_that_writes: Any = SimpleNamespace(write=file.write)
        if isinstance(array, Blocks):
            header = {"descr": "<f4", "fortran_order": False, "shape": array.shape}
            np.lib.format.write_array_header_1_0(anything_that_writes, header)  # type: ignore[no-untyped-call]
            for block in array.blocks:
                file.write(np.ascontiguousarray(block, "<f4").tobytes())
        else:
            np.save(anything_that_writes, array)


def load(folder: Folder, *, kind: str) -> Stored:
    """Read a folder that `save` wrote. The arrays stay on disk and are read when they are used.

    Raises MissingInput if nothing is there, InputError if it is of another kind or incomplete.
    """
    path = folder / ABOUT
    hint = _again(path.parent)
    if not path.is_file():
        raise MissingInput(f"{path.parent}: {ABOUT} is missing", hint=hint)
    try:
        about = json.loads(path.read_text("utf-8"))
        if about["kind"] != kind:
            raise InputError(f"{path}: found kind {about['kind']!r}, expected {kind!r}", hint=hint)
        absent = [name for name in about["arrays"] if not (folder / f"{name}.npy").is_file()]
        if absent:
            raise InputError(f"{path.parent}: missing: {', '.join(f'{name}.npy' for name in absent)}", hint=hint)
        texts = {name: _lines(folder / f"{name}.txt") for name in about["lists"]}
        return Stored(arrays=Opened(folder, about["arrays"]), texts=texts, facts=about["facts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path.parent}: not readable as {kind}: {error}", hint=hint) from None


def written_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file in a folder when `save` wrote it, by the file's name.

    Raises InputError if the folder has no record of it.
    """
    path = folder / ABOUT
    try:
        text = path.read_bytes()
        return {**json.loads(text)["sha256"], ABOUT: hashlib.sha256(text).hexdigest()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not readable: {error}", hint=_again(folder)) from None


def faults(folder: Path) -> list[str]:
    """Changes in `folder` since `save` wrote it, one line a file; none if all hashes hold."""
    path = folder / ABOUT
    try:
        text = path.read_text("utf-8")
        about = json.loads(text)
        written = dict(about["sha256"])
        del about["sha256"][ABOUT]
        if text != _text(about | {"sha256": written}):
            return [f"{path}: has changed since it was written"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{path}: not readable: {error}"]
    hashes = {name: _sha256(folder / name) for name in written}
    hashes[ABOUT] = hashlib.sha256(_text(about).encode()).hexdigest()
    return [
        f"{folder / name}: found {(hashes[name] or 'no file')[:12]}, expected SHA-256 {digest[:12]}"
        for name, digest in written.items()
        if hashes[name] != digest
    ]


def _text(about: Mapping[str, Any]) -> str:
    return json.dumps(about, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _again(folder: Path) -> str:
    return f"delete {folder}, and make it again with `annot index`"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _sha256(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _lines(path: Path) -> tuple[str, ...]:
    # Not splitlines, nor universal newlines: a string may hold any character but the line feed.
    with path.open(encoding="utf-8", newline="\n") as file:
        return tuple(file.read().split("\n")[:-1])


@contextmanager
def held_alone(lock: Path, *, busy: str, hint: str) -> Iterator[None]:
    """Lock a file for this process alone; the operating system releases it when that ends.

    Raises BusyError, with these words, if another process holds it.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(busy, hint=hint) from None
        yield
