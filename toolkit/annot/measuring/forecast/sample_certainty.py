"""Certainty lost by judging a sample of the pools: seen on queries that are judged.

Pairs that were never judged get grades by chance (`filling_in`). From these whole pools, pairs are drawn again many
times with the probabilities that a share gives them, and each draw is estimated as an evaluation would
(`annot.measuring.sampled`). An interval over topics is as wide as the estimates scatter between topics, so it is wider
by the root of their scatter over that of the whole pools' values, however many topics a study has. It may also be
narrower: a query in which nothing relevant is drawn gets its prediction, and predictions scatter little. If this
happens in many queries, intervals hold less often than they say (`benchmarks/sampled_predictions.py`). The bias of a
level does not shrink with topics, and its interval does: the share that is too small for a study depends on its own
number of topics.

`annot forecast --sample` and the notes of a sampled study about its own sample are this one computation;
`benchmarks/sample_certificate.py` compares it with the truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Integers
from annot.base.stats.seeding import generator
from annot.base.stats.values import Estimate, Interval, Undefined, Value
from annot.measuring.evaluation.graded_pools import MOST_EMPTY
from annot.measuring.evaluation.gradings import Family
from annot.measuring.forecast.filling_in import filled_in
from annot.measuring.forecast.redrawing import MIN_UNITS, papers_by_number
from annot.measuring.sampled.estimates import pools_of
from annot.measuring.sampled.grades import PoolGrades, Predicted
from annot.measuring.sampled.lists import Estimates, Lists
from annot.measuring.sampled.predicting import Features, Grades, predicted
from annot.measuring.sampled.weights import tuned
from annot.pools.pair_sample import Probabilities

HALF_AGAIN = 0.5
"""Largest widening that is advised. Beyond it, intervals are as wide as those of fewer than half of the topics, judged
completely.
"""
QUARTER = 0.25
"""Part of an interval's half width that a bias may have."""
RANGE = 0.9
"""Level of ranges."""
OF_REDRAW = 0.1
"""Error of the factor 1 + widening with any number of topics: documents that were not found stay unknown."""
RESAMPLES = 400
"""Number of times that topics are drawn again for a range."""
MOST_REDRAWS, FEWEST_REDRAWS, QUERIES_REDRAWN = 20, 5, 1000
"""Numbers of times that pairs are drawn again: the most, the fewest, and of all queries together."""
ONE_RUN = Undefined("there is one run, so there is no difference between two")
ALIKE = Undefined("all runs are equally good on every topic")
ONE_TOPIC = Undefined("one topic has no interval")
LEAST = 1e-12
"""Smaller scatter is rounding."""


class Certainty(NamedTuple):
    """Effect of a share of the pools on the mean of a measure over topics, and on its difference between two runs."""

    level: Estimate
    """Widening of the interval of a run's mean, as a fraction of that of whole pools; the median run. The range is of
    topics drawn again.
    """
    difference: Estimate
    """Widening of the interval of the difference between two runs; the median pair."""
    bias: float | None
    """Expected error of a run's mean; the mean over runs. None if it is not known."""
    half_width: Value
    """Half width of the interval of a run's mean in the whole study; the median run."""
    empty: float | None
    """Share of queries in which nothing relevant is drawn; None if it is not known."""

    @property
    def too_small(self) -> bool:
        """True if the bias is too large compared with the interval."""
        if self.bias is None or isinstance(self.half_width, Undefined):
            return False
        return abs(self.bias) > QUARTER * self.half_width

    @property
    def too_wide(self) -> bool:
        """True if intervals widen too much: of a difference, or of a run's mean if there is one run."""
        wider = self.level.value if isinstance(self.difference.value, Undefined) else self.difference.value
        return not isinstance(wider, Undefined) and wider > HALF_AGAIN

    @property
    def too_empty(self) -> bool:
        """True if nothing relevant is drawn in so many queries that intervals hold less often than they say."""
        return self.empty is not None and self.empty > MOST_EMPTY


@dataclass(frozen=True)
class JudgedQueries:
    """Queries of which all pairs are judged, or all that were drawn. Each field is by query."""

    grades: Grades
    """Grades that are known."""
    lists: Mapping[str, Sequence[Sequence[Sequence[str]]]]
    """Documents of each of S runs, best first; those that tie together."""
    features: Features
    """Features of all documents of the pools."""
    topics: Mapping[str, str]
    drawn_with: Mapping[str, Mapping[str, float]]
    """Probability with which each document's grade came to be known."""


