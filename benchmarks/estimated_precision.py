"""Average precision from a sample of the pools: annot's estimator next to those of the field, at the same cost.

    python benchmarks/estimated_precision.py CRANFIELD CSFCUBE [--share 0.3333] [--redraws 20 60]

Each estimator draws pairs in its own way, and expects as many of each pool as the others:

- `annot`: `annot plan --sample`, with predictions at their tuned weights.
- `infAP` (Yilmaz and Aslam 2006, Estimating Average Precision with Incomplete and Imperfect Judgments, CIKM): pairs are
  drawn at random; the implementation is trec_eval's.
- `xinfAP` (Yilmaz, Kanoulas and Aslam 2008, A Simple and Efficient Sampling Method for Estimating AP and NDCG, SIGIR):
  random pairs of four strata of the fusion's ranks (1 to 10, to 30, to 60 and the rest), of each as many as annot's
  probabilities expect. With one stratum it is infAP, which is asserted.
- `statAP` (Pavlu and Aslam 2007, A Practical Sampling Strategy for Efficient Retrieval Evaluation; the estimator as in
  Carterette, Pavlu, Fang and Kanoulas 2009, Million Query Track 2009 Overview): probabilities follow the average weight
  of a rank in AP over the pooling systems. Pairs are drawn independently, and not in the buckets of the paper.

Prints the largest bias of a system's mean over redraws, its root mean square error, and both of a difference.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytrec_eval
from annot.base.array_files import Array
from annot.base.stats.inference import generator
from annot.measuring.evaluation.measures import family_of
from annot.pools.pooling import probabilities
from command import Command
from judged_whole import JudgedWhole
from sampled_collections import RULE_OF_STUDIES, TOPICS, Collection, Sample, named

EDGES = (10, 30, 60)
"""The last ranks of all strata but the last."""
EPSILON = 1e-5
"""Of infAP and xinfAP, as trec_eval has it."""


class Pool:
    """One query's pool of n documents: what is relevant, and at which rank each system has each document."""

    def __init__(self, whole: JudgedWhole, collection: Collection, pi: dict[str, float], query_id: str) -> None:
        self.query_id, self.doc_ids = query_id, sorted(pi)
        self.relevant = np.array([whole.grades[query_id][doc] >= whole.relevant_from for doc in self.doc_ids])
        self.pi = np.array([pi[doc] for doc in self.doc_ids])
        places = collection.frozen[query_id]
        fused = np.array([places[doc].rank or len(places) for doc in self.doc_ids])
        self.stratum = np.searchsorted(EDGES, fused)
        at = {doc: place for place, doc in enumerate(self.doc_ids)}
        self.ranks = np.zeros((len(collection.systems), len(at)), dtype=int)
        """0 where the system does not have the document."""
        for row, name in enumerate(collection.systems):
            for rank, doc in enumerate(whole.rankings[name][query_id], start=1):
                if doc in at:
                    self.ranks[row, at[doc]] = rank
        self.runs = {
            str(row): {doc: -float(rank) for rank, doc in enumerate(whole.rankings[name][query_id], start=1)}
            for row, name in enumerate(collection.systems)
        }
        methods = [collection.systems.index(name) for name in whole.methods]
        weight = np.mean(
            [
                _of_rank(self.ranks[row], len(whole.rankings[name][query_id]))
                for row, name in zip(methods, whole.methods, strict=True)
            ],
            axis=0,
        )
        self.by_weight = _scaled(np.maximum(weight, weight[weight > 0].min() / 2), float(self.pi.sum()))


def _of_rank(ranks: Array, length: int) -> Array:
    """The weight of a rank in AP: 1 + 1/r + 1/(r + 1) + ... + 1/length (Aslam, Pavlu and Yilmaz 2006, section 3)."""
    tail = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, length + 1)[::-1])])[::-1]
    return np.where(ranks > 0, 1 + tail[np.maximum(ranks, 1) - 1], 0.0)


