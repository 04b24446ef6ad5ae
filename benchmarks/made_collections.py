"""Collections whose true means are known: each topic has a pool without texts, and runs rank it.

A run scores a document by noise, part of it common to all runs, and a relevant one by its strength, the difficulty of
the topic (facets of a paper share most of it) and that of the document. Designs differ in the number of relevant
documents, in pools, and in strengths; each has two near copies of runs. In a burst, documents are near-duplicates: all
of them are relevant or none is, and a run ranks them next to each other. A run from outside ranks documents that are in
no pool; they count as not relevant.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from annot.base.array_files import Array
from annot.base.records import Qrel, ScoredDoc
from annot.measuring.evaluation.measures import JudgedWhole as JudgedPools
from annot.measuring.evaluation.measures import MeasureSelection
from judged_whole import JudgedWhole, of_cranfield, of_csfcube

AT_ONCE = 500
"""Topics that are drawn at a time."""
COPY_NOISE = 0.1
"""The share of a copy's score that is its own, as a standard deviation; a run's own noise has 1."""


@dataclass(frozen=True)
class Collection:
    """What runs reach on every topic of a large population."""

    name: str
    values: Mapping[str, Array]
    """By measure, shape (runs, topics)."""
    best: Mapping[str, Array]
    """By measure, shape (topics,): of the best order."""
    relevant: Array
    """Shape (topics,)."""
    copies: frozenset[tuple[int, int]] = frozenset()
    """Pairs of runs that are near copies."""


@dataclass(frozen=True)
class Design:
    """How a collection is made.

    documents: of a topic. fewest, most: relevant documents of a topic. burst: near-duplicates in a burst, at most; 0
    for none. depth: the best documents of each run that make the pool; 0 for all documents.
    """

    name: str
    documents: int
    fewest: int
    most: int
    strengths: tuple[float, ...]
    topic_spread: float = 0.7
    burst: int = 0
    depth: int = 0


WEAK = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
STRONG = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.2)
DESIGNS = (
    Design("1-4 relevant", 169, 1, 4, WEAK),
    Design("1-4 relevant, weaker runs", 169, 1, 4, (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75), topic_spread=1.0),
    Design("1-4 relevant, strong runs", 169, 1, 4, STRONG),
    Design("1-4 relevant, pools of 400", 400, 1, 4, (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5)),
    Design("bursts of near-duplicates", 300, 1, 4, WEAK, burst=15),
    Design("a run from outside the pool", 600, 1, 4, (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 1.25), depth=60),
    Design("5-15 relevant", 169, 5, 15, STRONG),
    Design("10-60 relevant", 169, 10, 60, STRONG),
)
COPIED = (3, 5)
"""Places of the runs that have a near copy. The copies follow the runs; the last run before them is from outside."""


def made(design: Design, *, topics: int, seed: int, facets: int = 1) -> Collection:
    """A collection of this design. facets: topics that follow each other and share most of their difficulty."""
    rng = np.random.default_rng(seed)
    at_once = AT_ONCE // facets * facets
    lots = [_lot(design, min(at_once, topics - start), facets, rng) for start in range(0, topics, at_once)]
    relevant = np.concatenate([of_lot for _, _, of_lot in lots])
    kept = relevant > 0
    runs = len(design.strengths)
    return Collection(
        design.name,
        {name: np.concatenate([values[name] for values, _, _ in lots], axis=1)[:, kept] for name in lots[0][0]},
        {name: np.concatenate([best[name] for _, best, _ in lots])[kept] for name in lots[0][1]},
        relevant[kept],
        frozenset((place, runs + at) for at, place in enumerate(COPIED)),
    )


def _lot(
    design: Design, topics: int, facets: int, rng: np.random.Generator
) -> tuple[dict[str, Array], dict[str, Array], Array]:
    shape, place = (topics, design.documents), np.arange(design.documents)
    relevant, cluster = _relevant_and_clusters(design, topics, rng)

    def noise(scale: float) -> Array:
        """The same for all documents of a burst."""
        return np.take_along_axis(rng.normal(0, scale, shape), cluster, axis=1)

    common = np.sqrt(0.3) * noise(1.0)
    of_topic = rng.normal(0, design.topic_spread, (topics, 1))
    if facets > 1:
        of_paper = rng.normal(0, design.topic_spread, (topics // facets, 1))
        of_topic = np.sqrt(0.7) * np.repeat(of_paper, facets, axis=0) + np.sqrt(0.3) * of_topic
    ease = relevant * (of_topic + noise(0.7))
    of_runs = [noise(1.0) + rng.normal(0, 0.05 if design.burst else 0, shape) for _ in design.strengths]
    of_runs += [of_runs[place] + rng.normal(0, COPY_NOISE, shape) for place in COPIED]
    strengths = [*design.strengths, *(design.strengths[place] for place in COPIED)]
    scores = [
        common + np.sqrt(0.7) * of_run + ease + relevant * strength
        for of_run, strength in zip(of_runs, strengths, strict=True)
    ]
    grades = np.where(relevant, np.take_along_axis(rng.integers(1, 4, shape), cluster, axis=1), 0)
    if design.depth:
        pooled = np.zeros(shape, dtype=bool)
        for of_run in [scores[at] for at in range(len(scores)) if at != len(design.strengths) - 1]:
            top = np.argpartition(-of_run, design.depth, axis=1)[:, : design.depth]
            np.put_along_axis(pooled, top, True, 1)
        grades = np.where(pooled, grades, 0)
    orders = [np.take_along_axis(grades, np.argsort(-of_run, axis=1), axis=1) for of_run in scores]
    best = -np.sort(-grades, axis=1)
    measured = [measures(order, best, place) for order in orders]
    values = {name: np.stack([of_run[name] for of_run in measured]) for name in measured[0]}
    return values, measures(best, best, place), (grades > 0).sum(axis=1)


def _relevant_and_clusters(design: Design, topics: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Which documents are relevant, and the first document of each one's burst: shape (topics, documents)."""
    place = np.arange(design.documents)
    counts = rng.integers(design.fewest, design.most + 1, topics)[:, None]
    cluster = np.tile(place, (topics, 1))
    if not design.burst:
        return place < counts, cluster
    # The first relevant document of every second topic has near-duplicates, and so has one that is not relevant.
    copies = rng.integers(2, design.burst + 1, (topics, 1)) * (rng.random((topics, 1)) < 0.5)
    relevant = place < counts + copies
    others = place >= design.documents - rng.integers(2, design.burst + 1, (topics, 1))
    cluster = np.where(relevant & (place >= counts), 0, cluster)
    return relevant, np.where(others, design.documents - 1, cluster)


