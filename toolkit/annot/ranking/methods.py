"""The ranking methods by name: whole-paper rankings for pooling, and baselines that order a pool by chosen sentences.

The names are CSFCube's. Every other name is that of a set of vectors (`specter`, one's own). A new method is a function
that ranks and an entry of `METHODS`; a new baseline one that scores and an entry of `BASELINES`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.parallel import Each, in_threads
from annot.base.records import Ranking, ScoredDoc, ranked
from annot.ranking import search, word_vectors
from annot.ranking import vectors as dense_vectors
from annot.ranking.corpus import Corpus, Field, Rows, Rule, Sparse, sparse
from annot.ranking.search import TFIDF, Bm25, VectorSource, fit_bm25, fit_lucene
from annot.ranking.vectors import Vectors
from annot.ranking.word_vectors import Averages, WordVectors

BM25_OKAPI = {"k1": 1.5, "b": 0.75, "epsilon": 0.25}
"""Settings of `bm25` in a name: rank_bm25's defaults, with which CSFCube's baseline was made."""
BM25_LUCENE = {"k1": 1.2, "b": 0.75}
"""Settings of `bm25lucene`: the defaults of Lucene's `BM25Similarity`."""

LSA = "lsa"
"""The name of the vectors of latent semantic analysis, which are made of the corpus itself."""

EMPTY_SCORE = -1e6
"""The score in a within-pool run of a document that has no usable token: below every other, so that it comes last."""

Variant = tuple[Field, bool]
"""Averages of word vectors: of a field, weighted by idf or plain."""


@dataclass(eq=False)
class RankingInputs:
    """Corpus that methods rank, with the vectors that they need."""

    corpus: Corpus
    word_vectors: WordVectors | None
    vectors: dict[str, Vectors]
    averages: Mapping[Variant, VectorSource]
    """Document averages that were made before; the others are made row by row when they are asked for."""
    each: Each = in_threads
    """Executor that searches the corpus."""

    def averages_by(self, field: Field, *, weighted: bool) -> VectorSource:
        """Averages of the field's word vectors, weighted by the field's own idf or plain: a row for each paper."""
        if (field, weighted) in self.averages:
            return self.averages[field, weighted]
        return search.Parts([self.averages_of(number, field, weighted) for number in range(len(self.corpus.shards))])

    def averages_of(self, number: int, field: Field, weighted: bool) -> Averages:
        """The averages of one shard, each made when it is asked for."""
        assert self.word_vectors is not None, "these methods rank by word vectors"
        shard, place = self.corpus.shards[number], self.corpus.places("words")[number]
        idf = self.corpus.statistics(field, "words").smooth_idf[place] if weighted else None
        return Averages(shard.counts(field, "words"), self._word_rows[place], self.word_vectors, idf=idf)

    @cached_property
    def _word_rows(self) -> NDArray[np.int32]:
        """The row of each word's vector, found once for all shards."""
        assert self.word_vectors is not None
        return self.word_vectors.rows(self.corpus.tokens("words"))

    def average(self, query: Sparse, *, weighted: bool, field: Field = "abstract") -> NDArray[np.float32]:
        """The average of one row of counts, as a document of the field with these tokens would have it."""
        assert self.word_vectors is not None, "these methods rank by word vectors"
        query_tokens, positions = query.indices, np.arange(query.nnz)
        rows = self.word_vectors.rows(self.corpus.tokens("words").take(query_tokens))
        idf = self.corpus.statistics(field, "words").smooth_idf[query_tokens] if weighted else None
        row = sparse(query.data, positions, query.indptr, query.nnz)
        averages = Averages(row, rows, self.word_vectors, idf=idf).average(row)
        return np.asarray(averages[0])

    @cached_property
    def bm25(self) -> Bm25:
        """BM25 of the abstracts."""
        return fit_bm25(self.corpus.statistics("abstract", "words"), **BM25_OKAPI)

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """The idf of the abstracts' terms: shape (terms,)."""
        return self.corpus.statistics("abstract", "terms").smooth_idf

    def fold_in(self, query: Sparse) -> NDArray[np.float32]:
        """One row of counts of terms in the space of the vectors `lsa`: shape (dimensions,)."""
        decomposition = self.vectors[LSA]
        assert isinstance(decomposition, word_vectors.Decomposition), "this method ranks by a decomposition"
        return word_vectors.fold_in(query, self.idf, decomposition.basis)


