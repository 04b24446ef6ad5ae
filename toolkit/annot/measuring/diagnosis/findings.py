"""Findings on assessors that hold over whole topics: differences, changes over time, pace; and pairs that are hard to
judge.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from annot.base.libraries import special
from annot.base.names import counted, percent, plural_of, verb
from annot.base.stats import inference
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.values import Estimate, Interval, Undefined, Value, significant
from annot.measuring.diagnosis import panel as panels

# ----------------------------------------------------------------------------------------------------------------------
# Changes of an assessor while judging: agreement, severity and speed, by halves of the queries.
#
# The plan gives each assessor the queries in random order. Without a change, every order of whole queries was equally
# likely, so the means of the queries are compared: those judged in the first half with those in the second. If
# several facets of a paper are judged one after the other, whole topics are the sampling units. An assessor who is
# compared with one who changes seems to change too; so the clearest change is taken first, and the others are
# compared with those who are left.
# ----------------------------------------------------------------------------------------------------------------------


Measure = Literal["agreement", "severity", "speed"]
FEWEST_FOR_DRIFT, FEWEST_QUERIES = 20, 4


@dataclass(frozen=True, slots=True)
class Level:
    """Mean of a measure over some queries."""

    label: str
    n: int
    """Number of judgements."""
    mean: float


@dataclass(frozen=True, slots=True)
class Drift:
    """Change of one assessor in one measure."""

    assessor: str
    measure: Measure
    """Name of the measure. agreement: share of partners who gave the same grade; severity: in grades, above 0 for the
    strict; speed: seconds a pair, as a geometric mean. All are means over queries.
    """
    against: tuple[str, ...]
    """Partners in the comparison. If there is only one, it may as well be the partner who changes, the other
    way round.
    """
    n: int
    queries: int
    p_value: Value
    """p corrected over all assessors and measures."""
    changed: bool
    levels: tuple[Level, ...]
    """Levels in the first and the second half of the queries."""
    detectable: Value
    """Least change between the halves that would have been found. In the measure's unit; for speed, a factor."""


_Tested = tuple[Drift, panels.Test | None]


def drifts(panel: panels.Panel, *, fence: float) -> tuple[Drift, ...]:
    """Test every assessor and measure for a change, corrected by Holm.

    Speed is the logarithm of the seconds, with those beyond the fences pulled in (`annot.base.stats.inference.fences`).
    """
    speed = _speed(panel, fence)
    by_speed = [_tested(panel, assessor, "speed", (), speed) for assessor in range(len(panel.assessors))]
    settled: dict[str, list[_Tested]] = {}
    while True:
        compared = panels.SharedPairs(panel, without=settled)
        scale = np.array(panel.scale, dtype=np.float64)
        agreement, severity = np.full((2, len(panel.pair)), np.nan)
        agreement[compared.at] = compared.agreement()
        severity[compared.at] = -compared.differences(scale[compared.grade])
        tested: list[_Tested] = []
        for assessor, name in enumerate(panel.assessors):
            tested += settled.get(name) or [
                _tested(panel, assessor, "agreement", compared.partners[assessor], agreement),
                _tested(panel, assessor, "severity", compared.partners[assessor], severity),
                by_speed[assessor],
            ]
        tested = _corrected(tested)
        clear = [
            (test.p, drift.assessor)
            for drift, test in tested
            if test and drift.changed and drift.measure != "speed" and drift.assessor not in settled
        ]
        if not clear:
            break
        _, clearest = min(clear)
        settled[clearest] = [(drift, test) for drift, test in tested if drift.assessor == clearest]
    n_tests = sum(test is not None for _, test in tested)
    unit = "query" if len(np.unique(panel.paper)) == len(np.unique(panel.query)) else "query paper"
    return tuple(
        replace(drift, detectable=_detectable(drift, test, n_tests, panel.widest, unit)) for drift, test in tested
    )


