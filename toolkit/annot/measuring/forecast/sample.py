"""Forecast of a sample: what each share of the pools takes and costs in certainty."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from annot.base.libraries import special
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.inference import generator
from annot.base.stats.values import Estimate, Interval, Undefined, Value
from annot.measuring.evaluation.measures import MOST_EMPTY, Family
from annot.measuring.forecast.design import MIN_UNITS, papers_by_number
from annot.measuring.forecast.hours import Effort, drawn_range
from annot.measuring.sampled.estimates import Estimates, Lists, pools_of
from annot.measuring.sampled.grades import Features, Grades, PoolGrades, Predicted, predicted, tuned
from annot.pools.pooling import ExpectedPairs, Probabilities

if TYPE_CHECKING:
    from pandas import DataFrame

# ----------------------------------------------------------------------------------------------------------------------
# Grades of pairs that were never judged, filled in by chance, so that whole pools can be drawn from again.
#
# A logistic regression predicts each "this grade or higher" from the rankings. Each judged pair counts 1 / its
# probability: the regression then fits the whole pools and not their tops, which have most of the drawn pairs. Each
# query has an intercept of its own around a common one, with a normal distribution whose variance is learned with it:
# queries differ in how many relevant documents they have, and some have none. `benchmarks/sample_certificate.py`
# compares the filled-in grades with the true ones.
# ----------------------------------------------------------------------------------------------------------------------


STRENGTH = 10.0
"""Strength of the penalty on coefficients, on features that are scaled to a deviation of 1."""
STEPS = 40
"""Steps of the estimation of the queries' intercepts; it is close to its end after twenty."""
FARTHEST = 2.0
"""Longest way that an intercept moves in one step."""


class FilledIn:
    """Whole pools: the grades that are known, and the chances of each grade for every other pair."""

    def __init__(self, judged: JudgedQueries, measured: MeasuredDesign) -> None:
        """Learn the chances from the pairs that are judged."""
        self.known, self.seed = judged.grades, measured.seed
        names = sorted(self.known)
        self.missing = {name: sorted(judged.features[name].keys() - self.known[name].keys()) for name in names}
        """Documents without a grade, by query."""
        self.at_least: dict[str, Array] = {}
        """Probability that each of them has a grade or a higher one, by query: shape (n, G), a column for each grade
        from 1.
        """
        if not self.incomplete:
            return
        pairs = [(row, name, doc_id) for row, name in enumerate(names) for doc_id in sorted(judged.features[name])]
        query = np.array([row for row, _, _ in pairs])
        known = np.array([doc_id in self.known[name] for _, name, doc_id in pairs])
        grade = np.array([self.known[name].get(doc_id, 0) for _, name, doc_id in pairs])
        weights = np.array([1 / judged.drawn_with[name][doc_id] for _, name, doc_id in pairs])
        x = np.array([judged.features[name][doc_id] for _, name, doc_id in pairs], dtype=np.float64)
        scale = range(1, measured.highest + 1)
        chances = np.stack([_chances(x, grade >= least, weights, query, known) for least in scale], axis=1)
        falling = np.minimum.accumulate(chances, axis=1)
        self.at_least |= {name: falling[(query == row) & ~known] for row, name in enumerate(names)}

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
                pools[name] |= dict(zip(missing, grades.tolist(), strict=True))
        return {name: dict(sorted(grades.items())) for name, grades in pools.items()}


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


