"""Every method of pooling, and BM25, over the whole release against the plain computation, document by document.

scikit-learn weighs the terms, gensim trains the word vectors and takes their means, rank_bm25 scores; the rest is
numpy in double precision. Two tolerances: tf-idf and BM25 have the same six digits; averages of word vectors are kept
in single precision, so the distances are equal to `DISTANCE`, and neighbours closer than that may stand either way.
"""

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.records import Paper, Ranking
from annot.ranking.given_vectors import read_word_vectors
from annot.ranking.methods import RankingInputs, rank_all
from gensim.models import Word2Vec
from indexed import corpus_of, inputs_of, rank_pool
from rank_bm25 import BM25Okapi
from sklearn.feature_extraction.text import TfidfVectorizer

WORDS = r"[a-z0-9]+(?:'[a-z]+)?"
SHARD = 1_000
"""Papers: the release is in four shards."""
DISTANCE, NOTHING = 1e-5, 1e-6
"""Tolerances: relative to the distance, and for papers of the same words, whose distance is 0 but for rounding."""

weighing_words = partial(TfidfVectorizer, token_pattern=WORDS)
words = weighing_words().build_analyzer()


@pytest.fixture(scope="module")
def texts(release_papers: Sequence[Paper]) -> dict[str, list[str]]:
    return {
        "title": [paper.title for paper in release_papers],
        "abs": [" ".join(paper.sentences) for paper in release_papers],
    }


@pytest.fixture(scope="module")
def query_ids(shared: Path, release_papers: Sequence[Paper]) -> list[str]:
    """Every fourth query paper of the release, and others, two without a word in the title among them."""
    queries = list(json.loads((shared / "csfcube" / "test-pid2pool-csfcube.json").read_text()))
    others = [paper.paper_id for paper in release_papers[::500]]
    empty = [paper.paper_id for paper in release_papers if not words(paper.title)]
    return list(dict.fromkeys([*queries[::4], *others, *empty[:2]]))


@pytest.fixture(scope="module")
def keyed(texts: dict[str, list[str]]) -> Any:
    """Word vectors that gensim trains on the abstracts: few passes, as it is not their quality that is asked for."""
    sentences = [words(text) for text in texts["abs"]]
    return Word2Vec(sentences, vector_size=200, window=5, min_count=2, epochs=2, seed=1, workers=1, sg=0).wv


@pytest.fixture(scope="module")
def inputs(release_papers: Sequence[Paper], keyed: Any, tmp_path_factory: pytest.TempPathFactory) -> RankingInputs:
    path = tmp_path_factory.mktemp("gensim") / "words.bin"
    keyed.save_word2vec_format(str(path), binary=True)
    return inputs_of(
        corpus_of(release_papers, shard=SHARD),
        word_vectors={"cbow": read_word_vectors(path, english=True, matrix=path.with_suffix(".npy"))[0]},
    )


def rankings_of(inputs: RankingInputs, method: str, query_ids: Sequence[str]) -> dict[str, Ranking]:
    return rank_all(
        inputs,
        methods=[method],
        paper_ids=query_ids,
        excluded={},
        ranking_depth=len(inputs.corpus),
        advance=lambda *_: None,
    )[method]


def plain_ranking(ids: Sequence[str], scores: Sequence[float], query: str) -> list[tuple[str, float]]:
    """All but the query: six digits of the score, the higher first, and of equal ones the smaller id first."""
    scored = [(doc_id, float(f"{score:.6g}")) for doc_id, score in zip(ids, scores, strict=True) if doc_id != query]
    return sorted(scored, key=lambda one: (-one[1], one[0]))


@pytest.mark.parametrize("field", ["title", "abs"])
def test_tfidf_rankings_are_scikit_learns(
    inputs: RankingInputs, texts: dict[str, list[str]], query_ids: list[str], field: str
) -> None:
    ids = inputs.corpus.paper_ids.to_pylist()
    matrix = TfidfVectorizer().fit_transform(texts[field])
    found = rankings_of(inputs, f"{field}_tfidf", query_ids)
    tied = 0
    for query in query_ids:
        cosines = (matrix @ matrix[ids.index(query)].T).toarray().ravel()
        shared = np.flatnonzero(cosines > 0)
        expected = plain_ranking([ids[row] for row in shared], cosines[shared].tolist(), query)
        assert [tuple(doc) for doc in found[query]] == expected
        tied += len(expected) - len({score for _, score in expected})
    assert tied > 0, "the tie rule must be in play"


@pytest.mark.parametrize("field", ["title", "abs"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rankings_by_word_vectors_are_those_of_gensims_means(
    inputs: RankingInputs, keyed: Any, texts: dict[str, list[str]], query_ids: list[str], field: str, weighted: bool
) -> None:
    ids = inputs.corpus.paper_ids.to_pylist()
    vectorizer = weighing_words().fit(texts[field])
    idf = dict(zip(vectorizer.get_feature_names_out(), vectorizer.idf_, strict=True))
    means = np.zeros((len(ids), keyed.vector_size))
    for row, text in enumerate(texts[field]):
        counted = Counter(words(text))
        if counted.keys() & keyed.key_to_index.keys():
            weights = np.array([n * (idf[word] if weighted else 1.0) for word, n in counted.items()])
            means[row] = keyed.get_mean_vector(list(counted), weights=weights, pre_normalize=False)
    usable = np.flatnonzero(means.any(axis=1))
    assert len(usable) < len(ids) or field == "abs", "a title without a word that has a vector must be among them"
    found = rankings_of(inputs, f"{field}_{'tfidf' if weighted else ''}cbow200", query_ids)
    for query in query_ids:
        mine = means[ids.index(query)]
        if not mine.any():
            assert found[query] == ()
            continue
        rows = usable[usable != ids.index(query)]
        expected = dict(zip([ids[row] for row in rows], -np.linalg.norm(means[rows] - mine, axis=1), strict=True))
        doc_ids, scores = zip(*found[query], strict=True)
        assert sorted(doc_ids) == sorted(expected)
        np.testing.assert_allclose(scores, [expected[doc_id] for doc_id in doc_ids], rtol=DISTANCE, atol=NOTHING)
        assert list(zip(doc_ids, scores, strict=True)) == plain_ranking(doc_ids, scores, query)


def test_bm25_rankings_are_rank_bm25s(
    shared: Path, inputs: RankingInputs, release_papers: Sequence[Paper], texts: dict[str, list[str]]
) -> None:
    papers = {paper.paper_id: paper for paper in release_papers}
    reference = BM25Okapi([words(text) for text in texts["abs"]])
    for facet, labels in {"background": ("background", "objective"), "method": ("method",)}.items():
        for query in list(json.loads((shared / "csfcube" / f"test-pid2anns-csfcube-{facet}.json").read_text()))[::5]:
            chosen = [at for at, label in enumerate(papers[query].labels or ()) if label in labels]
            found = rank_pool(
                inputs,
                baseline="fabs_bm25",
                paper_id=query,
                sentences=chosen,
                doc_ids=[name for name in papers if name != query],
            )
            scores = reference.get_scores([word for at in chosen for word in words(papers[query].sentences[at])])
            assert [tuple(doc) for doc in found] == plain_ranking(list(papers), scores.tolist(), query)
