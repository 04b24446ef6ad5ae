"""Term counts of one field under one rule: a sparse matrix, documents by tokens, built a block at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.ranking.tokens import Stream, Vocabulary

Sparse = Any
"""scipy's csr_matrix, which carries no types. Of counts: shape (documents, tokens of the rule), columns in order."""

BLOCK = 20_000
"""Documents that are worked on at once; changes memory and speed, no result."""


def count_pieces(stream: Stream, pieces: int) -> Sparse:
    """How often each piece stands in each document of `stream`: shape (documents, pieces)."""
    return _counted(stream.ids, stream.starts, pieces)


def count_tokens(pieces: Sparse, vocabulary: Vocabulary) -> Sparse:
    """The counts of tokens that counts of pieces come to."""
    counts = pieces @ vocabulary.matrix
    counts.sort_indices()
    return counts


def count_run(pieces: NDArray[np.int32], vocabulary: Vocabulary) -> Sparse:
    """The counts of one run of pieces, as a csr_matrix of one row: a query made of chosen sentences."""
    tokens, _widths = vocabulary.expand(pieces)
    return _counted(tokens, np.array([0, len(tokens)]), len(vocabulary))


def run_of(counts: Sparse, start: int, stop: int) -> Sparse:
    """The rows from `start` to `stop`, without a copy."""
    from scipy.sparse import csr_matrix

    bounds = counts.indptr[start : stop + 1]
    inside = slice(int(bounds[0]), int(bounds[-1]))
    parts = (counts.data[inside], counts.indices[inside], bounds - bounds[0])
    return csr_matrix(parts, shape=(len(bounds) - 1, counts.shape[1]), copy=False)


def document_frequency(counts: Sparse) -> NDArray[np.int64]:
    """In how many documents each token stands: shape (tokens,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def row_sums(counts: Sparse, weights: NDArray[np.float64], *, power: int) -> NDArray[np.float64]:
    """For each row the sum of (count x weight) ** power, taken in the order of the columns: shape (rows,)."""
    from scipy.sparse import csr_matrix

    data = counts.data.astype(np.float64) ** power
    return np.asarray(csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape) @ weights**power)


def _counted(ids: NDArray[np.int32], bounds: NDArray[np.int64], width: int) -> Sparse:
    from scipy.sparse import csr_matrix

    shape = (len(bounds) - 1, width)
    matrix = csr_matrix((np.ones(len(ids), dtype=np.int32), ids.astype(np.int32), bounds), shape=shape)
    matrix.sum_duplicates()
    return matrix
