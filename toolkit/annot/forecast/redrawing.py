"""A pilot that might as well have been: what its queries show of queries to come, and how far they may mislead.

A pilot of P queries knows the mean over all queries up to its own chance, and how queries differ from that mean still
less. Each redrawing holds one answer to both that fits the pilot: queries get weights (Rubin 1981, The Bayesian
bootstrap, Annals of Statistics 9, 130-134), and as with Student's t one draw of the chi-square distribution with P - 1
degrees of freedom widens or narrows both the error of the mean and the differences between queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Tables = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int64]

MIN_QUERIES = 3
"""Of two queries a single difference is known: it says nothing of how queries differ."""
LEAST_WEIGHT = 0.02
"""The least concentration of the weights of the mean; below, one query has all the weight anyway."""


@dataclass(frozen=True, slots=True)
class Redrawn:
    """One redrawing of a pilot of P queries."""

    mean: Array
    """Shape (P,), sum 1: the weights of the queries in the mean of all queries."""
    mix: Array
    """Shape (P,), sum 1: how often a query to come is like each of the pilot's."""
    scale: float
    """By how much queries differ more from each other than the pilot's do."""

    def picked(self, n: int, rng: np.random.Generator) -> Indices:
        """Which of the pilot's queries each of n queries to come is like."""
        return rng.choice(len(self.mix), size=n, p=self.mix)

    def future(self, values: Array, share: float) -> Array:
        """What queries like each of the pilot's show, none below 0.

        values: shape (P, ...), what the pilot's queries show. share: how much of their variance is theirs and not
        chance; the mean's error keeps both, as both are in the pilot's mean.
        """
        around = values - np.tensordot(self.mix, values, axes=1)
        return np.maximum(np.tensordot(self.mean, values, axes=1) + math.sqrt(share) * self.scale * around, 0.0)


def redrawn(n: int, rng: np.random.Generator) -> Redrawn:
    """Redraw a pilot of n queries; one that is too small is taken at its word.

    Weights of Dirichlet's distribution with concentration a have a weighted mean of variance s^2 (n - 1) / n /
    (n a + 1), s^2 the variance of the queries; a is such that this is s^2 / n times the squared scale. Differences in a
    mix of concentration 1 have variance s^2 (n - 1) / (n + 1) on average, which is made good.
    """
    if n < MIN_QUERIES:
        even = np.full(n, 1 / n)
        return Redrawn(even, even, math.sqrt(n / max(1, n - 1)))
    chi = rng.chisquare(n - 1) / (n - 1)
    concentration = max(((n - 1) * chi - 1) / n, LEAST_WEIGHT)
    # Gamma variates of so small a shape may all be 0 in floating point; then one query has all the weight.
    gammas = rng.standard_gamma(np.full(n, concentration))
    mean = gammas / gammas.sum() if gammas.sum() > 0 else np.eye(n)[rng.integers(n)]
    return Redrawn(mean, rng.dirichlet(np.ones(n)), math.sqrt((n + 1) / (n - 1) / chi))


def own_share(tables: Tables) -> float:
    """How much of the variance of the queries' distributions is theirs; the rest is drawing their pairs. 0..1.

    tables: shape (P, C), how often each query's pairs showed each pattern. Drawing n pairs makes a variance of
    p (1 - p) / (n - 1), as estimated from the same n; a query of one pair cannot tell.
    """
    n = tables.sum(axis=1, keepdims=True).astype(np.float64)
    p = tables / n
    enough = n[:, 0] >= 2
    observed = float(p.var(axis=0, ddof=1).sum()) if len(p) > 1 else 0.0
    if observed == 0 or not enough.any():
        return 1.0
    by_chance = float((p * (1 - p) / np.maximum(n - 1, 1)).sum(axis=1)[enough].mean())
    return max(0.0, 1 - by_chance / observed)
