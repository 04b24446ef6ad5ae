"""Time per pair, robust to coffee breaks; judgements too fast to be real; grades given in a streak."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.base.names import counted, verb
from annot.base.stats.arrays import Array, Integers
from annot.base.stats.clustered import clusters_of
from annot.base.stats.medians import fences, median_of_clusters, winsorised
from annot.base.stats.seeding import generator
from annot.base.stats.significance import holm
from annot.base.stats.values import Interval, Undefined, Value
from annot.measuring.diagnosis.contrasts import ALPHA
from annot.measuring.diagnosis.panel import Panel

FEWEST_TIMES = 5
PERMUTATIONS, RARE = 2_000, 20
"""Number of orders drawn at a time, until the observed run has come up so often, or as many as all the tests need."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Time that one assessor takes for a pair, in seconds."""

    assessor: str
    n: int
    """Judgements with a time."""
    median: Value
    median_interval: Interval | Undefined
    q1: Value
    q3: Value
    winsorised: Value
    """Mean with the times beyond `fences` pulled in to them."""
    fences: tuple[float, float] | None
    n_slow: int
    """Times beyond the upper fence: idling, not work."""
    too_fast: tuple[tuple[str, str], ...]
    """Pairs (query, document) that were answered faster than anyone can read."""


@dataclass(frozen=True, slots=True)
class RunOfGrades:
    """Consecutive judgements with the same grade."""

    grade: int
    start: int
    """Place of the first in the assessor's sequence, from 1."""
    length: int


@dataclass(frozen=True, slots=True)
class Streak:
    """Longest run of the same grade by one assessor, compared with the likely length for the order of the pairs."""

    assessor: str
    n: int
    longest: RunOfGrades
    expected: float
    """Mean longest run over permutations."""
    p_value: float
    """p corrected over all assessors."""
    flagged: tuple[RunOfGrades, ...]
    """Runs so long that one like it would come up by chance less often than alpha, over all assessors."""


def paces(
    panel: Panel, *, rushed: Mapping[str, Collection[tuple[str, str]]], fence: float, level: float
) -> tuple[Pace, ...]:
    """Time of each assessor per pair.

    rushed: by assessor, the pairs that were answered faster than anyone can read (`annot.study.rushed`). fence: robust
    widths of the log times from their median beyond which a time is idling (`annot.base.stats.medians.fences`). The
    interval of the median is that of order statistics, by the binomial distribution (Conover 1999, Practical
    Nonparametric Statistics, 3.2).
    """
    timed = [places[panel.seconds[places] > 0] for places in panel.in_order]
    return tuple(
        _pace(panel, name, places, rushed.get(name, ()), fence, level)
        for name, places in zip(panel.assessors, timed, strict=True)
    )


def _pace(
    panel: Panel, assessor: str, timed: Integers, rushed: Collection[tuple[str, str]], fence: float, level: float
) -> Pace:
    times, pairs = panel.seconds[timed], panel.pair[timed]
    judged = ((panel.query_ids[pair], panel.doc_ids[pair]) for pair in pairs)
    too_fast = tuple(pair for pair in judged if pair in rushed)
    if len(times) < FEWEST_TIMES:
        has = verb(len(times), "has", "have")
        few = Undefined(f"only {counted(len(times), 'judgement')} {has} a time; {FEWEST_TIMES} are needed")
        return Pace(assessor, len(times), few, few, few, few, few, None, 0, too_fast)
    low, high = fences(times, fence)
    q1, median, q3 = (float(x) for x in np.quantile(times, [0.25, 0.5, 0.75]))
    return Pace(
        assessor=assessor,
        n=len(times),
        median=median,
        median_interval=median_time_interval(times, panel.query[pairs], panel.paper[pairs], level),
        q1=q1,
        q3=q3,
        winsorised=float(winsorised(times, fence=fence).mean()),
        fences=(low, high),
        n_slow=int((times > high).sum()),
        too_fast=too_fast,
    )


