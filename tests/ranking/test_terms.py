"""tf-idf is scikit-learn's, BM25 is rank_bm25's or Lucene's, at every block size."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.base.records import Paper, Ranking, ScoredDoc, ranked
from annot.ranking import search
from annot.ranking.corpus import Corpus, Statistics
from annot.ranking.methods import METHODS, RankingInputs, rank_all
from annot.ranking.search import fit_lucene
from annot.ranking.vectors import Vectors, topic_name
from annot.ranking.word_vectors import WordVectors
from indexed import corpus_of, decomposed, inputs_of
from rank_bm25 import BM25Okapi
from sklearn.feature_extraction.text import TfidfVectorizer

Texts = Callable[[Sequence[Paper]], list[str]]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


@pytest.mark.parametrize(("k1", "b", "epsilon"), [(0.9, 0.4, 0.1)])
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


def test_documents_without_a_word_count_for_lucene_neither_in_n_nor_in_the_mean_length() -> None:
    corpus = corpus_of([Paper("a", "one", ()), Paper("b", "one two two", ()), Paper("c", "", ())])
    assert (corpus.filled("title", "words"), corpus.filled("abstract", "words")) == (2, 0)
    found = fit_lucene(corpus.statistics("title", "words"), 2, k1=1.2, b=0.75)
    assert found.mean_length == 2
    assert found.idf.tolist() == pytest.approx([math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)])


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


@pytest.mark.parametrize("field", ["title", "abs"])
def test_tfidf_rankings_of_the_whole_release_are_scikit_learns(
    shared: Path, release_papers: list[Paper], field: str
) -> None:
    """Document by document, with six digits of the score, in four shards; of equal scores the smaller id is first."""
    queries = list(json.loads((shared / "csfcube" / "test-pid2pool-csfcube.json").read_text()))[::4]
    corpus = corpus_of(release_papers, shard=1_000)
    rank = partial(rank_all, inputs_of(corpus), methods=[f"{field}_tfidf"], excluded={}, ranking_depth=len(corpus))
    found = rank(paper_ids=queries, advance=lambda *_: None)[f"{field}_tfidf"]
    ids = [paper.paper_id for paper in release_papers]
    matrix = TfidfVectorizer().fit_transform(field_of(paper, field) for paper in release_papers)
    tied = 0
    for query in queries:
        cosines = (matrix @ matrix[ids.index(query)].T).toarray().ravel().tolist()
        expected = [
            (doc_id, float(f"{score:.6g}"))
            for doc_id, score in zip(ids, cosines, strict=True)
            if score and doc_id != query
        ]
        assert [tuple(doc) for doc in found[query]] == sorted(expected, key=lambda one: (-one[1], one[0]))
        tied += len(expected) - len({score for _, score in expected})
    assert tied > 0, "the tie rule must be in play"
