"""The methods by name: figures checked by hand, and those known of the release."""

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.records import Paper, Ranking
from annot.ranking import methods
from annot.ranking.corpus import Corpus
from annot.ranking.methods import BASELINES, EMPTY_SCORE, METHODS, RankingInputs, Variant, rank_all
from annot.ranking.vectors import Vectors
from annot.ranking.word_vectors import WordVectors
from indexed import corpus_of, decomposed, inputs_of, rank_pool

FACETS = {"background": ("background", "objective"), "method": ("method",)}


@pytest.fixture
def full_inputs(corpus: Corpus) -> RankingInputs:
    """Inputs with word vectors for most words and vectors of eight papers' worth of dimensions."""
    rng = np.random.default_rng(2)
    known = tuple(corpus.tokens("words").to_pylist()[1:])
    word_vectors = WordVectors(known, rng.normal(size=(len(known), 6)).astype(np.float32), {"seed": 2})
    matrix = rng.normal(size=(len(corpus), 8)).astype(np.float32)
    vectors = Vectors(corpus.paper_ids.combine_chunks(), matrix, model="specter", space="s", metric="l2", facts={})
    made = inputs_of(corpus, word_vectors={"cbow": word_vectors, "ppmi": word_vectors}, vectors={"specter": vectors})
    made.vectors["lsa"] = decomposed(corpus, dimensions=12, iterations=5)
    return made


def ranking_by(inputs: RankingInputs, *, method: str, **given: Any) -> dict[str, Ranking]:
    return methods.rank_all(inputs, methods=[method], advance=lambda *_: None, **given)[method]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


def test_a_ranking_does_not_depend_on_the_other_queries_or_methods(full_inputs: RankingInputs) -> None:
    names = ["specter", "abs_tfidf", "title_cbow200", "abs_cbow200", "title_tfidf"]
    done: list[tuple[int, int | None]] = []
    together = methods.rank_all(
        full_inputs,
        methods=names,
        paper_ids=["p000", "p001", "p006"],
        excluded={},
        ranking_depth=20,
        advance=lambda *parts: done.append(parts),
    )
    assert list(together) == names
    assert done == [(number, 5) for number in range(1, 6)]
    for name in names:
        alone = ranking_by(full_inputs, method=name, paper_ids=["p001"], excluded={}, ranking_depth=20)
        assert together[name]["p001"] == alone["p001"]
    assert together["abs_tfidf"]["p006"] == (), "a query paper without an abstract finds nothing"


def csfcube_ndcg_at_20_percent(grades: Sequence[int]) -> float:
    """The release's measure: linear gain, ranks 1 and 2 undiscounted, the ideal from the same list."""
    cut = int(0.2 * len(grades))

    def gain(ordered: Sequence[int]) -> float:
        return sum(grade if rank <= 2 else grade / math.log2(rank) for rank, grade in enumerate(ordered[:cut], start=1))

    ideal = gain(sorted(grades, reverse=True))
    return gain(grades) / ideal if ideal else 0.0


@pytest.fixture(scope="session")
def figure(shared: Path, release_inputs: RankingInputs, release_papers: list[Paper]) -> Callable[[str, str], float]:
    """NDCG%20 in percent of a baseline on a facet: the mean of the two fold means."""
    folder = shared / "csfcube"
    splits = json.loads((folder / "evaluation_splits.json").read_text())
    labels = {paper.paper_id: paper.labels or () for paper in release_papers}

    def compute(baseline: str, facet: str) -> float:
        annotated = json.loads((folder / f"test-pid2anns-csfcube-{facet}.json").read_text())
        scores = {}
        for query, pool in annotated.items():
            grades = {
                doc: grade for doc, grade in zip(pool["cands"], pool["relevance_adju"], strict=True) if doc != query
            }
            sentences = [at for at, label in enumerate(labels[query]) if label in FACETS[facet]]
            found = rank_pool(
                release_inputs, baseline=baseline, paper_id=query, sentences=sentences, doc_ids=list(grades)
            )
            scores[f"{query}_{facet}"] = csfcube_ndcg_at_20_percent([grades[doc.doc_id] for doc in found])
        folds = [splits[facet][fold] for fold in ("fold1_dev", "fold2_dev")]
        return 100 * float(np.mean([np.mean([scores[name] for name in fold]) for fold in folds]))

    return compute


