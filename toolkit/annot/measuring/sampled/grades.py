"""Grades of a query's pool, estimated from the pairs that were drawn and judged.

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
"""Predicted probability of each grade, from 0 up, by document."""
KINDS = ("P", "R", "NDCG", "AP")
"""Kinds of measures that have an estimator."""
Weights = Mapping[str, float]
"""Weight of the predictions by the kind of a measure: from 0, not at all, to 1."""


class Scored(NamedTuple):
    """Values of documents that are linear in the indicators of their grades. Each array has shape (n,)."""

    estimate: Array
    moves: Array
    """Distance by which the estimate moves in a replicate."""
    found: Array
    """Value by the grades that are known; 0 for a document without one."""


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
    def gains(self) -> Scored:
        """Grade itself."""
        return Scored(*(columns.sum(axis=1) for columns in (self.at_least, self.moves, self.found)))

    def relevant(self, relevant_from: int) -> Scored:
        """Indicator of documents with this grade or a higher one."""
        return Scored(*(columns[:, relevant_from - 1] for columns in (self.at_least, self.moves, self.found)))

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
    predictions (`annot.measuring.sampled.weights`); None is 1 for every kind of measure. Raises InputError for a grade
    outside the scale or the pool, a pair that was sure to be drawn and has no grade, or a document without a
    prediction.
    """
    doc_ids = tuple(sorted(pi))
    scale = range(highest + 1)
    faults = [f"{doc_id}: judged, but not in the pool" for doc_id in sorted(judged.keys() - pi.keys())]
    faults += [
        f"{doc_id}: found grade {value}, expected 0 to {highest}"
        for doc_id, value in judged.items()
        if value not in scale
    ]
    faults += [
        f"{doc_id}: found probability {chance:g}, expected above 0, at most 1"
        for doc_id, chance in sorted(pi.items())
        if not 0 < chance <= 1
    ]
    certain = [doc_id for doc_id in doc_ids if pi[doc_id] >= 1]
    faults += [f"{doc_id}: drawn for certain, but it has no grade" for doc_id in certain if doc_id not in judged]
    if predicted is not None:
        faults += [f"{doc_id}: no prediction" for doc_id in doc_ids if doc_id not in predicted]
    if faults:
        raise InputError(f"{query_id}: its sample cannot be used", faults=faults)
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


def signs(pairs: int) -> Array:
    """Directions in which so many pairs move, shape (B, pairs), B the next power of two above: 1 or -1.

    Columns are orthogonal to each other and sum to 0. The opposites of the rows are replicates, too.
    """
    matrix: Array = np.ones((1, 1))
    while len(matrix) <= pairs:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix[:, 1 : pairs + 1]
