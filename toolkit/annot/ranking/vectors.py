"""Vectors of papers in a folder: the format in which any encoder's output joins.

    ids.txt         one paper id a line, UTF-8; of a topic that is a text `topic`, its id and its hash
    vectors.npy     float32 or float16, shape (ids, dimensions), one row for each id
    vectors.json    {"model": "...", "space": "...", "metric": "l2" or "cosine"}; more keys are kept as facts, among
                    them, where they were imported or encoded here, `files`: the SHA-256 of the others
    parts.txt       where the papers were encoded here: the hash of each part, a line each (`annot.ranking.encoding`)

`model` names the encoder; `space` names the space they are in: vectors of two spaces must never be compared (Semantic
Scholar's own SPECTER vectors are not those of the public model). `metric` is the one the space is made for; where it is
not named it is "l2", by which CSFCube ranked SPECTER. Half precision halves the disk; scores are then those of the
numbers as stored, in double precision.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from annot.base.array_files import numbers, strings_in, strings_of, write_header, written_whole
from annot.base.errors import InputError, MissingInput
from annot.base.libraries import pc
from annot.base.names import counted, sha256_of
from annot.base.parallel import Each, in_threads
from annot.base.records import Ranking
from annot.ranking.corpus import BLOCK, Strings
from annot.ranking.search import Metric, VectorSource, search

ABOUT, IDS, MATRIX, PARTS = "vectors.json", "ids.txt", "vectors.npy", "parts.txt"
Precision = Literal["float32", "float16"]


@dataclass(frozen=True)
class Vectors:
    """One row of float32 or float16 for each id, with the space they are in and the metric it is made for."""

    ids: Strings
    matrix: NDArray[Any]
    model: str
    space: str
    metric: Metric
    facts: Mapping[str, Any]
    """Further facts from the maker of the vectors: settings, versions."""
    source: VectorSource | None = field(default=None, kw_only=True)
    """The rows as a search reads them that may be sent elsewhere; None: the matrix."""
    basis: NDArray[np.float32] | None = field(default=None, kw_only=True)
    """Basis V of a decomposition, which takes queries into the space: shape (terms, dimensions)."""

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each id."""
        return {paper_id: row for row, paper_id in enumerate(self.ids.to_pylist())}

    @property
    def description(self) -> dict[str, Any]:
        dimensions = int(self.matrix.shape[1])
        named = {"model": self.model, "space": self.space, "metric": self.metric, "dimensions": dimensions}
        return {**named, **self.facts}


def topic_name(topic_id: str, text: str) -> str:
    """Name of the vector of a topic that is a text; unlike the id of a paper, it has a space.

    A text that replaces another under the same id has another name, so that it never ranks by the other's vector.
    """
    return f"topic {topic_id} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def vectors_named(vectors: Vectors, names: Sequence[str]) -> NDArray[Any]:
    """The vectors of these papers or topics: shape (names, dimensions).

    Raises InputError that names every one without a vector, or with a number that is not finite.
    """
    row_of = rows_of(vectors, names)
    if absent := [f"{name}: no vector" for name in names if name not in row_of]:
        raise InputError(f"{vectors.model}: papers have no vector", faults=absent)
    rows = vectors.matrix[[row_of[name] for name in names]]
    broken = [f"{name}: not finite" for name, row in zip(names, rows, strict=True) if not np.isfinite(row).all()]
    if broken:
        raise InputError(f"{vectors.model}: papers have a vector that is not finite", faults=broken)
    return rows


def topics_without(vectors: Vectors, texts: Mapping[str, str]) -> set[str]:
    """Topics that have no vector. texts: by topic, the text that an encoder reads."""
    name_of = {topic_id: topic_name(topic_id, text) for topic_id, text in texts.items()}
    row_of = rows_of(vectors, list(name_of.values()))
    return {topic_id for topic_id, name in name_of.items() if name not in row_of}


def rows_of(vectors: Vectors, names: Sequence[str]) -> dict[str, int]:
    """The row of each of these that has a vector."""
    # With Arrow's own numbers: taking by NumPy's would import pandas.
    matches = pc.indices_nonzero(pc.is_in(vectors.ids, value_set=strings_of(names)))
    return dict(zip(vectors.ids.take(matches).to_pylist(), numbers(matches).tolist(), strict=True))


def nearest(
    vectors: Vectors, queries: NDArray[Any], *, corpus: Strings, depths: NDArray[np.int64], each: Each = in_threads
) -> list[Ranking]:
    """The papers of `corpus`, their ids, nearest to each of `queries` by the metric of the space.

    queries: shape (queries, dimensions). depths: shape (queries,).
    """
    ids, usable = vectors.ids, None
    if len(ids) != len(corpus) or not pc.all(pc.equal(ids, corpus)).as_py():
        if faults := _doubled(ids):
            raise InputError(f"{vectors.model}: papers have more than one vector", faults=faults)
        usable = np.zeros(len(ids), dtype=np.bool_)
        usable[numbers(pc.indices_nonzero(pc.is_in(ids, value_set=corpus)))] = True
    source = vectors.matrix if vectors.source is None else vectors.source
    return search(source, ids, queries, metric=vectors.metric, depths=depths, usable=usable, each=each)


