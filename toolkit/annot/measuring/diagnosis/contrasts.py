"""How each assessor differs from the others on the same pairs, with whole query papers as the units of chance.

Pairs of one query are no independent evidence: a person may be strict on one query and lenient on the next. So every
figure is first taken within each query. Nor are the facets of one paper, for which people keep their strictness: the
mean is that of the queries, but the papers are the sample of Student's t, by the jackknife. Where each query is of a
paper of its own, that is the t-test of the queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from annot.base.stats.arrays import Array, Integers
from annot.base.stats.clustered import FEWEST_QUERIES, plural, too_few
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.diagnosis.chance import ZERO, higher
from annot.measuring.diagnosis.panel import Compared, sums

Kind = Literal["severity", "threshold", "noise"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """One figure of every assessor: how far they lie from the others, above 0 for higher grades or for more noise."""

    kind: Kind
    place: int | None
    """For a threshold the place in the scale of the grade that it opens."""
    cells: Array
    """Shape (C,), the figure in each cell of `Compared`; nan where it has none."""
    n: Integers
    """Shape (M,), queries it rests on."""
    units: Integers
    """Shape (M,), the papers of these."""
    telling: Integers
    """Shape (M,), papers over which it is not exactly 0."""
    mean: Array
    """Shape (M,), over queries; nan where there is none."""
    error: Array
    freedom: Array
    p: Array
    """Shape (M,), by Student's t; one-sided for noise: to be less noisy than others is no fault."""
    least: Array
    """Shape (M,), the two-sided p-value of papers that all point the same way: no smaller one is believed. For noise
    too: where severity cannot be found, it must not be taken for noise."""

    def estimate(self, assessor: int, *, level: float, most: float, sign: float) -> Estimate:
        """The figure of one assessor times `sign`, with an interval inside -most and most."""
        from scipy.special import stdtrit

        n, mean = int(self.units[assessor]), sign * float(self.mean[assessor])
        unit = "query" if n == self.n[assessor] else "query paper"
        if n < FEWEST_QUERIES:
            nothing = Undefined("no pair was judged by anyone else too")
            return Estimate(mean, too_few(n, unit=unit)) if n else Estimate(nothing, nothing)
        half = float(stdtrit(self.freedom[assessor], 0.5 + level / 2) * self.error[assessor])
        low, high = max(-most, mean - half), min(most, mean + half)
        return Estimate(mean, Interval(low, high, level, f"clustered by {n} {plural(unit)}, Student's t"))


def severity(compared: Compared) -> Contrast:
    """The mean grade less the others' on the same pairs: below 0 for the strict."""
    scale = np.array(compared.panel.scale, dtype=np.float64)
    return _over_queries(compared, "severity", None, compared.by_cell(compared.differences(scale[compared.grade])))


def threshold(compared: Compared, place: int) -> Contrast:
    """The share of pairs at this grade or higher less the others' share on the same pairs."""
    return _over_queries(compared, "threshold", place, compared.by_cell(compared.differences(compared.grade >= place)))


def noise(compared: Compared) -> Contrast:
    """How far the grades lie from the others' on the same pairs, less how far the others' lie from each other.

    Both are mean distances of two grades within one query. Where one team judged a query there are no others: the
    queries of somebody's teams are compared with those of the other teams.
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
    mine = sums(compared.cell, distance, len(met)) / met
    total, meetings = sums(panel.query, between, n_queries), sums(panel.query, count * (count - 1) / 2, n_queries)
    left = meetings[compared.cell_query] - met
    with np.errstate(invalid="ignore", divide="ignore"):
        theirs = (total[compared.cell_query] - mine * met) / left
        of_query = total / meetings
    found = _over_queries(compared, "noise", None, np.where(left > 0, mine - theirs, np.nan))
    alone = np.bincount(compared.cell_who[left == 0], minlength=len(panel.assessors))
    for assessor in np.flatnonzero(alone > found.n):
        cells = np.flatnonzero(compared.cell_who == assessor)
        own = compared.cell_query[cells]
        others = np.setdiff1d(np.flatnonzero(~np.isnan(of_query)), own)
        queries = np.concatenate([own, others])
        values = np.concatenate([mine[cells], of_query[others]])
        test = higher(values, np.arange(len(queries)) >= len(own), compared.paper_of[queries])
        if test is not None:
            found.cells[cells] = mine[cells] - of_query[others].mean()
            found.n[assessor] = len(own)
            found.units[assessor] = found.telling[assessor] = len(np.unique(compared.paper_of[own]))
            for filled, value in zip((found.mean, found.error, found.freedom, found.p, found.least), test, strict=True):
                filled[assessor] = value
            found.least[assessor] = max(test.least, 2 * 0.5 ** found.units[assessor])
    return found


def _over_queries(compared: Compared, kind: Kind, place: int | None, cells: Array) -> Contrast:
    from scipy.special import stdtr

    m = len(compared.panel.assessors)
    known = ~np.isnan(cells)
    who, values = compared.cell_who[known], cells[known]
    n = np.bincount(who, minlength=m)
    papers, paper = np.unique(
        who * compared.n_queries + compared.paper_of[compared.cell_query[known]], return_inverse=True
    )
    of = papers // max(1, compared.n_queries)
    sizes, totals = np.bincount(paper), sums(paper, values, len(papers))
    units = np.bincount(of, minlength=m)
    telling = np.bincount(of[np.abs(totals) > ZERO], minlength=m)
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = sums(who, values, m)
        mean = whole / n
        without = (whole[of] - totals) / (n[of] - sizes)
        around = sums(of, (without - (sums(of, without, m) / units)[of]) ** 2, m)
        error: Array = np.sqrt(around * (units - 1) / units)
        t = np.where(telling > 0, mean / error, 0.0)
        sides, t = (1, -t) if kind == "noise" else (2, -np.abs(t))
        p = np.where(units > 1, sides * stdtr(units - 1.0, t), 1.0)
    freedom, least = np.asarray(units - 1, dtype=np.float64), np.asarray(2 * 0.5**telling, dtype=np.float64)
    return Contrast(kind, place, cells, n, units, telling, mean, error, freedom, p, least)
