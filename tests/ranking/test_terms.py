"""tf-idf is scikit-learn's, BM25 is rank_bm25's, at every block size."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.ranking import search
from annot.ranking.corpus import Rows, Statistics
from annot.ranking.methods import RankingInputs
from indexed import inputs_of
from rank_bm25 import BM25Okapi
from scipy.sparse import vstack
from sklearn.feature_extraction.text import TfidfVectorizer

Texts = Callable[[Sequence[Paper]], list[str]]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


def every_row(papers: Sequence[Paper]) -> Rows:
    return np.arange(len(papers))


@pytest.mark.parametrize("field", ["title", "abstract"])
def test_tfidf_vectors_are_those_of_scikit_learn(
    inputs: RankingInputs, papers: list[Paper], abstracts_of: Texts, field: str
) -> None:
    vectorizer = TfidfVectorizer()
    expected = vectorizer.fit_transform([paper.title for paper in papers] if field == "title" else abstracts_of(papers))
    idf = inputs.corpus.statistics(field, "terms").smooth_idf  # type: ignore[arg-type]
    counts = inputs.corpus.counts(field, "terms", every_row(papers))  # type: ignore[arg-type]
    tokens = inputs.corpus.tokens("terms").to_pylist()
    columns = [tokens.index(name) for name in vectorizer.get_feature_names_out()]
    np.testing.assert_allclose(search.unit(counts, idf)[:, columns].toarray(), expected.toarray(), rtol=1e-12)
    np.testing.assert_allclose(idf[columns], vectorizer.idf_, rtol=1e-14)
    found = vstack(list(search.blocks(inputs.corpus, field, size=23)), format="csr")  # type: ignore[arg-type]
    np.testing.assert_allclose(found[:, columns].toarray(), expected.toarray(), rtol=1e-6)


@pytest.mark.parametrize(("k1", "b", "epsilon"), [(1.5, 0.75, 0.25), (0.9, 0.4, 0.1)])
def test_bm25_scores_are_those_of_rank_bm25(
    inputs: RankingInputs, papers: list[Paper], abstracts_of: Texts, k1: float, b: float, epsilon: float
) -> None:
    reference = BM25Okapi([words(text) for text in abstracts_of(papers)], k1=k1, b=b, epsilon=epsilon)
    assert min(reference.idf.values()) < 0.25 * max(reference.idf.values()), "the floor must be in play"
    model = search.fit_bm25(inputs.corpus.statistics("abstract", "words"), k1=k1, b=b, epsilon=epsilon)
    for row, paper in enumerate(papers):
        text = " ".join(paper.sentences[:2])
        query = inputs.corpus.sentences(paper.paper_id, range(len(paper.sentences[:2])), "words")
        rows = np.arange(row % 5, len(papers), 2)
        np.testing.assert_allclose(
            model.scores(query, inputs.corpus.counts("abstract", "words", rows)),
            reference.get_scores(words(text))[rows],
            rtol=1e-10,
            atol=1e-12,
        )


def test_bm25_of_no_words_at_all_is_refused() -> None:
    inputs = inputs_of([Paper("p", "title only", ())])
    with pytest.raises(InputError, match="at least one token"):
        _ = inputs.bm25


def test_a_word_in_half_of_the_documents_weighs_nothing_and_only_words_in_more_get_the_floor() -> None:
    texts = [["half", "every"], ["half", "every", "once"], ["every"], ["every", "rare"]]
    reference = BM25Okapi(texts, epsilon=0.25).idf
    names = ("half", "every", "once", "rare")
    frequency = np.array([sum(name in text for text in texts) for name in names])
    model = search.fit_bm25(Statistics(4, frequency, 8), k1=1.5, b=0.75, epsilon=0.25)
    np.testing.assert_allclose(model.idf, [reference[name] for name in names], atol=1e-15)
    assert (model.idf[0], model.mean_length) == (0, 2)
    assert model.idf[1] < 0 < model.idf[2]
