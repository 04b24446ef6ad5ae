"""The methods by name, on a small corpus against brute force and on the release against the known figures."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper, Ranking, ScoredDoc, ranked
from annot.ranking import methods, word_vectors
from annot.ranking.corpus import Corpus
from annot.ranking.methods import BASELINES, EMPTY_SCORE, METHODS, RankingInputs
from annot.ranking.vectors import Vectors
from annot.ranking.word_vectors import WordVectors
from indexed import decomposed, inputs_of, rank_pool
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

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


def ranked_by(inputs: RankingInputs, *, method: str, **given: Any) -> dict[str, Ranking]:
    return methods.rank_all(inputs, methods=[method], advance=lambda *_: None, **given)[method]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


@pytest.mark.parametrize("field", ["title", "abs"])
@pytest.mark.parametrize("weighting", ["cbow200", "tfidfcbow200"])
def test_word_vector_methods_rank_by_distance_of_averages(
    full_inputs: RankingInputs, papers: list[Paper], field: str, weighting: str
) -> None:
    vectors = full_inputs.word_vectors["cbow"]
    texts = [words(paper.title if field == "title" else " ".join(paper.sentences)) for paper in papers]
    row_of = {word: row for row, word in enumerate(vectors.words)}
    averages: dict[str, np.ndarray] = {}
    for paper, text in zip(papers, texts, strict=True):
        rows = [row_of[word] for word in text if word in row_of]
        df = [sum(vectors.words[row] in other for other in texts) for row in rows]
        idf = [math.log((1 + len(texts)) / (1 + number)) + 1 for number in df]
        if rows:
            weights = idf if weighting == "tfidfcbow200" else None
            averages[paper.paper_id] = np.average(vectors.matrix[rows].astype(float), 0, weights)
    ids = [paper.paper_id for paper in papers[:12]]
    found = ranked_by(full_inputs, method=f"{field}_{weighting}", paper_ids=ids, excluded={}, ranking_depth=200)
    assert {paper_id for paper_id in ids if not found[paper_id]} == set(ids) - set(averages) != set()
    for paper_id in set(ids) & set(averages):
        distances = {other: float(np.linalg.norm(row - averages[paper_id])) for other, row in averages.items()}
        assert {doc.doc_id for doc in found[paper_id]} == set(averages) - {paper_id}
        for doc in found[paper_id]:
            assert doc.score == pytest.approx(-distances[doc.doc_id], rel=2e-5)
        assert found[paper_id] == ranked(found[paper_id])


@pytest.mark.parametrize("field", ["title", "abs"])
def test_tfidf_methods_rank_by_the_statistics_of_their_own_field(
    inputs: RankingInputs, papers: list[Paper], field: str
) -> None:
    matrix = TfidfVectorizer().fit_transform(
        paper.title if field == "title" else " ".join(paper.sentences) for paper in papers
    )
    cosines = (matrix @ matrix.T).toarray()
    ids = [paper.paper_id for paper in papers]
    found = ranked_by(inputs, method=f"{field}_tfidf", paper_ids=ids, excluded={}, ranking_depth=9)
    for row, paper_id in enumerate(ids):
        scored = (ScoredDoc(ids[at], score) for at, score in enumerate(cosines[row]) if score > 0 and at != row)
        assert found[paper_id] == ranked(scored)[:9]


@pytest.mark.parametrize("method", [*METHODS, "specter"])
def test_excluded_papers_make_room_for_the_next(full_inputs: RankingInputs, method: str) -> None:
    def rank(excluded: Mapping[str, Sequence[str]], depth: int) -> list[str]:
        found = ranked_by(full_inputs, method=method, paper_ids=["p000"], excluded=excluded, ranking_depth=depth)
        return [doc.doc_id for doc in found["p000"]]

    deep = rank({}, 12)
    assert len(deep) == 12
    assert "p000" not in deep
    assert rank({"p000": [deep[0], deep[3], "not-in-corpus"], "p001": [deep[1]]}, 10) == [
        doc_id for doc_id in deep if doc_id not in (deep[0], deep[3])
    ]


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
        alone = ranked_by(full_inputs, method=name, paper_ids=["p001"], excluded={}, ranking_depth=20)
        assert together[name]["p001"] == alone["p001"]
    assert together["abs_tfidf"]["p006"] == (), "a query paper without an abstract finds nothing"


def test_papers_that_are_not_in_the_corpus_are_named(inputs: RankingInputs) -> None:
    with pytest.raises(InputError) as caught:
        ranked_by(inputs, method="abs_tfidf", paper_ids=["p000", "x", "y"], excluded={}, ranking_depth=5)
    assert caught.value.faults == ("x: not in the corpus", "y: not in the corpus")


@pytest.mark.parametrize("baseline", BASELINES)
def test_a_baseline_ranks_every_document_of_the_pool_and_empty_ones_last(
    full_inputs: RankingInputs, papers: list[Paper], baseline: str
) -> None:
    pool = [paper.paper_id for paper in papers[1:40]]
    empty = {paper.paper_id for paper in papers[1:40] if not paper.sentences}
    found = rank_pool(full_inputs, baseline=baseline, paper_id="p000", sentences=[0], doc_ids=pool)
    assert sorted(doc.doc_id for doc in found) == sorted(pool)
    assert {doc.doc_id for doc in found[-len(empty) :]} == empty != set()
    assert {doc.score for doc in found[-len(empty) :]} == {EMPTY_SCORE}
    assert found[-len(empty) - 1].score > EMPTY_SCORE
    assert found == ranked(found)


@pytest.mark.parametrize("baseline", ["fabs_cbow200", "fabs_tfidfcbow200"])
def test_a_query_of_words_without_vectors_ranks_nothing_above_anything(
    corpus: Corpus, papers: list[Paper], baseline: str
) -> None:
    """The shortest document, which is nearest to a query of zeros, is not first."""
    query = next(paper for paper in papers if paper.sentences)
    unknown = set(words(query.sentences[0]))
    known = tuple(word for word in corpus.tokens("words").to_pylist()[1:] if word not in unknown)
    vectors = np.random.default_rng(5).normal(size=(len(known), 6)).astype(np.float32)
    made = inputs_of(corpus, word_vectors={"cbow": WordVectors(known, vectors, {"seed": 5})})
    documents = [paper.paper_id for paper in papers[1:20] if paper.paper_id != query.paper_id]
    found = rank_pool(made, baseline=baseline, paper_id=query.paper_id, sentences=[0], doc_ids=documents)
    assert {doc.score for doc in found} == {EMPTY_SCORE}
    assert sorted(doc.doc_id for doc in found) == sorted(documents)


def test_a_baseline_takes_its_statistics_from_the_whole_corpus(full_inputs: RankingInputs) -> None:
    for baseline in BASELINES:
        one = rank_pool(full_inputs, baseline=baseline, paper_id="p000", sentences=[0], doc_ids=["p003", "p004"])
        two = rank_pool(full_inputs, baseline=baseline, paper_id="p000", sentences=[0], doc_ids=["p004", "p005"])
        assert dict(one)["p004"] == dict(two)["p004"]


def test_the_sentences_chosen_make_the_query(full_inputs: RankingInputs, papers: list[Paper]) -> None:
    row = next(row for row, paper in enumerate(papers) if len(paper.sentences) > 2)
    pool = [paper.paper_id for paper in papers[20:60]]
    rankings = {
        rank_pool(full_inputs, baseline="fabs_bm25", paper_id=papers[row].paper_id, sentences=chosen, doc_ids=pool)
        for chosen in ([0], [1], [0, 1])
    }
    assert len(rankings) == 3


def test_settings_of_every_method_can_be_stored_with_its_run(full_inputs: RankingInputs) -> None:
    for one in (*METHODS.values(), *BASELINES.values(), methods.method_named("specter")):
        assert json.loads(json.dumps(one.settings(full_inputs)))
    assert METHODS["abs_cbow200"].settings(full_inputs)["word_vectors"] == {"seed": 2}
    assert BASELINES["fabs_bm25"].settings(full_inputs)["k1"] == 1.5
    assert methods.method_named("specter").settings(full_inputs)["vectors"]["metric"] == "l2"


UNRECORDED = """
from annot.ranking.methods import Baseline, Method
Method(rank=lambda inputs, topics: [])
Baseline(score=lambda inputs, query, rows: rows * 1.0)
"""


def test_a_method_without_settings_cannot_be_registered() -> None:
    for line in UNRECORDED.strip().splitlines()[1:]:
        with pytest.raises(TypeError, match="settings"):
            exec(f"{UNRECORDED.strip().splitlines()[0]}\n{line}")


def cosines_of(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows.astype(float), axis=1, keepdims=True)
    unit = rows / np.where(lengths > 0, lengths, 1)
    return unit @ unit.T


def test_lsa_is_scikit_learns_over_blocks(
    release_inputs: RankingInputs,
    release_papers: list[Paper],
    abstracts_of: Callable[[Sequence[Paper]], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(word_vectors, "BLOCK", 1000)
    svd = TruncatedSVD(200, n_iter=7, random_state=1)
    expected = svd.fit_transform(TfidfVectorizer(dtype=np.float32).fit_transform(abstracts_of(release_papers)))
    made = decomposed(release_inputs.corpus, dimensions=200, iterations=7)
    # With another seed they would differ by 0.15.
    np.testing.assert_allclose(cosines_of(np.asarray(made.matrix)), cosines_of(expected), atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(made.matrix, axis=0), svd.singular_values_, rtol=1e-4)


def test_lsa_leaves_empty_documents_out(inputs: RankingInputs, papers: list[Paper]) -> None:
    made = decomposed(inputs.corpus, dimensions=12, iterations=5)
    ranker = inputs_of(inputs.corpus, vectors={"lsa": made})
    found = ranked_by(ranker, method="lsa", paper_ids=["p000"], excluded={}, ranking_depth=200)["p000"]
    assert {doc.doc_id for doc in found} == {paper.paper_id for paper in papers if paper.sentences} - {"p000"}


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


def test_no_hub_papers_in_the_title_rankings_of_the_release(shared: Path, release_inputs: RankingInputs) -> None:
    queries = list(json.loads((shared / "csfcube" / "test-pid2pool-csfcube.json").read_text()))
    found = ranked_by(release_inputs, method="title_tfidf", paper_ids=queries, excluded={}, ranking_depth=500)
    drawn = [doc.doc_id for ranking in found.values() for doc in ranking[:33]]
    # These four were drawn for nearly every query of the release, their vectors being empty.
    hubs = ("82456167", "119425731", "118988729", "36117198")
    assert max(drawn.count(hub) for hub in hubs) <= 0.2 * len(queries)
    assert all(doc.score > 0 for ranking in found.values() for doc in ranking)
