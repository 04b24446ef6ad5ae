"""The best k of a stream of scores, exact under the tie rule, without keeping every score.

A document belongs to the best k by its rounded score and its id (`annot.base.records`), so while the blocks pass it
keeps all that could still come in: all scores down to the k-th best, less the width of one rounding step and the error
of the scores themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.records import SCORE_DIGITS, Ranking, ScoredDoc, ranked
from annot.ranking.tokens import Strings

ROUNDING_STEP = 1.01 * 10.0 ** (1 - SCORE_DIGITS)
"""Largest relative difference at which two numbers may round to the same `SCORE_DIGITS` digits."""


class Candidates(NamedTuple):
    """Rows, ascending, among which the best of a query are, and their scores."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


class TopK:
    """Keeps, for each query, the rows that may be among its best.

    depths: shape (queries,), the number of documents that each query wants. relative: the share below the k-th score at
    which two scores may still be tied once rounded. least: shape (queries,), lower bounds of the k-th scores.
    """

    def __init__(self, depths: NDArray[np.int64], *, relative: float, least: NDArray[np.float64] | None = None) -> None:
        self._depths = depths
        self._relative = relative
        self._rows: list[list[NDArray[np.int64]]] = [[] for _ in depths]
        self._scores: list[list[NDArray[np.float64]]] = [[] for _ in depths]
        self._kept = np.zeros(len(depths), dtype=np.int64)
        self._kth = np.full(len(depths), -np.inf) if least is None else least.copy()

    def push(self, start: int, scores: NDArray[np.floating[Any]], *, error: NDArray[np.float64]) -> None:
        """Take in a block. scores: shape (queries, rows), -inf for a row that does not rank; `start` is its first row.

        error: shape (queries,), twice the largest error of any score so far; it may only grow from block to block.
        """
        # One step below the floor in the precision of the scores, so that rounding it keeps no row out.
        lowest = np.finfo(scores.dtype).min
        floors = np.nextafter(np.maximum(self._floors(error), lowest).astype(scores.dtype), lowest)
        # Ten times as fast as `nonzero` of both dimensions.
        queries, rows = np.divmod(np.flatnonzero(scores >= floors[:, None]), scores.shape[1])
        values, ends = scores[queries, rows].astype(np.float64), np.searchsorted(queries, np.arange(len(scores) + 1))
        for query in np.flatnonzero(np.diff(ends)).tolist():
            entries = slice(int(ends[query]), int(ends[query + 1]))
            self._take(query, Candidates(rows[entries] + start, values[entries]), error)

    def join(self, parts: Sequence[Candidates], *, error: NDArray[np.float64]) -> None:
        """Take in the candidates of each query among rows that follow those before; `error` as in `push`."""
        for query, part in enumerate(parts):
            self._take(query, part, error)

    def candidates(self, *, error: NDArray[np.float64]) -> list[Candidates]:
        """Rows among which the best of each query are, and their scores; `error` as in `push`."""
        for query, rows in enumerate(self._rows):
            if rows:
                self._thin(query, error)
        nothing = Candidates(np.zeros(0, dtype=np.int64), np.zeros(0))
        pairs = zip(self._rows, self._scores, strict=True)
        return [Candidates(rows[0], scores[0]) if rows else nothing for rows, scores in pairs]

    def least(self, *, error: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lower bound of the k-th score of each query: shape (queries,), for the search of other rows."""
        return self._kth - error

    def _take(self, query: int, part: Candidates, error: NDArray[np.float64]) -> None:
        if len(part.rows):
            self._rows[query].append(part.rows)
            self._scores[query].append(part.scores)
            self._kept[query] += len(part.rows)
            if self._kept[query] > 2 * self._depths[query]:
                self._thin(query, error)

    def _floors(self, error: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores below which no row can still be among the best: shape (queries,)."""
        return self._kth - error - self._relative * np.abs(self._kth)

    def _thin(self, query: int, error: NDArray[np.float64]) -> None:
        rows, scores = np.concatenate(self._rows[query]), np.concatenate(self._scores[query])
        depth = int(self._depths[query])
        if depth < len(scores):
            kth = np.partition(scores, len(scores) - depth)[len(scores) - depth]
            self._kth[query] = max(self._kth[query], kth)
        stay = scores >= self._floors(error)[query]
        self._rows[query], self._scores[query] = [rows[stay]], [scores[stay]]
        self._kept[query] = int(stay.sum())


def best_of_all(
    parts: Iterable[tuple[Sequence[Candidates], NDArray[np.float64]]],
    depths: NDArray[np.int64],
    *,
    relative: float,
    least: NDArray[np.float64],
) -> list[Candidates]:
    """The candidates of each query over all parts, each with the error of its scores; `least` is kept up to date."""
    top = TopK(depths, relative=relative)
    error: NDArray[np.float64] = np.zeros(len(depths))
    for candidates, of_part in parts:
        error = np.maximum(error, of_part)
        top.join(candidates, error=error)
        least[:] = top.least(error=error)
    return top.candidates(error=error)


def best(ids: Strings, rows: NDArray[np.int64], scores: NDArray[np.float64], *, depth: int) -> Ranking:
    """The first `depth` of the documents `ids[rows]` under the tie rule."""
    import pyarrow as pa

    doc_ids = ids.take(pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])).to_pylist()
    return ranked(map(ScoredDoc, doc_ids, scores.tolist()))[:depth]
