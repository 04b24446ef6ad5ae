"""Exact search in dense vectors, by blocked matrix products over rows that may stay on disk.

Single precision selects, double precision scores: every row that could be among the best within the error of the
blocked product is measured again pair by pair, so that the ranking does not depend on the block size or the BLAS
kernel. A vector of zeros has no direction and is near every short one; it never ranks, nor does a query of zeros find
any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from annot.base.cores import Each, in_threads
from annot.base.errors import InputError
from annot.base.records import Ranking
from annot.ranking.tokens import Strings
from annot.ranking.topk import ROUNDING_STEP, Candidates, TopK, best, best_of_all

Metric = Literal["l2", "cosine"]
Matrix = NDArray[np.float32]

BLOCK = 2**22
"""Numbers, of rows or of scores, that are looked at together. It changes speed, no result, and so does `ROOM`."""
ROOM = 2**19
"""Numbers that are multiplied at once: few enough to stay in a core's own cache."""
RUN = 40_000
"""Rows that one thread takes one after the other."""
FETCHED = 4_000
"""Rows that are in memory at once to be measured."""


class VectorSource(Protocol):
    """Rows of float32, as a matrix has them, in memory or memory-mapped, or made when they are asked for."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, rows: Any, /) -> Matrix:
        """The rows of a slice or of an array of row numbers; each row is the same either way."""
        ...


class Parts:
    """The rows of several matrices one after the other, as one source."""

    def __init__(self, parts: Sequence[VectorSource]) -> None:
        self._parts = parts
        self.starts: NDArray[np.int64] = np.concatenate(([0], np.cumsum([part.shape[0] for part in parts])))

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.starts[-1]), self._parts[0].shape[1]

    def __getitem__(self, rows: Any, /) -> Matrix:
        """The rows of a slice without a step, or of an array of row numbers."""
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.shape[0])
            bounds = zip(self._parts, self.starts.tolist(), self.starts[1:].tolist(), strict=False)
            cut = [part[max(start - low, 0) : stop - low] for part, low, high in bounds if low < stop and start < high]
            return cut[0] if len(cut) == 1 else np.concatenate(cut)
        matrix = np.empty((len(rows), self.shape[1]), dtype=np.float32)
        part_of = np.searchsorted(self.starts, rows, side="right") - 1
        for number in np.unique(part_of).tolist():
            matrix[part_of == number] = self._parts[number][rows[part_of == number] - self.starts[number]]
        return matrix


def negated_distances(query: Matrix, rows: Matrix) -> NDArray[np.float64]:
    """-|q - d| for each row; 0 is the best."""
    return np.asarray(0.0 - np.sqrt(((rows.astype(np.float64) - query.astype(np.float64)) ** 2).sum(axis=1)))


def cosines(query: Matrix, rows: Matrix) -> NDArray[np.float64]:
    """The cosine with each row, none of which is zero."""
    left, right = query.astype(np.float64), rows.astype(np.float64)
    lengths = np.sqrt((left**2).sum()) * np.sqrt((right**2).sum(axis=1))
    return np.asarray((left * right).sum(axis=1) / lengths)


SCORES: dict[Metric, Callable[[Matrix, Matrix], NDArray[np.float64]]] = {"l2": negated_distances, "cosine": cosines}
"""The score of each metric, in double precision; higher is better."""


@dataclass(frozen=True)
class _Scan:
    """Searches a run of rows for the candidates of each query, and gives the error of their scores."""

    source: VectorSource
    usable: NDArray[np.bool_] | None
    metric: Metric
    moved: Matrix
    centre: Matrix
    lengths: NDArray[np.float64]
    empty: NDArray[np.bool_]
    gamma: float
    relative: float
    depths: NDArray[np.int64]
    least: NDArray[np.float64]
    """Known lower bounds of the k-th scores from finished runs; another process has none of them."""

    def __call__(self, run: range) -> tuple[list[Candidates], NDArray[np.float64]]:
        top = TopK(self.depths, relative=self.relative, least=self.least)
        longest, matrix = 0.0, self.source[run.start : run.stop]
        error: NDArray[np.float64] = np.full(len(self.moved), 4 * self.gamma if self.metric == "cosine" else 0.0)
        size = max(1, BLOCK // max(1, matrix.shape[1], len(self.moved)))
        for start in range(0, len(matrix), size):
            block = matrix[start : start + size]
            ranks = _not_zero(block)
            if self.usable is not None:
                ranks &= self.usable[run.start + start :][: len(block)]
            squares, scores = self._products(block)
            if not np.isfinite(squares).all():
                row = run.start + start + int(np.flatnonzero(~np.isfinite(squares))[0])
                raise InputError(
                    f"row {row}: not finite, or too long",
                    hint="the file of the vectors may be damaged; add the vectors again",
                )
            if self.metric == "l2":
                longest = max(longest, float(squares.max(initial=0.0)) ** 0.5)
                error = 2 * self.gamma * (longest + self.lengths) ** 2
                scores *= 2
                scores -= squares
                scores -= (self.lengths[:, None] ** 2).astype(np.float32)
            else:
                with np.errstate(divide="ignore", invalid="ignore"):
                    scores /= np.sqrt(squares)
                    scores /= self.lengths[:, None].astype(np.float32)
            if not ranks.all():
                scores[:, ~ranks] = -np.inf
            scores[self.empty] = -np.inf
            top.push(run.start + start, scores, error=error)
        return top.candidates(error=error), error

    def _products(self, block: Matrix) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Products of each moved row with itself, shape (rows,), and with each query, shape (queries, rows)."""
        size = min(len(block), max(1, ROOM // max(1, block.shape[1])))
        room = np.empty((size, block.shape[1]), dtype=np.float32)
        squares = np.empty(len(block), dtype=np.float32)
        products = np.zeros((len(self.moved), len(block)), dtype=np.float32)
        # One query is the centre itself.
        multiplied = self.lengths.any()
        for start in range(0, len(block), size):
            part = slice(start, start + size)
            rows = np.subtract(block[part], self.centre, out=room[: len(block) - start])
            np.einsum("ij,ij->i", rows, rows, out=squares[part])
            if multiplied:
                np.matmul(self.moved, rows.T, out=products[:, part])
        return squares, products


def search(
    source: VectorSource,
    ids: Strings,
    queries: Matrix,
    *,
    metric: Metric,
    depths: NDArray[np.int64],
    usable: NDArray[np.bool_] | None = None,
    each: Each = in_threads,
) -> list[Ranking]:
    """The best rows for each query, under the tie rule.

    ids: the document of each row. queries: shape (queries, dimensions). depths: shape (queries,), how many each wants.
    usable: shape (rows,), False for a row that must not rank.
    """
    dimensions = source.shape[1]
    vectors = np.asarray(queries, dtype=np.float32)
    empty = np.asarray(~vectors.any(axis=1))
    # Distances do not change when everything moves by one vector; what queries and rows have in common only adds error.
    centre = vectors.mean(axis=0) if metric == "l2" and len(vectors) else np.zeros(dimensions, dtype=np.float32)
    moved = vectors - centre
    lengths = np.sqrt((moved.astype(np.float64) ** 2).sum(axis=1))
    # The relative error of a sum of n products in single precision, in whatever order: n u / (1 - n u), u = 2^-24;
    # a few more u for the moving, and for what is done to the sum.
    unit = (dimensions + 16) * 2.0**-24
    gamma = 1.1 * unit / (1 - unit)
    # A distance is compared by its square, on which one rounding step counts twice.
    relative = 2.1 * ROUNDING_STEP if metric == "l2" else ROUNDING_STEP

    bounds = np.full(len(vectors), -np.inf)
    scan = _Scan(source, usable, metric, moved, centre, lengths, empty, gamma, relative, depths, bounds)
    candidates = best_of_all(each(scan, _runs(source)), depths, relative=relative, least=bounds)
    rows_by_query = [part.rows for part in candidates]
    measured = _measured(source, vectors, rows_by_query, SCORES[metric])
    return [
        best(ids, rows, scores, depth=depth)
        for rows, scores, depth in zip(rows_by_query, measured, depths.tolist(), strict=True)
    ]


def _runs(source: VectorSource) -> list[range]:
    """Runs of the rows of the source, none of which crosses one of its parts."""
    ends = source.starts.tolist() if isinstance(source, Parts) else [0, source.shape[0]]
    return [range(start, min(start + RUN, high)) for low, high in pairwise(ends) for start in range(low, high, RUN)]


def _not_zero(block: Matrix) -> NDArray[np.bool_]:
    """Mask of the rows that have a number other than 0: shape (rows,). Only rows that begin with 0 are read to the
    end."""
    nonzero: NDArray[np.bool_] = block[:, 0] != 0
    unknown = np.flatnonzero(~nonzero)
    nonzero[unknown] = block[unknown].any(axis=1)
    return nonzero


def _measured(
    source: VectorSource,
    queries: Matrix,
    rows_by_query: Sequence[NDArray[np.int64]],
    score: Callable[[Matrix, Matrix], NDArray[np.float64]],
) -> list[NDArray[np.float64]]:
    """The scores of the rows found for each query, each row fetched once however many queries found it."""
    scores: list[NDArray[np.float64]] = [np.zeros(len(rows)) for rows in rows_by_query]
    distinct = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *rows_by_query]))
    for start in range(0, len(distinct), FETCHED):
        chunk = distinct[start : start + FETCHED]
        matrix = source[chunk]
        for query, rows in enumerate(rows_by_query):
            low, high = np.searchsorted(rows, [chunk[0], chunk[-1] + 1])
            scores[query][low:high] = score(queries[query], matrix[np.searchsorted(chunk, rows[low:high])])
    return scores
