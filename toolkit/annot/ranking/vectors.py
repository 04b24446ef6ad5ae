"""Vectors of papers in a folder: the format in which any encoder's output joins.

    ids.txt         one paper id a line, UTF-8
    vectors.npy     float32, shape (ids, dimensions), one row for each id
    vectors.json    {"model": "...", "space": "...", "metric": "l2" or "cosine"}; more keys are kept as facts

`model` names what made them; `space` names the space they lie in: vectors of two spaces must never be compared
(Semantic Scholar's own SPECTER vectors are not those of the public model). `metric` is the one the space is made for;
where it is not named it is "l2", by which CSFCube ranked SPECTER.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from annot.errors import InputError, MissingInput
from annot.ranking.counts import BLOCK
from annot.ranking.dense import Metric, search
from annot.ranking.storage import save_array, strings_of
from annot.ranking.threads import in_threads
from annot.ranking.tokens import Strings, numbers
from annot.records import Ranking

ABOUT, IDS, MATRIX = "vectors.json", "ids.txt", "vectors.npy"


@dataclass(frozen=True)
class Vectors:
    """One row of float32 for each id, with the space they lie in and the metric it is made for."""

    ids: tuple[str, ...]
    matrix: NDArray[np.float32]
    model: str
    space: str
    metric: Metric
    facts: Mapping[str, Any]
    """What else the maker of the vectors wrote down: settings, versions."""

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each id."""
        return {paper_id: row for row, paper_id in enumerate(self.ids)}

    @property
    def description(self) -> dict[str, Any]:
        own = {"model": self.model, "space": self.space, "metric": self.metric, "dimensions": int(self.matrix.shape[1])}
        return own | dict(self.facts)


def rank(vectors: Vectors, queries: Sequence[str], *, corpus: Strings, depths: NDArray[np.int64]) -> list[Ranking]:
    """The papers of `corpus` nearest to each query paper, by the metric of the space. corpus: their ids.

    depths: shape (queries,).

    Raises InputError naming every query paper without a vector.
    """
    import pyarrow.compute as pc

    ids = strings_of(vectors.ids)
    rows = pc.index_in(strings_of(queries), value_set=ids)
    absent = [f"{paper_id}: no vector" for paper_id, row in zip(queries, rows.to_pylist(), strict=True) if row is None]
    if absent:
        raise InputError(f"{vectors.model}: {len(absent)} query paper(s) without a vector", faults=absent)
    usable = np.zeros(len(ids), dtype=np.bool_)
    usable[numbers(pc.indices_nonzero(pc.is_in(ids, value_set=corpus)))] = True
    wanted = vectors.matrix[numbers(rows)]
    return search(vectors.matrix, vectors.ids, wanted, metric=vectors.metric, depths=depths, usable=usable)


def save(vectors: Vectors, folder: Path) -> None:
    """Write the three files to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    # The description comes last: a folder without it is not read.
    (folder / ABOUT).unlink(missing_ok=True)
    save_array(folder / MATRIX, np.asarray(vectors.matrix, dtype=np.float32))
    with (folder / IDS).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{paper_id}\n" for paper_id in vectors.ids)
    text = json.dumps(vectors.description, indent=2, sort_keys=True, ensure_ascii=False)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8")


def load(folder: Path, *, hint: str) -> Vectors:
    """The vectors in `folder`, memory-mapped.

    Raises MissingInput (with `hint`) when a file is not there, InputError with every fault when they do not fit.
    """
    absent = [name for name in (ABOUT, IDS, MATRIX) if not (folder / name).is_file()]
    if absent:
        raise MissingInput(f"{folder}: no vectors there; not found: {', '.join(absent)}", hint=hint)
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        ids = tuple((folder / IDS).read_text(encoding="utf-8").removesuffix("\n").split("\n"))
        matrix = np.load(folder / MATRIX, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: not readable as vectors: {error}", hint=hint) from None
    faults = _faults(about, ids, matrix)
    if faults:
        raise InputError(f"{folder}: the vectors have {len(faults)} fault(s)", faults=faults)
    metric: Metric = about.get("metric", "l2")
    facts = {key: value for key, value in about.items() if key not in ("model", "space", "metric", "dimensions")}
    return Vectors(ids, matrix, about["model"], about["space"], metric, facts)


def _faults(about: Any, ids: tuple[str, ...], matrix: NDArray[Any]) -> list[str]:
    if not isinstance(about, dict):
        return [f"{ABOUT}: found {type(about).__name__}, expected an object"]
    faults = [
        f"{ABOUT}: {key}: found {about.get(key)!r}, expected a name"
        for key in ("model", "space")
        if not (isinstance(about.get(key), str) and about[key])
    ]
    if about.get("metric", "l2") not in get_args(Metric):
        faults.append(f"{ABOUT}: metric: found {about['metric']!r}, expected one of {', '.join(get_args(Metric))}")
    if not all(map(str.strip, ids)):
        faults += [f"{IDS}:{line}: empty, expected a paper id" for line, name in enumerate(ids, 1) if not name.strip()]
    if len(set(ids)) < len(ids):
        counts = Counter(ids)
        faults += [f"{IDS}: {name!r}: {count} times, expected once" for name, count in counts.items() if count > 1]
    if matrix.dtype != np.float32 or matrix.ndim != 2:
        faults.append(f"{MATRIX}: found {matrix.dtype} of {matrix.ndim} dimension(s), expected float32 of 2")
    elif len(matrix) != len(ids):
        faults.append(f"{MATRIX}: {len(matrix)} rows, expected {len(ids)}, one for each id of {IDS}")
    else:
        starts = range(0, len(matrix), BLOCK)
        broken = (row for rows in in_threads(lambda start: _not_finite(matrix, start), starts) for row in rows)
        faults += [f"{MATRIX}: row {row} ({ids[row]}): not finite" for row in broken]
    return faults


def _not_finite(matrix: NDArray[Any], start: int) -> list[int]:
    """The rows of a block that hold a number that is not finite."""
    block = matrix[start : start + BLOCK].astype(np.float32, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum is finite only where every number is; where it is not, it may have run over.
        suspects = np.flatnonzero(~np.isfinite(block @ np.ones(block.shape[1], dtype=np.float32)))
    return (start + suspects[~np.isfinite(block[suspects]).all(axis=1)]).tolist()  # type: ignore[no-any-return]
