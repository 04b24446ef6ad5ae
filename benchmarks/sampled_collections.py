"""Collections of which every pair is judged, and samples of their pairs as `annot plan --sample` draws them.

Cranfield and CSFCube come from `judged_whole.py`. The others are made, with few relevant documents and no texts: each
document has a hidden likeness to its question, and each run a score for it. Relevant documents are more like their
question, and runs share part of their errors, as the methods of one program do.
"""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from annot.base.array_files import Array
from annot.base.stats.inference import generator
from annot.measuring.evaluation.measures import family_of
from annot.measuring.sampled.estimates import Lists, pools_of
from annot.measuring.sampled.grades import PoolGrades, features, pool_grades, predicted, tuned, with_opinions
from annot.pools.pooling import FUSION, SampleRule, drawn, frozen_ranks
from judged_whole import JudgedWhole, of_cranfield, of_csfcube
from scipy.special import stdtrit

HIGHEST = 3
TOPICS = {"Cranfield": 40, "CSFCube": 28}
RULE = SampleRule(seed=0, across="query", floor=0.02, unranked=1.0)
RULE_OF_STUDIES = replace(RULE, floor=0.05)
"""As annot.toml has it."""
MADE = {
    f"{name} {pool}": (pool, relevant)
    for name, relevant in (("Few", (1, 4)), ("Mixed", (1, 40)))
    for pool in (25, 50, 100, 200)
}
"""Made collections: documents of a pool, relevant documents of a question, from and to."""
EVERY_QUESTION = "Every"
"""Cranfield with the questions in whose pool nothing is relevant."""
CORPUS = 1500
POOLING = ("m1", "m2", "m3", "m4")
SKILLS = {"m1": 1.0, "m2": 0.8, "m3": 0.6, "m4": 0.9, "strong": 1.8, "like m1": 1.0, "weak": 0.4, "poor": 0.1}
"""By run, how much it knows besides what all know."""
Opinions = Mapping[str, Mapping[str, tuple[float, ...]]]


def named(name: str, options: Namespace, *, topics: int = 150) -> JudgedWhole:
    """The collection of this name. topics: those of a made one."""
    if name in MADE:
        pool, relevant = MADE[name]
        return few_relevant(topics=topics, pool=pool, relevant=relevant)
    if name == "CSFCube":
        return of_csfcube(options.csfcube)
    return of_cranfield(options.cranfield, every_question=name == EVERY_QUESTION)


def few_relevant(
    *, topics: int, pool: int, relevant: tuple[int, int] = (1, 4), highest: int = 1, seed: int = 0
) -> JudgedWhole:
    """Questions with a number of relevant documents in their pool from the first to the second of `relevant`.

    pool: documents of each pool, the best of the fusion of POOLING. highest: the highest grade; relevant is 1 or more.
    """
    grades: dict[str, dict[str, int]] = {}
    rankings: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in SKILLS}
    number = 0
    while len(grades) < topics:
        rng = generator(seed, "question", str(number))
        query_id, number = f"q{number:04}", number + 1
        fewest, most = np.log(relevant[0]), np.log(relevant[1] + 1)
        count = int(np.exp(rng.uniform(fewest, most)))
        likeness = rng.normal(size=CORPUS)
        likeness[:count] += rng.normal(2.2, 0.8, count)
        shared = likeness + rng.normal(0, 0.7, CORPUS)
        scores = {name: shared + skill * likeness + rng.normal(0, 1.0, CORPUS) for name, skill in SKILLS.items()}
        scores["like m1"] = scores["m1"] + rng.normal(0, 0.15, CORPUS)
        ranks = {name: np.argsort(np.argsort(-score)) for name, score in scores.items()}
        fused = sum(1 / (FUSION + 1 + ranks[name]) for name in POOLING)
        chosen = np.argsort(-fused)[:pool]
        ids = [f"d{number:04}" for number in rng.permutation(CORPUS)]
        graded = {ids[doc]: int(rng.integers(1, highest + 1)) if doc < count else 0 for doc in chosen.tolist()}
        if not any(graded.values()):
            continue
        grades[query_id] = dict(sorted(graded.items()))
        for name, rank in ranks.items():
            rankings[name][query_id] = tuple(ids[doc] for doc in np.argsort(rank)[: 2 * pool].tolist())
    return JudgedWhole(
        name=f"Few {pool}",
        grades=grades,
        topics={query_id: query_id for query_id in grades},
        cited={},
        rankings=rankings,
        methods=POOLING,
        relevant_from=1,
        measures=tuple(("trec", name) for name in ("nDCG", "AP", "P@20", "R@20")),
    )


class Topics(NamedTuple):
    """Queries drawn with replacement: each time a query comes it is one of its own."""

    names: list[str]
    query: dict[str, str]
    cluster: Array
    """Number of the drawn topic of each name."""


