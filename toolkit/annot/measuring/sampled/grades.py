"""Grades of a pool estimated from its drawn pairs: counts, predictions and their weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from annot.base.errors import InputError
from annot.base.libraries import special
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.inference import share_of_counts, wilson
from annot.base.stats.values import Estimate, Interval, Share

# ----------------------------------------------------------------------------------------------------------------------
# Grades of a query's pool, estimated from the pairs that were drawn and judged.
#
# The difference estimator of each grade's indicator: h = f + (g - f) / pi for a pair that was drawn, h = f for one
# that was not (Saerndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, chapter 6). f is the predicted
# probability of the grade, g is 1 for the grade that was given, pi the probability of being drawn. Its expectation
# over draws is g for any f that does not follow from the pair's own draw; f decides how far it scatters. With f = 0
# it is the estimator of Horvitz and Thompson (1952). A weight from 0 to 1 multiplies f:
# `annot.measuring.sampled.grades`. Pairs are drawn independently, so the expectation of a product of two pairs'
# estimates is the product of what they stand for.
#
# How an estimate would scatter over draws is read off replicates: for each pair that might not have been drawn, h
# moves by sqrt(1 - pi) / pi (g - f), up or down (Beaumont and Patak 2012, On the Generalized Bootstrap for Sample
# Surveys with Special Attention to Poisson Sampling, International Statistical Review 80). The signs are the rows of
# a Hadamard matrix and their opposites, which makes means and variances of what is linear exact (McCarthy 1969,
# Pseudo-Replication: Half Samples): there is no chance in them.
# ----------------------------------------------------------------------------------------------------------------------


Predicted = Mapping[str, Sequence[float]]
"""Predicted probability of each grade, from 0 up, by document."""
KINDS = ("P", "R", "NDCG", "AP")
"""Kinds of measures that have an estimator."""
Weights = Mapping[str, float]
"""Weight of the predictions by the kind of a measure: from 0, not at all, to 1."""


class Moving(NamedTuple):
    """Estimates, and their changes in replicates of the draw: of n documents, linear in the indicators of their grades,
    or of S lists.
    """

    value: Array
    """Shape (n,) or (S,)."""
    moves: Array
    """Distance by which each document's estimate moves in a replicate, shape (n,); or the changes of each list, first
    by the signs and then by their opposites, shape (S, 2 B).
    """
    least: Array
    """Value by the grades that are known, shape (n,), 0 for a document without one; or least possible value,
    shape (S,).
    """


@dataclass(frozen=True)
class PoolGrades:
    """Grades of one query's pool of n documents on a scale from 0 to G, as far as they are known.

    The arrays have shape (n, G), with a column for each grade from 1 up: 1 if a document has it, or a higher one.
    """

    doc_ids: tuple[str, ...]
    probability: Array
    """Shape (n,): probability with which each document was drawn."""
    at_least: Array
    """Estimate with the predictions at full weight: 1 or 0 if it is certain."""
    moves: Array
    """Distance by which it moves in a replicate; 0 if it does not depend on a draw."""
    predicted: Array
    """Contribution of the predictions to the estimate; 0 without predictions, and if the estimate is certain."""
    predicted_moves: Array
    """Contribution of the predictions to the moves."""
    found: Array
    """Indicator by the grade that was given; 0 if the pair was not drawn."""
    drawn: frozenset[str]
    """Documents whose grade is known."""
    unknown: Mask
    """Shape (n,): true if the grade of a document is not known."""
    uncertain: Integers
    """Rows of drawn documents that might not have been drawn: those that move."""
    certain: bool
    """True if every pair was sure to be drawn, so that nothing is estimated."""
    guessed: bool
    """True if there is a prediction for a pair that is not certain."""
    weights: Weights
    """Weights of the predictions, by the kind of a measure."""

    @property
    def gains(self) -> Moving:
        """Grade itself."""
        return Moving(*(columns.sum(axis=1) for columns in (self.at_least, self.moves, self.found)))

    def relevant(self, relevant_from: int) -> Moving:
        """Indicator of documents with this grade or a higher one."""
        return Moving(*(columns[:, relevant_from - 1] for columns in (self.at_least, self.moves, self.found)))

    def weighed(self, weight: float) -> PoolGrades:
        """Copy with the predictions at this weight, from 0 to 1."""
        if weight == 1:
            return self
        return replace(
            self,
            at_least=self.at_least - (1 - weight) * self.predicted,
            moves=self.moves - (1 - weight) * self.predicted_moves,
        )

    def filled_in(self, least: int) -> PoolGrades:
        """Copy with the grades that are known, and the predictions for all others, in which nothing moves.

        least: the smallest grade that counts, which no known document has. Others are predicted to be one document with
        it at most: predictions know how many a query has on average, and this one has fewer.
        """
        guesses = np.where(self.unknown[:, None], self.predicted, 0.0)
        guesses = self.found + guesses / max(1.0, float(guesses[:, least - 1].sum()))
        return replace(self, at_least=guesses, moves=np.zeros_like(guesses))


def pool_grades(
    pi: Mapping[str, float],
    judged: Mapping[str, int],
    predicted: Predicted | None,
    *,
    highest: int,
    query_id: str,
    weights: Weights | None = None,
) -> PoolGrades:
    """Estimate the grades of a query's pool.

    pi: by document of the pool, the probability that it was drawn. judged: by drawn document, its grade. predicted: for
    every document of the pool; None is f = 0. highest: the highest grade, G. query_id: for messages. weights: of the
    predictions (`annot.measuring.sampled.grades`); None is 1 for every kind of measure. Raises InputError for a grade
    outside the scale or the pool, a pair that was sure to be drawn and has no grade, or a document without a
    prediction.
    """
    if faults := _faults_of_sample(pi, judged, predicted, highest):
        raise InputError(f"{query_id}: its sample cannot be used", faults=faults)
    doc_ids = tuple(sorted(pi))
    known = np.array([doc_id in judged for doc_id in doc_ids], dtype=np.bool_)[:, None]
    grades = np.array([judged.get(doc_id, 0) for doc_id in doc_ids], dtype=np.int64)[:, None]
    chance = np.array([pi[doc_id] for doc_id in doc_ids], dtype=np.float64)[:, None]
    reached: Array = (grades >= np.arange(1, highest + 1)).astype(np.float64) * known
    f = np.zeros_like(reached)
    if predicted is not None and doc_ids:
        f = np.array([predicted[doc_id] for doc_id in doc_ids], dtype=np.float64)[:, :0:-1].cumsum(axis=1)[:, ::-1]
    # Not by the formula where pi is 1: f would leave its rounding.
    by_predictions = np.where(chance >= 1, 0.0, f - known * f / chance)
    spread = known * np.sqrt(1 - chance) / chance
    return PoolGrades(
        doc_ids=doc_ids,
        probability=chance[:, 0],
        at_least=reached / chance + by_predictions,
        moves=spread * (reached - f),
        predicted=by_predictions,
        predicted_moves=-spread * f,
        found=reached,
        drawn=frozenset(judged),
        unknown=~known[:, 0],
        uncertain=np.flatnonzero(known & (chance < 1)),
        certain=bool((chance >= 1).all()),
        guessed=bool((f * (chance < 1)).any()),
        weights=dict.fromkeys(KINDS, 1.0) if weights is None else weights,
    )


def _faults_of_sample(
    pi: Mapping[str, float], judged: Mapping[str, int], predicted: Predicted | None, highest: int
) -> list[str]:
    faults = [f"{doc_id}: judged, but not in the pool" for doc_id in sorted(judged.keys() - pi.keys())]
    faults += [
        f"{doc_id}: found grade {value}, expected 0 to {highest}"
        for doc_id, value in judged.items()
        if value not in range(highest + 1)
    ]
    faults += [
        f"{doc_id}: found probability {chance:g}, expected above 0, at most 1"
        for doc_id, chance in sorted(pi.items())
        if not 0 < chance <= 1
    ]
    certain = sorted(doc_id for doc_id, chance in pi.items() if chance >= 1)
    faults += [f"{doc_id}: drawn for certain, but it has no grade" for doc_id in certain if doc_id not in judged]
    if predicted is not None:
        faults += [f"{doc_id}: no prediction" for doc_id in sorted(pi) if doc_id not in predicted]
    return faults


def signs(pairs: int) -> Array:
    """Directions in which this many pairs move, shape (B, pairs), B the next power of two above: 1 or -1.

    Columns are orthogonal to each other and sum to 0. The opposites of the rows are replicates, too.
    """
    from scipy.linalg import hadamard

    return np.asarray(hadamard(1 << pairs.bit_length(), dtype=np.float64)[:, 1 : pairs + 1])


# ----------------------------------------------------------------------------------------------------------------------
# Number of documents of sampled pools with a grade, estimated from the pairs that were drawn and judged.
#
# The estimator of Horvitz and Thompson (1952): a drawn document represents 1 / probability documents of its pool. It
# has no bias, but it may be below or above the range that the known grades leave possible, and is printed as the
# nearest possible number. Grade 0 is the rest of a pool, so that the grades add up to it.
#
# The interval of a number is Wilson's (1927), of the documents that might not have been drawn, and for the effective
# number of pairs (Kish 1965, Survey Sampling, section 11.7), or fewer if the variance of the draw is larger. That
# variance alone makes intervals far too short, because it is 0 if nothing relevant was drawn.
# `benchmarks/relevant_documents.py` counts how often each of them holds.
# ----------------------------------------------------------------------------------------------------------------------


TINY = 1e-12
"""Smaller numbers are rounding."""


class GradeCounts(NamedTuple):
    """Number of documents of a pool, or of a part of it, by grade.

    The arrays have shape (G,), for each grade from 1 up: the documents with it or a higher one.
    """

    documents: int
    estimated: Array
    variance: Array
    """Variance of the estimates over draws, as far as the drawn documents show it."""
    found: Array
    """Documents by the grades that are known."""
    certain: Array
    """Documents of `found` that were sure to be drawn."""
    unknown: int
    """Documents without a grade."""
    uncertain: int
    """Documents that might not have been drawn."""
    weight: float
    """Sum of w = 1 / probability over those of them that were drawn."""
    squares: float
    """Sum of w (w - 1) over the same."""

    def possible(self, estimated: Array) -> Array:
        """Nearest numbers that the known grades leave possible."""
        return np.asarray(np.clip(estimated, self.found, self.found + self.unknown))

    def number(self, least: int, *, level: float) -> Estimate:
        """Number of documents with the grade `least`, from 1, or a higher one. The interval is over draws."""
        column = least - 1
        value, n_found = float(self.possible(self.estimated)[column]), float(self.found[column])
        low, high = n_found, n_found + self.unknown
        if self.unknown and self.weight:
            certain = float(self.certain[column])
            share = min(1.0, max(0.0, (value - certain) / self.uncertain))
            # Without squares, probabilities are 1 to the last digit.
            effective = self.weight**2 / max(self.squares, TINY)
            if 0 < share < 1:
                variance = float(self.variance[column]) / self.uncertain**2
                effective = min(effective, share * (1 - share) / max(variance, TINY))
            ends = wilson(share, effective, float(special.ndtri(0.5 + level / 2)))
            low, high = (min(high, max(low, certain + self.uncertain * float(end))) for end in ends)
        return Estimate(value, Interval(min(low, value), max(high, value), level, "Wilson, over draws"))


def counts_of(pool: PoolGrades, doc_ids: Collection[str] | None = None) -> GradeCounts:
    """Count the documents of a pool by grade. doc_ids: a part of the pool; None is all of it."""
    part = np.array([doc_ids is None or doc_id in doc_ids for doc_id in pool.doc_ids], dtype=np.bool_)
    drawn, uncertain = part & ~pool.unknown, part & (pool.probability < 1)
    weights = 1 / pool.probability
    weights_of_drawn = weights[drawn & uncertain]
    return GradeCounts(
        documents=int(part.sum()),
        estimated=weights[drawn] @ pool.found[drawn],
        variance=(weights * (weights - 1))[drawn] @ pool.found[drawn],
        found=pool.found[drawn].sum(axis=0),
        certain=pool.found[part & ~uncertain].sum(axis=0),
        unknown=int((part & pool.unknown).sum()),
        uncertain=int(uncertain.sum()),
        weight=float(weights_of_drawn.sum()),
        squares=float((weights_of_drawn * (weights_of_drawn - 1)).sum()),
    )


def together(counts: Iterable[GradeCounts]) -> GradeCounts:
    """Counts of several pools, or of parts of them, as one. There is at least one."""
    return GradeCounts(*(sum(column[1:], start=column[0]) for column in zip(*counts, strict=True)))


def by_grade(counts: Sequence[GradeCounts]) -> Array:
    """Estimated documents of Q pools with each grade from 0 up: shape (Q, 1 + G).

    Each row adds up to its pool. A number of one pool may be impossible; all pools together have possible ones.
    """
    documents = np.array([pool.documents for pool in counts], dtype=np.float64)
    estimated = np.array([pool.estimated for pool in counts])
    together = estimated.sum(axis=0)
    least, unknown = np.sum([pool.found for pool in counts], axis=0), sum(pool.unknown for pool in counts)
    shift = np.clip(together, least, least + unknown) - together
    at_least = estimated + np.outer(documents / max(1.0, documents.sum()), shift)
    ladder = np.column_stack([documents, at_least, np.zeros(len(counts))])
    return np.asarray(ladder[:, :-1] - ladder[:, 1:])


def share_of(
    counts: Sequence[GradeCounts], grades: Sequence[int], *, level: float, topics: Sequence[str] | None
) -> Share:
    """Share of the documents of these pools that have one of `grades`, with an interval over topics.

    The scatter over topics includes that of the draw. topics: the topic of each pool.
    """
    hits = by_grade(counts)[:, list(grades)].sum(axis=1)
    sizes = np.array([pool.documents for pool in counts], dtype=np.float64)
    # Documents that were sure to be drawn have a weight of 1.
    drawn = sum(pool.weight + pool.documents - pool.uncertain for pool in counts)
    squares = drawn + sum(pool.squares for pool in counts)
    scale = drawn**2 / squares / max(1.0, float(sizes.sum())) if squares else 1.0
    return share_of_counts(hits * scale, sizes * scale, level=level, topics=topics)


# ----------------------------------------------------------------------------------------------------------------------
# Weight of predicted grades in estimates: as much as they help on other topics, or none.
#
# Power tuning as in prediction-powered inference (Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient
# Prediction-Powered Inference, section 4): a weight from 0 to 1 multiplies the predictions, and the weight with the
# smallest estimated design variance is used. The variance of a sum of u y over a pool, with the predictions m of y at
# weight w, is estimated from the drawn pairs by the sum of u^2 (1 - pi) / pi^2 (y - w m)^2. So the best weight is
# sum(a y m) / sum(a m^2) with a = u^2 (1 - pi) / pi^2, and it leaves 1 - sum(a y m)^2 / (sum(a m^2) sum(a y^2)) of
# the variance without predictions.
#
# Each topic has the weight of all other topics: its own draw has no effect on its own estimate. No run contributes to
# it, so a run has the same figures whichever others it is evaluated with.
# ----------------------------------------------------------------------------------------------------------------------


WORTH_IT = 0.2
"""Smallest part of the variance that predictions must promise to take off to be used."""
TOP = 20
"""Ranks by which the predictions of P@k are weighed, whatever its k."""


def tuned(
    pi: Mapping[str, Mapping[str, float]],
    judged: Mapping[str, Mapping[str, int]],
    predicted: Mapping[str, Predicted],
    topics: Mapping[str, str],
    *,
    relevant_from: int,
    highest: int,
) -> dict[str, Weights]:
    """Weights of each query of `pi`, for `pools_of`. The arguments are those of `pools_of` and `predicting`.

    relevant_from: the smallest grade that counts in P@k, R@k and AP. NDCG takes the grade itself.
    """
    sums = {
        query_id: _sums(pi[query_id], judged.get(query_id, {}), predicted[query_id], relevant_from, highest)
        for query_id in sorted(pi)
    }
    names = sorted({topics[query_id] for query_id in sums})
    by_topic = {name: np.zeros((len(KINDS), 3)) for name in names}
    for query_id, of_query in sums.items():
        by_topic[topics[query_id]] += of_query
    total = np.sum([by_topic[name] for name in names], axis=0)
    weights = {name: _weights(total - by_topic[name]) for name in names}
    return {query_id: weights[topics[query_id]] for query_id in sums}


def _weights(sums: Array) -> Weights:
    """Weights from sum(a y^2), sum(a y m) and sum(a m^2) of each kind of measure, in rows."""
    weights = {}
    for kind, (plain, both, square) in zip(KINDS, sums.tolist(), strict=True):
        helps = both > 0 and both**2 >= WORTH_IT * plain * square
        weights[kind] = round(min(1.0, both / square), 6) if helps else 0.0
    return weights


def _sums(
    pi: Mapping[str, float], judged: Mapping[str, int], predicted: Predicted, relevant_from: int, highest: int
) -> Array:
    """Sums of one pool, shape (kinds, 3).

    u is the weight of a document's rank in the measure, if the pool is ranked by the probabilities of the draw, which
    fall with the rank in the fusion. Ratios divide by the number of relevant documents, or by the gain of all, as far
    as known and predicted: an error weighs more if less is relevant.
    """
    doc_ids = sorted(pi, key=lambda doc_id: (-pi[doc_id], doc_id))
    chance = np.array([pi[doc_id] for doc_id in doc_ids])
    known = np.array([doc_id in judged for doc_id in doc_ids])
    grade = np.array([judged.get(doc_id, 0) for doc_id in doc_ids])
    chances = np.array([predicted[doc_id] for doc_id in doc_ids]).reshape(len(doc_ids), highest + 1)
    hits = np.where(known, grade >= relevant_from, 0.0), chances[:, relevant_from:].sum(axis=1)
    gains = np.where(known, grade, 0.0), chances @ np.arange(highest + 1)
    ranks = np.arange(1, len(doc_ids) + 1)
    discounts, spread = 1 / np.log2(1 + ranks), known * (1 - chance) / chance**2
    rows = []
    for kind in KINDS:
        y, m = gains if kind == "NDCG" else hits
        if kind == "P":
            a = spread * (ranks <= TOP)
        else:
            a = spread * discounts**2 / max(1.0, float(np.where(known, y, m).sum())) ** 2
        rows.append([(a * y * y).sum(), (a * y * m).sum(), (a * m * m).sum()])
    return np.array(rows)


# ----------------------------------------------------------------------------------------------------------------------
# Probability of each grade of every pair, predicted from where the rankings have its document.
#
# A ridge regression of each grade's indicator on features of the rankings, learned from the drawn pairs of other
# topics: a topic's own grades never make its predictions, so that what is predicted does not follow from the draw
# that it corrects. Sums over documents have no bias then, however bad the predictions are; how much these count in
# ratios is decided by the weights above.
# ----------------------------------------------------------------------------------------------------------------------


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

    return _cross_fitted(judged, known, topics, learned, highest=highest)


def with_opinions(
    alone: dict[str, dict[str, tuple[float, ...]]],
    judged: Grades,
    known: Features,
    opinion_shares: Features,
    topics: Mapping[str, str],
    *,
    highest: int,
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Predictions with a model's answers as further features, calibrated by the grades of other topics.

    A logistic regression of each "this grade or higher": its features multiply the odds, as the errors of a judge do.
    In a sum, as of the ridge, an error would weigh as much at the end of the rankings as at their top.

    alone: predictions by the rankings alone, which remain for pairs without an opinion. opinion_shares: the features of
    the pairs with an opinion. If these are of one topic only, nothing can be calibrated, and `alone` itself comes back.
    """
    from sklearn.linear_model import LogisticRegression

    if (
        len({topics[query_id] for query_id, by_document in opinion_shares.items() if query_id in known and by_document})
        < 2
    ):
        return alone
    both = {
        query_id: {
            doc_id: (*features, *opinions[doc_id]) for doc_id, features in by_document.items() if doc_id in opinions
        }
        for query_id, by_document in known.items()
        if (opinions := opinion_shares.get(query_id))
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

    by_both = _cross_fitted(judged, both, topics, learned, highest=highest)
    return {query_id: by_document | by_both.get(query_id, {}) for query_id, by_document in alone.items()}


def _cross_fitted(
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
    probabilities = _probabilities(values)
    result: dict[str, dict[str, tuple[float, ...]]] = {query_id: {} for query_id in sorted(known)}
    for (query_id, doc_id), row in zip(pairs, probabilities.tolist(), strict=True):
        result[query_id][doc_id] = tuple(row)
    return result


def _probabilities(values: Array) -> Array:
    """Probabilities from 0 to 1, their sum 1, grade 0 first, rounded as they are written."""
    positive = np.clip(values, 0.0, 1.0)
    positive = np.round(positive / np.maximum(1.0, positive.sum(axis=1, keepdims=True)), DIGITS)
    return np.concatenate(
        [np.round(np.maximum(0.0, 1 - positive.sum(axis=1, keepdims=True)), DIGITS), positive], axis=1
    )