def _speed(panel: panels.Panel, fence: float) -> Array:
    """Logarithm of the seconds, shape (J,), nan if no time was taken."""
    speed = np.full(len(panel.pair), np.nan)
    for places in panel.in_order:
        timed = places[panel.seconds[places] > 0]
        if len(timed):
            speed[timed] = np.log(inference.winsorised(panel.seconds[timed], fence=fence))
    return speed


def _tested(panel: panels.Panel, assessor: int, measure: Measure, against: tuple[str, ...], values: Array) -> _Tested:
    """Compare one assessor's queries of the first half with those of the second. values: shape (J,), nan if there is
    none.
    """
    places = panel.in_order[assessor]
    places = places[~np.isnan(values[places])]
    _, first, query = np.unique(panel.query[panel.pair[places]], return_index=True, return_inverse=True)
    order = np.argsort(first)
    size = np.bincount(query)[order]
    paper = panel.paper[panel.pair[places]][first[order]]
    clusters = inference.clusters_of(order, paper)
    means = np.bincount(query, weights=values[places])[order] / size
    n = len(places)
    why = Undefined(
        f"only {counted(n, 'judgement')} on {counted(clusters.n, clusters.unit)} to measure a change; "
        f"{FEWEST_FOR_DRIFT} on {FEWEST_QUERIES} are needed"
    )
    drift = Drift(panel.assessors[assessor], measure, against, n, len(size), why, False, (), why)
    if n < FEWEST_FOR_DRIFT or clusters.n < FEWEST_QUERIES:
        return drift, None
    second = np.arange(len(size)) >= len(size) // 2
    levels = []
    for label, inside in (("first half", ~second), ("second half", second)):
        mean = float(means[inside].mean())
        levels.append(Level(label, int(size[inside].sum()), math.exp(mean) if measure == "speed" else mean))
    alike = Undefined("all compared queries have the same value")
    test = panels.variance_between(means, second.astype(np.int64), paper)
    return replace(drift, levels=tuple(levels), p_value=alike, detectable=alike), test


def _corrected(tested: Sequence[_Tested]) -> list[_Tested]:
    corrected = iter(inference.holm([max(test.p, test.least) for _, test in tested if test]))
    p_values = [next(corrected) if test else drift.p_value for drift, test in tested]
    return [
        (
            replace(drift, p_value=p_value, changed=p_value <= panels.ALPHA) if isinstance(p_value, float) else drift,
            test,
        )
        for (drift, test), p_value in zip(tested, p_values, strict=True)
    ]


