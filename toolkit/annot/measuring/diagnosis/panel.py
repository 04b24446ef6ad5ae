"""All judgements of a study side by side: each assessor compared with the others, the final grades and themselves."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.libraries import special
from annot.base.names import plural_of
from annot.base.records import FIRST, Assignment, Decision, Judgement, first_judgements
from annot.base.stats import inference
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.values import Estimate, Interval, Share, Undefined, Value
from annot.measuring.agreement.coefficients import OF_COUNTS, Counts, value_between, value_of

# ----------------------------------------------------------------------------------------------------------------------
# Judgements of a study side by side, and each next to the others of the same pair.
# ----------------------------------------------------------------------------------------------------------------------


NO_GRADE = -1
Pair = tuple[str, str]


@dataclass(frozen=True)
class Panel:
    """Panel of J judgements with a grade, of N pairs by (query, document), by M assessors by pseudonym."""

    assessors: tuple[str, ...]
    query_ids: tuple[str, ...]
    """Query of each pair; equal ones are adjacent."""
    doc_ids: tuple[str, ...]
    papers: tuple[str, ...]
    """Paper of each pair's query."""
    facets: tuple[str, ...]
    """Facet of each pair's query."""
    scale: tuple[int, ...]
    """Grades, ascending."""
    pair: Integers
    """Shape (J,), the pair of each judgement, ascending."""
    who: Integers
    """Shape (J,), the assessor of each judgement, ascending within a pair."""
    grade: Integers
    """Shape (J,), the place of its grade in the scale."""
    seconds: Array
    """Shape (J,), nan where no time was taken."""
    in_order: tuple[Integers, ...]
    """Places of each assessor's judgements, first to last."""
    by_clock: Mask
    """Shape (M,), true for those whose order is that of `judged_at`, false where it is that of the plan."""
    final: Integers
    """Shape (N,), the place of the final grade in the scale, -1 where there is none yet."""
    adjudicated: Mask
    """Shape (N,), true where a person settled the pair."""
    open: Mask
    """Shape (N,), true if the pair is disputed and not settled yet."""

    @property
    def widest(self) -> float:
        """Largest difference between two grades."""
        return float(self.scale[-1] - self.scale[0])

    @cached_property
    def query(self) -> Integers:
        """Shape (N,), the query of each pair by number, in the order of the pairs."""
        changes = [query_id != following for query_id, following in itertools.pairwise(self.query_ids)]
        return np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)[: len(self.query_ids)]

    @cached_property
    def paper(self) -> Integers:
        """Shape (N,), the paper of each pair's query by number: the sampling unit."""
        return np.unique(self.papers, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def n_judged(self) -> Integers:
        """Shape (N,): number of judgements of each pair."""
        return np.bincount(self.pair, minlength=len(self.query_ids))

    @property
    def independent(self) -> Mask:
        """Shape (N,), true where the final grade is not simply the only one given."""
        return np.asarray((self.final != NO_GRADE) & (self.adjudicated | (self.n_judged > 1)))


def panel_of(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    topics: Mapping[str, str] | None = None,
    scale: Sequence[int],
    open_pairs: Iterable[tuple[str, str]],
    assignments: Iterable[Assignment],
    by_clock: bool,
) -> Panel:
    """Build the panel of the judgements that count and have a grade, without hidden repeats.

    facets: the facet of each `query_id`. topics: the topic of each; None takes the queries as independent. open_pairs:
    (query, document) that are disputed and not settled, also because one of two could not judge. by_clock: the order of
    judging is that of `judged_at` if all of an assessor's judgements have one; else it is that of the plan, and
    judgements that were not planned come last, by query and document. Raises InputError for a double judgement, a query
    without facet, or a grade outside the scale.
    """
    decided = {decision.pair: decision for decision in decisions}
    counting = first_judgements(judgements, decided.values(), facets, grades=scale)
    graded = [judgement for judgement in counting if judgement.grade is not None]
    graded.sort(key=lambda judgement: (judgement.pair, judgement.assessor))
    place = {grade: position for position, grade in enumerate(scale)}
    number = {name: position for position, name in enumerate(sorted({judgement.assessor for judgement in graded}))}
    row = {pair: position for position, pair in enumerate(dict.fromkeys(judgement.pair for judgement in graded))}
    who = np.array([number[judgement.assessor] for judgement in graded], dtype=np.int64)
    timed = _timed(graded, number) & by_clock
    final, adjudicated = _final(decided, row, scale)
    unsettled = set(open_pairs)
    return Panel(
        assessors=tuple(number),
        query_ids=tuple(query_id for query_id, _ in row),
        doc_ids=tuple(doc_id for _, doc_id in row),
        papers=tuple(topics[query_id] if topics else query_id for query_id, _ in row),
        facets=tuple(facets[query_id] for query_id, _ in row),
        scale=tuple(scale),
        pair=np.array([row[judgement.pair] for judgement in graded], dtype=np.int64),
        who=who,
        grade=np.array([place[judgement.grade] for judgement in graded if judgement.grade is not None], dtype=np.int64),
        seconds=np.array([judgement.lead_time or np.nan for judgement in graded], dtype=np.float64),
        in_order=_ordered_columns(graded, assignments, who, timed),
        by_clock=timed,
        final=final,
        adjudicated=adjudicated,
        open=np.array([pair in unsettled for pair in row], dtype=np.bool_),
    )


def _timed(graded: Sequence[Judgement], names: Iterable[str]) -> Mask:
    """Assessors whose judgements all have a time, shape (M,)."""
    undated = {judgement.assessor for judgement in graded if judgement.judged_at is None}
    return np.array([name not in undated for name in names], dtype=np.bool_)


def _final(decided: Mapping[Pair, Decision], pairs: Iterable[Pair], scale: Sequence[int]) -> tuple[Integers, Mask]:
    """Place of the final grade of each pair in the scale, -1 without one, and the pairs that a person settled."""
    place = {grade: position for position, grade in enumerate(scale)}
    decisions = [decided.get(pair) for pair in pairs]
    final = np.array([place[decision.grade] if decision else NO_GRADE for decision in decisions], dtype=np.int64)
    return final, np.array(
        [decision is not None and decision.origin == "adjudicated" for decision in decisions], np.bool_
    )


def _ordered_columns(
    graded: Sequence[Judgement], assignments: Iterable[Assignment], who: Integers, timed: Mask
) -> tuple[Integers, ...]:
    position = {
        (planned.query_id, planned.doc_id, planned.assessor): planned.position
        for planned in assignments
        if planned.occasion == FIRST
    }
    planned = [position.get((row.query_id, row.doc_id, row.assessor), sys.maxsize) for row in graded]
    dated = timed[who].tolist()
    moments = [(row.judged_at if by_clock else None) or "" for row, by_clock in zip(graded, dated, strict=True)]
    order = np.lexsort((np.array(planned), np.unique(moments, return_inverse=True)[1], who))
    return tuple(np.split(order, np.cumsum(np.bincount(who, minlength=len(timed)))[:-1]))


class SharedPairs:
    """Judgements of some assessors on the pairs that another of these judged too: K of them.

    They fall into C cells, one for each assessor and query. Chance moves whole topics: all cells of an assessor and a
    paper together.
    """

    def __init__(self, panel: Panel, *, without: Iterable[str]) -> None:
        """Compare all but the assessors in `without`."""
        compared = ~np.isin(panel.who, [panel.assessors.index(name) for name in without])
        count = np.bincount(panel.pair[compared], minlength=len(panel.query_ids))
        self.panel = panel
        self.at: Integers = np.flatnonzero(compared & (count[panel.pair] > 1))
        """Shape (K,): place of each in the panel."""
        self.pair, self.who, self.grade = panel.pair[self.at], panel.who[self.at], panel.grade[self.at]
        self.others = count[self.pair] - 1
        """Shape (K,): number of others who judged its pair."""
        self.n_queries = len(np.unique(panel.query))
        cells, self.cell = np.unique(self.who * self.n_queries + panel.query[self.pair], return_inverse=True)
        self.cell_who, self.cell_query = np.divmod(cells, self.n_queries)
        self.paper_of = np.zeros(self.n_queries, dtype=np.int64)
        """Shape (Q,): paper of each query by number."""
        self.paper_of[panel.query] = panel.paper

    def by_pair(self, values: npt.ArrayLike) -> Array:
        """Sums over the judgements of each pair, shape (N,). values: shape (K,)."""
        return sums(self.pair, values, len(self.panel.query_ids))

    def differences(self, values: npt.ArrayLike) -> Array:
        """Difference of each value from the mean of the others' on the same pair, shape (K,). values: shape (K,)."""
        values = np.asarray(values, dtype=np.float64)
        return np.asarray(values - (self.by_pair(values)[self.pair] - values) / self.others)

    def agreement(self) -> Array:
        """Share of the others on the same pair who gave the same grade, shape (K,)."""
        code = self.pair * len(self.panel.scale) + self.grade
        return np.asarray((np.bincount(code)[code] - 1) / self.others, dtype=np.float64)

    def by_cell(self, values: npt.ArrayLike) -> Array:
        """Means over the judgements of each cell, shape (C,). values: shape (K,)."""
        return np.asarray(sums(self.cell, values, len(self.cell_who)) / np.bincount(self.cell))

    @cached_property
    def partners(self) -> tuple[tuple[str, ...], ...]:
        """Assessors by name who judged a pair in common, for each assessor."""
        from scipy.sparse import csr_array

        names = self.panel.assessors
        judged = csr_array(
            (np.ones(len(self.at)), (self.pair, self.who)), shape=(len(self.panel.query_ids), len(names))
        )
        met = csr_array(judged.T @ judged)
        met.sort_indices()
        return tuple(
            tuple(
                names[other]
                for other in met.indices[met.indptr[assessor] : met.indptr[assessor + 1]]
                if other != assessor
            )
            for assessor in range(len(names))
        )


def sums(group: Integers, values: npt.ArrayLike, size: int) -> Array:
    """Sum of the values of each group, shape (size,)."""
    return np.bincount(group, weights=np.asarray(values, dtype=np.float64), minlength=size).astype(np.float64)


# ----------------------------------------------------------------------------------------------------------------------
# Differences between each assessor and the others on the same pairs, and the tests that separate them from chance.
#
# Pairs of one query are no independent evidence: a person may be strict on one query and lenient on the next. So
# every figure is first taken within each query. Nor are the facets of one paper, for which people keep their
# strictness: the mean is that of the queries, but the papers are the sampling units. If each query is of a paper of
# its own, these are the queries. No p-value is below that of the most telling order of the units: few of them prove
# nothing, however equal they are.
# ----------------------------------------------------------------------------------------------------------------------


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
    """Values of queries in k groups, with their U sampling units."""

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
    return float(special.gammaln(sizes.sum() + 1) - special.gammaln(sizes + 1).sum())


def higher(values: Array, second: Mask, unit: Integers) -> Test | None:
    """Test, one-sided, if the queries outside the second group have higher values than those in it.

    values, second, unit: shape (Q,), of each query; unit numbers its sampling unit. It is Welch's t-test (1947,
    Biometrika 34, 28-35), of the units' sums: the common part of a unit moves both groups alike. None if a group has
    fewer than two units, or all are equal.
    """
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
    return Test(difference, error, freedom, float(special.stdtr(freedom, -difference / error)), groups.least)


def variance_between(values: Array, group: Integers, unit: Integers) -> Test | None:
    """Test if any group differs: one-way analysis of variance.

    values, group, unit: shape (Q,), of each query; its group and its sampling unit by number. Units of several queries
    move the means of groups more, or less, than as many single queries: F is divided by the ratio (Rao and Scott 1981,
    Journal of the American Statistical Association 76, 221-230). None if there are no more units than groups, or no
    group has two different values.
    """
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
    least = min(1.0, math.exp(float(special.gammaln(k + 1))) * groups.least)
    p = float(special.fdtrc(k - 1, n_units - k, between / within / effect))
    return Test(float(groups.means[0] - groups.means[-1]), error, n_units - k, p, least)


def detectable(error: Array | float, freedom: Array | float, p_value: float) -> Array:
    """Difference that a two-sided t-test at `p_value` finds with probability `POWER`."""
    return np.asarray((special.stdtrit(freedom, 1 - p_value / 2) + special.stdtrit(freedom, inference.POWER)) * error)


Kind = Literal["severity", "threshold", "noise"]


class Contrast:
    """Difference of each assessor from the others, above 0 for higher grades or for more noise."""

    def __init__(self, compared: SharedPairs, kind: Kind, place: int | None, cells: Array) -> None:
        """Average over queries. cells: shape (C,), the difference in each cell of `compared`; nan if it has none.

        place: the place in the scale of the grade that a threshold opens; None for other kinds.
        """
        self.kind, self.place, self.cells = kind, place, cells
        m = len(compared.panel.assessors)
        defined = ~np.isnan(cells)
        assessors, values = compared.cell_who[defined], cells[defined]
        self.n = np.bincount(assessors, minlength=m)
        """Shape (M,): queries behind it."""
        topics, paper = np.unique(
            assessors * compared.n_queries + compared.paper_of[compared.cell_query[defined]], return_inverse=True
        )
        judge = topics // compared.n_queries
        sizes, totals = np.bincount(paper), sums(paper, values, len(topics))
        self.units = np.bincount(judge, minlength=m)
        """Shape (M,): papers of these."""
        self.telling = np.bincount(judge[np.abs(totals) > ZERO], minlength=m)
        """Shape (M,): papers over which it is not exactly 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            total = sums(assessors, values, m)
            self.mean = total / self.n
            """Shape (M,): mean over queries; nan if there is none."""
            without = (total[judge] - totals) / (self.n[judge] - sizes)
            around = sums(judge, (without - (sums(judge, without, m) / self.units)[judge]) ** 2, m)
            self.error: Array = np.sqrt(around * (self.units - 1) / self.units)
            t = np.where(self.telling > 0, self.mean / self.error, 0.0)
            sides, t = (1, -t) if kind == "noise" else (2, -np.abs(t))
            self.p: Array = np.where(self.units > 1, sides * special.stdtr(self.units - 1.0, t), 1.0)
            """Shape (M,): p by Student's t; one-sided for noise, since to be less noisy than others is no fault."""
        self.freedom = np.asarray(self.units - 1, dtype=np.float64)
        self.least = np.asarray(2 * 0.5**self.telling, dtype=np.float64)
        """Shape (M,): two-sided p-value of papers that all point the same way: no smaller one is believed. For noise
        too: if severity cannot be found, it must not be taken for noise.
        """

    def estimate(self, assessor: int, *, level: float, most: float, sign: float) -> Estimate:
        """Difference of one assessor times `sign`, with an interval inside -most and most."""
        n, mean = int(self.units[assessor]), sign * float(self.mean[assessor])
        unit = "query" if n == self.n[assessor] else "query paper"
        if n < inference.FEWEST_QUERIES:
            nothing = Undefined("no other assessor judged the same pairs")
            return Estimate(mean, inference.too_few(n, unit=unit)) if n else Estimate(nothing, nothing)
        half = float(special.stdtrit(self.freedom[assessor], 0.5 + level / 2) * self.error[assessor])
        low, high = max(-most, mean - half), min(most, mean + half)
        return Estimate(mean, Interval(low, high, level, f"clustered by {n} {plural_of(unit)}, Student's t"))


def severity(compared: SharedPairs) -> Contrast:
    """Mean grade less the others' on the same pairs: below 0 for the strict."""
    scale = np.array(compared.panel.scale, dtype=np.float64)
    return Contrast(compared, "severity", None, compared.by_cell(compared.differences(scale[compared.grade])))


def threshold(compared: SharedPairs, place: int) -> Contrast:
    """Share of pairs at this grade or higher less the others' share on the same pairs."""
    return Contrast(compared, "threshold", place, compared.by_cell(compared.differences(compared.grade >= place)))


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
    contrast = Contrast(compared, "noise", None, np.where(left > 0, from_others - between_others, np.nan))
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


# ----------------------------------------------------------------------------------------------------------------------
# Comparisons of assessors with each other, with the final grade and with themselves: matrices, bias, severity.
# ----------------------------------------------------------------------------------------------------------------------


FEWEST = 5
"""Least number of common pairs of two assessors in the matrix: with fewer, of which many people have many, a figure
shows nothing.
"""
COEFFICIENT = "kappa_quadratic"
"""Coefficient that is computed between every two."""


@dataclass(frozen=True, slots=True)
class AssessorPair:
    """Cell of the matrix between assessors."""

    first: str
    second: str
    same: Share
    """Pairs that both judged and gave the same grade."""
    coefficient: Value
    coefficient_interval: Interval | Undefined
    difference: Estimate
    """Mean grade of the first less that of the second."""
    table: tuple[tuple[int, ...], ...]
    """Number of pairs with the row's grade by the first and the column's by the second."""
    distance: float
    """Mean distance between their grades."""
    parts: dict[str, float]
    """Parts of the distance, exactly. noise: at a threshold, differences one way and the other that cancel. severity:
    the rest, as far as all thresholds point the same way, which is the size of `difference`. threshold: the rest beyond
    that.
    """


@dataclass(frozen=True, slots=True)
class AgainstFinal:
    """Comparison of one assessor with the final grades; without values while disputes about their grades are open.

    Until then only undisputed pairs have a final grade, and all assessors agree with it.
    """

    assessor: str
    table: tuple[tuple[int, ...], ...] | Undefined
    """Number of pairs with the row's final grade and the column's grade by the assessor."""
    same: Share
    bias: Estimate
    """Mean of the assessor's grade less the final one; below 0 for the strict. The final grade is partly their own."""
    by_grade: dict[int, Share]
    """Share of the pairs with this final grade to which the assessor gave it."""
    upheld: Share
    """Share of the pairs that a person settled that were settled as the assessor had judged."""


@dataclass(frozen=True, slots=True)
class Severity:
    """Severity of an assessor against the others on the same pairs, in grades: the mean over queries."""

    assessor: str
    severity: Estimate
    """Mean distance below the others' grades, above 0 for the strict."""
    n: int
    """Judgements of theirs behind it."""
    partners: tuple[str, ...]


def pairwise_matrix(panel: Panel, *, level: float) -> tuple[AssessorPair, ...]:
    """Compare every two assessors with `FEWEST` pairs in common, by name."""
    return tuple(_compared_assessors(panel, first, second, level) for first, second in _meetings(panel))


def _meetings(panel: Panel) -> Iterator[tuple[Integers, Integers]]:
    """Places in the panel of the judgements of the common pairs, for every two assessors who met."""
    meetings = []
    for apart in range(1, int(panel.n_judged.max(initial=0))):
        first = np.flatnonzero(panel.pair[apart:] == panel.pair[:-apart])
        meetings.append((first, first + apart))
    if not meetings:
        return
    first, second = (np.concatenate(side) for side in zip(*meetings, strict=True))
    order = np.lexsort((first, panel.who[second], panel.who[first]))
    first, second = first[order], second[order]
    couple = panel.who[first] * len(panel.assessors) + panel.who[second]
    starts = np.flatnonzero(np.diff(couple)) + 1
    for places, other_places in zip(np.split(first, starts), np.split(second, starts), strict=True):
        if len(places) >= FEWEST:
            yield places, other_places


def _compared_assessors(panel: Panel, first: Integers, second: Integers, level: float) -> AssessorPair:
    rows, columns = panel.grade[first], panel.grade[second]
    both = np.array(panel.scale, dtype=np.float64)[np.stack([rows, columns])]
    queries, topics = panel.query[panel.pair[first]], panel.paper[panel.pair[first]]
    difference = both[0] - both[1]
    kappa = value_of(COEFFICIENT, both, panel.scale)
    net = float(difference.mean())
    shares = [((rows >= place).mean() - (columns >= place).mean()) for place in range(1, len(panel.scale))]
    one_way = float(np.diff(panel.scale) @ np.abs(shares))
    distance = float(np.abs(difference).mean())
    return AssessorPair(
        first=panel.assessors[panel.who[first[0]]],
        second=panel.assessors[panel.who[second[0]]],
        same=inference.share(rows == columns, queries, level=level, topics=topics),
        coefficient=kappa,
        coefficient_interval=_interval(kappa, panel, first, second, level),
        difference=inference.mean_by_queries(difference, queries, level=level, most=panel.widest, topics=topics),
        table=_table(panel, rows, columns),
        distance=distance,
        parts={"severity": abs(net), "threshold": one_way - abs(net), "noise": distance - one_way},
    )


def against_final(panel: Panel, *, level: float) -> tuple[AgainstFinal, ...]:
    """Compare each assessor with the final grades, by name.

    Pairs without a final grade are left out, and so are pairs that no other person judged or settled: their final grade
    is the assessor's own.
    """
    by_name = zip(panel.assessors, panel.in_order, strict=True)
    return tuple(_compared_with_final(panel, name, places, level) for name, places in by_name)


def _compared_with_final(panel: Panel, name: str, places: Integers, level: float) -> AgainstFinal:
    waiting = int(panel.open[panel.pair[places]].sum())
    compared = places[panel.independent[panel.pair[places]]]
    if waiting or not len(compared):
        why = Undefined(
            f"{waiting} of {len(places)} pairs that {name} judged are in dispute; until they are settled, only "
            "undisputed pairs have a final grade"
            if waiting
            else f"no other person judged or settled a pair that {name} judged"
        )
        nothing = Share(0, 0, why, why)
        return AgainstFinal(name, why, nothing, Estimate(why, why), dict.fromkeys(panel.scale, nothing), nothing)
    grades, final = panel.grade[compared], panel.final[panel.pair[compared]]
    queries, topics = panel.query[panel.pair[compared]], panel.paper[panel.pair[compared]]
    right = grades == final
    scale = np.array(panel.scale, dtype=np.float64)
    settled = panel.adjudicated[panel.pair[compared]]
    return AgainstFinal(
        assessor=name,
        table=_table(panel, final, grades),
        same=inference.share(right, queries, level=level, topics=topics),
        bias=inference.mean_by_queries(
            scale[grades] - scale[final], queries, level=level, most=panel.widest, topics=topics
        ),
        by_grade={
            grade: inference.share(right[final == row], queries[final == row], level=level, topics=topics[final == row])
            for row, grade in enumerate(panel.scale)
        },
        upheld=inference.share(right[settled], queries[settled], level=level, topics=topics[settled]),
    )


def severities(panel: Panel, *, level: float) -> tuple[Severity, ...]:
    """Severity of each assessor, by name: the mean over queries, with whole topics as the sampling units."""
    compared = SharedPairs(panel, without=())
    lenience = severity(compared)
    n = np.bincount(compared.who, minlength=len(panel.assessors))
    return tuple(
        Severity(name, lenience.estimate(row, level=level, most=panel.widest, sign=-1.0), int(n[row]), partners)
        for row, (name, partners) in enumerate(zip(panel.assessors, compared.partners, strict=True))
    )


def _interval(value: Value, panel: Panel, first: Integers, second: Integers, level: float) -> Interval | Undefined:
    if isinstance(value, Undefined):
        return value
    pairs = panel.pair[first]
    clusters = inference.clusters_of(panel.query[pairs], panel.paper[pairs])
    if clusters.n < inference.FEWEST_QUERIES:
        return inference.too_few(clusters.n, unit=clusters.unit)
    g = len(panel.scale)
    cell = (clusters.of * g + panel.grade[first]) * g + panel.grade[second]
    of_units = np.bincount(cell, minlength=clusters.n * g * g).reshape(clusters.n, g, g).astype(np.float64)
    left = of_units.sum(axis=0) - of_units
    without = OF_COUNTS[COEFFICIENT](Counts.of_tables(left), panel.scale)
    for unit in np.flatnonzero(np.isnan(without))[:1]:
        names = panel.query_ids if clusters.unit == "query" else panel.papers
        name = names[pairs[int((clusters.of == unit).argmax())]]
        why = value_between(COEFFICIENT, Counts.of_tables(left[unit]), left[unit][None], panel.scale)
        assert isinstance(why, Undefined)
        return Undefined(f"kappa has no value without {clusters.unit} {name}: {why.reason}")
    return inference.jackknife_interval(value, without, level=level, unit=clusters.unit)


def _table(panel: Panel, rows: Integers, columns: Integers) -> tuple[tuple[int, ...], ...]:
    g = len(panel.scale)
    counts = np.bincount(rows * g + columns, minlength=g * g).reshape(g, g)
    return tuple(tuple(map(int, row)) for row in counts)


class Repeat(NamedTuple):
    """Pair that one assessor judged twice, without knowing that it was a repeat."""

    assessor: str
    query_id: str
    doc_id: str
    first: int
    second: int
    """Grade that was given later."""


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Consistency of one assessor, or of all together, over repeats."""

    assessor: str | None
    """Pseudonym; None for all together."""
    same: Share
    within_one: Share
    change: Estimate
    """Mean of the later grade less the earlier one: below 0 for assessors who become stricter."""
    changed: tuple[Repeat, ...]
    """Repeats with another grade, largest change first."""


def self_consistency(
    repeats: Iterable[Repeat], *, widest: float, level: float, topics: Mapping[str, str] | None = None
) -> tuple[SelfConsistency, ...]:
    """Consistency of each assessor by name, then of all together. Empty if there are no repeats.

    Two grades of one person that agree by this share bound the agreement that two people can reach (Scholer, Turpin and
    Sanderson 2011, SIGIR, 1063-1072). widest: the largest difference between two grades. topics: the topic of each
    query; None takes the queries as independent.
    """
    repeats = sorted(repeats)
    consistencies = []
    for name in [*sorted({repeat.assessor for repeat in repeats}), *([None] if repeats else [])]:
        repeats_of_assessor = [repeat for repeat in repeats if name in (repeat.assessor, None)]
        change = np.array([repeat.second - repeat.first for repeat in repeats_of_assessor], dtype=np.float64)
        queries = [repeat.query_id for repeat in repeats_of_assessor]
        topics_of_repeats = [topics[query_id] for query_id in queries] if topics else None
        changed = [repeat for repeat in repeats_of_assessor if repeat.first != repeat.second]
        consistencies.append(
            SelfConsistency(
                assessor=name,
                same=inference.share(change == 0, queries, level=level, topics=topics_of_repeats),
                within_one=inference.share(np.abs(change) <= 1, queries, level=level, topics=topics_of_repeats),
                change=inference.mean_by_queries(change, queries, level=level, most=widest, topics=topics_of_repeats),
                changed=tuple(sorted(changed, key=lambda repeat: (-abs(repeat.second - repeat.first), repeat))),
            )
        )
    return tuple(consistencies)
