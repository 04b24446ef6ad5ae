"""Cosine of tf-idf vectors, as scikit-learn's `TfidfVectorizer()` makes them with its default settings.

Raw counts, idf(t) = ln((1 + N) / (1 + df(t))) + 1, vectors of Euclidean length 1. A document without a token never
ranks, and a cosine of 0 (no token in common) is not a retrieval: such a document is left out of the ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.ranking.counts import Sparse, blocks, document_frequency
from annot.ranking.topk import ROUNDING_STEP, TopK, best
from annot.records import Ranking

SETTINGS: dict[str, Any] = {
    "similarity": "cosine",
    "tf": "raw",
    "idf": "ln((1+N)/(1+df))+1",
    "norm": "l2",
    "tokens": "terms",
}


def smooth_idf(counts: Sparse) -> NDArray[np.float64]:
    """ln((1 + N) / (1 + df)) + 1 for each token: shape (width,)."""
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + document_frequency(counts))) + 1)


@dataclass(frozen=True)
class Tfidf:
    """The statistics of one field: idf, shape (width,); norms, shape (documents,), 0 where a document is empty."""

    counts: Sparse
    idf: NDArray[np.float64]
    norms: NDArray[np.float64]

    def matrix(self) -> Sparse:
        """All documents as vectors of length 1, float32: the input of `annot.ranking.lsa`."""
        from scipy.sparse import csr_matrix

        data = np.concatenate([self.unit(rows).data.astype(np.float32) for _, _, rows in blocks(self.counts)])
        return csr_matrix((data, self.counts.indices, self.counts.indptr), shape=self.counts.shape)

    def unit(self, rows: Sparse) -> Sparse:
        """Rows of counts as vectors of length 1 (an empty row stays empty), float64."""
        from scipy.sparse import csr_matrix

        weights = csr_matrix((rows.data * self.idf[rows.indices], rows.indices, rows.indptr), shape=rows.shape)
        norms = _norms(rows, self.idf)
        weights.data /= np.repeat(np.where(norms > 0, norms, 1), np.diff(rows.indptr))
        return weights

    def cosines(self, queries: Sparse, rows: Sparse) -> NDArray[np.float64]:
        """Cosines of rows of counts: shape (queries, rows); 0 where a side is empty or no token is shared."""
        return np.asarray((self.unit(rows) @ self.unit(queries).T.tocsr()).toarray().T)


def fit(counts: Sparse) -> Tfidf:
    """The statistics of a field from its counts."""
    idf = smooth_idf(counts)
    return Tfidf(counts, idf, np.concatenate([_norms(rows, idf) for _, _, rows in blocks(counts)]))


def rank(model: Tfidf, ids: Sequence[str], queries: Sparse, *, depths: NDArray[np.int64]) -> list[Ranking]:
    """The best documents for each query. queries: counts, shape (queries, width); depths: shape (queries,)."""
    # One side carries both weights and its own length, so that the corpus's counts are used as they are.
    weights = model.unit(queries)
    weights.data *= model.idf[weights.indices]
    by_token = weights.T.tocsr()
    top = TopK(depths, relative=ROUNDING_STEP)
    exact = np.zeros(len(depths))
    for start, stop, rows in blocks(model.counts):
        top.push(start, _scaled(rows @ by_token, model.norms[start:stop]), error=exact)
    return [best(ids, *top.candidates(query, error=exact), depth=depth) for query, depth in enumerate(depths.tolist())]


def _scaled(products: Sparse, norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products with the queries as cosines, shape (queries, rows), and -inf where nothing is shared."""
    dense = np.ascontiguousarray(products.toarray().T, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(dense > 0, dense / norms, -np.inf)


def _norms(rows: Sparse, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    documents = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    squares = np.bincount(documents, weights=(rows.data * idf[rows.indices]) ** 2, minlength=rows.shape[0])
    return np.asarray(np.sqrt(squares))
