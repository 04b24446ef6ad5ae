"""What the opinions on record of a study are worth, on one record of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from annot.base.errors import MissingInput
from annot.base.records import Ranking
from annot.base.scored import as_trec_eval
from annot.measuring.agreement.per_query import ratings_of
from annot.measuring.evaluation.gradings import family_of
from annot.measuring.measured import of_all_topics, primary_of
from annot.measuring.opinions.agreeing import Scale
from annot.measuring.opinions.favour import LEAST, FavourRule
from annot.measuring.opinions.worth import Judged, Worth, worth
from annot.store import papers
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
            level=settings.agreement.level,
            permutations=PERMUTATIONS,
            seed=settings.seed,
        ),
        epsilon=settings.agreement.epsilon,
    )


def worth_of(snapshot: Snapshot, judged: Judged, asked: AskedModel, found: Iterable[Opinion]) -> Worth:
    """One opinion. Raises MissingInput if none of its answers has come."""
    answers: dict[Pair, list[int | None]] = {}
    for one in found:
        answers.setdefault(one.pair, []).append(one.grade)
    if not answers:
        raise MissingInput(
            f"opinion {asked.name}: no answer yet", hint=f"ask again with `annot opinion ask {asked.name}`"
        )
    declared = snapshot.ws.settings.opinions
    family = declared[asked.name].family if asked.name in declared else ()
    return worth(asked.name, asked.model, answers, judged, declared=family)


def _lengths(snapshot: Snapshot, doc_ids: set[str]) -> dict[str, int]:
    """In characters; none if the study has no corpus here, so that all count as equally long."""
    if not snapshot.ws.has_corpus:
        return {}
    found = papers.find_papers(snapshot.ws.corpus, doc_ids)
    return {doc_id: len(" ".join((paper.title, *paper.sentences))) for doc_id, paper in found.items()}
