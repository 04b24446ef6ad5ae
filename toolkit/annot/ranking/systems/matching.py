"""Ways to match the sentences of two papers, many pairs at once: the best pair, attention, and optimal transport.

Transport: min <D, P> - eps h(P) over plans P whose rows sum to x and whose columns sum to y (Cuturi 2013; Aspire,
equation 5 and appendix F). The plan is that of Sinkhorn's iterations at their end; these need tens of thousands of
steps if eps is small against the distances, as it is in Aspire, so the dual is maximised by Newton's method instead.
With y's potential eliminated (the semi-dual) it has one variable for each sentence of the query:

P_ij = y_j exp((f_i - D_ij) / eps) / sum_k exp((f_k - D_kj) / eps)

is a plan for the right y, and Newton's steps bring its rows to x. eps comes down in steps to its final value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Mask

TOLERANCE = 1e-9
"""The largest error of a row's sum at which a plan is exact."""
STEPS = 100
"""The most Newton steps at each eps."""
COOLING = 2.0
"""Factor between each eps and the next smaller one."""
FAINT = 1e-13
"""The mass that a row has at least, far below the tolerance: the steps are exact in numbers of about this precision."""
ROUNDING = 1e-15
DAMPING = tuple(10.0**power for power in range(-14, 3))
"""Values added to the diagonal of the scaled Hessian if Newton's step does not climb; the step that climbs highest is
taken."""
TINY = 1e-300


class Aligned(NamedTuple):
    """The scores of candidates, higher is better, and for each a matrix of weights over pairs of sentences."""

    scores: Array
    """Shape (candidates,)."""
    weights: list[Array]
    """Matrix of each candidate, shape (query sentences, candidate sentences)."""
    unconverged: int = 0
    """Number of candidates that were given up before they were exact."""


def best_pair(parts: list[Array]) -> Aligned:
    """The similarity of the most similar pair of sentences (CSFCube, section 5; Aspire, equation 3 at inference)."""
    scores = np.array([part.max() for part in parts])
    weights = []
    for part in parts:
        only = np.zeros(part.shape)
        only.flat[part.argmax()] = 1.0
        weights.append(only)
    return Aligned(scores, weights)


class Plans(NamedTuple):
    """The plans, shape (pairs, rows, columns), and which of them are exact, shape (pairs,)."""

    plans: Array
    exact: Mask
    by_x: Array
    """The gradient of min <D, P> + eps KL(P | x y) by x, up to a constant for each pair: shape (pairs, rows)."""
    by_y: Array
    """Gradient by y; the constants are such that <x, by_x> + <y, by_y> is the minimum itself."""


def plans(distances: Array, x: Array, y: Array, *, eps: float) -> Plans:
    """The plan of each pair. distances: shape (pairs, rows, columns). x: (pairs, rows). y: (pairs, columns), where 0
    marks a column that a pair does not have."""
    x = np.maximum(x, FAINT)
    x = x / x.sum(axis=1, keepdims=True) * y.sum(axis=1, keepdims=True)
    potentials = np.zeros(x.shape)
    scale = [eps]
    while scale[-1] * COOLING < distances.max():
        scale.append(scale[-1] * COOLING)
    for current in reversed(scale):
        open_ = np.arange(len(x))
        for _ in range(STEPS):
            plan = _plan(potentials[open_], distances[open_], y[open_], current)
            error = np.abs(x[open_] - plan.sum(axis=2)).max(axis=1)
            unfinished = error > TOLERANCE
            open_, plan = open_[unfinished], plan[unfinished]
            if not len(open_):
                break
            problem = distances[open_], x[open_], y[open_], current
            potentials[open_] = _step(potentials[open_], plan, *problem)
    exact = np.ones(len(x), dtype=np.bool_)
    exact[open_] = False
    by_y = -eps * _log_sums(potentials, distances, eps)
    return Plans(_plan(potentials, distances, y, eps), exact, potentials - eps * np.log(x), by_y)


