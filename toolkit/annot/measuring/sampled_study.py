"""What a sampled study has to measure runs: its pools, the probabilities of its pairs, and predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from annot.base.errors import InputError
from annot.base.names import called, counted, verb
from annot.base.records import CITED, Qrel, Ranking
from annot.base.stats.values import Undefined
from annot.measuring.evaluation.computed import Run
from annot.measuring.evaluation.evaluated import Evaluated
from annot.measuring.evaluation.graded_pools import SampleCost
from annot.measuring.evaluation.gradings import family_of
from annot.measuring.forecast.redrawing import MIN_UNITS
from annot.measuring.forecast.sample_certainty import (
    Certainty,
    JudgedQueries,
    Measured,
    certainty,
    redraws_of,
    unknown,
)
from annot.measuring.sampled.cost import by_opinion, notes_of
from annot.measuring.sampled.counts import GradeCounts, counts_of
from annot.measuring.sampled.estimates import estimates, groups_of, pools_of, so_far
from annot.measuring.sampled.grades import Predicted, Weights
from annot.measuring.sampled.pools import SampledPools
from annot.measuring.sampled.predicting import features, predicted, with_opinions
from annot.measuring.sampled.weights import tuned
from annot.measuring.sampled_opinions import CheapLabel, cheap_label_of
from annot.pools.pair_sample import frozen_ranks, ranks_on_record
from annot.store.judging_models import PoolSample
from annot.study.adjudication import Pair
from annot.study.snapshot import Snapshot

SHOWN = 5
"""Pairs that an error names."""


class DrawnPairs(NamedTuple):
    """What the grades of pools are estimated from, by query."""

    pi: Mapping[str, Mapping[str, float]]
    judged: Mapping[str, Mapping[str, int]]
    """The grades of the drawn pairs."""
    predicted: Mapping[str, Predicted] | None
    highest: int
    """The highest grade of the scale."""
    label: CheapLabel | None = None
    """The opinion that is to predict, too."""
    by_rankings: Mapping[str, Predicted] | None = None
    """What the rankings alone predict; `predicted` itself unless an opinion predicts, too."""
    topics: Mapping[str, str] = {}
    """The topic of each query."""
    relevant_from: int = 1
    """The smallest grade that counts as relevant."""

    @property
    def opinion(self) -> str:
        """The opinion that predicts besides the rankings; empty without one, or if too few of its answers count."""
        return "" if self.label is None or self.predicted is self.by_rankings else self.label.name

    @property
    def pools(self) -> SampledPools:
        """As what measures runs."""
        return SampledPools(pools_of(self.pi, self.judged, self.predicted, highest=self.highest, weights=self.weights))

    @property
    def weights(self) -> dict[str, Weights] | None:
        """How much the predictions count, by query and kind of measure; None without predictions."""
        if self.predicted is None:
            return None
        return tuned(
            self.pi, self.judged, self.predicted, self.topics, relevant_from=self.relevant_from, highest=self.highest
        )


def sampled_pools(
    snapshot: Snapshot, qrels: Iterable[Qrel], *, unfinished: bool = False, queries: Collection[str] | None = None
) -> SampledPools:
    """The sampled pools. The arguments are those of `drawn_pairs`."""
    return drawn_pairs(snapshot, qrels, unfinished=unfinished, queries=queries).pools


def drawn_pairs(
    snapshot: Snapshot,
    qrels: Iterable[Qrel],
    *,
    unfinished: bool = False,
    queries: Collection[str] | None = None,
    without: str | None = None,
) -> DrawnPairs:
    """The pairs of the queries of which some were drawn, with the probabilities of the draw.

    qrels: only pairs that were drawn count. A pair that nobody can judge has grade 0, as in pools judged whole.
    unfinished: take the drawn pairs with a grade as a random part of those of their query, and leave out queries
    without any; otherwise raise InputError if a drawn pair has no grade yet. queries: None takes all. without: predict
    without the ranks of this method.
    """
    pi, judged = _judged(snapshot, qrels, unfinished=unfinished, queries=queries)
    highest = snapshot.ws.settings.scale.grades[-1]
    label, known, by_rankings = cheap_label_of(snapshot), None, None
    if snapshot.ws.settings.sample.predict == "ranker" and len({snapshot.topics[query_id] for query_id in pi}) > 1:
        pairs = sample_of(snapshot).pairs
        fused = {query_id: {doc_id: pairs[query_id, doc_id].rank for doc_id in of} for query_id, of in pi.items()}
        of_rankings = features_of(snapshot, fused, without=without)
        known = by_rankings = predicted(judged, of_rankings, snapshot.topics, highest=highest)
        if label is not None:
            known = with_opinions(by_rankings, judged, of_rankings, label.said, snapshot.topics, highest=highest)
    relevant_from = snapshot.ws.settings.evaluation.relevant_from
    return DrawnPairs(pi, judged, known, highest, label, by_rankings, snapshot.topics, relevant_from)


def grade_counts(snapshot: Snapshot, part: Collection[Pair] | None = None) -> dict[str, GradeCounts]:
    """By query, the estimated documents of its pool by grade, from the final grades so far.

    part: count these pairs only. Pairs that nobody can judge are left out, as they are of pools judged whole.
    """
    pi, judged = _judged(snapshot, snapshot.outcome.qrels, unfinished=True, queries=None)
    closed = set(snapshot.outcome.unjudgeable)
    found = {}
    for query_id, pool in pools_of(pi, judged, None, highest=snapshot.ws.settings.scale.grades[-1]).items():
        doc_ids = {doc_id for doc_id in pool.doc_ids if (query_id, doc_id) not in closed}
        if part is not None:
            doc_ids = {doc_id for doc_id in doc_ids if (query_id, doc_id) in part}
        if doc_ids:
            found[query_id] = counts_of(pool, doc_ids)
    return found


def _judged(
    snapshot: Snapshot, qrels: Iterable[Qrel], *, unfinished: bool, queries: Collection[str] | None
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """By query, the probabilities of all pairs of its pool, and the grades of those that were drawn.

    The arguments are those of `drawn_pairs`.
    """
    graded = {(qrel.query_id, qrel.doc_id): qrel.relevance for qrel in qrels}
    graded |= dict.fromkeys(snapshot.outcome.unjudgeable, 0)
    planned = {query_id for query_id, _ in snapshot.outcome.planned if queries is None or query_id in queries}
    pi: dict[str, dict[str, float]] = {}
    drawn: dict[str, list[str]] = {}
    judged: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), pair in sample_of(snapshot).pairs.items():
        if query_id in planned:
            pi.setdefault(query_id, {})[doc_id] = pair.probability
            drawn.setdefault(query_id, [])
            judged.setdefault(query_id, {})
            if pair.drawn:
                drawn[query_id].append(doc_id)
                if pair.pair in graded:
                    judged[query_id][doc_id] = graded[pair.pair]
    open_pairs = [
        (query_id, doc_id) for query_id, of in drawn.items() for doc_id in of if doc_id not in judged[query_id]
    ]
    if open_pairs and not unfinished:
        raise InputError(
            f"{counted(len(open_pairs), 'drawn pair')} without a final grade, expected one for each",
            faults=[" ".join(pair) for pair in open_pairs[:SHOWN]],
            hint="finish them and write them with `annot qrels`; `annot evaluate --so-far` measures what there is",
        )
    if open_pairs:
        begun = [query_id for query_id, of in judged.items() if of or not drawn[query_id]]
        judged = {query_id: judged[query_id] for query_id in begun}
        pi = so_far({query_id: pi[query_id] for query_id in begun}, drawn, judged)
    return pi, judged


def sample_of(snapshot: Snapshot) -> PoolSample:
    """The sample on record."""
    assert snapshot.sample is not None
    return snapshot.sample


def features_of(
    snapshot: Snapshot, fused: Mapping[str, Mapping[str, int | None]], *, without: str | None = None
) -> dict[str, dict[str, tuple[float, ...]]]:
    """What the rankings say of each pair. fused: by query, of each document of its pool, the rank in the fusion.

    without: leave out what this method ranked. Documents that came under the sample later, or before it, have ranks
    among themselves: then all of the query are ranked together again.
    """
    topics = {query_id: snapshot.pools[snapshot.topics[query_id]] for query_id in fused}
    ranks = {topic_id: ranks_on_record(pool) for topic_id, pool in snapshot.pools.items()}
    methods = sorted({method for of in ranks.values() for method in of} - {without})
    left = {topic_id: {name: of[name] for name in of if name != without} for topic_id, of in ranks.items()}
    sample = snapshot.sample
    batches = {(one.query_id, one.batch) for one in sample.pairs.values()} if sample else set()
    several = {query_id for query_id, count in Counter(query_id for query_id, _ in batches).items() if count > 1}
    fused = {
        query_id: {doc_id: place.rank for doc_id, place in frozen_ranks(left[topics[query_id].topic_id], of).items()}
        if without is not None or query_id in several
        else of
        for query_id, of in fused.items()
    }
    return {
        query_id: features(
            ranks[topics[query_id].topic_id],
            of,
            methods=methods,
            cited={entry.doc_id for entry in topics[query_id].entries if entry.drawn.method == CITED != without},
        )
        for query_id, of in fused.items()
    }


def with_cost(
    snapshot: Snapshot,
    runs: Mapping[str, Mapping[str, Ranking]],
    given: DrawnPairs,
    evaluated: Evaluated,
    *,
    ties: str,
) -> Evaluated:
    """The evaluation, with what the sample costs on the measure that compares runs, and what an opinion brings."""
    pools = given.pools.pools
    how: dict[str, Any] = {
        "convention": evaluated.convention,
        "relevant_from": evaluated.relevant_from,
        "ties": ties,
        "measures": (evaluated.measure,),
    }
    ours = {
        tag: {query_id: ranking for query_id, ranking in run.items() if query_id in pools} for tag, run in runs.items()
    }
    whole = {tag for tag, run in ours.items() if run.keys() >= pools.keys()} or ours.keys()
    measured = {tag: ours[tag] for tag in sorted(whole)}
    found = estimates(measured, pools, **how)
    sample = sample_of(snapshot)
    drawn = sum(one.drawn and one.query_id in pools for one in sample.pairs.values())
    judged = sum(len(pool.drawn) for pool in pools.values())
    seen = _redrawn(snapshot, measured, given, evaluated, ties=ties)
    cost = SampleCost(
        drawn=drawn,
        pairs=sum(len(pool.doc_ids) for pool in pools.values()),
        share=sample.design.share,
        level=seen.level,
        difference=seen.difference,
        outside=sum(len(run.outside[evaluated.measure]) for run in found.values()),
        floored=len({query_id for run in found.values() for query_id in run.floored[evaluated.measure]}),
        queries=len(pools),
        empty=sum(not pool.relevant(evaluated.relevant_from).found.any() for pool in pools.values()),
        so_far=None if judged == drawn else judged / drawn,
    )
    if given.label is not None:
        alone = found
        if given.opinion:
            alone = estimates(measured, given._replace(predicted=given.by_rankings).pools.pools, **how)
        cost = replace(
            cost,
            opinion=by_opinion(
                given.label.name,
                given.label.model,
                found,
                alone,
                evaluated.measure,
                snapshot.topics,
                pairs=sum(len(given.label.said.get(query_id, ())) for query_id in given.pi) if given.opinion else 0,
                other_texts=sum(query_id in given.pi for query_id, _ in given.label.other_texts),
            ),
        )
    shown = {name for line in evaluated.lines for name in line.values}
    return replace(
        evaluated,
        sampled=cost,
        lines=tuple(replace(line, values=_in_range(line.values)) for line in evaluated.lines),
        notes=(*notes_of(cost, evaluated.measure, shown), *evaluated.notes),
    )


def _in_range(means: Mapping[str, float]) -> dict[str, float]:
    """The means of few queries, of which an estimate of P@k may be below 0 or above 1."""
    return {name: min(1.0, max(0.0, mean)) for name, mean in means.items()}


def _redrawn(
    snapshot: Snapshot, runs: Mapping[str, Run], given: DrawnPairs, evaluated: Evaluated, *, ties: str
) -> Certainty:
    """What the sample does to certainty, on the queries that all runs have: the redraw of `sample_certainty`."""
    family = family_of(evaluated.convention, evaluated.measure)
    names = sorted(set(given.pi).intersection(*(run.keys() for run in runs.values())))
    topics = {query_id: snapshot.topics[query_id] for query_id in names}
    units = len(set(topics.values()))
    if family is None or units < MIN_UNITS:
        few = f"only {counted(units, called().topic)} {verb(units, 'is', 'are')} judged, and {MIN_UNITS} are needed"
        return unknown(Undefined(few if family else f"{evaluated.measure} does not depend on grades"))
    sample = sample_of(snapshot)
    fused = {
        query_id: {doc_id: sample.pairs[query_id, doc_id].rank for doc_id in given.pi[query_id]} for query_id in names
    }
    judged = JudgedQueries(
        grades={query_id: given.judged[query_id] for query_id in names},
        lists={
            query_id: [groups_of(run[query_id], evaluated.convention, ties) for run in runs.values()]
            for query_id in names
        },
        features=features_of(snapshot, fused),
        topics=topics,
        drawn_with=given.pi,
    )
    measured = Measured(
        *family,
        relevant_from=evaluated.relevant_from,
        highest=given.highest,
        predict=given.predicted is not None,
        topics=units,
        level=evaluated.level,
        redraws=redraws_of(len(names)),
        seed=snapshot.ws.settings.seed,
    )
    return certainty(judged, {query_id: {**given.pi[query_id]} for query_id in names}, measured, given.predicted)
