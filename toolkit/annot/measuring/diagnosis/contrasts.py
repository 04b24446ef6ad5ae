"""Differences between each assessor and the others on the same pairs, and the tests that separate them from chance.

Pairs of one query are no independent evidence: a person may be strict on one query and lenient on the next. So every
figure is first taken within each query. Nor are the facets of one paper, for which people keep their strictness: the
mean is that of the queries, but the papers are the units of chance. If each query is of a paper of its own, these are
the queries. No p-value is below that of the most telling order of the units: few of them prove nothing, however equal
they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.clustered import FEWEST_QUERIES, plural, too_few
from annot.base.stats.power import POWER
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.diagnosis.panel import SharedPairs, sums

ALPHA = 0.02
"""Probability of any false finding, over all that is tested; `benchmarks/diagnosis_power.py` measures it."""
ZERO = 1e-12


class Test(NamedTuple):
    """Difference between groups of queries."""

    difference: float
    """Difference between the means of the first and the last group."""
    error: float
    freedom: float
    p: float
    least: float
    """p-value of the most telling order."""


class _Groups:
    """Values of queries in k groups, with their U units of chance."""

    def __init__(self, values: Array, group: Integers, unit: Integers, k: int) -> None:
        names, unit = np.unique(unit, return_inverse=True)
        shape = len(names), k
        cell = unit * k + group
        self.counts = np.bincount(cell, minlength=len(names) * k).reshape(shape)
        """Shape (U, k): queries of each unit in each group."""
        self.sizes = self.counts.sum(axis=0)
        self.units = (self.counts > 0).sum(axis=0)
        self.means: Array = sums(group, values, k) / np.maximum(1, self.sizes)
        self.rest: Array = values - self.means[group]
        self.sums: Array = sums(cell, self.rest, len(names) * k).reshape(shape)
        """Shape (U, k): sum of each unit over all of its queries, less the means of its groups."""

    @property
    def least(self) -> float:
        """Inverse of the number of ways to order whole units, and the queries of a unit that is in several groups."""
        in_one_group = (self.counts > 0).sum(axis=1) == 1
        ways = _log_ways((self.counts[in_one_group] > 0).sum(axis=0)) + sum(map(_log_ways, self.counts[~in_one_group]))
        return math.exp(-ways)


def _log_ways(sizes: Integers) -> float:
    """Logarithm of the number of ways to fill groups of these sizes."""
    from scipy.special import gammaln

    return float(gammaln(sizes.sum() + 1) - gammaln(sizes + 1).sum())


def higher(values: Array, second: Mask, unit: Integers) -> Test | None:
    """Test, one-sided, if the queries outside the second group have higher values than those in it.

    values, second, unit: shape (Q,), of each query; unit numbers its unit of chance. It is Welch's t-test (1947,
    Biometrika 34, 28-35), of the units' sums: the common part of a unit moves both groups alike. None if a group has
    fewer than two units, or all are equal.
    """
    from scipy.special import stdtr

    groups = _Groups(values, second.astype(np.int64), unit, 2)
    if groups.units.min() < 2:
        return None
    n, parts = len(groups.counts), groups.sums / groups.sizes
    variances = groups.units / (groups.units - 1) * (parts**2).sum(axis=0)
    variance = float(variances.sum() - 2 * n / (n - 1) * (parts[:, 0] @ parts[:, 1]))
    if variance < ZERO**2:
        return None
    difference, error = float(groups.means[0] - groups.means[1]), math.sqrt(variance)
    # Of units that are all in both groups there are n differences.
    freedom = min(float(variances.sum() ** 2 / (variances**2 / (groups.units - 1)).sum()), n - 1.0)
    return Test(difference, error, freedom, float(stdtr(freedom, -difference / error)), groups.least)


def variance_between(values: Array, group: Integers, unit: Integers) -> Test | None:
    """Test if any group differs: one-way analysis of variance.

    values, group, unit: shape (Q,), of each query; its group and its unit of chance by number. Units of several queries
    move the means of groups more, or less, than as many single queries: F is divided by the ratio (Rao and Scott 1981,
    Journal of the American Statistical Association 76, 221-230). None if there are no more units than groups, or no
    group has two different values.
    """
    from scipy.special import fdtrc, gammaln

    n, k = len(values), int(group.max()) + 1
    groups = _Groups(values, group, unit, k)
    n_units = len(groups.counts)
    if n_units <= k or (within := float((groups.rest**2).sum()) / (n - k)) < ZERO:
        return None
    as_queries = (groups.rest**2 * (1 / groups.sizes[group] - 1 / n)).sum() * n / (n - k)
    as_units = (groups.sums**2 / groups.sizes).sum() - (groups.sums.sum(axis=1) ** 2).sum() / n
    effect = 1.0 if n_units == n else float(as_units * n_units / (n_units - k) / as_queries)
    if effect < ZERO:
        return None
    between = float(groups.sizes @ (groups.means - groups.sizes @ groups.means / n) ** 2) / (k - 1)
    error = math.sqrt(effect * within * (1 / groups.sizes[0] + 1 / groups.sizes[-1]))
    least = min(1.0, math.exp(float(gammaln(k + 1))) * groups.least)
    p = float(fdtrc(k - 1, n_units - k, between / within / effect))
    return Test(float(groups.means[0] - groups.means[-1]), error, n_units - k, p, least)


def detectable(error: Array | float, freedom: Array | float, p_value: float) -> Array:
    """Difference that a two-sided t-test at `p_value` finds with probability `POWER`."""
    from scipy.special import stdtrit

    return np.asarray((stdtrit(freedom, 1 - p_value / 2) + stdtrit(freedom, POWER)) * error)


Kind = Literal["severity", "threshold", "noise"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """Difference of each assessor from the others, above 0 for higher grades or for more noise."""

    kind: Kind
    place: int | None
    """Place in the scale of the grade that a threshold opens; None for other kinds."""
    cells: Array
    """Shape (C,): difference in each cell of `SharedPairs`; nan if it has none."""
    n: Integers
    """Shape (M,): queries behind it."""
    units: Integers
    """Shape (M,): papers of these."""
    telling: Integers
    """Shape (M,): papers over which it is not exactly 0."""
    mean: Array
    """Shape (M,): mean over queries; nan if there is none."""
    error: Array
    freedom: Array
    p: Array
    """Shape (M,): p by Student's t; one-sided for noise, since to be less noisy than others is no fault."""
    least: Array
    """Shape (M,): two-sided p-value of papers that all point the same way: no smaller one is believed. For noise too:
    if severity cannot be found, it must not be taken for noise.
    """

    def estimate(self, assessor: int, *, level: float, most: float, sign: float) -> Estimate:
        """Difference of one assessor times `sign`, with an interval inside -most and most."""
        from scipy.special import stdtrit

        n, mean = int(self.units[assessor]), sign * float(self.mean[assessor])
        unit = "query" if n == self.n[assessor] else "query paper"
        if n < FEWEST_QUERIES:
            nothing = Undefined("no other assessor judged the same pairs")
            return Estimate(mean, too_few(n, unit=unit)) if n else Estimate(nothing, nothing)
        half = float(stdtrit(self.freedom[assessor], 0.5 + level / 2) * self.error[assessor])
        low, high = max(-most, mean - half), min(most, mean + half)
        return Estimate(mean, Interval(low, high, level, f"clustered by {n} {plural(unit)}, Student's t"))


