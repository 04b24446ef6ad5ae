"""Two collections that were judged whole, each with 17 systems of five families made from its texts.

Cranfield: every system ranks the 1,400 documents, and the pool is the union of the best 100 of one system a family.
CSFCube's two shared facets: every system ranks the released pool. What is judged there is the truth to compare with.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from annot.base.array_files import Array
from annot.base.records import CITED, Judgement, ScoredDoc, ranked
from annot.base.settings import Settings
from annot_csfcube.contents import is_release_file
from annot_csfcube.files import read_release
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

GRADES = {1: 3, 2: 3, 3: 2, 4: 1}
"""The grade of each of Cleverdon's codes (Cleverdon, Mills and Keen 1966); 5 is not listed, -1 is not explained."""
Sparse = Any
"""A sparse matrix of SciPy, documents by words."""
DEPTH = 100
FAMILIES = {
    "tfidf": ("tfidf", "tfidf_log", "tfidf_pairs", "tfidf_letters", "tfidf_title"),
    "bm25": ("bm25", "bm25_long", "bm25_flat"),
    "language": ("dirichlet_500", "dirichlet_2000", "mixture"),
    "lsa": ("lsa_50", "lsa_100", "lsa_200"),
    "words": ("words_50", "words_100", "words_100_idf"),
}
POOLING = ("tfidf_log", "bm25", "dirichlet_500", "lsa_100", "words_100_idf")
"""The systems that make Cranfield's pools."""


@dataclass(frozen=True)
class JudgedWhole:
    """A collection, and what its systems submit."""

    name: str
    grades: dict[str, dict[str, int]]
    """Of the pools, by query and document."""
    topics: dict[str, str]
    cited: dict[str, frozenset[str]]
    rankings: dict[str, dict[str, tuple[str, ...]]]
    """By system, then query."""
    methods: tuple[str, ...]
    """The systems whose rankings are frozen."""
    relevant_from: int
    measures: tuple[tuple[str, str], ...]
    """Convention and name; the first is the one by which systems are compared."""
    judgements: tuple[Judgement, ...] = ()
    """Of the two assessors of each pair, where they are known."""


class Cranfield(NamedTuple):
    """The collection as it was published."""

    documents: Path
    questions: dict[str, str]
    """By id; a `q` is before the number, as documents have numbers too."""
    grades: dict[tuple[str, str], int]
    """By question and document; whatever is not there has grade 0."""