class Queries(NamedTuple):
    """Query papers, taken as wholes."""

    names: Sequence[str]
    """Ids of the papers, under which their vectors are."""
    rows: Rows
    depths: Rows
    """Number of papers to rank for each."""

    def counts(self, corpus: Corpus, field: Field, rule: Rule) -> Sparse:
        """Counts of a field under a rule: a row for each."""
        return corpus.counts(field, rule, self.rows)


class Texts(NamedTuple):
    """Topics that are texts."""

    names: Sequence[str]
    """Names of their vectors."""
    of: Sequence[Mapping[Field, str]]
    """Text of each topic for each field of the papers."""
    depths: Rows
    """Number of papers to rank for each."""

    def counts(self, corpus: Corpus, field: Field, rule: Rule) -> Sparse:
        """Counts of the texts for a field under a rule: a row for each."""
        return corpus.texts([text[field] for text in self.of], rule)


class Needs(NamedTuple):
    """Inputs of a method besides tokens and counts."""

    averages: tuple[Variant, ...] = ()
    """Averages of word vectors."""
    vectors: str | None = None
    """A set of vectors of this name; `LSA` is made of the corpus."""


@dataclass(frozen=True, kw_only=True)
class HasSettings:
    """Settings that go on record with a ranking; every method and every baseline has them."""

    settings: Callable[[RankingInputs], dict[str, Any]]
    """All that its figures depend on besides the corpus."""
    needs: Needs


@dataclass(frozen=True, kw_only=True)
class Method(HasSettings):
    """Ranks the whole corpus for topics, one after the other in their order."""

    rank: Callable[[RankingInputs, Queries | Texts], list[Ranking]]


def _by_tfidf(field: Field) -> Method:
    def rank(inputs: RankingInputs, topics: Queries | Texts) -> list[Ranking]:
        counts = topics.counts(inputs.corpus, field, "terms")
        return search.rank_counts(inputs.corpus, field, counts, depths=topics.depths, each=inputs.each)

    return Method(rank=rank, settings=lambda _: dict(TFIDF), needs=Needs())


def _by_bm25(field: Field, *, lucene: bool = False) -> Method:
    def fitted(corpus: Corpus) -> Bm25:
        statistics = corpus.statistics(field, "words")
        if lucene:
            return fit_lucene(statistics, corpus.filled(field, "words"), **BM25_LUCENE)
        return fit_bm25(statistics, **BM25_OKAPI)

    def rank(inputs: RankingInputs, topics: Queries | Texts) -> list[Ranking]:
        corpus = inputs.corpus
        counts = topics.counts(corpus, field, "words")
        return search.rank_by_bm25(corpus, field, fitted(corpus), counts, depths=topics.depths, each=inputs.each)

    facts = {"tokens": "words", "form": "lucene", **BM25_LUCENE} if lucene else {"tokens": "words", **BM25_OKAPI}
    return Method(rank=rank, settings=lambda _: dict(facts), needs=Needs())


def _by_average(field: Field, *, weighted: bool) -> Method:
    def rank(inputs: RankingInputs, topics: Queries | Texts) -> list[Ranking]:
        source = inputs.averages_by(field, weighted=weighted)
        if isinstance(topics, Queries):
            vectors = source[topics.rows]
        else:
            counts = topics.counts(inputs.corpus, field, "words")
            vectors = np.stack([inputs.average(row, weighted=weighted, field=field) for row in counts])
        ids = inputs.corpus.paper_ids
        return search.search(source, ids, vectors, metric="l2", depths=topics.depths, each=inputs.each)

    needs = Needs(averages=((field, weighted),))
    return Method(rank=rank, settings=lambda inputs: _averaged(inputs, weighted=weighted), needs=needs)