def papers_needed_for_drift(n_tests: int) -> int:
    """Least number of topics with which a change between halves could hold after correction for this many tests."""
    return next(n for n in itertools.count(2) if 2 * n_tests <= panels.ALPHA * math.comb(n, n // 2))


def _detectable(drift: Drift, test: panels.Test | None, n_tests: int, widest: float, unit: str) -> Value:
    if test is None:
        return drift.detectable
    if test.least * n_tests > panels.ALPHA:
        needed = f"{papers_needed_for_drift(n_tests)} {plural_of(unit)} are needed"
        return Undefined(f"too few queries to tell a change from chance; {needed}")
    size = float(panels.detectable(test.error, test.freedom, panels.ALPHA / n_tests))
    if size > {"agreement": 1.0, "severity": widest, "speed": math.inf}[drift.measure]:
        return Undefined("even the largest possible change could not be detected")
    return math.exp(size) if drift.measure == "speed" else size


# ----------------------------------------------------------------------------------------------------------------------
# Time per pair, robust to coffee breaks; judgements too fast to be real; grades given in a streak.
# ----------------------------------------------------------------------------------------------------------------------


FEWEST_TIMES = 5
PERMUTATIONS, RARE = 2_000, 20
"""Number of orders drawn at a time, until the observed run has come up so often, or as many as all the tests need."""
LOTS = 50
"""Parts in which these orders are looked at, so that they need little memory."""


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
    panel: panels.Panel, *, rushed: Mapping[str, Collection[tuple[str, str]]], fence: float, level: float
) -> tuple[Pace, ...]:
    """Time of each assessor per pair.

    rushed: by assessor, the pairs that were answered faster than anyone can read (`annot.study.outcome`). fence: robust
    widths of the log times from their median beyond which a time is idling (`annot.base.stats.inference.fences`). The
    interval of the median is that of order statistics, by the binomial distribution (Conover 1999, Practical
    Nonparametric Statistics, 3.2).
    """
    results = []
    for assessor, places in zip(panel.assessors, panel.in_order, strict=True):
        timed = places[panel.seconds[places] > 0]
        times, pairs = panel.seconds[timed], panel.pair[timed]
        judged = ((panel.query_ids[pair], panel.doc_ids[pair]) for pair in pairs)
        too_fast = tuple(pair for pair in judged if pair in rushed.get(assessor, ()))
        if len(times) < FEWEST_TIMES:
            verb_form = verb(len(times), "has", "have")
            few = Undefined(f"only {counted(len(times), 'judgement')} {verb_form} a time; {FEWEST_TIMES} are needed")
            results.append(Pace(assessor, len(times), few, few, few, few, few, None, 0, too_fast))
            continue
        low, high = inference.fences(times, fence)
        q1, median, q3 = np.quantile(times, [0.25, 0.5, 0.75]).tolist()
        interval = median_time_interval(times, panel.query[pairs], panel.paper[pairs], level)
        mean, n_slow = float(np.clip(times, low, high).mean()), int((times > high).sum())
        results.append(Pace(assessor, len(times), median, interval, q1, q3, mean, (low, high), n_slow, too_fast))
    return tuple(results)


def median_time_interval(
    times: Array, queries: npt.ArrayLike, topics: npt.ArrayLike, level: float
) -> Interval | Undefined:
    """Interval of the median of times, shape (n,). queries, topics: of each.

    If several queries are of one paper, whole topics are the sampling units, and the ends may lie between times.
    """
    clusters = inference.clusters_of(queries, topics)
    if clusters.unit != "query":
        return inference.median_of_clusters(times, clusters, level=level)
    ordered, n = np.sort(times), len(times)
    # The largest j with P(Binomial(n, 1/2) < j) at most half of what may be missed: times j and n + 1 - j.
    j = int((special.bdtr(np.arange(n // 2 + 1), n, 0.5) <= (1 - level) / 2).sum())
    if j < 1:
        return Undefined(f"{n} times are too few for an interval of {percent(level)}")
    return Interval(float(ordered[j - 1]), float(ordered[n - j]), level, "order statistics")


def streaks(panel: panels.Panel, *, seed: int) -> tuple[Streak, ...]:
    """Find runs of one grade that are too long for the grades that the assessor gave.

    The statistic is the longest run. Candidates come in random order within a query, so the grades of each query are
    permuted within it: where a query holds hardly anything but 0, a long run of 0 is no news. p = (hits + 1) / (drawn +
    1), corrected over assessors by Holm's method; where it is small, more is drawn.
    """
    m = len(panel.assessors)
    runs = [_runs(panel, places) for places in panel.in_order]
    longest = [max(runs_of_assessor, key=lambda run: (run.length, -run.start)) for runs_of_assessor in runs]
    lengths = [
        _drawn(panel, assessor, run.length, enough=max(PERMUTATIONS, math.ceil(2 * m / panels.ALPHA)), seed=seed)
        for assessor, run in enumerate(longest)
    ]
    p_values = [_p(drawn, run.length) for drawn, run in zip(lengths, longest, strict=True)]
    results = []
    for assessor, corrected in enumerate(inference.holm(p_values)):
        factor, of_lengths = corrected / p_values[assessor], {run.length for run in runs[assessor]}
        rare = {length for length in of_lengths if factor * _p(lengths[assessor], length) <= panels.ALPHA}
        flagged = [run for run in runs[assessor] if run.length in rare]
        name, n = panel.assessors[assessor], len(panel.in_order[assessor])
        results.append(Streak(name, n, longest[assessor], float(lengths[assessor].mean()), corrected, tuple(flagged)))
    return tuple(results)


def _p(drawn: Integers, length: int) -> float:
    return float((1 + (drawn >= length).sum()) / (1 + len(drawn)))


def _runs(panel: panels.Panel, places: Integers) -> list[RunOfGrades]:
    starts = np.flatnonzero(np.diff(panel.grade[places], prepend=-1))
    lengths = np.diff(np.append(starts, len(places)))
    grades = panel.grade[places[starts]].tolist()
    return [
        RunOfGrades(panel.scale[grade], start + 1, length)
        for grade, start, length in zip(grades, starts.tolist(), lengths.tolist(), strict=True)
    ]


def _drawn(panel: panels.Panel, assessor: int, observed: int, *, enough: int, seed: int) -> Integers:
    """Longest run in each of many orders of the grades within each query; few if `observed` is not rare."""
    rng = inference.generator(seed, "streaks", panel.assessors[assessor])
    places = panel.in_order[assessor]
    query = panel.query[panel.pair[places]]
    by_query = np.argsort(query, kind="stable")
    ends = np.flatnonzero(np.diff(query[by_query], append=-1)) + 1
    back = np.empty_like(by_query)
    back[by_query] = np.arange(len(by_query))
    grades = panel.grade[places][by_query].astype(np.int8)
    lengths: Integers = np.zeros(0, dtype=np.int64)
    while len(lengths) < enough and (lengths >= observed).sum() < RARE:
        permuted = np.tile(grades, (PERMUTATIONS, 1))
        for begin, end in zip((0, *ends), ends, strict=False):
            permuted[:, begin:end] = rng.permuted(permuted[:, begin:end], axis=1)
        lengths = np.concatenate([lengths, *(_longest(lot[:, back]) for lot in np.array_split(permuted, LOTS))])
    return lengths


def _longest(grades: npt.NDArray[np.int8]) -> Integers:
    """Longest run in each row."""
    begins = np.ones(grades.shape, dtype=np.bool_)
    np.not_equal(grades[:, 1:], grades[:, :-1], out=begins[:, 1:])
    starts = np.flatnonzero(begins)
    rows = np.searchsorted(starts, np.arange(len(grades)) * grades.shape[1])
    return np.asarray(np.maximum.reduceat(np.diff(starts, append=begins.size), rows), dtype=np.int64)


# ----------------------------------------------------------------------------------------------------------------------
# Single pairs that are hard to judge, and grades that a facet confuses.
# ----------------------------------------------------------------------------------------------------------------------


PER_QUERY, EXAMPLES = 3, 5
"""Numbers of hard pairs shown of each query, and of each gap."""
SHOWN = 2
"""Significant digits of a figure on a page; pairs that are equal at these are ordered by their other figures."""


@dataclass(frozen=True, slots=True)
class HardPair:
    """Pair on which the assessors differ."""

    query_id: str
    doc_id: str
    facet: str
    grades: dict[str, int]
    """Grade by assessor."""
    spread: int
    """Place of the highest grade in the scale less that of the lowest."""
    share: float
    """Share of the query's pairs with two grades or more that have a spread so large or larger."""


@dataclass(frozen=True, slots=True)
class GuidelineGap:
    """Two grades that meet on the same pair more often in one facet than in the others."""

    facet: str
    low: int
    high: int
    observed: int
    """Pairs with both grades among their judgements."""
    expected: float
    """Number expected at the rate of the other facets."""
    of: int
    """Pairs of the facet with one of the two grades among their judgements, of two or more."""
    p_value: float
    """One-sided p over whole topics, corrected over all facets and grade pairs."""
    examples: tuple[HardPair, ...]
    """Hard pairs, the hardest first."""


def hardest_pairs(panel: panels.Panel) -> tuple[HardPair, ...]:
    """Hardest pairs of each query, by query, widest apart first; never a pair on which all agree."""
    everywhere = np.ones(len(panel.query_ids), dtype=np.bool_)
    by_query = itertools.groupby(_hard(panel, everywhere), key=lambda pair: pair.query_id)
    return tuple(pair for _, of_query in by_query for pair in itertools.islice(of_query, PER_QUERY))


def order_of_hard(pair: HardPair) -> tuple[int, float, str, str]:
    """Sort key: widest apart first; then rarest in its query, as printed; then by id."""
    return -pair.spread, significant(pair.share, SHOWN), pair.query_id, pair.doc_id


def guideline_gaps(compared: panels.SharedPairs) -> tuple[GuidelineGap, ...]:
    """Grades that a facet confuses more than the others, corrected by Holm, the clearest first.

    In each query: of the pairs that someone gave one of two grades, the share that someone else gave the other one. The
    facet's queries are compared with those of the other facets, which may be of the same papers; with one facet alone
    there is nothing to compare. compared: without those who differ from the others, so that the facet that they judged
    most is not blamed.
    """
    panel = compared.panel
    has_grade = np.zeros((len(panel.query_ids), len(panel.scale)), dtype=np.bool_)
    has_grade[compared.pair, compared.grade] = True
    facets, n_queries = np.array(panel.facets), compared.n_queries
    candidates = []
    for low, high in itertools.combinations(range(len(panel.scale)), 2):
        has_both, has_either = has_grade[:, low] & has_grade[:, high], has_grade[:, low] | has_grade[:, high]
        hits, times = (np.bincount(panel.query[part], minlength=n_queries) for part in (has_both, has_either))
        queries = np.flatnonzero(times)
        for facet in sorted(set(panel.facets)):
            in_facet = facets == facet
            inside = np.isin(queries, panel.query[in_facet])
            shares = hits[queries] / times[queries]
            test = panels.higher(shares, ~inside, compared.paper_of[queries])
            if test is None:
                continue
            n_either = int((has_either & in_facet).sum())
            expected = n_either * float(hits[queries[~inside]].sum() / times[queries[~inside]].sum())
            chosen = has_both & in_facet
            grades = panel.scale[low], panel.scale[high]
            gap = GuidelineGap(facet, *grades, int(chosen.sum()), expected, n_either, test.p, ())
            candidates.append((gap, max(test.p, test.least), chosen))
    corrected = inference.holm([p for _, p, _ in candidates])
    clear = [
        replace(gap, p_value=p, examples=tuple(sorted(_hard(panel, chosen), key=order_of_hard)[:EXAMPLES]))
        for (gap, _, chosen), p in zip(candidates, corrected, strict=True)
        if p <= panels.ALPHA
    ]
    return tuple(
        sorted(clear, key=lambda gap: (significant(gap.p_value, SHOWN), -gap.observed, gap.facet, gap.low, gap.high))
    )


def _hard(panel: panels.Panel, chosen: Mask) -> list[HardPair]:
    """Pairs among these on which not all agree, by query, the hardest first. among: shape (N,)."""
    starts = np.searchsorted(panel.pair, np.arange(len(panel.query_ids) + 1))
    spread = np.maximum.reduceat(panel.grade, starts[:-1]) - np.minimum.reduceat(panel.grade, starts[:-1])
    twice = panel.n_judged > 1
    of_query = np.bincount(panel.query[twice])
    as_wide = [np.bincount(panel.query[twice & (spread >= s)]) for s in range(len(panel.scale))]
    pairs = []
    for row in np.flatnonzero((spread > 0) & chosen):
        judgements = slice(starts[row], starts[row + 1])
        grades = zip(panel.who[judgements].tolist(), panel.grade[judgements].tolist(), strict=True)
        query, distance = panel.query[row], int(spread[row])
        pairs.append(
            HardPair(
                query_id=panel.query_ids[row],
                doc_id=panel.doc_ids[row],
                facet=panel.facets[row],
                grades={panel.assessors[place]: panel.scale[grade] for place, grade in grades},
                spread=distance,
                share=float(as_wide[distance][query] / of_query[query]),
            )
        )
    return sorted(pairs, key=lambda pair: (pair.query_id, order_of_hard(pair)))


# ----------------------------------------------------------------------------------------------------------------------
# Findings about assessors who differ from the others, over whole topics.
#
# Every assessor is tested for severity, for each threshold moved, and for noise (`contrasts`). The clearest
# difference of all is a finding if it holds after correction for everything that was tested (Holm 1979, Scandinavian
# Journal of Statistics 6, 65-70). A difference that could not hold even if all papers pointed the same way is not
# tested, and corrects nothing (Tarone 1990, Biometrics 46, 515-522). Whoever was compared with that assessor seems to
# differ the other way round; so the assessor is taken out, and the others are compared among themselves, until no
# more is found. An assessor has one finding, the clearest.
#
# `benchmarks/diagnosis_power.py` measures how often false findings come up, and which differences are found.
# ----------------------------------------------------------------------------------------------------------------------


ONE_GRADE, OTHERS_AT_MOST, FEWEST = 0.99, 0.9, 20
"""Bounds of an assessor without information: one grade for this share of the pairs or more, and no more than the second
for the others' share of it; from this many judgements on.
"""


@dataclass(frozen=True, slots=True)
class AssessorFinding:
    """Difference of one assessor from the others, by more than chance."""

    assessor: str
    kind: Literal["severity", "threshold", "noise", "no information"]
    grade: int | None
    """Grade that the threshold opens, or that is always given without information; None otherwise."""
    direction: Literal["stricter", "more lenient"] | None
    size: Estimate
    """Size above 0, a mean over queries. Severity: grades. Threshold: the share of pairs at `grade` or higher. Noise:
    grades that the assessor is further from the others than these from each other. No information: the share of
    `grade`, over pairs.
    """
    n: int
    """Judgements of the assessor behind it."""
    queries: int
    papers: int
    """Papers of these queries: the sampling units."""
    p_value: Value
    """p corrected over all that was tested."""
    against: tuple[str, ...]
    """Assessors in the comparison, on common pairs."""
    either: bool
    """True if there is only one other assessor, who may be the one who differs, the other way round."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Reasons why the assessors of a study disagree."""

    alpha: float
    """Approximate upper bound of the probability of any false finding."""
    findings: tuple[AssessorFinding, ...]
    """Findings, the strongest first."""
    tested: int
    untested: tuple[str, ...]
    """Assessors who share too few topics with others for severity to stand out from chance."""
    too_small: bool
    """True if these are all assessors without a finding."""
    papers_needed: int
    """Topics that each must share with others: fewer show no severity, even if all point the same way."""
    papers: int
    """Topics with pairs of two assessors or more."""
    most_shared: int
    """Largest number of topics that one of `untested` shares with others."""
    one_team: bool
    """True if the same people judged all pairs of a topic, in every topic."""
    detectable: Value
    """Severity, in grades, that would have been found: the median over assessors."""
    hardest: tuple[HardPair, ...]
    gaps: tuple[GuidelineGap, ...]


def diagnose(panel: panels.Panel, *, level: float) -> Diagnosis | Undefined:
    """Find differences, hard pairs and guideline gaps. level: of intervals. Missing judgements are left out."""
    compared = panels.SharedPairs(panel, without=())
    if not len(compared.at):
        return Undefined("no pair was judged by two assessors")
    findings = _uninformative_assessors(compared, level)
    first_tests = tests = _Tests(panel, findings)
    p_value = 0.0
    while (clearest := tests.clearest()) is not None:
        question, assessor = clearest
        p_value = max(p_value, tests.n_tests * float(tests.p[question, assessor]))
        findings.append(_finding(tests, question, assessor, p_value, level))
        tests = _Tests(panel, findings)
    tested = np.isfinite(first_tests.p[0])
    sizes = panels.detectable(
        first_tests.contrasts[0].error[tested],
        first_tests.contrasts[0].freedom[tested],
        panels.ALPHA / max(1, first_tests.n_tests),
    )
    named = {finding.assessor for finding in findings}
    needed = papers_needed(len(panel.assessors), len(panel.scale))
    few = ~tested & (first_tests.contrasts[0].units < needed)
    untested = tuple(name for name, is_few in zip(panel.assessors, few, strict=True) if is_few and name not in named)
    shared = dict(zip(panel.assessors, first_tests.contrasts[0].units.tolist(), strict=True))
    return Diagnosis(
        alpha=panels.ALPHA,
        findings=tuple(findings),
        tested=first_tests.n_tests,
        untested=untested,
        too_small=len(untested) == len(panel.assessors) - len(named) > 0,
        papers_needed=needed,
        papers=len(np.unique(panel.paper[compared.pair])),
        most_shared=max((shared[name] for name in untested), default=0),
        one_team=_judged_by_one_team(compared),
        detectable=float(np.median(sizes)) if tested.any() else Undefined("no severity was tested"),
        hardest=hardest_pairs(panel),
        gaps=guideline_gaps(tests.compared),
    )


def papers_needed(assessors: int, grades: int) -> int:
    """Least number of topics that each of this many assessors must share with others for a finding.

    With these, the p-value of papers that all point the same way holds after correction for all tests.
    """
    return math.ceil(1 + math.log2(assessors * (grades + 1) / panels.ALPHA))


def _judged_by_one_team(compared: panels.SharedPairs) -> bool:
    """True if everyone who judged a pair of a topic judged all of its pairs."""
    paper = compared.panel.paper
    cells = compared.who * (int(paper.max()) + 1) + paper[compared.pair]
    names, n_judged = np.unique(cells, return_counts=True)
    n_pairs = np.bincount(paper[np.unique(compared.pair)])
    return bool((n_judged == n_pairs[names % (int(paper.max()) + 1)]).all())


class _Tests:
    """Tests of all assessors without a finding so far."""

    def __init__(self, panel: panels.Panel, findings: list[AssessorFinding]) -> None:
        self.compared = compared = panels.SharedPairs(panel, without=[finding.assessor for finding in findings])
        thresholds = [panels.threshold(compared, place) for place in range(1, len(panel.scale))]
        self.contrasts = [panels.severity(compared), *thresholds, panels.noise(compared)]
        self.by_t = np.stack([contrast.p for contrast in self.contrasts])
        least = np.stack([contrast.least for contrast in self.contrasts])
        ordered = np.sort(least, axis=None)
        is_testable = ordered * np.searchsorted(ordered, ordered, side="right") <= panels.ALPHA
        most = ordered[is_testable].max(initial=0.0)
        self.p: Array = np.where(least <= most, np.maximum(self.by_t, least), np.nan)
        """Shape (questions, M), not yet corrected; nan if it is not tested."""
        self.n_tests = int(np.isfinite(self.p).sum())

    def clearest(self) -> tuple[int, int] | None:
        """Question with the clearest difference by Student's t, and the assessor who differs most in it.

        Only differences that hold count; None if there are none. Whoever was compared with a strict person is lenient
        by a part of that, and may be so more evenly.
        """
        holds = self.n_tests * self.p <= panels.ALPHA
        if not holds.any():
            return None
        question = int(np.where(holds, self.by_t, np.inf).min(axis=1).argmin())
        return question, int(np.where(holds[question], np.abs(self.contrasts[question].mean), -1.0).argmax())


def _finding(tests: _Tests, question: int, assessor: int, p_value: float, level: float) -> AssessorFinding:
    panel, contrast = tests.compared.panel, tests.contrasts[question]
    alike = [
        other
        for other, p in zip(tests.contrasts, tests.p[:, assessor], strict=True)
        if other.kind == "threshold" and p <= panels.ALPHA and other.mean[assessor] * contrast.mean[assessor] > 0
    ]
    # Several thresholds moved the same way are severity.
    if contrast.kind == "threshold" and len(alike) > 1 and tests.n_tests * tests.p[0, assessor] <= panels.ALPHA:
        contrast = tests.contrasts[0]
    sign = 1.0 if contrast.mean[assessor] > 0 else -1.0
    most = 1.0 if contrast.kind == "threshold" else panel.widest
    against = tests.compared.partners[assessor]
    return AssessorFinding(
        assessor=panel.assessors[assessor],
        kind=contrast.kind,
        grade=None if contrast.place is None else panel.scale[contrast.place],
        direction=None if contrast.kind == "noise" else "more lenient" if sign > 0 else "stricter",
        size=contrast.estimate(assessor, level=level, most=most, sign=sign),
        n=int((tests.compared.who == assessor).sum()),
        queries=int(contrast.n[assessor]),
        papers=int(contrast.units[assessor]),
        p_value=p_value,
        against=against,
        either=len(against) == 1,
    )


def _uninformative_assessors(compared: panels.SharedPairs, level: float) -> list[AssessorFinding]:
    """Findings about assessors who give the same grade to every pair."""
    panel = compared.panel
    m, g = len(panel.assessors), len(panel.scale)
    counts = np.bincount(compared.who * g + compared.grade, minlength=m * g).reshape(m, g)
    n = counts.sum(axis=1)
    findings = []
    for assessor in np.flatnonzero((counts.max(axis=1) >= ONE_GRADE * n) & (n >= FEWEST)):
        place, by_assessor = int(counts[assessor].argmax()), compared.who == assessor
        same = compared.grade == place
        if (same - compared.differences(same))[by_assessor].mean() > OTHERS_AT_MOST:
            continue
        pairs = compared.pair[by_assessor]
        constant = inference.share(same[by_assessor], panel.query[pairs], level=level, topics=panel.paper[pairs])
        findings.append(
            AssessorFinding(
                assessor=panel.assessors[assessor],
                kind="no information",
                grade=panel.scale[place],
                direction=None,
                size=Estimate(constant.value, constant.interval),
                n=constant.of,
                queries=len(np.unique(panel.query[pairs])),
                papers=len(np.unique(panel.paper[pairs])),
                p_value=Undefined("a grade that is always given is counted, not tested"),
                against=compared.partners[assessor],
                either=False,
            )
        )
    return findings


# ----------------------------------------------------------------------------------------------------------------------
# Overview of the assessors for the report and `annot agreement --by assessor`.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JudgementCount:
    """Number of judgements that one assessor was asked for, and number of those that have a grade that counts."""

    assessor: str
    asked: int
    graded: int


@dataclass(frozen=True, slots=True)
class AssessorComparison:
    """Assessors compared with each other and the final grades, and reasons why they disagree."""

    scale: tuple[int, ...]
    level: float
    """Level of all intervals."""
    policy: str
    """Policy for missing judgements of annot.toml. It is for coefficients: a grade that was not given shows nothing
    about an assessor, and is left out here.
    """
    missing: tuple[JudgementCount, ...]
    matrix: tuple[panels.AssessorPair, ...]
    against_final: tuple[panels.AgainstFinal, ...]
    severities: tuple[panels.Severity, ...]
    diagnosis: Diagnosis | Undefined
    self_consistency: tuple[panels.SelfConsistency, ...]
    """Consistency of assessors with themselves; empty if nothing was asked twice."""


@dataclass(frozen=True, slots=True)
class AssessorAnalysis:
    """Analysis of the assessors: how they judge, and how they work."""

    diagnosed: AssessorComparison
    order: str
    """Order of judging that streaks and drifts follow, in words."""
    reading_limit: float
    """Seconds in which nobody can read a pair."""
    fence: float
    """Robust widths of the log times from their median beyond which a time is idling."""
    power: float
    """Probability with which a drift of the detectable size would have been found."""
    paces: tuple[Pace, ...]
    streaks: tuple[Streak, ...]
    drifts: tuple[Drift, ...]
