"""The ordinal model of `grading`, fitted: its maximum, and what an effect not in it would add.

The likelihood is integrated over theta on a grid and maximised by the method of Berndt, Hall, Hall and Hausman (1974,
Annals of Economic and Social Measurement 3, 653-665): Newton steps with the outer product of the scores as information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.diagnosis.grading import (
    HERMITE,
    NODES,
    SHARES,
    Effect,
    Parameters,
    Patterns,
    lengths,
    own_scores,
    probabilities,
    table,
)

Array = npt.NDArray[np.float64]

PRIOR_SD_OF_MU = 2.0
PRIOR_LOG_OMEGA = (0.5, 1.0)
PRIOR_LOGIT_SLIPS = (-4.5, 1.0)
PRIOR_SD_OF_SHAPE = 0.15
"""Mean and standard deviation of weak normal priors: they decide only where the data say nothing."""
LARGEST_SHARE = 0.9
MAX_STEPS = 60
TOLERANCE = 2e-3
"""A fit has converged when the next step would raise the log-likelihood by less than this."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The model at its maximum."""

    patterns: Patterns
    effects: tuple[Effect, ...]
    parameters: Array
    """Thresholds (G-1), log omega (facets), mu (queries), shape (2), logit of the slips, then one number an effect."""
    log_likelihood: float
    """Penalised by the weak priors."""
    scores: Array
    """Shape (P, L), the derivative of each pattern's log-likelihood by each parameter."""
    directions: Array
    """Shape (P, M, D), the derivative by each assessor's own numbers, in the order that `grading.own_scores` tells."""
    converged: bool

    @property
    def information(self) -> Array:
        """The outer product of the scores, with the priors' curvature."""
        return _outer(self.scores, self.patterns.count) + np.diag(_prior(self.patterns, self.parameters)[2])

    @property
    def gradient(self) -> Array:
        """The slope of the penalised log-likelihood: about 0 where the fit has converged."""
        return self.scores.T @ self.patterns.count + _prior(self.patterns, self.parameters)[1]

    def efficient(self, own: Array) -> tuple[Array, Array]:
        """Scores by pattern less what the model's parameters explain of them, and what these sum to.

        own: shape (P,), or (P, K) for K numbers that are not in the model.
        """
        weighted = self.patterns.count[:, None] * self.scores
        shared = np.linalg.lstsq(self.information, weighted.T @ own, rcond=1e-10)[0]
        return own - self.scores @ shared, self.patterns.count @ own - self.gradient @ shared

    @property
    def sizes(self) -> Array:
        """The number of each effect."""
        return self.parameters[len(self.parameters) - len(self.effects) :]


def fit(patterns: Patterns, effects: Sequence[Effect], *, start: Fit | None) -> Fit:
    """Maximise the likelihood with `effects` in the model. start: a fit of the same patterns to start from."""
    effects = tuple(effects)
    parameters = _start(patterns, effects, start)
    value, scores, directions = _evaluate(patterns, effects, parameters)
    for _ in range(MAX_STEPS):
        penalty, slope, curvature = _prior(patterns, parameters)
        gradient = scores.T @ patterns.count + slope
        information = _outer(scores, patterns.count) + np.diag(curvature)
        step = np.linalg.lstsq(information, gradient, rcond=1e-10)[0]
        if gradient @ step / 2 < TOLERANCE:
            return Fit(patterns, effects, parameters, value + penalty, scores, directions, True)
        shrink = min(1.0, 1.0 / float(np.abs(step).max()))
        while True:
            trial = _within_bounds(patterns, effects, parameters + shrink * step)
            tried = _evaluate(patterns, effects, trial)
            if tried[0] + _prior(patterns, trial)[0] > value + penalty:
                break
            shrink /= 2
            if shrink < 1e-4:
                return Fit(patterns, effects, parameters, value + penalty, scores, directions, False)
        parameters = trial
        value, scores, directions = tried
    return Fit(patterns, effects, parameters, value + _prior(patterns, parameters)[0], scores, directions, False)


def effect_scores(fitted: Fit, effect: Effect) -> Array:
    """Shape (P,): the derivative of each pattern's log-likelihood by an effect that is not in the model, at zero."""
    return own_scores(fitted.directions, effect, fitted.patterns.n_grades)


def grade_probabilities(fitted: Fit, sizes: npt.ArrayLike) -> tuple[Array, Array]:
    """P(grade | theta node) of each query and assessor, shape (Q, M, G, nodes), and the nodes' weights.

    sizes: the number of each effect, in place of the fitted ones; 0 for one that is thought away.
    """
    common = fitted.parameters[: len(fitted.parameters) - len(fitted.effects)]
    view = Parameters.of(fitted.patterns, fitted.effects, np.append(common, sizes))
    return probabilities(fitted.patterns, view)[0], view.weights


