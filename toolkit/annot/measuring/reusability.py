"""Tests whether new systems can be scored fairly on the collection."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from annot.base.libraries import special
from annot.base.records import CITED, GROWN, Addition, Pool, Qrel, Ranking, ScoredDoc, grouped, in_order, nested
from annot.base.stats.inference import FEWEST_QUERIES, ratio_interval, tau_b_of_rows
from annot.base.stats.values import Estimate, Interval, Undefined, Value, rounding
from annot.measuring.sampled.estimates import SampledPools
from annot.measuring.sampled.grades import counts_of, together
from annot.pools.pooling import draw, extend, of_version, pool_in_version, ranks_on_record

# ----------------------------------------------------------------------------------------------------------------------
# Leave-one-method-out: documents that the pools would lack without a method, and the score that it would then lose.
#
# A method that is left out is a system that came later: documents that it alone would have brought in are not judged
# (Zobel 1998, How Reliable are the Results of Large-Scale Information Retrieval Experiments?, SIGIR). Its own ranking
# is scored with and without these finds. All judgements make the ideal order both times: an ideal that shrinks with
# the finds would hide a part of the loss, and lift the other systems by as much.
# ----------------------------------------------------------------------------------------------------------------------


MOST_PAPERS = 1000
"""Largest number of topics that a study is advised to have."""
UNJUDGED = "-unjudged"
"""Suffix of the id of a find that is taken as not judged: it keeps its place."""
Run = Mapping[str, Ranking]
Pair = tuple[str, str]
"""A topic and a document."""
Score = Callable[[Mapping[str, Run]], Mapping[str, Mapping[str, float]]]
"""Function from runs to the measure of each run on each query of the qrels, by their names."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Loss of one pool method if its ranking were that of a later system."""

    method: str
    ranked: bool
    """True if it has a ranking. Without one, it is the loss of a system that ranks all judged documents best."""
    alone: int
    """Judged pairs that would not be in the pools without it."""
    alone_relevant: int | Estimate
    """Relevant ones of these pairs: counted, or estimated if a sample was judged."""
    score: float
    without: float
    """Score if its own finds are not judged."""
    rank: int | None
    """Rank among the rankings of all methods; None without a ranking."""
    rank_without: int | None
    tau: Value
    """Kendall's tau-b between the orders of all rankings with all grades, and with its own finds not judged."""
    loss: float
    interval: Interval | Undefined
    """Interval over topics, at a level that all methods keep together."""
    place: str
    """Place of the loss relative to the tolerance: `above` or `below` with its whole interval, else `open`. A method
    without which no paper loses anything is below.
    """
    papers_needed: int | None
    """Number of topics with which the interval would be clear of the tolerance, if they had this mean and spread; None
    if these are more than `MOST_PAPERS` or not known.
    """


def finds_of(pools: Mapping[str, Pool]) -> dict[str, frozenset[Pair]]:
    """Documents, by method, that the pools would not have if they had been drawn without it.

    They are drawn again from the ranks on record: the other methods find no document then that is not in the pool. For
    a pool without a record of its draw, these are the documents that no other method had.
    """
    finds: dict[str, set[Pair]] = {method: set() for pool in pools.values() for method in pool.methods}
    for paper_id, pool in pools.items():
        ranks = on_record(pool)
        for method in pool.methods:
            finds[method].update((paper_id, doc_id) for doc_id in _lacking(pool, method, ranks))
    return {method: frozenset(pairs) for method, pairs in sorted(finds.items())}


