"""Probability of each grade of every pair, predicted from where the rankings have its document.

A ridge regression of each grade's indicator on features of the rankings, learned from the drawn pairs of other topics:
a topic's own grades never make its predictions, so that what is predicted does not follow from the draw that it
corrects. Sums over documents have no bias then, however bad the predictions are; how much these count in ratios is a
matter of `weights`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from annot.base.stats.arrays import Array

FOLDS = 10
"""Number of parts of topics, or fewer if there are fewer topics; each part is predicted from the others."""
DIGITS = 6
"""Decimals of a probability, which is used as it is written."""
STRENGTH = 10.0
"""Strength of the penalty on coefficients, on features that are scaled to a deviation of 1."""

Features = Mapping[str, Mapping[str, Sequence[float]]]
"""Features by query, then document: the same number each."""
Grades = Mapping[str, Mapping[str, int]]
"""Grade by query, then document."""


def features(
    ranks: Mapping[str, Mapping[str, int]],
    fused: Mapping[str, int | None],
    *,
    methods: Sequence[str],
    cited: Collection[str],
) -> dict[str, tuple[float, ...]]:
    """Features of each document of one pool, from the rankings.

    ranks: by method, then document. fused: the rank in the fusion of every document of the pool. methods: their ranks
    are used, and they are the same for all pools.
    """
    features_of = {}
    for doc_id, rank in fused.items():
        places = [ranks.get(method, {}).get(doc_id) for method in methods]
        features_of[doc_id] = (
            *(0.0 if place is None else 1 / place for place in places),
            *(0.0 if place is None else 1 / (10 + place) for place in places),
            *(float(place is not None) for place in places),
            0.0 if rank is None else math.log(rank),
            0.0 if rank is None else 1 / rank,
            float(rank is not None),
            float(doc_id in cited),
        )
    return features_of


def predicted(
    judged: Grades, known: Features, topics: Mapping[str, str], *, highest: int
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Probability of each grade from 0 to `highest`, by query and document of `known`.

    judged: the grades of the drawn pairs. topics: the topic of each query. If there is only one topic, grade 0 is
    predicted for all.
    """
    from sklearn.linear_model import Ridge

    def learned(x: Array, grades: Array, unseen: Array) -> Array:
        indicators = (grades[:, None] == np.arange(1, highest + 1)).astype(np.float64)
        return np.asarray(Ridge(alpha=STRENGTH).fit(x, indicators).predict(unseen)).reshape(-1, highest)

    return _of_other_topics(judged, known, topics, learned, highest=highest)


def with_opinions(
    alone: dict[str, dict[str, tuple[float, ...]]],
    judged: Grades,
    known: Features,
    said: Features,
    topics: Mapping[str, str],
    *,
    highest: int,
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Predictions with a model's answers as further features, calibrated by the grades of other topics.

    A logistic regression of each "this grade or higher": its features multiply the odds, as the errors of a judge do.
    In a sum, as of the ridge, an error would weigh as much at the end of the rankings as at their top.

    alone: predictions by the rankings alone, which remain for pairs without an opinion. said: the features of the pairs
    with an opinion. If these are of one topic only, nothing can be calibrated, and `alone` itself comes back.
    """
    from sklearn.linear_model import LogisticRegression

    if len({topics[query_id] for query_id, by_document in said.items() if query_id in known and by_document}) < 2:
        return alone
    both = {
        query_id: {
            doc_id: (*features, *opinions[doc_id]) for doc_id, features in by_document.items() if doc_id in opinions
        }
        for query_id, by_document in known.items()
        if (opinions := said.get(query_id))
    }

    def learned(x: Array, grades: Array, unseen: Array) -> Array:
        at_least = np.zeros((len(unseen), highest + 1))
        for grade in range(1, highest + 1):
            reached = grades >= grade
            at_least[:, grade - 1] = reached.mean()
            if 0 < reached.mean() < 1:
                # This solver converges to the last digit: files that are compared have six.
                model = LogisticRegression(C=1 / STRENGTH, solver="newton-cholesky", tol=1e-10)
                at_least[:, grade - 1] = model.fit(x, reached).predict_proba(unseen)[:, 1]
        falling = np.minimum.accumulate(at_least, axis=1)
        return np.asarray(falling[:, :-1] - falling[:, 1:])

    by_both = _of_other_topics(judged, both, topics, learned, highest=highest)
    return {query_id: by_document | by_both.get(query_id, {}) for query_id, by_document in alone.items()}


def _of_other_topics(
    judged: Grades,
    known: Features,
    topics: Mapping[str, str],
    learned: Callable[[Array, Array, Array], Array],
    *,
    highest: int,
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Predictions for each fold of topics from the grades of the others.

    learned: from features and grades of drawn pairs, and the features of others, the probabilities of grades from 1.
    """
    names = sorted({topics[query_id] for query_id in known})
    count = min(FOLDS, len(names))
    fold = {topic: number % count for number, topic in enumerate(names)}
    pairs = [(query_id, doc_id) for query_id in sorted(known) for doc_id in sorted(known[query_id])]
    x = np.array([known[query_id][doc_id] for query_id, doc_id in pairs], dtype=np.float64)
    fold_of = np.array([fold[topics[query_id]] for query_id, _ in pairs])
    grade = np.array([judged.get(query_id, {}).get(doc_id, -1) for query_id, doc_id in pairs])
    values = np.zeros((len(pairs), highest))
    for number in range(count):
        others, in_fold = (grade >= 0) & (fold_of != number), fold_of == number
        if not others.any() or not in_fold.any():
            continue
        middle, spread = x[others].mean(axis=0), x[others].std(axis=0)
        scaled = (x - middle) / np.where(spread > 0, spread, 1.0)
        values[in_fold] = learned(scaled[others], grade[others], scaled[in_fold])
    probabilities = _as_probabilities(values)
    result: dict[str, dict[str, tuple[float, ...]]] = {query_id: {} for query_id in sorted(known)}
    for (query_id, doc_id), row in zip(pairs, probabilities.tolist(), strict=True):
        result[query_id][doc_id] = tuple(row)
    return result


def _as_probabilities(values: Array) -> Array:
    """Probabilities from 0 to 1, their sum 1, grade 0 first, rounded as they are written."""
    positive = np.clip(values, 0.0, 1.0)
    positive = np.round(positive / np.maximum(1.0, positive.sum(axis=1, keepdims=True)), DIGITS)
    return np.concatenate(
        [np.round(np.maximum(0.0, 1 - positive.sum(axis=1, keepdims=True)), DIGITS), positive], axis=1
    )
