"""Analyses on one record of a study: its systems' inputs, the effect of its assessors, opinions, and topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property

from annot.base.errors import MissingInput
from annot.base.records import Advance, Paper, Qrel, Query, Ranking, as_trec_eval
from annot.base.settings import SystemSettings
from annot.base.stats.values import Undefined
from annot.corpus.corpus_facts import current_sha256
from annot.measuring.agreement.estimates import ratings_of
from annot.measuring.assessor_effect import AssessorEffect, EffectSettings, assessor_effect_on_runs
from annot.measuring.evaluation.comparisons import ALPHA
from annot.measuring.evaluation.measures import family_of
from annot.measuring.folds import find_leaks, grouped_folds, near_copies, refuse_leaks, test_folds
from annot.measuring.forecast.design import TopicSetSize, topic_set_size
from annot.measuring.measured import evaluation_of, of_all_topics, primary_of, read_run_files
from annot.measuring.opinions.label_quality import FEWEST_PAIRS, JudgedRuns, OtherVersions, Scale, Worth, worth
from annot.measuring.opinions.self_preference import LEAST, FavourRule
from annot.measuring.sampled_study import drawn_pairs
from annot.ranking import vectors
from annot.ranking.encoding import encoded_abstracts, encoded_sentences, weights_folder
from annot.ranking.index import open_index
from annot.ranking.methods import RankingInputs
from annot.ranking.systems import systems_of
from annot.ranking.systems.system import EncoderWeights, Features, PooledQuery, SentenceVectors, System
from annot.ranking.vectors import Vectors
from annot.store import papers
from annot.store.models import AskedModel, ModelCall, StoredRun
from annot.store.shown import Display
from annot.study.outcome import Pair
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

    @property
    def settings(self) -> SystemSettings:
        return self.ws.settings.systems

    @cached_property
    def corpus_sha256(self) -> str:
        return current_sha256(self.ws, keep=True)

    @cached_property
    def ranking_inputs(self) -> RankingInputs:
        needs = dict.fromkeys(name for system in self.systems for name in system.index_methods(self.settings))
        return open_index(self.ws, methods=needs, advance=self.advance)[0]

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
        able,
        snapshot.outcome.judgements,
        qrels,
        settings,
        topics=snapshot.topics,
        sampled=drawn,
    )
    if drawn is not None:
        effect = replace(effect, notes=(*effect.notes, OF_WHOLE_POOLS))
    unable = (f"{tag}: left out, because its system cannot rank for every topic" for tag in runs if tag not in able)
    return replace(effect, notes=(*effect.notes, *unable))


# ----------------------------------------------------------------------------------------------------------------------
# Worth of the opinions on record of a study, on one record of it.
# ----------------------------------------------------------------------------------------------------------------------


PERMUTATIONS = 10_000
"""Largest number of permutations of the test of all runs."""
VERSIONED = {"guidelines": "the guidelines", "scale": "the names of the grades", "facet": "the labels of the facet"}
"""Parts of a display, besides the texts, by which people and a model may have judged differently."""


def judged_of(snapshot: Snapshot, runs: Mapping[str, Mapping[str, Ranking]]) -> JudgedRuns:
    """Grades of people so far, and the runs whose systems rank for every topic, in the order that is evaluated."""
    outcome, settings = snapshot.outcome, snapshot.ws.settings
    convention, measure = primary_of(settings)
    member = family_of(convention, measure)
    assert member is not None
    weights = None
    if snapshot.sample is not None:
        weights = {judgement.pair: 1.0 for judgement in outcome.of_answered_pairs} | snapshot.sample.weights
    queries = ratings_of(
        outcome.of_answered_pairs,
        outcome.decisions,
        snapshot.facets,
        grades=settings.scale.grades,
        unjudgeable=outcome.unjudgeable,
        weights=weights,
    )
    return JudgedRuns(
        queries=queries,
        runs={
            tag: {
                query_id: tuple(doc.doc_id for doc in (as_trec_eval(docs) if convention == "trec" else docs))
                for query_id, docs in run.items()
            }
            for tag, run in sorted(of_all_topics(snapshot, runs).items())
        },
        lengths=_lengths(snapshot, {doc_id for query in queries for doc_id in query.doc_ids}),
        scale=Scale(
            settings.scale.grades,
            relevant_from=settings.evaluation.relevant_from,
            level=settings.agreement.level,
            topics=snapshot.topics,
        ),
        rule=FavourRule(
            measure,
            *member,
            least=LEAST,
            tolerance=settings.agreement.tolerated_favour,
            level=settings.agreement.level,
            permutations=PERMUTATIONS,
            seed=settings.seed,
        ),
        epsilon=settings.agreement.epsilon,
    )


def worth_of(
    snapshot: Snapshot,
    judged: JudgedRuns,
    asked: AskedModel,
    opinions: Iterable[ModelCall],
    displays: Mapping[str, Display],
) -> Worth:
    """Worth of one opinion. Raises MissingInput if none of its answers has come.

    opinions: those on the texts on which the pairs are judged. displays: contents of the prompts, by hash.
    """
    answers: dict[Pair, list[int | None]] = {}
    declined = set[Pair]()
    shown: dict[Pair, Display] = {}
    for opinion in opinions:
        answers.setdefault(opinion.pair, []).append(opinion.grade)
        shown[opinion.pair] = displays.get(opinion.shown_sha256 or "", {})
        if opinion.cannot_judge:
            declined.add(opinion.pair)
    declined = {pair for pair in declined if all(grade is None for grade in answers[pair])}
    if not answers:
        raise MissingInput(
            f"opinion {asked.name}: no answer yet", hint=f"ask again with `annot opinion ask {asked.name}`"
        )
    settings = snapshot.ws.settings.opinions.get(asked.name)
    related = runs_of_family(settings.family, judged.runs, snapshot.runs) if settings else set[str]()

    def compared(answered: Mapping[Pair, list[int | None]]) -> Worth:
        return worth(asked.name, asked.model, answered, judged, declined=declined & answered.keys(), related=related)

    overall, others = compared(answers), _by_other_versions(snapshot, shown)
    if not others:
        return overall
    within = compared({pair: grades for pair, grades in answers.items() if pair not in others})
    pairs, enough = overall.n_compared - within.n_compared, within.n_compared >= FEWEST_PAIRS
    what = tuple(name for part, name in VERSIONED.items() if any(part in parts for parts in others.values()))
    return replace(overall, other_versions=OtherVersions(what, pairs, within.n_compared, within if enough else None))


def _by_other_versions(snapshot: Snapshot, shown: Mapping[Pair, Display]) -> dict[Pair, set[str]]:
    """Pairs that people judged by another version of something than the model was given, and the parts that differ.

    shown: contents of the prompt by pair. A judgement without a record of its task's contents, such as an imported one,
    is not known to be by another version.
    """
    others: dict[Pair, set[str]] = {}
    for judgement in (*snapshot.outcome.of_answered_pairs, *snapshot.outcome.current):
        prompt, screen = shown.get(judgement.pair, {}), snapshot.displays.get(judgement, {})
        parts = {part for part in VERSIONED if part in prompt and prompt[part] != screen.get(part, prompt[part])}
        if parts:
            others.setdefault(judgement.pair, set()).update(parts)
    return others


def runs_of_family(patterns: Iterable[str], tags: Iterable[str], on_record: Iterable[StoredRun]) -> set[str]:
    """Runs whose tag or system fits one of the patterns, such as `llama_*`.

    on_record: origin of each run; a run that is not among them is known by its tag alone.
    """
    systems = {run.tag: run.system for run in on_record}
    names = {tag: (tag, systems.get(tag, tag)) for tag in tags}
    patterns = tuple(patterns)
    return {tag for tag in names if any(fnmatchcase(name, pattern) for name in names[tag] for pattern in patterns)}


def _lengths(snapshot: Snapshot, doc_ids: set[str]) -> dict[str, int]:
    """Lengths in characters; none if the study has no corpus here, so that all count as equally long."""
    if not snapshot.ws.has_corpus:
        return {}
    documents = papers.find_papers(snapshot.ws.corpus, doc_ids)
    return {doc_id: len(" ".join((paper.title, *paper.sentences))) for doc_id, paper in documents.items()}


# ----------------------------------------------------------------------------------------------------------------------
# Differences between the runs of a study that a design of so many queries shows, on one record of it.
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
