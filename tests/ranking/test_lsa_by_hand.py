"""Latent semantic analysis of a few words: how many dimensions there are, and where papers and queries lie."""

from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.ranking import word_vectors
from annot.ranking.corpus import Corpus
from annot.ranking.word_vectors import OVERHEAD, documents, fit, fold_in
from indexed import corpus_of


def papers(*texts: str) -> Corpus:
    return corpus_of([Paper(f"p{at}", "", (text,) if text else ()) for at, text in enumerate(texts)], shard=4)


def fitted(corpus: Corpus, *, dimensions: int = 200, iterations: int = 7, memory: int = 2**31) -> tuple[Any, Any]:
    return fit(
        corpus, dimensions=dimensions, iterations=iterations, seed=1, memory=memory, advance=lambda done, total: None
    )


TEXTS = ["trees parse words", "words parse", "models train", "label trees models", "train label", "trees words"]


@pytest.mark.parametrize(
    ("count", "dimensions", "rank"),
    [(1, 200, 1), (5, 200, 1), (6, 200, 2), (10, 200, 2), (11, 200, 3), (11, 2, 2), (11, 1, 1), (60, 200, 6)],
)
def test_there_is_a_dimension_for_five_papers_and_no_more_than_words(count: int, dimensions: int, rank: int) -> None:
    # Of 60 papers there would be twelve dimensions; their texts have six words.
    texts = [TEXTS[at % len(TEXTS)] for at in range(count)]
    basis, found = fitted(papers(*texts), dimensions=dimensions)
    assert basis.shape[1] == rank
    assert found["space"] == f"lsa-{rank}-7-1"
    assert found["facts"]["asked_dimensions"] == dimensions


def test_a_corpus_without_a_word_is_refused_and_one_without_memory_too() -> None:
    with pytest.raises(InputError, match="no word in the 2 abstracts"):
        fitted(papers("", ""))
    corpus = papers(*TEXTS)
    # Two matrices of float32, of six terms by two dimensions and ten more.
    needed = OVERHEAD + 2 * 4 * 6 * (2 + 10)
    assert fitted(corpus, memory=needed)[0].shape == (6, 2)
    with pytest.raises(InputError, match=r"lsa: 6 terms need 0\.5G of memory"):
        fitted(corpus, memory=needed - 1)


def cosines(rows: np.ndarray) -> np.ndarray:
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return np.asarray(unit @ unit.T)


@pytest.mark.parametrize(("block", "slices"), [(3, 3), (4, 1), (10_000, 8)])
def test_papers_lie_where_the_exact_decomposition_has_them(
    block: int, slices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_vectors, "BLOCK", block)
    monkeypatch.setattr(word_vectors, "SLICES", slices)
    texts = [*TEXTS, "", *TEXTS[:4]]
    corpus = papers(*texts)
    told: list[tuple[int, int]] = []
    basis, _ = fit(
        corpus,
        dimensions=200,
        iterations=7,
        seed=1,
        memory=2**31,
        advance=lambda done, total: told.append((done, total)),
    )
    assert told == [(done, 8) for done in range(1, 9)]
    rows = np.concatenate(list(documents(corpus, basis).blocks))
    assert documents(corpus, basis).shape == rows.shape == (11, 3)
    assert rows[6].tolist() == [0, 0, 0]
    words = sorted({word for text in texts for word in text.split()})
    counts = np.array([[text.split().count(word) for word in words] for text in texts])
    weights = counts * (np.log(12 / (1 + (counts > 0).sum(axis=0))) + 1)
    weights = weights / np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-12)
    left, singular, _ = np.linalg.svd(weights)
    exact = left[:, :3] * singular[:3]
    np.testing.assert_allclose(cosines(rows.astype(float)), cosines(exact) * (weights.any(axis=1)), atol=1e-4)
    # The first dimension is that of the largest singular value, and so on.
    np.testing.assert_allclose(np.linalg.norm(rows, axis=0), singular[:3], rtol=1e-4)


def test_a_whole_paper_as_a_query_lies_where_the_paper_lies() -> None:
    corpus = papers(*TEXTS)
    basis, _ = fitted(corpus)
    idf = corpus.statistics("abstract", "terms").smooth_idf
    rows = np.concatenate(list(documents(corpus, basis).blocks))
    for at in range(len(TEXTS)):
        query = corpus.counts("abstract", "terms", np.array([at]))
        np.testing.assert_allclose(fold_in(query, idf, basis), rows[at], atol=1e-6)


def test_columns_that_span_less_become_zero() -> None:
    matrix = np.array([[1, 2, 0], [0, 0, 1], [2, 4, 0]], np.float32)
    word_vectors._make_orthonormal(matrix)
    lengths = sorted(np.linalg.norm(matrix, axis=0).round(5).tolist())
    assert lengths == [0, 1, 1]
    product = matrix.T.astype(float) @ matrix
    np.testing.assert_allclose(product - np.diag(np.diag(product)), 0, atol=1e-6)