def measures(order: Array, best: Array, place: Array) -> dict[str, Array]:
    """Of each row, the grades in the order of a run; as trec_eval has them."""
    hits, relevant = order > 0, np.maximum(1, (best > 0).sum(axis=1))
    discounts = 1 / np.log2(place + 2)
    ideal = best @ discounts
    return {
        "AP": ((hits.cumsum(axis=1) / (place + 1)) * hits).sum(axis=1) / relevant,
        "nDCG": (order @ discounts) / np.where(ideal > 0, ideal, 1),
        "P@20": hits[:, :20].sum(axis=1) / 20,
        "R@20": hits[:, :20].sum(axis=1) / relevant,
        "Rprec": (hits & (place < relevant[:, None])).sum(axis=1) / relevant,
    }


def beta_like(*, topics: int, seed: int) -> Iterator[Collection]:
    """Values that are drawn, as of topics with ten relevant documents: middling, low, and many at the greatest."""
    rng = np.random.default_rng(seed)
    at_end = np.where(rng.random((1, topics)) < 0.6, 1, rng.uniform(0.2, 1, (1, topics)))
    drawn = {
        "beta(6, 4)": rng.beta(6, 4, (1, topics)),
        "beta(1, 6)": rng.beta(1, 6, (1, topics)),
        "six of ten are 1": at_end,
    }
    for name, values in drawn.items():
        yield Collection(name, {"any": values}, {"any": np.ones(topics)}, np.full(topics, 10))


def judged(cranfield: Path | None, csfcube: Path | None) -> Iterator[Collection]:
    """Two collections of texts, whose topics are drawn again and again."""
    if cranfield:
        yield _of_judged(of_cranfield(cranfield))
    if csfcube:
        yield _of_judged(of_csfcube(csfcube))


def _of_judged(whole: JudgedWhole) -> Collection:
    qrels = (Qrel(query_id, *judged) for query_id, of_query in whole.grades.items() for judged in of_query.items())
    judged_pools = JudgedPools(tuple(qrels), ())
    best: Mapping[str, Sequence[str]] = {
        query_id: sorted(grades, key=grades.__getitem__, reverse=True) for query_id, grades in whole.grades.items()
    }
    orders: list[Mapping[str, Sequence[str]]] = [best, *whole.rankings.values()]
    convention = whole.measures[0][0]
    names = tuple(name for _, name in whole.measures)
    of_systems = [
        judged_pools.measured(
            {
                query_id: [ScoredDoc(doc_id, -float(rank)) for rank, doc_id in enumerate(ranking)]
                for query_id, ranking in rankings.items()
            },
            judged_pools.query_ids,
            MeasureSelection(convention, names, whole.relevant_from),
            ties="order",
        ).queries
        for rankings in orders
    ]
    values = {name: np.array([[query.values[name] for query in of] for of in of_systems]) for name in names}
    return Collection(
        whole.name,
        {name: of_measure[1:] for name, of_measure in values.items()},
        {name: of_measure[0] for name, of_measure in values.items()},
        np.array([query.relevant for query in of_systems[0]]),
    )
