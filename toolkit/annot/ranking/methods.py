"""The ranking methods by name: whole-paper rankings for pooling, and facet baselines within a pool.

The names are CSFCube's. Every other name is the name of a set of vectors (`specter`, `lsa`, one's own).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from annot.errors import InputError
from annot.ordering import ranked
from annot.ranking import bm25, dense, lsa, tfidf
from annot.ranking import vectors as dense_vectors
from annot.ranking.counts import Sparse, count, count_pieces
from annot.ranking.tokens import Field, Rule, TokenisedCorpus, Vocabulary, vocabulary
from annot.ranking.vectors import Vectors
from annot.ranking.wordvectors import Averages, WordVectors
from annot.records import Ranking, ScoredDoc

T = TypeVar("T")

BM25_OKAPI = {"k1": 1.5, "b": 0.75, "epsilon": 0.25}
"""What `fabs_bm25` stands for: rank_bm25's defaults, with which CSFCube's baseline was made."""

LSA = "lsa"
"""The name of the vectors of latent semantic analysis, which are made of the corpus itself."""

EMPTY_SCORE = -1e6
"""The score in a within-pool run of a document that has no usable token: below every other, so that it comes last."""


class Bench:
    """A tokenised corpus with what the methods derive from it, each made when first needed and kept until `release`."""

    def __init__(
        self, corpus: TokenisedCorpus, *, word_vectors: WordVectors | None, vectors: Mapping[str, Vectors]
    ) -> None:
        self.corpus = corpus
        self.word_vectors = word_vectors
        self.vectors = dict(vectors)
        self._vocabularies: dict[Rule, Vocabulary] = {}
        self._made: dict[tuple[Any, ...], Any] = {}

    def release(self) -> None:
        """Let go of the matrices of the corpus; the vocabularies stay."""
        self._made.clear()

    def vocabulary(self, rule: Rule) -> Vocabulary:
        if rule not in self._vocabularies:
            self._vocabularies[rule] = vocabulary(self.corpus, rule)
        return self._vocabularies[rule]

    def counts(self, field: Field, rule: Rule) -> Sparse:
        return self._once(("counts", field, rule), lambda: count(self.corpus.stream(field), self.vocabulary(rule)))

    def tfidf(self, field: Field) -> tfidf.Tfidf:
        return self._once(("tfidf", field), lambda: tfidf.fit(self.counts(field, "terms")))

    def bm25(self) -> bm25.Bm25:
        return self._once(("bm25",), lambda: bm25.fit(self.counts("abstract", "words"), **BM25_OKAPI))

    def averages(self, field: Field, *, weighted: bool) -> Averages:
        """Averages of the field's word vectors, weighted by the field's own idf or plain."""

        def make() -> Averages:
            assert self.word_vectors is not None, "a bench for these methods has word vectors"
            counts = self.counts(field, "words")
            idf = tfidf.smooth_idf(counts) if weighted else None
            return Averages(counts, self.vocabulary("words"), self.word_vectors, idf=idf)

        return self._once(("averages", field, weighted), make)

    def lsa_map(self) -> NDArray[np.float64]:
        """What folds a query into the space of the vectors `lsa`."""
        return self._once(("lsa",), lambda: lsa.query_map(self.tfidf("abstract"), self.vectors[LSA]))

    def _once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found


Rows = NDArray[np.int64]


def _by_tfidf(bench: Bench, rows: Rows, depths: Rows, *, field: Field) -> list[Ranking]:
    model = bench.tfidf(field)
    return tfidf.rank(model, bench.corpus.paper_ids, model.counts[rows], depths=depths)


def _by_average(bench: Bench, rows: Rows, depths: Rows, *, field: Field, weighted: bool) -> list[Ranking]:
    source = bench.averages(field, weighted=weighted)
    return dense.search(source, bench.corpus.paper_ids, source[rows], metric="l2", depths=depths)


METHODS: dict[str, Callable[[Bench, Rows, Rows], list[Ranking]]] = {
    "title_tfidf": partial(_by_tfidf, field="title"),
    "title_cbow200": partial(_by_average, field="title", weighted=False),
    "title_tfidfcbow200": partial(_by_average, field="title", weighted=True),
    "abs_tfidf": partial(_by_tfidf, field="abstract"),
    "abs_cbow200": partial(_by_average, field="abstract", weighted=False),
    "abs_tfidfcbow200": partial(_by_average, field="abstract", weighted=True),
}
"""The term and word-vector methods, those that need the same matrix side by side. 200 stands for the usual size of the
word vectors; what they really have is in their settings."""


def rank_all(
    bench: Bench,
    *,
    methods: Collection[str],
    paper_ids: Sequence[str],
    excluded: Mapping[str, Collection[str]],
    ranking_depth: int,
    after_method: Callable[[str], None],
) -> dict[str, dict[str, Ranking]]:
    """The best `ranking_depth` papers of the corpus for each of the query papers, taken whole, by every method.

    excluded: for a query paper, the ids that must not rank for it; the paper itself never does. A query paper without
    a usable token, or with a vector of zeros, gets an empty ranking. One matrix of counts is held at a time.
    after_method: called as each is done. Returns rankings by method, then by query paper, methods in the order given.
    Raises InputError for papers not in the corpus.
    """
    rows = _rows(bench.corpus, paper_ids)
    banned = [{paper_id, *excluded.get(paper_id, ())} for paper_id in paper_ids]
    depths = np.array([ranking_depth + len(ids) for ids in banned], dtype=np.int64)
    done: dict[str, dict[str, Ranking]] = {}
    known = list(METHODS)
    held: tuple[str, bool] | None = None
    for method in sorted(methods, key=lambda name: (known.index(name) if name in known else len(known), name)):
        needed = (method.partition("_")[0], method.endswith("cbow200")) if method in METHODS else None
        if needed != held:
            bench.release()
            held = needed
        if method in METHODS:
            found = METHODS[method](bench, rows, depths)
        else:
            found = dense_vectors.rank(bench.vectors[method], paper_ids, corpus=bench.corpus.rows, depths=depths)
        done[method] = {
            paper_id: tuple(doc for doc in ranking if doc.doc_id not in ids)[:ranking_depth]
            for paper_id, ids, ranking in zip(paper_ids, banned, found, strict=True)
        }
        after_method(method)
    return {method: done[method] for method in methods}


def _pool_tfidf(bench: Bench, query: NDArray[np.int32], rows: Rows) -> NDArray[np.float64]:
    model = bench.tfidf("abstract")
    candidates = model.counts[rows]
    scores = model.cosines(count_pieces(query, bench.vocabulary("terms")), candidates)[0]
    return _empty_last(scores, candidates)


def _pool_bm25(bench: Bench, query: NDArray[np.int32], rows: Rows) -> NDArray[np.float64]:
    candidates = bench.counts("abstract", "words")[rows]
    scores = bench.bm25().scores(count_pieces(query, bench.vocabulary("words")), candidates)
    return _empty_last(scores, candidates)


def _pool_average(bench: Bench, query: NDArray[np.int32], rows: Rows, *, weighted: bool) -> NDArray[np.float64]:
    source = bench.averages("abstract", weighted=weighted)
    wanted = source.average(count_pieces(query, bench.vocabulary("words")))[0]
    candidates = source[rows]
    usable = (candidates != 0).any(axis=1) & bool((wanted != 0).any())
    return np.where(usable, dense.negated_distances(wanted, candidates), EMPTY_SCORE)


def _pool_lsa(bench: Bench, query: NDArray[np.int32], rows: Rows) -> NDArray[np.float64]:
    wanted = lsa.fold_in(bench.tfidf("abstract"), count_pieces(query, bench.vocabulary("terms")), bench.lsa_map())
    candidates = np.asarray(bench.vectors[LSA].matrix[rows])
    usable = candidates.any(axis=1) & bool(wanted.any())
    scores = np.full(len(rows), EMPTY_SCORE)
    scores[usable] = dense.cosines(wanted, candidates[usable])
    return scores


BASELINES: dict[str, Callable[[Bench, NDArray[np.int32], Rows], NDArray[np.float64]]] = {
    "fabs_tfidf": _pool_tfidf,
    "fabs_bm25": _pool_bm25,
    "fabs_cbow200": partial(_pool_average, weighted=False),
    "fabs_tfidfcbow200": partial(_pool_average, weighted=True),
    LSA: _pool_lsa,
}
"""Within-pool baselines: the query is chosen sentences, a candidate its whole abstract without the title."""


def rank_pool(
    bench: Bench, *, baseline: str, paper_id: str, sentences: Sequence[int], doc_ids: Sequence[str]
) -> Ranking:
    """All documents of a pool in the baseline's order; statistics come from the whole corpus.

    sentences: positions from 0 in the query paper's abstract. A document without a usable token comes last with
    `EMPTY_SCORE`. Raises InputError for an unknown paper or sentence.
    """
    rows = _rows(bench.corpus, [paper_id, *doc_ids])[1:]
    scores = BASELINES[baseline](bench, bench.corpus.sentence_ids(paper_id, sentences), rows)
    return ranked(ScoredDoc(doc_id, score) for doc_id, score in zip(doc_ids, scores.tolist(), strict=True))


def settings_of(bench: Bench, name: str) -> dict[str, Any]:
    """What the figures of a method or baseline depend on, for the metadata of its run."""
    if name in bench.vectors and name not in METHODS:
        return {"vectors": bench.vectors[name].description}
    if name.endswith("cbow200"):
        facts = dict(bench.word_vectors.facts) if bench.word_vectors else {}
        average = "sum(tf*idf*v)/sum(tf*idf)" if "tfidf" in name else "sum(tf*v)/sum(tf)"
        return {"similarity": "-l2", "average": average, "idf": tfidf.SETTINGS["idf"], "word_vectors": facts}
    return {"tokens": "words", **BM25_OKAPI} if name == "fabs_bm25" else dict(tfidf.SETTINGS)


def _empty_last(scores: NDArray[np.float64], candidates: Sparse) -> NDArray[np.float64]:
    return np.where(np.diff(candidates.indptr) > 0, scores, EMPTY_SCORE)


def _rows(corpus: TokenisedCorpus, paper_ids: Sequence[str]) -> Rows:
    absent = [paper_id for paper_id in paper_ids if paper_id not in corpus.rows]
    if absent:
        faults = [f"{paper_id}: not in the corpus" for paper_id in absent]
        raise InputError(f"{len(absent)} paper(s) are not in the corpus", faults=faults)
    return np.array([corpus.rows[paper_id] for paper_id in paper_ids], dtype=np.int64)
