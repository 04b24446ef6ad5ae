"""What the pools would lack without each of their methods, and how much lower that method would then be measured.

A method that is left out is a system that came later: what only it would have brought in is not judged (Zobel 1998, How
Reliable are the Results of Large-Scale Information Retrieval Experiments?, SIGIR). Its own ranking is scored with and
without these finds. All judgements make the ideal order both times: an ideal that shrinks with the finds would hide a
part of the loss, and lift the other systems by as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annot.base.records import CITED, Pool, Qrel, Ranking, ScoredDoc, grouped, nested
from annot.base.stats.clustered import FEWEST_QUERIES, ratio_interval
from annot.base.stats.significance import tau_b_of_rows
from annot.base.stats.values import Interval, Undefined, Value
from annot.pools.pooling import as_of, draw, extended

MOST_PAPERS = 1000
"""No study is advised to have more topics."""
UNJUDGED = "-unjudged"
"""Behind the id of a find that is taken as not judged: it keeps its place."""
Run = Mapping[str, Ranking]
Pair = tuple[str, str]
"""A topic and a document."""
Score = Callable[[Mapping[str, Run]], Mapping[str, Mapping[str, float]]]
"""The measure of each run on each query of the qrels, by their names."""


class Estimating(NamedTuple):
    """How pools are looked at of which a sample was judged. Who drew what stays as it was, with its probabilities."""

    relevant: Mapping[tuple[str, str], float]
    """By query and document of the whole pools, the estimate of whether it is relevant."""
    score_without: Callable[[str], Score]
    """The measure where the grades of pairs that were not drawn are predicted without what this method says of them."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One pool method, and what its ranking would lose as that of a later system."""

    method: str
    ranked: bool
    """Whether it has a ranking. Without one, it is the loss of a system that ranks all judged documents best."""
    alone: int
    """Judged pairs that would not be in the pools without it."""
    alone_relevant: int
    score: float
    without: float
    """The score where its own finds are not judged."""
    rank: int | None
    """Among the rankings of all methods; None without a ranking."""
    rank_without: int | None
    tau: Value
    """Kendall's tau-b between the orders of all rankings with all grades, and with its own finds not judged."""
    loss: float
    interval: Interval | Undefined
    """Over topics, at a level that all methods keep together."""
    place: str
    """Of the loss, beside the tolerance: `above` or `below` with its whole interval, else `open`. A method without
    which no paper loses anything is below."""
    papers_needed: int | None
    """With so many topics the interval would be clear of the tolerance, had they this mean and spread; None if
    these are more than `MOST_PAPERS` or not known."""