def _by_vectors(name: str) -> Method:
    def rank(inputs: RankingInputs, topics: Queries | Texts) -> list[Ranking]:
        vectors, corpus = inputs.vectors[name], inputs.corpus.paper_ids
        if name == LSA and isinstance(topics, Texts):
            counts = topics.counts(inputs.corpus, "abstract", "terms")
            folded = np.stack([inputs.fold_in(row) for row in counts])
            return dense_vectors.nearest(vectors, folded, corpus=corpus, depths=topics.depths, each=inputs.each)
        return dense_vectors.rank(vectors, topics.names, corpus=corpus, depths=topics.depths, each=inputs.each)

    return Method(rank=rank, settings=lambda inputs: _described(inputs, name), needs=Needs(vectors=name))


def _averaged(inputs: RankingInputs, *, weighted: bool) -> dict[str, Any]:
    facts = dict(inputs.word_vectors.facts) if inputs.word_vectors else {}
    average = "sum(tf*idf*v)/sum(tf*idf)" if weighted else "sum(tf*v)/sum(tf)"
    return {"similarity": "-l2", "average": average, "idf": TFIDF["idf"], "word_vectors": facts}


def _described(inputs: RankingInputs, name: str) -> dict[str, Any]:
    return {"vectors": inputs.vectors[name].description}


METHODS: dict[str, Method] = {
    "title_tfidf": _by_tfidf("title"),
    "title_bm25": _by_bm25("title"),
    "title_bm25lucene": _by_bm25("title", lucene=True),
    "title_cbow200": _by_average("title", weighted=False),
    "title_tfidfcbow200": _by_average("title", weighted=True),
    "abs_tfidf": _by_tfidf("abstract"),
    "abs_bm25": _by_bm25("abstract"),
    "abs_bm25lucene": _by_bm25("abstract", lucene=True),
    "abs_cbow200": _by_average("abstract", weighted=False),
    "abs_tfidfcbow200": _by_average("abstract", weighted=True),
    LSA: _by_vectors(LSA),
}
"""Methods that need nothing but the corpus. The 200 in a name is the usual size of word vectors; their settings have
the real one."""


def method_named(name: str) -> Method:
    """One of `METHODS`, or the search in the set of vectors of this name."""
    return METHODS.get(name) or _by_vectors(name)


def rank_all(
    inputs: RankingInputs,
    *,
    methods: Sequence[str],
    paper_ids: Sequence[str],
    texts: Mapping[str, Mapping[Field, str]] = MappingProxyType({}),
    excluded: Mapping[str, Collection[str]],
    ranking_depth: int,
    after_method: Callable[[str], None],
) -> dict[str, dict[str, Ranking]]:
    """Best `ranking_depth` papers of the corpus for each query paper, taken as a whole, and for each text, by every
    method; a method without a vector of a text does not rank for it.

    texts: by topic, the text to compare with each field of the papers. excluded: for a query paper, the ids that must
    not rank for it; the paper itself never does. A topic without a usable token, or with a vector of zeros, gets an
    empty ranking. after_method: called after each method. Returns rankings by method, then by topic, methods in the
    order of `methods`. Raises InputError for papers not in the corpus.
    """
    banned = [{paper_id, *excluded.get(paper_id, ())} for paper_id in paper_ids]
    depths = np.array([ranking_depth + len(ids) for ids in banned], dtype=np.int64)
    queries = Queries(paper_ids, inputs.corpus.rows(paper_ids), depths)
    done: dict[str, dict[str, Ranking]] = {}
    for name in methods:
        method = method_named(name)
        rankings = method.rank(inputs, queries) if paper_ids else []
        done[name] = {
            paper_id: tuple(doc for doc in ranking if doc.doc_id not in ids)[:ranking_depth]
            for paper_id, ids, ranking in zip(paper_ids, banned, rankings, strict=True)
        }
        read = {topic_id: text["abstract"] for topic_id, text in texts.items()}
        lacking = set() if name in METHODS else dense_vectors.topics_without(inputs.vectors[name], read)
        if able := [topic_id for topic_id in texts if topic_id not in lacking]:
            names = [dense_vectors.topic_name(topic_id, read[topic_id]) for topic_id in able]
            depths = np.full(len(able), ranking_depth, dtype=np.int64)
            topics = Texts(names, [texts[topic_id] for topic_id in able], depths)
            done[name] |= zip(able, method.rank(inputs, topics), strict=True)
        after_method(name)
    return done