def losses(
    finds: Mapping[str, frozenset[Pair]],
    rankings: Mapping[str, Run],
    qrels: Sequence[Qrel],
    topics: Mapping[str, str],
    score: Score,
    *,
    relevant_from: int,
    tolerance: float,
    level: float,
    sampled: SampledPools | None = None,
    score_without: Callable[[str], Score] | None = None,
) -> tuple[Loss, ...]:
    """Loss of each method, the largest first. finds: `finds_of`. rankings: by method, then topic.

    topics: the topic of each query. score: function that measures runs. level: the one at which the lower ends of all
    intervals hold together, and the upper ends (Bonferroni's correction): care and fair are one-sided claims.
    sampled: the whole pools if a sample was judged; the draw stays as it was, with its probabilities. score_without:
    function from a method to that which measures runs with predictions that do not know this method; None is `score`.
    Methods without a ranking have no loss in a sample: the best order of all documents follows from the grades, and
    those of most are not known.
    """
    pooled = _pooled(qrels, sampled)
    if sampled is not None:
        finds = {method: pairs for method, pairs in finds.items() if method in rankings}

    queries = sorted({query_id for query_id, _ in pooled})
    runs = _runs_with_and_without(finds, rankings, qrels, topics, queries)
    scored = score(runs) if score_without is None else _scored_without(finds, runs, score_without)
    by_query = {run: np.array([values[query_id] for query_id in queries]) for run, values in scored.items()}
    mean = {run: float(values.mean()) for run, values in by_query.items()}
    ranked = [method for method in finds if method in rankings]
    paper_of_query = np.unique([topics[query_id] for query_id in queries], return_inverse=True)[1]
    sizes = np.bincount(paper_of_query).astype(np.float64)
    unit = "query" if len(sizes) == len(queries) else "query paper"
    results = []
    for method, own_finds in finds.items():
        without = method + UNJUDGED
        rank, rank_without = _ranks(method, ranked, mean)
        pairs = {(query_id, doc_id) for query_id, doc_id in pooled if (topics[query_id], doc_id) in own_finds}
        sums = np.bincount(paper_of_query, weights=by_query[method] - by_query[without]).astype(np.float64)
        loss = float(sums.sum() / sizes.sum())
        interval = ratio_interval(
            sums[:, None], sizes[:, None], level=1 - 2 * (1 - level) / len(finds), unit=unit, least=-1.0
        )
        place = _place(interval, tolerance, nothing=len(sizes) >= FEWEST_QUERIES and not sums.any())
        spread = float(((sums - loss * sizes) / sizes.mean()).std(ddof=1)) if len(sizes) > 1 else math.nan
        needed = _papers_needed(abs(loss - tolerance), spread, tail=(1 - level) / len(finds))
        results.append(
            Loss(
                method=method,
                ranked=method in rankings,
                alone=len(pairs),
                alone_relevant=_number_relevant(pairs, qrels, sampled, relevant_from, level),
                score=mean[method],
                without=mean[without],
                rank=rank,
                rank_without=rank_without,
                tau=_tau(method, ranked, mean),
                loss=loss,
                interval=interval,
                place=place,
                papers_needed=needed if place == "open" else None,
            )
        )
    return tuple(sorted(results, key=lambda result: (-result.loss, result.method)))


def _pooled(qrels: Sequence[Qrel], sampled: SampledPools | None) -> list[Pair]:
    """Pairs that count as judged: all of the pools if a sample was judged."""
    if sampled is None:
        return [(qrel.query_id, qrel.doc_id) for qrel in qrels]
    return [(query_id, doc_id) for query_id, pool in sampled.pools.items() for doc_id in pool.doc_ids]


def _number_relevant(
    pairs: set[Pair], qrels: Sequence[Qrel], sampled: SampledPools | None, relevant_from: int, level: float
) -> int | Estimate:
    if sampled is None or not pairs:
        return sum(qrel.relevance >= relevant_from and (qrel.query_id, qrel.doc_id) in pairs for qrel in qrels)
    parts = (counts_of(sampled.pools[query_id], doc_ids) for query_id, doc_ids in grouped(pairs).items())
    return together(parts).number(relevant_from, level=level)