def finds_of(pools: Mapping[str, Pool]) -> dict[str, frozenset[Pair]]:
    """By method, the documents that the pools would not have, had they been drawn without it.

    They are drawn again from the ranks on record: the other methods find no document then that is not in the pool. Of
    a pool that does not say how it was drawn, these are the documents that no other method had.
    """
    found: dict[str, set[Pair]] = {method: set() for pool in pools.values() for method in pool.methods}
    for paper_id, pool in pools.items():
        ranks = on_record(pool)
        for method in pool.methods:
            found[method].update((paper_id, doc_id) for doc_id in _lacking(pool, method, ranks))
    return {method: frozenset(own) for method, own in sorted(found.items())}


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
    estimating: Estimating | None = None,
) -> tuple[Loss, ...]:
    """Of each method, the largest loss first. finds: `finds_of`. rankings: by method, then topic.

    topics: the topic of each query. score: how runs are measured. level: with which the lower ends of all
    intervals hold together, and the upper ends (Bonferroni's correction): care and fair are one-sided claims.
    estimating: where a sample was judged. Methods without a ranking have no loss then: the best order of all documents
    follows from the grades, and those of most are not known.
    """
    if estimating is None:
        relevant = {(one.query_id, one.doc_id): float(one.relevance >= relevant_from) for one in qrels}
    else:
        relevant = dict(estimating.relevant)
        finds = {method: own for method, own in finds.items() if method in rankings}
    queries = sorted({query_id for query_id, _ in relevant})
    best = {query_id: _best(qrels, query_id) for query_id in queries}
    runs: dict[str, Run] = {}
    for method, own in finds.items():
        runs[method] = {
            query_id: rankings[method].get(topics[query_id], ()) if method in rankings else best[query_id]
            for query_id in queries
        }
        runs[method + UNJUDGED] = {
            query_id: tuple(
                doc._replace(doc_id=doc.doc_id + UNJUDGED) if (topics[query_id], doc.doc_id) in own else doc
                for doc in ranking
            )
            for query_id, ranking in runs[method].items()
        }
    if estimating is None:
        scored = score(runs)
    else:
        scored = {
            run: of
            for method in finds
            for run, of in estimating.score_without(method)(
                {one: runs[one] for one in (method, method + UNJUDGED)}
            ).items()
        }
    by_query = {run: np.array([of[query_id] for query_id in queries]) for run, of in scored.items()}
    mean = {run: float(of.mean()) for run, of in by_query.items()}
    of_paper = np.unique([topics[query_id] for query_id in queries], return_inverse=True)[1]
    sizes = np.bincount(of_paper).astype(np.float64)

    def rank(method: str, score: float) -> int | None:
        others = (mean[other] for other in finds if other != method and other in rankings)
        return 1 + sum(other > score for other in others) if method in rankings else None

    ranked = [method for method in finds if method in rankings]

    def tau(method: str) -> Value:
        if method not in rankings or len(ranked) < 2:
            return Undefined("it has no ranking" if method not in rankings else "there is no other ranking")
        after = [mean[other + UNJUDGED * (other == method)] for other in ranked]
        value = float(tau_b_of_rows(np.array([[mean[other] for other in ranked]]), np.array([after]))[0])
        return Undefined("all rankings tie") if math.isnan(value) else value

    found = []
    for method, own in finds.items():
        without = method + UNJUDGED
        pairs = [one for one in relevant if (topics[one[0]], one[1]) in own]
        sums = np.bincount(of_paper, weights=by_query[method] - by_query[without]).astype(np.float64)
        loss = float(sums.sum() / sizes.sum())
        interval = ratio_interval(
            sums[:, None], sizes[:, None], level=1 - 2 * (1 - level) / len(finds), unit="query paper", least=-1.0
        )
        place = _place(interval, tolerance, nothing=len(sizes) >= FEWEST_QUERIES and not sums.any())
        spread = float(((sums - loss * sizes) / sizes.mean()).std(ddof=1)) if len(sizes) > 1 else math.nan
        needed = _papers_needed(abs(loss - tolerance), spread, tail=(1 - level) / len(finds))
        found.append(
            Loss(
                method=method,
                ranked=method in rankings,
                alone=len(pairs),
                alone_relevant=max(0, round(math.fsum(relevant[one] for one in pairs))),
                score=mean[method],
                without=mean[without],
                rank=rank(method, mean[method]),
                rank_without=rank(method, mean[without]),
                tau=tau(method),
                loss=loss,
                interval=interval,
                place=place,
                papers_needed=needed if place == "open" else None,
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.loss, one.method)))


def _lacking(pool: Pool, method: str, ranks: Mapping[str, Ranking]) -> frozenset[str]:
    first = as_of(pool, 1)
    if first.per_method is None or first.ranking_depth is None or first.seed is None:
        of_each = {entry.doc_id: {one.method for one in (entry.drawn, *entry.also)} for entry in pool.entries}
        return frozenset(doc_id for doc_id, methods in of_each.items() if methods == {method})
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
            left = extended(left, addition, ranks, excluded=())
    return frozenset(entry.doc_id for entry in pool.entries) - {entry.doc_id for entry in left.entries}


def on_record(pool: Pool) -> dict[str, Ranking]:
    """Of each method's ranking, the documents that are in the pool, in its order."""
    ranks = grouped(
        (one.method, (one.rank, entry.doc_id))
        for entry in pool.entries
        for one in (entry.drawn, *entry.also)
        if one.method != CITED and one.rank is not None
    )
    return {
        method: tuple(ScoredDoc(doc_id, float(-rank)) for rank, doc_id in sorted(own)) for method, own in ranks.items()
    }


def ranked_on_record(pools: Mapping[str, Pool]) -> dict[str, dict[str, Ranking]]:
    """By method, then topic: what `on_record` has of each pool."""
    return nested((method, topic_id, of) for topic_id, pool in pools.items() for method, of in on_record(pool).items())


def _best(qrels: Sequence[Qrel], query_id: str) -> Ranking:
    """The judged documents of the query by grade, those of one grade in a tie."""
    own = [ScoredDoc(one.doc_id, float(one.relevance)) for one in qrels if one.query_id == query_id]
    return tuple(sorted(own, key=lambda doc: -doc.score))


def _place(interval: Interval | Undefined, tolerance: float, *, nothing: bool) -> str:
    if isinstance(interval, Undefined):
        return "below" if nothing else "open"
    return "above" if interval.low > tolerance else "below" if interval.high < tolerance else "open"


def _papers_needed(distance: float, spread: float, *, tail: float) -> int | None:
    """The fewest papers with which half an interval is shorter than `distance`."""
    from scipy.special import stdtrit

    n = np.arange(FEWEST_QUERIES, MOST_PAPERS + 1)
    clear = stdtrit(n - 1, 1 - tail) * spread / np.sqrt(n) < distance
    return int(n[clear][0]) if clear.any() else None
