"""The ranking methods by name: whole-paper rankings for pooling, and baselines that order a pool by chosen sentences.

The names are CSFCube's. Every other name is that of a set of vectors (`specter`, one's own). A new method is a function
that ranks and an entry of `METHODS`; a new baseline one that scores and an entry of `BASELINES`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from annot.base.parallel import Each, in_threads
from annot.base.plugins import PluginNames, with_parts
from annot.base.records import Advance, Ranking, ScoredDoc, ranked
from annot.ranking import search, word_vectors
from annot.ranking import vectors as dense_vectors
from annot.ranking.corpus import Corpus, Field, Rows, Rule, Sparse, sparse
from annot.ranking.vectors import Vectors
from annot.ranking.word_vectors import Averages, WordVectors

BM25_OKAPI = {"k1": 1.5, "b": 0.75, "epsilon": 0.25}
"""Settings of `bm25` in a name: rank_bm25's defaults, with which CSFCube's baseline was made."""
OKAPI_SETTINGS = {"tokens": "words", **BM25_OKAPI}
BM25_LUCENE = {"k1": 1.2, "b": 0.75}
"""Settings of `bm25lucene`: the defaults of Lucene's `BM25Similarity`."""

LSA = "lsa"
"""The name of the vectors of latent semantic analysis, which are made of the corpus itself."""

EMPTY_SCORE = -1e6
"""The score in a within-pool run of a document that has no usable token: below every other, so that it comes last."""

WordSource = Literal["cbow", "ppmi"]
"""Origin of word vectors: CBOW, trained on the corpus or imported, or counts of the corpus."""


class Variant(NamedTuple):
    """Averages of word vectors of one origin: of a field, weighted by idf or plain."""

    source: WordSource
    field: Field
    weighted: bool


@dataclass(eq=False)
class RankingInputs:
    """Corpus that methods rank, with the vectors that they need."""

    corpus: Corpus
    word_vectors: Mapping[WordSource, WordVectors]
    vectors: dict[str, Vectors]
    averages: Mapping[Variant, search.VectorSource]
    """Document averages that were made before; the others are made row by row when they are asked for."""
    each: Each = in_threads
    """Executor that searches the corpus."""

    def averages_by(self, variant: Variant) -> search.VectorSource:
        """Averages of the field's word vectors, weighted by the field's own idf or plain: a row for each paper."""
        if variant in self.averages:
            return self.averages[variant]
        return search.Parts([self.averages_of(number, variant) for number in range(len(self.corpus.shards))])

    def averages_of(self, number: int, variant: Variant) -> Averages:
        """The averages of one shard, each made when it is asked for."""
        vectors = self._words_of(variant)
        shard, place = self.corpus.shards[number], self.corpus.places("words")[number]
        rows = self._word_rows[variant.source][place]
        return Averages(shard.counts(variant.field, "words"), rows, vectors, idf=self._idf_of(variant, place))

    def average(self, query: Sparse, variant: Variant) -> NDArray[np.float32]:
        """The average of one row of counts, as a document of the field with these tokens would have it."""
        vectors, query_tokens = self._words_of(variant), query.indices
        rows = vectors.rows(self.corpus.tokens("words").take(query_tokens))
        row = sparse(query.data, np.arange(query.nnz), query.indptr, query.nnz)
        averages = Averages(row, rows, vectors, idf=self._idf_of(variant, query_tokens)).average(row)
        return np.asarray(averages[0])

    def _words_of(self, variant: Variant) -> WordVectors:
        assert variant.source in self.word_vectors, "these methods rank by word vectors"
        return self.word_vectors[variant.source]

    def _idf_of(self, variant: Variant, tokens: NDArray[np.int32]) -> NDArray[np.float64] | None:
        """The weights of tokens; None of a plain average."""
        return self.corpus.statistics(variant.field, "words").smooth_idf[tokens] if variant.weighted else None

    @cached_property
    def _word_rows(self) -> dict[WordSource, NDArray[np.int32]]:
        """The row of each word's vector, found once for all shards."""
        return {source: words.rows(self.corpus.tokens("words")) for source, words in self.word_vectors.items()}

    @cached_property
    def bm25(self) -> search.Bm25:
        """BM25 of the abstracts."""
        return _okapi(self.corpus, "abstract")

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """The idf of the abstracts' terms: shape (terms,)."""
        return self.corpus.statistics("abstract", "terms").smooth_idf

    def fold_in(self, query: Sparse) -> NDArray[np.float32]:
        """One row of counts of terms in the space of the vectors `lsa`: shape (dimensions,)."""
        basis = self.vectors[LSA].basis
        assert basis is not None, "this method ranks by a decomposition"
        return word_vectors.fold_in(query, self.idf, basis)