class VectorsWriter(ExitStack):
    """Writes vectors block by block into a new folder, which replaces `folder` after the `with`.

    If the `with` ends in an error, the old folder stays.

    most: the largest number of rows. Remains of a killed writer of the same folder are removed.
    """

    def __init__(self, folder: Path, *, most: int, precision: Precision) -> None:
        super().__init__()
        self._folder = folder
        self._most = most
        self._type = np.dtype(precision).newbyteorder("<")
        self._rows = 0
        self._building: Path | None = None
        self.about: Mapping[str, Any] = {}
        """Content of vectors.json; `dimensions`, `precision` and `files` are added."""
        self.parts: Sequence[str] = ()

    def add(self, ids: Sequence[str], rows: NDArray[Any]) -> None:
        """Append rows: shape (ids, dimensions)."""
        if self._building is None:
            self._building = self._begin(int(rows.shape[1]))
        self._matrix.write(np.ascontiguousarray(rows, dtype=self._type).tobytes())
        self._ids.writelines(f"{paper_id}\n" for paper_id in ids)
        self._rows += len(ids)

    def _begin(self, dimensions: int) -> Path:
        parent = self._folder.parent
        if not parent.exists():
            self.callback(lambda: None if self._folder.exists() else parent.rmdir())
        for leftover in parent.glob(f".{self._folder.name}.*"):
            shutil.rmtree(leftover)
        building = self.enter_context(written_whole(self._folder))
        self._matrix = self.enter_context((building / MATRIX).open("wb"))
        self._ids = self.enter_context((building / IDS).open("w", encoding="utf-8", newline="\n"))
        write_header(self._matrix, (self._most, dimensions), self._type.str)
        self.push(lambda kind, _error, _trace: self._finish(building, dimensions) if kind is None else None)
        return building

    def _finish(self, building: Path, dimensions: int) -> None:
        self._matrix.seek(0)
        write_header(self._matrix, (self._rows, dimensions), self._type.str)
        self._matrix.close()
        self._ids.close()
        if self.parts:
            (building / PARTS).write_text("".join(f"{part}\n" for part in self.parts), encoding="utf-8")
        files = {path.name: sha256_of(path) for path in building.iterdir()}
        about = {**self.about, "dimensions": dimensions, "precision": self._type.name, "files": files}
        text = json.dumps(about, indent=2, sort_keys=True, ensure_ascii=False)
        (building / ABOUT).write_text(text + "\n", encoding="utf-8")


def load(folder: Path, *, hint: str, unread: bool = False) -> Vectors:
    """Vectors in `folder`, memory-mapped. unread: leave it to the search to find repeated ids and numbers that are not
    finite.

    Raises MissingInput (with `hint`) when a file is missing, InputError with every fault when they do not fit.
    """
    absent = [name for name in (ABOUT, IDS, MATRIX) if not (folder / name).is_file()]
    if absent:
        raise MissingInput(f"{folder}: vectors are missing: found no {', '.join(absent)}", hint=hint)
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        ids = strings_in((folder / IDS).read_bytes())
        matrix = np.load(folder / MATRIX, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: not readable as vectors: {error}", hint=hint) from None
    faults = _faults(about, ids, matrix, unread=unread)
    if faults:
        raise InputError(f"{folder}: vectors that cannot be used", faults=faults)
    metric: Metric = about.get("metric", "l2")
    facts = {key: value for key, value in about.items() if key not in ("model", "space", "metric", "dimensions")}
    return Vectors(ids, matrix, about["model"], about["space"], metric, facts)


def _faults(about: Any, ids: Strings, matrix: NDArray[Any], *, unread: bool) -> list[str]:
    if not isinstance(about, dict):
        return [f"{ABOUT}: found {type(about).__name__}, expected an object"]
    faults = [
        f"{ABOUT}: {key}: found {about.get(key)!r}, expected a name"
        for key in ("model", "space")
        if not (isinstance(about.get(key), str) and about[key])
    ]
    if about.get("metric", "l2") not in get_args(Metric):
        faults.append(f"{ABOUT}: metric: found {about['metric']!r}, expected one of {', '.join(get_args(Metric))}")
    empty = numbers(pc.indices_nonzero(pc.equal(pc.utf8_trim_whitespace(ids), strings_of([""])[0])))
    faults += [f"{IDS}:{row + 1}: empty, expected a paper id" for row in empty.tolist()]
    faults += [] if unread else _doubled(ids)
    if matrix.dtype not in (np.float32, np.float16) or matrix.ndim != 2:
        shape = f"{matrix.dtype} in {counted(matrix.ndim, 'dimension')}"
        faults.append(f"{MATRIX}: found {shape}, expected float32 or float16 in 2")
    elif len(matrix) != len(ids):
        faults.append(f"{MATRIX}: {len(matrix)} rows, expected {len(ids)}, one for each id of {IDS}")
    elif not unread:
        starts = range(0, len(matrix), BLOCK)
        broken = (row for rows in in_threads(lambda start: _nonfinite_rows(matrix, start), starts) for row in rows)
        faults += [f"{MATRIX}: row {row} ({ids[row]}): not finite" for row in broken]
    return faults


def _doubled(ids: Strings) -> list[str]:
    if len(ids.unique()) == len(ids):
        return []
    counts = Counter(ids.to_pylist())
    return [f"{IDS}: {name!r}: found {count} times, expected once" for name, count in counts.items() if count > 1]


def _nonfinite_rows(matrix: NDArray[Any], start: int) -> list[int]:
    """The rows of a block that hold a number that is not finite."""
    block = matrix[start : start + BLOCK]
    # Only infinity and what is no number have every bit of the exponent set, as infinity has no other.
    bits = np.dtype(f"u{block.itemsize}")
    exponent = np.array(np.inf, block.dtype).view(bits)
    if (block.view(bits) & exponent).max(initial=0) < exponent:
        return []
    return (start + np.flatnonzero(~np.isfinite(block).all(axis=1))).tolist()  # type: ignore[no-any-return]
