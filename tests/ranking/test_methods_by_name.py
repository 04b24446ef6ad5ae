"""Each method and baseline by its name on papers of a few words, with figures that can be checked by hand."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.records import Paper
from annot.ranking.methods import BASELINES, EMPTY_SCORE, METHODS, RankingInputs, Variant, method_named, rank_all
from annot.ranking.vectors import Vectors
from annot.ranking.word_vectors import WordVectors
from indexed import corpus_of, rank_pool

PAPERS = [
    Paper("q", "one", ("one two.", "two.")),
    Paper("a", "one two", ("two two.",)),
    Paper("b", "two", ("one.",)),
    Paper("c", "", ("unknown words.",)),
    Paper("d", "one one two", ()),
]
# Scores are kept with six digits.
near = partial(pytest.approx, rel=1e-5)


@pytest.fixture
def inputs() -> RankingInputs:
    """ "one" is at (1, 0), "two" at (0, 2)."""
    words = WordVectors(("one", "two"), np.array([[1, 0], [0, 2]], np.float32), {"seed": 3})
    return RankingInputs(corpus_of(PAPERS, shard=2), word_vectors={"cbow": words}, vectors={}, averages={})


def test_averages_are_of_the_field_and_weighted_where_the_name_says_so() -> None:
    needs = {name: method.averages for name, method in METHODS.items() if method.averages}
    assert needs == {
        "title_cbow200": (("cbow", "title", False),),
        "title_tfidfcbow200": (("cbow", "title", True),),
        "title_ppmi200": (("ppmi", "title", False),),
        "title_tfidfppmi200": (("ppmi", "title", True),),
        "abs_cbow200": (("cbow", "abstract", False),),
        "abs_tfidfcbow200": (("cbow", "abstract", True),),
        "abs_ppmi200": (("ppmi", "abstract", False),),
        "abs_tfidfppmi200": (("ppmi", "abstract", True),),
    }
    pooled = {name: baseline.averages for name, baseline in BASELINES.items() if baseline.averages}
    assert pooled == {
        "fabs_cbow200": (("cbow", "abstract", False),),
        "fabs_tfidfcbow200": (("cbow", "abstract", True),),
        "fabs_ppmi200": (("ppmi", "abstract", False),),
        "fabs_tfidfppmi200": (("ppmi", "abstract", True),),
    }
    assert method_named("lsa").vectors == BASELINES["lsa"].vectors == "lsa"
    assert method_named("mine").vectors == "mine"


@pytest.mark.parametrize("name", [*METHODS, *BASELINES])
def test_the_settings_say_whether_an_average_is_weighted(inputs: RankingInputs, name: str) -> None:
    for methods in (METHODS, BASELINES):
        if name in methods and "cbow" in name:
            says = methods[name].settings(inputs)  # type: ignore[index]
            weighted = "tfidfcbow" in name
            assert says["average"] == ("sum(tf*idf*v)/sum(tf*idf)" if weighted else "sum(tf*v)/sum(tf)")
            assert says["word_vectors"] == {"seed": 3}


def test_bm25_has_the_parameters_of_rank_bm25() -> None:
    # https://pypi.org/project/rank-bm25: BM25Okapi(k1=1.5, b=0.75, epsilon=0.25).
    settings = BASELINES["fabs_bm25"].settings(None)  # type: ignore[arg-type]
    assert settings == {"tokens": "words", "k1": 1.5, "b": 0.75, "epsilon": 0.25}


def ranked_by(inputs: RankingInputs, name: str, *, depth: int = 9, **excluded: tuple[str, ...]) -> list[Any]:
    found = rank_all(
        inputs, methods=[name], paper_ids=["q"], excluded=excluded, ranking_depth=depth, advance=lambda *_: None
    )
    return [(doc.doc_id, near(doc.score)) for doc in found[name]["q"]]


def test_titles_rank_by_the_distance_of_their_averages(inputs: RankingInputs) -> None:
    # The query is at (1, 0); a at (1/2, 1), b at (0, 2), d at (2/3, 2/3); c has no title.
    expected = [("d", -math.hypot(1 / 3, 2 / 3)), ("a", -math.hypot(1 / 2, 1)), ("b", -math.hypot(1, 2))]
    assert ranked_by(inputs, "title_cbow200") == expected
    assert ranked_by(inputs, "title_cbow200", depth=2) == expected[:2]
    assert ranked_by(inputs, "title_cbow200", depth=1) == expected[:1]
    assert ranked_by(inputs, "title_cbow200", depth=2, q=("d",)) == expected[1:]
    # Both words are in as many titles, so weights change nothing.
    assert ranked_by(inputs, "title_tfidfcbow200") == expected


def test_weighted_averages_count_rare_words_more() -> None:
    papers = [Paper("q", "", ("one two.",)), Paper("a", "", ("one.",)), Paper("b", "", ("one.",))]
    words = WordVectors(("one", "two"), np.array([[1, 0], [0, 2]], np.float32), {})
    inputs = RankingInputs(corpus_of(papers), word_vectors={"cbow": words}, vectors={}, averages={})
    common, rare = 1.0, math.log(4 / 2) + 1
    at = (common / (common + rare), 2 * rare / (common + rare))
    distance = -math.hypot(1 - at[0], at[1])
    assert ranked_by(inputs, "abs_tfidfcbow200") == [("a", distance), ("b", distance)]
    pooled = rank_pool(inputs, baseline="fabs_tfidfcbow200", paper_id="q", sentences=[0], doc_ids=["b"])
    assert [(doc.doc_id, doc.score) for doc in pooled] == [("b", near(distance))]
    plain = rank_pool(inputs, baseline="fabs_cbow200", paper_id="q", sentences=[0], doc_ids=["b"])
    assert plain[0].score == near(-math.hypot(0.5, 1))
    assert ranked_by(inputs, "abs_cbow200")[0] == ("a", -math.hypot(0.5, 1))


def pooled(inputs: RankingInputs, baseline: str, *sentences: int, doc_ids: str = "abcd") -> dict[str, float]:
    found = rank_pool(inputs, baseline=baseline, paper_id="q", sentences=sentences, doc_ids=list(doc_ids))
    return {doc.doc_id: doc.score for doc in found}


def test_pools_are_ranked_by_the_distance_of_averages_and_papers_without_a_known_word_come_last(
    inputs: RankingInputs,
) -> None:
    # The second sentence is at (0, 2), where a is; b is at (1, 0).
    for baseline in ("fabs_cbow200", "fabs_tfidfcbow200"):
        found = pooled(inputs, baseline, 1)
        assert found == {"a": 0, "b": near(-math.hypot(1, 2)), "c": EMPTY_SCORE, "d": EMPTY_SCORE}
    # The first sentence is at (1/2, 1): both words are in as many abstracts.
    assert pooled(inputs, "fabs_tfidfcbow200", 0)["b"] == near(-math.hypot(0.5, 1))
    assert pooled(inputs, "fabs_cbow200", 0, 1)["a"] == near(-math.hypot(1 / 3, 2 - 4 / 3))


def test_an_average_that_is_zero_in_one_dimension_still_ranks() -> None:
    papers = [Paper("q", "", ("one.",)), Paper("a", "", ("two.",)), Paper("b", "", ("none.",))]
    words = WordVectors(("one", "two", "none"), np.array([[0, 1], [1, 0], [0, 0]], np.float32), {})
    inputs = RankingInputs(corpus_of(papers), word_vectors={"cbow": words}, vectors={}, averages={})
    assert pooled(inputs, "fabs_cbow200", 0, doc_ids="ab") == {"a": near(-math.sqrt(2)), "b": EMPTY_SCORE}


def test_terms_and_words_leave_papers_without_a_token_last(inputs: RankingInputs) -> None:
    tfidf = pooled(inputs, "fabs_tfidf", 1)
    assert tfidf == {"a": near(1), "b": 0, "c": 0, "d": EMPTY_SCORE}
    # The query's abstract is one 1, two 2; of the sentence "one two" both weigh alike.
    assert pooled(inputs, "fabs_tfidf", 0)["b"] == near(1 / math.sqrt(2))
    bm25 = pooled(inputs, "fabs_bm25", 1)
    assert bm25["d"] == EMPTY_SCORE == -1_000_000
    assert bm25["a"] > bm25["b"] == bm25["c"] == 0


@pytest.fixture
def decomposed(inputs: RankingInputs) -> RankingInputs:
    """A decomposition in which "one" is the first dimension, and "two" the second."""
    terms = inputs.corpus.tokens("terms").to_pylist()
    basis = np.zeros((len(terms), 2), np.float32)
    basis[terms.index("one"), 0] = basis[terms.index("two"), 1] = 1
    rows = np.array([[1, 2], [0, 2], [1, 0], [0, 0], [0, 0]], np.float32)
    ids = strings_of(paper.paper_id for paper in PAPERS)
    inputs.vectors["lsa"] = Vectors(ids, rows, "lsa", "s", "cosine", {}, basis=basis)
    return inputs


def test_a_query_of_chosen_sentences_is_folded_into_the_decomposition(decomposed: RankingInputs) -> None:
    assert pooled(decomposed, "lsa", 1) == {"a": near(1), "b": 0, "c": EMPTY_SCORE, "d": EMPTY_SCORE}
    assert pooled(decomposed, "lsa", 0)["b"] == near(1 / math.sqrt(2))
    assert [doc_id for doc_id, _score in ranked_by(decomposed, "lsa")] == ["a", "b"]


def test_averages_that_were_made_before_are_the_ones_that_rank(inputs: RankingInputs) -> None:
    rows = np.array([[1, 0], [9, 0], [1, 0], [2, 0], [0, 0]], np.float32)
    given = RankingInputs(inputs.corpus, word_vectors={}, vectors={}, averages={Variant("cbow", "title", False): rows})
    assert ranked_by(given, "title_cbow200") == [("b", 0), ("c", -1), ("a", -8)]
    with pytest.raises(AssertionError, match="rank by word vectors"):
        ranked_by(given, "title_tfidfcbow200")
    with pytest.raises(AssertionError, match="rank by word vectors"):
        pooled(given, "fabs_cbow200", 0)