def _within_bounds(patterns: Patterns, effects: Sequence[Effect], parameters: Array) -> Array:
    common = len(parameters) - len(effects)
    for at, effect in enumerate(effects, start=common):
        if effect.kind in SHARES:
            parameters[at] = min(max(parameters[at], 0.0), LARGEST_SHARE)
    return parameters


def _start(patterns: Patterns, effects: tuple[Effect, ...], start: Fit | None) -> Array:
    k, facets, queries = lengths(patterns)
    common = k + facets + queries + 3
    if start is not None:
        known = dict(zip(start.effects, start.parameters[common:], strict=True))
        values = [known.get(effect, 0.1 if effect.kind in SHARES else 0.0) for effect in effects]
        return np.concatenate([start.parameters[:common], values])
    from scipy.special import ndtri

    judged = patterns.grades >= 0
    weight = np.where(judged, patterns.count[:, None], 0.0)
    at_least = np.array([(weight * (patterns.grades >= y)).sum() for y in range(1, k + 1)])
    share = (at_least + 0.5) / (weight.sum() + 1.0)
    thresholds = -ndtri(share) * np.sqrt(1 + np.exp(2 * PRIOR_LOG_OMEGA[0]))
    thresholds = np.maximum.accumulate(thresholds + 1e-3 * np.arange(k))
    rest = [np.full(facets, PRIOR_LOG_OMEGA[0]), np.zeros(queries + 2), [PRIOR_LOGIT_SLIPS[0]]]
    return np.concatenate([thresholds, *rest, [0.1 if effect.kind in SHARES else 0.0 for effect in effects]])


def _prior(patterns: Patterns, parameters: Array) -> tuple[float, Array, Array]:
    """The log of the weak priors, its slope, and minus its curvature (diagonal)."""
    k, facets, queries = lengths(patterns)
    mean = np.zeros(len(parameters))
    precision = np.zeros(len(parameters))
    mean[k : k + facets], precision[k : k + facets] = PRIOR_LOG_OMEGA[0], PRIOR_LOG_OMEGA[1] ** -2
    precision[k + facets : k + facets + queries] = PRIOR_SD_OF_MU**-2
    at = k + facets + queries + 2
    precision[at - 2 : at] = PRIOR_SD_OF_SHAPE**-2
    mean[at], precision[at] = PRIOR_LOGIT_SLIPS[0], PRIOR_LOGIT_SLIPS[1] ** -2
    off = parameters - mean
    return float(-(precision * off**2).sum() / 2), -precision * off, precision


def _outer(scores: Array, count: Array) -> Array:
    return scores.T @ (count[:, None] * scores)


def _evaluate(patterns: Patterns, effects: Sequence[Effect], parameters: Array) -> tuple[float, Array, Array]:
    """Log-likelihood, scores by pattern and parameter, and the derivatives in each assessor's own directions."""
    view = Parameters.of(patterns, effects, parameters)
    k, facets, queries = lengths(patterns)
    probability, derivatives = table(patterns, view)
    judged = patterns.grades >= 0
    rows = np.arange(len(patterns.query))
    log_joint = np.zeros((len(rows), len(NODES)))
    taken = []
    for a in range(patterns.n_assessors):
        at = rows[judged[:, a]]
        key = (patterns.query[at], a, patterns.grades[at, a])
        p = probability[key]
        log_joint[at] += np.log(p)
        taken.append((at, key, p))
    top = log_joint.max(axis=1, keepdims=True)
    joint = np.exp(log_joint - top) * view.weights
    likelihood = joint.sum(axis=1)
    posterior = joint / likelihood[:, None]
    value = float(patterns.count @ (np.log(likelihood) + top[:, 0]))

    own = derivatives.shape[-1] - 3
    directions = np.zeros((len(rows), patterns.n_assessors, own))
    shared = np.zeros((len(rows), 3))
    for a, (at, key, p) in enumerate(taken):
        mean = np.matmul((posterior[at] / p)[:, None, :], derivatives[key])[:, 0]
        directions[at, a] = mean[:, :own]
        shared[at] += mean[:, own:]
    facet = patterns.facet_of_query[patterns.query]
    last = k + facets + queries + 2
    scores = np.zeros((len(rows), len(parameters)))
    scores[:, :k] = directions[:, :, :k].sum(axis=1)
    scores[rows, k + facet] = shared[:, 1] * view.omega[facet]
    scores[rows, k + facets + patterns.query] = shared[:, 0]
    scores[:, last - 2 : last] = posterior @ HERMITE.T - HERMITE @ view.weights
    scores[:, last] = shared[:, 2]
    for column, effect in enumerate(effects, start=last + 1):
        scores[:, column] = own_scores(directions, effect, patterns.n_grades)
    return value, scores, directions