@dataclass(frozen=True)
class PoolToRank:
    """A query, and the candidates to put in order."""

    inputs: RankingInputs
    query: Callable[[Rule], Sparse]
    """Counts of the query under a rule: one row."""
    rows: Rows

    def candidates(self, rule: Rule) -> Sparse:
        """The counts of the candidates' abstracts."""
        return self.inputs.corpus.counts("abstract", rule, self.rows)


@dataclass(frozen=True, kw_only=True)
class Baseline(HasSettings):
    """Scores the candidates of a pool, each its whole abstract without the title; higher is better."""

    score: Callable[[PoolToRank], NDArray[np.float64]]


def _pool_tfidf(pool: PoolToRank) -> NDArray[np.float64]:
    candidates = pool.candidates("terms")
    return _empty_last(search.tfidf_cosines(pool.query("terms"), candidates, pool.inputs.idf)[0], candidates)


def _pool_bm25(pool: PoolToRank) -> NDArray[np.float64]:
    candidates = pool.candidates("words")
    return _empty_last(pool.inputs.bm25.scores(pool.query("words"), candidates), candidates)


def _empty_last(scores: NDArray[np.float64], candidates: Sparse) -> NDArray[np.float64]:
    return np.where(np.diff(candidates.indptr) > 0, scores, EMPTY_SCORE)


def _pool_average(*, weighted: bool) -> Baseline:
    def score(pool: PoolToRank) -> NDArray[np.float64]:
        average = pool.inputs.average(pool.query("words"), weighted=weighted)
        candidates = pool.inputs.averages_by("abstract", weighted=weighted)[pool.rows]
        usable = (candidates != 0).any(axis=1) & bool((average != 0).any())
        return np.where(usable, search.negated_distances(average, candidates), EMPTY_SCORE)

    needs = Needs(averages=(("abstract", weighted),))
    return Baseline(score=score, settings=lambda inputs: _averaged(inputs, weighted=weighted), needs=needs)


def _pool_lsa(pool: PoolToRank) -> NDArray[np.float64]:
    query = pool.inputs.fold_in(pool.query("terms"))
    candidates = np.asarray(pool.inputs.vectors[LSA].matrix[pool.rows])
    usable = candidates.any(axis=1) & bool(query.any())
    scores = np.full(len(pool.rows), EMPTY_SCORE)
    scores[usable] = search.dense_cosines(query, candidates[usable])
    return scores


BASELINES: dict[str, Baseline] = {
    "fabs_tfidf": Baseline(score=_pool_tfidf, settings=lambda _: dict(TFIDF), needs=Needs()),
    "fabs_bm25": Baseline(score=_pool_bm25, settings=lambda _: {"tokens": "words", **BM25_OKAPI}, needs=Needs()),
    "fabs_cbow200": _pool_average(weighted=False),
    "fabs_tfidfcbow200": _pool_average(weighted=True),
    LSA: Baseline(score=_pool_lsa, settings=lambda inputs: _described(inputs, LSA), needs=Needs(vectors=LSA)),
}


def rank_candidates(
    inputs: RankingInputs, *, baseline: str, query: Callable[[Rule], Sparse], doc_ids: Sequence[str]
) -> Ranking:
    """Candidates of any query in the baseline's order. query: its counts under a rule, one row."""
    scores = BASELINES[baseline].score(PoolToRank(inputs, query, inputs.corpus.rows(doc_ids)))
    return ranked(ScoredDoc(doc_id, score) for doc_id, score in zip(doc_ids, scores.tolist(), strict=True))