def read_cranfield(folder: Path) -> Cranfield:
    """The collection in this folder."""
    asked = map(json.loads, (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    codes = (map(int, line.split()) for line in (folder / "codes.txt").read_text(encoding="utf-8").splitlines())
    grades = {(str(question), str(document)): GRADES[code] for question, document, code in codes if code in GRADES}
    return Cranfield(folder / "documents.jsonl", {str(one["question_id"]): str(one["text"]) for one in asked}, grades)


def of_cranfield(folder: Path, *, every_question: bool = False) -> JudgedWhole:
    """Questions with a relevant document in their pool, or all of them. Grades 0 to 3, relevant from 2."""
    found = read_cranfield(folder)
    texts = {
        str(one["paper_id"]): (str(one["title"]), str(one["abstract"]))
        for one in map(json.loads, found.documents.read_text(encoding="utf-8").splitlines())
        if str(one["abstract"]).strip()
    }
    scores = system_scores(found.questions, texts)
    ids = [*texts]
    rankings = {
        system: {
            query_id: tuple(doc.doc_id for doc in ranked(map(ScoredDoc, ids, row.tolist())))[:DEPTH]
            for query_id, row in zip(found.questions, of, strict=True)
        }
        for system, of in scores.items()
    }
    pools = {query_id: {doc for name in POOLING for doc in rankings[name][query_id]} for query_id in found.questions}
    grades = {
        query_id: {doc_id: found.grades.get((query_id, doc_id), 0) for doc_id in sorted(pool)}
        for query_id, pool in pools.items()
    }
    grades = {query_id: of for query_id, of in grades.items() if every_question or max(of.values()) >= 2}
    return JudgedWhole(
        name="Cranfield",
        grades=grades,
        topics={query_id: query_id for query_id in grades},
        cited={},
        rankings=rankings,
        methods=POOLING,
        relevant_from=2,
        measures=tuple(("trec", name) for name in ("nDCG", "nDCG@10", "P@20", "R@20", "AP")),
    )


def of_csfcube(folder: Path) -> JudgedWhole:
    """The queries of the two shared facets; relevant from 2, as the release has it."""
    settings = Settings()
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    release = read_release(
        {name: path.read_bytes() for name, path in paths.items() if is_release_file(name)},
        name=str(folder),
        known_labels=settings.labels.names,
        facet_labels=settings.facets,
    )
    papers = {one.paper_id: one for one in release.papers}
    texts = {one: (paper.title, " ".join(paper.sentences)) for one, paper in papers.items()}
    asked = {
        query.query_id: " ".join(papers[query.topic_id].sentences[at] for at in query.sentences)
        for query in release.queries
    }
    topics = {query.query_id: query.topic_id for query in release.queries}
    grades: dict[str, dict[str, int]] = {query_id: {} for query_id in asked}
    for one in release.decisions:
        if one.doc_id != topics[one.query_id]:
            grades[one.query_id][one.doc_id] = one.grade
    at = {doc_id: place for place, doc_id in enumerate(texts)}
    rankings: dict[str, dict[str, tuple[str, ...]]] = {}
    for system, of in system_scores(asked, texts).items():
        rankings[system] = {
            query_id: tuple(
                doc.doc_id for doc in ranked(ScoredDoc(doc_id, float(row[at[doc_id]])) for doc_id in grades[query_id])
            )
            for query_id, row in zip(asked, of, strict=True)
        }
    cited = {
        pool.topic_id: frozenset(entry.doc_id for entry in pool.entries if entry.drawn.method == CITED)
        for pool in release.pools
    }
    return JudgedWhole(
        name="CSFCube",
        grades=grades,
        topics=topics,
        cited={query_id: cited[topic_id] for query_id, topic_id in topics.items()},
        rankings=rankings,
        methods=POOLING,
        relevant_from=2,
        measures=tuple(("csfcube", name) for name in ("NDCG%20", "NDCG%100", "P@20", "R@20", "AP")),
        judgements=tuple(one for one in release.judgements if one.doc_id in grades[one.query_id]),
    )


def system_scores(asked: Mapping[str, str], texts: Mapping[str, tuple[str, str]]) -> dict[str, Array]:
    """By system, how well each document fits each text that is asked: shape (queries, documents)."""
    whole, titles = [f"{title} {text}" for title, text in texts.values()], [title for title, _ in texts.values()]
    queries = [*asked.values()]
    counter = CountVectorizer(stop_words="english", min_df=2)
    counts, of_queries = counter.fit_transform(whole).tocsr(), counter.transform(queries).tocsr()
    found: dict[str, Array] = {}
    logs: dict[str, object] = {"sublinear_tf": True, "stop_words": "english"}
    for name, options, documents in (
        ("tfidf", {}, whole),
        ("tfidf_log", logs, whole),
        ("tfidf_pairs", {"sublinear_tf": True, "ngram_range": (1, 2), "min_df": 2}, whole),
        ("tfidf_letters", {"analyzer": "char_wb", "ngram_range": (4, 4), "min_df": 3, "sublinear_tf": True}, whole),
        ("tfidf_title", logs, titles),
    ):
        vectorizer = TfidfVectorizer(**options)
        matrix = vectorizer.fit_transform(documents)
        found[name] = (vectorizer.transform(queries) @ matrix.T).toarray()
    length = np.asarray(counts.sum(axis=1)).ravel()
    for name, k1, b in (("bm25", 1.5, 0.75), ("bm25_long", 0.9, 0.4), ("bm25_flat", 3.0, 0.2)):
        found[name] = bm25(counts, of_queries, length, k1=k1, b=b)
    for mu in (500, 2000):
        found[f"dirichlet_{mu}"] = language(counts, of_queries, length, mu=float(mu))
    found["mixture"] = language(counts, of_queries, length, mu=None)
    vectorizer = TfidfVectorizer(**logs, min_df=2)
    matrix = vectorizer.fit_transform(whole)
    for size in (50, 100, 200):
        svd = TruncatedSVD(size, random_state=0).fit(matrix)
        found[f"lsa_{size}"] = cosine(svd.transform(vectorizer.transform(queries)), svd.transform(matrix))
    information = mutual_information(counts)
    vectors = {size: normalize(TruncatedSVD(size, random_state=0).fit_transform(information)) for size in (50, 100)}
    idf = np.log(counts.shape[0] / np.asarray((counts > 0).sum(axis=0)).ravel())
    for name, size, weights in (("words_50", 50, None), ("words_100", 100, None), ("words_100_idf", 100, idf)):
        weighted = sparse.diags(np.ones(len(idf)) if weights is None else weights)
        found[name] = cosine(of_queries @ weighted @ vectors[size], counts @ weighted @ vectors[size])
    return {name: found[name] for names in FAMILIES.values() for name in names}


def bm25(counts: Sparse, queries: Sparse, length: Array, *, k1: float, b: float) -> Array:
    """Scores of BM25."""
    n = counts.shape[0]
    df = np.asarray((counts > 0).sum(axis=0)).ravel()
    idf = np.log(1 + (n - df + 0.5) / (df + 0.5))
    weighted = counts.astype(float).tocoo()
    norm = k1 * (1 - b + b * length / length.mean())
    weighted.data = idf[weighted.col] * weighted.data * (k1 + 1) / (weighted.data + norm[weighted.row])
    return np.asarray((queries @ weighted.tocsr().T).toarray())


def language(counts: Sparse, queries: Sparse, length: Array, *, mu: float | None) -> Array:
    """Query likelihood; mu None is a mixture with weight .3 for the document."""
    share = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
    logs = counts.astype(float).tocoo()
    if mu is None:
        logs.data = np.log1p(0.3 * logs.data / np.maximum(1, length)[logs.row] / (0.7 * share[logs.col]))
        return np.asarray((queries @ logs.tocsr().T).toarray())
    logs.data = np.log1p(logs.data / (mu * share[logs.col]))
    words = np.asarray(queries.sum(axis=1)).ravel()
    return np.asarray((queries @ logs.tocsr().T).toarray() + words[:, None] * np.log(mu / (length + mu)))


def mutual_information(counts: Sparse) -> Sparse:
    """Positive pointwise mutual information of words in one document (Levy and Goldberg 2014)."""
    present = (counts > 0).astype(float)
    both = (present.T @ present).tocoo()
    df = np.asarray(present.sum(axis=0)).ravel()
    both.data = np.maximum(0, np.log(both.data * present.shape[0] / (df[both.row] * df[both.col])))
    return both.tocsr()


def cosine(queries: Array, documents: Array) -> Array:
    """Cosine of each query and each document."""
    return np.asarray(normalize(queries) @ normalize(documents).T)
