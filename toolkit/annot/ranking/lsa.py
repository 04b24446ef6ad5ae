"""Latent semantic analysis: a truncated singular value decomposition of the abstracts' tf-idf vectors.

Deerwester et al., JASIS 1990. Documents are the rows of U S, compared by cosine; scikit-learn's randomised solver. The
last digits depend on the linear algebra library, so a decomposition is stored and ranked from, not made twice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annot.errors import InputError
from annot.ranking import tfidf
from annot.ranking.corpus import Corpus
from annot.ranking.counts import Sparse
from annot.ranking.vectors import Vectors

DOCUMENTS = 5
"""Documents for each dimension."""


def fit(corpus: Corpus, *, dimensions: int, iterations: int, seed: int) -> Vectors:
    """The decomposition of the abstracts. A corpus with fewer than `DOCUMENTS` for each of the `dimensions` gets fewer:
    with as many as it has documents, the cosine would be that of tf-idf itself.

    Raises InputError when no document has a token.
    """
    from sklearn.decomposition import TruncatedSVD

    used = np.count_nonzero(corpus.statistics("abstract", "terms").frequency)
    rank = min(dimensions, -(-len(corpus) // DOCUMENTS), used)
    if rank < 1:
        raise InputError(f"lsa needs a document with a token; found none in {len(corpus)} document(s)")
    svd = TruncatedSVD(n_components=rank, algorithm="randomized", n_iter=iterations, random_state=seed)
    matrix = np.asarray(svd.fit_transform(tfidf.matrix(corpus, "abstract")), dtype=np.float32)
    # An empty document's row is zero but for rounding; it must be zero to be known as empty.
    matrix[corpus.norms("abstract") == 0] = 0
    facts = {"iterations": iterations, "seed": seed, "input": "tf-idf of abstracts", "asked_dimensions": dimensions}
    space = f"lsa-{rank}-{iterations}-{seed}"
    return Vectors(tuple(corpus.paper_ids.to_pylist()), matrix, model="lsa", space=space, metric="cosine", facts=facts)


def query_map(corpus: Corpus, vectors: Vectors) -> NDArray[np.float64]:
    """What takes a tf-idf vector of length 1 into the space of the decomposition: V, shape (tokens, dimensions).

    Queries are folded in as q V (Deerwester et al., equation 3, in the scale of the rows of U S). The randomised solver
    decomposes Q Q^T X, of which V = X^T (U S) S^-2 holds exactly, so V need not be stored.
    """
    documents = np.asarray(vectors.matrix, dtype=np.float64)
    squares = (documents**2).sum(axis=0)
    product = tfidf.matrix(corpus, "abstract").T @ documents
    return np.asarray(product / np.where(squares > 0, squares, 1))


def fold_in(query: Sparse, idf: NDArray[np.float64], basis: NDArray[np.float64]) -> NDArray[np.float32]:
    """A query of one row of counts in the space of `basis`, which `query_map` made: shape (dimensions,)."""
    return np.asarray((tfidf.unit(query, idf) @ basis)[0], dtype=np.float32)