@dataclass(frozen=True)
class Measured:
    """Measure, and settings of the study."""

    family: Family
    k: int
    relevant_from: int
    highest: int
    """Highest grade."""
    predict: bool
    """True if estimates use predictions of grades."""
    topics: int
    """Topics of the whole study."""
    level: float
    """Level of its intervals."""
    redraws: int
    seed: int


def certainty(
    judged: JudgedQueries, pi: Probabilities, measured: Measured, guesses: Mapping[str, Predicted] | None = None
) -> Certainty:
    """Draw the pairs of the judged queries many times with these probabilities, which are of all their documents.

    guesses: the predictions that the estimates use; None learns them from the first draw. Grades that are not known are
    filled in again for each draw.
    """
    names = tuple(sorted(judged.grades))
    filled = filled_in(
        judged.grades,
        judged.features,
        judged.drawn_with,
        highest=measured.highest,
        relevant_from=measured.relevant_from,
        seed=measured.seed,
    )
    first = filled.grades(0)
    pools = _judged_whole(first, measured)
    lists = {name: Lists.of(judged.lists[name], pools[name]) for name in names}
    truth = _values(lists, first, measured)
    true, estimates = (np.empty((measured.redraws, *truth.shape)) for _ in range(2))
    empty = 0
    for redraw in range(measured.redraws):
        grades = filled.grades(redraw) if filled.incomplete else first
        drawn = {name: _drawn(grades[name], pi[name], measured.seed, name, redraw) for name in names}
        empty += sum(max(known.values(), default=0) < measured.relevant_from for known in drawn.values())
        if measured.predict and guesses is None:
            # Learned from the first draw alone: the next would teach nearly the same, and learning takes longest.
            guesses = predicted(drawn, judged.features, judged.topics, highest=measured.highest)
        true[redraw] = _values(lists, grades, measured) if filled.incomplete else truth
        weights = None
        if guesses:
            weights = tuned(
                pi, drawn, guesses, judged.topics, relevant_from=measured.relevant_from, highest=measured.highest
            )
        pools = pools_of(pi, drawn, guesses, highest=measured.highest, weights=weights)
        for row, name in enumerate(names):
            estimates[redraw, row] = _measured(replace(lists[name], grades=pools[name]), measured).values
    paper = papers_by_number(names, judged.topics)
    return _certainty_of(estimates, true, paper, measured)._replace(empty=empty / measured.redraws / len(names))


def unknown(reason: Undefined) -> Certainty:
    """Certainty of which nothing is known, for this reason."""
    none = Estimate(reason, reason)
    return Certainty(none, none, None, reason, None)


