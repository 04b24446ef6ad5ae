"""Precomputed vectors: a folder with one float32 row for each paper, and what made them.

A vectors folder holds three files:

    vectors.npy    NumPy array, float32 little-endian, shape (papers, dimension); can be memory-mapped
    ids.txt        UTF-8, one paper id a line, in the order of the rows
    vectors.json   {"annot_vectors": 1, "model": ..., "space": ..., "count": ..., "dimension": ...,
                    "sha256": {"vectors.npy": ..., "ids.txt": ...}}

`model` says which encoder made the vectors, in which release. `space` names the space they lie in: vectors are
compared only within one space, and two models may share one (`specter2` and the vectors a service gives out for it).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.errors import MissingInput
from annot.formats.faults import Faults

MATRIX_FILE = "vectors.npy"
IDS_FILE = "ids.txt"
FACTS_FILE = "vectors.json"
VERSION = 1
_BLOCK_VALUES = 1 << 24
_REMEDY = "write the folder with annot.formats.vectors.write_vectors, from ids and a float32 matrix"


@dataclass(frozen=True, slots=True)
class Vectors:
    """Rows of float32 with the ids of their papers.

    matrix: array, shape (papers, dimension), float32, finite; read-only and memory-mapped when read from a folder.
    """

    ids: tuple[str, ...]
    matrix: NDArray[np.float32]
    model: str
    space: str
    sha256: str
    """Of the matrix file: it identifies the vectors in manifests."""


def write_vectors(folder: Path, *, ids: Sequence[str], matrix: NDArray[Any], model: str, space: str) -> Vectors:
    """Write a vectors folder and return it as read back (memory-mapped).

    ids: one for each row, no two alike, without white space. matrix: array, shape (len(ids), dimension), float32.
    The facts are written last, so a folder that was not finished does not pass for one. Raises InputError with every
    fault before anything is written.
    """
    faults = Faults(str(folder))
    _check(ids, matrix, faults)
    for what, value in (("model", model), ("space", space)):
        if not value.strip():
            faults.add(f"{what} is empty, expected a name")
    faults.raise_if_any(hint=_REMEDY)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FACTS_FILE).unlink(missing_ok=True)
    temporary = folder / f".{MATRIX_FILE}.part"
    with temporary.open("wb") as file:
        np.save(file, np.ascontiguousarray(matrix, dtype="<f4"), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / MATRIX_FILE)
    _replace(folder / IDS_FILE, "".join(f"{paper_id}\n" for paper_id in ids))
    facts = {
        "annot_vectors": VERSION,
        "model": model,
        "space": space,
        "count": len(ids),
        "dimension": int(matrix.shape[1]),
        "sha256": {name: _sha256(folder / name) for name in (MATRIX_FILE, IDS_FILE)},
    }
    _replace(folder / FACTS_FILE, json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    return read_vectors(folder, verify=False)


def read_vectors(folder: Path, *, verify: bool) -> Vectors:
    """The vectors in `folder`, memory-mapped.

    Always checked: that the files are there and fit each other (shape, dtype, counts, ids). With `verify` also both
    hashes and that every value is finite, which reads the whole matrix.
    Raises MissingInput when a file is not there, else InputError with every fault.
    """
    missing = [name for name in (FACTS_FILE, MATRIX_FILE, IDS_FILE) if not (folder / name).is_file()]
    if missing:
        raise MissingInput(f"{folder}: not a vectors folder, no {', '.join(missing)}", hint=_REMEDY)
    faults = Faults(str(folder))
    facts = _read_facts(folder / FACTS_FILE, faults)
    ids = _read_ids(folder / IDS_FILE, faults)
    matrix = _map_matrix(folder / MATRIX_FILE, faults)
    faults.raise_if_any(hint=_REMEDY)
    assert matrix is not None
    found = {
        "count": int(matrix.shape[0]) if matrix.ndim else 0,
        "dimension": int(matrix.shape[-1]) if matrix.ndim else 0,
    }
    for what, number in found.items():
        if facts[what] != number:
            faults.add(f"{what} {facts[what]}, but {MATRIX_FILE} has {number}", place=FACTS_FILE)
    if verify:
        for name in (MATRIX_FILE, IDS_FILE):
            if facts["sha256"].get(name) != _sha256(folder / name):
                faults.add(
                    "its SHA-256 is not the one in vectors.json: the file was changed or not written whole", place=name
                )
    _check(ids, matrix, faults, values=verify)
    faults.raise_if_any(hint=_REMEDY)
    return Vectors(ids, matrix, facts["model"], facts["space"], facts["sha256"][MATRIX_FILE])


def _check(ids: Sequence[str], matrix: NDArray[Any], faults: Faults, *, values: bool = True) -> None:
    seen: set[str] = set()
    for position, paper_id in enumerate(ids, 1):
        if not paper_id or any(char.isspace() for char in paper_id):
            faults.add(f"id {paper_id!r}, expected one without white space", place=f"{IDS_FILE}:{position}")
        elif paper_id in seen:
            faults.add(f"id {paper_id!r} is there twice", place=f"{IDS_FILE}:{position}")
        seen.add(paper_id)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        faults.add(f"shape {matrix.shape}, expected (papers, dimension)", place=MATRIX_FILE)
        return
    if matrix.shape[0] != len(ids):
        faults.add(f"{matrix.shape[0]} rows for {len(ids)} ids", place=MATRIX_FILE)
    if matrix.dtype != np.dtype("<f4"):
        faults.add(f"dtype {matrix.dtype}, expected float32: convert with .astype('float32')", place=MATRIX_FILE)
    elif values:
        rows_at_once = max(1, _BLOCK_VALUES // matrix.shape[1])
        for start in range(0, matrix.shape[0], rows_at_once):
            for row in np.flatnonzero(~np.isfinite(matrix[start : start + rows_at_once]).all(axis=1)):
                faults.add(
                    "nan or infinite values, expected finite ones", place=f"{MATRIX_FILE}, row {start + row + 1}"
                )


def _read_facts(path: Path, faults: Faults) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        faults.add(f"not valid JSON: {error}", place=FACTS_FILE)
        return {}
    if not isinstance(facts, dict) or facts.get("annot_vectors") != VERSION:
        faults.add(f'no "annot_vectors": {VERSION}, so not of this format', place=FACTS_FILE)
        return {}
    expected: dict[str, type] = {"model": str, "space": str, "count": int, "dimension": int, "sha256": dict}
    for key, kind in expected.items():
        if not isinstance(facts.get(key), kind) or facts[key] == "":
            faults.add(f"{key}: found {facts.get(key)!r}, expected {kind.__name__}", place=FACTS_FILE)
    if isinstance(facts.get("sha256"), dict):
        for name in (MATRIX_FILE, IDS_FILE):
            if not isinstance(facts["sha256"].get(name), str):
                faults.add(f"sha256: none for {name}", place=FACTS_FILE)
    return facts


def _read_ids(path: Path, faults: Faults) -> tuple[str, ...]:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        faults.add(f"not UTF-8: {error.reason} at byte {error.start}", place=IDS_FILE)
        return ()
    lines = text.split("\n")
    return tuple(line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines))


def _map_matrix(path: Path, faults: Faults) -> NDArray[Any] | None:
    try:
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        faults.add(f"not a NumPy array file: {error}", place=MATRIX_FILE)
        return None
    if not isinstance(loaded, np.ndarray):
        faults.add("an archive of arrays, expected one array", place=MATRIX_FILE)
        return None
    return loaded


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_bytes(text.encode("utf-8"))
    temporary.replace(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
