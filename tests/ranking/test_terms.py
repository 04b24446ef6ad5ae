"""tf-idf is scikit-learn's, BM25 is rank_bm25's or Lucene's, at every block size."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper, Ranking, ScoredDoc, ranked
from annot.ranking import search
from annot.ranking.corpus import Corpus, Rows, Statistics
from annot.ranking.methods import RankingInputs, rank_all
from annot.ranking.search import fit_lucene
from indexed import corpus_of, inputs_of
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


QUERIES = ("trainc trainc the labd", "taga", "parsa modelb don't-a zzyzx")


def field_of(paper: Paper, field: str) -> str:
    return paper.title if field == "title" else " ".join(paper.sentences)


def found_by(inputs: RankingInputs, method: str, *, depth: int = 500) -> dict[str, Ranking]:
    texts = {f"t{number}": {"title": text, "abstract": text} for number, text in enumerate(QUERIES)}
    rank = partial(rank_all, inputs, methods=[method], excluded={}, ranking_depth=depth, advance=lambda *_: None)
    return rank(paper_ids=[], texts=texts)[method]  # type: ignore[arg-type]


def lucene(query: str, documents: Sequence[list[str]], *, k1: float = 1.2, b: float = 0.75) -> list[float]:
    """Kamphuis et al. 2020, table 1, `Lucene (accurate)`, but for the factor k1 + 1."""
    filled = [document for document in documents if document]
    mean = sum(map(len, filled)) / len(filled)
    frequency = Counter(word for document in documents for word in set(document))

    def score(document: list[str]) -> float:
        total = 0.0
        for word in words(query):
            tf, df = document.count(word), frequency[word]
            idf = math.log(1 + (len(filled) - df + 0.5) / (df + 0.5))
            total += idf * tf / (tf + k1 * (1 - b + b * len(document) / mean)) if tf else 0
        return total

    return [score(document) for document in documents]


@pytest.mark.parametrize("field", ["title", "abs"])
@pytest.mark.parametrize("form", ["bm25", "bm25lucene"])
def test_texts_rank_as_the_formula_says(corpus: Corpus, papers: list[Paper], field: str, form: str) -> None:
    documents = [words(field_of(paper, field)) for paper in papers]
    assert [] in documents
    found = found_by(inputs_of(corpus), f"{field}_{form}")
    for number, query in enumerate(QUERIES):
        okapi = BM25Okapi(documents)
        scores = okapi.get_scores(words(query)).tolist() if form == "bm25" else lucene(query, documents)
        expected = ranked(
            ScoredDoc(paper.paper_id, score) for paper, score in zip(papers, scores, strict=True) if score > 0
        )
        assert expected
        assert [doc.doc_id for doc in found[f"t{number}"]] == [doc.doc_id for doc in expected]
        assert [doc.score for doc in found[f"t{number}"]] == pytest.approx([doc.score for doc in expected], rel=1e-12)
    assert found_by(inputs_of(corpus), f"{field}_{form}", depth=3) == {name: all_[:3] for name, all_ in found.items()}


@pytest.mark.parametrize("form", ["bm25", "bm25lucene"])
def test_a_paper_ranks_by_its_whole_abstract(inputs: RankingInputs, papers: list[Paper], form: str) -> None:
    documents = [words(field_of(paper, "abs")) for paper in papers]
    asked = " ".join(papers[2].sentences)
    scores = BM25Okapi(documents).get_scores(words(asked)) if form == "bm25" else lucene(asked, documents)
    found = rank_all(
        inputs,
        methods=[f"abs_{form}"],
        paper_ids=["p002", "p006"],
        excluded={"p002": ["p003"]},
        ranking_depth=500,
        advance=lambda *_: None,
    )[f"abs_{form}"]
    kept = {paper.paper_id: float(score) for paper, score in zip(papers, scores, strict=True) if score > 0}
    for own in ("p002", "p003"):
        kept.pop(own, None)
    assert [doc.doc_id for doc in found["p002"]] == [doc.doc_id for doc in ranked(map(ScoredDoc, kept, kept.values()))]
    assert found["p006"] == (), "its abstract is empty"


def test_documents_without_a_word_count_for_lucene_neither_in_n_nor_in_the_mean_length() -> None:
    corpus = corpus_of([Paper("a", "one", ()), Paper("b", "one two two", ()), Paper("c", "", ())])
    assert (corpus.filled("title", "words"), corpus.filled("abstract", "words")) == (2, 0)
    found = fit_lucene(corpus.statistics("title", "words"), 2, k1=1.2, b=0.75)
    assert found.mean_length == 2
    assert found.idf.tolist() == pytest.approx([math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)])
