"""Pools, probabilities and predictions with which a sampled study measures runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median

from annot.base.errors import InputError
from annot.base.names import counted, verb
from annot.base.plugins import loaded
from annot.base.records import CITED, Qrel, Ranking, grouped, nested
from annot.base.stats.values import Undefined
from annot.measuring.evaluation import measures
from annot.measuring.evaluation.evaluated import EvaluatedRuns
from annot.measuring.forecast.design import MIN_UNITS
from annot.measuring.forecast.sample import Certainty, JudgedQueries, MeasuredDesign, certainty, redraws_of, unknown
from annot.measuring.sampled import estimates, grades
from annot.pools.pooling import frozen_ranks, ranks_on_record
from annot.store.models import PoolSample
from annot.study.outcome import Pair
from annot.study.snapshot import Snapshot
from annot.study.workspace import SETTINGS_FILE

# ----------------------------------------------------------------------------------------------------------------------
# Answers of a model that predict grades in a sampled study, next to the rankings.
#
# Predictions must not follow from the draw that they correct, nor from the answers of people. So an answer counts
# only if its question was sent before the first judgement of a drawn pair was put on record, and if the model was
# asked about all documents that came under the sample together: to ask about the drawn pairs alone would bias every
# estimate. A topic whose own gold pairs are examples in the prompt is left to the rankings.
#
# If a text is corrected, the first answer still counts: drawn pairs may stay with the earlier version and others not,
# so choosing answers by their texts would bias estimates.
# ----------------------------------------------------------------------------------------------------------------------


Predictor = Callable[[Snapshot, str], estimates.CheapLabel | None]
"""Function of a sampled study and the name of a cheap label: the label, or None if it knows none of this name."""


def cheap_label_of(snapshot: Snapshot) -> estimates.CheapLabel | None:
    """Opinion on record with the sample, and its answers; None if the rankings alone predict.

    Raises InputError if annot.toml names another one.
    """
    assert snapshot.sample is not None
    if faults := snapshot.sample.design.faults_of_label(snapshot.ws.settings.sample.cheap_label):
        raise InputError(
            "the opinion that predicts is not the one that the sample was planned with",
            faults=faults,
            hint=f"restore it in {SETTINGS_FILE}; before judgements are pulled, `annot plan` takes the new one",
        )
    name = snapshot.sample.design.cheap_label
    if name is None:
        return None
    predictors = loaded("predictors", snapshot.ws.settings.plugins.names).values()
    labels = (predictor(snapshot, name) for predictor in predictors)
    return next((label for label in labels if label is not None), estimates.CheapLabel(name, "", {}, frozenset()))


# ----------------------------------------------------------------------------------------------------------------------
# Measurement of runs in a sampled study: its pools, the probabilities of its pairs, and predictions.
# ----------------------------------------------------------------------------------------------------------------------


SHOWN = 5
"""Number of pairs that an error names."""


def drawn_pairs(
    snapshot: Snapshot,
    qrels: Iterable[Qrel],
    *,
    unfinished: bool = False,
    queries: Collection[str] | None = None,
    without: str | None = None,
) -> estimates.DrawnPairs:
    """Pairs of the queries of which some were drawn, with the probabilities of the draw.

    qrels: only pairs that were drawn count. A pair that is unjudgeable has grade 0, as in completely judged pools.
    unfinished: take the drawn pairs with a grade as a random part of those of their query, and leave out queries
    without any; otherwise raise InputError if a drawn pair has no grade yet. queries: None takes all. without: predict
    without the ranks of this method.
    """
    pi, judged = _judged(snapshot, qrels, unfinished=unfinished, queries=queries)
    highest = snapshot.ws.settings.scale.grades[-1]
    label, predictions, by_rankings = cheap_label_of(snapshot), None, None
    if snapshot.ws.settings.sample.predict == "ranker" and len({snapshot.topics[query_id] for query_id in pi}) > 1:
        pairs = sample_of(snapshot).pairs
        fused = {
            query_id: {doc_id: pairs[query_id, doc_id].rank for doc_id in chances} for query_id, chances in pi.items()
        }
        by_ranks = features_of(snapshot, fused, without=without)
        predictions = by_rankings = grades.predicted(judged, by_ranks, snapshot.topics, highest=highest)
        if label is not None:
            predictions = grades.with_opinions(
                by_rankings, judged, by_ranks, label.shares, snapshot.topics, highest=highest
            )
    drawn = estimates.DrawnPairs(pi, judged, predictions, highest, label=label, by_rankings=by_rankings)
    return _weighed(snapshot, drawn, predictions)


def _weighed(
    snapshot: Snapshot, drawn: estimates.DrawnPairs, predictions: Mapping[str, grades.Predicted] | None
) -> estimates.DrawnPairs:
    """Copy with these predictions and their weights; None is without predictions."""
    weights = None
    if predictions is not None:
        relevant_from = snapshot.ws.settings.evaluation.relevant_from
        weights = grades.tuned(
            *(drawn.pi, drawn.judged, predictions, snapshot.topics), relevant_from=relevant_from, highest=drawn.highest
        )
    return replace(drawn, predicted=predictions, weights=weights)


def grade_counts(snapshot: Snapshot, part: Collection[Pair] | None = None) -> dict[str, grades.GradeCounts]:
    """Estimated documents of each query's pool by grade, from the final grades so far.

    part: count these pairs only. Unjudgeable pairs are left out, as they are of completely judged pools.
    """
    pi, judged = _judged(snapshot, snapshot.outcome.qrels, unfinished=True, queries=None)
    closed = set(snapshot.outcome.unjudgeable)
    counts = {}
    for query_id, pool in estimates.pools_of(pi, judged, None, highest=snapshot.ws.settings.scale.grades[-1]).items():
        doc_ids = {doc_id for doc_id in pool.doc_ids if (query_id, doc_id) not in closed}
        if part is not None:
            doc_ids = {doc_id for doc_id in doc_ids if (query_id, doc_id) in part}
        if doc_ids:
            counts[query_id] = grades.counts_of(pool, doc_ids)
    return counts


def _judged(
    snapshot: Snapshot, qrels: Iterable[Qrel], *, unfinished: bool, queries: Collection[str] | None
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Probabilities of all pairs of each query's pool, and the grades of those that were drawn.

    The arguments are those of `drawn_pairs`.
    """
    graded = {(qrel.query_id, qrel.doc_id): qrel.relevance for qrel in qrels}
    graded |= dict.fromkeys(snapshot.outcome.unjudgeable, 0)
    planned = {query_id for query_id, _ in snapshot.outcome.planned if queries is None or query_id in queries}
    pairs = [pair for pair in sample_of(snapshot).pairs.values() if pair.query_id in planned]
    pi = nested((pair.query_id, pair.doc_id, pair.probability) for pair in pairs)
    drawn = grouped((pair.query_id, pair.doc_id) for pair in pairs if pair.drawn)
    judged = {
        query_id: {
            doc_id: graded[query_id, doc_id] for doc_id in drawn.get(query_id, ()) if (query_id, doc_id) in graded
        }
        for query_id in pi
    }
    open_pairs = [(name, doc_id) for name, doc_ids in drawn.items() for doc_id in doc_ids if doc_id not in judged[name]]
    if open_pairs and not unfinished:
        raise InputError(
            f"{counted(len(open_pairs), 'drawn pair')} without a final grade, expected one for each",
            faults=[" ".join(pair) for pair in open_pairs[:SHOWN]],
            hint="finish them and write them with `annot qrels`; `annot evaluate --so-far` measures what there is",
        )
    if open_pairs:
        begun = [query_id for query_id, members in judged.items() if members or query_id not in drawn]
        judged = {query_id: judged[query_id] for query_id in begun}
        pi = estimates.so_far({query_id: pi[query_id] for query_id in begun}, drawn, judged)
    return pi, judged