def severity(compared: SharedPairs) -> Contrast:
    """Mean grade less the others' on the same pairs: below 0 for the strict."""
    scale = np.array(compared.panel.scale, dtype=np.float64)
    return _over_queries(compared, "severity", None, compared.by_cell(compared.differences(scale[compared.grade])))


def threshold(compared: SharedPairs, place: int) -> Contrast:
    """Share of pairs at this grade or higher less the others' share on the same pairs."""
    return _over_queries(compared, "threshold", place, compared.by_cell(compared.differences(compared.grade >= place)))


def noise(compared: SharedPairs) -> Contrast:
    """Mean distance of the grades from the others' on the same pairs, less the distance between the others.

    Both are mean distances of two grades within one query. If one team judged a query there are no others: the queries
    of an assessor's teams are compared with those of the other teams.
    """
    panel, n_queries = compared.panel, compared.n_queries
    count = compared.by_pair(np.ones(len(compared.at)))
    distance, between = np.zeros(len(compared.at)), np.zeros(len(count))
    for place, step in enumerate(np.diff(panel.scale), start=1):
        above = compared.grade >= place
        n_above = compared.by_pair(above)
        distance += step * np.where(above, (count - n_above)[compared.pair], n_above[compared.pair])
        between += step * n_above * (count - n_above)
    met = sums(compared.cell, compared.others, len(compared.cell_who))
    from_others = sums(compared.cell, distance, len(met)) / met
    total, meetings = sums(panel.query, between, n_queries), sums(panel.query, count * (count - 1) / 2, n_queries)
    left = meetings[compared.cell_query] - met
    with np.errstate(invalid="ignore", divide="ignore"):
        between_others = (total[compared.cell_query] - from_others * met) / left
        mean_of_query = total / meetings
    contrast = _over_queries(compared, "noise", None, np.where(left > 0, from_others - between_others, np.nan))
    n_alone = np.bincount(compared.cell_who[left == 0], minlength=len(panel.assessors))
    for assessor in np.flatnonzero(n_alone > contrast.n):
        cells = np.flatnonzero(compared.cell_who == assessor)
        own_queries = compared.cell_query[cells]
        others = np.setdiff1d(np.flatnonzero(~np.isnan(mean_of_query)), own_queries)
        queries = np.concatenate([own_queries, others])
        values = np.concatenate([from_others[cells], mean_of_query[others]])
        test = higher(values, np.arange(len(queries)) >= len(own_queries), compared.paper_of[queries])
        if test is not None:
            contrast.cells[cells] = from_others[cells] - mean_of_query[others].mean()
            contrast.n[assessor] = len(own_queries)
            contrast.units[assessor] = contrast.telling[assessor] = len(np.unique(compared.paper_of[own_queries]))
            contrast.mean[assessor], contrast.error[assessor] = test.difference, test.error
            contrast.freedom[assessor], contrast.p[assessor] = test.freedom, test.p
            contrast.least[assessor] = max(test.least, 2 * 0.5 ** contrast.units[assessor])
    return contrast