def _runs_with_and_without(
    finds: Mapping[str, frozenset[Pair]],
    rankings: Mapping[str, Run],
    qrels: Sequence[Qrel],
    topics: Mapping[str, str],
    queries: Sequence[str],
) -> dict[str, Run]:
    """Runs of the methods, or of the best order of the judged documents for one without a ranking; and the same runs
    with other ids for their finds, so that these are not judged.
    """
    runs: dict[str, Run] = {}
    for method, own_finds in finds.items():
        by_topic = rankings.get(method)
        runs[method] = {
            query_id: _best(qrels, query_id) if by_topic is None else by_topic.get(topics[query_id], ())
            for query_id in queries
        }
        runs[method + UNJUDGED] = {
            query_id: tuple(
                doc._replace(doc_id=doc.doc_id + UNJUDGED) if (topics[query_id], doc.doc_id) in own_finds else doc
                for doc in ranking
            )
            for query_id, ranking in runs[method].items()
        }
    return runs


def _scored_without(
    methods: Iterable[str], runs: Runs, score_without: Callable[[str], Score]
) -> Mapping[str, Mapping[str, float]]:
    scored: dict[str, Mapping[str, float]] = {}
    for method in methods:
        scored |= score_without(method)({name: runs[name] for name in (method, method + UNJUDGED)})
    return scored


def _ranks(method: str, ranked: Sequence[str], mean: Mapping[str, float]) -> tuple[int | None, int | None]:
    """Rank among all rankings, with its finds judged and not; None for a method without a ranking."""
    if method not in ranked:
        return None, None
    others = [mean[other] for other in ranked if other != method]
    with_finds, without = (1 + sum(other > mean[name] for other in others) for name in (method, method + UNJUDGED))
    return with_finds, without


def _tau(method: str, ranked: Sequence[str], mean: Mapping[str, float]) -> Value:
    if method not in ranked or len(ranked) < 2:
        return Undefined("it has no ranking" if method not in ranked else "there is no other ranking")
    after = [mean[other + UNJUDGED * (other == method)] for other in ranked]
    value = float(tau_b_of_rows(np.array([[mean[other] for other in ranked]]), np.array([after]))[0])
    return Undefined("all rankings tie") if math.isnan(value) else value


def _lacking(pool: Pool, method: str, ranks: Mapping[str, Ranking]) -> frozenset[str]:
    first = pool_in_version(pool, 1)
    if first.per_method is None or first.ranking_depth is None or first.seed is None:
        methods_of = {
            entry.doc_id: {drawing.method for drawing in (entry.drawn, *entry.also)} for entry in pool.entries
        }
        return frozenset(doc_id for doc_id, methods in methods_of.items() if methods == {method})
    takes_part = CITED in first.methods and method != CITED
    left = draw(
        {name: ranks.get(name, ()) for name in first.methods if name not in (CITED, method)},
        topic_id=pool.topic_id,
        cited=[entry.doc_id for entry in first.entries if entry.drawn.method == CITED] if takes_part else None,
        cited_outside=None,
        mode=first.mode,
        per_method=first.per_method,
        ranking_depth=first.ranking_depth,
        seed=first.seed,
        without=(),
        excluded=(),
    )
    for addition in pool.additions:
        if addition.method != method:
            of_addition = _rankings_of_new(pool, addition) if addition.method == GROWN else ranks
            left = extend(left, addition, of_addition, excluded=())
    return frozenset(entry.doc_id for entry in pool.entries) - {entry.doc_id for entry in left.entries}


def _rankings_of_new(pool: Pool, addition: Addition) -> dict[str, Ranking]:
    """Rankings of the new documents that came into the pool with a version of the corpus."""
    new = {*addition.documents}
    ranks = {name: tuple(doc for doc in ranking if doc.doc_id in new) for name, ranking in on_record(pool).items()}
    cited = (entry.doc_id for entry in pool.entries if entry.drawn.method == CITED and entry.doc_id in new)
    ranks[CITED] = tuple(ScoredDoc(doc_id, 0.0) for doc_id in cited)
    return {of_version(addition.corpus, name): ranks.get(name, ()) for name in pool.methods}


