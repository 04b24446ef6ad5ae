"""How long a pair takes, robust to coffee breaks; judgements too fast to be real; grades given in a streak."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.diagnosis.sequences import JudgedSequence
from annot.stats.clustered import share
from annot.stats.durations import fences, winsorised
from annot.stats.seeding import generator
from annot.stats.significance import holm
from annot.stats.values import Interval, Share, Undefined, Value

Array = npt.NDArray[np.float64]
FEWEST_TIMES = 5


@dataclass(frozen=True, slots=True)
class Fast:
    """A judgement given faster than the rule allows."""

    query_id: str
    doc_id: str
    seconds: float
    grade: int


@dataclass(frozen=True, slots=True)
class Pace:
    """The time one assessor takes for a pair, in seconds."""

    assessor: str
    n: int
    """Judgements with a time."""
    median: Value
    median_interval: Interval | Undefined
    q1: Value
    q3: Value
    winsorised: Value
    """The mean with the times beyond `fences` pulled in to them, as in `annot watch`."""
    fences: tuple[float, float] | None
    n_slow: int
    """Times beyond the upper fence: idling, not work."""
    too_fast: Share
    fast: tuple[Fast, ...]
    """Fastest first."""
    rule: str


@dataclass(frozen=True, slots=True)
class RunOfGrades:
    """Judgements one after the other with the same grade."""

    grade: int
    start: int
    """The place of the first in the assessor's sequence, from 1."""
    length: int


@dataclass(frozen=True, slots=True)
class Streak:
    """One assessor's longest run of the same grade against what the order of the pairs makes likely."""

    assessor: str
    n: int
    longest: RunOfGrades | Undefined
    expected: Value
    """The mean longest run over permutations."""
    p_value: Value
    """Corrected over all assessors."""
    flagged: tuple[RunOfGrades, ...]
    """Runs so long that one like it somewhere would come up by chance less often than alpha, over all assessors."""


def paces(
    sequences: Iterable[JudgedSequence], *, fence: float, floor: float, fraction: float, level: float
) -> tuple[Pace, ...]:
    """Each assessor's time a pair.

    fence: robust widths of the log times from their median beyond which a time is idling (`durations.fences`). floor,
    fraction: a judgement is too fast below `floor` seconds, or below `fraction` of the median over assessors of their
    median times: a yardstick that one hasty assessor cannot bend. The interval of the median is that of order
    statistics, by the binomial distribution (Conover 1999, Practical Nonparametric Statistics, 3.2).
    """
    sequences = list(sequences)
    medians = [float(np.median(sequence.seconds[sequence.timed])) for sequence in sequences if sequence.timed.any()]
    bound = max(floor, fraction * float(np.median(medians))) if medians else floor
    rule = f"faster than {bound:.1f} s: the larger of {floor:g} s and {fraction:g} of the assessors' median"
    return tuple(_pace(sequence, fence, bound, rule, level) for sequence in sequences)


def _pace(sequence: JudgedSequence, fence: float, bound: float, rule: str, level: float) -> Pace:
    timed = np.flatnonzero(sequence.timed)
    times = sequence.seconds[timed]
    quick = sorted((times[i], int(timed[i])) for i in np.flatnonzero(times < bound))
    fast = tuple(Fast(sequence.query_ids[i], sequence.doc_ids[i], float(s), int(sequence.grades[i])) for s, i in quick)
    flagged = share(times < bound, [sequence.query_ids[i] for i in timed], level=level)
    if len(times) < FEWEST_TIMES:
        none = Undefined(f"only {len(times)} judgements have a time; {FEWEST_TIMES} are needed")
        return Pace(sequence.assessor, len(times), none, none, none, none, none, None, 0, flagged, fast, rule)
    low, high = fences(times, fence)
    q1, median, q3 = (float(x) for x in np.quantile(times, [0.25, 0.5, 0.75]))
    return Pace(
        assessor=sequence.assessor,
        n=len(times),
        median=median,
        median_interval=_median_interval(times, level),
        q1=q1,
        q3=q3,
        winsorised=float(winsorised(times, fence=fence).mean()),
        fences=(low, high),
        n_slow=int((times > high).sum()),
        too_fast=flagged,
        fast=fast,
        rule=rule,
    )