def redraws_of(queries: int) -> int:
    """Number of times that so many queries are drawn again: a query's draw takes a few milliseconds."""
    return min(MOST_REDRAWS, max(FEWEST_REDRAWS, QUERIES_REDRAWN // queries))


def half_width(deviation: float, topics: int, level: float) -> Value:
    """Half width of the interval of a mean over so many topics that have this standard deviation."""
    from scipy.special import stdtrit

    if topics < 2:
        return ONE_TOPIC
    return float(stdtrit(topics - 1, 0.5 + level / 2)) * deviation / math.sqrt(topics)


class _Scatter(NamedTuple):
    """Scatter of S runs between U topics: means over redraws of the covariance of their means."""

    products: Array
    """Shape (U, S, S)."""
    means: Array
    """Shape (R, U, S): distance by which each topic moves the mean of each redraw."""

    @classmethod
    def of(cls, values: Array, paper: Integers) -> _Scatter:
        """Build from values, shape (R, Q, S), and the topic of each query by number, shape (Q,)."""
        off = (values - values.mean(axis=1, keepdims=True)) / values.shape[1]
        members = (paper[:, None] == np.arange(paper.max() + 1)).astype(np.float64)
        means = np.einsum("rqs,qu->rus", off, members)
        return cls(np.einsum("rus,rut->ust", means, means) / len(means), means)

    def covariances(self, weights: Array) -> Array:
        """Covariances, shape (B, S, S). weights: shape (B, U), number of times that each topic is drawn."""
        units = weights.shape[1]
        centres = np.einsum("bu,rus->brs", weights / units, self.means)
        squares = np.einsum("bu,ust->bst", weights, self.products)
        return np.asarray(squares - units * np.einsum("brs,brt->bst", centres, centres) / len(self.means))


def _certainty_of(estimates: Array, true: Array, paper: Integers, measured: Measured) -> Certainty:
    """Certainty from estimates and true values, both of shape (R, Q, S)."""
    units, runs = int(paper.max()) + 1, true.shape[2]
    rng = generator(measured.seed, "topics drawn again")
    weights = np.concatenate([np.ones((1, units)), rng.multinomial(units, np.full(units, 1 / units), size=RESAMPLES)])
    of_estimates, of_true = (_Scatter.of(values, paper).covariances(weights) for values in (estimates, true))
    level = _wider(_variances(of_estimates), _variances(of_true), units)
    first, second = np.triu_indices(runs, k=1)
    between = Estimate(ONE_RUN, ONE_RUN)
    if runs > 1:
        between = _wider(
            _of_differences(of_estimates)[:, first, second], _of_differences(of_true)[:, first, second], units
        )
    topical = np.diag(of_true[0]) * units / max(1, units - 1)
    half = half_width(float(np.median(np.sqrt(topical * units))), measured.topics, measured.level)
    if not isinstance(half, Undefined) and not isinstance(level.value, Undefined):
        half *= 1 + level.value
    return Certainty(level, between, float((estimates - true).mean()), half, None)


def _wider(of_estimates: Array, of_true: Array, units: int) -> Estimate:
    """Widening from the scatter of N figures, shape (1 + B, N), first of all topics as they are."""
    if units < 2:
        return Estimate(ONE_TOPIC, ONE_TOPIC)
    differ = of_true[0] > LEAST
    if not differ.any():
        return Estimate(ALIKE, ALIKE)
    ratios = of_estimates[:, differ] / np.maximum(of_true[:, differ], LEAST)
    if np.abs(ratios - 1).max() < LEAST**0.5:
        return Estimate(0.0, Interval(0.0, 0.0, RANGE, "bootstrap"))
    wider = np.median(np.sqrt(np.maximum(ratios, LEAST)), axis=1) - 1
    if units < MIN_UNITS:
        few = Undefined(f"{units} topics do not show how topics differ; {MIN_UNITS} are needed")
        return Estimate(float(wider[0]), few)
    logs = np.log1p(wider)
    below, above = np.abs(np.quantile(logs[1:], ((1 - RANGE) / 2, (1 + RANGE) / 2)) - logs[0])
    low, high = np.expm1([logs[0] - below - OF_REDRAW, logs[0] + above + OF_REDRAW])
    return Estimate(float(wider[0]), Interval(float(low), float(high), RANGE, "bootstrap"))


def _variances(covariances: Array) -> Array:
    """Variances of each of B covariances: shape (B, S)."""
    return np.diagonal(covariances, axis1=1, axis2=2)


def _of_differences(covariances: Array) -> Array:
    """Variances of the differences between every two, of each of B covariances: shape (B, S, S)."""
    variances = _variances(covariances)
    return np.asarray(variances[:, :, None] + variances[:, None, :] - 2 * covariances)


def _drawn(grades: Mapping[str, int], pi: Mapping[str, float], seed: int, name: str, redraw: int) -> dict[str, int]:
    chances = generator(seed, "drawn again", name, str(redraw)).random(len(grades)).tolist()
    return {doc_id: grades[doc_id] for doc_id, chance in zip(grades, chances, strict=True) if chance < pi[doc_id]}


def _judged_whole(grades: Grades, measured: Measured) -> dict[str, PoolGrades]:
    certain = {name: dict.fromkeys(known, 1.0) for name, known in grades.items()}
    return pools_of(certain, grades, None, highest=measured.highest)


def _values(lists: Mapping[str, Lists], grades: Grades, measured: Measured) -> Array:
    """Values of whole pools, shape (queries, S)."""
    pools = _judged_whole(grades, measured)
    return np.array([_measured(replace(ranked, grades=pools[name]), measured).values for name, ranked in lists.items()])


def _measured(lists: Lists, measured: Measured) -> Estimates:
    return lists.measured(measured.family, measured.k, relevant_from=measured.relevant_from)
