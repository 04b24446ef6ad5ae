"""Systems of terms and of averaged word vectors: CSFCube's four, the same with the whole query abstract, and LSA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from annot.base.settings.sections import SystemSettings
from annot.ranking.corpus import Corpus
from annot.ranking.methods import BASELINES, LSA, METHODS, rank_candidates
from annot.ranking.systems.inputs import Features, PooledQuery, SystemInputs
from annot.ranking.systems.system import ABSTRACT, CSFCUBE, FACET, TEXT, RankedPools, System, features_of
from annot.ranking.tokens import Rule, Sparse

WHOLE = "whole_"


@dataclass(frozen=True, slots=True)
class TermSystem(System):
    """System of the formula of `baseline`. whole: every sentence of the abstract makes the query."""

    baseline: str
    whole: bool

    def rank(self, inputs: SystemInputs) -> RankedPools:
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
            view["query_of_texts"] = TEXT
        return RankedPools(rankings, BASELINES[self.baseline].settings(ranking_inputs) | view)

    def topics(self, inputs: SystemInputs) -> Sequence[PooledQuery]:
        """All of them: a text is counted as the sentences of a paper are."""
        return inputs.topics

    def index_methods(self, settings: SystemSettings) -> Sequence[str]:
        """The word vectors of the corpus serve all that average."""
        needs = BASELINES[self.baseline].needs
        if needs.averages:
            return [name for name, method in METHODS.items() if method.needs.averages]
        return [] if needs.vectors is None else [needs.vectors]

    def features(self, inputs: SystemInputs) -> Features:
        """Features of LSA: the decomposition's rows, and the queries folded in."""
        if self.baseline != LSA:
            # A dataclass with slots is made again, and super() does not know it.
            return System.features(self, inputs)
        ranking_inputs, vectors = inputs.ranking_inputs, inputs.ranking_inputs.vectors[LSA]
        return features_of(
            self.name,
            inputs.topics,
            query=lambda topic: ranking_inputs.fold_in(self._counts(ranking_inputs.corpus, topic, "terms")),
            candidate=lambda doc_id: vectors.matrix[vectors.rows[doc_id]],
        )

    def _counts(self, corpus: Corpus, topic: PooledQuery, rule: Rule) -> Sparse:
        if topic.text is not None:
            return corpus.texts([topic.text], rule)
        sentences = range(corpus.sentence_count(topic.topic_id)) if self.whole else topic.sentences
        return corpus.sentences(topic.topic_id, sentences, rule)


def _system(name: str, *, whole: bool) -> TermSystem:
    source = "Deerwester et al. 1990" if name == LSA else CSFCUBE
    needs = "word vectors, trained on the corpus" if BASELINES[name].needs.averages else ""
    called = name.replace("fabs_", WHOLE) if whole else name
    return TermSystem(called, "terms", source, ABSTRACT if whole else FACET, ABSTRACT, needs, None, name, whole)


SYSTEMS = (
    *(_system(name, whole=False) for name in BASELINES if name != LSA),
    *(_system(name, whole=True) for name in BASELINES if name != LSA),
    _system(LSA, whole=False),
)
