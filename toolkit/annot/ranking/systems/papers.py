"""Systems that compare whole papers: by one vector each, by terms, and by averaged word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from annot.base.records import ScoredDoc, ranked
from annot.base.settings import SystemSettings
from annot.base.stats.arrays import Matrix
from annot.ranking import search
from annot.ranking.corpus import Corpus, Rule, Sparse
from annot.ranking.methods import BASELINES, EMPTY_SCORE, LSA, METHODS, WordSource, rank_candidates
from annot.ranking.systems import system
from annot.ranking.vectors import Vectors, topic_name, vectors_named

# ----------------------------------------------------------------------------------------------------------------------
# Systems of abstracts: one vector for a paper, title and abstract together, and the nearest paper comes first.
#
# The vectors are those in `corpus/vectors/NAME` if that exists, as for pooling; otherwise an encoder makes them.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AbstractSystem(system.System):
    """System of one vector per paper, from a folder or from its weights; without weights only from a folder."""

    lacks: str = ""
    """Parts of the published system that the weights lack; empty if they lack nothing."""

    def rank(self, inputs: system.SystemInputs) -> system.RankedPools:
        """Rank by the metric of the vectors' space; a document whose vector is zero comes last.

        Raises InputError naming every paper without a vector.
        """
        vectors, encoded = self._vectors(inputs)
        topics = self.topics(inputs)
        names = dict.fromkeys(paper for topic in topics for paper in (_name_of(topic), *topic.doc_ids))
        matrix, row_of = vectors_named(vectors, list(names)), {name: row for row, name in enumerate(names)}
        rankings = {}
        for topic in topics:
            query = np.asarray(matrix[row_of[_name_of(topic)]])
            rows = np.asarray(matrix[[row_of[doc_id] for doc_id in topic.doc_ids]])
            usable = rows.any(axis=1) & bool(query.any())
            scores = np.full(len(rows), EMPTY_SCORE)
            scores[usable] = search.SCORES[vectors.metric](query, rows[usable])
            rankings[topic.query_id] = ranked(map(ScoredDoc, topic.doc_ids, scores.tolist()))
        lacks = {"lacks": self.lacks} if self.lacks and encoded else {}
        return system.RankedPools(rankings, {**self.views, "vectors": vectors.description, **lacks})

    @property
    def of_texts(self) -> str:
        """A vector of each topic, as its encoder reads papers."""
        return f"a vector of each topic in corpus/vectors/{self.name}"

    def topics(self, inputs: system.SystemInputs) -> Sequence[system.PooledQuery]:
        """The papers, and the texts that have a vector in the folder, or that its weights can read."""
        own_vectors = inputs.own_vectors(self.name)
        if own_vectors is None and self.weights is not None:
            return inputs.topics
        with_vector = own_vectors.rows if own_vectors is not None else ()
        return [topic for topic in inputs.topics if topic.text is None or _name_of(topic) in with_vector]

    def features(self, inputs: system.SystemInputs) -> system.Features:
        """Vector of the query paper for every facet, and that of a candidate."""
        vectors, _ = self._vectors(inputs)

        def row(paper_id: str) -> Matrix:
            return np.asarray(vectors.matrix[vectors.rows[paper_id]], dtype=np.float32)

        return system.features_of(
            self.name, self.topics(inputs), query=lambda topic: row(_name_of(topic)), candidate=row
        )

    def _vectors(self, inputs: system.SystemInputs) -> tuple[Vectors, bool]:
        """Vectors, and True if the weights made them."""
        own_vectors = inputs.own_vectors(self.name)
        if own_vectors is not None:
            return own_vectors, False
        assert self.weights is not None, "a system without weights is known by its vectors"
        return inputs.paper_vectors(self.weights), True


def _name_of(topic: system.PooledQuery) -> str:
    """Name of the topic's vector."""
    return topic.topic_id if topic.text is None else topic_name(topic.topic_id, topic.text)


TRAINED = ("specter-id", "specter-cocite")
"""Systems whose weights `annot encoder train` makes."""


def _vector_system(name: str, source: str, hub: str | None, *, lacks: str = "") -> AbstractSystem:
    weights = system.EncoderWeights(name, hub, "document", trainable=name in TRAINED)
    needs = f"vectors in corpus/vectors/{name}, or {weights.needs}" + (f" (without {lacks})" if lacks else "")
    return AbstractSystem(
        name, "abstracts", source, system.TITLE_AND_ABSTRACT, system.TITLE_AND_ABSTRACT, needs, weights, lacks
    )


