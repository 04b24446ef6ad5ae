"""Inputs of a study for its systems: the vectors they rank with, made once for all, and the grades they learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from annot.base.records import Advance, Paper, Qrel, Query
from annot.base.settings.sections import SystemSettings
from annot.corpus.corpus_facts import current_sha256
from annot.measuring.folds import find_leaks, grouped_folds, near_copies, refuse_leaks, test_folds
from annot.ranking import vectors
from annot.ranking.encoding import encoded_abstracts, encoded_sentences, weights_folder
from annot.ranking.index import open_index
from annot.ranking.methods import RankingInputs
from annot.ranking.systems import systems_of
from annot.ranking.systems.inputs import Features, PooledQuery, SentenceVectors
from annot.ranking.systems.system import System
from annot.ranking.systems.weights import EncoderWeights
from annot.ranking.vectors import Vectors
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace

FOLDS = 2


@dataclass(eq=False)
class StudyInputs:
    """Pooled queries of a study with the data that ranks them."""

    ws: Workspace
    systems: Sequence[System]
    """Systems that will be asked."""
    topics: Sequence[PooledQuery]
    papers: Mapping[str, Paper]
    """Papers of the pools and of the queries, by id."""
    advance: Advance

    @property
    def settings(self) -> SystemSettings:
        return self.ws.settings.systems

    @cached_property
    def corpus_sha256(self) -> str:
        return current_sha256(self.ws, keep=True)

    @cached_property
    def ranking_inputs(self) -> RankingInputs:
        needs = dict.fromkeys(name for system in self.systems for name in system.index_methods(self.settings))
        return open_index(self.ws, methods=needs, advance=self.advance).inputs

    @cached_property
    def grades(self) -> StudyGrades:
        snapshot, settings = read_snapshot(self.ws), self.ws.settings
        recorded = test_folds(snapshot.splits.get("all", {}))
        return StudyGrades(snapshot.outcome.qrels, len(settings.scale.names), settings.seed, recorded, self.papers)

    @cached_property
    def _sorted_papers(self) -> tuple[Paper, ...]:
        return tuple(self.papers[paper_id] for paper_id in sorted(self.papers))

    def sentence_vectors(self, weights: EncoderWeights) -> SentenceVectors:
        return encoded_sentences(self.ws, weights, self._sorted_papers, advance=self.advance)

    def own_vectors(self, name: str) -> Vectors | None:
        folder = self.ws.vectors / name
        return vectors.load(folder, hint=f"correct the files in {folder}, or remove it") if folder.is_dir() else None

    def paper_vectors(self, weights: EncoderWeights) -> Vectors:
        texts = {topic.topic_id: topic.text for topic in self.topics if topic.text is not None}
        return encoded_abstracts(self.ws, weights, self._sorted_papers, texts, advance=self.advance)

    def features(self, name: str) -> Features:
        (system,) = systems_of([name], vectors=self.ws.vectors, weights=weights_folder(self.ws))
        return system.features(self)


@dataclass(eq=False)
class StudyGrades:
    """Final grades of a study, its folds, and its scale."""

    qrels: Sequence[Qrel]
    count: int
    seed: int
    recorded: Sequence[Sequence[str]]
    """Query ids of each fold on record that is tested on."""
    papers: Mapping[str, Paper]
    """Query papers at least, by id."""

    def folds(self, queries: Sequence[Query]) -> tuple[list[list[str]], bool]:
        """Folds on record; folds are drawn if none of these queries is in one."""
        query_ids = {query.query_id for query in queries}
        folds = [[query_id for query_id in fold if query_id in query_ids] for fold in self.recorded]
        if not any(folds):
            copies = near_copies({query.topic_id: self.papers[query.topic_id] for query in queries})
            folds = [list(fold) for fold in grouped_folds(queries, copies=copies, count=FOLDS, seed=self.seed)]
            return folds, True
        return folds, False

    def shared(
        self, learned: Sequence[Query], tested: Sequence[Query], *, documents: Mapping[str, Sequence[str]], where: str
    ) -> tuple[Sequence[str], Sequence[tuple[str, str]]]:
        leaks = find_leaks(learned, tested, pools=documents, topics=self.papers)
        refuse_leaks(leaks, where=where)
        return leaks.candidates, leaks.other_way_round
