"""What the opinions on record of a study are worth, on one record of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from annot.base.errors import MissingInput
from annot.base.records import Ranking
from annot.base.scored import as_trec_eval
from annot.measuring.agreement.per_query import ratings_of
from annot.measuring.evaluation.gradings import family_of
from annot.measuring.measured import of_all_topics, primary_of
from annot.measuring.opinions.agreeing import Scale
from annot.measuring.opinions.favour import LEAST, FavourRule
from annot.measuring.opinions.standing_in import FEWEST_PAIRS
from annot.measuring.opinions.worth import Judged, OtherGuidelines, Worth, worth
from annot.store import papers
from annot.store.models import StoredRun
from annot.store.opinions import AskedModel, Opinion
from annot.study.adjudication import Pair
from annot.study.snapshot import Snapshot

PERMUTATIONS = 10_000
"""Of the test of all runs, at most."""


def judged_of(snapshot: Snapshot, runs: Mapping[str, Mapping[str, Ranking]]) -> Judged:
    """What people said so far, and the runs whose systems rank for every topic, in the order that is evaluated."""
    outcome, settings = snapshot.outcome, snapshot.ws.settings
    convention, measure = primary_of(settings)
    found = family_of(convention, measure)
    assert found is not None
    weights = None
    if snapshot.sample is not None:
        weights = {one.pair: 1.0 for one in outcome.of_answered_pairs} | {
            pair: 1 / one.probability for pair, one in snapshot.sample.pairs.items() if one.drawn
        }
    queries = ratings_of(
        outcome.of_answered_pairs,
        outcome.decisions,
        snapshot.facets,
        grades=settings.scale.grades,
        unjudgeable=outcome.unjudgeable,
        weights=weights,
    )
    return Judged(
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
            *found,
            least=LEAST,
            tolerance=settings.agreement.tolerated_favour,
            level=settings.agreement.level,
            permutations=PERMUTATIONS,
            seed=settings.seed,
        ),
        epsilon=settings.agreement.epsilon,
    )


def worth_of(snapshot: Snapshot, judged: Judged, asked: AskedModel, found: Iterable[Opinion]) -> Worth:
    """One opinion. Raises MissingInput if none of its answers has come."""
    answers: dict[Pair, list[int | None]] = {}
    declined = set[Pair]()
    for one in found:
        answers.setdefault(one.pair, []).append(one.grade)
        if one.cannot_judge:
            declined.add(one.pair)
    declined = {pair for pair in declined if all(grade is None for grade in answers[pair])}
    if not answers:
        raise MissingInput(
            f"opinion {asked.name}: no answer yet", hint=f"ask again with `annot opinion ask {asked.name}`"
        )
    settings = snapshot.ws.settings.opinions.get(asked.name)
    related = runs_of_family(settings.family, judged.runs, snapshot.runs) if settings else set[str]()

    def compared(answered: Mapping[Pair, list[int | None]]) -> Worth:
        return worth(asked.name, asked.model, answered, judged, declined=declined & answered.keys(), related=related)

    whole, others = compared(answers), _by_other_guidelines(snapshot, asked)
    if not others & answers.keys():
        return whole
    within = compared({pair: grades for pair, grades in answers.items() if pair not in others})
    enough = within.n_compared >= FEWEST_PAIRS
    return replace(
        whole,
        other_guidelines=OtherGuidelines(
            whole.n_compared - within.n_compared, within.n_compared, within if enough else None
        ),
    )


def _by_other_guidelines(snapshot: Snapshot, asked: AskedModel) -> set[Pair]:
    """The pairs that people judged by other guidelines than the model was given.

    A judgement whose guidelines are not on record, such as an imported one, is not known to be by others.
    """
    facets, outcome = snapshot.facets, snapshot.outcome
    return {
        judgement.pair
        for judgement in (*outcome.of_answered_pairs, *outcome.current)
        if (shown := snapshot.guidelines_of.get(judgement)) is not None
        and (given := asked.guidelines.get(facets[judgement.query_id])) is not None
        and shown != given
    }


def runs_of_family(patterns: Iterable[str], tags: Iterable[str], on_record: Iterable[StoredRun]) -> set[str]:
    """The runs whose tag or system fits one of the patterns, such as `llama_*`.

    on_record: what made each run; a run that is not among them is known by its tag alone.
    """
    systems = {run.tag: run.system for run in on_record}
    names = {tag: (tag, systems.get(tag, tag)) for tag in tags}
    return {tag for tag, own in names.items() if any(fnmatchcase(name, one) for name in own for one in patterns)}


def _lengths(snapshot: Snapshot, doc_ids: set[str]) -> dict[str, int]:
    """In characters; none if the study has no corpus here, so that all count as equally long."""
    if not snapshot.ws.has_corpus:
        return {}
    found = papers.find_papers(snapshot.ws.corpus, doc_ids)
    return {doc_id: len(" ".join((paper.title, *paper.sentences))) for doc_id, paper in found.items()}