def median_time_interval(
    times: Array, queries: npt.ArrayLike, topics: npt.ArrayLike, level: float
) -> Interval | Undefined:
    """Interval of the median of times, shape (n,). queries, topics: of each.

    If several queries are of one paper, whole topics are the units of chance, and the ends may lie between times.
    """
    from scipy.special import bdtr

    clusters = clusters_of(queries, topics)
    if clusters.unit != "query":
        return median_of_clusters(times, clusters, level=level)
    ordered, n = np.sort(times), len(times)
    # The largest j with P(Binomial(n, 1/2) < j) at most half of what may be missed: times j and n + 1 - j.
    j = int((bdtr(np.arange(n // 2 + 1), n, 0.5) <= (1 - level) / 2).sum())
    if j < 1:
        return Undefined(f"{n} times are too few for an interval of {level:.0%}")
    return Interval(float(ordered[j - 1]), float(ordered[n - j]), level, "order statistics")


def streaks(panel: Panel, *, seed: int) -> tuple[Streak, ...]:
    """Find runs of one grade that are too long for the grades that the assessor gave.

    The statistic is the longest run. Candidates come in random order within a query, so the grades of each query are
    permuted within it: where a query holds hardly anything but 0, a long run of 0 is no news. p = (hits + 1) / (drawn +
    1), corrected over assessors by Holm's method; where it is small, more is drawn.
    """
    m = len(panel.assessors)
    runs = [_runs(panel, places) for places in panel.in_order]
    longest = [max(runs_of_assessor, key=lambda run: (run.length, -run.start)) for runs_of_assessor in runs]
    lengths = [
        _drawn(panel, assessor, run.length, enough=max(PERMUTATIONS, math.ceil(2 * m / ALPHA)), seed=seed)
        for assessor, run in enumerate(longest)
    ]
    p_values = [_p(drawn, run) for drawn, run in zip(lengths, longest, strict=True)]
    results = []
    for assessor, corrected in enumerate(holm(p_values)):
        flagged = [
            run for run in runs[assessor] if corrected / p_values[assessor] * _p(lengths[assessor], run) <= ALPHA
        ]
        name, n = panel.assessors[assessor], len(panel.in_order[assessor])
        results.append(Streak(name, n, longest[assessor], float(lengths[assessor].mean()), corrected, tuple(flagged)))
    return tuple(results)


def _p(drawn: Integers, run: RunOfGrades) -> float:
    return float((1 + (drawn >= run.length).sum()) / (1 + len(drawn)))


def _runs(panel: Panel, places: Integers) -> list[RunOfGrades]:
    starts = np.flatnonzero(np.diff(panel.grade[places], prepend=-1))
    lengths = np.diff(np.append(starts, len(places)))
    return [
        RunOfGrades(panel.scale[panel.grade[places[start]]], int(start) + 1, int(length))
        for start, length in zip(starts, lengths, strict=True)
    ]


def _drawn(panel: Panel, assessor: int, observed: int, *, enough: int, seed: int) -> Integers:
    """Longest run in each of many orders of the grades within each query; few if `observed` is not rare."""
    rng = generator(seed, "streaks", panel.assessors[assessor])
    places = panel.in_order[assessor]
    grades, query = panel.grade[places], panel.query[panel.pair[places]]
    of_queries = [np.flatnonzero(query == number) for number in np.unique(query)]
    lengths: Integers = np.zeros(0, dtype=np.int64)
    while len(lengths) < enough and (lengths >= observed).sum() < RARE:
        permuted = np.tile(grades, (PERMUTATIONS, 1))
        for positions in of_queries:
            permuted[:, positions] = rng.permuted(permuted[:, positions], axis=1)
        lengths = np.concatenate([lengths, _longest(permuted)])
    return lengths


def _longest(grades: Integers) -> Integers:
    """Longest run in each row."""
    rows, n = grades.shape
    place = np.arange(n)
    begins = np.concatenate([np.ones((rows, 1), dtype=np.bool_), grades[:, 1:] != grades[:, :-1]], axis=1)
    last_begin = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    return np.asarray((place - last_begin).max(axis=1) + 1, dtype=np.int64)
