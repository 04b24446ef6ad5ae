"""Smaller pools: what had been found, and how the runs would stand, without a method or at a lesser depth."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annot.base.records import Pool, Qrel
from annot.base.stats.values import Undefined, Value
from annot.measuring.reusability.scoring import Score, Standing, standing, tau

NOTHING_LEFT = Undefined("no judged document is left")
DEPTHS = (5, 10, 15, 20, 25, 50)


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one run."""

    run: str
    before: float
    after: float
    rank_before: int
    rank_after: int


@dataclass(frozen=True, slots=True)
class Reduction:
    """The study with a smaller pool."""

    name: str
    """The method that is left out, or the depth."""
    lost: int
    """Judged pairs that would not have been judged."""
    lost_relevant: int
    tau: Value
    """Between the runs' orders under all grades and under those left."""
    changes: tuple[Change, ...]
    """By run."""
    significant: int
    """Pairs of runs whose difference is significant under all grades."""
    kept: int
    """Of these, those that are so under the grades left, in the same direction."""
    reversed: int
    """Pairs of runs that are significantly different under both, the other way round."""


def reductions(
    pools: Mapping[str, Pool],
    finds: Mapping[str, Collection[tuple[str, str]]],
    qrels: Sequence[Qrel],
    papers: Mapping[str, str],
    score: Score,
    *,
    relevant_from: int,
    seed: int,
) -> tuple[tuple[Reduction, ...], tuple[Reduction, ...]]:
    """The study without what the pools would lack without each method, by method; and with what the methods have at
    each of `DEPTHS` or above, without the depths that lose nothing.

    A document without a rank (one that the query cites, one that was imported) stays at every depth. pools: by query
    paper. finds: `annot.measuring.reusability.own_finds.finds_of`. papers: the query paper of each query.
    """
    sources = _sources(pools)
    whole = standing(score(qrels), papers)
    better = whole.better(seed=seed)

    def with_these(name: str, left: Sequence[Qrel]) -> Reduction:
        gone = set(qrels) - set(left)
        # A query without a judged document stays, as one in which nothing is found.
        kept_queries = {one.query_id for one in left}
        silent = [Qrel(one.query_id, one.doc_id, 0) for one in qrels if one.query_id not in kept_queries]
        now = standing(score([*left, *silent]), papers) if left else None
        after = now.better(seed=seed) if now else frozenset()
        return Reduction(
            name=name,
            lost=len(gone),
            lost_relevant=sum(one.relevance >= relevant_from for one in gone),
            tau=tau(whole, now) if now else NOTHING_LEFT,
            changes=tuple(_changes(whole, now)) if now else (),
            significant=len(better),
            kept=len(better & after),
            reversed=sum((worse, best) in after for best, worse in better),
        )

    def ranks(one: Qrel) -> Mapping[str, int]:
        return sources.get((papers[one.query_id], one.doc_id), {"": 0})

    at_depths = {depth: [one for one in qrels if min(ranks(one).values()) <= depth] for depth in DEPTHS}
    return (
        tuple(
            with_these(method, [one for one in qrels if (papers[one.query_id], one.doc_id) not in own])
            for method, own in finds.items()
        ),
        tuple(with_these(str(depth), left) for depth, left in at_depths.items() if len(left) < len(qrels)),
    )


def _sources(pools: Mapping[str, Pool]) -> dict[tuple[str, str], dict[str, int]]:
    """The rank at which each method had each pooled document; 0 where it has none."""
    return {
        (paper_id, entry.doc_id): {draw.method: draw.rank or 0 for draw in (entry.drawn, *entry.also)}
        for paper_id, pool in pools.items()
        for entry in pool.entries
    }


def _changes(before: Standing, after: Standing) -> Iterator[Change]:
    for at, run in enumerate(before.runs):
        yield Change(run, float(before.means[at]), float(after.means[at]), int(before.ranks[at]), int(after.ranks[at]))
