"""The ranking methods by name: whole-paper rankings for pooling, and facet baselines within a pool.

The names are CSFCube's. Every other name is the name of a set of vectors (`specter`, `lsa`, one's own).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.base.ordering import ranked
from annot.base.records import Ranking, ScoredDoc
from annot.base.threads import Each, in_threads
from annot.ranking import bm25, dense, lsa, tfidf
from annot.ranking import vectors as dense_vectors
from annot.ranking.corpus import Corpus, Rows
from annot.ranking.counts import Sparse
from annot.ranking.dense import VectorSource
from annot.ranking.tokens import Field, Rule
from annot.ranking.vectors import Vectors
from annot.ranking.wordvectors import Averages, WordVectors

BM25_OKAPI = {"k1": 1.5, "b": 0.75, "epsilon": 0.25}
"""What `fabs_bm25` stands for: rank_bm25's defaults, with which CSFCube's baseline was made."""

LSA = "lsa"
"""The name of the vectors of latent semantic analysis, which are made of the corpus itself."""

EMPTY_SCORE = -1e6
"""The score in a within-pool run of a document that has no usable token: below every other, so that it comes last."""


class Bench:
    """The corpus with the vectors that methods need.

    averages: document averages that were made before, by field and whether they are weighted; the others are made row
    by row when they are asked for. each: where the corpus is searched.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        word_vectors: WordVectors | None,
        vectors: Mapping[str, Vectors],
        averages: Mapping[tuple[Field, bool], VectorSource],
        each: Each = in_threads,
    ) -> None:
        self.corpus = corpus
        self.word_vectors = word_vectors
        self.vectors = dict(vectors)
        self._averages = averages
        self.each = each

    def averages(self, field: Field, *, weighted: bool) -> VectorSource:
        """Averages of the field's word vectors, weighted by the field's own idf or plain: a row for each paper."""
        if (field, weighted) in self._averages:
            return self._averages[field, weighted]
        return dense.Parts([self.averages_of(number, field, weighted) for number in range(len(self.corpus.shards))])

    def averages_of(self, number: int, field: Field, weighted: bool) -> Averages:
        """The averages of one shard, each made when it is asked for."""
        assert self.word_vectors is not None, "a bench for these methods has word vectors"
        shard, place = self.corpus.shards[number], self.corpus.places("words")[number]
        idf = self.corpus.statistics(field, "words").smooth_idf[place] if weighted else None
        return Averages(shard.counts(field, "words"), self._word_rows[place], self.word_vectors, idf=idf)

    @cached_property
    def _word_rows(self) -> NDArray[np.int32]:
        """The row of each word's vector, found once for all shards."""
        assert self.word_vectors is not None
        return self.word_vectors.rows(self.corpus.tokens("words"))

    def average(self, query: Sparse, *, weighted: bool) -> NDArray[np.float32]:
        """The average of one row of counts of abstracts, as a document of these tokens would have it."""
        assert self.word_vectors is not None, "a bench for these methods has word vectors"
        from scipy.sparse import csr_matrix

        used, each = query.indices, np.arange(query.nnz)
        rows = self.word_vectors.rows(self.corpus.tokens("words").take(used))
        idf = self.corpus.statistics("abstract", "words").smooth_idf[used] if weighted else None
        row = csr_matrix((query.data, each, query.indptr), shape=(1, query.nnz))
        averages = Averages(row, rows, self.word_vectors, idf=idf).average(row)
        return np.asarray(averages[0])

    @cached_property
    def bm25(self) -> bm25.Bm25:
        """BM25 of the abstracts."""
        return bm25.fit(self.corpus.statistics("abstract", "words"), **BM25_OKAPI)

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """The idf of the abstracts' terms: shape (terms,)."""
        return self.corpus.statistics("abstract", "terms").smooth_idf

    def fold_in(self, query: Sparse) -> NDArray[np.float32]:
        """One row of counts of terms in the space of the vectors `lsa`: shape (dimensions,)."""
        found = self.vectors[LSA]
        assert isinstance(found, lsa.Decomposition), "a bench for this method has a decomposition"
        return lsa.fold_in(query, self.idf, found.basis)


def _by_tfidf(bench: Bench, rows: Rows, depths: Rows, *, field: Field) -> list[Ranking]:
    return tfidf.rank(bench.corpus, field, rows, depths=depths, each=bench.each)


