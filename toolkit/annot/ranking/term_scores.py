"""Scores of documents by their terms: the cosine of tf-idf vectors, and BM25.

tf-idf as scikit-learn's `TfidfVectorizer()` computes it with its default settings: raw counts,
idf(t) = ln((1 + N) / (1 + df(t))) + 1, vectors of Euclidean length 1. A document without a token never ranks, and a
cosine of 0 (no token in common) is not a retrieval: such a document is left out of the ranking.

BM25 as rank_bm25's `BM25Okapi` computes it, with a floor for negative idf:
score(q, d) = sum over the tokens of q, repeated ones again, of idf(t) tf (k1 + 1) / (tf + k1 (1 - b + b |d| / avg|d|)),
idf(t) = ln((N - df + 0.5) / (df + 0.5)); where that is negative it is epsilon times the mean idf of the vocabulary.

In Lucene's form (Kamphuis et al., ECIR 2020) the factor k1 + 1, which is the same for all documents, is not there,
idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)), and N and the mean length are of the documents that have a token. Lucene
itself rounds the length of a long document to one byte; here every length is exact.

A document whose score is not above 0 is left out of a ranking: it shares no token with what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.base.cores import Each, in_threads
from annot.base.errors import InputError
from annot.base.records import Ranking
from annot.ranking.corpus import Corpus, Statistics
from annot.ranking.tokens import BLOCK, Field, Rule, Sparse, lengths, run_of, sparse, with_data
from annot.ranking.topk import ROUNDING_STEP, Candidates, TopK, best, best_of_all

TFIDF: dict[str, Any] = {
    "similarity": "cosine",
    "tf": "raw",
    "idf": "ln((1+N)/(1+df))+1",
    "norm": "l2",
    "tokens": "terms",
}


FEW = 8
"""Most queries for which weights are looked up in a table of all tokens: that is faster then, with the same sums."""


def unit(counts: Sparse, idf: NDArray[np.float64]) -> Sparse:
    """Rows of counts as vectors of length 1 (an empty row stays empty), float64. idf: shape (tokens,)."""
    weights = with_data(counts, counts.data * idf[counts.indices])
    weights.data /= np.repeat(lengths(counts, idf), np.diff(counts.indptr))
    return weights


def cosines(queries: Sparse, rows: Sparse, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines of rows of counts: shape (queries, rows); 0 if a side is empty or no token is shared."""
    return np.asarray((unit(rows, idf) @ unit(queries, idf).T.tocsr()).toarray().T)


def blocks(corpus: Corpus, field: Field, *, size: int) -> Iterator[Sparse]:
    """Documents as vectors of length 1, float32, at most `size` at a time across the shards."""
    idf = corpus.statistics(field, "terms").smooth_idf
    for start in range(0, len(corpus), size):
        rows = np.arange(start, min(start + size, len(corpus)))
        yield unit(corpus.counts(field, "terms", rows), idf).astype(np.float32)


