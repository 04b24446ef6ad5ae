"""Cosine of tf-idf vectors, as scikit-learn's `TfidfVectorizer()` makes them with its default settings.

Raw counts, idf(t) = ln((1 + N) / (1 + df(t))) + 1, vectors of Euclidean length 1. A document without a token never
ranks, and a cosine of 0 (no token in common) is not a retrieval: such a document is left out of the ranking.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.ranking.corpus import Corpus, Rows
from annot.ranking.counts import BLOCK, Sparse, row_sums, run_of
from annot.ranking.threads import Each, in_threads
from annot.ranking.tokens import Field
from annot.ranking.topk import ROUNDING_STEP, Candidates, TopK, best
from annot.records import Ranking

SETTINGS: dict[str, Any] = {
    "similarity": "cosine",
    "tf": "raw",
    "idf": "ln((1+N)/(1+df))+1",
    "norm": "l2",
    "tokens": "terms",
}


FEW = 8
"""Up to so many queries, weights are looked up in a table of all tokens: that is faster then, with the same sums."""


def unit(counts: Sparse, idf: NDArray[np.float64]) -> Sparse:
    """Rows of counts as vectors of length 1 (an empty row stays empty), float64. idf: shape (tokens,)."""
    from scipy.sparse import csr_matrix

    weights = csr_matrix((counts.data * idf[counts.indices], counts.indices, counts.indptr), shape=counts.shape)
    norms = np.sqrt(row_sums(counts, idf, power=2))
    weights.data /= np.repeat(np.where(norms > 0, norms, 1), np.diff(counts.indptr))
    return weights


def cosines(queries: Sparse, rows: Sparse, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines of rows of counts: shape (queries, rows); 0 where a side is empty or no token is shared."""
    return np.asarray((unit(rows, idf) @ unit(queries, idf).T.tocsr()).toarray().T)


def blocks(corpus: Corpus, field: Field, *, size: int) -> Iterator[Sparse]:
    """The documents as vectors of length 1, float32, so many at a time wherever a shard ends."""
    idf = corpus.statistics(field, "terms").smooth_idf
    for start in range(0, len(corpus), size):
        rows = np.arange(start, min(start + size, len(corpus)))
        yield unit(corpus.counts(field, "terms", rows), idf).astype(np.float32)


@dataclass(frozen=True)
class _Search:
    """Finds, in one shard, the candidates of each query. weights: a row for each query, shape (queries, tokens)."""

    corpus: Corpus
    field: Field
    weights: Sparse
    depths: NDArray[np.int64]

    @cached_property
    def by_token(self) -> Sparse:
        return self.weights.T.tocsr()

    def __call__(self, number: int) -> list[Candidates]:
        counts = self.corpus.shards[number].counts(self.field, "terms")
        local = self.by_token[self.corpus.places("terms")[number]]
        if len(self.depths) <= FEW:
            local = local.toarray()
        norms, first = self.corpus.norms(self.field), int(self.corpus.starts[number])
        top, exact = TopK(self.depths, relative=ROUNDING_STEP), np.zeros(len(self.depths))
        for start in range(0, counts.shape[0], BLOCK):
            products = run_of(counts, start, start + BLOCK) @ local
            length = norms[first + start : first + start + products.shape[0]]
            top.push(first + start, _scaled(products, length), error=exact)
        return top.candidates(error=exact)


def rank(
    corpus: Corpus, field: Field, queries: Rows, *, depths: NDArray[np.int64], each: Each = in_threads
) -> list[Ranking]:
    """The best documents for each query paper. queries: rows, shape (queries,); depths: shape (queries,)."""
    idf = corpus.statistics(field, "terms").smooth_idf
    # One side carries both weights and its own length, so that the corpus's counts are used as they are.
    weights = unit(corpus.counts(field, "terms", queries), idf)
    weights.data *= idf[weights.indices]
    exact = np.zeros(len(depths))
    top = TopK(depths, relative=ROUNDING_STEP)
    for found in each(_Search(corpus, field, weights, depths), range(len(corpus.shards))):
        top.join(found, error=exact)
    ids = corpus.paper_ids
    kept = top.candidates(error=exact)
    return [best(ids, *one, depth=depth) for one, depth in zip(kept, depths.tolist(), strict=True)]


def _scaled(products: Sparse | NDArray[np.float64], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products with the queries as cosines, shape (queries, rows), and -inf where nothing is shared."""
    found = products if isinstance(products, np.ndarray) else products.toarray()
    dense = np.ascontiguousarray(found.T, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(dense > 0, dense / norms, -np.inf)
