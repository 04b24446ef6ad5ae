"""Latent semantic analysis: a truncated singular value decomposition of the abstracts' tf-idf vectors.

Deerwester et al., JASIS 1990. Documents are the rows of U S = X V, compared by cosine; queries are folded in as q V
(their equation 3, in the scale of U S), so that a whole document as a query has the vector of that document.

Solved as scikit-learn's `TruncatedSVD` does, by randomised subspace iteration (Halko, Martinsson and Tropp, SIAM Review
2011, algorithm 4.4) from the same random start, but over blocks of documents: the memory holds two matrices of tokens
by dimensions. The last digits depend on the linear algebra library, so a decomposition is stored and ranked from, not
made twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.base.cores import in_threads
from annot.base.errors import InputError
from annot.base.storage import Blocks
from annot.ranking import term_scores
from annot.ranking.corpus import Corpus
from annot.ranking.tokens import Sparse, sparse
from annot.ranking.vectors import Vectors
from annot.ranking.wordvectors import OVERHEAD, gigabytes

DOCUMENTS = 5
"""Documents for each dimension."""
OVERSAMPLES = 10
"""Dimensions that are worked on beyond those that are kept: scikit-learn's default."""
BLOCK = 10_000
"""Documents, or tokens, that are worked on at once; it changes memory and speed, and the last digits."""
SLICES = 8
"""Runs of dimensions that cores work on by themselves; it changes speed, no result."""
NOISE = 1e-12
"""The share of the largest eigenvalue below which another is rounding alone."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Basis:
    """V, shape (tokens, dimensions), the space it spans and how it was found."""

    matrix: Matrix
    space: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Decomposition(Vectors):
    """The documents in the space, and the basis V that takes queries there."""

    basis: Matrix


def fit(
    corpus: Corpus, *, dimensions: int, iterations: int, seed: int, memory: int, advance: Callable[[int, int], None]
) -> Basis:
    """The basis for the abstracts. A corpus with fewer than `DOCUMENTS` for each of the `dimensions` gets fewer: with
    as many as it has documents, the cosine would be that of tf-idf itself.

    memory: bytes that it may take. advance: called with (passes over the corpus done, passes in all).

    Raises InputError when no document has a token, or when more memory is needed.
    """
    from threadpoolctl import threadpool_limits

    frequency = corpus.statistics("abstract", "terms").frequency
    rank = min(dimensions, -(-len(corpus) // DOCUMENTS), np.count_nonzero(frequency))
    if rank < 1:
        raise InputError(
            f"lsa: no word in the {len(corpus)} abstracts of the corpus, expected some text",
            hint="leave lsa out of the methods",
        )
    size = rank + OVERSAMPLES
    needed = OVERHEAD + 2 * 4 * size * len(frequency)
    if needed > memory:
        raise InputError(
            f"lsa: {len(frequency):,} terms need {gigabytes(needed)} of memory, the limit is {gigabytes(memory)}",
            hint=f"run `annot index --memory {gigabytes(needed)}`, or leave lsa out of the methods",
        )
    random = np.random.RandomState(seed)
    # One thread a product: how many there are must not show in the last digits.
    with threadpool_limits(1):
        matrix = _summed(corpus, size, lambda block, _: random.normal(size=(block.shape[0], size)).astype(np.float32))
        for done in range(1, iterations + 1):
            advance(done, iterations + 1)
            _make_orthonormal(matrix)
            matrix = _summed(corpus, size, partial(_product, matrix))
        advance(iterations + 1, iterations + 1)
        for _twice in range(2):
            _make_orthonormal(matrix)
        # Eigenvectors come in the order of ascending eigenvalues.
        turn = np.linalg.eigh(_gram(_rows(corpus, matrix)))[1][:, ::-1][:, :rank]
        for cut in _cuts(matrix):
            matrix[cut, :rank] = matrix[cut] @ turn
    facts = {"iterations": iterations, "seed": seed, "input": "tf-idf of abstracts", "asked_dimensions": dimensions}
    return Basis(matrix[:, :rank], f"lsa-{rank}-{iterations}-{seed}", facts)


def documents(corpus: Corpus, basis: Basis) -> Blocks:
    """The vectors of the abstracts, U S: shape (documents, dimensions). An empty document's is zero."""
    return Blocks((len(corpus), basis.matrix.shape[1]), _rows(corpus, basis.matrix))


