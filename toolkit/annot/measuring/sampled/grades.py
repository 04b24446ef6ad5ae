"""The grades of a query's pool, estimated from the pairs that were drawn and judged.

The difference estimator of each grade's indicator: h = f + (g - f) / pi for a pair that was drawn, h = f for one that
was not (Saerndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, chapter 6). f is the predicted probability
of the grade, g is 1 for the grade that was given, pi the probability of being drawn. Its expectation over draws is
g for any f that does not follow from the pair's own draw; f decides how far it scatters. With f = 0 it is
the estimator of Horvitz and Thompson (1952). A weight from 0 to 1 multiplies f: `annot.measuring.sampled.weights`.
Pairs are drawn independently, so the expectation of a product of two pairs' estimates is the product of what they
stand for.

How an estimate would scatter over draws is read off replicates: for each pair that might not have been drawn, h moves
by sqrt(1 - pi) / pi (g - f), up or down (Beaumont and Patak 2012, On the Generalized Bootstrap for Sample Surveys with
Special Attention to Poisson Sampling, International Statistical Review 80). The signs are the rows of a Hadamard
matrix and their opposites, which makes means and variances of what is linear exact (McCarthy 1969, Pseudo-Replication:
Half Samples): there is no chance in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from annot.base.errors import InputError
from annot.base.stats.arrays import Array, Integers, Mask

Predicted = Mapping[str, Sequence[float]]
"""By document, the predicted probability of each grade, from 0 up."""
KINDS = ("P", "R", "NDCG", "AP")
"""The kinds of measures that have an estimator."""
Weights = Mapping[str, float]
"""By the kind of a measure, how much predictions count: from 0, not at all, to 1."""


class Scored(NamedTuple):
    """Values of documents that are linear in the indicators of their grades. Each array has shape (n,)."""

    estimate: Array
    moves: Array
    """By how much the estimate moves in a replicate."""
    found: Array
    """The value by the grades that are known; 0 for a document without one."""


@dataclass(frozen=True)
class PoolGrades:
    """What is known of the grades of one query's pool of n documents on a scale from 0 to G.

    The arrays have shape (n, G), a column for each grade from 1 up: whether a document has it, or a higher one.
    """

    doc_ids: tuple[str, ...]
    probability: Array
    """Shape (n,), with which each document was drawn."""
    at_least: Array
    """The estimate with the predictions at full weight: 1 or 0 where it is certain."""
    moves: Array
    """By how much it moves in a replicate; 0 if it does not depend on a draw."""
    predicted: Array
    """What the predictions add to the estimate; 0 without predictions, and where the estimate is certain."""
    predicted_moves: Array
    """What they add to the moves."""
    found: Array
    """1 or 0 by the grade that was given; 0 where the pair was not drawn."""
    drawn: frozenset[str]
    """Documents whose grade is known."""
    unknown: Mask
    """Shape (n,), whether the grade of a document is not known."""
    uncertain: Integers
    """The rows of drawn documents that might not have been drawn: those that move."""
    certain: bool
    """Whether every pair was sure to be drawn, so that nothing is estimated."""
    guessed: bool
    """Whether something is predicted of a pair that is not certain."""
    weights: Weights
    """Of the predictions, by the kind of a measure."""

    @property
    def gains(self) -> Scored:
        """The grade itself."""
        return Scored(*(columns.sum(axis=1) for columns in (self.at_least, self.moves, self.found)))

    def relevant(self, relevant_from: int) -> Scored:
        """1 for a document with this grade or a higher one."""
        return Scored(*(columns[:, relevant_from - 1] for columns in (self.at_least, self.moves, self.found)))

    def weighed(self, weight: float) -> PoolGrades:
        """The estimate with the predictions at this weight, from 0 to 1."""
        if weight == 1:
            return self
        return replace(
            self,
            at_least=self.at_least - (1 - weight) * self.predicted,
            moves=self.moves - (1 - weight) * self.predicted_moves,
        )

    def filled_in(self, least: int) -> PoolGrades:
        """The grades that are known, and the predictions for all others, with nothing that moves.

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
    """The grades of a query's pool.

    pi: by document of the pool, the probability that it was drawn. judged: by drawn document, its grade. predicted: for
    every document of the pool; None is f = 0. highest: the highest grade, G. query_id: for messages. weights: of the
    predictions (`annot.measuring.sampled.weights`); None is 1 for every kind of measure.
    Raises InputError for a grade outside the scale or the pool, a pair that was sure to be drawn and has no grade, or a
    document without a prediction.
    """
    doc_ids = tuple(sorted(pi))
    scale = range(highest + 1)
    faults = [f"{one}: judged, but not in the pool" for one in sorted(judged.keys() - pi.keys())]
    faults += [f"{one}: found grade {of}, expected 0 to {highest}" for one, of in judged.items() if of not in scale]
    faults += [
        f"{one}: found probability {pi[one]:g}, expected above 0, at most 1" for one in doc_ids if not 0 < pi[one] <= 1
    ]
    faults += [
        f"{one}: drawn for certain, but it has no grade" for one in doc_ids if pi[one] >= 1 and one not in judged
    ]
    if predicted is not None:
        faults += [f"{one}: no prediction" for one in doc_ids if one not in predicted]
    if faults:
        raise InputError(f"{query_id}: its sample cannot be used", faults=faults)
    known = np.array([doc_id in judged for doc_id in doc_ids], dtype=np.bool_)[:, None]
    grade = np.array([judged.get(doc_id, 0) for doc_id in doc_ids], dtype=np.int64)[:, None]
    chance = np.array([pi[doc_id] for doc_id in doc_ids], dtype=np.float64)[:, None]
    reached: Array = (grade >= np.arange(1, highest + 1)).astype(np.float64) * known
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


def signs(pairs: int) -> Array:
    """The directions in which so many pairs move, shape (B, pairs), B the next power of two above: 1 or -1.

    Columns are orthogonal to each other and sum to 0. The opposites of the rows are replicates, too.
    """
    matrix: Array = np.ones((1, 1))
    while len(matrix) <= pairs:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix[:, 1 : pairs + 1]
