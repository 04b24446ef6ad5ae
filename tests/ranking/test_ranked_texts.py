"""Topics that are texts rank the corpus as a paper of the same text does."""

from __future__ import annotations

import numpy as np
import pytest
from annot.base.records import Paper, Ranking
from annot.ranking.corpus import Corpus
from annot.ranking.methods import METHODS, RankingInputs, rank_all, ranks_texts
from annot.ranking.wordvectors import WordVectors
from indexed import inputs_of
from sklearn.feature_extraction.text import TfidfVectorizer

BY_TEXT = [name for name in METHODS if ranks_texts(name)]


@pytest.fixture
def with_words(corpus: Corpus) -> RankingInputs:
    known = tuple(corpus.tokens("words").to_pylist()[1:])
    matrix = np.random.default_rng(3).normal(size=(len(known), 6)).astype(np.float32)
    return inputs_of(corpus, word_vectors=WordVectors(known, matrix, {"seed": 3}))


def ranked_by(
    inputs: RankingInputs, method: str, *, papers: list[str] | None = None, texts: dict[str, Paper] | None = None
) -> dict[str, Ranking]:
    given = {name: {"title": one.title, "abstract": " ".join(one.sentences)} for name, one in (texts or {}).items()}
    return rank_all(
        inputs, methods=[method], paper_ids=papers or [], texts=given, excluded={}, ranking_depth=500,
        after_method=lambda _: None,
    )[method]  # fmt: skip


def test_the_methods_of_terms_and_word_vectors_rank_texts() -> None:
    assert [name for name in METHODS if "tfidf" in name or "cbow" in name] == BY_TEXT
    assert not ranks_texts("specter")


@pytest.mark.parametrize("method", BY_TEXT)
def test_a_text_ranks_as_the_paper_of_that_text_and_finds_that_paper_too(
    with_words: RankingInputs, papers: list[Paper], method: str
) -> None:
    some = papers[:30]
    by_paper = ranked_by(with_words, method, papers=[one.paper_id for one in some])
    by_text = ranked_by(with_words, method, texts={f"t-{one.paper_id}": one for one in some})
    assert any(by_paper.values())
    for one in some:
        found = by_text[f"t-{one.paper_id}"]
        assert tuple(doc for doc in found if doc.doc_id != one.paper_id) == by_paper[one.paper_id]
        if by_paper[one.paper_id]:
            assert found[0].score == max(doc.score for doc in found if doc.doc_id == one.paper_id)


@pytest.mark.parametrize("method", BY_TEXT)
def test_papers_rank_the_same_with_texts_beside_them(
    with_words: RankingInputs, papers: list[Paper], method: str
) -> None:
    ids = [one.paper_id for one in papers[:9]]
    alone = ranked_by(with_words, method, papers=ids)
    together = ranked_by(with_words, method, papers=ids, texts={"t": papers[50], "u": papers[51]})
    assert {name: together[name] for name in ids} == alone
    assert together.keys() - alone.keys() == {"t", "u"}


def test_words_that_no_paper_has_change_nothing(with_words: RankingInputs, papers: list[Paper]) -> None:
    plain = Paper("t", papers[1].title, papers[1].sentences)
    more = Paper("u", papers[1].title, (*papers[1].sentences, "Zzyzx QUUX unheard-of."))
    for method in BY_TEXT:
        found = ranked_by(with_words, method, texts={"t": plain, "u": more, "none": Paper("n", "zzyzx", ("quux",))})
        assert found["t"] == found["u"]
        assert found["none"] == ()


def test_a_text_has_the_cosines_of_scikit_learn(with_words: RankingInputs, papers: list[Paper]) -> None:
    vectorizer = TfidfVectorizer()
    matrix = vectorizer.fit_transform(" ".join(paper.sentences) for paper in papers)
    text = f"{papers[3].title} and {papers[8].title} of ZZYZX"
    cosines = (matrix @ vectorizer.transform([text]).T).toarray().ravel()
    found = ranked_by(with_words, "abs_tfidf", texts={"t": Paper("t", "", (text,))})["t"]
    assert len(found) == np.count_nonzero(cosines > 0)
    expected = {paper.paper_id: score for paper, score in zip(papers, cosines.tolist(), strict=True)}
    assert [doc.score for doc in found] == pytest.approx([expected[doc.doc_id] for doc in found], rel=1e-5)
    assert [doc.score for doc in found] == sorted((doc.score for doc in found), reverse=True)