# ----------------------------------------------------------------------------------------------------------------------
# Certainty lost by judging a sample of the pools: seen on queries that are judged.
#
# Pairs that were never judged get grades by chance (see above). From these whole pools, pairs are drawn again many
# times with the probabilities that a share gives them, and each draw is estimated as an evaluation would
# (`annot.measuring.sampled`). An interval over topics is as wide as the estimates scatter between topics, so it is
# wider by the root of their scatter over that of the whole pools' values, however many topics a study has. It may
# also be narrower: a query in which nothing relevant is drawn gets its prediction, and predictions scatter little. If
# this happens in many queries, intervals hold less often than they say (`benchmarks/sampled_predictions.py`). The
# bias of a level does not shrink with topics, and its interval does: the share that is too small for a study depends
# on its own number of topics.
#
# `annot forecast --sample` and the notes of a sampled study about its own sample are this one computation;
# `benchmarks/sample_certificate.py` compares it with the truth.
# ----------------------------------------------------------------------------------------------------------------------


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
class MeasuredDesign:
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
    judged: JudgedQueries, pi: Probabilities, measured: MeasuredDesign, guesses: Mapping[str, Predicted] | None = None
) -> Certainty:
    """Draw the pairs of the judged queries many times with these probabilities, which are of all their documents.

    guesses: the predictions that the estimates use; None learns them from the first draw. Grades that are not known are
    filled in again for each draw.
    """
    names = tuple(sorted(judged.grades))
    filled = FilledIn(judged, measured)
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
    return _certainty_of_redraws(estimates, true, paper, measured)._replace(empty=empty / measured.redraws / len(names))


def unknown(reason: Undefined) -> Certainty:
    """Unknown certainty, for this reason."""
    none = Estimate(reason, reason)
    return Certainty(none, none, None, reason, None)