def on_record(pool: Pool) -> dict[str, Ranking]:
    """Documents of each method's ranking that are in the pool, in its order."""
    return {
        method: in_order((doc_id, float(-rank)) for doc_id, rank in ranks.items())
        for method, ranks in ranks_on_record(pool).items()
    }


def ranked_on_record(pools: Mapping[str, Pool]) -> dict[str, dict[str, Ranking]]:
    """Rankings by method, then topic: those that `on_record` has of each pool."""
    return nested(
        (method, topic_id, ranking) for topic_id, pool in pools.items() for method, ranking in on_record(pool).items()
    )


def _best(qrels: Sequence[Qrel], query_id: str) -> Ranking:
    """Judged documents of the query by grade, those of one grade in a tie."""
    documents = [ScoredDoc(qrel.doc_id, float(qrel.relevance)) for qrel in qrels if qrel.query_id == query_id]
    return tuple(sorted(documents, key=lambda doc: -doc.score))


def _place(interval: Interval | Undefined, tolerance: float, *, nothing: bool) -> str:
    if isinstance(interval, Undefined):
        return "below" if nothing else "open"
    return "above" if interval.low > tolerance else "below" if interval.high < tolerance else "open"


def _papers_needed(distance: float, spread: float, *, tail: float) -> int | None:
    """Least number of papers with which half an interval is shorter than `distance`."""
    n = np.arange(FEWEST_QUERIES, MOST_PAPERS + 1)
    clear = special.stdtrit(n - 1, 1 - tail) * spread / np.sqrt(n) < distance
    return int(n[clear][0]) if clear.any() else None


# ----------------------------------------------------------------------------------------------------------------------
# Certificate of reusability: all figures in one record, and a verdict by a stated rule.
#
# Each pool method is taken for a system that came later. The verdict is care if one of them would lose more of the
# measure than is tolerated, with its whole interval; fair if none would, each with its whole interval. An interval
# above 0 would name every method of every collection: each finds documents that no other does.
# `benchmarks/reusability.py` counts how often the rule is right.
# ----------------------------------------------------------------------------------------------------------------------


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
    """Topics, the sampling units."""
    runs: tuple[JudgedShare, ...]
    """Judged shares by name of the run."""
    left_out: tuple[str, ...] | None
    """Methods without a ranking, whose losses are not estimated; None if whole pools were judged. With a sample, all
    figures are estimates of the whole pools.
    """


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
    sampled: SampledPools | None = None,
    score_without: Callable[[str], Score] | None = None,
) -> Certificate:
    """Measure the losses and the runs, and give the verdict.

    rankings: those that the pools were drawn from, by method, then topic. topics: the topic of each query. score,
    score_rankings: functions that measure runs, and these rankings. sampled, score_without: as in `losses`; with a
    sample, a method without a ranking is taken as it is on record, and a pair of a pool as judged.
    """
    judged = grouped(_pooled(qrels, sampled))
    finds = finds_of(pools)
    if sampled is not None:
        rankings = {**ranked_on_record(pools), **rankings}
    lost = losses(
        *(finds, rankings, qrels, topics, score_rankings),
        relevant_from=relevant_from,
        tolerance=tolerance,
        level=level,
        sampled=sampled,
        score_without=score_without,
    )
    verdict, papers_needed = verdict_of(lost, tolerance=tolerance)
    whole, condensed = score(runs), score(_condensed(runs, judged))
    shares = tuple(
        JudgedShare(
            run,
            pooled=run in finds,
            judged_at_20=_judged_at_20(runs[run], judged),
            as_it_is=mean(whole[run].values()),
            condensed=mean(condensed[run].values()),
        )
        for run in sorted(runs)
    )
    return Certificate(
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
        left_out=None if sampled is None else tuple(sorted(finds.keys() - {loss.method for loss in lost})),
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
