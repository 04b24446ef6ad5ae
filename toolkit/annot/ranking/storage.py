"""Arrays and word lists in a folder: written whole, read back memory-mapped.

A folder holds one `<name>.npy` for each array, one `<name>.txt` (a string a line, so none with a line feed) for each
list, and `about.json` with the kind and the facts.
"""

from __future__ import annotations

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
    """What a folder holds: `arrays` and `texts` by name, the `facts` written with them."""

    arrays: Mapping[str, Array]
    texts: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, Any]


def save(
    folder: Path,
    *,
    kind: str,
    arrays: Mapping[str, Array],
    texts: Mapping[str, Sequence[str]],
    facts: Mapping[str, Any],
) -> None:
    """Write all of it to `folder`, replacing what is there.

    The files are made beside the folder and moved in at the end, so that a reader never finds a part.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        for name, array in arrays.items():
            save_array(building / f"{name}.npy", array)
        for name, lines in texts.items():
            with (building / f"{name}.txt").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)
        about = {"kind": kind, "facts": dict(facts), "arrays": sorted(arrays), "lists": sorted(texts)}
        (building / ABOUT).write_text(json.dumps(about, indent=2, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
        building.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        building.replace(folder)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


def save_array(path: Path, array: Array) -> None:
    """Write the array to `path`. NumPy tells of a full disk only where it does not know that it writes to a file."""
    with path.open("wb") as file:
        anything_that_writes: Any = SimpleNamespace(write=file.write)
        np.save(anything_that_writes, array)


def load(folder: Path, *, kind: str) -> Stored:
    """What `save` wrote to `folder`. The arrays stay on disk and are read where they are used.

    Raises MissingInput when nothing is there, InputError when it is of another kind or incomplete.
    """
    hint = f"remove {folder} and run the command again"
    path = folder / ABOUT
    if not path.is_file():
        raise MissingInput(f"{folder}: no {ABOUT} there", hint=hint)
    try:
        about = json.loads(path.read_text("utf-8"))
        if about["kind"] != kind:
            raise InputError(f"{path}: found kind {about['kind']!r}, expected {kind!r}", hint=hint)
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in about["arrays"]}
        texts = {name: _lines(folder / f"{name}.txt") for name in about["lists"]}
        return Stored(arrays=arrays, texts=texts, facts=about["facts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder}: not readable as {kind}: {error}", hint=hint) from None


def _lines(path: Path) -> tuple[str, ...]:
    # Not splitlines, nor universal newlines: a string may hold any character but the line feed.
    with path.open(encoding="utf-8", newline="\n") as file:
        return tuple(file.read().split("\n")[:-1])
