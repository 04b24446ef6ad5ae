"""Certificate of reusability: all figures in one record, and a verdict by a stated rule.

Each pool method is taken for a system that came later. The verdict is care if one of them would lose more of the
measure than is tolerated, with its whole interval; fair if none would, each with its whole interval. An interval above
0 would name every method of every collection: each finds documents that no other does. `benchmarks/reusability.py`
counts how often the rule is right.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean

from annot.base.records import Pool, Qrel, grouped, nested
from annot.base.stats.values import rounding
from annot.measuring.reusability.own_finds import Estimating, Loss, Run, Score, finds_of, losses, ranked_on_record

JUDGED = 0.95
"""Judged share of the first 20 that a run must have to be measured as it is."""

Runs = Mapping[str, Run]


@dataclass(frozen=True, slots=True)
class JudgedShare:
    """Judged share of a run, and the bounds of its score."""

    run: str
    pooled: bool
    """True if a pool method has its name: it brought its own documents in."""
    judged_at_20: float
    as_it_is: float
    """Score with unjudged documents as not relevant: the pessimistic bound."""
    condensed: float
    """Score without the unjudged documents of the ranking (Sakai 2007, Alternatives to Bpref, SIGIR)."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Certificate for measuring systems that did not help to build the collection."""

    verdict: str
    """Verdict: `fair`, `care`, or `unknown`."""
    papers_needed: int | None
    """Approximate number of topics with which it would be known, if their losses were like these; None if it is known,
    or if these are more than `MOST_PAPERS` or not known.
    """
    tolerance: float
    """Tolerated loss."""
    level: float
    """Level at which the lower ends of all losses hold together, and the upper ends."""
    losses: tuple[Loss, ...]
    """Loss of each pool method, the largest first."""
    loss_measure: str
    """Measure of the rankings that the pools were drawn from."""
    measure: str
    """Measure of the runs."""
    queries: int
    papers: int
    """Topics, the units of chance."""
    runs: tuple[JudgedShare, ...]
    """Judged shares by name of the run."""


@dataclass(frozen=True, slots=True)
class SampledCertificate(Certificate):
    """Certificate of a study with a sample: all figures are estimates of the whole pools."""

    left_out: tuple[str, ...]
    """Methods without a ranking: their losses are not estimated."""


@rounding
def certify(
    runs: Runs,
    qrels: Sequence[Qrel],
    pools: Mapping[str, Pool],
    rankings: Runs,
    topics: Mapping[str, str],
    score: Score,
    score_rankings: Score,
    *,
    measure: str,
    loss_measure: str,
    relevant_from: int,
    tolerance: float,
    level: float,
    estimating: Estimating | None = None,
) -> Certificate:
    """Measure the losses and the runs, and give the verdict.

    rankings: those that the pools were drawn from, by method, then topic. topics: the topic of each query. score,
    score_rankings: functions that measure runs, and these rankings. estimating: estimates if a sample was judged; a
    method without a ranking is then taken as it is on record, and a pair of a pool as judged.
    """
    judged: Mapping[str, Collection[str]] = nested(qrels)
    finds = finds_of(pools)
    if estimating is not None:
        judged = grouped(estimating.relevant)
        rankings = {**ranked_on_record(pools), **rankings}
    lost = losses(
        *(finds, rankings, qrels, topics, score_rankings),
        relevant_from=relevant_from,
        tolerance=tolerance,
        level=level,
        estimating=estimating,
    )
    verdict, papers_needed = verdict_of(lost, tolerance=tolerance)
    as_they_are, condensed = score(runs), score(_condensed(runs, judged))
    shares = tuple(
        JudgedShare(
            run,
            pooled=run in finds,
            judged_at_20=_judged_at_20(runs[run], judged),
            as_it_is=mean(as_they_are[run].values()),
            condensed=mean(condensed[run].values()),
        )
        for run in sorted(runs)
    )
    without_loss = tuple(sorted(finds.keys() - {loss.method for loss in lost}))
    kind = Certificate if estimating is None else partial(SampledCertificate, left_out=without_loss)
    return kind(
        verdict=verdict,
        papers_needed=papers_needed,
        tolerance=tolerance,
        level=level,
        losses=lost,
        loss_measure=loss_measure,
        measure=measure,
        queries=len(judged),
        papers=len({topics[query_id] for query_id in judged}),
        runs=shares,
    )


def verdict_of(losses: Sequence[Loss], *, tolerance: float) -> tuple[str, int | None]:
    """Verdict, and the number of topics with which there would be one."""
    undecided = [loss for loss in losses if loss.place == "open"]
    if any(loss.place == "above" for loss in losses):
        return "care", None
    if len(losses) > 1 and not undecided:
        return "fair", None
    # One method above the tolerance would do; to be fair, every one has to be below.
    above = [loss for loss in undecided if loss.loss > tolerance]
    needed = [loss.papers_needed for loss in above or undecided if loss.papers_needed is not None]
    if above:
        return "unknown", min(needed, default=None)
    return "unknown", max(needed, default=None) if len(needed) == len(undecided) else None


def _condensed(runs: Runs, judged: Mapping[str, Collection[str]]) -> Runs:
    return {
        tag: {
            query_id: tuple(doc for doc in ranking if doc.doc_id in judged.get(query_id, ()))
            for query_id, ranking in run.items()
        }
        for tag, run in runs.items()
    }


def _judged_at_20(run: Run, judged: Mapping[str, Collection[str]]) -> float:
    """Mean over the queries of the qrels that the run answers."""
    shares = [
        sum(doc.doc_id in judged[query_id] for doc in run[query_id][:20]) / len(run[query_id][:20])
        for query_id in judged
        if run.get(query_id)
    ]
    return mean(shares) if shares else 0.0