def redraws_of(queries: int) -> int:
    """Number of redraws for this many queries: drawing a query takes a few milliseconds."""
    return min(MOST_REDRAWS, max(FEWEST_REDRAWS, QUERIES_REDRAWN // queries))


def half_width(deviation: float, topics: int, level: float, wider: Value) -> Value:
    """Half width of the interval of a mean over this many topics that have this standard deviation.

    wider: the widening of the interval, if it is known.
    """
    if topics < 2:
        return ONE_TOPIC
    whole = float(special.stdtrit(topics - 1, 0.5 + level / 2)) * deviation / math.sqrt(topics)
    return whole if isinstance(wider, Undefined) else whole * (1 + wider)


class _Scatter:
    """Scatter of S runs between U topics: means over redraws of the covariance of their means."""

    def __init__(self, values: Array, paper: Integers) -> None:
        """Scatter of values, shape (R, Q, S). paper: shape (Q,), the topic of each query by number."""
        deviations = (values - values.mean(axis=1, keepdims=True)) / values.shape[1]
        members = (paper[:, None] == np.arange(paper.max() + 1)).astype(np.float64)
        self.means = np.einsum("rqs,qu->rus", deviations, members)
        """Shape (R, U, S): distance by which each topic moves the mean of each redraw."""
        self.products = np.einsum("rus,rut->ust", self.means, self.means) / len(self.means)
        """Shape (U, S, S)."""

    def covariances(self, weights: Array) -> Array:
        """Covariances, shape (B, S, S). weights: shape (B, U), number of times that each topic is drawn."""
        units = weights.shape[1]
        centres = np.einsum("bu,rus->brs", weights / units, self.means)
        squares = np.einsum("bu,ust->bst", weights, self.products)
        return np.asarray(squares - units * np.einsum("brs,brt->bst", centres, centres) / len(self.means))


def _certainty_of_redraws(estimates: Array, true: Array, paper: Integers, measured: MeasuredDesign) -> Certainty:
    """Certainty from estimates and true values, both of shape (R, Q, S)."""
    units, runs = int(paper.max()) + 1, true.shape[2]
    rng = generator(measured.seed, "topics drawn again")
    weights = np.concatenate([np.ones((1, units)), rng.multinomial(units, np.full(units, 1 / units), size=RESAMPLES)])
    of_estimates, of_true = (_Scatter(values, paper).covariances(weights) for values in (estimates, true))
    level = _wider(_variances(of_estimates), _variances(of_true), units)
    first, second = np.triu_indices(runs, k=1)
    between = Estimate(ONE_RUN, ONE_RUN)
    if runs > 1:
        between = _wider(
            _variances_of_differences(of_estimates)[:, first, second],
            _variances_of_differences(of_true)[:, first, second],
            units,
        )
    topical = np.diag(of_true[0]) * units / max(1, units - 1)
    half = half_width(float(np.median(np.sqrt(topical * units))), measured.topics, measured.level, level.value)
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


def _variances_of_differences(covariances: Array) -> Array:
    """Variances of the differences between every two, of each of B covariances: shape (B, S, S)."""
    variances = _variances(covariances)
    return np.asarray(variances[:, :, None] + variances[:, None, :] - 2 * covariances)


def _drawn(grades: Mapping[str, int], pi: Mapping[str, float], seed: int, name: str, redraw: int) -> dict[str, int]:
    chances = generator(seed, "drawn again", name, str(redraw)).random(len(grades)).tolist()
    return {doc_id: grades[doc_id] for doc_id, chance in zip(grades, chances, strict=True) if chance < pi[doc_id]}


def _judged_whole(grades: Grades, measured: MeasuredDesign) -> dict[str, PoolGrades]:
    certain = {name: dict.fromkeys(known, 1.0) for name, known in grades.items()}
    return pools_of(certain, grades, None, highest=measured.highest)


def _values(lists: Mapping[str, Lists], grades: Grades, measured: MeasuredDesign) -> Array:
    """Values of whole pools, shape (queries, S)."""
    pools = _judged_whole(grades, measured)
    return np.array([_measured(replace(ranked, grades=pools[name]), measured).values for name, ranked in lists.items()])


def _measured(lists: Lists, measured: MeasuredDesign) -> Estimates:
    return lists.measured(measured.family, measured.k, relevant_from=measured.relevant_from)


# ----------------------------------------------------------------------------------------------------------------------
# Shares of the pools side by side: their effort and their effect on certainty, seen or assumed.
#
# Before anything is judged, certainty is assumed from simulated studies on a grid (`sample-grid.tsv`, made by
# `benchmarks/sample_shares.py`): pairs and relevant documents of a query, topics, grades, measure and share.
# ----------------------------------------------------------------------------------------------------------------------


SHARES = (0.15, 0.25, 0.33, 0.5, 0.75, 1.0)
GRID_FILE = "sample-grid.tsv"
ON_GRID = Undefined("it is read off a grid of simulated studies")


@dataclass(frozen=True, slots=True)
class ShareForecast:
    """Effort of one share of the pools, and its effect on certainty."""

    share: float
    pairs: Estimate
    hours: Estimate
    cost: Estimate
    level: Estimate
    """Widening of the interval of a run's mean, as a fraction."""
    difference: Estimate
    """Widening of the interval of the difference between two runs."""
    bias: float | None
    """Expected error of a run's mean; None if that is not known."""
    half_width: Value
    """Half width of the interval of a run's mean."""
    advised: bool
    """True if nothing speaks against the share."""
    why_not: str
    """Reason against the share: `too small` for the bias, `too wide` for a difference's interval, `too empty` if too
    often nothing relevant is drawn, `not known`; else empty.
    """


@dataclass(frozen=True, slots=True)
class SeenOn:
    """Pilot on which certainty was seen."""

    queries: int
    topics: int
    runs: int
    own_runs: bool
    """True if the runs are those of the study; else they are the rankings that made the pools."""
    redraws: int
    filled_in: bool
    """True if grades of pairs that were not drawn are filled in."""


@dataclass(frozen=True, slots=True)
class SharesForecast:
    """Forecasts of the shares side by side."""

    queries: int
    topics: int
    pairs: int
    """Pairs of the pools."""
    convention: str
    measure: str
    level: float
    """Level of the ranges."""
    interval_level: float
    """Level of the intervals that widen."""
    currency: str
    seen_on: SeenOn | None
    """Pilot on which certainty was seen; None if it is assumed."""
    why_assumed: str
    relevant: float | None
    """Relevant documents of a query that are expected; None if they are not known."""
    rows: tuple[ShareForecast, ...]
    notes: tuple[str, ...]
    """Notes on reading the table, and on its assumptions."""


def row_of(share: float, pairs: ExpectedPairs, effort: Effort, certain: Certainty) -> ShareForecast:
    """Row of a share."""
    faults = {
        "not known": isinstance(certain.level.value, Undefined),
        "too empty": certain.too_empty,
        "too small": certain.too_small,
        "too wide": certain.too_wide,
    }
    why_not = next((fault for fault, applies in faults.items() if applies), "")
    return ShareForecast(
        share=share,
        pairs=Estimate(pairs.mean, drawn_range(pairs, effort.rules.level)),
        hours=effort.hours(pairs),
        cost=effort.cost(pairs),
        level=certain.level,
        difference=certain.difference,
        bias=certain.bias,
        half_width=certain.half_width,
        advised=not why_not,
        why_not=why_not,
    )


FIGURES = ("level", "difference", "bias", "deviation", "empty")
"""Figures of the grid: widening of a run's mean and of a difference, bias, standard deviation of a run's values over
topics, and share of queries in which nothing relevant is drawn.
"""


@cache
def grid() -> DataFrame:
    """Designs that were simulated, one a row: measure, highest grade, topics, pairs and relevant documents of a query,
    share, and the `FIGURES`.
    """
    import pandas

    with files("annot.measuring.forecast").joinpath(GRID_FILE).open(encoding="utf-8") as lines:
        return pandas.read_csv(lines, sep="\t")


def assumed(
    share: float, *, measure: str, highest: int, topics: int, pairs: float, relevant: float | None, level: float
) -> Certainty:
    """Effects of a share on a study of which nothing is judged, from the grid by straight lines between designs.

    Pairs, relevant documents and topics are on scales of logarithms. relevant: of a query; if it is None, the figures
    are those of the number on the grid with the widest intervals, and the range is over all numbers. pairs: of a query;
    nothing is known of smaller pools than those of the grid. level: of the study's intervals.
    """
    rows = grid()[grid()["measure"] == measure]
    if rows.empty:
        return unknown(Undefined(f"no study with {measure} was simulated"))
    nearest = min(rows["highest"].unique(), key=lambda grade: abs(grade - highest))
    rows = rows[rows["highest"] == nearest]
    smallest = rows["pairs"].min()
    if pairs < smallest and share < 1:
        return unknown(Undefined(f"pools of fewer than {smallest} pairs were not simulated"))

    def certainty_with(relevant: float) -> Certainty:
        axes = {"topics": math.log(topics), "pairs": math.log(pairs), "relevant": math.log(relevant)}
        wider, difference, bias, deviation, empty = _figures_at_share(rows, axes, share)
        half = half_width(deviation, topics, level, wider)
        return Certainty(Estimate(wider, ON_GRID), Estimate(difference, ON_GRID), bias, half, empty)

    if relevant is not None:
        return certainty_with(relevant)
    possible = rows.loc[rows["pairs"] <= max(pairs, smallest), "relevant"]
    certainties = [certainty_with(number) for number in sorted(possible.unique())]
    worst = max(certainties, key=lambda certain: float(certain.difference.value))  # type: ignore[arg-type]
    return worst._replace(
        empty=max(certain.empty or 0.0 for certain in certainties),
        level=_over(worst.level, (certain.level for certain in certainties)),
        difference=_over(worst.difference, (certain.difference for certain in certainties)),
    )


def _over(worst: Estimate, others: Iterable[Estimate]) -> Estimate:
    values = [other.value for other in others if not isinstance(other.value, Undefined)]
    return Estimate(worst.value, Interval(min(values), max(values), 1.0, "of designs"))


def _figures_at_share(rows: DataFrame, axes: Mapping[str, float], share: float) -> list[float]:
    """`FIGURES`, read off axis after axis, the share last."""
    if not axes:
        rows = rows.sort_values("share")
        # All pairs cost nothing, and topics scatter as they do.
        whole = (0.0, 0.0, 0.0, rows["deviation"].iloc[0], 0.0)
        shares = [*rows["share"], 1.0]
        return [float(np.interp(share, shares, [*rows[name], end])) for name, end in zip(FIGURES, whole, strict=True)]
    (name, position), *others = axes.items()
    steps = sorted(rows[name].unique())
    figures_at = [_figures_at_share(rows[rows[name] == step], dict(others), share) for step in steps]
    return [float(np.interp(position, np.log(steps), figures)) for figures in zip(*figures_at, strict=True)]