def sample_of(snapshot: Snapshot) -> PoolSample:
    """Sample on record."""
    assert snapshot.sample is not None
    return snapshot.sample


def features_of(
    snapshot: Snapshot, fused: Mapping[str, Mapping[str, int | None]], *, without: str | None = None
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Features of each pair from the rankings. fused: by query, of each document of its pool, the rank in the fusion.

    without: leave out the ranks of this method. Documents that came under the sample later, or before it, have ranks
    among themselves: then all of the query are ranked together again.
    """
    ranks = {topic_id: ranks_on_record(pool) for topic_id, pool in snapshot.pools.items()}
    methods = sorted({method for by_method in ranks.values() for method in by_method} - {without})
    sample = snapshot.sample
    batches = {(pair.query_id, pair.batch) for pair in sample.pairs.values()} if sample else set()
    several = {query_id for query_id, count in Counter(query_id for query_id, _ in batches).items() if count > 1}
    known = {}
    for query_id, fusion in fused.items():
        pool = snapshot.pools[snapshot.topics[query_id]]
        if without is not None or query_id in several:
            others = {method: docs for method, docs in ranks[pool.topic_id].items() if method != without}
            fusion = {doc_id: place.rank for doc_id, place in frozen_ranks(others, fusion).items()}
        cited = {entry.doc_id for entry in pool.entries if entry.drawn.method == CITED != without}
        known[query_id] = grades.features(ranks[pool.topic_id], fusion, methods=methods, cited=cited)
    return known


def with_cost(
    snapshot: Snapshot,
    runs: Mapping[str, Mapping[str, Ranking]],
    data: estimates.DrawnPairs,
    evaluated: EvaluatedRuns,
    *,
    ties: str,
) -> EvaluatedRuns:
    """Add to the evaluation the cost of the sample on the measure that compares runs, and the effect of an opinion."""
    pools = data.pools.pools
    selection = measures.MeasureSelection(evaluated.convention, (evaluated.measure,), evaluated.relevant_from)
    pooled_runs = {
        tag: {query_id: ranking for query_id, ranking in run.items() if query_id in pools} for tag, run in runs.items()
    }
    complete = {tag for tag, run in pooled_runs.items() if run.keys() >= pools.keys()} or pooled_runs.keys()
    measured = {tag: pooled_runs[tag] for tag in sorted(complete)}
    estimated = estimates.estimates(measured, pools, selection, ties=ties)
    sample = sample_of(snapshot)
    drawn = sum(pair.drawn and pair.query_id in pools for pair in sample.pairs.values())
    judged = sum(len(pool.drawn) for pool in pools.values())
    effect = _redrawn(snapshot, measured, data, evaluated, ties=ties)
    cost = measures.SampleCost(
        drawn=drawn,
        pairs=sum(len(pool.doc_ids) for pool in pools.values()),
        share=sample.design.share,
        level=effect.level,
        difference=effect.difference,
        outside=sum(query.shown(evaluated.measure) is None for run in estimated.values() for query in run.queries),
        floored=len({query_id for run in estimated.values() for query_id in run.floored[evaluated.measure]}),
        queries=len(pools),
        empty=sum(not pool.relevant(evaluated.relevant_from).least.any() for pool in pools.values()),
        bias=effect.bias,
        biased=effect.too_small,
        so_far=None if judged == drawn else judged / drawn,
    )
    if data.label is not None:
        alone = estimated
        if data.opinion:
            alone = estimates.estimates(
                measured, _weighed(snapshot, data, data.by_rankings).pools.pools, selection, ties=ties
            )
        cost = replace(
            cost, opinion=_opinion_effect(data, data.label, estimated, alone, evaluated.measure, snapshot.topics)
        )
    shown = {name for line in evaluated.lines for name in line.values}
    return replace(
        evaluated,
        sampled=cost,
        lines=tuple(replace(line, values=_means_in_range(line.values)) for line in evaluated.lines),
        notes=(*estimates.notes_of(cost, evaluated.measure, shown), *evaluated.notes),
    )


def _opinion_effect(
    data: estimates.DrawnPairs,
    label: estimates.CheapLabel,
    joint: Mapping[str, measures.Evaluation],
    alone: Mapping[str, measures.Evaluation],
    measure: str,
    topics: Mapping[str, str],
) -> measures.OpinionEffect:
    """Effect of the opinion on the intervals. joint, alone: by run, with it and with the rankings alone."""
    both = [
        {tag: {query.query_id: query.values[measure] for query in run.queries} for tag, run in runs.items()}
        for runs in (joint, alone)
    ]
    levels = [[estimates.scatter(values[tag], topics) for values in both] for tag in joint]
    differences = [
        [estimates.scatter({name: values[a][name] - values[b][name] for name in values[a]}, topics) for values in both]
        for a, b in combinations(joint, 2)
    ]
    return measures.OpinionEffect(
        name=label.name,
        model=label.model,
        pairs=sum(len(label.shares.get(query_id, ())) for query_id in data.pi) if data.opinion else 0,
        difference=_wider_by(differences),
        level=_wider_by(levels),
        other_texts=sum(query_id in data.pi for query_id, _ in label.other_texts),
        means={tag: (run.mean[measure], alone[tag].mean[measure]) for tag, run in joint.items()},
    )


def _wider_by(variances: Iterable[Sequence[float | None]]) -> float | None:
    ratios = [math.sqrt(joint / alone) - 1 for joint, alone in variances if joint is not None and alone]
    return median(ratios) if ratios else None


def _means_in_range(means: Mapping[str, float]) -> dict[str, float]:
    """Means of few queries, of which an estimate of P@k may be below 0 or above 1, put into this range."""
    return {name: min(1.0, max(0.0, mean)) for name, mean in means.items()}


def _redrawn(
    snapshot: Snapshot,
    runs: Mapping[str, measures.Run],
    drawn: estimates.DrawnPairs,
    evaluated: EvaluatedRuns,
    *,
    ties: str,
) -> Certainty:
    """Effect of the sample on certainty, on the queries that all runs have, by `forecast.sample.certainty`."""
    family = measures.family_of(evaluated.convention, evaluated.measure)
    names = sorted(set(drawn.pi).intersection(*(run.keys() for run in runs.values())))
    topics = {query_id: snapshot.topics[query_id] for query_id in names}
    units = len(set(topics.values()))
    if family is None or units < MIN_UNITS:
        few = (
            f"only {counted(units, snapshot.words.topic)} {verb(units, 'is', 'are')} judged, and {MIN_UNITS} are needed"
        )
        return unknown(Undefined(few if family else f"{evaluated.measure} does not depend on grades"))
    sample = sample_of(snapshot)
    fused = {
        query_id: {doc_id: sample.pairs[query_id, doc_id].rank for doc_id in drawn.pi[query_id]} for query_id in names
    }
    judged = JudgedQueries(
        grades={query_id: drawn.judged[query_id] for query_id in names},
        lists={
            query_id: [measures.groups_of(run[query_id], evaluated.convention, ties) for run in runs.values()]
            for query_id in names
        },
        features=features_of(snapshot, fused),
        topics=topics,
        drawn_with=drawn.pi,
    )
    measured = MeasuredDesign(
        *family,
        relevant_from=evaluated.relevant_from,
        highest=drawn.highest,
        predict=drawn.predicted is not None,
        topics=units,
        level=evaluated.level,
        redraws=redraws_of(len(names)),
        seed=snapshot.ws.settings.seed,
    )
    return certainty(judged, {query_id: {**drawn.pi[query_id]} for query_id in names}, measured, drawn.predicted)
