"""Topics that are texts rank the corpus as a paper of the same text does."""

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.records import Paper, Ranking
from annot.ranking.corpus import Corpus
from annot.ranking.methods import METHODS, RankingInputs, rank_all
from annot.ranking.vectors import Vectors, topic_name
from annot.ranking.word_vectors import WordVectors
from indexed import decomposed, inputs_of
from sklearn.feature_extraction.text import TfidfVectorizer

BY_TEXT = list(METHODS)


@pytest.fixture
def with_words(corpus: Corpus) -> RankingInputs:
    known = tuple(corpus.tokens("words").to_pylist()[1:])
    matrix = np.random.default_rng(3).normal(size=(len(known), 6)).astype(np.float32)
    inputs = inputs_of(corpus, word_vectors=dict.fromkeys(("cbow", "ppmi"), WordVectors(known, matrix, {"seed": 3})))
    inputs.vectors["lsa"] = decomposed(corpus, dimensions=12, iterations=5)
    return inputs


def ranked_by(
    inputs: RankingInputs, method: str, *, papers: list[str] | None = None, texts: dict[str, Paper] | None = None
) -> dict[str, Ranking]:
    given = {name: {"title": one.title, "abstract": " ".join(one.sentences)} for name, one in (texts or {}).items()}
    return rank_all(
        inputs, methods=[method], paper_ids=papers or [], texts=given, excluded={}, ranking_depth=500,
        advance=lambda *_: None,
    )[method]  # fmt: skip


def test_a_set_of_vectors_ranks_the_texts_of_which_it_has_one(corpus: Corpus, papers: list[Paper]) -> None:
    ids = [paper.paper_id for paper in papers]
    matrix = np.random.default_rng(1).normal(size=(len(ids) + 2, 3)).astype(np.float32)
    inputs = inputs_of(corpus)
    inputs.vectors["own"] = Vectors(
        strings_of([*ids, topic_name("t", " ".join(papers[0].sentences)), topic_name("none", "another text")]),
        matrix,
        "own",
        "own",
        "l2",
        {},
    )
    found = ranked_by(inputs, "own", papers=ids[:1], texts={"t": papers[0], "none": papers[1]})
    distances = np.linalg.norm(matrix[:-2].astype(float) - matrix[-2], axis=1)
    assert found.keys() == {ids[0], "t"}
    assert [doc.doc_id for doc in found["t"]] == [ids[row] for row in np.argsort(distances)]
    # A topic is no document.
    assert len(found[ids[0]]) == len(ids) - 1


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
        others = [doc for doc in found if doc.doc_id != one.paper_id]
        expected = by_paper[one.paper_id]
        if method == "lsa":
            # A document's own vector was made in a block with others: its last digits are not those of the folded text.
            assert dict(others) == pytest.approx(dict(expected), abs=1e-5)
        else:
            assert others == list(expected)
        if expected and {"similarity", "vectors"} & METHODS[method].settings(with_words).keys():
            # By BM25, for example, a longer text may share more with it than it shares with itself.
            assert found[0].score == pytest.approx(
                max(doc.score for doc in found if doc.doc_id == one.paper_id), abs=1e-5
            )


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