def by_transport(parts: list[Array], *, temperature: float, eps: float) -> Aligned:
    """Scores -<D, P> of the candidates. parts: negated distances, of each candidate shape (rows, its sentences).

    The mass of a sentence is a softmax of its smallest distance to the other paper's sentences, negated, over the
    temperature (Aspire, section 3.2.3): low temperatures look at the sentences that match, high ones at every sentence
    alike.
    """
    rows, widest = len(parts[0]), max(part.shape[1] for part in parts)
    distances = np.zeros((len(parts), rows, widest))
    is_sentence = np.zeros((len(parts), widest), dtype=np.bool_)
    for place, part in enumerate(parts):
        distances[place, :, : part.shape[1]] = -part
        is_sentence[place, : part.shape[1]] = True
    nearest = np.where(is_sentence[:, None, :], distances, np.inf).min(axis=2)
    x = _softmax(-nearest / temperature)
    y = _softmax(np.where(is_sentence, -distances.min(axis=1) / temperature, -np.inf))
    solution = plans(distances, x, y, eps=eps)
    scores = -(distances * solution.plans).sum(axis=(1, 2))
    weights = [plan[:, : part.shape[1]] for plan, part in zip(solution.plans, parts, strict=True)]
    return Aligned(scores, weights, int((~solution.exact).sum()))


def by_attention(parts: list[Array], *, temperature: float) -> Aligned:
    """-<D, A> of each candidate, A the softmax of -D / temperature over all pairs of sentences (Aspire, appendix H)."""
    weights = [_softmax(part.reshape(1, -1) / temperature).reshape(part.shape) for part in parts]
    scores = np.array([(part * weight).sum() for part, weight in zip(parts, weights, strict=True)])
    return Aligned(scores, weights)


def _plan(potentials: Array, distances: Array, y: Array, eps: float) -> Array:
    shares = (potentials[:, :, None] - distances) / eps
    shares = np.exp(shares - shares.max(axis=1, keepdims=True))
    return np.asarray(y[:, None, :] * shares / shares.sum(axis=1, keepdims=True))


def _step(potentials: Array, plan: Array, distances: Array, x: Array, y: Array, eps: float) -> Array:
    """Newton's step if it climbs as it should, otherwise the best of damped steps and of Sinkhorn's."""
    sums = plan.sum(axis=2)
    hessian = -(plan @ (plan / np.maximum(y, TINY)[:, None, :]).transpose(0, 2, 1))
    rows = np.arange(x.shape[1])
    hessian[:, rows, rows] += sums
    # Every row in units of its mass, as masses differ by many powers of ten.
    scale = np.reciprocal(np.sqrt(np.maximum(sums, x)))
    hessian *= scale[:, :, None] * scale[:, None, :]
    slopes = ((x - sums) * scale)[:, :, None]
    # Potentials matter up to a constant only.
    hessian[:, rows, rows] += ROUNDING
    moved = potentials + eps * scale * np.linalg.solve(hessian, slopes)[:, :, 0]
    height = _dual(potentials, distances, x, y, eps)
    promised = ((moved - potentials) * (x - sums)).sum(axis=1)
    climbed = _dual(moved, distances, x, y, eps) - height
    # Near the top, rounding hides what is climbed: there Newton's own step is the one that ends.
    slow = np.flatnonzero(~((climbed >= 0.1 * promised) | (np.abs(promised) <= 1e-13 * np.abs(height))))
    if len(slow):
        values, vectors = np.linalg.eigh(hessian[slow])
        slopes = vectors.transpose(0, 2, 1) @ slopes[slow]
        tried = [eps * (np.log(x[slow]) - np.log(np.maximum(sums[slow], TINY)))]
        for damping in DAMPING:
            step = vectors @ (slopes / (np.maximum(values, 0.0) + damping)[:, :, None])
            tried.append(eps * scale[slow] * step[:, :, 0])
        ends = potentials[slow] + np.stack(tried)
        heights = np.stack([_dual(end, distances[slow], x[slow], y[slow], eps) for end in ends])
        moved[slow] = ends[np.where(np.isfinite(heights), heights, -np.inf).argmax(axis=0), np.arange(len(slow))]
    return np.asarray(moved)


def _dual(potentials: Array, distances: Array, x: Array, y: Array, eps: float) -> Array:
    return np.asarray((potentials * x).sum(axis=1) - eps * (y * _log_sums(potentials, distances, eps)).sum(axis=1))


def _log_sums(potentials: Array, distances: Array, eps: float) -> Array:
    exponents = (potentials[:, :, None] - distances) / eps
    top = exponents.max(axis=1)
    return np.asarray(np.log(np.exp(exponents - top[:, None, :]).sum(axis=1)) + top)


def _softmax(values: Array) -> Array:
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
