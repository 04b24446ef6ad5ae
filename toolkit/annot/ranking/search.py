"""Exact search: the best k of a stream of scores, dense vectors, and scores by terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from annot.base.errors import InputError
from annot.base.libraries import pyarrow
from annot.base.parallel import Each, in_threads
from annot.base.records import SCORE_DIGITS, Ranking, ScoredDoc, ranked
from annot.ranking.corpus import BLOCK as ROWS_PER_BLOCK
from annot.ranking.corpus import Corpus, Field, Rule, Sparse, Statistics, Strings, lengths, run_of, sparse, with_data

# ----------------------------------------------------------------------------------------------------------------------
# The best k of a stream of scores, exact under the tie rule, without keeping every score.
#
# A document belongs to the best k by its rounded score and its id (`annot.base.records`), so while the blocks pass it
# keeps all that could still come in: all scores down to the k-th best, less the width of one rounding step and the
# error of the scores themselves.
# ----------------------------------------------------------------------------------------------------------------------


ROUNDING_STEP = 1.01 * 10.0 ** (1 - SCORE_DIGITS)
"""Largest relative difference at which two numbers may round to the same `SCORE_DIGITS` digits."""


Candidates = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Rows, ascending, among which the best of a query are, and their scores."""


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
            self._take(query, (rows[entries] + start, values[entries]), error)

    def join(self, parts: Sequence[Candidates], *, error: NDArray[np.float64]) -> None:
        """Take in the candidates of each query among rows that follow those before; `error` as in `push`."""
        for query, part in enumerate(parts):
            self._take(query, part, error)

    def candidates(self, *, error: NDArray[np.float64]) -> list[Candidates]:
        """Rows among which the best of each query are, and their scores; `error` as in `push`."""
        for query, rows in enumerate(self._rows):
            if rows:
                self._thin(query, error)
        nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        pairs = zip(self._rows, self._scores, strict=True)
        return [(rows[0], scores[0]) if rows else nothing for rows, scores in pairs]

    def least(self, *, error: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lower bound of the k-th score of each query: shape (queries,), for the search of other rows."""
        return self._kth - error

    def _take(self, query: int, part: Candidates, error: NDArray[np.float64]) -> None:
        rows, scores = part
        if len(rows):
            self._rows[query].append(rows)
            self._scores[query].append(scores)
            self._kept[query] += len(rows)
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
    doc_ids = ids.take(
        pyarrow.Array.from_buffers(pyarrow.int64(), len(rows), [None, pyarrow.py_buffer(rows)])
    ).to_pylist()
    return ranked(map(ScoredDoc, doc_ids, scores.tolist()))[:depth]


# ----------------------------------------------------------------------------------------------------------------------
# Exact search in dense vectors, by blocked matrix products over rows that may stay on disk.
#
# Single precision selects, double precision scores: every row that could be among the best within the error of the
# blocked product is measured again pair by pair, so that the ranking does not depend on the block size or the BLAS
# kernel. A vector of zeros has no direction and is near every short one; it never ranks, nor does a query of zeros
# find any.
# ----------------------------------------------------------------------------------------------------------------------


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


def dense_cosines(query: Matrix, rows: Matrix) -> NDArray[np.float64]:
    """The cosine with each row, none of which is zero."""
    left, right = query.astype(np.float64), rows.astype(np.float64)
    lengths = np.sqrt((left**2).sum()) * np.sqrt((right**2).sum(axis=1))
    return np.asarray((left * right).sum(axis=1) / lengths)


SCORES: dict[Metric, Callable[[Matrix, Matrix], NDArray[np.float64]]] = {
    "l2": negated_distances,
    "cosine": dense_cosines,
}
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
            ranks = _nonzero_rows(block)
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
    rows_by_query = [rows for rows, _ in candidates]
    measured = _measured(source, vectors, rows_by_query, SCORES[metric])
    return [
        best(ids, rows, scores, depth=depth)
        for rows, scores, depth in zip(rows_by_query, measured, depths.tolist(), strict=True)
    ]


def _runs(source: VectorSource) -> list[range]:
    """Runs of the rows of the source, none of which crosses one of its parts."""
    ends = source.starts.tolist() if isinstance(source, Parts) else [0, source.shape[0]]
    return [range(start, min(start + RUN, high)) for low, high in pairwise(ends) for start in range(low, high, RUN)]


def _nonzero_rows(block: Matrix) -> NDArray[np.bool_]:
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


# ----------------------------------------------------------------------------------------------------------------------
# Scores of documents by their terms: the cosine of tf-idf vectors, BM25, and any other `TermFormula`.
#
# tf-idf as scikit-learn's `TfidfVectorizer()` computes it with its default settings: raw counts, idf(t) = ln((1 + N)
# / (1 + df(t))) + 1, vectors of Euclidean length 1. A document without a token never ranks, and a cosine of 0 (no
# token in common) is not a retrieval: such a document is left out of the ranking.
#
# BM25 as rank_bm25's `BM25Okapi` computes it, with a floor for negative idf: score(q, d) = sum over the tokens of q,
# repeated ones again, of idf(t) tf (k1 + 1) / (tf + k1 (1 - b + b |d| / avg|d|)), idf(t) = ln((N - df + 0.5) / (df +
# 0.5)); where that is negative it is epsilon times the mean idf of the vocabulary.
#
# In Lucene's form (Kamphuis et al., ECIR 2020) the factor k1 + 1, which is the same for all documents, is not there,
# idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)), and N and the mean length are of the documents that have a token.
# Lucene itself rounds the length of a long document to one byte; here every length is exact.
#
# A document whose score is not above 0 is left out of a ranking: it shares no token with what is asked.
# ----------------------------------------------------------------------------------------------------------------------


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


def tfidf_cosines(queries: Sparse, rows: Sparse, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines of rows of counts: shape (queries, rows); 0 if a side is empty or no token is shared."""
    return np.asarray((unit(rows, idf) @ unit(queries, idf).T.tocsr()).toarray().T)


def blocks(corpus: Corpus, field: Field, *, size: int) -> Iterator[Sparse]:
    """Documents as vectors of length 1, float32, at most `size` at a time across the shards."""
    idf = corpus.statistics(field, "terms").smooth_idf
    for start in range(0, len(corpus), size):
        rows = np.arange(start, min(start + size, len(corpus)))
        yield unit(corpus.counts(field, "terms", rows), idf).astype(np.float32)


class TermFormula(ABC):
    """Formula that scores documents by the tokens that they share with a query: the sum over these of the token's
    weight in the query times its weight in the document, and a last step from the sum to the score.

    It is sent to the workers that search, so it is small or on the disk.
    """

    rule: ClassVar[Rule]
    """Rule of the tokens that are counted."""

    @abstractmethod
    def query_weights(self, queries: Sparse) -> Sparse:
        """Weights in the places of the queries' counts; above 0."""

    def document_weights(self, rows: Sparse, tokens: NDArray[np.int32]) -> Sparse:
        """Weights in the places of these documents' counts; above 0. tokens: the number of each column in the
        corpus."""
        return rows

    def finish(self, sums: NDArray[np.float64], queries: Sparse, rows: Sparse, start: int) -> NDArray[np.float64]:
        """Scores from the sums, which may be changed in place: shape (queries, rows); 0 if no token is shared.

        queries, rows: counts. start: the number of the first of the rows in the corpus.
        """
        return sums


@dataclass(frozen=True)
class Tfidf(TermFormula):
    """Cosine of tf-idf vectors of a field."""

    corpus: Corpus
    field: Field
    rule: ClassVar[Rule] = "terms"

    def query_weights(self, queries: Sparse) -> Sparse:
        # One side carries both weights and its own length, so that the corpus's counts are used as they are.
        idf = self.corpus.statistics(self.field, "terms").smooth_idf
        weights = unit(queries, idf)
        weights.data *= idf[weights.indices]
        return weights

    def finish(self, sums: NDArray[np.float64], queries: Sparse, rows: Sparse, start: int) -> NDArray[np.float64]:
        sums /= self.corpus.norms(self.field)[start : start + rows.shape[0]]
        return sums


@dataclass(frozen=True)
class _TermSearch:
    """Finds, in one shard, the candidates of each query. queries: counts, shape (queries, tokens)."""

    corpus: Corpus
    field: Field
    formula: TermFormula
    queries: Sparse
    depths: NDArray[np.int64]
    least: NDArray[np.float64]
    """Known lower bounds of the k-th scores from finished shards; another process has none of them."""

    @cached_property
    def used(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Row in the table for each token, and the table of weights; row 0 is of tokens that no query has."""
        weights = self.formula.query_weights(self.queries)
        tokens = np.unique(weights.indices)
        row_of = np.zeros(weights.shape[1], dtype=np.int32)
        row_of[tokens] = np.arange(1, len(tokens) + 1)
        return row_of, np.concatenate([np.zeros((1, len(self.depths))), weights[:, tokens].toarray().T])

    def __call__(self, number: int) -> tuple[list[Candidates], NDArray[np.float64]]:
        counts = self.corpus.shards[number].counts(self.field, self.formula.rule)
        tokens = self.corpus.places(self.formula.rule)[number]
        row_of, table = self.used
        table_rows = row_of[tokens]
        first_row = int(self.corpus.starts[number])
        top, exact = TopK(self.depths, relative=ROUNDING_STEP, least=self.least), np.zeros(len(self.depths))
        for start in range(0, counts.shape[0], ROWS_PER_BLOCK):
            rows = run_of(counts, start, start + ROWS_PER_BLOCK)
            weights = self.formula.document_weights(rows, tokens)
            # For few queries, tokens that none of them has are passed over slower than they are multiplied by 0.
            few_queries = len(self.depths) <= FEW
            sums = weights @ table[table_rows] if few_queries else _used_tokens(weights, table_rows, len(table)) @ table
            sums = np.ascontiguousarray(sums.T)
            nothing = sums <= 0
            with np.errstate(invalid="ignore"):
                scores = self.formula.finish(sums, self.queries, rows, first_row + start)
            scores[nothing] = -np.inf
            top.push(first_row + start, scores, error=exact)
        return top.candidates(error=exact), exact


def rank_by_terms(
    corpus: Corpus,
    field: Field,
    formula: TermFormula,
    queries: Sparse,
    *,
    depths: NDArray[np.int64],
    each: Each = in_threads,
) -> list[Ranking]:
    """The best documents for each row of counts, under the rule of the formula. depths: shape (queries,).

    A document whose sum over the shared tokens is not above 0 is left out.
    """
    bounds = np.full(len(depths), -np.inf)
    parts = each(_TermSearch(corpus, field, formula, queries, depths, bounds), range(len(corpus.shards)))
    candidates = best_of_all(parts, depths, relative=ROUNDING_STEP, least=bounds)
    ids = corpus.paper_ids
    return [best(ids, *part, depth=depth) for part, depth in zip(candidates, depths.tolist(), strict=True)]


def _used_tokens(counts: Sparse, row_of: NDArray[np.int32], width: int) -> Sparse:
    """The counts of tokens that a query has, as columns their rows in the table: the others are left out."""
    rows = row_of[counts.indices]
    used_entries = np.flatnonzero(rows)
    return sparse(counts.data[used_entries], rows[used_entries], np.searchsorted(used_entries, counts.indptr), width)


@dataclass(frozen=True)
class Bm25(TermFormula):
    """BM25 with the statistics of a corpus: idf, shape (width,); mean length in tokens; the parameters of the
    formula."""

    idf: NDArray[np.float64]
    mean_length: float
    k1: float
    b: float
    gain: float
    """k1 + 1, or 1 in Lucene's form."""
    rule: ClassVar[Rule] = "words"

    def query_weights(self, queries: Sparse) -> Sparse:
        return with_data(queries, queries.data * self.idf[queries.indices])

    def document_weights(self, rows: Sparse, tokens: NDArray[np.int32] | None = None) -> Sparse:
        lengths = np.repeat(np.asarray(rows.sum(axis=1)).ravel(), np.diff(rows.indptr))
        return with_data(
            rows, rows.data * self.gain / (rows.data + self.k1 * (1 - self.b + self.b * lengths / self.mean_length))
        )

    def scores(self, query: Sparse, rows: Sparse) -> NDArray[np.float64]:
        """The score of each row of counts, shape (rows,), for a query of one row of counts."""
        return np.asarray(self.document_weights(rows) @ self.query_weights(query).toarray()[0])


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
