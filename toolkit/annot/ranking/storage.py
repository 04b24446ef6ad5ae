"""Arrays and word lists in a folder: written whole, hashed by content, read back memory-mapped.

A folder holds one `<name>.npy` for each array, one `<name>.txt` (a string a line) for each list, and `about.json` with
the kind, the facts and the SHA-256 over all of it. The hash depends on the content alone, not on time or place.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.errors import InputError, MissingInput

ABOUT = "about.json"
Array = NDArray[Any]


@dataclass(frozen=True)
class Stored:
    """What a folder holds: `arrays` and `texts` by name, the `facts` written with them, the hash of the content."""

    arrays: Mapping[str, Array]
    texts: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, Any]
    sha256: str


def content_hash(
    kind: str, arrays: Mapping[str, Array], texts: Mapping[str, Sequence[str]], facts: Mapping[str, Any]
) -> str:
    """The SHA-256 over the kind, the facts, every list and every array (type, shape and bytes), in name order."""
    digest = hashlib.sha256()
    digest.update(json.dumps([kind, facts], sort_keys=True, ensure_ascii=False).encode())
    for name in sorted(texts):
        digest.update(f"\0{name}\0{len(texts[name])}\0".encode())
        for text in texts[name]:
            digest.update(text.encode() + b"\n")
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        if array.size:
            digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def save(
    folder: Path,
    *,
    kind: str,
    arrays: Mapping[str, Array],
    texts: Mapping[str, Sequence[str]],
    facts: Mapping[str, Any],
) -> str:
    """Write all of it to `folder`, replacing what is there, and return the hash of the content.

    The files are made beside the folder and moved in at the end, so that a reader never finds a part.
    """
    broken = [f"{name}: line break within {text!r}" for name in texts for text in texts[name] if "\n" in text]
    if broken:
        raise InputError(f"{folder}: a list of one string a line cannot hold these", faults=broken)
    sha256 = content_hash(kind, arrays, texts, facts)
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        for name, array in arrays.items():
            save_array(building / f"{name}.npy", array)
        for name, lines in texts.items():
            with (building / f"{name}.txt").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)
        about = {"kind": kind, "sha256": sha256, "facts": dict(facts), "arrays": sorted(arrays), "lists": sorted(texts)}
        (building / ABOUT).write_text(json.dumps(about, indent=2, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
        building.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        building.replace(folder)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return sha256


def save_array(path: Path, array: Array) -> None:
    """Write the array to `path`. NumPy tells of a full disk only where it does not know that it writes to a file."""
    with path.open("wb") as file:
        anything_that_writes: Any = SimpleNamespace(write=file.write)
        np.save(anything_that_writes, array)


def load(folder: Path, *, kind: str, memory_map: bool, hint: str) -> Stored:
    """What `save` wrote to `folder`. With `memory_map` the arrays stay on disk and are read where they are used.

    Raises MissingInput (with `hint`) when nothing is there, InputError when it is of another kind or incomplete.
    """
    path = folder / ABOUT
    if not path.is_file():
        raise MissingInput(f"{folder}: no {ABOUT} there", hint=hint)
    try:
        about = json.loads(path.read_text("utf-8"))
        if about["kind"] != kind:
            raise InputError(f"{path}: found kind {about['kind']!r}, expected {kind!r}", hint=hint)
        arrays = {
            name: np.load(folder / f"{name}.npy", mmap_mode="r" if memory_map else None, allow_pickle=False)
            for name in about["arrays"]
        }
        texts = {name: _lines(folder / f"{name}.txt") for name in about["lists"]}
        return Stored(arrays=arrays, texts=texts, facts=about["facts"], sha256=about["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder}: not readable as {kind}: {error}", hint=hint) from None


def verify(folder: Path, *, kind: str, hint: str) -> Stored:
    """As `load`, after comparing the content with the hash written beside it. Raises InputError when they differ."""
    stored = load(folder, kind=kind, memory_map=True, hint=hint)
    found = content_hash(kind, stored.arrays, stored.texts, stored.facts)
    if found != stored.sha256:
        raise InputError(f"{folder}: content hash {found}, expected {stored.sha256}: it was changed or cut", hint=hint)
    return stored


def _lines(path: Path) -> tuple[str, ...]:
    # Not splitlines, nor universal newlines: a string may hold any character but the line feed.
    with path.open(encoding="utf-8", newline="\n") as file:
        return tuple(file.read().split("\n")[:-1])
