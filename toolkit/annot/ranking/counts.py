"""Term counts of one field under one rule: a sparse matrix, documents by tokens, built a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.ranking.tokens import Stream, Vocabulary

Sparse = Any
"""scipy's csr_matrix, which carries no types."""

BLOCK = 20_000
"""Documents that are worked on at once; changes memory and speed, no result."""


@dataclass(frozen=True)
class TermCounts:
    """How often each token stands in each document: compressed sparse rows, columns in order, no column twice.

    indptr: shape (documents + 1,); indices, data: shape (non-zeros,); width: the number of tokens of the rule.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.int32]
    width: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def document_frequency(self) -> NDArray[np.int64]:
        """In how many documents each token stands: shape (width,)."""
        return np.bincount(self.indices, minlength=self.width)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each document, repeated ones counted again: shape (documents,)."""
        totals = np.concatenate(([0], np.cumsum(self.data, dtype=np.int64)))
        return np.asarray(np.diff(totals[self.indptr]))

    def block(self, start: int, stop: int) -> Sparse:
        """The rows `start` to `stop - 1` as a csr_matrix."""
        from scipy.sparse import csr_matrix

        low, high = int(self.indptr[start]), int(self.indptr[stop])
        indptr = (self.indptr[start : stop + 1] - low).astype(np.int32)
        shape = (stop - start, self.width)
        return csr_matrix((self.data[low:high], self.indices[low:high], indptr), shape=shape)

    def blocks(self) -> Iterator[tuple[int, int, Sparse]]:
        """All rows, `BLOCK` at a time: first row, end, matrix."""
        for start in range(0, len(self), BLOCK):
            stop = min(start + BLOCK, len(self))
            yield start, stop, self.block(start, stop)

    def take(self, rows: NDArray[np.int64]) -> Sparse:
        """The named rows, in the order given, as a csr_matrix."""
        from scipy.sparse import csr_matrix

        starts = self.indptr[rows]
        widths = self.indptr[rows + 1] - starts
        ends = np.cumsum(widths)
        places = np.repeat(starts - ends + widths, widths) + np.arange(int(ends[-1]) if len(ends) else 0)
        indptr = np.concatenate(([0], ends))
        return csr_matrix((self.data[places], self.indices[places], indptr), shape=(len(rows), self.width))


def count(stream: Stream, vocabulary: Vocabulary) -> TermCounts:
    """The counts of every document of `stream`.

    The result's arrays are as long as the token stream before repeated tokens fall together; memory that is not
    touched costs nothing, so no second copy is made of what is the largest object of a study.
    """
    widths = np.diff(vocabulary.indptr)
    capacity = sum(
        int(widths[stream.ids[start : start + (1 << 22)]].sum()) for start in range(0, len(stream.ids), 1 << 22)
    )
    indices, data = np.empty(capacity, dtype=np.int32), np.empty(capacity, dtype=np.int32)
    indptr = np.zeros(len(stream) + 1, dtype=np.int64)
    filled = 0
    for start in range(0, len(stream), BLOCK):
        stop = min(start + BLOCK, len(stream))
        bounds = stream.starts[start : stop + 1]
        matrix = _counted(stream.ids[bounds[0] : bounds[-1]], bounds - bounds[0], vocabulary)
        end = filled + matrix.nnz
        indices[filled:end], data[filled:end] = matrix.indices, matrix.data
        indptr[start + 1 : stop + 1] = filled + matrix.indptr[1:]
        filled = end
    return TermCounts(indptr, indices[:filled], data[:filled], len(vocabulary.tokens))


def count_pieces(pieces: NDArray[np.int32], vocabulary: Vocabulary) -> Sparse:
    """The counts of one run of pieces, as a csr_matrix of one row: a query made of chosen sentences."""
    return _counted(pieces, np.array([0, len(pieces)]), vocabulary)


def _counted(pieces: NDArray[np.int32], bounds: NDArray[np.int64], vocabulary: Vocabulary) -> Sparse:
    from scipy.sparse import csr_matrix

    tokens, widths = vocabulary.expand(pieces)
    indptr = np.concatenate(([0], np.cumsum(widths)))[bounds]
    shape = (len(bounds) - 1, len(vocabulary.tokens))
    matrix = csr_matrix((np.ones(len(tokens), dtype=np.int32), tokens, indptr), shape=shape)
    matrix.sum_duplicates()
    return matrix