@dataclass(frozen=True)
class _Search:
    """Finds, in one shard, the candidates of each query. weights: a row for each query, shape (queries, tokens)."""

    corpus: Corpus
    field: Field
    bm25: Bm25 | None
    """BM25 statistics; None ranks by the cosine of tf-idf."""
    weights: Sparse
    depths: NDArray[np.int64]
    least: NDArray[np.float64]
    """Known lower bounds of the k-th scores from finished shards; another process has none of them."""

    @cached_property
    def used(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Row in the table for each token, and the table of weights; row 0 is of tokens that no query has."""
        tokens = np.unique(self.weights.indices)
        row_of = np.zeros(self.weights.shape[1], dtype=np.int32)
        row_of[tokens] = np.arange(1, len(tokens) + 1)
        return row_of, np.concatenate([np.zeros((1, len(self.depths))), self.weights[:, tokens].toarray().T])

    @property
    def rule(self) -> Rule:
        """Rule of the tokens that are counted."""
        return "terms" if self.bm25 is None else "words"

    @cached_property
    def places(self) -> list[NDArray[np.int32]]:
        """Corpus numbers of each shard's tokens."""
        return self.corpus.places(self.rule)

    @cached_property
    def norms(self) -> NDArray[np.float64]:
        """Divisor of each paper's score; BM25 has taken its length into account."""
        return self.corpus.norms(self.field) if self.bm25 is None else np.ones(len(self.corpus))

    def __call__(self, number: int) -> tuple[list[Candidates], NDArray[np.float64]]:
        counts = self.corpus.shards[number].counts(self.field, self.rule)
        row_of, table = self.used
        table_rows = row_of[self.places[number]]
        first_row = int(self.corpus.starts[number])
        top, exact = TopK(self.depths, relative=ROUNDING_STEP, least=self.least), np.zeros(len(self.depths))
        for start in range(0, counts.shape[0], BLOCK):
            run = run_of(counts, start, start + BLOCK)
            run = run if self.bm25 is None else self.bm25.saturated(run)
            # For few queries, tokens that none of them has are passed over slower than they are multiplied by 0.
            few_queries = len(self.depths) <= FEW
            products = run @ table[table_rows] if few_queries else _of_used(run, table_rows, len(table)) @ table
            norms = self.norms[first_row + start : first_row + start + products.shape[0]]
            top.push(first_row + start, _scaled(products, norms), error=exact)
        return top.candidates(error=exact), exact


def rank_counts(
    corpus: Corpus, field: Field, queries: Sparse, *, depths: NDArray[np.int64], each: Each = in_threads
) -> list[Ranking]:
    """The best documents for each row of counts of terms. depths: shape (queries,)."""
    idf = corpus.statistics(field, "terms").smooth_idf
    # One side carries both weights and its own length, so that the corpus's counts are used as they are.
    weights = unit(queries, idf)
    weights.data *= idf[weights.indices]
    return _found(corpus, field, None, weights, depths=depths, each=each)


def rank_by_bm25(
    corpus: Corpus, field: Field, bm25: Bm25, queries: Sparse, *, depths: NDArray[np.int64], each: Each = in_threads
) -> list[Ranking]:
    """The best documents for each row of counts of words. depths: shape (queries,)."""
    weights = with_data(queries, queries.data * bm25.idf[queries.indices])
    return _found(corpus, field, bm25, weights, depths=depths, each=each)


def _found(
    corpus: Corpus, field: Field, bm25: Bm25 | None, weights: Sparse, *, depths: NDArray[np.int64], each: Each
) -> list[Ranking]:
    bounds = np.full(len(depths), -np.inf)
    parts = each(_Search(corpus, field, bm25, weights, depths, bounds), range(len(corpus.shards)))
    candidates = best_of_all(parts, depths, relative=ROUNDING_STEP, least=bounds)
    ids = corpus.paper_ids
    return [best(ids, *part, depth=depth) for part, depth in zip(candidates, depths.tolist(), strict=True)]


def _of_used(counts: Sparse, row_of: NDArray[np.int32], width: int) -> Sparse:
    """The counts of tokens that a query has, as columns their rows in the table: the others are left out."""
    rows = row_of[counts.indices]
    used_entries = np.flatnonzero(rows)
    return sparse(counts.data[used_entries], rows[used_entries], np.searchsorted(used_entries, counts.indptr), width)


def _scaled(products: NDArray[np.float64], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products with the queries as cosines, shape (queries, rows), and -inf if no token is shared."""
    scores = np.ascontiguousarray(products.T)
    nothing = scores <= 0
    with np.errstate(invalid="ignore"):
        scores /= norms
    scores[nothing] = -np.inf
    return scores


@dataclass(frozen=True)
class Bm25:
    """The statistics of a corpus: idf, shape (width,); mean length in tokens; the parameters of the formula."""

    idf: NDArray[np.float64]
    mean_length: float
    k1: float
    b: float
    gain: float
    """k1 + 1, or 1 in Lucene's form."""

    def saturated(self, rows: Sparse) -> Sparse:
        """Rows of counts as each token's contribution to a score, but for its idf."""
        widths = np.diff(rows.indptr)
        lengths = np.repeat(np.asarray(rows.sum(axis=1)).ravel(), widths)
        return with_data(
            rows, rows.data * self.gain / (rows.data + self.k1 * (1 - self.b + self.b * lengths / self.mean_length))
        )

    def scores(self, query: Sparse, rows: Sparse) -> NDArray[np.float64]:
        """The score of each row of counts, shape (rows,), for a query of one row of counts."""
        weights = np.zeros(len(self.idf))
        weights[query.indices] = query.data * self.idf[query.indices]
        return np.asarray(self.saturated(rows) @ weights)


def fit_bm25(statistics: Statistics, *, k1: float, b: float, epsilon: float) -> Bm25:
    """The statistics of a field as rank_bm25 wants them. Raises InputError when no document has a token."""
    # The vocabulary also holds tokens of other fields; they are not part of this one's mean.
    present = _present(statistics)
    df = statistics.frequency[present]
    idf = np.log(statistics.documents - df + 0.5) - np.log(df + 0.5)
    idf[idf < 0] = epsilon * idf.mean()
    full = np.zeros(len(present))
    full[present] = idf
    return Bm25(idf=full, mean_length=statistics.running / statistics.documents, k1=k1, b=b, gain=k1 + 1)


def fit_lucene(statistics: Statistics, filled: int, *, k1: float, b: float) -> Bm25:
    """The statistics of a field as Lucene wants them. filled: how many documents have a token in it.

    Raises InputError when none has.
    """
    _present(statistics)
    df = statistics.frequency
    idf = np.log(1 + (filled - df + 0.5) / (df + 0.5))
    return Bm25(idf=idf, mean_length=statistics.running / filled, k1=k1, b=b, gain=1.0)


def _present(statistics: Statistics) -> NDArray[np.bool_]:
    if statistics.running == 0:
        raise InputError("BM25 needs a corpus with at least one token; found none")
    return statistics.frequency > 0
