"""Ways to judge a share of the pairs of collections that were judged whole, for `sampled_judging.py`.

`sample` is what `annot plan --sample` does. `f at 1` takes predictions at full weight, `f = 0` takes none. `uniform`
draws all pairs with one probability and predicts nothing. `best first` judges the best of the fused ranking. `bandit`
follows MaxMean (Losada, Parapar and Barreiro 2016, Feeling Lucky? Multi-armed Bandits for Ordering Judgements in
Pooling-based Evaluation, SAC). The last two judge as many pairs and count the others as 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from annot.base.stats.inference import generator
from annot.measuring.evaluation.measures import family_of
from annot.measuring.sampled.estimates import Lists, pools_of
from annot.measuring.sampled.grades import PoolGrades, features, pool_grades, predicted, tuned
from annot.pools.pooling import SampleRule, drawn, frozen_ranks, probabilities
from judged_whole import JudgedWhole

HIGHEST = 3
TOPICS = {"Cranfield": 40, "CSFCube": 28}
RULE = SampleRule(seed=0, across="query", floor=0.02, unranked=1.0)
Judged = dict[str, dict[str, int]]
Draw = Callable[["Collection", "Topics", float, int], dict[str, PoolGrades]]


class Topics(NamedTuple):
    """Queries drawn with replacement: each time a query comes it is one of its own."""

    names: list[str]
    query: dict[str, str]
    cluster: np.ndarray
    """Of each name, which drawn topic it is of."""


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
        self.frozen = {one: frozen_ranks(self.ranks[one], of) for one, of in whole.grades.items()}
        self.features = {
            one: features(
                self.ranks[one],
                {doc_id: place.rank for doc_id, place in of.items()},
                methods=whole.methods,
                cited=whole.cited.get(one, ()),
            )
            for one, of in self.frozen.items()
        }
        self.lists = {
            one: Lists.of(
                [[(doc_id,) for doc_id in whole.rankings[name][one]] for name in self.systems], self.known(one)
            )
            for one in self.queries
        }
        self.full = np.stack([self.measured(one, self.known(one))[0] for one in self.queries], axis=-1)

    def known(self, query_id: str, judged: dict[str, int] | None = None) -> PoolGrades:
        """All grades, or those that were judged and 0 for the others."""
        of = self.whole.grades[query_id]
        grades = of if judged is None else dict.fromkeys(of, 0) | judged
        return pool_grades(dict.fromkeys(of, 1.0), grades, None, highest=HIGHEST, query_id=query_id)

    def measured(self, query_id: str, grades: PoolGrades) -> tuple[np.ndarray, list[np.ndarray], bool]:
        """Every measure of every system: shape (M, S); its effects; whether the first measure's ideal was raised."""
        lists, found = replace(self.lists[query_id], grades=grades), []
        for convention, name in self.whole.measures:
            family = family_of(convention, name)
            assert family is not None
            found.append(lists.measured(*family, relevant_from=self.whole.relevant_from))
        return np.stack([one.values for one in found]), [one.effects for one in found], bool(found[0].floored.any())

    def drawn_topics(self, seed: int, count: int = 0) -> Topics:
        """The topics of one redraw; count 0 takes as many as TOPICS says."""
        topics = [*dict.fromkeys(self.whole.topics.values())]
        chosen = generator(seed, "topics").integers(0, len(topics), count or TOPICS[self.whole.name])
        names, query, cluster = [], {}, []
        for at, topic in enumerate(chosen):
            for one in self.queries:
                if self.whole.topics[one] == topics[topic]:
                    names.append(f"{at:02}-{one}")
                    query[names[-1]] = one
                    cluster.append(at)
        return Topics(names, query, np.array(cluster))


def sampled(collection: Collection, topics: Topics, share: float, seed: int, *, predict: str) -> dict[str, PoolGrades]:
    """What `annot plan --sample` draws. predict: `tuned`, `full` for predictions at full weight, or `none`."""
    frozen = {name: collection.frozen[query_id] for name, query_id in topics.query.items()}
    pi = probabilities(frozen, share=share, rule=RULE)
    return _estimated(collection, topics, pi, seed, predict=predict)


def uniform(collection: Collection, topics: Topics, share: float, seed: int) -> dict[str, PoolGrades]:
    """Every pair with the same probability."""
    pi = {name: dict.fromkeys(collection.frozen[one], round(share, 6)) for name, one in topics.query.items()}
    return _estimated(collection, topics, pi, seed, predict="none")


def _estimated(collection, topics: Topics, pi, seed: int, *, predict: str) -> dict[str, PoolGrades]:
    whole = collection.whole
    judged = {
        name: {doc_id: whole.grades[topics.query[name]][doc_id] for doc_id in of}
        for name, of in drawn(pi, seed=seed).items()
    }
    if predict == "none":
        return pools_of(pi, judged, None, highest=HIGHEST)
    known = {name: collection.features[one] for name, one in topics.query.items()}
    # Two copies of a topic are one topic here: neither may predict the other.
    topic_of = {name: whole.topics[one] for name, one in topics.query.items()}
    f = predicted(judged, known, topic_of, highest=HIGHEST)
    weights = None
    if predict == "tuned":
        weights = tuned(pi, judged, f, topic_of, relevant_from=whole.relevant_from, highest=HIGHEST)
    return pools_of(pi, judged, f, highest=HIGHEST, weights=weights)


def best_first(collection: Collection, topics: Topics, share: float, seed: int) -> dict[str, PoolGrades]:
    """The best of the fused ranking."""
    found = {}
    for name, one in topics.query.items():
        of = collection.whole.grades[one]
        order = sorted(of, key=lambda doc_id: (collection.frozen[one][doc_id].rank or 10**6, doc_id))
        found[name] = collection.known(one, {doc_id: of[doc_id] for doc_id in order[: round(share * len(of))]})
    return found


def bandit(collection: Collection, topics: Topics, share: float, seed: int) -> dict[str, PoolGrades]:
    """MaxMean: the next document of the method whose judged documents were relevant most often."""
    found = {}
    for name, one in topics.query.items():
        of, rng = collection.whole.grades[one], generator(seed, "bandit", name)
        left = {method: [doc_id for doc_id in ranks if doc_id in of] for method, ranks in collection.ranks[one].items()}
        won, tried = dict.fromkeys(left, 1.0), dict.fromkeys(left, 2.0)
        judged: dict[str, int] = {}
        while len(judged) < round(share * len(of)):
            left = {
                method: rest for method, docs in left.items() if (rest := [doc for doc in docs if doc not in judged])
            }
            if not left:
                break
            best = max(won[method] / tried[method] for method in left)
            tied = [method for method in left if won[method] / tried[method] == best]
            method = tied[int(rng.integers(len(tied)))]
            doc_id = left[method][0]
            judged[doc_id] = of[doc_id]
            won[method] += of[doc_id] >= collection.whole.relevant_from
            tried[method] += 1
        found[name] = collection.known(one, judged)
    return found


DESIGNS: dict[str, Draw] = {
    "sample": lambda *given: sampled(*given, predict="tuned"),
    "f at 1": lambda *given: sampled(*given, predict="full"),
    "f = 0": lambda *given: sampled(*given, predict="none"),
    "uniform": uniform,
    "best first": best_first,
    "bandit": bandit,
}
