"""Runs measured on sampled pools: estimates for the whole pools, in the form of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.errors import InputError
from annot.base.names import check_name
from annot.base.records import ScoredDoc
from annot.base.scored import as_trec_eval
from annot.measuring.evaluation.computed import JUDGED_AT, Run, knows, ties_of
from annot.measuring.evaluation.gradings import MEASURES, family_of
from annot.measuring.evaluation.measures import CONVENTIONS, EstimatedMeasures, Evaluation, check_run
from annot.measuring.sampled.counts import counts_of
from annot.measuring.sampled.grades import KINDS, PoolGrades, Predicted, Weights, pool_grades
from annot.measuring.sampled.lists import Estimates, Lists

WITHOUT_ESTIMATOR = {
    "Rprec": "its cut is at the number of relevant documents, which a sample does not tell",
    "RP@last": "the rank of the last relevant document is not known from a sample",
}
OTHERS = "ir_measures counts judged documents only, and there is no estimator for the pairs that were not drawn"


@dataclass(frozen=True, slots=True)
class SampledEvaluation:
    """Estimates of one run in one convention."""

    evaluation: Evaluation
    """Evaluation in the form of one on completely judged pools. `relevant` is rounded. `unjudged` and `judged_at_20`
    are about the pool, which includes the pairs that were not drawn. A query has no relevant document if no drawn one
    is relevant.
    """
    outside: dict[str, tuple[str, ...]]
    """Queries, by measure, whose estimate cannot be the true value by the grades that are known. It stays in the mean
    and is not shown.
    """
    floored: dict[str, tuple[str, ...]]
    """Queries, by measure, whose ideal or number of relevant documents was estimated below the least it can be."""


def pools_of(
    pi: Mapping[str, Mapping[str, float]],
    judged: Mapping[str, Mapping[str, int]],
    predicted: Mapping[str, Predicted] | None,
    *,
    highest: int,
    weights: Mapping[str, Weights] | None = None,
) -> dict[str, PoolGrades]:
    """Pool of each query, for `estimates`. The arguments are those of `pool_grades`, by query.

    A pair that is closed without a grade counts as grade 0 here, as in pools that are judged completely.
    """
    faults: list[str] = []
    pools: dict[str, PoolGrades] = {}
    for query_id in sorted(pi):
        predictions = None if predicted is None else predicted.get(query_id, {})
        try:
            pools[query_id] = pool_grades(
                pi[query_id],
                judged.get(query_id, {}),
                predictions,
                highest=highest,
                query_id=query_id,
                weights=None if weights is None else weights[query_id],
            )
        except InputError as error:
            faults += [f"{query_id} {fault}" for fault in error.faults]
    if faults:
        raise InputError("the sample cannot be used", faults=faults)
    return pools


def so_far(
    pi: Mapping[str, Mapping[str, float]], drawn: Mapping[str, Sequence[str]], judged: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """Probabilities that pairs were drawn and are finished, as if chance had picked each query's finished pairs.

    Each is multiplied by the share of its query's drawn pairs that have a grade. Print this assumption with the
    figures.
    """
    probabilities: dict[str, dict[str, float]] = {}
    for query_id, pi_of_query in pi.items():
        doc_ids = drawn.get(query_id, ())
        rate = len(judged.get(query_id, {}).keys() & {*doc_ids}) / len(doc_ids) if doc_ids else 1.0
        if not rate:
            raise InputError(f"{query_id}: none of its {len(doc_ids)} drawn pairs has a grade yet")
        probabilities[query_id] = {doc_id: chance * rate for doc_id, chance in pi_of_query.items()}
    return probabilities


def columns(convention: str, wishes: Sequence[str] = ()) -> tuple[str, ...]:
    """Measures to show: those of the convention that have an estimator, and `wishes`.

    Raises InputError with a reason for each measure in `wishes` that has no estimator.
    """
    check_name(convention, CONVENTIONS, what="convention")
    faults = []
    for name in (name for name in wishes if knows(convention, name) and not has_estimator(convention, name)):
        family = family_of(convention, name)
        faults.append(f"{name}: {WITHOUT_ESTIMATOR[family[0].kind] if family else OTHERS}")
    if faults:
        raise InputError(
            "measures that cannot be estimated from a sample",
            faults=faults,
            hint="measures that can: P@k, R@k, NDCG, AP",
        )
    shown = (name for name in MEASURES[convention] if has_estimator(convention, name))
    return tuple(dict.fromkeys((*shown, *(name for name in wishes if knows(convention, name)))))


def estimates(
    runs: Mapping[str, Run],
    pools: Mapping[str, PoolGrades],
    *,
    convention: str,
    relevant_from: int,
    ties: str,
    measures: Sequence[str] = (),
) -> dict[str, SampledEvaluation]:
    """Measure runs on the queries of `pools` (`pools_of`); the other arguments are those of `measures.evaluate`.

    Raises InputError as that does, and for measures without an estimator.
    """
    names = columns(convention, measures)
    for run in runs.values():
        check_run(run)
    values: dict[tuple[str, str], Estimates] = {}
    for query_id, pool in pools.items():
        lists = Lists.of([groups_of(run.get(query_id, ()), convention, ties) for run in runs.values()], pool)
        values |= {(query_id, name): _measured(lists, convention, name, relevant_from) for name in names}
    return {
        tag: _sampled_evaluation(row, run, pools, values, relevant_from) for row, (tag, run) in enumerate(runs.items())
    }


def has_estimator(convention: str, name: str) -> bool:
    """True if there is an estimator of the measure."""
    family = family_of(convention, name)
    return JUDGED_AT.fullmatch(name) is not None or (family is not None and family[0].kind in KINDS)


def groups_of(docs: Sequence[ScoredDoc], convention: str, ties: str) -> list[tuple[str, ...]]:
    """Documents of a list for `Lists`, those that tie together."""
    if ties == "expected":
        return [tuple(doc.doc_id for doc in group) for group in ties_of(docs, convention)]
    return [(doc.doc_id,) for doc in (as_trec_eval(docs) if convention == "trec" else docs)]


def _measured(lists: Lists, convention: str, name: str, relevant_from: int) -> Estimates:
    if match := JUDGED_AT.fullmatch(name):
        share = lists.in_pool(int(match[1]))
        nothing = np.zeros(len(share), dtype=np.bool_)
        return Estimates(share, np.zeros((len(share), 1)), nothing, nothing)
    member = family_of(convention, name)
    assert member is not None, name
    return lists.measured(*member, relevant_from=relevant_from)


def _sampled_evaluation(
    row: int,
    run: Run,
    pools: Mapping[str, PoolGrades],
    values: Mapping[tuple[str, str], Estimates],
    relevant_from: int,
) -> SampledEvaluation:
    value_of = {key: float(estimates_of_query.values[row]) for key, estimates_of_query in values.items()}
    names = dict.fromkeys(name for _, name in value_of)
    queries = tuple(
        _query(
            query_id,
            run.get(query_id, ()),
            pool,
            {name: value_of[query_id, name] for name in names},
            tuple(name for name in names if values[query_id, name].impossible[row]),
            relevant_from,
        )
        for query_id, pool in pools.items()
    )
    return SampledEvaluation(
        evaluation=Evaluation(
            queries=queries,
            mean={
                name: min(1.0, max(0.0, math.fsum(query.values[name] for query in queries) / len(queries)))
                for name in names
            },
            not_submitted=tuple(query.query_id for query in queries if not query.submitted),
            without_relevant=tuple(
                query_id for query_id, pool in pools.items() if not pool.relevant(relevant_from).found.any()
            ),
        ),
        outside={name: tuple(key for key in pools if values[key, name].impossible[row]) for name in names},
        floored={name: tuple(key for key in pools if values[key, name].floored[row]) for name in names},
    )


def _query(
    query_id: str,
    docs: Sequence[ScoredDoc],
    pool: PoolGrades,
    values: dict[str, float],
    impossible: tuple[str, ...],
    relevant_from: int,
) -> EstimatedMeasures:
    counts = counts_of(pool)
    submitted, pooled = {doc.doc_id for doc in docs}, {*pool.doc_ids}
    top = [doc.doc_id in pooled for doc in docs[:20]]
    return EstimatedMeasures(
        query_id=query_id,
        values=values,
        submitted=len(docs),
        relevant=round(float(counts.possible(counts.estimated)[relevant_from - 1])),
        unjudged=len(submitted - pooled),
        judged_at_20=sum(top) / len(top) if top else 0.0,
        missing=tuple(sorted(pooled - submitted)),
        impossible=impossible,
    )
