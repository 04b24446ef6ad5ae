"""Entropic optimal transport between two small sets of sentences, many pairs of papers at once, with its plans.

min <D, P> - eps h(P) over plans P whose rows sum to x and whose columns sum to y (Cuturi 2013; Aspire, equation 5 and
appendix F). The plan is that of Sinkhorn's iterations at their end; these need tens of thousands of steps where eps is
small beside the distances, as it is in Aspire, so the dual is maximised by Newton's method instead. With y's potential
eliminated (the semi-dual) it has one variable for each sentence of the query:

    P_ij = y_j exp((f_i - D_ij) / eps) / sum_k exp((f_k - D_kj) / eps)

is a plan for the right y, and Newton's steps bring its rows to x. eps comes down in steps to the one wanted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annot.stats.arrays import Array, Mask
from annot.systems.alignment import Aligned

TOLERANCE = 1e-9
"""The largest error of a row's sum at which a plan is exact."""
STEPS, WARMING_STEPS = 100, 3
"""The most Newton steps at the eps that is wanted, and at each larger one before it."""
COOLING = 2.0
"""How much smaller each eps is than the one before."""
DAMPING = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
"""What is added to the diagonal of the Hessian where Newton's step does not climb; the highest one is taken."""
TINY = 1e-300


class Plans(NamedTuple):
    """The plans, shape (pairs, rows, columns), and which of them are exact, shape (pairs,)."""

    plans: Array
    exact: Mask


def plans(distances: Array, x: Array, y: Array, *, eps: float) -> Plans:
    """The plan of each pair. distances: shape (pairs, rows, columns). x: (pairs, rows). y: (pairs, columns), where 0
    marks a column that a pair does not have."""
    potentials = np.zeros(x.shape)
    scale = [eps]
    while scale[-1] * COOLING < distances.max(initial=0.0):
        scale.append(scale[-1] * COOLING)
    open_ = np.arange(0)
    for current in reversed(scale):
        last = current == eps
        open_ = np.arange(len(x))
        for _ in range(STEPS if last else WARMING_STEPS):
            plan = _plan(potentials[open_], distances[open_], y[open_], current)
            error = np.abs(x[open_] - plan.sum(axis=2)).max(axis=1)
            unfinished = error > (TOLERANCE if last else 1e-2)
            open_, plan = open_[unfinished], plan[unfinished]
            if not len(open_):
                break
            problem = distances[open_], x[open_], y[open_], current
            potentials[open_] = _step(potentials[open_], plan, *problem)
    exact = np.ones(len(x), dtype=np.bool_)
    exact[open_] = False
    return Plans(_plan(potentials, distances, y, eps), exact)


def by_transport(parts: list[Array], *, temperature: float, eps: float) -> Aligned:
    """-<D, P> of each candidate. parts: negated distances, of each candidate shape (rows, its sentences).

    The mass of a sentence is a softmax of its smallest distance to the other paper's sentences, negated, over the
    temperature (Aspire, section 3.2.3): low temperatures look at what matches, high ones at every sentence alike.
    """
    rows, widest = len(parts[0]), max(part.shape[1] for part in parts)
    distances = np.zeros((len(parts), rows, widest))
    there = np.zeros((len(parts), widest), dtype=np.bool_)
    for at, part in enumerate(parts):
        distances[at, :, : part.shape[1]] = -part
        there[at, : part.shape[1]] = True
    nearest = np.where(there[:, None, :], distances, np.inf).min(axis=2)
    x = _softmax(-nearest / temperature)
    y = _softmax(np.where(there, -distances.min(axis=1) / temperature, -np.inf))
    found = plans(distances, x, y, eps=eps)
    scores = -(distances * found.plans).sum(axis=(1, 2))
    weights = [plan[:, : part.shape[1]] for plan, part in zip(found.plans, parts, strict=True)]
    return Aligned(scores, weights, int((~found.exact).sum()))


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
    """Newton's step where it climbs as it should, and elsewhere the best of damped ones and of Sinkhorn's."""
    sums = plan.sum(axis=2)
    hessian = -(plan @ (plan / np.maximum(y, TINY)[:, None, :]).transpose(0, 2, 1))
    rows = np.arange(x.shape[1])
    # Potentials matter up to a constant only: the direction of ones is fixed at zero.
    hessian += 1.0 / len(rows) ** 2
    hessian[:, rows, rows] += sums + 1e-14
    step = eps * np.linalg.solve(hessian, (x - sums)[:, :, None])[:, :, 0]
    moved = potentials + step
    height = _dual(potentials, distances, x, y, eps)
    promised = (step * (x - sums)).sum(axis=1)
    climbed = _dual(moved, distances, x, y, eps) - height
    # Near the top, rounding hides what is climbed: there Newton's own step is the one that ends.
    slow = np.flatnonzero(~((climbed >= 0.1 * promised) | (np.abs(promised) <= 1e-13 * np.abs(height))))
    if len(slow):
        tried = [potentials[slow] + eps * (np.log(np.maximum(x, TINY)) - np.log(np.maximum(sums, TINY)))[slow]]
        for damping in DAMPING:
            damped = hessian[slow]
            damped[:, rows, rows] += damping
            tried.append(potentials[slow] + eps * np.linalg.solve(damped, (x - sums)[slow, :, None])[:, :, 0])
        heights = np.stack([_dual(one, distances[slow], x[slow], y[slow], eps) for one in tried])
        chosen = np.where(np.isfinite(heights), heights, -np.inf).argmax(axis=0)
        moved[slow] = np.stack(tried)[chosen, np.arange(len(slow))]
    return np.asarray(moved)


def _dual(potentials: Array, distances: Array, x: Array, y: Array, eps: float) -> Array:
    exponents = (potentials[:, :, None] - distances) / eps
    top = exponents.max(axis=1)
    return np.asarray(
        (potentials * x).sum(axis=1)
        - eps * (y * (np.log(np.exp(exponents - top[:, None, :]).sum(axis=1)) + top)).sum(1)
    )


def _softmax(values: Array) -> Array:
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