@pytest.mark.parametrize(
    ("baseline", "facet", "published"),
    [
        ("fabs_tfidf", "background", 58.72),
        ("fabs_tfidf", "method", 32.54),
        ("fabs_bm25", "background", 61.36),
        ("fabs_bm25", "method", 35.44),
    ],
)
def test_baselines_on_the_release_have_the_known_figures(
    figure: Callable[[str, str], float], baseline: str, facet: str, published: float
) -> None:
    assert round(figure(baseline, facet), 2) == published


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
def few() -> RankingInputs:
    """ "one" is at (1, 0), "two" at (0, 2)."""
    words = WordVectors(("one", "two"), np.array([[1, 0], [0, 2]], np.float32), {"seed": 3})
    return RankingInputs(corpus_of(PAPERS, shard=2), word_vectors={"cbow": words}, vectors={}, averages={})


def test_averages_are_of_the_field_and_weighted_where_the_name_says_so(few: RankingInputs) -> None:
    for name, method in [*METHODS.items(), *BASELINES.items()]:
        if vectors := re.search("cbow|ppmi", name):
            weighted = "tfidf" in name
            assert method.averages == ((vectors[0], "title" if name.startswith("title") else "abstract", weighted),)
            few.word_vectors[vectors[0]] = few.word_vectors["cbow"]
            says = method.settings(few)
            assert says["average"] == ("sum(tf*idf*v)/sum(tf*idf)" if weighted else "sum(tf*v)/sum(tf)")
            assert says["word_vectors"] == {"seed": 3}


def test_bm25_has_the_parameters_of_rank_bm25() -> None:
    # https://pypi.org/project/rank-bm25: BM25Okapi(k1=1.5, b=0.75, epsilon=0.25).
    settings = BASELINES["fabs_bm25"].settings(None)  # type: ignore[arg-type]
    assert settings == {"tokens": "words", "k1": 1.5, "b": 0.75, "epsilon": 0.25}


def ranked_by(few: RankingInputs, name: str, *, depth: int = 9, **excluded: tuple[str, ...]) -> list[Any]:
    found = rank_all(
        few, methods=[name], paper_ids=["q"], excluded=excluded, ranking_depth=depth, advance=lambda *_: None
    )
    return [(doc.doc_id, near(doc.score)) for doc in found[name]["q"]]


def test_titles_rank_by_the_distance_of_their_averages(few: RankingInputs) -> None:
    # The query is at (1, 0); a at (1/2, 1), b at (0, 2), d at (2/3, 2/3); c has no title.
    expected = [("d", -math.hypot(1 / 3, 2 / 3)), ("a", -math.hypot(1 / 2, 1)), ("b", -math.hypot(1, 2))]
    assert ranked_by(few, "title_cbow200") == expected
    assert ranked_by(few, "title_cbow200", depth=2) == expected[:2]
    assert ranked_by(few, "title_cbow200", depth=1) == expected[:1]
    assert ranked_by(few, "title_cbow200", depth=2, q=("d",)) == expected[1:]
    # Both words are in as many titles, so weights change nothing.
    assert ranked_by(few, "title_tfidfcbow200") == expected


def test_weighted_averages_count_rare_words_more() -> None:
    papers = [Paper("q", "", ("one two.",)), Paper("a", "", ("one.",)), Paper("b", "", ("one.",))]
    words = WordVectors(("one", "two"), np.array([[1, 0], [0, 2]], np.float32), {})
    few = RankingInputs(corpus_of(papers), word_vectors={"cbow": words}, vectors={}, averages={})
    common, rare = 1.0, math.log(4 / 2) + 1
    at = (common / (common + rare), 2 * rare / (common + rare))
    distance = -math.hypot(1 - at[0], at[1])
    assert ranked_by(few, "abs_tfidfcbow200") == [("a", distance), ("b", distance)]
    pooled = rank_pool(few, baseline="fabs_tfidfcbow200", paper_id="q", sentences=[0], doc_ids=["b"])
    assert [(doc.doc_id, doc.score) for doc in pooled] == [("b", near(distance))]
    plain = rank_pool(few, baseline="fabs_cbow200", paper_id="q", sentences=[0], doc_ids=["b"])
    assert plain[0].score == near(-math.hypot(0.5, 1))
    assert ranked_by(few, "abs_cbow200")[0] == ("a", -math.hypot(0.5, 1))


