"""The probability of each grade of every pair, predicted from where the rankings have its document.

A ridge regression of each grade's indicator on features of the rankings, learned from the drawn pairs of other topics:
a topic's own grades never make its predictions, so that what is predicted does not follow from the draw that it
corrects. A good prediction makes intervals narrower; a bad one leaves estimates without bias.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from annot.base.stats.arrays import Array

FOLDS = 10
"""Topics are split into so many parts, or fewer if there are fewer topics; each part is predicted from the others."""
DIGITS = 6
"""Decimals of a probability, which is used as it is written."""
STRENGTH = 10.0
"""Of the ridge, on features that are scaled to a deviation of 1."""

Features = Mapping[str, Mapping[str, Sequence[float]]]
"""By query, then document: the same number of features each."""
Grades = Mapping[str, Mapping[str, int]]
"""By query, then document."""


def features(
    ranks: Mapping[str, Mapping[str, int]],
    fused: Mapping[str, int | None],
    *,
    methods: Sequence[str],
    cited: Collection[str],
) -> dict[str, tuple[float, ...]]:
    """What the rankings say about each document of one pool.

    ranks: by method, then document. fused: the rank in the fusion of every document of the pool. methods: their ranks
    are used, and they are the same for all pools.
    """
    found = {}
    for doc_id, rank in fused.items():
        own = [ranks.get(method, {}).get(doc_id) for method in methods]
        found[doc_id] = (
            *(0.0 if one is None else 1 / one for one in own),
            *(0.0 if one is None else 1 / (10 + one) for one in own),
            *(float(one is not None) for one in own),
            0.0 if rank is None else math.log(rank),
            0.0 if rank is None else 1 / rank,
            float(rank is not None),
            float(doc_id in cited),
        )
    return found


def predicted(
    judged: Grades, known: Features, topics: Mapping[str, str], *, highest: int
) -> dict[str, dict[str, tuple[float, ...]]]:
    """The probability of each grade from 0 to `highest`, by query and document of `known`.

    judged: the grades of the drawn pairs. topics: the topic of each query. If there is only one topic, grade 0 is
    predicted for all.
    """
    from sklearn.linear_model import Ridge

    names = sorted({topics[query_id] for query_id in known})
    count = min(FOLDS, len(names))
    fold = {topic: at % count for at, topic in enumerate(names)}
    pairs = [(query_id, doc_id) for query_id in sorted(known) for doc_id in sorted(known[query_id])]
    x = np.array([known[query_id][doc_id] for query_id, doc_id in pairs], dtype=np.float64)
    fold_of = np.array([fold[topics[query_id]] for query_id, _ in pairs])
    grade = np.array([judged.get(query_id, {}).get(doc_id, -1) for query_id, doc_id in pairs])
    y = (grade[:, None] == np.arange(1, highest + 1)).astype(np.float64)
    found = np.zeros((len(pairs), highest))
    for at in range(count):
        learned, own = (grade >= 0) & (fold_of != at), fold_of == at
        if not learned.any() or not own.any():
            continue
        middle, spread = x[learned].mean(axis=0), x[learned].std(axis=0)
        scaled = (x - middle) / np.where(spread > 0, spread, 1.0)
        found[own] = Ridge(alpha=STRENGTH).fit(scaled[learned], y[learned]).predict(scaled[own]).reshape(-1, highest)
    of_grades = _as_probabilities(found)
    result: dict[str, dict[str, tuple[float, ...]]] = {query_id: {} for query_id in sorted(known)}
    for (query_id, doc_id), row in zip(pairs, of_grades.tolist(), strict=True):
        result[query_id][doc_id] = tuple(row)
    return result


def with_opinions(
    alone: dict[str, dict[str, tuple[float, ...]]],
    judged: Grades,
    known: Features,
    said: Features,
    topics: Mapping[str, str],
    *,
    highest: int,
) -> dict[str, dict[str, tuple[float, ...]]]:
    """`predicted` with what a model said as further features, calibrated by the grades of other topics.

    alone: what the rankings predict by themselves, which stays where there is no opinion. said: the features of the
    pairs with an opinion. If these are of one topic only, nothing can be calibrated, and `alone` itself comes back.
    """
    if len({topics[query_id] for query_id, of in said.items() if query_id in known and of}) < 2:
        return alone
    both = {
        query_id: {doc_id: (*features, *said[query_id][doc_id]) for doc_id, features in of.items() if doc_id in own}
        for query_id, of in known.items()
        if (own := said.get(query_id))
    }
    by_both = predicted(judged, both, topics, highest=highest)
    return {query_id: of | by_both.get(query_id, {}) for query_id, of in alone.items()}


def _as_probabilities(of_grades: Array) -> Array:
    """Each from 0 to 1, their sum 1, grade 0 first, rounded as they are written."""
    positive = np.clip(of_grades, 0.0, 1.0)
    positive = np.round(positive / np.maximum(1.0, positive.sum(axis=1, keepdims=True)), DIGITS)
    return np.concatenate(
        [np.round(np.maximum(0.0, 1 - positive.sum(axis=1, keepdims=True)), DIGITS), positive], axis=1
    )