def _median_interval(times: Array, level: float) -> Interval | Undefined:
    from scipy.special import bdtr

    ordered, n = np.sort(times), len(times)
    # The largest j with P(Binomial(n, 1/2) < j) at most half of what may be missed: times j and n + 1 - j.
    j = int((bdtr(np.arange(n // 2 + 1), n, 0.5) <= (1 - level) / 2).sum())
    if j < 1:
        return Undefined(f"{n} times are too few for an interval of {level:.0%}")
    return Interval(float(ordered[j - 1]), float(ordered[n - j]), level, "order statistics")


def streaks(sequences: Iterable[JudgedSequence], *, alpha: float, permutations: int, seed: int) -> tuple[Streak, ...]:
    """Runs of one grade that are too long for the grades that the assessor gave.

    The statistic is the longest run. Candidates come in random order within a query, so the grades of each query are
    permuted within it: where a query holds hardly anything but 0, a long run of 0 is no news. p = (hits + 1) / (drawn +
    1), corrected over assessors by Holm's method.
    """
    sequences = list(sequences)
    asked = [sequence for sequence in sequences if len(sequence.grades) >= 2]
    drawn = [_longest(_within_queries(sequence, permutations, seed)) for sequence in asked]
    runs = [_runs(sequence.grades) for sequence in asked]
    longest = [max(of_one, key=lambda run: (run.length, -run.start)) for of_one in runs]
    p_values = [_p(lengths, run) for lengths, run in zip(drawn, longest, strict=True)]
    found = {}
    for sequence, lengths, of_one, run, p, corrected in zip(
        asked, drawn, runs, longest, p_values, holm(p_values), strict=True
    ):
        unlikely = [other for other in of_one if corrected / p * _p(lengths, other) <= alpha]
        flagged = tuple(unlikely) if corrected <= alpha else ()
        n, expected = len(sequence.grades), float(lengths.mean())
        found[sequence.assessor] = Streak(sequence.assessor, n, run, expected, corrected, flagged)
    short = Undefined("a run needs two judgements")
    return tuple(
        found.get(sequence.assessor) or Streak(sequence.assessor, len(sequence.grades), short, short, short, ())
        for sequence in sequences
    )


def _p(drawn: npt.NDArray[np.int64], run: RunOfGrades) -> float:
    return float((1 + (drawn >= run.length).sum()) / (1 + len(drawn)))


def _runs(grades: npt.NDArray[np.int64]) -> list[RunOfGrades]:
    starts = np.concatenate([[0], np.flatnonzero(np.diff(grades)) + 1])
    ends = np.concatenate([starts[1:], [len(grades)]])
    return [RunOfGrades(int(grades[a]), int(a) + 1, int(b - a)) for a, b in zip(starts, ends, strict=True)]


def _within_queries(sequence: JudgedSequence, permutations: int, seed: int) -> npt.NDArray[np.int64]:
    """Grades permuted within each query, shape (permutations, n)."""
    rng = generator(seed, "streaks", sequence.assessor)
    permuted = np.tile(sequence.grades, (permutations, 1))
    queries = np.array(sequence.query_ids)
    for name in sorted(set(sequence.query_ids)):
        places = np.flatnonzero(queries == name)
        permuted[:, places] = rng.permuted(permuted[:, places], axis=1)
    return permuted


def _longest(grades: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The longest run in each row."""
    rows, n = grades.shape
    place = np.arange(n)
    begins = np.concatenate([np.ones((rows, 1), dtype=np.bool_), grades[:, 1:] != grades[:, :-1]], axis=1)
    last_begin = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    return np.asarray((place - last_begin).max(axis=1) + 1, dtype=np.int64)
