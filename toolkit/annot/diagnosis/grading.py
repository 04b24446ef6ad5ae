"""How assessors turn similarity into grades: an ordered probit with one latent similarity a pair.

Pair i of query q has a similarity theta_i around mu_q with scale omega_f, f the query's facet, and a density that is
normal but for a skewness and a weight of the tails common to all. Assessor a perceives it with normal noise of standard
deviation sigma_a and thinks of grade y when what is perceived lies between thresholds tau_{a,y} and tau_{a,y+1}; with a
small probability the grade given is another one (Samejima 1969, Psychometrika monograph 17, the graded response model;
Johnson 1996, Journal of the American Statistical Association 91, 42-51, for several raters). Units are those of the
common noise: sigma = 1 for everyone who has no `spread` effect.

Without effects all assessors share thresholds, noise and slips. An `Effect` gives one assessor one more number: in what
is perceived (severity, threshold, spread) or, as a share of pairs, in the grade given (down, up, slips, wobble).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Kind = Literal["severity", "threshold", "down", "up", "spread", "slips", "wobble"]
"""What an effect's number means.

severity: all thresholds higher by so much. threshold: one threshold higher by so much. down, up: so large a share of
the pairs at the grade above (below) one threshold is given the grade below (above) it. spread: the logarithm of sigma.
slips: so large a share of pairs is given any grade alike. wobble: so large a share is given a grade next to it.
"""
SHARES: tuple[Kind, ...] = ("down", "up", "slips", "wobble")
"""Kinds whose number is a share of pairs, 0..1."""

NODES = np.linspace(-3.75, 3.75, 31)
"""Where theta is evaluated, in omegas from mu. Spaced closely enough for a noise that is a fifth of omega."""
HERMITE = np.array([NODES**3 - 3 * NODES, NODES**4 - 6 * NODES**2 + 3]) / np.array([[6**0.5], [24**0.5]])
"""What bends the normal density of theta: skewness and weight of the tails, as normalised Hermite polynomials."""
SMALLEST = 1e-12
"""No grade is less probable."""


class Effect(NamedTuple):
    """One way in which one assessor (a column of the grades) differs from the others."""

    assessor: int
    kind: Kind
    threshold: int | None
    """For threshold, down and up the grade that the threshold opens, 1 up; else None."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Equal pairs counted together."""

    grades: Index
    """Shape (P, M), 0..G-1, -1 where not judged."""
    query: Index
    """Shape (P,), the query by number."""
    facet_of_query: Index
    """Shape (Q,), the facet by number."""
    count: Array
    """Shape (P,), how many pairs show the pattern."""
    of_pair: Index
    """Shape (N,), the pattern of each pair."""
    n_grades: int

    @property
    def n_assessors(self) -> int:
        return self.grades.shape[1]


def patterns_of(grades: Index, query: Index, facet_of_query: Index, *, n_grades: int) -> Patterns:
    """Count equal pairs. grades: shape (N, M), -1 where not judged. query: shape (N,)."""
    rows, of_pair, count = np.unique(np.column_stack([query, grades]), axis=0, return_inverse=True, return_counts=True)
    return Patterns(
        grades=rows[:, 1:],
        query=rows[:, 0],
        facet_of_query=facet_of_query,
        count=count.astype(np.float64),
        of_pair=of_pair.reshape(-1),
        n_grades=n_grades,
    )


@dataclass(frozen=True, slots=True)
class Parameters:
    """A parameter vector taken apart."""

    thresholds: Array
    """Shape (M, G-1)."""
    sigma: Array
    """Shape (M,)."""
    given: Array
    """Shape (M, G, G): P(grade given | grade thought of), a column a grade thought of."""
    slips: float
    omega: Array
    mu: Array
    weights: Array
    """Of the nodes: the density of theta."""

    @classmethod
    def of(cls, patterns: Patterns, effects: Sequence[Effect], parameters: Array) -> Parameters:
        """parameters: thresholds, log omega by facet, mu by query, shape (2), logit of slips, a number an effect."""
        from scipy.special import expit

        k, facets, queries = lengths(patterns)
        g, m = patterns.n_grades, patterns.n_assessors
        thresholds = np.tile(parameters[:k], (m, 1))
        log_sigma = np.zeros(m)
        shape, at = parameters[k + facets + queries :][:2], k + facets + queries + 2
        slips = float(expit(parameters[at]))
        bent = np.exp(shape @ HERMITE - NODES**2 / 2)
        given = np.tile(np.eye(g), (m, 1, 1))
        for effect, value in zip(effects, parameters[at + 1 :], strict=True):
            if effect.kind == "severity":
                thresholds[effect.assessor] += value
            elif effect.kind == "threshold":
                assert effect.threshold is not None
                thresholds[effect.assessor, effect.threshold - 1] += value
            elif effect.kind == "spread":
                log_sigma[effect.assessor] += value
            else:
                given[effect.assessor] += value * transfers(g)[_transfer(effect.kind, effect.threshold, g)]
        given = given + slips * (1.0 / g - given)
        # A threshold pushed beyond the next takes it along: probabilities stay probabilities.
        thresholds = np.maximum.accumulate(thresholds, axis=1)
        return cls(
            thresholds,
            np.exp(log_sigma),
            given,
            slips,
            np.exp(parameters[k : k + facets]),
            parameters[k + facets :][:queries],
            bent / bent.sum(),
        )


