"""Analyses on one record of a study: its systems' inputs, the effect of its assessors, and topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from annot.base.errors import MissingInput
from annot.base.records import Advance, Paper, Qrel, Query, Ranking
from annot.base.settings import SystemSettings
from annot.base.stats.values import Undefined
from annot.measuring.assessor_effect import AssessorEffect, EffectSettings, assessor_effect_on_runs
from annot.measuring.evaluation.comparisons import ALPHA
from annot.measuring.folds import find_leaks, grouped_folds, near_copies, refuse_leaks, test_folds
from annot.measuring.forecast.design import TopicSetSize, topic_set_size
from annot.measuring.measured import evaluation_of, of_all_topics, primary_of, read_run_files
from annot.measuring.sampled_study import drawn_pairs
from annot.ranking import vectors
from annot.ranking.encoding import encoded_abstracts, encoded_sentences, weights_folder
from annot.ranking.index import open_index, places_of
from annot.ranking.methods import RankingInputs
from annot.ranking.systems import systems_of
from annot.ranking.systems.system import EncoderWeights, Features, PooledQuery, SentenceVectors, System
from annot.ranking.vectors import Vectors
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# Inputs of a study for its systems: the vectors they rank with, made once for all, and the grades they learn from.
# ----------------------------------------------------------------------------------------------------------------------


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
    version: str | None = None
    """Version of the corpus that is ranked; None is the newest."""

    @property
    def settings(self) -> SystemSettings:
        return self.ws.settings.systems

    @cached_property
    def corpus_sha256(self) -> str:
        return places_of(self.ws, keep=True, version=self.version).corpus_sha256

    @cached_property
    def ranking_inputs(self) -> RankingInputs:
        needs = dict.fromkeys(name for system in self.systems for name in system.index_methods(self.settings))
        return open_index(self.ws, methods=needs, advance=self.advance, version=self.version)[0]

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
        (system,) = systems_of(
            [name], vectors=self.ws.vectors, weights=weights_folder(self.ws), plugins=self.ws.settings.plugins.names
        )
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


# ----------------------------------------------------------------------------------------------------------------------
# Effect of the assessors of a study on the comparison of its runs, on one record of it.
# ----------------------------------------------------------------------------------------------------------------------


N_RANDOM = 500
"""Number of random choices of one assessor for each topic."""
OF_WHOLE_POOLS = "a sample of the pools was judged: every figure is an estimate of the whole pools under its grading"
SWAP_PERMUTATIONS = 10_000
"""Permutations of each test of all pairs of runs, of which there is one for every random choice."""


def assessor_effect_of(
    snapshot: Snapshot,
    runs: Mapping[str, Mapping[str, Ranking]],
    qrels: tuple[Qrel, ...],
    *,
    convention: str,
    measure: str,
    unfinished: bool = False,
) -> AssessorEffect:
    """Rank the runs that rank for all topics under every grading. unfinished: as in `evaluation_of`."""
    drawn = None if snapshot.sample is None else drawn_pairs(snapshot, qrels, unfinished=unfinished)
    settings = EffectSettings(
        convention=convention,
        measure=measure,
        relevant_from=snapshot.ws.settings.evaluation.relevant_from,
        n_random=N_RANDOM,
        alpha=ALPHA,
        permutations=SWAP_PERMUTATIONS,
        level=snapshot.ws.settings.agreement.level,
        seed=snapshot.ws.settings.seed,
    )
    able = of_all_topics(snapshot, runs)
    effect = assessor_effect_on_runs(
        able, snapshot.outcome.judgements, qrels, settings, topics=snapshot.topics, sampled=drawn
    )
    if drawn is not None:
        effect = replace(effect, notes=(*effect.notes, OF_WHOLE_POOLS))
    unable = (f"{tag}: left out, because its system cannot rank for every topic" for tag in runs if tag not in able)
    return replace(effect, notes=(*effect.notes, *unable))


# ----------------------------------------------------------------------------------------------------------------------
# Differences between the runs of a study that a design of this many queries shows, on one record of it.
# ----------------------------------------------------------------------------------------------------------------------


def differences_shown(snapshot: Snapshot, n_queries: int, *, difference: float) -> TopicSetSize | Undefined:
    """Least difference that the design shows, by the runs on the queries of the pilot that are judged completely.

    n_queries: of the design. difference: the one to show, a fraction of the measure by which runs are compared.
    """
    try:
        runs = read_run_files(snapshot.ws)
    except MissingInput:
        return Undefined("there are no runs; `annot run` makes baselines")
    outcome = snapshot.outcome
    partly = {query_id for query_id, _ in (*outcome.progress.unfinished, *outcome.open)}
    qrels = tuple(qrel for qrel in outcome.qrels if qrel.query_id not in partly)
    if not qrels or len(runs) < 2:
        return Undefined("no query is judged whole yet" if not qrels else "there is one run")
    convention, _ = primary_of(snapshot.ws.settings)
    evaluated = evaluation_of(snapshot, runs, qrels, conventions=(convention,), average="plain", unfinished=True)
    if not evaluated.verdicts:
        return Undefined("no two runs rank for the same queries")
    topics = len({query.topic_id for query in snapshot.queries})
    return topic_set_size(
        evaluated.comparisons,
        evaluated.verdicts[-1],
        topics=max(1, round(n_queries * topics / len(snapshot.queries))),
        difference=difference,
        level=snapshot.ws.settings.forecast.level,
    )