class TopicsToRank(NamedTuple):
    """Query papers taken as wholes, or topics that are texts."""

    names: Sequence[str]
    """Names of their vectors: the ids of query papers."""
    depths: Rows
    """Number of papers to rank for each."""
    rows: Rows | None
    """Rows of the query papers in the corpus; None of texts."""
    texts: Sequence[Mapping[Field, str]] = ()
    """Text of each topic for each field of the papers."""

    def counts(self, corpus: Corpus, field: Field, rule: Rule) -> Sparse:
        """Counts of a field under a rule: a row for each."""
        if self.rows is None:
            return corpus.texts([text[field] for text in self.texts], rule)
        return corpus.counts(field, rule, self.rows)


Rank = TypeVar("Rank", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Ranker(Generic[Rank]):
    """A function that ranks, its inputs besides tokens and counts, and the settings that go on record with it."""

    rank: Rank
    settings: Callable[[RankingInputs], dict[str, Any]]
    """All that its figures depend on besides the corpus."""
    averages: tuple[Variant, ...] = ()
    """Averages of word vectors that it needs."""
    vectors: str | None = None
    """Name of the set of vectors that it needs; `LSA` is made of the corpus."""

    def on_record(self, inputs: RankingInputs) -> dict[str, Any]:
        """Its settings, with the rule of the tokens if that is not the one for English."""
        by_tokens = not inputs.corpus.english and self.vectors in (None, LSA)
        return self.settings(inputs) | ({"tokens": inputs.corpus.rule_on_record("words")} if by_tokens else {})


Method = Ranker[Callable[[RankingInputs, TopicsToRank], list[Ranking]]]
"""Ranks the whole corpus for topics, one after the other in their order."""


def by_terms(
    field: Field, formula: Callable[[Corpus, Field], search.TermFormula], settings: Mapping[str, Any]
) -> Method:
    """The method that ranks by a formula of terms, which is fitted to the field of a corpus."""

    def rank(inputs: RankingInputs, topics: TopicsToRank) -> list[Ranking]:
        fitted = formula(inputs.corpus, field)
        counts = topics.counts(inputs.corpus, field, fitted.rule)
        return search.rank_by_terms(inputs.corpus, field, fitted, counts, depths=topics.depths, each=inputs.each)

    return Method(rank=rank, settings=lambda _: dict(settings))


def _okapi(corpus: Corpus, field: Field) -> search.Bm25:
    return search.fit_bm25(corpus.statistics(field, "words"), **BM25_OKAPI)


def _lucene(corpus: Corpus, field: Field) -> search.Bm25:
    return search.fit_lucene(corpus.statistics(field, "words"), corpus.filled(field, "words"), **BM25_LUCENE)


def _average_method(source: WordSource, field: Field, *, weighted: bool) -> Method:
    variant = Variant(source, field, weighted)

    def rank(inputs: RankingInputs, topics: TopicsToRank) -> list[Ranking]:
        averages = inputs.averages_by(variant)
        if topics.rows is not None:
            vectors = averages[topics.rows]
        else:
            counts = topics.counts(inputs.corpus, field, "words")
            vectors = np.stack([inputs.average(row, variant) for row in counts])
        ids = inputs.corpus.paper_ids
        return search.search(averages, ids, vectors, metric="l2", depths=topics.depths, each=inputs.each)

    return Method(rank=rank, settings=partial(_averaged, variant=variant), averages=(variant,))


def _vector_method(name: str) -> Method:
    def rank(inputs: RankingInputs, topics: TopicsToRank) -> list[Ranking]:
        vectors, corpus = inputs.vectors[name], inputs.corpus
        if name == LSA and topics.rows is None:
            queries = np.stack([inputs.fold_in(row) for row in topics.counts(corpus, "abstract", "terms")])
        else:
            queries = dense_vectors.vectors_named(vectors, topics.names)
        return dense_vectors.nearest(vectors, queries, corpus=corpus.paper_ids, depths=topics.depths, each=inputs.each)

    return Method(rank=rank, settings=partial(_described, name=name), vectors=name)


def _averaged(inputs: RankingInputs, *, variant: Variant) -> dict[str, Any]:
    words = inputs.word_vectors.get(variant.source)
    average = "sum(tf*idf*v)/sum(tf*idf)" if variant.weighted else "sum(tf*v)/sum(tf)"
    facts = dict(words.facts) if words else {}
    return {"similarity": "-l2", "average": average, "idf": search.TFIDF["idf"], "word_vectors": facts}


def _described(inputs: RankingInputs, name: str) -> dict[str, Any]:
    return {"vectors": inputs.vectors[name].description}


def _of_field(field: Field, prefix: str) -> dict[str, Method]:
    """The methods that compare one field of the papers, by name."""
    return {
        f"{prefix}_tfidf": by_terms(field, search.Tfidf, search.TFIDF),
        f"{prefix}_bm25": by_terms(field, _okapi, OKAPI_SETTINGS),
        f"{prefix}_bm25lucene": by_terms(field, _lucene, {"tokens": "words", "form": "lucene", **BM25_LUCENE}),
        f"{prefix}_cbow200": _average_method("cbow", field, weighted=False),
        f"{prefix}_tfidfcbow200": _average_method("cbow", field, weighted=True),
        f"{prefix}_ppmi200": _average_method("ppmi", field, weighted=False),
        f"{prefix}_tfidfppmi200": _average_method("ppmi", field, weighted=True),
    }


METHODS: dict[str, Method] = {**_of_field("title", "title"), **_of_field("abstract", "abs"), LSA: _vector_method(LSA)}
"""Methods that need nothing but the corpus. The 200 in a name is the usual size of word vectors; their settings have
the real one."""


def known_methods(plugins: PluginNames = ()) -> dict[str, Method]:
    """Methods of `METHODS` and of these plug-ins, by name."""
    return with_parts(METHODS, "pool_methods", plugins)


def method_named(name: str, plugins: PluginNames = ()) -> Method:
    """One of the known methods, or the search in the set of vectors of this name."""
    return known_methods(plugins).get(name) or _vector_method(name)


def without_papers(ranking: Ranking, excluded: Collection[str], *, depth: int) -> Ranking:
    """The best documents of a ranking that are not excluded."""
    return tuple(doc for doc in ranking if doc.doc_id not in excluded)[:depth]


def rank_all(
    inputs: RankingInputs,
    *,
    methods: Sequence[str],
    paper_ids: Sequence[str],
    texts: Mapping[str, Mapping[Field, str]] = MappingProxyType({}),
    excluded: Mapping[str, Collection[str]],
    ranking_depth: int,
    advance: Advance,
    plugins: PluginNames = (),
) -> dict[str, dict[str, Ranking]]:
    """Best `ranking_depth` papers of the corpus for each query paper, taken as a whole, and for each text, by every
    method; a method without a vector of a text does not rank for it.

    texts: by topic, the text to compare with each field of the papers. excluded: by topic, the ids that must not rank
    for it; a query paper itself never does. A topic without a usable token, or with a vector of zeros, gets an
    empty ranking. advance: called after each method. Returns rankings by method, then by topic, methods in the
    order of `methods`. Raises InputError for papers not in the corpus.
    """
    banned = [{paper_id, *excluded.get(paper_id, ())} for paper_id in paper_ids]
    depths = np.array([ranking_depth + len(ids) for ids in banned], dtype=np.int64)
    queries = TopicsToRank(paper_ids, depths, inputs.corpus.rows(paper_ids))
    done: dict[str, dict[str, Ranking]] = {}
    for number, name in enumerate(methods, start=1):
        method = method_named(name, plugins)
        rankings = method.rank(inputs, queries) if paper_ids else []
        done[name] = {
            paper_id: without_papers(ranking, ids, depth=ranking_depth)
            for paper_id, ids, ranking in zip(paper_ids, banned, rankings, strict=True)
        }
        read = {topic_id: text["abstract"] for topic_id, text in texts.items()}
        lacking = set() if method.vectors in (None, LSA) else dense_vectors.topics_without(inputs.vectors[name], read)
        if able := [topic_id for topic_id in texts if topic_id not in lacking]:
            names = [dense_vectors.topic_name(topic_id, read[topic_id]) for topic_id in able]
            of_texts = [excluded.get(topic_id, ()) for topic_id in able]
            depths = np.array([ranking_depth + len(ids) for ids in of_texts], dtype=np.int64)
            topics = TopicsToRank(names, depths, None, [texts[topic_id] for topic_id in able])
            for topic_id, ids, ranking in zip(able, of_texts, method.rank(inputs, topics), strict=True):
                done[name][topic_id] = without_papers(ranking, ids, depth=ranking_depth)
        advance(number, len(methods))
    return done


Baseline = Ranker[Callable[[RankingInputs, Callable[[Rule], Sparse], Rows], NDArray[np.float64]]]
"""Scores the candidates of a pool, each its whole abstract without the title; higher is better. Function of the corpus
with its vectors, of the counts of the query under a rule, one row, and of the rows of the candidates."""


def _pool_tfidf(inputs: RankingInputs, query: Callable[[Rule], Sparse], rows: Rows) -> NDArray[np.float64]:
    candidates = inputs.corpus.counts("abstract", "terms", rows)
    return _empty_last(search.tfidf_cosines(query("terms"), candidates, inputs.idf)[0], candidates)


def _pool_bm25(inputs: RankingInputs, query: Callable[[Rule], Sparse], rows: Rows) -> NDArray[np.float64]:
    candidates = inputs.corpus.counts("abstract", "words", rows)
    return _empty_last(inputs.bm25.scores(query("words"), candidates), candidates)


def _empty_last(scores: NDArray[np.float64], candidates: Sparse) -> NDArray[np.float64]:
    return np.where(np.diff(candidates.indptr) > 0, scores, EMPTY_SCORE)


def _pool_average(source: WordSource, *, weighted: bool) -> Baseline:
    variant = Variant(source, "abstract", weighted)

    def score(inputs: RankingInputs, query: Callable[[Rule], Sparse], rows: Rows) -> NDArray[np.float64]:
        average = inputs.average(query("words"), variant)
        candidates = inputs.averages_by(variant)[rows]
        usable = (candidates != 0).any(axis=1) & bool((average != 0).any())
        return np.where(usable, search.negated_distances(average, candidates), EMPTY_SCORE)

    return Baseline(rank=score, settings=partial(_averaged, variant=variant), averages=(variant,))


def _pool_lsa(inputs: RankingInputs, query: Callable[[Rule], Sparse], rows: Rows) -> NDArray[np.float64]:
    folded = inputs.fold_in(query("terms"))
    candidates = np.asarray(inputs.vectors[LSA].matrix[rows])
    usable = candidates.any(axis=1) & bool(folded.any())
    scores = np.full(len(rows), EMPTY_SCORE)
    scores[usable] = search.dense_cosines(folded, candidates[usable])
    return scores


BASELINES: dict[str, Baseline] = {
    "fabs_tfidf": Baseline(rank=_pool_tfidf, settings=lambda _: dict(search.TFIDF)),
    "fabs_bm25": Baseline(rank=_pool_bm25, settings=lambda _: dict(OKAPI_SETTINGS)),
    "fabs_cbow200": _pool_average("cbow", weighted=False),
    "fabs_tfidfcbow200": _pool_average("cbow", weighted=True),
    "fabs_ppmi200": _pool_average("ppmi", weighted=False),
    "fabs_tfidfppmi200": _pool_average("ppmi", weighted=True),
    LSA: Baseline(rank=_pool_lsa, settings=partial(_described, name=LSA), vectors=LSA),
}


def rank_candidates(
    inputs: RankingInputs, *, baseline: str, query: Callable[[Rule], Sparse], doc_ids: Sequence[str]
) -> Ranking:
    """Candidates of any query in the baseline's order. query: its counts under a rule, one row."""
    scores = BASELINES[baseline].rank(inputs, query, inputs.corpus.rows(doc_ids))
    return ranked(ScoredDoc(doc_id, score) for doc_id, score in zip(doc_ids, scores.tolist(), strict=True))