def transfers(g: int) -> Array:
    """What a share of pairs does to P(grade given | grade thought of), shape (2G, G, G): down, up, slips, wobble."""
    eye = np.eye(g)
    down = [np.outer(eye[y - 1] - eye[y], eye[y]) for y in range(1, g)]
    up = [np.outer(eye[y] - eye[y - 1], eye[y - 1]) for y in range(1, g)]
    neighbours = np.eye(g, k=1) + np.eye(g, k=-1)
    return np.array([*down, *up, np.full((g, g), 1.0 / g) - eye, neighbours / neighbours.sum(axis=0) - eye])


def _transfer(kind: Kind, threshold: int | None, g: int) -> int:
    if kind == "slips":
        return 2 * (g - 1)
    if kind == "wobble":
        return 2 * (g - 1) + 1
    assert threshold is not None
    return threshold - 1 + (g - 1 if kind == "up" else 0)


def own_scores(directions: Array, effect: Effect, g: int) -> Array:
    """Shape (P,): the scores by one effect, out of those by each assessor's own numbers.

    directions: shape (P, M, D), the last axis for G-1 thresholds, log sigma, then the transfers.
    """
    own = directions[:, effect.assessor]
    if effect.kind == "severity":
        return np.asarray(own[:, : g - 1].sum(axis=1))
    if effect.kind == "threshold":
        assert effect.threshold is not None
        return own[:, effect.threshold - 1]
    if effect.kind == "spread":
        return own[:, g - 1]
    return own[:, g + _transfer(effect.kind, effect.threshold, g)]


def lengths(patterns: Patterns) -> tuple[int, int, int]:
    """How many thresholds, facets and queries."""
    return patterns.n_grades - 1, int(patterns.facet_of_query.max()) + 1, len(patterns.facet_of_query)


def probabilities(patterns: Patterns, view: Parameters) -> tuple[Array, Array, Array]:
    """P(grade given), P(grade thought of), both by query, assessor, grade and node; and where the thresholds lie."""
    from scipy.special import ndtr

    theta = view.mu[:, None] + view.omega[patterns.facet_of_query][:, None] * NODES  # (Q, nodes)
    z = (view.thresholds[None, :, :, None] - theta[:, None, None, :]) / view.sigma[None, :, None, None]
    edge = np.zeros((z.shape[0], z.shape[1], 1, z.shape[3]))
    thought = np.diff(np.concatenate([edge, ndtr(z), edge + 1.0], axis=2), axis=2)
    return np.maximum(np.einsum("aij,qajn->qain", view.given, thought), SMALLEST), thought, z


def table(patterns: Patterns, view: Parameters) -> tuple[Array, Array]:
    """P(grade given) and its derivatives, by query, assessor, grade and node.

    Derivatives, on the last axis: the G-1 thresholds, log sigma, the transfers, then theta, then the logit of slips.
    """
    g = patterns.n_grades
    sigma = view.sigma[None, :, None, None]
    probability, thought, z = probabilities(patterns, view)
    queries, m, _, nodes = z.shape
    edge = np.zeros((queries, m, 1, nodes))
    density = np.exp(-(z**2) / 2) / (np.sqrt(2 * np.pi) * sigma)
    by = np.zeros((queries, m, g, nodes, g + 2))
    for k in range(g - 1):
        by[:, :, k, :, k] = density[:, :, k]
        by[:, :, k + 1, :, k] = -density[:, :, k]
    by[..., g - 1] = np.diff(np.concatenate([edge, -z * density * sigma, edge], axis=2), axis=2)
    by[..., g] = -by[..., : g - 1].sum(axis=-1)
    through = np.einsum("aij,qajnd->qaind", view.given, by)
    moved = (1 - view.slips) * np.einsum("tij,qajn->qaint", transfers(g), thought)
    by_slips = view.slips * (1.0 / g - probability)
    by_theta = through[..., g]
    rest = np.stack([by_theta, by_theta * NODES, by_slips], axis=-1)
    return probability, np.concatenate([through[..., :g], moved, rest], axis=-1)