def fold_in(query: Sparse, idf: NDArray[np.float64], basis: Matrix) -> Matrix:
    """A query of one row of counts in the space of `basis`: shape (dimensions,)."""
    weights = term_scores.unit(query, idf)
    return np.asarray(weights.data @ np.asarray(basis[weights.indices], dtype=np.float64), dtype=np.float32)


def _summed(corpus: Corpus, width: int, rows_of: Callable[[Sparse, NDArray[np.int64]], Matrix]) -> Matrix:
    """X^T Y: shape (tokens, width). rows_of: the rows of Y for some rows of X, cut to the columns of these numbers."""
    sums = np.zeros((len(corpus.tokens("terms")), width), dtype=np.float32)
    for block, columns_used in _blocks(corpus):
        rows = rows_of(block, columns_used)

        def add(
            columns: slice, block: Sparse = block, columns_used: NDArray[np.int64] = columns_used, rows: Matrix = rows
        ) -> None:
            sums[columns_used, columns] += block.T @ rows[:, columns]

        _do(add, width)
    return sums


def _rows(corpus: Corpus, matrix: Matrix) -> Iterator[Matrix]:
    """X times the matrix, block by block."""
    return (_product(matrix, block, columns_used) for block, columns_used in _blocks(corpus))


def _product(matrix: Matrix, block: Sparse, columns_used: NDArray[np.int64]) -> Matrix:
    """The block times the rows of the matrix that it uses: shape (documents, columns of the matrix)."""
    product = np.empty((block.shape[0], matrix.shape[1]), dtype=np.float32)

    def multiply(columns: slice) -> None:
        product[:, columns] = block @ matrix[columns_used, columns]

    _do(multiply, matrix.shape[1])
    return product


def _do(work: Callable[[slice], None], width: int) -> None:
    bounds = np.linspace(0, width, SLICES + 1).astype(int).tolist()
    for _done in in_threads(work, (slice(*pair) for pair in pairwise(bounds))):
        pass


def _blocks(corpus: Corpus) -> Iterator[tuple[Sparse, NDArray[np.int64]]]:
    """Rows of X cut to the columns that they use, and the numbers of these."""
    for block in term_scores.blocks(corpus, "abstract", size=BLOCK):
        is_used = np.zeros(block.shape[1], dtype=np.bool_)
        is_used[block.indices] = True
        columns_used = np.flatnonzero(is_used)
        columns = (np.cumsum(is_used, dtype=np.int32) - 1)[block.indices]
        yield sparse(block.data, columns, block.indptr, len(columns_used)), columns_used


def _make_orthonormal(matrix: Matrix) -> None:
    """Turn the columns, in place, into an orthonormal basis of their span; if that has fewer dimensions, some become
    zero."""
    values, vectors = np.linalg.eigh(_gram(matrix[cut] for cut in _cuts(matrix)))
    is_kept = values > NOISE * values[-1]
    turn = vectors * np.where(is_kept, 1 / np.sqrt(np.where(is_kept, values, 1)), 0)
    for cut in _cuts(matrix):
        matrix[cut] = matrix[cut] @ turn


def _gram(parts: Iterable[Matrix]) -> NDArray[np.float64]:
    """The products of every two columns, over the rows of all parts."""
    doubles = (part.astype(np.float64) for part in parts)
    return np.asarray(sum(part.T @ part for part in doubles))


def _cuts(matrix: Matrix) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, len(matrix), BLOCK))