def _by_average(bench: Bench, rows: Rows, depths: Rows, *, field: Field, weighted: bool) -> list[Ranking]:
    source = bench.averages(field, weighted=weighted)
    return dense.search(source, bench.corpus.paper_ids, source[rows], metric="l2", depths=depths, each=bench.each)


METHODS: dict[str, Callable[[Bench, Rows, Rows], list[Ranking]]] = {
    "title_tfidf": partial(_by_tfidf, field="title"),
    "title_cbow200": partial(_by_average, field="title", weighted=False),
    "title_tfidfcbow200": partial(_by_average, field="title", weighted=True),
    "abs_tfidf": partial(_by_tfidf, field="abstract"),
    "abs_cbow200": partial(_by_average, field="abstract", weighted=False),
    "abs_tfidfcbow200": partial(_by_average, field="abstract", weighted=True),
}
"""The term and word-vector methods. 200 stands for the usual size of the word vectors; what they really have is in
their settings."""


def rank_all(
    bench: Bench,
    *,
    methods: Sequence[str],
    paper_ids: Sequence[str],
    excluded: Mapping[str, Collection[str]],
    ranking_depth: int,
    after_method: Callable[[str], None],
) -> dict[str, dict[str, Ranking]]:
    """The best `ranking_depth` papers of the corpus for each of the query papers, taken whole, by every method.

    excluded: for a query paper, the ids that must not rank for it; the paper itself never does. A query paper without
    a usable token, or with a vector of zeros, gets an empty ranking. after_method: called as each is done. Returns
    rankings by method, then by query paper, methods in the order given. Raises InputError for papers not in the corpus.
    """
    rows = bench.corpus.rows(paper_ids)
    banned = [{paper_id, *excluded.get(paper_id, ())} for paper_id in paper_ids]
    depths = np.array([ranking_depth + len(ids) for ids in banned], dtype=np.int64)
    done: dict[str, dict[str, Ranking]] = {}
    for method in methods:
        if method in METHODS:
            found = METHODS[method](bench, rows, depths)
        else:
            vectors, corpus = bench.vectors[method], bench.corpus.paper_ids
            found = dense_vectors.rank(vectors, paper_ids, corpus=corpus, depths=depths, each=bench.each)
        done[method] = {
            paper_id: tuple(doc for doc in ranking if doc.doc_id not in ids)[:ranking_depth]
            for paper_id, ids, ranking in zip(paper_ids, banned, found, strict=True)
        }
        after_method(method)
    return done


@dataclass(frozen=True)
class Asked:
    """Chosen sentences of a paper as a query, and the candidates to put in order."""

    bench: Bench
    paper_id: str
    sentences: Sequence[int]
    rows: Rows

    def query(self, rule: Rule) -> Sparse:
        """The counts of the chosen sentences: one row."""
        return self.bench.corpus.sentences(self.paper_id, self.sentences, rule)

    def candidates(self, rule: Rule) -> Sparse:
        """The counts of the candidates' abstracts."""
        return self.bench.corpus.counts("abstract", rule, self.rows)


def _pool_tfidf(asked: Asked) -> NDArray[np.float64]:
    candidates = asked.candidates("terms")
    return _empty_last(tfidf.cosines(asked.query("terms"), candidates, asked.bench.idf)[0], candidates)


def _pool_bm25(asked: Asked) -> NDArray[np.float64]:
    candidates = asked.candidates("words")
    return _empty_last(asked.bench.bm25.scores(asked.query("words"), candidates), candidates)


def _pool_average(asked: Asked, *, weighted: bool) -> NDArray[np.float64]:
    wanted = asked.bench.average(asked.query("words"), weighted=weighted)
    candidates = asked.bench.averages("abstract", weighted=weighted)[asked.rows]
    usable = (candidates != 0).any(axis=1) & bool((wanted != 0).any())
    return np.where(usable, dense.negated_distances(wanted, candidates), EMPTY_SCORE)


def _pool_lsa(asked: Asked) -> NDArray[np.float64]:
    wanted = asked.bench.fold_in(asked.query("terms"))
    candidates = np.asarray(asked.bench.vectors[LSA].matrix[asked.rows])
    usable = candidates.any(axis=1) & bool(wanted.any())
    scores = np.full(len(asked.rows), EMPTY_SCORE)
    scores[usable] = dense.cosines(wanted, candidates[usable])
    return scores


BASELINES: dict[str, Callable[[Asked], NDArray[np.float64]]] = {
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
    rows = bench.corpus.rows([paper_id, *doc_ids])[1:]
    scores = BASELINES[baseline](Asked(bench, paper_id, sentences, rows))
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