class Collection:
    """A collection with the lists of its systems, ready to be measured under any grades."""

    def __init__(self, whole: JudgedWhole) -> None:
        self.whole, self.queries, self.systems = whole, [*whole.grades], [*whole.rankings]
        self.ranks = {
            query_id: {
                method: {doc_id: rank for rank, doc_id in enumerate(whole.rankings[method][query_id], start=1)}
                for method in whole.methods
            }
            for query_id in self.queries
        }
        self.frozen = {
            query_id: frozen_ranks(self.ranks[query_id], grades) for query_id, grades in whole.grades.items()
        }
        self.features = {
            query_id: features(
                self.ranks[query_id],
                {doc_id: frozen.rank for doc_id, frozen in ranks.items()},
                methods=whole.methods,
                cited=whole.cited.get(query_id, frozenset()),
            )
            for query_id, ranks in self.frozen.items()
        }
        self.lists = {
            query_id: Lists.of(
                [[(doc_id,) for doc_id in whole.rankings[name][query_id]] for name in self.systems],
                self.known(query_id),
            )
            for query_id in self.queries
        }
        self.full = np.stack([self.measured(query_id, self.known(query_id))[0] for query_id in self.queries], axis=-1)

    def known(self, query_id: str, judged: dict[str, int] | None = None) -> PoolGrades:
        """All grades, or those that were judged and 0 for the others."""
        whole = self.whole.grades[query_id]
        grades = whole if judged is None else dict.fromkeys(whole, 0) | judged
        return pool_grades(dict.fromkeys(whole, 1.0), grades, None, highest=HIGHEST, query_id=query_id)

    def measured(self, query_id: str, grades: PoolGrades) -> tuple[Array, list[Array], bool]:
        """Every measure of every system: shape (M, S); its effects; whether the first measure's ideal was raised."""
        lists, found = replace(self.lists[query_id], grades=grades), []
        for convention, name in self.whole.measures:
            family = family_of(convention, name)
            assert family is not None
            found.append(lists.measured(*family, relevant_from=self.whole.relevant_from))
        return np.stack([each.values for each in found]), [each.effects for each in found], bool(found[0].floored.any())

    def drawn_topics(self, seed: int, count: int = 0) -> Topics:
        """The topics of one redraw; count 0 takes as many as TOPICS says."""
        topics = [*dict.fromkeys(self.whole.topics.values())]
        chosen = generator(seed, "topics").integers(0, len(topics), count or TOPICS[self.whole.name])
        query, clusters = {}, []
        for number, topic in enumerate(chosen):
            for query_id in self.queries:
                if self.whole.topics[query_id] == topics[topic]:
                    query[f"{number:02}-{query_id}"] = query_id
                    clusters.append(number)
        return Topics([*query], query, np.array(clusters))


class Sample:
    """Pairs drawn with these probabilities, and the grades of pools that follow from them.

    query: the query of each name, as a query may come more than once.
    """

    def __init__(self, collection: Collection, query: Mapping[str, str], pi: Mapping[str, dict[str, float]], seed: int):
        self.pi, self.relevant_from = pi, collection.whole.relevant_from
        self.judged = {
            name: {doc_id: collection.whole.grades[query[name]][doc_id] for doc_id in doc_ids}
            for name, doc_ids in drawn(pi, seed=seed).items()
        }
        self.known = {name: collection.features[query_id] for name, query_id in query.items()}
        # Two copies of a topic are one topic here: neither may predict the other.
        self.topics = {name: collection.whole.topics[query_id] for name, query_id in query.items()}

    @cached_property
    def predicted(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """What the rankings predict of each pair."""
        return predicted(self.judged, self.known, self.topics, highest=HIGHEST)

    def grades(
        self, predict: Literal["tuned", "full", "none"], opinions: Opinions | None = None
    ) -> dict[str, PoolGrades]:
        """Pools with predictions at their tuned or full weight, or with none. opinions: predict, too."""
        if predict == "none":
            return pools_of(self.pi, self.judged, None, highest=HIGHEST)
        guesses = self.predicted
        if opinions:
            guesses = with_opinions(guesses, self.judged, self.known, opinions, self.topics, highest=HIGHEST)
        weights = None
        if predict == "tuned":
            weights = tuned(
                self.pi, self.judged, guesses, self.topics, relevant_from=self.relevant_from, highest=HIGHEST
            )
        return pools_of(self.pi, self.judged, guesses, highest=HIGHEST, weights=weights)


def half_widths(values: Array, cluster: Array) -> Array:
    """Half the t interval of the mean over queries whose topics are the sampling units."""
    off = values - values.mean(axis=-1, keepdims=True)
    units: Array = np.zeros((*values.shape[:2], int(cluster.max()) + 1))
    for topic, values_of_query in zip(cluster, np.moveaxis(off, -1, 0), strict=True):
        units[..., topic] += values_of_query
    c, n = units.shape[-1], values.shape[-1]
    return np.asarray(stdtrit(c - 1, 0.975) * np.sqrt(c / (c - 1) * (units**2).sum(axis=-1)) / n)