def pooled(few: RankingInputs, baseline: str, *sentences: int, doc_ids: str = "abcd") -> dict[str, float]:
    found = rank_pool(few, baseline=baseline, paper_id="q", sentences=sentences, doc_ids=list(doc_ids))
    return {doc.doc_id: doc.score for doc in found}


def test_pools_are_ranked_by_the_distance_of_averages_and_papers_without_a_known_word_come_last(
    few: RankingInputs,
) -> None:
    # The second sentence is at (0, 2), where a is; b is at (1, 0).
    for baseline in ("fabs_cbow200", "fabs_tfidfcbow200"):
        found = pooled(few, baseline, 1)
        assert found == {"a": 0, "b": near(-math.hypot(1, 2)), "c": EMPTY_SCORE, "d": EMPTY_SCORE}
    # The first sentence is at (1/2, 1): both words are in as many abstracts.
    assert pooled(few, "fabs_tfidfcbow200", 0)["b"] == near(-math.hypot(0.5, 1))
    assert pooled(few, "fabs_cbow200", 0, 1)["a"] == near(-math.hypot(1 / 3, 2 - 4 / 3))


def test_an_average_that_is_zero_in_one_dimension_still_ranks() -> None:
    papers = [Paper("q", "", ("one.",)), Paper("a", "", ("two.",)), Paper("b", "", ("none.",))]
    words = WordVectors(("one", "two", "none"), np.array([[0, 1], [1, 0], [0, 0]], np.float32), {})
    few = RankingInputs(corpus_of(papers), word_vectors={"cbow": words}, vectors={}, averages={})
    assert pooled(few, "fabs_cbow200", 0, doc_ids="ab") == {"a": near(-math.sqrt(2)), "b": EMPTY_SCORE}


def test_terms_and_words_leave_papers_without_a_token_last(few: RankingInputs) -> None:
    tfidf = pooled(few, "fabs_tfidf", 1)
    assert tfidf == {"a": near(1), "b": 0, "c": 0, "d": EMPTY_SCORE}
    # The query's abstract is one 1, two 2; of the sentence "one two" both weigh alike.
    assert pooled(few, "fabs_tfidf", 0)["b"] == near(1 / math.sqrt(2))
    bm25 = pooled(few, "fabs_bm25", 1)
    assert bm25["d"] == EMPTY_SCORE == -1_000_000
    assert bm25["a"] > bm25["b"] == bm25["c"] == 0


@pytest.fixture
def with_decomposition(few: RankingInputs) -> RankingInputs:
    """A decomposition in which "one" is the first dimension, and "two" the second."""
    terms = few.corpus.tokens("terms").to_pylist()
    basis = np.zeros((len(terms), 2), np.float32)
    basis[terms.index("one"), 0] = basis[terms.index("two"), 1] = 1
    rows = np.array([[1, 2], [0, 2], [1, 0], [0, 0], [0, 0]], np.float32)
    ids = strings_of(paper.paper_id for paper in PAPERS)
    few.vectors["lsa"] = Vectors(ids, rows, "lsa", "s", "cosine", {}, basis=basis)
    return few


def test_a_query_of_chosen_sentences_is_folded_into_the_decomposition(with_decomposition: RankingInputs) -> None:
    assert pooled(with_decomposition, "lsa", 1) == {"a": near(1), "b": 0, "c": EMPTY_SCORE, "d": EMPTY_SCORE}
    assert pooled(with_decomposition, "lsa", 0)["b"] == near(1 / math.sqrt(2))
    assert [doc_id for doc_id, _score in ranked_by(with_decomposition, "lsa")] == ["a", "b"]


def test_averages_that_were_made_before_are_the_ones_that_rank(few: RankingInputs) -> None:
    rows = np.array([[1, 0], [9, 0], [1, 0], [2, 0], [0, 0]], np.float32)
    given = RankingInputs(few.corpus, word_vectors={}, vectors={}, averages={Variant("cbow", "title", False): rows})
    assert ranked_by(given, "title_cbow200") == [("b", 0), ("c", -1), ("a", -8)]
    with pytest.raises(AssertionError, match="rank by word vectors"):
        ranked_by(given, "title_tfidfcbow200")
    with pytest.raises(AssertionError, match="rank by word vectors"):
        pooled(given, "fabs_cbow200", 0)
