"""Latent semantic analysis: a truncated singular value decomposition of the abstracts' tf-idf vectors.

Deerwester et al., JASIS 1990. Documents are the rows of U S, compared by cosine; scikit-learn's randomised solver. The
last digits depend on the linear algebra library, so a decomposition is stored and ranked from, not made twice.
"""

from __future__ import annotations

import numpy as np

from annot.errors import InputError
from annot.ranking.counts import document_frequency
from annot.ranking.tfidf import Tfidf
from annot.ranking.vectors import Vectors

DOCUMENTS = 5
"""Documents for each dimension."""


def fit(model: Tfidf, ids: tuple[str, ...], *, dimensions: int, iterations: int, seed: int) -> Vectors:
    """The decomposition of a field. A corpus with fewer than `DOCUMENTS` for each of the `dimensions` gets fewer: with
    as many as it has documents, the cosine would be that of tf-idf itself.

    Raises InputError when no document has a token.
    """
    from sklearn.decomposition import TruncatedSVD

    rank = min(dimensions, -(-model.counts.shape[0] // DOCUMENTS), np.count_nonzero(document_frequency(model.counts)))
    if rank < 1:
        raise InputError(f"lsa needs a document with a token; found none in {model.counts.shape[0]} document(s)")
    svd = TruncatedSVD(n_components=rank, algorithm="randomized", n_iter=iterations, random_state=seed)
    matrix = np.asarray(svd.fit_transform(model.matrix()), dtype=np.float32)
    # An empty document's row is zero but for rounding; it must be zero to be known as empty.
    matrix[model.norms == 0] = 0
    facts = {"iterations": iterations, "seed": seed, "input": "tf-idf of abstracts", "asked_dimensions": dimensions}
    space = f"lsa-{rank}-{iterations}-{seed}"
    return Vectors(ids, matrix, model="lsa", space=space, metric="cosine", facts=facts)
