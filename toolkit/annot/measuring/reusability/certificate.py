"""The whole question in one record, and its answer by a stated rule.

Each pool method is taken for a system that came later. Care, where one of them would lose more of the measure than is
tolerated, with its whole interval; fair, where none would, each with its whole interval. An interval above 0 would name
every method of every collection: each finds something that no other does. `benchmarks/reusability.py` counts how often
the rule is right.
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
"""The judged share of the first 20 that a run must have to be measured as it is."""

Runs = Mapping[str, Run]


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
    papers_needed: int | None
    """With about so many topics it would be known, were their losses like these; None if it is known, or if
    these are more than `MOST_PAPERS` or not known."""
    tolerance: float
    """Of the loss."""
    level: float
    """With which the lower ends of all losses hold together, and the upper ends."""
    losses: tuple[Loss, ...]
    """Of each pool method, the largest first."""
    loss_measure: str
    """Of the rankings that the pools were drawn from."""
    measure: str
    """Of the runs."""
    queries: int
    papers: int
    """Topics, the units of chance."""
    runs: tuple[JudgedShare, ...]
    """By name."""


@dataclass(frozen=True, slots=True)
class SampledCertificate(Certificate):
    """The same where a sample of the pools was judged: all figures are estimates of the whole pools."""

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
    """rankings: those that the pools were drawn from, by method, then topic. topics: the topic of each
    query. score, score_rankings: how runs, and these rankings, are measured. estimating: where a sample was judged; a
    method whose ranking is not there is then taken as it is on record, and a pair of a pool as judged."""
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
    without_loss = tuple(sorted(finds.keys() - {one.method for one in lost}))
    made = Certificate if estimating is None else partial(SampledCertificate, left_out=without_loss)
    return made(
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
    """The verdict, and with how many topics there would be one."""
    undecided = [one for one in losses if one.place == "open"]
    if any(one.place == "above" for one in losses):
        return "care", None
    if len(losses) > 1 and not undecided:
        return "fair", None
    # One method above the tolerance would do; to be fair, every one has to be below.
    above = [one for one in undecided if one.loss > tolerance]
    needed = [one.papers_needed for one in above or undecided if one.papers_needed is not None]
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
    """The mean over the queries of the qrels that the run answers."""
    shares = [
        sum(doc.doc_id in judged[query_id] for doc in run[query_id][:20]) / len(run[query_id][:20])
        for query_id in judged
        if run.get(query_id)
    ]
    return mean(shares) if shares else 0.0