def _scaled(weights: Array, expected: float) -> Array:
    """Probabilities in proportion to the weights, at most 1, that expect so many pairs."""
    low, high = 0.0, len(weights) / weights.min()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, middle * weights).sum() < expected else (low, middle)
    return np.asarray(np.minimum(1, high * weights))


def inferred(pool: Pool, judged: Array, stratum: Array) -> Array:
    """xinfAP of each system. judged: which documents. With one stratum, infAP."""
    strata = np.unique(stratum)
    sizes = np.array([(stratum == one).sum() for one in strata])
    counts = np.array([(judged & (stratum == one)).sum() for one in strata])
    found = np.array([(judged & pool.relevant & (stratum == one)).sum() for one in strata])
    estimated = np.divide(sizes * found, counts, out=np.zeros(len(strata)), where=counts > 0)
    if not estimated.sum():
        return np.zeros(len(pool.ranks))
    values = []
    for ranks in pool.ranks:
        total = 0.0
        for at, one in enumerate(strata):
            precisions = [
                _precision(pool, ranks, int(ranks[doc]), judged, stratum, strata)
                for doc in np.flatnonzero(judged & pool.relevant & (stratum == one))
            ]
            if precisions:
                total += estimated[at] * float(np.mean(precisions))
        values.append(total / estimated.sum())
    return np.array(values)


def _precision(pool: Pool, ranks: Array, rank: int, judged: Array, stratum: Array, strata: Array) -> float:
    """The expected precision at the rank of a relevant document; 0 if the system does not have it."""
    if rank == 0:
        return 0.0
    above = (ranks > 0) & (ranks < rank)
    hits = 0.0
    for one in strata:
        inside = above & (stratum == one)
        relevant, known = (inside & judged & pool.relevant).sum(), (inside & judged).sum()
        hits += inside.sum() * (relevant + EPSILON) / (known + 2 * EPSILON)
    return (1 + hits) / rank


def inferred_by_trec_eval(pool: Pool, judged: Array) -> Array:
    """infAP of each system. Documents of the pool that are not judged have grade -1."""
    grades = np.where(judged, pool.relevant.astype(int), -1).tolist()
    evaluator = pytrec_eval.RelevanceEvaluator({"q": dict(zip(pool.doc_ids, grades, strict=True))}, {"infAP"})
    return np.array([evaluator.evaluate({"q": run})["q"]["infAP"] for run in pool.runs.values()])


def by_inclusion(pool: Pool, judged: Array) -> Array:
    """statAP of each system: a relevant document itself counts once in the precision at its rank."""
    worth = np.where(judged & pool.relevant, 1 / pool.by_weight, 0.0)
    if not worth.sum():
        return np.zeros(len(pool.ranks))
    chosen = np.flatnonzero(worth)
    ranks, worth = pool.ranks[:, chosen], worth[chosen]
    before = (ranks[:, None, :] < ranks[:, :, None]) & (ranks[:, None, :] > 0)
    precision = np.divide(1 + (before * worth).sum(axis=2), ranks, out=np.zeros(ranks.shape), where=ranks > 0)
    return np.asarray((precision * worth).sum(axis=1) / worth.sum())


def random_of(pool: Pool, stratum: Array, seed: int) -> Array:
    """Which documents are drawn: of each stratum at random as many as expected, at least one."""
    judged = np.zeros(len(pool.doc_ids), dtype=bool)
    rng = generator(seed, "strata", pool.query_id, str(len(np.unique(stratum))))
    for one in np.unique(stratum):
        inside = np.flatnonzero(stratum == one)
        expected = float(pool.pi[inside].sum())
        count = math.floor(expected) + int(rng.random() < expected % 1)
        judged[rng.choice(inside, size=max(1, count), replace=False)] = True
    return judged


