"""Grades of pairs that were never judged, filled in by chance, so that whole pools can be drawn from again.

A logistic regression predicts each "this grade or higher" from the rankings. Each judged pair counts 1 / its
probability: the regression then fits the whole pools and not their tops, which have most of the drawn pairs. Each query
has an intercept of its own around a common one, with a normal distribution whose variance is learned with it: queries
differ in how many relevant documents they have. A query that would have none gets one, as estimates assume at least
one. `benchmarks/sample_certificate.py` compares the filled-in grades with the true ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.seeding import generator
from annot.measuring.sampled.predicting import Features, Grades

STRENGTH = 10.0
"""Strength of the penalty on coefficients, on features that are scaled to a deviation of 1."""
STEPS = 40
"""Steps of the estimation of the queries' intercepts; it is close to its end after twenty."""
FARTHEST = 2.0
"""Longest way that an intercept moves in one step."""


@dataclass(frozen=True)
class FilledIn:
    """Whole pools: the grades that are known, and the chances of each grade for every other pair."""

    known: Grades
    missing: Mapping[str, list[str]]
    """Documents without a grade, by query."""
    at_least: Mapping[str, Array]
    """Probability that each of them has a grade or a higher one, by query: shape (n, G), a column for each grade from
    1.
    """
    relevant_from: int
    seed: int

    @property
    def incomplete(self) -> bool:
        """True if there is a grade to fill in."""
        return any(self.missing.values())

    def grades(self, number: int) -> dict[str, dict[str, int]]:
        """Grades of the fill with this number, by query and document in order."""
        pools = {name: dict(grades) for name, grades in self.known.items()}
        for name, missing in self.missing.items():
            if missing:
                rng, at_least = generator(self.seed, "filled in", name, str(number)), self.at_least[name]
                grades = (rng.random((len(missing), 1)) < at_least).sum(axis=1)
                least = self.relevant_from
                if max(grades.max(), *self.known[name].values(), 0) < least and at_least[:, least - 1].any():
                    odds = at_least[:, least - 1] / (1 + 1e-9 - at_least[:, least - 1])
                    row = rng.choice(len(missing), p=odds / odds.sum())
                    grades[row] = (rng.random() * at_least[row, least - 1] < at_least[row]).sum()
                pools[name] |= dict(zip(missing, grades.tolist(), strict=True))
        return {name: dict(sorted(grades.items())) for name, grades in pools.items()}


def filled_in(
    known: Grades,
    features: Features,
    drawn_with: Mapping[str, Mapping[str, float]],
    *,
    highest: int,
    relevant_from: int,
    seed: int,
) -> FilledIn:
    """Fill in the pools of `features`.

    known: the grades. drawn_with: the probability of each pair to be known.
    """
    names = sorted(known)
    missing = {name: sorted(features[name].keys() - known[name].keys()) for name in names}
    if not any(missing.values()):
        return FilledIn(known, missing, {}, relevant_from, seed)
    pairs = [(row, name, doc_id) for row, name in enumerate(names) for doc_id in sorted(features[name])]
    query = np.array([row for row, _, _ in pairs])
    judged = np.array([doc_id in known[name] for _, name, doc_id in pairs])
    grade = np.array([known[name].get(doc_id, 0) for _, name, doc_id in pairs])
    weights = np.array([1 / drawn_with[name][doc_id] for _, name, doc_id in pairs])
    x = np.array([features[name][doc_id] for _, name, doc_id in pairs], dtype=np.float64)
    chances = np.stack([_chances(x, grade >= least, weights, query, judged) for least in range(1, highest + 1)], axis=1)
    falling = np.minimum.accumulate(chances, axis=1)
    at_least = {name: falling[(query == row) & ~judged] for row, name in enumerate(names)}
    return FilledIn(known, missing, at_least, relevant_from, seed)


def _chances(x: Array, reached: Mask, weights: Array, query: Integers, judged: Mask) -> Array:
    """Probability of each pair to reach a grade, learned from the judged ones."""
    from sklearn.linear_model import LogisticRegression

    share = float(reached[judged].mean()) if judged.any() else 0.0
    if share in (0.0, 1.0):
        return np.full(len(x), share)
    spread = x[judged].std(axis=0)
    scaled = (x - x[judged].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    model = LogisticRegression(C=1 / STRENGTH, solver="newton-cholesky", tol=1e-10)
    model.fit(scaled[judged], reached[judged], sample_weight=weights[judged] / weights[judged].mean())
    common = model.decision_function(scaled)
    above = _intercepts(common[judged], reached[judged], query[judged], int(query.max()) + 1)
    return np.asarray(1 / (1 + np.exp(-(common + above[query]))))


def _intercepts(common: Array, reached: Mask, query: Integers, count: int) -> Array:
    """Distance of each query above the common log odds: the mode under a normal prior with a learned variance."""
    above, variance = np.zeros(count), 1.0
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(common + above[query])))
        slope = np.bincount(query, reached - p, count) - above / variance
        curve = np.bincount(query, p * (1 - p), count) + 1 / variance
        above += np.clip(slope / curve, -FARTHEST, FARTHEST)
        variance = max(1e-4, float(np.mean(above**2 + 1 / curve)))
    return above