def _over_queries(compared: SharedPairs, kind: Kind, place: int | None, cells: Array) -> Contrast:
    from scipy.special import stdtr

    m = len(compared.panel.assessors)
    defined = ~np.isnan(cells)
    who, values = compared.cell_who[defined], cells[defined]
    n = np.bincount(who, minlength=m)
    topics, paper = np.unique(
        who * compared.n_queries + compared.paper_of[compared.cell_query[defined]], return_inverse=True
    )
    judge = topics // compared.n_queries
    sizes, totals = np.bincount(paper), sums(paper, values, len(topics))
    units = np.bincount(judge, minlength=m)
    telling = np.bincount(judge[np.abs(totals) > ZERO], minlength=m)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = sums(who, values, m)
        mean = total / n
        without = (total[judge] - totals) / (n[judge] - sizes)
        around = sums(judge, (without - (sums(judge, without, m) / units)[judge]) ** 2, m)
        error: Array = np.sqrt(around * (units - 1) / units)
        t = np.where(telling > 0, mean / error, 0.0)
        sides, t = (1, -t) if kind == "noise" else (2, -np.abs(t))
        p = np.where(units > 1, sides * stdtr(units - 1.0, t), 1.0)
    freedom, least = np.asarray(units - 1, dtype=np.float64), np.asarray(2 * 0.5**telling, dtype=np.float64)
    return Contrast(kind, place, cells, n, units, telling, mean, error, freedom, p, least)