def of_annot(collection: Collection, pi: dict[str, dict[str, float]], seed: int) -> Array:
    """The estimate of every query and system, shape (Q, S)."""
    whole = collection.whole
    pools = Sample(collection, {query_id: query_id for query_id in pi}, pi, seed).grades("tuned")
    family = family_of(whole.measures[0][0], "AP")
    assert family is not None
    lists = (replace(collection.lists[query_id], grades=pools[query_id]) for query_id in whole.grades)
    return np.array([each.measured(*family, relevant_from=whole.relevant_from).values for each in lists])


def truth_of(pool: Pool) -> Array:
    """AP of each system."""
    chosen = np.flatnonzero(pool.relevant)
    ranks = pool.ranks[:, chosen]
    before = ((ranks[:, None, :] <= ranks[:, :, None]) & (ranks[:, None, :] > 0)).sum(axis=2)
    return np.asarray(np.where(ranks > 0, before / np.maximum(1, ranks), 0.0).sum(axis=1) / max(1, len(chosen)))


def lines_of(whole: JudgedWhole, share: float, redraws: int) -> None:
    """Print a line for each estimator."""
    collection = Collection(whole)
    pi = probabilities(collection.frozen, share=share, rule=RULE_OF_STUDIES)
    pools = [Pool(whole, collection, pi[query_id], query_id) for query_id in whole.grades]
    truth = np.mean([truth_of(pool) for pool in pools], axis=0)
    alone = [np.zeros(len(pool.doc_ids), dtype=int) for pool in pools]
    once = random_of(pools[0], alone[0], 0)
    assert np.allclose(inferred(pools[0], once, alone[0]), inferred_by_trec_eval(pools[0], once), atol=1e-4)

    def each(estimate: Callable[[int, Pool], Array]) -> Array:
        return np.array([estimate(at, pool) for at, pool in enumerate(pools)])

    estimators: dict[str, Callable[[int], Array]] = {
        "annot": lambda seed: of_annot(collection, pi, seed),
        "infAP": lambda seed: each(lambda at, pool: inferred_by_trec_eval(pool, random_of(pool, alone[at], seed))),
        "xinfAP": lambda seed: each(lambda _, pool: inferred(pool, random_of(pool, pool.stratum, seed), pool.stratum)),
        "statAP": lambda seed: each(
            lambda _, pool: by_inclusion(
                pool, generator(seed, "weights", pool.query_id).random(len(pool.pi)) < pool.by_weight
            )
        ),
    }
    first, second = np.triu_indices(len(truth), 1)
    for name, estimate in estimators.items():
        off = np.array([estimate(seed).mean(axis=0) - truth for seed in range(redraws)])
        apart = off[:, first] - off[:, second]
        figures = [figure for errors in (off, apart) for figure in _summary(errors)]
        print(f"{whole.name:10} {100 * share:3.0f}% {name:7}", *(f"{figure:8.4f}" for figure in figures), flush=True)


def _summary(errors: Array) -> tuple[float, float]:
    """The largest bias, and the root mean square. errors: shape (redraws, systems or pairs of them)."""
    return float(abs(errors.mean(axis=0)).max()), float(np.sqrt((errors**2).mean()))


COMMAND = Command(
    __doc__,
    paths=("cranfield", "csfcube"),
    options={"share": 0.3333, "redraws": [20, 60]},
    smallest="CRANFIELD CSFCUBE --redraws 0 1 --share 0.1",
    seconds=lambda options: 35 + 45 * options.redraws[0] + 12 * options.redraws[1],
)
"""`--redraws` are those of Cranfield and of CSFCube; 0 leaves a collection out."""


def main() -> None:
    options = COMMAND.read()
    print("                          level: bias     rms  diff.: bias    rms")
    for name, redraws in zip(TOPICS, options.redraws, strict=True):
        if redraws:
            lines_of(named(name, options), options.share, redraws)


if __name__ == "__main__":
    main()
