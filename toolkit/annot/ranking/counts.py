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


def count(stream: Stream, vocabulary: Vocabulary) -> Sparse:
    """How often each token stands in each document of `stream`."""
    from scipy.sparse import vstack

    blocks = []
    for start in range(0, max(len(stream), 1), BLOCK):
        bounds = stream.starts[start : start + BLOCK + 1]
        blocks.append(_counted(stream.ids[bounds[0] : bounds[-1]], bounds - bounds[0], vocabulary))
    return vstack(blocks, format="csr")


def count_pieces(pieces: NDArray[np.int32], vocabulary: Vocabulary) -> Sparse:
    """The counts of one run of pieces, as a csr_matrix of one row: a query made of chosen sentences."""
    return _counted(pieces, np.array([0, len(pieces)]), vocabulary)


def document_frequency(counts: Sparse) -> NDArray[np.int64]:
    """In how many documents each token stands: shape (tokens,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def row_sums(counts: Sparse, weights: NDArray[np.float64], *, power: int) -> NDArray[np.float64]:
    """For each row the sum of (count x weight) ** power, taken in the order of the columns: shape (rows,)."""
    from scipy.sparse import csr_matrix

    data = counts.data.astype(np.float64) ** power
    return np.asarray(csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape) @ weights**power)


def _counted(pieces: NDArray[np.int32], bounds: NDArray[np.int64], vocabulary: Vocabulary) -> Sparse:
    from scipy.sparse import csr_matrix

    tokens, widths = vocabulary.expand(pieces)
    indptr = np.concatenate(([0], np.cumsum(widths)))[bounds]
    shape = (len(bounds) - 1, len(vocabulary))
    matrix = csr_matrix((np.ones(len(tokens), dtype=np.int32), tokens, indptr), shape=shape)
    matrix.sum_duplicates()
    return matrix
