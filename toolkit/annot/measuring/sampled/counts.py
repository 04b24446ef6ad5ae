"""Number of documents of sampled pools with a grade, estimated from the pairs that were drawn and judged.

The estimator of Horvitz and Thompson (1952): a drawn document represents 1 / probability documents of its pool. It has
no bias, but it may be below or above the range that the known grades leave possible, and is printed as the nearest
possible number. Grade 0 is the rest of a pool, so that the grades add up to it.

The interval of a number is Wilson's (1927), of the documents that might not have been drawn, and for the effective
number of pairs (Kish 1965, Survey Sampling, section 11.7), or fewer if the variance of the draw is larger. That
variance alone makes intervals far too short, because it is 0 if nothing relevant was drawn.
`benchmarks/relevant_documents.py` counts how often each of them holds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array
from annot.base.stats.clustered import share_of_counts, wilson
from annot.base.stats.values import Estimate, Interval, Share
from annot.measuring.sampled.grades import PoolGrades

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
        from scipy.special import ndtri

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
            ends = wilson(share, effective, float(ndtri(0.5 + level / 2)))
            low, high = (min(high, max(low, certain + self.uncertain * end)) for end in ends)
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


def by_grade(counts: Sequence[GradeCounts]) -> Array:
    """Estimated documents of Q pools with each grade from 0 up: shape (Q, 1 + G).

    Each row adds up to its pool. A number of one pool may be impossible; all pools together have possible ones.
    """
    documents = np.array([pool.documents for pool in counts], dtype=np.float64)
    estimated = np.array([pool.estimated for pool in counts])
    together = estimated.sum(axis=0)
    least, unknown = np.sum([pool.found for pool in counts], axis=0), sum(pool.unknown for pool in counts)
    off = np.clip(together, least, least + unknown) - together
    at_least = estimated + np.outer(documents / max(1.0, documents.sum()), off)
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
