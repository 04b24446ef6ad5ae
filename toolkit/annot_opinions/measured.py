"""Opinions of a study, measured on its record: what each is worth, and those that the report has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from annot.base.errors import MissingInput
from annot.base.records import Ranking, as_trec_eval
from annot.measuring.agreement.estimates import ratings_of
from annot.measuring.evaluation.measures import family_of
from annot.measuring.measured import of_all_topics, primary_of
from annot.publishing.report.study import Study
from annot.store import papers
from annot.store.models import AskedModel, ModelCall, StoredRun
from annot.store.shown import Display
from annot.study.outcome import Pair
from annot.study.snapshot import Snapshot

from annot_opinions.label_quality import FEWEST_PAIRS, JudgedRuns, OtherVersions, Scale, Worth, worth
from annot_opinions.on_record import OpinionOnRecord, OpinionStatus, is_early, opinions_on_record
from annot_opinions.self_preference import LEAST, FavourRule

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
    queries = ratings_of(
        outcome.of_answered_pairs,
        outcome.decisions,
        snapshot.facets,
        grades=settings.scale.grades,
        unjudgeable=outcome.unjudgeable,
        weights=None if snapshot.sample is None else snapshot.sample.weights,
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

    overall, others = compared(answers), _pairs_on_other_versions(snapshot, shown)
    if not others:
        return overall
    within = compared({pair: grades for pair, grades in answers.items() if pair not in others})
    pairs, enough = overall.n_compared - within.n_compared, within.n_compared >= FEWEST_PAIRS
    names = tuple(name for part, name in VERSIONED.items() if any(part in parts for parts in others.values()))
    return replace(overall, other_versions=OtherVersions(names, pairs, within.n_compared, within if enough else None))


def _pairs_on_other_versions(snapshot: Snapshot, shown: Mapping[Pair, Display]) -> dict[Pair, set[str]]:
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
# Opinions of a study for its report, each measured once.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MeasuredOpinion:
    """Opinion of a model: its record and its quality."""

    standing: OpinionStatus
    worth: Worth


def recorded_opinions(study: Study) -> tuple[OpinionOnRecord, ...]:
    """The models' opinions, by name."""
    return study.once(_recorded)


def measured_opinions(study: Study) -> tuple[MeasuredOpinion, ...]:
    """The models' opinions that may be shown: once people have settled all pairs, or by the lead's word."""
    return study.once(_measured)


def reported_opinions(study: Study) -> tuple[MeasuredOpinion, ...]:
    """Opinions that are no trials."""
    return tuple(opinion for opinion in measured_opinions(study) if opinion.standing.reported)


def _recorded(study: Study) -> tuple[OpinionOnRecord, ...]:
    return opinions_on_record(study.snapshot.ws)


def _measured(study: Study) -> tuple[MeasuredOpinion, ...]:
    snapshot, ws = study.snapshot, study.snapshot.ws
    on_record = [opinion for opinion in recorded_opinions(study) if opinion.settled]
    with ws.reading() as session:
        if on_record and is_early(ws, session, "shown"):
            on_record = [
                opinion for opinion in on_record if any(moment == "shown" for _, moment, _ in opinion.asked.early)
            ]
    if not on_record:
        return ()
    judged = judged_of(snapshot, study.runs if any(ws.runs.glob("*.run")) else {})
    return tuple(
        MeasuredOpinion(opinion.standing, worth_of(snapshot, judged, opinion.asked, opinion.settled, opinion.displays))
        for opinion in on_record
    )
