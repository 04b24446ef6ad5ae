"""The whole question in one record, and its answer by stated rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.records import Pool, Qrel, Ranking
from annot.reusability.halves import Halves, split_halves
from annot.reusability.reductions import Reduction, reductions
from annot.reusability.scoring import Score, standing
from annot.stats.rounding import rounding

ALIKE = 0.9
"""Two orders of runs with this tau or more are as alike as two assessors make them (Voorhees 2000, Variations in
Relevance Judgments and the Measurement of Retrieval Effectiveness, Information Processing and Management 36)."""
JUDGED = 0.95
"""The judged share of the first 20 that a run must have to be measured as it is."""
KEPT = 0.9
"""The share of significant differences that a smaller pool must keep."""
FEWEST_RUNS = 3

Runs = Mapping[str, Mapping[str, Ranking]]


@dataclass(frozen=True, slots=True)
class JudgedShare:
    """How much of a run is judged, and what the rest may hide."""

    run: str
    pooled: bool
    """Whether a pool method has its name: it brought its own documents in."""
    judged_at_20: float
    as_it_is: float
    """Unjudged documents count as not relevant: the pessimistic bound."""
    condensed: float
    """Unjudged documents are left out of the ranking (Sakai 2007, Alternatives to Bpref, SIGIR)."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Whether the collection can measure systems that did not help to build it."""

    verdict: str
    """`fair`, `care`, or `unknown`."""
    reasons: tuple[str, ...]
    """What stands against it, as names of `REASONS`."""
    measure: str
    queries: int
    papers: int
    """Query papers, the units of chance."""
    runs: tuple[JudgedShare, ...]
    methods: tuple[Reduction, ...]
    depths: tuple[Reduction, ...]
    halves: Halves | None
    assessor_tau: float | None
    """Between the orders under one assessor's grades and the final ones; None where it was not measured."""


REASONS = ("few runs", "few methods", "no differences", "order", "reversed", "significance", "unjudged")


@rounding
def certify(
    runs: Runs,
    qrels: Sequence[Qrel],
    pools: Mapping[str, Pool],
    papers: Mapping[str, str],
    score: Callable[[Runs], Score],
    *,
    measure: str,
    relevant_from: int,
    assessor_tau: float | None,
    seed: int,
) -> Certificate:
    """papers: the query paper of each query. score: how these runs are measured under any qrels."""
    judged: dict[str, set[str]] = {}
    for one in qrels:
        judged.setdefault(one.query_id, set()).add(one.doc_id)
    as_they_are = score(runs)
    whole = standing(as_they_are(qrels), papers)
    condensed = standing(score(_condensed(runs, judged))(qrels), papers)
    methods, depths = reductions(pools, qrels, papers, as_they_are, relevant_from=relevant_from, seed=seed)
    names = {method.name for method in methods}
    shares = tuple(
        JudgedShare(
            run,
            pooled=run in names,
            judged_at_20=_judged_at_20(runs[run], judged),
            as_it_is=float(whole.means[at]),
            condensed=float(condensed.means[at]),
        )
        for at, run in enumerate(whole.runs)
    )
    reasons = tuple(_against(shares, methods))
    unknown = {"few runs", "few methods", "no differences"} & {*reasons}
    return Certificate(
        verdict="unknown" if unknown else "care" if reasons else "fair",
        reasons=reasons,
        measure=measure,
        queries=len(judged),
        papers=whole.by_paper.shape[1],
        runs=shares,
        methods=methods,
        depths=depths,
        halves=split_halves(whole, seed=seed),
        assessor_tau=assessor_tau,
    )


def _against(runs: Sequence[JudgedShare], methods: Sequence[Reduction]) -> Sequence[str]:
    """In the order of `REASONS`."""
    left_out = [method for method in methods if method.lost]
    found = {
        "few runs": len(runs) < FEWEST_RUNS,
        "few methods": len(methods) < 2,
        "no differences": len(methods) > 1 and not any(one.significant for one in methods),
        "order": any(not isinstance(one.tau, float) or one.tau < ALIKE for one in left_out),
        "reversed": any(one.reversed for one in methods),
        "significance": any(one.kept < KEPT * one.significant for one in methods),
        "unjudged": any(run.judged_at_20 < JUDGED for run in runs),
    }
    return [name for name in REASONS if found[name]]


def _condensed(runs: Runs, judged: Mapping[str, Collection[str]]) -> Runs:
    return {
        tag: {
            query_id: tuple(doc for doc in ranking if doc.doc_id in judged.get(query_id, ()))
            for query_id, ranking in run.items()
        }
        for tag, run in runs.items()
    }


def _judged_at_20(run: Mapping[str, Ranking], judged: Mapping[str, Collection[str]]) -> float:
    """The mean over the queries of the qrels that the run answers."""
    shares = [
        sum(doc.doc_id in judged[query_id] for doc in run[query_id][:20]) / len(run[query_id][:20])
        for query_id in judged
        if run.get(query_id)
    ]
    return float(np.mean(shares)) if shares else 0.0
