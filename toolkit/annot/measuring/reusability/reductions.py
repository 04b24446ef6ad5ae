"""The runs under fewer grades: how they would rank with smaller pools, and on two halves of the queries.

Smaller pools lack a method, or end at a lesser depth. Two halves of the queries are two studies: do they order the runs
alike, and how often does a difference turn round? Voorhees and Buckley 2002, The Effect of Topic Set Size on Retrieval
Experiment Error, SIGIR.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.records import Pool, Qrel
from annot.base.stats.arrays import Array
from annot.base.stats.clustered import parts_of_mean
from annot.base.stats.seeding import generator
from annot.base.stats.significance import max_t_tests, tau_b_of_rows
from annot.base.stats.values import Undefined, Value

Score = Callable[[Sequence[Qrel]], Mapping[str, Mapping[str, float]]]
"""The measure of each query (by id) of each run, under qrels; every run has every query of the qrels."""

ALPHA = 0.05
PERMUTATIONS = 10_000
SAME_TAU = Undefined("one of the two orders ties all runs")
DIGITS = 12
"""Beyond, means differ by rounding."""


@dataclass(frozen=True, slots=True)
class RankedRuns:
    """The runs under one set of qrels."""

    runs: tuple[str, ...]
    """By name."""
    by_paper: Array
    """Shape (runs, papers): what the queries of a paper add to the mean over all queries."""

    @property
    def means(self) -> Array:
        """Shape (runs,), over queries."""
        return np.asarray(np.round(self.by_paper.mean(axis=1), DIGITS))

    @property
    def ranks(self) -> Array:
        """Shape (runs,), from 1; runs that tie share the best of their ranks."""
        return np.asarray((self.means[:, None] < self.means[None, :]).sum(axis=1) + 1)

    def better(self, *, seed: int) -> frozenset[tuple[str, str]]:
        """(better, worse) of every two runs whose difference holds, as in `annot evaluate`."""
        pairs = list(itertools.combinations(range(len(self.runs)), 2))
        if not pairs:
            return frozenset()
        differences = np.stack([self.by_paper[a] - self.by_paper[b] for a, b in pairs])
        p_values = max_t_tests(differences, alpha=ALPHA, permutations=PERMUTATIONS, seed=seed).p_values
        return frozenset(
            (self.runs[a], self.runs[b]) if difference.sum() > 0 else (self.runs[b], self.runs[a])
            for (a, b), difference, p in zip(pairs, differences, p_values, strict=True)
            if p <= ALPHA
        )


def ranked_runs(values: Mapping[str, Mapping[str, float]], papers: Mapping[str, str]) -> RankedRuns:
    """values: by run, then query. papers: the query paper of each query; its facets share one pool."""
    runs = tuple(sorted(values))
    queries = sorted(values[runs[0]])
    by_query = np.array([[values[run][query_id] for query_id in queries] for run in runs])
    return RankedRuns(runs, parts_of_mean(by_query, [papers[query_id] for query_id in queries]))


def tau(first: RankedRuns, second: RankedRuns) -> Value:
    """Kendall's tau-b between two orders of the same runs."""
    found = float(tau_b_of_rows(first.means[None, :], second.means[None, :])[0])
    return SAME_TAU if np.isnan(found) else found


NOTHING_LEFT = Undefined("no judged document is left")
DEPTHS = (5, 10, 15, 20, 25, 50)


@dataclass(frozen=True, slots=True)
class ChangedRank:
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
    changes: tuple[ChangedRank, ...]
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
    least = {
        (paper_id, entry.doc_id): min(one.rank or 0 for one in (entry.drawn, *entry.also))
        for paper_id, pool in pools.items()
        for entry in pool.entries
    }
    whole = ranked_runs(score(qrels), papers)
    better = whole.better(seed=seed)

    def with_these(name: str, left: Sequence[Qrel]) -> Reduction:
        gone = set(qrels) - set(left)
        # A query without a judged document stays, as one in which nothing is found.
        kept_queries = {one.query_id for one in left}
        silent = [Qrel(one.query_id, one.doc_id, 0) for one in qrels if one.query_id not in kept_queries]
        now = ranked_runs(score([*left, *silent]), papers) if left else None
        after = now.better(seed=seed) if now else frozenset()
        return Reduction(
            name=name,
            lost=len(gone),
            lost_relevant=sum(one.relevance >= relevant_from for one in gone),
            tau=tau(whole, now) if now else NOTHING_LEFT,
            changes=tuple(
                map(
                    ChangedRank,
                    *(whole.runs, whole.means.tolist(), now.means.tolist(), whole.ranks.tolist(), now.ranks.tolist()),
                )
            )
            if now
            else (),
            significant=len(better),
            kept=len(better & after),
            reversed=sum((worse, best) in after for best, worse in better),
        )

    rank_of = {one: least.get((papers[one.query_id], one.doc_id), 0) for one in qrels}
    at_depths = {depth: [one for one in qrels if rank_of[one] <= depth] for depth in DEPTHS}
    return (
        tuple(
            with_these(method, [one for one in qrels if (papers[one.query_id], one.doc_id) not in own])
            for method, own in finds.items()
        ),
        tuple(with_these(str(depth), left) for depth, left in at_depths.items() if len(left) < len(qrels)),
    )


HALVINGS = 1000
BOUNDS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.10, 1.0)
"""Of the difference between two runs in the first half."""
FEWEST_PAPERS = 4


@dataclass(frozen=True, slots=True)
class Swaps:
    """Differences of one size, and how many of them are the other way round in the other half."""

    least: float
    below: float
    differences: int
    swapped: int


@dataclass(frozen=True, slots=True)
class Halves:
    """All halvings together."""

    papers: int
    """In each half."""
    tau: Value
    """Between the orders of the two halves, the mean over the halvings in which neither ties all runs."""
    swaps: tuple[Swaps, ...]


def split_halves(whole: RankedRuns, *, seed: int) -> Halves | None:
    """`HALVINGS` random halvings of the query papers; None with fewer than four papers or two runs.

    With an odd number of papers one is left out of each halving. Two runs that tie in a half are no swap.
    """
    n_runs, papers = whole.by_paper.shape
    half = papers // 2
    if papers < FEWEST_PAPERS or n_runs < 2:
        return None
    draw = generator(seed, "halves")
    orders = np.stack([draw.permutation(papers) for _ in range(HALVINGS)])
    first = whole.by_paper[:, orders[:, :half]].mean(axis=2).T
    second = whole.by_paper[:, orders[:, half : 2 * half]].mean(axis=2).T
    pairs = np.array(list(itertools.combinations(range(n_runs), 2)))
    one = first[:, pairs[:, 0]] - first[:, pairs[:, 1]]
    other = second[:, pairs[:, 0]] - second[:, pairs[:, 1]]
    swapped = one * other < 0
    size = np.abs(one)
    taus = tau_b_of_rows(first, second)
    taus = taus[~np.isnan(taus)]
    return Halves(
        papers=half,
        tau=float(taus.mean()) if len(taus) else SAME_TAU,
        swaps=tuple(
            Swaps(least, below, int(within.sum()), int((swapped & within).sum()))
            for least, below in itertools.pairwise(BOUNDS)
            if (within := (size >= least) & ((size < below) | (below == 1.0))).any()
        ),
    )
