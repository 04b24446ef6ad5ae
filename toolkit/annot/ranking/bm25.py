"""BM25 Okapi with a floor for negative idf, as rank_bm25's `BM25Okapi` computes it.

score(q, d) = sum over the tokens of q, repeated ones again, of idf(t) tf (k1 + 1) / (tf + k1 (1 - b + b |d| / avg|d|)),
idf(t) = ln((N - df + 0.5) / (df + 0.5)); where that is negative it is epsilon times the mean idf of the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annot.base.errors import InputError
from annot.ranking.corpus import Statistics
from annot.ranking.tokens import Sparse


@dataclass(frozen=True)
class Bm25:
    """The statistics of a corpus: idf, shape (width,); mean length in tokens; the two parameters of the formula."""

    idf: NDArray[np.float64]
    mean_length: float
    k1: float
    b: float

    def scores(self, query: Sparse, rows: Sparse) -> NDArray[np.float64]:
        """The score of each row of counts, shape (rows,), for a query of one row of counts."""
        from scipy.sparse import csr_matrix

        widths = np.diff(rows.indptr)
        lengths = np.repeat(np.asarray(rows.sum(axis=1)).ravel(), widths)
        saturated = (
            rows.data * (self.k1 + 1) / (rows.data + self.k1 * (1 - self.b + self.b * lengths / self.mean_length))
        )
        weights = np.zeros(len(self.idf))
        weights[query.indices] = query.data * self.idf[query.indices]
        return np.asarray(csr_matrix((saturated, rows.indices, rows.indptr), shape=rows.shape) @ weights)


def fit(statistics: Statistics, *, k1: float, b: float, epsilon: float) -> Bm25:
    """The statistics of a field as the formula wants them. Raises InputError when no document has a token."""
    if statistics.running == 0:
        raise InputError("BM25 needs a corpus with at least one token; found none")
    # The vocabulary also holds tokens of other fields; they are not part of this one's mean.
    present = statistics.frequency > 0
    df = statistics.frequency[present]
    idf = np.log(statistics.documents - df + 0.5) - np.log(df + 0.5)
    idf[idf < 0] = epsilon * idf.mean()
    full = np.zeros(len(present))
    full[present] = idf
    return Bm25(idf=full, mean_length=statistics.running / statistics.documents, k1=k1, b=b)