VECTOR_SYSTEMS = (
    _vector_system("specter", system.CSFCUBE, "allenai/specter"),
    _vector_system("specter2", "Singh et al. 2023 (SciRepEval)", "allenai/specter2_base", lacks="its adapter"),
    _vector_system("specter-id", system.CSFCUBE, None),
    _vector_system("specter-cocite", system.ASPIRE, "allenai/aspire-biencoder-compsci-spec"),
    _vector_system("scincl", "Ostendorff et al. 2022", "malteos/scincl"),
)
"""SPECTER2 is its base here, and its runs say so: the library of its adapters (`adapters` 1.3.0) asks for transformers
4.57 and has not come to 5 (adapter-hub/adapters, issue 834). Vectors that it makes in an environment of its own go into
`corpus/vectors/specter2`. The weights of SPECTER-CoCite on the hub lack its mix of layers; `model_cur_best.pt` of the
authors' archive (`aspire-biencoder-compsci-spec-full.zip`), put next to them in `weights/specter-cocite`, has it."""


def own_system(name: str) -> AbstractSystem:
    """The system of a folder of vectors that a user brings."""
    needs = f"vectors in corpus/vectors/{name}"
    return AbstractSystem(name, "abstracts", "your own", "one vector", "one vector", needs, None)


# ----------------------------------------------------------------------------------------------------------------------
# Systems of terms and of averaged word vectors: CSFCube's four, the same with the whole query abstract, and LSA.
# ----------------------------------------------------------------------------------------------------------------------


WHOLE = "whole_"
ORIGINS: dict[WordSource, tuple[str, str]] = {
    "cbow": (system.CSFCUBE, "word vectors, trained on the corpus"),
    "ppmi": ("Levy et al. 2015", "word vectors, counted in the corpus"),
}
"""Paper from which averages of word vectors come, and what they need."""


@dataclass(frozen=True, slots=True)
class TermSystem(system.System):
    """System of the formula of `baseline`. whole: every sentence of the abstract makes the query."""

    baseline: str
    whole: bool

    def rank(self, inputs: system.SystemInputs) -> system.RankedPools:
        """Statistics come from the whole corpus."""
        ranking_inputs = inputs.ranking_inputs
        rankings = {
            topic.query_id: rank_candidates(
                ranking_inputs,
                baseline=self.baseline,
                query=partial(self._counts, ranking_inputs.corpus, topic),
                doc_ids=topic.doc_ids,
            )
            for topic in inputs.topics
        }
        view = {"query": self.query} if self.whole else {}
        if any(topic.text is not None for topic in inputs.topics):
            view["query_of_texts"] = system.TEXT
        return system.RankedPools(rankings, BASELINES[self.baseline].on_record(ranking_inputs) | view)

    def topics(self, inputs: system.SystemInputs) -> Sequence[system.PooledQuery]:
        """All topics: the terms of a text are counted like those of a paper's sentences."""
        return inputs.topics

    def index_methods(self, settings: SystemSettings) -> Sequence[str]:
        """Word vectors serve all that average them."""
        baseline = BASELINES[self.baseline]
        if sources := {variant.source for variant in baseline.averages}:
            return [name for name, method in METHODS.items() if sources & {v.source for v in method.averages}]
        return [] if baseline.vectors is None else [baseline.vectors]

    def features(self, inputs: system.SystemInputs) -> system.Features:
        """Features of LSA: the decomposition's rows, and the queries folded in."""
        if self.baseline != LSA:
            # A dataclass with slots is made again, and super() does not know it.
            return system.System.features(self, inputs)
        ranking_inputs, vectors = inputs.ranking_inputs, inputs.ranking_inputs.vectors[LSA]
        return system.features_of(
            self.name,
            inputs.topics,
            query=lambda topic: ranking_inputs.fold_in(self._counts(ranking_inputs.corpus, topic, "terms")),
            candidate=lambda doc_id: vectors.matrix[vectors.rows[doc_id]],
        )

    def _counts(self, corpus: Corpus, topic: system.PooledQuery, rule: Rule) -> Sparse:
        if topic.text is not None:
            return corpus.texts([topic.text], rule)
        return corpus.sentences(topic.topic_id, None if self.whole else topic.sentences, rule)


def _term_system(name: str, *, whole: bool) -> TermSystem:
    source = "Deerwester et al. 1990" if name == LSA else system.CSFCUBE
    needs = ""
    for variant in BASELINES[name].averages:
        source, needs = ORIGINS[variant.source]
    method = name.replace("fabs_", WHOLE) if whole else name
    return TermSystem(
        method, "terms", source, system.ABSTRACT if whole else system.FACET, system.ABSTRACT, needs, None, name, whole
    )


TERM_SYSTEMS = (
    *(_term_system(name, whole=False) for name in BASELINES if name != LSA),
    *(_term_system(name, whole=True) for name in BASELINES if name != LSA),
    _term_system(LSA, whole=False),
)
