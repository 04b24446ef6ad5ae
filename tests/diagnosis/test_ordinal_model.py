"""The ordinal model beside a bivariate normal integral, a numerical gradient, and assessors drawn from itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from annot.diagnosis.grading import SHARES, Effect, Parameters, patterns_of, probabilities, transfers
from annot.diagnosis.ordinal import _evaluate, effect_scores, fit, grade_probabilities
from scipy import stats

EVERY_KIND = (
    Effect(0, "severity", None),
    Effect(1, "threshold", 2),
    Effect(2, "spread", None),
    Effect(0, "down", 1),
    Effect(1, "up", 2),
    Effect(2, "slips", None),
    Effect(0, "wobble", None),
)
SIZES = np.array([0.3, -0.4, 0.3, 0.1, 0.05, 0.07, 0.04])


@pytest.fixture(scope="module")
def patterns():
    rng = np.random.default_rng(1)
    seen = rng.normal(0, 1, 300)[:, None] + rng.normal(0, 0.5, (300, 3))
    grades = (seen[:, :, None] > [-0.3, 0.6, 1.4]).sum(axis=2)
    grades[::3, 0] = -1
    return patterns_of(grades, np.repeat(np.arange(6), 50), np.arange(6) % 2, n_grades=4)


def parameters(sizes: np.ndarray = SIZES) -> np.ndarray:
    common = [-0.5, 1.2, 2.9, 0.6, 0.8, *np.linspace(-0.4, 0.4, 6), 0.1, -0.05, -4.0]
    return np.concatenate([common, sizes])


def test_scores_are_the_numerical_gradient(patterns) -> None:
    at = parameters()
    _, scores, _ = _evaluate(patterns, EVERY_KIND, at)
    steps = 1e-5 * np.eye(len(at))
    numerical = [
        (_evaluate(patterns, EVERY_KIND, at + step)[0] - _evaluate(patterns, EVERY_KIND, at - step)[0]) / 2e-5
        for step in steps
    ]
    assert scores.T @ patterns.count == pytest.approx(np.array(numerical), abs=1e-4)


def test_score_by_an_effect_outside_the_model_is_its_gradient_at_nought(patterns) -> None:
    fitted = fit(patterns, (), start=None)
    assert fitted.converged
    for effect in EVERY_KIND:
        with_it = np.append(fitted.parameters, 0.0)
        step = 1e-5 * np.eye(len(with_it))[-1]
        numerical = (
            _evaluate(patterns, (effect,), with_it + step)[0] - _evaluate(patterns, (effect,), with_it - step)[0]
        ) / 2e-5
        assert patterns.count @ effect_scores(fitted, effect) == pytest.approx(numerical, abs=1e-4)


def test_joint_probabilities_are_those_of_a_bivariate_normal(patterns) -> None:
    """With a normal theta and no slips two perceptions are normal with variance omega^2 + 1 and covariance omega^2."""
    at = parameters(np.array([0.5]))
    at[11:14] = [0.0, 0.0, -30.0]
    fitted = fit(patterns, (Effect(0, "severity", None),), start=None)
    fitted = type(fitted)(fitted.patterns, fitted.effects, at, 0.0, fitted.scores, fitted.directions, True)
    tables, weights = grade_probabilities(fitted, [0.5])
    query = 3  # of the second facet
    omega, mu = np.exp(at[4]), at[5 + query]
    joint = stats.multivariate_normal([mu, mu], [[omega**2 + 1, omega**2], [omega**2, omega**2 + 1]])
    cuts = np.concatenate([[-40.0], at[:3], [40.0]])
    first = np.concatenate([[-40.0], at[:3] + 0.5, [40.0]])
    for y, z in itertools.product(range(4), range(4)):
        rectangle = (
            joint.cdf([first[y + 1], cuts[z + 1]])
            - joint.cdf([first[y], cuts[z + 1]])
            - joint.cdf([first[y + 1], cuts[z]])
            + joint.cdf([first[y], cuts[z]])
        )
        ours = float((tables[query, 0, y] * tables[query, 1, z]) @ weights)
        assert ours == pytest.approx(rectangle, abs=2e-4)


def test_grades_of_a_pair_have_probability_one_whatever_the_effects(patterns) -> None:
    for sizes in (SIZES, np.array([2.0, -6.0, 1.0, 0.5, 0.5, 0.5, 0.4])):
        view = Parameters.of(patterns, EVERY_KIND, parameters(sizes))
        table = probabilities(patterns, view)[0]
        assert table.sum(axis=2) == pytest.approx(1.0, abs=1e-9)
        assert table.min() > 0
    assert transfers(5).sum(axis=1) == pytest.approx(0.0)


def test_an_effect_is_estimated_where_it_was_put() -> None:
    """Assessors drawn from the model itself: the numbers put in come out within three standard errors."""
    rng = np.random.default_rng(8)
    effects = (Effect(0, "severity", None), Effect(1, "down", 2), Effect(2, "slips", None))
    sizes = np.array([0.6, 0.3, 0.2])
    n = 3000
    theta = 2.0 * rng.standard_normal(n)
    seen = theta[:, None] + rng.standard_normal((n, 4))
    seen[:, 0] -= sizes[0]
    grades = (seen[:, :, None] > [-1.0, 1.0, 3.0]).sum(axis=2)
    at_two = np.flatnonzero((grades[:, 1] == 2) & (rng.random(n) < sizes[1]))
    grades[at_two, 1] = 1
    slipped = np.flatnonzero(rng.random(n) < sizes[2])
    grades[slipped, 2] = rng.integers(0, 4, len(slipped))
    fitted = fit(patterns_of(grades, np.zeros(n, int), np.array([0]), n_grades=4), effects, start=None)
    assert fitted.converged
    errors = np.sqrt(np.diag(np.linalg.inv(fitted.information))[-3:])
    assert np.all(np.abs(fitted.sizes - sizes) < 3 * errors)
    assert np.all(errors < 0.1)


def test_shares_stay_shares(patterns) -> None:
    for kind in SHARES:
        threshold = 1 if kind in ("down", "up") else None
        assert 0.0 <= fit(patterns, (Effect(1, kind, threshold),), start=None).sizes[0] <= 1.0
